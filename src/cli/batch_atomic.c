/* batch_atomic.c - `loci batch --atomic`: all lines or none.
 *
 * Everything is read first, because whether the first line may happen depends on the last. Every
 * line gets its answer: on failure the one that failed says why, the others that they were not
 * done. */
#include "cli/batch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/interrupt.h"

#define INPUT_BYTES_MAX (64u * 1024 * 1024) /* Of all lines together. */

typedef struct lc_atomic {
    lc_cli *cli;
    lc_arena arena; /* Everything read. */
    loci_request requests[LC_CALLS_PER_BATCH_MAX];
    size_t line_numbers[LC_CALLS_PER_BATCH_MAX + 1]; /* Of each request in the input, from 1. */
    size_t count;       /* Lines that are calls; may be more than there are requests. */
    size_t line_number; /* Of the last line read. */
    size_t bytes;       /* Of all lines. */
    int64_t at_us;      /* As the last `at` said. */
    bool has_failed;    /* A line was wrong: nothing is run. */
    size_t failed_index;
    loci_error err; /* Why. */
} lc_atomic;

/* As loci_call_many() would have answered it. */
static void fail_here(lc_atomic *atomic, const loci_error *err)
{
    char data[64];
    int len = snprintf(data, sizeof data, "{\"index\":%zu}", atomic->count);

    atomic->err = *err;
    lc_error_set_data(&atomic->err, (loci_str){data, (size_t)len});
    atomic->failed_index = atomic->count;
    atomic->has_failed = true;
}

static loci_status take_line(lc_atomic *atomic, loci_str text, loci_error *err)
{
    lc_batch_line line;
    loci_status status;

    if (atomic->count == LC_CALLS_PER_BATCH_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an atomic batch has at most %d calls",
                       LC_CALLS_PER_BATCH_MAX);
    atomic->bytes += text.len;
    if (atomic->bytes > INPUT_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an atomic batch has at most %u bytes", INPUT_BYTES_MAX);
    text = lc_arena_copy(&atomic->arena, text);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_batch_line_parse(atomic->cli, &atomic->arena, text, &line, err);
    if (status != LOCI_OK)
        return status;
    if (line.at_us != LOCI_AT_CLOCK)
        atomic->at_us = line.at_us;
    atomic->requests[atomic->count] = (loci_request){line.op, line.args, atomic->at_us};
    return LOCI_OK;
}

/* Reads to the end, also behind a failure: every line must be answered. */
static lc_line_result read_all(lc_atomic *atomic, lc_line_reader *lines)
{
    for (;;) {
        loci_error err;
        loci_str text;
        loci_status status = LOCI_OK;
        lc_line_result result = lc_line_reader_next(lines, &text);

        if (result != LC_LINE_READ && result != LC_LINE_TOO_LONG)
            return result;
        atomic->line_number++;
        if (result == LC_LINE_READ && lc_batch_line_is_blank(text))
            continue;
        if (atomic->count <= LC_CALLS_PER_BATCH_MAX)
            atomic->line_numbers[atomic->count] = atomic->line_number;
        if (!atomic->has_failed) {
            status = result == LC_LINE_TOO_LONG ? lc_batch_line_fail_length(&err)
                                                : take_line(atomic, text, &err);
            if (status != LOCI_OK)
                fail_here(atomic, &err);
        }
        atomic->count++;
    }
}

/* Elements of a JSON array that loci itself wrote, without building a tree of it: brackets are
 * counted outside strings. */
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

static void print_answers(lc_atomic *atomic, loci_str array)
{
    loci_str rest = lc_str_trim(array);

    if (rest.len > 0 && rest.ptr[0] == '[')
        rest = (loci_str){rest.ptr + 1, rest.len - 1};
    for (size_t i = 0; i < atomic->count; i++)
        lc_batch_print_answer(atomic->cli, next_element(&rest));
}

static void print_failure(lc_atomic *atomic, bool has_index)
{
    loci_error others;

    if (has_index)
        (void)lc_fail(&others, LOCI_ECANCELLED, "not done because line %zu failed",
                      atomic->line_numbers[atomic->failed_index]);
    for (size_t i = 0; i < atomic->count; i++)
        lc_batch_print_error(atomic->cli,
                             !has_index || i == atomic->failed_index ? &atomic->err : &others);
}

/* Which of the calls failed, from the particulars of the error. */
static bool find_index(lc_atomic *atomic)
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

static void run(lc_atomic *atomic, loci_engine *engine)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    if (atomic->has_failed) {
        print_failure(atomic, true);
        return;
    }
    if (atomic->count == 0)
        return;
    options.cancel = lc_interrupt_flag();
    status = loci_call_many(engine, atomic->requests, atomic->count, &options, &answer,
                            &atomic->err);
    if (status == LOCI_OK)
        print_answers(atomic, loci_answer_json(answer));
    else
        print_failure(atomic, find_index(atomic));
    loci_answer_free(answer);
}

int lc_batch_run_atomic(lc_cli *cli, loci_engine *engine, lc_line_reader *lines)
{
    lc_atomic *atomic = lc_arena_zalloc_array(cli->arena, 1, sizeof *atomic);
    loci_error err;
    lc_line_result result;
    int code = LC_EXIT_OK;

    if (atomic == NULL) {
        (void)lc_fail_memory(&err);
        return lc_cli_report(cli, &err);
    }
    atomic->cli = cli;
    atomic->at_us = LOCI_AT_CLOCK;
    lc_arena_init(&atomic->arena, cli->heap, LOCI_MEM_REQUESTS);
    result = read_all(atomic, lines);
    if (result == LC_LINE_END) {
        run(atomic, engine);
        code = lc_cli_flush(cli) ? LC_EXIT_OK : LC_EXIT_FAILED;
    } else if (result == LC_LINE_INTERRUPTED) {
        code = LC_EXIT_INTERRUPTED;
    } else {
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "cannot read standard input: %s", strerror(errno));
        code = lc_cli_report(cli, &err);
    }
    lc_arena_clear(&atomic->arena);
    return code;
}
