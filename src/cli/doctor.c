#include "cli/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"

void lc_doctor_add(lc_doctor *doctor, const lc_finding *finding, const char *format, ...)
{
    char text[LOCI_ERROR_MESSAGE_BYTES + 256];
    lc_finding *next = &doctor->findings[doctor->count];
    va_list args;

    if (doctor->count == LC_FINDINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* Cut is fine. */
    va_end(args);
    *next = *finding;
    next->detail = lc_arena_copy(doctor->cli->arena, loci_str_of(text)).ptr;
    if (finding->advice != NULL)
        next->advice = lc_arena_copy(doctor->cli->arena, loci_str_of(finding->advice)).ptr;
    if (next->detail == NULL)
        next->detail = "";
    doctor->count++;
    doctor->is_any_bad = doctor->is_any_bad || finding->kind == LC_FINDING_BAD;
}

static void print_json(lc_doctor *doctor)
{
    lc_json_writer w;

    lc_jw_init(&w, &doctor->cli->out);
    lc_jw_object(&w);
    lc_jw_member_bool(&w, "ok", !doctor->is_any_bad);
    lc_jw_name(&w, "checks");
    lc_jw_array(&w);
    for (size_t i = 0; i < doctor->count; i++) {
        const lc_finding *finding = &doctor->findings[i];

        lc_jw_object(&w);
        lc_jw_member_text(&w, "name", finding->name);
        lc_jw_member_bool(&w, "ok", finding->kind != LC_FINDING_BAD);
        lc_jw_member_text(&w, "detail", finding->detail);
        lc_jw_member_text(&w, "advice", finding->advice);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_append_byte(&doctor->cli->out, '\n');
}

static void print_finding(lc_cli *cli, const lc_finding *finding)
{
    static const char *const marks[] = {"✓", "•", "✗"};
    static const lc_style styles[] = {LC_STYLE_GOOD, LC_STYLE_WARNING, LC_STYLE_BAD};

    lc_cli_print_styled(cli, styles[finding->kind], marks[finding->kind]);
    lc_cli_print(cli, " %-12s ", finding->name);
    lc_text_append_visible(&cli->out, loci_str_of(finding->detail));
    lc_buf_append_byte(&cli->out, '\n');
    if (finding->advice != NULL) {
        lc_cli_print(cli, "  %-12s ", "");
        lc_cli_print_styled(cli, LC_STYLE_FAINT, "→ ");
        lc_text_append_visible(&cli->out, loci_str_of(finding->advice));
        lc_buf_append_byte(&cli->out, '\n');
    }
}

void lc_doctor_print(lc_doctor *doctor)
{
    lc_cli *cli = doctor->cli;

    if (cli->globals.wants_json) {
        print_json(doctor);
        return;
    }
    for (size_t i = 0; i < doctor->count; i++)
        print_finding(cli, &doctor->findings[i]);
    lc_buf_append_byte(&cli->out, '\n');
    if (doctor->is_any_bad)
        lc_cli_print_styled(cli, LC_STYLE_BAD, "Something is wrong: see the lines marked ✗.\n");
    else
        lc_cli_print_styled(cli, LC_STYLE_GOOD, "All is well.\n");
}

int lc_command_doctor(lc_cli *cli, const lc_arguments *arguments)
{
    const char *url = lc_arguments_value(arguments, "url");
    const char *token_file = lc_arguments_value(arguments, "token-file");
    lc_doctor doctor = {.cli = cli};

    if (url == NULL && token_file != NULL)
        return lc_cli_usage(cli, "--token-file goes with --url");
    if (url != NULL) {
        lc_doctor_look_at_daemon(&doctor, url, token_file);
    } else {
        lc_doctor_look_outside(&doctor);
        lc_doctor_look_inside(&doctor);
    }
    lc_doctor_print(&doctor);
    return doctor.is_any_bad ? LC_EXIT_FAILED : LC_EXIT_OK;
}
