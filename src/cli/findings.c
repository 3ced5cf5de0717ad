#include "cli/findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"

void lc_findings_add(lc_findings *findings, const lc_finding *finding, const char *format, ...)
{
    char text[LOCI_ERROR_MESSAGE_BYTES + 256];
    lc_finding *next = &findings->items[findings->count];
    va_list args;

    findings->is_any_bad |= finding->kind == LC_BAD;
    if (findings->count == LC_FINDINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* Cut is fine. */
    va_end(args);
    *next = *finding;
    next->subject = findings->subject;
    next->detail = lc_arena_copy(findings->cli->arena, loci_str_of(text)).ptr;
    if (finding->advice != NULL)
        next->advice = lc_arena_copy(findings->cli->arena, loci_str_of(finding->advice)).ptr;
    if (next->detail == NULL)
        next->detail = "";
    findings->count++;
}

static void print_json(lc_findings *findings)
{
    lc_buf *out = &findings->cli->out;
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_bool(&w, "ok", !findings->is_any_bad);
    lc_jw_name(&w, "checks");
    lc_jw_array(&w);
    for (size_t i = 0; i < findings->count; i++) {
        const lc_finding *f = &findings->items[i];

        lc_jw_object(&w);
        if (f->subject != NULL)
            lc_jw_member_text(&w, "subject", f->subject);
        lc_jw_member_text(&w, "name", f->name);
        lc_jw_member_bool(&w, "ok", f->kind != LC_BAD);
        lc_jw_member_text(&w, "detail", f->detail);
        lc_jw_member_text(&w, "advice", f->advice);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_append_byte(out, '\n');
}

#define NAME_COLUMNS 12
#define INDENT (NAME_COLUMNS + 3) /* A mark, a space, the name, a space. */

static void print_wrapped(lc_cli *cli, const char *text, size_t indent)
{
    lc_buf visible;

    lc_buf_init(&visible, cli->heap, LOCI_MEM_REQUESTS, 64 * 1024);
    lc_text_append_visible(&visible, loci_str_of(text));
    lc_text_append_wrapped(&cli->out, lc_buf_str(&visible), indent, cli->out_terminal.columns);
    lc_buf_clear(&visible);
}

static void print_finding(lc_cli *cli, const lc_finding *f)
{
    static const char *const marks[] = {"✓", "•", "✗"};
    static const lc_style styles[] = {LC_STYLE_GOOD, LC_STYLE_WARNING, LC_STYLE_BAD};

    lc_cli_print_styled(cli, styles[f->kind], marks[f->kind]);
    lc_cli_print(cli, " %-*s ", NAME_COLUMNS, f->name);
    print_wrapped(cli, f->detail, INDENT);
    if (f->advice != NULL) {
        lc_cli_print(cli, "%-*s", INDENT, "");
        lc_cli_print_styled(cli, LC_STYLE_FAINT, "→ ");
        print_wrapped(cli, f->advice, INDENT + 2);
    }
}

void lc_findings_print(lc_findings *findings)
{
    lc_cli *cli = findings->cli;
    const char *subject = NULL;

    if (cli->globals.wants_json) {
        print_json(findings);
        return;
    }
    for (size_t i = 0; i < findings->count; i++) {
        const lc_finding *f = &findings->items[i];

        if (f->subject != NULL && f->subject != subject) {
            lc_cli_print(cli, i > 0 ? "\n" : "");
            lc_cli_print_styled(cli, LC_STYLE_HEADING, f->subject);
            lc_buf_append_byte(&cli->out, '\n');
        }
        subject = f->subject;
        print_finding(cli, f);
    }
    lc_buf_append_byte(&cli->out, '\n');
    if (findings->is_any_bad)
        lc_cli_print_styled(cli, LC_STYLE_BAD, "Some checks failed: see the lines marked ✗.\n");
    else
        lc_cli_print_styled(cli, LC_STYLE_GOOD, "All checks passed.\n");
}
