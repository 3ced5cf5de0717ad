/* call.c - `loci call`: one operation for programs. One JSON object on standard output and 0, or
 * one
 * {"error":…} on standard error and 1 (2 when the command itself was not understood). */
#include "cli/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/opening.h"
#include "cli/operation.h"

static int run(lc_cli *cli, const char *name, loci_str args)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE, .is_silent = true};
    lc_operation operation = {.name = name, .args = args, .is_plain = true};
    loci_engine *engine = NULL;
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    int code = LC_EXIT_OK;

    status = lc_opening_run(cli, &opening, &engine, &err);
    if (status == LOCI_OK)
        status = lc_operation_call(cli, engine, &operation, &answer, &err);
    if (status == LOCI_OK) {
        lc_buf_append(&cli->out, loci_answer_json(answer));
        lc_buf_append_byte(&cli->out, '\n');
    } else {
        code = lc_cli_report(cli, &err);
    }
    loci_answer_free(answer);
    loci_close(engine);
    return code;
}

int lc_command_call(lc_cli *cli, const lc_arguments *arguments)
{
    loci_error err;
    lc_buf args;
    int code;

    if (arguments->word_count == 0)
        return lc_cli_usage(cli,
                            "call needs an operation: loci call fact.current '{\"key\":\"city\"}'");

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    if (arguments->word_count > 1 && strcmp(arguments->words[1], "-") == 0) {
        if (lc_input_read(STDIN_FILENO, "standard input", &args, &err) != LOCI_OK) {
            code = lc_cli_report(cli, &err);
            lc_buf_clear(&args);
            return code;
        }
    } else if (arguments->word_count > 1) {
        lc_buf_append(&args, loci_str_of(arguments->words[1]));
    }
    code = run(cli, arguments->words[0], lc_buf_str(&args));
    lc_buf_clear(&args);
    return code;
}
