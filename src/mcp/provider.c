/* provider.c - placeholder until the real provider is merged over it: offers no tools. */
#include "base/error.h"
#include "mcp/mcp.h"

typedef struct own_provider {
    lc_mcp_provider provider;
    lc_heap *heap;
} own_provider;

loci_status lc_mcp_provider_new(lc_heap *heap, const lc_mcp_defaults *defaults,
                                lc_mcp_provider **out, loci_error *err)
{
    own_provider *own = lc_heap_zalloc(heap, sizeof *own, LOCI_MEM_ENGINE);

    (void)defaults;
    if (own == NULL)
        return lc_fail_memory(err);
    own->provider = (lc_mcp_provider){.name = "loci",
                                      .title = "loci",
                                      .version = loci_version(),
                                      .tools = LC_STR("[]"),
                                      .ctx = own};
    own->heap = heap;
    *out = &own->provider;
    return LOCI_OK;
}

void lc_mcp_provider_free(lc_mcp_provider *provider)
{
    own_provider *own = provider != NULL ? provider->ctx : NULL;

    if (own != NULL)
        lc_heap_free(own->heap, own, sizeof *own, LOCI_MEM_ENGINE);
}
