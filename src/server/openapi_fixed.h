/* openapi_fixed.h - the parts of the OpenAPI document that do not come from the table of
 * operations. Only openapi*.c include this. */
#ifndef LC_SERVER_OPENAPI_FIXED_H
#define LC_SERVER_OPENAPI_FIXED_H

#include "base/json.h"

/* Each writes members of the object, or elements of the array, that is open. */
void lc_openapi_info(lc_json_writer *out);
void lc_openapi_other_tags(lc_json_writer *out);
void lc_openapi_other_paths(lc_json_writer *out);
/* What GET /v1/events has beside the operation: it is a stream for who asks for one. */
void lc_openapi_stream_params(lc_json_writer *out);
void lc_openapi_stream_content(lc_json_writer *out);
void lc_openapi_problem_responses(lc_json_writer *out);
/* Components but the schemas, and the schema of errors and events. */
void lc_openapi_shared(lc_json_writer *out);
void lc_openapi_problem_schema(lc_json_writer *out);

#endif /* LC_SERVER_OPENAPI_FIXED_H */
