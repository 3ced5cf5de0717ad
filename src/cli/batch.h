/* batch.h - what `loci batch` and `loci batch --atomic` share: a line as a call. */
#ifndef LC_CLI_BATCH_H
#define LC_CLI_BATCH_H

#include "cli/cli.h"
#include "cli/line_reader.h"

/* {"op":…, "args":{…}, "at":"RFC 3339"?} */
typedef struct lc_batch_line {
    const char *op;
    loci_str args; /* JSON text; "" = none given. */
    int64_t at_us; /* LOCI_AT_CLOCK = not given. */
} lc_batch_line;

/* Everything found lives in `arena`. LOCI_EINVAL says what is wrong with the line. */
loci_status lc_batch_line_parse(lc_cli *cli, lc_arena *arena, loci_str text, lc_batch_line *out,
                                loci_error *err);
/* The error of a line that is longer than any call may be. */
loci_status lc_batch_line_fail_length(loci_error *err);
/* Nothing but white space: not a call. */
bool lc_batch_line_is_blank(loci_str text);

/* Appends {"ok":answer} or {"error":…} and a newline to cli->out. */
void lc_batch_print_answer(lc_cli *cli, loci_str answer);
void lc_batch_print_error(lc_cli *cli, const loci_error *err);

/* Reads everything, then runs it as one transaction; returns the exit code. */
int lc_batch_run_atomic(lc_cli *cli, loci_engine *engine, lc_line_reader *lines);

#endif /* LC_CLI_BATCH_H */
