#include "cli/batch.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/operation.h"
#include "ops/check.h"

bool lc_batch_line_is_blank(loci_str text)
{
    return lc_str_trim(text).len == 0;
}

loci_status lc_batch_line_fail_length(loci_error *err)
{
    return lc_fail(err, LOCI_ELIMIT, "the line is too long; arguments have at most %u bytes",
                   LC_ARGS_BYTES_MAX);
}

static loci_status fail_member(loci_str name, loci_error *err)
{
    lc_nearest nearest = lc_nearest_to(name);

    lc_nearest_offer(&nearest, LC_STR("op"));
    lc_nearest_offer(&nearest, LC_STR("args"));
    lc_nearest_offer(&nearest, LC_STR("at"));
    if (nearest.best.ptr != NULL)
        return lc_fail(err, LOCI_EINVAL, "unknown member \"%.*s\"; did you mean \"%.*s\"?",
                       LC_STR_ARG(name), LC_STR_ARG(nearest.best));
    return lc_fail(err, LOCI_EINVAL, "unknown member \"%.*s\"; a line has \"op\", \"args\", \"at\"",
                   LC_STR_ARG(name));
}

static loci_status read_time(const lc_json *value, int64_t *out_us, loci_error *err)
{
    if (lc_json_kind_of(value) != LC_JSON_STRING)
        return lc_fail(err, LOCI_EINVAL,
                       "\"at\" must be a string such as 2026-01-31T12:00:00Z, not %s",
                       lc_json_kind_name(lc_json_kind_of(value)));
    if (!lc_time_parse(lc_json_str(value), out_us))
        return lc_fail(err, LOCI_EINVAL,
                       "\"at\" must be an RFC 3339 time such as 2026-01-31T12:00:00Z, not \"%.*s\"",
                       LC_STR_ARG(lc_json_str(value)));
    return LOCI_OK;
}

static loci_status read_args(lc_cli *cli, lc_arena *arena, const lc_json *value,
                             lc_batch_line *line, loci_error *err)
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
    lc_operation_add_user(cli, line->op, lc_buf_str(&text), &with_user);
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
        return lc_fail(err, LOCI_EINVAL, "a line is an object {\"op\":…, \"args\":{…}}, not %s",
                       lc_json_kind_name(lc_json_kind_of(json)));
    for (const lc_json *member = lc_json_first(json); member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);

        if (!lc_str_is(name, "op") && !lc_str_is(name, "args") && !lc_str_is(name, "at"))
            return fail_member(name, err);
    }
    return LOCI_OK;
}

loci_status lc_batch_line_parse(lc_cli *cli, lc_arena *arena, loci_str text, lc_batch_line *out,
                                loci_error *err)
{
    lc_batch_line line = {.at_us = LOCI_AT_CLOCK};
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
    if (at != NULL)
        status = read_time(at, &line.at_us, err);
    if (status == LOCI_OK)
        status = read_args(cli, arena, lc_json_member(json, LC_STR("args")), &line, err);
    if (status == LOCI_OK)
        *out = line;
    return status;
}

void lc_batch_print_answer(lc_cli *cli, loci_str answer)
{
    lc_buf_append(&cli->out, LC_STR("{\"ok\":"));
    lc_buf_append(&cli->out, answer);
    lc_buf_append(&cli->out, LC_STR("}\n"));
}

void lc_batch_print_error(lc_cli *cli, const loci_error *err)
{
    lc_cli_append_error(cli, &cli->out, err);
    lc_buf_append_byte(&cli->out, '\n');
}
