/* api.c - which part of the API answers: a call by name, a batch, or a route of the table. */
#include "server/api.h"

#include "server/served.h"

void lc_api_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    lc_api_context context = {.server = server, .request = request, .who = who};
    const lc_served *served = lc_http_state(request);
    const lc_route_match *match = &served->match;

    if (match->route->kind == LC_ROUTE_CALL)
        lc_api_call_named(&context, match->params[0].value);
    else if (match->route->kind == LC_ROUTE_BATCH)
        lc_api_call_batch(&context);
    else
        lc_api_call_route(&context, match);
}
