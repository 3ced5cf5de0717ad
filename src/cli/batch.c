/* batch.c - `loci batch`: a call a line, an answer a line, in order.
 *
 * An answer has left the process before the next line is awaited, so a program can hold a
 * conversation over two pipes. The clock stands still between `at` lines; before the first it is
 * the system's. */
#include "cli/batch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/opening.h"

/* Beside its arguments a line has names and a time; white space may double all of it. */
#define LINE_BYTES_MAX (2 * (size_t)LC_ARGS_BYTES_MAX + 64u * 1024)

typedef struct lc_batch_clock {
    int64_t at_us; /* LOCI_AT_CLOCK = the system's. */
} lc_batch_clock;

static int64_t read_clock(void *ctx)
{
    const lc_batch_clock *clock = ctx;

    return clock->at_us != LOCI_AT_CLOCK ? clock->at_us : lc_clock_system_us(NULL);
}

static void run_line(lc_cli *cli, loci_engine *engine, lc_batch_clock *clock, loci_str text)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    lc_batch_line line;
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    lc_arena arena;

    lc_arena_init(&arena, cli->heap, LOCI_MEM_REQUESTS);
    status = lc_batch_line_parse(cli, &arena, text, &line, &err);
    if (status == LOCI_OK) {
        if (line.at_us != LOCI_AT_CLOCK)
            clock->at_us = line.at_us;
        options.cancel = lc_interrupt_flag();
        status = loci_call(engine, line.op, line.args, &options, &answer, &err);
    }
    if (status == LOCI_OK)
        lc_batch_print_answer(cli, loci_answer_json(answer));
    else
        lc_batch_print_error(cli, &err);
    loci_answer_free(answer);
    lc_arena_clear(&arena);
}

static int fail_input(lc_cli *cli)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_EUNAVAILABLE, "cannot read standard input: %s", strerror(errno));
    return lc_cli_report(cli, &err);
}

static int run_lines(lc_cli *cli, loci_engine *engine, lc_batch_clock *clock, lc_line_reader *lines)
{
    for (;;) {
        loci_error err;
        loci_str text;

        switch (lc_line_reader_next(lines, &text)) {
        case LC_LINE_READ:
            if (lc_batch_line_is_blank(text))
                continue;
            run_line(cli, engine, clock, text);
            break;
        case LC_LINE_TOO_LONG:
            (void)lc_batch_line_fail_length(&err);
            lc_batch_print_error(cli, &err);
            break;
        case LC_LINE_END:
            return LC_EXIT_OK;
        case LC_LINE_INTERRUPTED:
            return LC_EXIT_INTERRUPTED;
        case LC_LINE_FAILED:
            return fail_input(cli);
        }
        if (!lc_cli_flush(cli))
            return LC_EXIT_FAILED;
        if (lc_interrupt_is_set())
            return LC_EXIT_INTERRUPTED;
    }
}

int lc_command_batch(lc_cli *cli, const lc_arguments *arguments)
{
    lc_batch_clock clock = {.at_us = LOCI_AT_CLOCK};
    lc_opening opening = {.flags = LOCI_OPEN_INLINE, .is_silent = true};
    const char *seed_text = lc_arguments_value(arguments, "seed");
    loci_engine *engine = NULL;
    lc_line_reader lines;
    loci_error err;
    int64_t seed;
    int code;

    opening.clock = read_clock;
    opening.clock_ctx = &clock;
    if (seed_text != NULL) {
        if (!lc_str_to_i64(loci_str_of(seed_text), &seed) || seed < 0)
            return lc_cli_usage(cli, "--seed takes a whole number from 0 on, not %s", seed_text);
        opening.flags |= LOCI_OPEN_SEEDED;
        opening.seed = (uint64_t)seed;
    }
    if (lc_opening_run(cli, &opening, &engine, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);

    lc_line_reader_init(&lines, cli->heap, STDIN_FILENO, LINE_BYTES_MAX);
    code = lc_arguments_has(arguments, "atomic") ? lc_batch_run_atomic(cli, engine, &lines)
                                                 : run_lines(cli, engine, &clock, &lines);
    lc_line_reader_clear(&lines);
    loci_close(engine);
    return code;
}
