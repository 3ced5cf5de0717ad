/* api.c - the public functions that are about the engine itself. */
#include "base/assert.h"
#include "base/error.h"
#include "engine/engine.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *loci_version(void)
{
    return VERSION_TEXT(LOCI_VERSION_MAJOR, LOCI_VERSION_MINOR, LOCI_VERSION_PATCH);
}

/* A caller built against another header: members it did not know keep their defaults. */
static loci_status check_size(uint32_t size, loci_error *err)
{
    if (size == sizeof(loci_open_options))
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL, "loci_open_options has %u bytes, this libloci expects %zu",
                   size, sizeof(loci_open_options));
}

loci_status loci_open(const loci_open_options *options, loci_engine **out, loci_error *err)
{
    loci_status status;

    if (options == NULL || out == NULL)
        return lc_fail(err, LOCI_EINVAL, "loci_open needs options and a place for the engine");
    status = check_size(options->size, err);
    return status == LOCI_OK ? lc_engine_open(options, NULL, out, err) : status;
}

void loci_close(loci_engine *engine)
{
    lc_engine_close(engine);
}
