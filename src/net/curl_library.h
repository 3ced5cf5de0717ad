/* curl_library.h - libcurl, loaded when the first provider is used.
 *
 * libcurl brings some twenty shared libraries along (TLS, Kerberos, LDAP, HTTP/2). Linking it would
 * make every start of a program that calls no provider load and relocate them. Its functions are
 * called through this table; each client has its own copy, so threads share nothing.
 *
 * Calls through the table bypass the type checks of curl's macros: pass a `long` wherever an option
 * takes one.
 */
#ifndef LC_NET_CURL_LIBRARY_H
#define LC_NET_CURL_LIBRARY_H

#include <curl/curl.h>

#include "loci.h"

#define LC_CURL_FUNCTIONS(X)                                                                       \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(free)                                                                                        \
    X(getdate)                                                                                     \
    X(url)                                                                                         \
    X(url_set)                                                                                     \
    X(url_get)                                                                                     \
    X(url_cleanup)                                                                                 \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_header)                                                                                 \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(multi_init)                                                                                  \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_cleanup)

typedef struct lc_curl {
#define LC_CURL_MEMBER(name) __typeof__(curl_##name) *name;
    LC_CURL_FUNCTIONS(LC_CURL_MEMBER)
#undef LC_CURL_MEMBER
} lc_curl;

/* LOCI_EUNSUPPORTED if the library is not installed or is too old. */
loci_status lc_curl_load(lc_curl *out, loci_error *err);

#endif /* LC_NET_CURL_LIBRARY_H */
