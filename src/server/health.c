#include "server/health.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/probe.h"
#include "server/served.h"

/* A store that takes longer than this for one row is not ready for more. It is asked on the loop,
 * which waits as long. */
#define PROBE_MS 250

void lc_health_live(lc_http_request *request)
{
    char text[64];

    (void)snprintf(text, sizeof text, "{\"alive\":true,\"version\":\"%s\"}", loci_version());
    lc_served_json(request, loci_str_of(text));
}

void lc_health_ready(lc_server *server, lc_http_request *request)
{
    loci_error why;
    loci_error err;

    if (atomic_load(&server->is_draining)) {
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "the daemon is ending");
        lc_served_fail(request, &err);
    } else if (lc_probe_store(server->engine, PROBE_MS, &why) != LOCI_OK) {
        /* What exactly is wrong is for the log: anybody may ask this. */
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "the store does not answer: %s",
                      loci_status_name(why.status));
        lc_served_fail(request, &err);
    } else {
        lc_served_json(request, LC_STR("{\"ready\":true}"));
    }
}
