/* report.c - failures, for programs and for people. Both say the same: the code, the message and
 * the particulars. People also get what they could do next, because a bare "not found" sends them
 * to a search engine. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/render.h"

/* The particulars that are not said already. */
static void write_data(lc_cli *cli, lc_json_writer *out, const loci_error *err)
{
    const lc_json *data;

    if (err->data[0] == '\0' ||
        lc_json_parse(cli->arena, loci_str_of(err->data), LC_JSON_ALLOW_NUL, &data, NULL) !=
            LOCI_OK ||
        lc_json_kind_of(data) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(data); member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);

        if (lc_str_is(name, "code") || lc_str_is(name, "message"))
            continue;
        lc_jw_name_str(out, name);
        lc_jw_value(out, member);
    }
}

void lc_cli_append_error(lc_cli *cli, lc_buf *out, const loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_name(&w, "error");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "code", loci_status_name(err->status));
    lc_jw_member_text(&w, "message", err->message);
    write_data(cli, &w, err);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_arena_rewind(cli->arena, mark);
}

static const char *hint_of(const loci_error *err)
{
    switch (err->status) {
    case LOCI_EFORBIDDEN:
        return "`loci doctor` shows which permission is missing.";
    case LOCI_ERESOURCE:
        return "Nothing was lost. `loci doctor` shows how much disk is left.";
    case LOCI_ECORRUPT:
        return "`loci doctor` looks closer; `loci restore PATH` brings a backup back.";
    case LOCI_ECANCELLED:
        return "Nothing is broken; doing it again goes on or begins anew.";
    case LOCI_EINTERNAL:
        return "This is a bug in loci. Please report it, with the message above.";
    case LOCI_EDEADLINE:
        return "`--set call.timeout_ms=60000` gives it more time.";
    default:
        return NULL;
    }
}

static void append_words(lc_cli *cli, lc_buf *out, const loci_error *err)
{
    const lc_json *data;

    lc_terminal_append(&cli->err_terminal, out, LC_STYLE_BAD, LC_STR("loci: "));
    lc_text_append_visible(out, loci_str_of(err->message));
    lc_buf_append_byte(out, '\n');
    if (err->data[0] != '\0' &&
        lc_json_parse(cli->arena, loci_str_of(err->data), LC_JSON_ALLOW_NUL, &data, NULL) ==
            LOCI_OK &&
        lc_json_count(data) > 0)
        lc_render(
            &(lc_render_target){
                .arena = cli->arena, .terminal = &cli->err_terminal, .out = out, .indent = 2},
            data);
}

static void append_hint(lc_cli *cli, lc_buf *out, const char *hint)
{
    lc_buf_append(out, LC_STR("  "));
    lc_terminal_append(&cli->err_terminal, out, LC_STYLE_FAINT, loci_str_of(hint));
    lc_buf_append_byte(out, '\n');
}

static void say(lc_cli *cli, const loci_error *err, const char *hint)
{
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    if (cli->has_json_errors) {
        lc_cli_append_error(cli, &text, err);
        lc_buf_append_byte(&text, '\n');
    } else {
        append_words(cli, &text, err);
        if (hint != NULL && !cli->globals.is_quiet)
            append_hint(cli, &text, hint);
    }
    /* Answers come before complaints where both go to one terminal. */
    (void)lc_cli_flush(cli);
    /* Nowhere is left to complain to when standard error is gone. */
    (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&text));
    lc_buf_clear(&text);
}

int lc_cli_report(lc_cli *cli, const loci_error *err)
{
    say(cli, err, hint_of(err));
    return loci_status_exit_code(err->status);
}

int lc_cli_report_usage(lc_cli *cli, const loci_error *err)
{
    char hint[128];

    if (cli->help_name != NULL)
        (void)snprintf(hint, sizeof hint, "`loci help %s` says more.", cli->help_name);
    else
        (void)snprintf(hint, sizeof hint, "`loci help` lists what there is.");
    say(cli, err, hint);
    return LC_EXIT_USAGE;
}

int lc_cli_usage(lc_cli *cli, const char *format, ...)
{
    loci_error err = {0};
    char text[LOCI_ERROR_MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)lc_fail(&err, LOCI_EINVAL, "%s", text);
    return lc_cli_report_usage(cli, &err);
}
