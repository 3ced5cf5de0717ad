/* batch.c - `loci batch`: reads one call per line, writes one answer per line, in order.
 *
 * Each answer is written before the next line is read, so a program can talk to it over two pipes.
 * Before the first line with `at`, calls use the system clock; after it, the clock stands still
 * between lines with `at`. The exit code is 1 if a line failed; the others are run all the same. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/link.h"
#include "cli/operation.h"
#include "ops/check.h"

/* {"op":…, "args":{…}, "at":"RFC 3339"?} */
typedef struct batch_line {
    const char *op;
    loci_str args; /* JSON text; "" = none. */
    int64_t at_us; /* LOCI_AT_CLOCK = none. */
} batch_line;

/* The store is opened by the first call: a call that only reads does not create it, so a mistyped
 * path is noticed. */
typedef struct batch {
    lc_cli *cli;
    lc_opening opening;
    lc_link link;
    bool is_open;  /* After the first call. */
    int64_t at_us; /* The last `at`; LOCI_AT_CLOCK = the system clock. */
} batch;

static bool is_write(const char *name)
{
    const lc_op *op = lc_op_find(loci_str_of(name));

    return op != NULL && (op->flags & LC_OP_MUTATES) != 0;
}

static loci_status open_store(batch *b, bool creates, loci_error *err)
{
    loci_status status;

    if (b->is_open)
        return LOCI_OK;
    if (!creates)
        b->opening.flags |= LOCI_OPEN_EXISTING;
    status = lc_link_open(&b->link, b->cli, &(lc_link_options){.opening = b->opening}, err);
    b->is_open = status == LOCI_OK;
    return status;
}

/* ---- A line ---------------------------------------------------------------------------------- */

static bool is_blank(loci_str text)
{
    return lc_str_trim(text).len == 0;
}

static loci_status fail_length(loci_error *err)
{
    return lc_fail(err, LOCI_ELIMIT,
                   "the line is too long; the maximum size of arguments is %u bytes",
                   LC_ARGS_BYTES_MAX);
}

static loci_status read_args(lc_cli *cli, lc_arena *arena, const lc_json *value, batch_line *line,
                             loci_error *err)
{
    lc_json_writer w;
    lc_buf text;
    lc_buf with_user;
    loci_status status;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_buf_init(&with_user, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    if (value != NULL) {
        lc_jw_init(&w, &text);
        lc_jw_value(&w, value);
    }
    lc_operation_add_who(cli, &(lc_operation){.name = line->op, .args = lc_buf_str(&text)},
                         lc_cli_persona(cli), &with_user);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&with_user, err);
    if (status == LOCI_OK) {
        line->args = lc_arena_copy(arena, lc_buf_str(&with_user));
        if (line->args.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&with_user);
    return status;
}

static loci_status check_members(const lc_json *json, loci_error *err)
{
    if (lc_json_kind_of(json) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL,
                       "a line must be an object {\"op\":…, \"args\":{…}}, not %s",
                       lc_json_kind_name(lc_json_kind_of(json)));
    for (const lc_json *member = lc_json_first(json); member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);

        if (!lc_str_is(name, "op") && !lc_str_is(name, "args") && !lc_str_is(name, "at"))
            return lc_fail(err, LOCI_EINVAL,
                           "unknown member \"%.*s\"; allowed: \"op\", \"args\", \"at\"",
                           LC_STR_ARG(name));
    }
    return LOCI_OK;
}

static loci_status parse_line(lc_cli *cli, lc_arena *arena, loci_str text, batch_line *out,
                              loci_error *err)
{
    batch_line line = {.at_us = LOCI_AT_CLOCK};
    const lc_json *json;
    const lc_json *op;
    const lc_json *at;
    loci_status status;

    status = lc_json_parse(arena, text, 0, &json, err);
    if (status == LOCI_OK)
        status = check_members(json, err);
    if (status != LOCI_OK)
        return status;

    op = lc_json_member(json, LC_STR("op"));
    if (op == NULL)
        return lc_fail(err, LOCI_EINVAL, "\"op\" is missing");
    if (lc_json_kind_of(op) != LC_JSON_STRING)
        return lc_fail(err, LOCI_EINVAL, "\"op\" must be a string such as fact.write, not %s",
                       lc_json_kind_name(lc_json_kind_of(op)));
    line.op = lc_arena_copy(arena, lc_json_str(op)).ptr;
    if (line.op == NULL)
        return lc_fail_memory(err);

    at = lc_json_member(json, LC_STR("at"));
    if (at != NULL && lc_json_kind_of(at) != LC_JSON_STRING)
        status = lc_fail(err, LOCI_EINVAL,
                         "\"at\" must be a string such as 2026-01-31T12:00:00Z, not %s",
                         lc_json_kind_name(lc_json_kind_of(at)));
    else if (at != NULL && !lc_time_parse(lc_json_str(at), &line.at_us))
        status = lc_fail(err, LOCI_EINVAL,
                         "\"at\" must be an RFC 3339 time such as 2026-01-31T12:00:00Z, not "
                         "\"%.*s\"",
                         LC_STR_ARG(lc_json_str(at)));
    if (status == LOCI_OK)
        status = read_args(cli, arena, lc_json_member(json, LC_STR("args")), &line, err);
    if (status == LOCI_OK)
        *out = line;
    return status;
}

static void print_answer(lc_cli *cli, loci_str answer)
{
    lc_buf_append(&cli->out, LC_STR("{\"ok\":"));
    lc_buf_append(&cli->out, answer);
    lc_buf_append(&cli->out, LC_STR("}\n"));
}

static void print_error(lc_cli *cli, const loci_error *err)
{
    lc_cli_append_error(cli, &cli->out, err);
    lc_buf_append_byte(&cli->out, '\n');
}

/* ---- All lines or none ----------------------------------------------------------------------- */

/* `loci batch --atomic` reads all lines first and runs them in one transaction. If a line fails,
 * its answer has the error, and the answers of all other lines say that they were not run. */

#define INPUT_BYTES_MAX (64u * 1024 * 1024) /* All lines together. */

typedef struct atomic_batch {
    lc_cli *cli;
    lc_arena arena; /* For all lines. */
    loci_request requests[LC_CALLS_PER_BATCH_MAX];
    size_t line_numbers[LC_CALLS_PER_BATCH_MAX + 1]; /* Line of each request, from 1. */
    size_t count;       /* Calls; more than there are requests if over the limit. */
    size_t line_number; /* Of the last line read. */
    size_t bytes;       /* Of all lines. */
    int64_t at_us;      /* The last `at`. */
    bool has_failed;    /* A line is invalid: nothing is run. */
    size_t failed_index;
    loci_error err; /* Why. */
} atomic_batch;

/* In the form of an error of loci_call_many(). */
static void fail_here(atomic_batch *atomic, const loci_error *err)
{
    char data[64];
    int len = snprintf(data, sizeof data, "{\"index\":%zu}", atomic->count);

    atomic->err = *err;
    lc_error_set_data(&atomic->err, (loci_str){data, (size_t)len});
    atomic->failed_index = atomic->count;
    atomic->has_failed = true;
}

static loci_status take_line(atomic_batch *atomic, loci_str text, loci_error *err)
{
    batch_line line;
    loci_status status;

    if (atomic->count == LC_CALLS_PER_BATCH_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an atomic batch is limited to %d calls",
                       LC_CALLS_PER_BATCH_MAX);
    atomic->bytes += text.len;
    if (atomic->bytes > INPUT_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an atomic batch is limited to %u bytes", INPUT_BYTES_MAX);
    text = lc_arena_copy(&atomic->arena, text);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    status = parse_line(atomic->cli, &atomic->arena, text, &line, err);
    if (status != LOCI_OK)
        return status;
    if (line.at_us != LOCI_AT_CLOCK)
        atomic->at_us = line.at_us;
    atomic->requests[atomic->count] = (loci_request){line.op, line.args, atomic->at_us};
    return LOCI_OK;
}

/* Reads to the end even after an invalid line: every line must be answered. */
static lc_line_result read_all(atomic_batch *atomic, lc_line_reader *lines)
{
    for (;;) {
        loci_error err;
        loci_str text;
        loci_status status = LOCI_OK;
        lc_line_result result = lc_line_reader_next(lines, &text);

        if (result != LC_LINE_READ && result != LC_LINE_TOO_LONG)
            return result;
        atomic->line_number++;
        if (result == LC_LINE_READ && is_blank(text))
            continue;
        if (atomic->count <= LC_CALLS_PER_BATCH_MAX)
            atomic->line_numbers[atomic->count] = atomic->line_number;
        if (!atomic->has_failed) {
            status = result == LC_LINE_TOO_LONG ? fail_length(&err) : take_line(atomic, text, &err);
            if (status != LOCI_OK)
                fail_here(atomic, &err);
        }
        atomic->count++;
    }
}

/* The next element of a JSON array written by loci, without parsing it into a tree: counts brackets
 * outside strings. */
static loci_str next_element(loci_str *rest)
{
    size_t depth = 0;
    bool in_string = false;
    size_t at = 0;
    loci_str element;

    for (; at < rest->len; at++) {
        char byte = rest->ptr[at];

        if (in_string) {
            if (byte == '\\')
                at++;
            else
                in_string = byte != '"';
            continue;
        }
        in_string = byte == '"';
        if (byte == '{' || byte == '[')
            depth++;
        if ((byte == ',' || byte == ']') && depth == 0)
            break;
        if (byte == '}' || byte == ']')
            depth--;
    }
    element = lc_str_trim((loci_str){rest->ptr, at});
    at = at < rest->len ? at + 1 : at;
    *rest = (loci_str){rest->ptr + at, rest->len - at};
    return element;
}

static void print_failure(atomic_batch *atomic, bool has_index)
{
    loci_error others;

    if (has_index)
        (void)lc_fail(&others, LOCI_ECANCELLED, "not run because line %zu failed",
                      atomic->line_numbers[atomic->failed_index]);
    for (size_t i = 0; i < atomic->count; i++)
        print_error(atomic->cli, !has_index || i == atomic->failed_index ? &atomic->err : &others);
}

/* Index of the failed call, from the data of the error. */
static bool find_index(atomic_batch *atomic)
{
    const lc_json *data;
    const lc_json *index;

    if (atomic->err.data[0] == '\0' ||
        lc_json_parse(&atomic->arena, loci_str_of(atomic->err.data), LC_JSON_ALLOW_NUL, &data,
                      NULL) != LOCI_OK ||
        lc_json_kind_of(data) != LC_JSON_OBJECT)
        return false;
    index = lc_json_member(data, LC_STR("index"));
    if (index == NULL || lc_json_kind_of(index) != LC_JSON_INT || lc_json_int(index) < 0 ||
        (uint64_t)lc_json_int(index) >= atomic->count)
        return false;
    atomic->failed_index = (size_t)lc_json_int(index);
    return true;
}

/* Returns the exit code. */
static int run(atomic_batch *atomic, batch *b)
{
    bool has_write = false;
    loci_status status;
    lc_buf answers;

    if (atomic->has_failed) {
        print_failure(atomic, true);
        return LC_EXIT_FAILED;
    }
    if (atomic->count == 0)
        return LC_EXIT_OK;
    for (size_t i = 0; i < atomic->count; i++)
        has_write |= is_write(atomic->requests[i].operation);
    status = open_store(b, has_write, &atomic->err);
    if (status != LOCI_OK)
        return lc_cli_report(b->cli, &atomic->err);
    lc_buf_init(&answers, b->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_link_call_many(&b->link, atomic->requests, atomic->count,
                               &(lc_link_terms){.client = NULL}, &answers, &atomic->err);
    if (status == LOCI_OK) {
        loci_str rest = lc_buf_str(&answers); /* "[…]" */

        rest = (loci_str){rest.ptr + 1, rest.len - 1};
        for (size_t i = 0; i < atomic->count; i++)
            print_answer(atomic->cli, next_element(&rest));
    } else {
        print_failure(atomic, find_index(atomic));
    }
    lc_buf_clear(&answers);
    return status == LOCI_OK ? LC_EXIT_OK : LC_EXIT_FAILED;
}

static int run_atomic(batch *b, lc_line_reader *lines)
{
    lc_cli *cli = b->cli;
    atomic_batch *atomic = lc_arena_zalloc_array(cli->arena, 1, sizeof *atomic);
    loci_error err;
    lc_line_result result;
    int code = LC_EXIT_OK;

    if (atomic == NULL)
        return lc_cli_report_memory(cli);
    atomic->cli = cli;
    atomic->at_us = LOCI_AT_CLOCK;
    lc_arena_init(&atomic->arena, cli->heap, LOCI_MEM_REQUESTS);
    result = read_all(atomic, lines);
    if (result == LC_LINE_END) {
        code = run(atomic, b);
        if (!lc_cli_flush(cli))
            code = LC_EXIT_FAILED;
    } else if (result == LC_LINE_INTERRUPTED) {
        code = LC_EXIT_INTERRUPTED;
    } else {
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "cannot read stdin: %s", strerror(errno));
        code = lc_cli_report(cli, &err);
    }
    lc_arena_clear(&atomic->arena);
    return code;
}

/* ---- Line by line ---------------------------------------------------------------------------- */

/* A line has arguments, names and a time; white space may double its size. */
#define LINE_BYTES_MAX (2 * (size_t)LC_ARGS_BYTES_MAX + 64u * 1024)

static int64_t read_clock(void *ctx)
{
    const batch *b = ctx;

    return b->at_us != LOCI_AT_CLOCK ? b->at_us : lc_clock_system_us(NULL);
}

/* Calls of a daemon carry the time; the store has a clock. */
static int64_t time_of_call(const batch *b)
{
    return b->link.remote != NULL ? b->at_us : LOCI_AT_CLOCK;
}

/* Returns the exit code of the line; without a store there is no answer, and b->is_open stays
 * false. */
static int run_line(batch *b, loci_str text)
{
    lc_cli *cli = b->cli;
    batch_line line;
    loci_error err;
    loci_status status;
    lc_buf answer;
    lc_arena arena;

    lc_arena_init(&arena, cli->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = parse_line(cli, &arena, text, &line, &err);
    if (status == LOCI_OK) {
        if (line.at_us != LOCI_AT_CLOCK)
            b->at_us = line.at_us;
        status = open_store(b, is_write(line.op), &err);
        if (status != LOCI_OK) {
            lc_arena_clear(&arena);
            return lc_cli_report(cli, &err);
        }
        status = lc_link_call(&b->link, &(loci_request){line.op, line.args, time_of_call(b)},
                              &(lc_link_terms){.client = NULL}, &answer, &err);
    }
    if (status == LOCI_OK)
        print_answer(cli, lc_buf_str(&answer));
    else
        print_error(cli, &err);
    lc_buf_clear(&answer);
    lc_arena_clear(&arena);
    return status == LOCI_OK ? LC_EXIT_OK : LC_EXIT_FAILED;
}

static int run_lines(batch *b, lc_line_reader *lines)
{
    lc_cli *cli = b->cli;
    int code = LC_EXIT_OK;

    for (;;) {
        loci_error err;
        loci_str text;

        switch (lc_line_reader_next(lines, &text)) {
        case LC_LINE_READ:
            if (is_blank(text))
                continue;
            if (run_line(b, text) != LC_EXIT_OK)
                code = LC_EXIT_FAILED;
            if (!b->is_open && cli->out.len == 0)
                return code;
            break;
        case LC_LINE_TOO_LONG:
            (void)fail_length(&err);
            print_error(cli, &err);
            code = LC_EXIT_FAILED;
            break;
        case LC_LINE_END:
            return code;
        case LC_LINE_INTERRUPTED:
            return LC_EXIT_INTERRUPTED;
        case LC_LINE_FAILED:
            (void)lc_fail(&err, LOCI_EUNAVAILABLE, "cannot read stdin: %s", strerror(errno));
            return lc_cli_report(cli, &err);
        }
        if (!lc_cli_flush(cli))
            return LC_EXIT_FAILED;
        if (lc_interrupt_is_set())
            return LC_EXIT_INTERRUPTED;
    }
}

int lc_command_batch(lc_cli *cli, const lc_arguments *arguments)
{
    batch b = {.cli = cli, .at_us = LOCI_AT_CLOCK};
    const char *seed_text = lc_arguments_value(arguments, "seed");
    lc_line_reader lines;
    int64_t seed;
    int code;

    b.opening = (lc_opening){.flags = LOCI_OPEN_INLINE,
                             .is_silent = true,
                             .creates_named = true,
                             .clock = read_clock,
                             .clock_ctx = &b};
    if (lc_arguments_has(arguments, "atomic") && lc_arguments_has(arguments, "keep-going"))
        return lc_cli_usage(cli, "--atomic runs all lines or none: leave out --keep-going");
    if (seed_text != NULL && lc_remote_url(cli) != NULL)
        return lc_cli_usage(cli, "--seed needs the store itself: a daemon has its own random "
                                 "values");
    if (seed_text != NULL) {
        if (!lc_str_to_i64(loci_str_of(seed_text), &seed) || seed < 0)
            return lc_cli_usage(cli, "--seed must be an integer of 0 or more, not %s", seed_text);
        b.opening.flags |= LOCI_OPEN_SEEDED;
        b.opening.seed = (uint64_t)seed;
    }
    lc_line_reader_init(&lines, cli->heap, STDIN_FILENO, LINE_BYTES_MAX);
    code = lc_arguments_has(arguments, "atomic") ? run_atomic(&b, &lines) : run_lines(&b, &lines);
    lc_line_reader_clear(&lines);
    lc_link_close(&b.link);
    return code;
}
