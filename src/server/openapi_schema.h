/* openapi_schema.h - what operations take and answer, as JSON schemas. Only openapi*.c include
 * this.
 */
#ifndef LC_SERVER_OPENAPI_SCHEMA_H
#define LC_SERVER_OPENAPI_SCHEMA_H

#include "ops/op.h"

/* Each writes one value. */
void lc_schema_param(lc_json_writer *out, const lc_param *param);
/* The arguments, but those that stand in `path`. */
void lc_schema_args(lc_json_writer *out, const lc_op *op, loci_str path);
void lc_schema_answer(lc_json_writer *out, const lc_op *op);

/* Whether one of the arguments that are not in `path` must be given. */
bool lc_schema_needs_args(const lc_op *op, loci_str path);

#define LC_SCHEMA_NAME_BYTES 96
/* "FactWriteArgs" of fact.write and "Args"; terminated, cut when too long. */
void lc_schema_name(const lc_op *op, const char *suffix, char out[LC_SCHEMA_NAME_BYTES]);

#endif /* LC_SERVER_OPENAPI_SCHEMA_H */
