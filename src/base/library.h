/* library.h - a shared library that is loaded when it is first needed.
 *
 * For libraries that few calls need and that load many others: linking them would make every start
 * of the program load and relocate them all. Their functions are called through a table:
 *
 *     #define FUNCTIONS(X) X(easy_init) X(easy_cleanup)
 *     typedef struct table {
 *     #define MEMBER(name) __typeof__(curl_##name) *name;
 *         FUNCTIONS(MEMBER)
 *     } table;
 *     #define NAME(name) "curl_" #name,
 *     static const char *const names[] = {FUNCTIONS(NAME) NULL};
 */
#ifndef LC_BASE_LIBRARY_H
#define LC_BASE_LIBRARY_H

#include "loci.h"

typedef struct lc_library {
    const char *file;         /* "libcurl.so.4" */
    const char *user;         /* The feature that needs it, for messages: "a model provider". */
    const char *package;      /* Of Debian: "libcurl4". */
    const char *oldest;       /* Oldest release with all the functions: "curl 7.85". */
    const char *const *names; /* Of the functions; ends with NULL. */
} lc_library;

/* Fills `out`, a struct of one function pointer per name and nothing else. Loading a library again
 * is cheap; it is never unloaded, because the libraries below it register handlers that run when
 * the process ends. LOCI_EUNSUPPORTED if it is not installed or too old. Any thread. */
loci_status lc_library_load(const lc_library *library, void *out, loci_error *err);

#endif /* LC_BASE_LIBRARY_H */
