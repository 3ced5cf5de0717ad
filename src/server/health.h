/* health.h - /livez and /readyz, for whoever restarts and balances. No credentials, no data. */
#ifndef LC_SERVER_HEALTH_H
#define LC_SERVER_HEALTH_H

#include "server/parts.h"

/* 200 as long as the process answers at all. */
void lc_health_live(lc_http_request *request);
/* 200 when the store answers and the daemon is not ending, else 503. */
void lc_health_ready(lc_server *server, lc_http_request *request);

#endif /* LC_SERVER_HEALTH_H */
