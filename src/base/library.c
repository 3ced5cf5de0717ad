#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

loci_status lc_library_load(const lc_library *library, void *out, loci_error *err)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s needs %s, which is not installed (Debian: apt install %s)",
                       library->user, library->file, library->package);
    for (size_t i = 0; library->names[i] != NULL; i++) {
        void *symbol = dlsym(handle, library->names[i]);

        if (symbol == NULL)
            return lc_fail(err, LOCI_EUNSUPPORTED,
                           "the installed %s has no %s: install %s or newer", library->file,
                           library->names[i], library->oldest);
        /* C has no cast from an object pointer to a function pointer; POSIX gives both the same
         * representation. */
        memcpy((char *)out + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return LOCI_OK;
}
