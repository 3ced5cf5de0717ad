/* schema.h - parameters and answers of operations as JSON Schema (draft 2020-12), for OpenAPI and
 * for the tools of models.
 *
 * Records with a name are written once, by lc_schema_record(), and referred to everywhere else as
 * {"$ref": LC_SCHEMA_REFS "Fact"}. Answers are open: a later version may add members.
 */
#ifndef LC_OPS_SCHEMA_H
#define LC_OPS_SCHEMA_H

#include "ops/op.h"

#define LC_SCHEMA_REFS "#/components/schemas/"

/* Each writes one schema. */

/* One parameter. `takes_null`: in a JSON object, where null stands for its absence. */
void lc_schema_param(lc_json_writer *out, const lc_param *param, bool takes_null);
/* The object of arguments, without those that are in `path`; "" = all. */
void lc_schema_args(lc_json_writer *out, const lc_op *op, loci_str path);
/* The members of a record, written out. */
void lc_schema_record(lc_json_writer *out, const lc_record *record);

/* Appends to an open schema the type of a value of this kind, in the short and simple form that all
 * hosts of models understand: one type, or a choice of types, but no limits, patterns or
 * references.
 */
void lc_schema_plain(lc_json_writer *out, lc_param_kind kind, const char *choices);

/* Whether some argument that is not in `path` is required. */
bool lc_schema_needs_args(const lc_op *op, loci_str path);

#define LC_SCHEMA_RECORDS_MAX 128
/* All records with a name that answers consist of, each once; returns how many. */
size_t lc_schema_records(const lc_record *out[LC_SCHEMA_RECORDS_MAX]);

#define LC_RULE_TEXT_BYTES 256
/* The rule as a sentence: "Give at most one of after_seq and cursor."; terminated. */
void lc_rule_describe(const lc_param_rule *rule, char out[LC_RULE_TEXT_BYTES]);

#endif /* LC_OPS_SCHEMA_H */
