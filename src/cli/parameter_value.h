/* parameter_value.h - one value as it was typed, made into JSON of the kind its parameter takes. */
#ifndef LC_CLI_PARAMETER_VALUE_H
#define LC_CLI_PARAMETER_VALUE_H

#include "cli/cli.h"
#include "ops/op.h"

/* Numbers and objects must be such; anything goes for LC_PARAM_ANY: JSON if it is, else text. */
loci_status lc_parameter_write(lc_cli *cli, lc_json_writer *w, const lc_param *param,
                               const char *typed, loci_error *err);
/* Writes "a,b", or a JSON array of strings, as elements of an open array. */
loci_status lc_parameter_write_items(lc_cli *cli, lc_json_writer *w, const char *typed,
                                     loci_error *err);

#endif /* LC_CLI_PARAMETER_VALUE_H */
