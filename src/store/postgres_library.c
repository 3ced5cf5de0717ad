/* postgres_library.c - the library stays loaded: what it and OpenSSL below it have set up is not
 * meant to be torn down. */
#include "store/postgres_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libpq.so.5"

/* A function's address is not an object's, says C; POSIX says that they look the same. */
static bool find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);

    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

loci_status lc_pq_load(lc_pq *out, loci_error *err)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;

    if (library == NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "a PostgreSQL store needs " LIBRARY ", which is not installed (Debian: "
                       "apt install libpq5)");
#define LC_PQ_FIND(name)                                                                           \
    if (!find(library, "PQ" #name, &out->name))                                                    \
        missing = "PQ" #name;
    LC_PQ_FUNCTIONS(LC_PQ_FIND)
#undef LC_PQ_FIND
    if (missing != NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the installed " LIBRARY " has no %s: use 14 or newer", missing);
    return LOCI_OK;
}
