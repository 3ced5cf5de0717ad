/* openapi.h - the API as an OpenAPI 3.1 document, made from the table of operations. It needs no
 * engine and no server, so that clients can be generated at build time. */
#ifndef LC_SERVER_OPENAPI_H
#define LC_SERVER_OPENAPI_H

#include "base/json.h"

/* Writes the whole document, one object. */
void lc_openapi_write(lc_json_writer *out);

#endif /* LC_SERVER_OPENAPI_H */
