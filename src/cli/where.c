/* where.c - decides the persona of a command, and `loci where`, which explains the decision. */
#include "cli/command.h"
#include "cli/opening.h"
#include "cli/project.h"
#include "cli/remote.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

#define ORIGIN_BYTES_MAX (2u << 20) /* A remote may have any name. */

static loci_status name_origin(lc_cli *cli, const lc_project *project, const char **out,
                               loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, ORIGIN_BYTES_MAX);
    if (project->remote != NULL)
        lc_buf_append_format(&text, "git remote %s", project->remote);
    else
        lc_buf_append(&text, LC_STR("git repository without a remote"));
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
        status = *out != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* An option that was not given has the very pointer of its variable (lc_cli_take_environment). */
static const char *origin_of(const char *value, const char *option, const char *variable)
{
    return value == lc_cli_variable(variable) ? variable : option;
}

loci_status lc_whose_find(lc_cli *cli, const char *directory, lc_whose *out, loci_error *err)
{
    const char *setting = lc_cli_variable("LOCI_PROJECT");
    bool is_off = setting != NULL && strcmp(setting, "off") == 0;
    loci_status status = LOCI_OK;

    *out = (lc_whose){.origin = is_off ? "LOCI_PROJECT=off" : "no git repository"};
    if (!is_off)
        status = lc_project_find(cli->arena, directory, &out->project, err);
    if (status != LOCI_OK)
        return status;
    if (cli->globals.persona != NULL) {
        out->persona_id = lc_cli_persona(cli);
        out->origin = origin_of(cli->globals.persona, "--persona", "LOCI_PERSONA");
        return LOCI_OK;
    }
    out->persona_id = out->project.persona_id;
    return out->persona_id != NULL ? name_origin(cli, &out->project, &out->origin, err) : LOCI_OK;
}

/* ---- loci where ------------------------------------------------------------------------------ */

typedef struct place {
    const char *name;
    const char *value; /* NULL = none. */
    const char *origin;
} place;

static void write_place(lc_json_writer *w, const place *of)
{
    lc_jw_name(w, of->name);
    lc_jw_object(w);
    lc_jw_member_text(w, "value", of->value); /* NULL is null. */
    lc_jw_member_text(w, "origin", of->origin);
    lc_jw_end(w);
}

static void print_json(lc_cli *cli, const place *places, size_t count, const lc_project *project)
{
    lc_json_writer w;

    lc_jw_init(&w, &cli->out);
    lc_jw_object(&w);
    for (size_t i = 0; i < count; i++)
        write_place(&w, &places[i]);
    lc_jw_name(&w, "project");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "persona_id", project->persona_id);
    lc_jw_member_text(&w, "root", project->root);
    lc_jw_member_text(&w, "remote", project->remote);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_append_byte(&cli->out, '\n');
}

static void print_places(lc_cli *cli, const place *places, size_t count, const lc_project *project)
{
    for (size_t i = 0; i < count; i++) {
        lc_cli_print(cli, "%-8s ", places[i].name);
        lc_text_append_visible(
            &cli->out, loci_str_of(places[i].value != NULL ? places[i].value : "none (yourself)"));
        lc_cli_print(cli, "  ");
        lc_cli_print_styled(cli, LC_STYLE_FAINT, "(");
        lc_text_append_visible(&cli->out, loci_str_of(places[i].origin));
        lc_cli_print_styled(cli, LC_STYLE_FAINT, ")");
        lc_cli_print(cli, "\n");
    }
    if (project->root != NULL) {
        lc_cli_print(cli, "project  ");
        lc_text_append_visible(&cli->out, loci_str_of(project->root));
        lc_cli_print(cli, "\n");
    }
}

int lc_command_where(lc_cli *cli, const lc_arguments *arguments)
{
    const lc_globals *globals = &cli->globals;
    const char *url = lc_remote_url(cli);
    lc_store_path path = {.label = NULL};
    lc_endpoint daemon;
    lc_whose whose;
    loci_error err;

    if ((url == NULL ? lc_store_path_find(cli, &path, &err) : lc_remote_find(cli, &daemon, &err)) !=
            LOCI_OK ||
        lc_whose_find(cli, lc_arguments_value(arguments, "project"), &whose, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);

    const place places[] = {
        {url != NULL ? "daemon" : "store", url != NULL ? url : path.label,
         url != NULL ? lc_remote_origin(cli) : path.origin},
        {"tenant",
         url != NULL               ? "of the token"
         : globals->tenant != NULL ? globals->tenant
                                   : "default",
         url != NULL               ? "daemon"
         : globals->tenant != NULL ? origin_of(globals->tenant, "--tenant", "LOCI_TENANT")
                                   : "default"},
        {"user", globals->user != NULL ? globals->user : "default",
         globals->user != NULL ? origin_of(globals->user, "--user", "LOCI_USER") : "default"},
        {"persona", whose.persona_id, whose.origin},
    };
    size_t count = sizeof places / sizeof places[0];

    if (globals->wants_json)
        print_json(cli, places, count, &whose.project);
    else
        print_places(cli, places, count, &whose.project);
    if (url == NULL && !lc_store_path_exists(&path))
        lc_cli_note(cli, "The store does not exist yet; `loci init` creates it.");
    return LC_EXIT_OK;
}
