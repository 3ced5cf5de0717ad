/* curl_library.c - the library is never unloaded: OpenSSL below it registers handlers that run at
 * the end of the process. */
#include "net/curl_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libcurl.so.4"

/* C does not allow casting an object pointer to a function pointer; POSIX says that they have the
 * same representation. */
static bool find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);

    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

loci_status lc_curl_load(lc_curl *out, loci_error *err)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;

    if (library == NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "model providers need " LIBRARY ", which is not installed (Debian: apt "
                       "install libcurl4)");
#define LC_CURL_FIND(name)                                                                         \
    if (!find(library, "curl_" #name, &out->name))                                                 \
        missing = "curl_" #name;
    LC_CURL_FUNCTIONS(LC_CURL_FIND)
#undef LC_CURL_FIND
    if (missing != NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the installed " LIBRARY " has no %s: install curl 7.85 or newer", missing);
    return LOCI_OK;
}
