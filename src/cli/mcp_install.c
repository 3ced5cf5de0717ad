/* mcp_install.c - `loci mcp install`, `uninstall` and `clients`.
 *
 * The command that is written has an absolute path: clients with a window are not started by a
 * shell and do not have its PATH. If `loci` of the PATH is this program, its path there is written,
 * which survives an upgrade, and not the file it leads to. A file of a project is shared between
 * machines, so it gets the bare name `loci` if the PATH has this program.
 *
 * A store, user, tenant or settings file that this command line would use other than by default is
 * written too, also if it comes from a variable: the client may not have that variable.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/mcp_host.h"
#include "cli/opening.h"
#include "cli/remote.h"
#include "ops/check.h"

#define NAME_BYTES_MAX 32 /* Hosts make names of tools from it, and limit those. */
#define ENTRY_BYTES_MAX (64u * 1024)
#define HOOK_SECONDS 10 /* Time limit of a hook: far more than it takes, far less than annoys. */
#define OPTIONS_MAX 16  /* Names and values, and NULL. */
#define CHANGES_MAX 2   /* The list of servers, and the hooks. */

/* Members of an entry that are ours. "type" is first: hosts without it keep the value that their
 * user wrote.
 */
static const char *const own_members[] = {
    "type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var", NULL};

typedef struct setup {
    lc_cli *cli;
    const lc_mcp_host *host;
    lc_mcp_scope scope;
    const char *name; /* Of the entry. */
    const char *persona;
    const char *url;      /* Or NULL: a command. */
    const char *variable; /* With the token for the URL, or NULL. */
    bool wants_hooks;
    bool is_yes;
    bool is_dry_run;
    bool is_print;
    const char *program; /* The program that the entry starts. */
    lc_store_path store;
    lc_config_change changes[CHANGES_MAX];
    size_t change_count;
} setup;

/* ---- The command line ------------------------------------------------------------------------ */

static int fail_host(lc_cli *cli, const lc_arguments *arguments)
{
    lc_nearest nearest;
    char names[256] = "";
    size_t len = 0;

    for (const lc_mcp_host *host = lc_mcp_hosts(); host->name != NULL && len < sizeof names; host++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len > 0 ? ", " : "",
                                host->name);
    if (arguments->word_count < 2)
        return lc_cli_usage(cli, "the client is missing; clients: %s", names);
    nearest = lc_nearest_to(loci_str_of(arguments->words[1]));
    for (const lc_mcp_host *host = lc_mcp_hosts(); host->name != NULL; host++)
        lc_nearest_offer(&nearest, loci_str_of(host->name));
    if (nearest.best.ptr != NULL)
        return lc_cli_usage(cli, "unknown client \"%s\"; did you mean %.*s?", arguments->words[1],
                            LC_STR_ARG(nearest.best));
    return lc_cli_usage(cli, "unknown client \"%s\"; clients: %s", arguments->words[1], names);
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", name[i]) ==
            NULL)
            return false;
    }
    return len > 0 && len <= NAME_BYTES_MAX;
}

static bool is_variable_name(const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        bool is_digit = name[i] >= '0' && name[i] <= '9';

        if ((name[i] < 'A' || name[i] > 'Z') && (name[i] < 'a' || name[i] > 'z') &&
            name[i] != '_' && (!is_digit || i == 0))
            return false;
    }
    return name[0] != '\0';
}

static int check_http(const setup *s)
{
    loci_str url = loci_str_of(s->url);

    if (s->url == NULL && s->variable != NULL)
        return lc_cli_usage(s->cli, "--token-variable needs --http URL");
    if (s->url == NULL)
        return LC_EXIT_OK;
    if (!lc_str_starts(url, LC_STR("http://")) && !lc_str_starts(url, LC_STR("https://")))
        return lc_cli_usage(s->cli, "--http needs a URL such as http://127.0.0.1:7077/mcp, not %s",
                            s->url);
    if (s->host->url == NULL)
        return lc_cli_usage(s->cli, "%s starts servers only by a command; leave out --http",
                            s->host->title);
    if (s->variable != NULL && s->host->variable == NULL)
        return lc_cli_usage(s->cli,
                            "%s does not replace variables in headers, so the token would have to "
                            "be in its file; leave out --http: the command needs no token",
                            s->host->title);
    if (s->variable != NULL && (!is_variable_name(s->variable) || strlen(s->variable) > 128))
        return lc_cli_usage(s->cli, "--token-variable needs the name of a variable, not %s",
                            s->variable);
    return LC_EXIT_OK;
}

/* Reads options; not LC_EXIT_OK if they are wrong. */
static int read_options(lc_cli *cli, const lc_arguments *arguments, setup *out)
{
    const char *scope = lc_arguments_value(arguments, "scope");
    const char *name = lc_arguments_value(arguments, "name");
    setup s = {.cli = cli,
               .name = name != NULL ? name : "loci",
               .persona = lc_arguments_value(arguments, "persona"),
               .url = lc_arguments_value(arguments, "http"),
               .variable = lc_arguments_value(arguments, "token-variable"),
               .wants_hooks = lc_arguments_has(arguments, "hooks"),
               .is_yes = lc_arguments_has(arguments, "yes"),
               .is_dry_run = lc_arguments_has(arguments, "dry-run"),
               .is_print = lc_arguments_has(arguments, "print")};

    s.host = arguments->word_count > 1 ? lc_mcp_host_find(loci_str_of(arguments->words[1])) : NULL;
    if (s.host == NULL)
        return fail_host(cli, arguments);
    if (scope != NULL && strcmp(scope, "user") != 0 && strcmp(scope, "project") != 0)
        return lc_cli_usage(cli, "--scope is user or project, not %s", scope);
    s.scope = scope != NULL && strcmp(scope, "project") == 0 ? LC_MCP_SCOPE_PROJECT
                                                             : LC_MCP_SCOPE_USER;
    if (!is_name(s.name))
        return lc_cli_usage(cli, "--name has 1 to %d letters, digits, - or _", NAME_BYTES_MAX);
    if (s.wants_hooks && s.host->hooks_home == NULL)
        return lc_cli_usage(cli, "%s has no hooks that loci can serve; leave out --hooks",
                            s.host->title);
    *out = s;
    return check_http(&s);
}

/* ---- The entry ------------------------------------------------------------------------------- */

static loci_status find_program(setup *s, loci_error *err)
{
    char own[PATH_MAX], named[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    const char *on_path = lc_mcp_program_find(s->cli, "loci");

    if (len <= 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the path of this program is unknown");
    own[len] = '\0';
    if (access(own, X_OK) != 0)
        return lc_fail(err, LOCI_ENOTFOUND, "%s is gone: it was replaced while it ran", own);
    s->program = own;
    if (on_path != NULL && realpath(on_path, named) != NULL && strcmp(named, own) == 0) {
        if (s->scope == LC_MCP_SCOPE_PROJECT)
            s->program = "loci";
        else if (on_path[0] == '/') /* Else it is in a relative folder of the PATH. */
            s->program = on_path;
    }
    s->program = lc_arena_copy(s->cli->arena, loci_str_of(s->program)).ptr;
    return s->program != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status find_store(setup *s, loci_error *err)
{
    char path[PATH_MAX], folder[PATH_MAX];
    const char *token_file = s->cli->globals.token_file;
    loci_status status;

    if (lc_remote_url(s->cli) != NULL && token_file != NULL && token_file[0] != '/')
        return lc_fail(err, LOCI_EINVAL,
                       "--token-file needs an absolute path here: %s starts the program anywhere",
                       s->host->title);
    if (lc_remote_url(s->cli) != NULL) {
        s->store.is_default = true; /* The entry names none. */
        return lc_fetch_check_url(lc_remote_url(s->cli), err);
    }
    status = lc_store_path_find(s->cli, &s->store, err);
    if (status != LOCI_OK)
        return status;
    if (strcmp(s->store.text, s->store.label) != 0)
        return lc_fail(err, LOCI_EINVAL,
                       "the address of the store has a password, which would be written to a file "
                       "of %s; put it in ~/.pgpass instead",
                       s->host->title);
    if (!s->store.is_file || s->store.text[0] == '/' || s->store.is_default)
        return LOCI_OK;
    if (getcwd(folder, sizeof folder) == NULL ||
        (size_t)snprintf(path, sizeof path, "%s/%s", folder,
                         strncmp(s->store.text, "./", 2) == 0 ? s->store.text + 2
                                                              : s->store.text) >= sizeof path)
        return lc_fail(err, LOCI_ELIMIT, "the path of the store is too long");
    s->store.text = lc_arena_copy(s->cli->arena, loci_str_of(path)).ptr;
    return s->store.text != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Options that the server and the hooks need to act as this command line would: pairs, ended by
 * NULL. */
static void list_options(const setup *s, const char *out[OPTIONS_MAX])
{
    const char *const pairs[][2] = {
        {"--store", s->store.is_default ? NULL : s->store.text},
        {"--url", lc_remote_url(s->cli)},
        {"--token-file", s->cli->globals.token_file},
        {"--tenant", s->cli->globals.tenant},
        {"--user", s->cli->globals.user},
        {"--config", s->cli->globals.config_file},
        {"--persona", s->persona},
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][1] != NULL) {
            out[count++] = pairs[i][0];
            out[count++] = pairs[i][1];
        }
    }
    out[count] = NULL;
}

static void write_url(const setup *s, lc_json_writer *w)
{
    char value[256];

    if (s->host->has_type)
        lc_jw_member_text(w, "type", "http");
    lc_jw_member_text(w, s->host->url, s->url);
    if (s->variable == NULL)
        return;
    (void)snprintf(value, sizeof value, "Bearer %s%s}", s->host->variable, s->variable);
    if (s->host->format == LC_CONFIG_TOML) {
        lc_jw_member_text(w, "bearer_token_env_var", s->variable);
        return;
    }
    lc_jw_name(w, "headers");
    lc_jw_object(w);
    lc_jw_member_text(w, "Authorization", value);
    lc_jw_end(w);
}

static void write_command(const setup *s, lc_json_writer *w)
{
    const char *options[OPTIONS_MAX];

    list_options(s, options);
    if (s->host->has_type)
        lc_jw_member_text(w, "type", "stdio");
    lc_jw_member_text(w, "command", s->program);
    lc_jw_name(w, "args");
    lc_jw_array(w);
    lc_jw_text(w, "mcp");
    for (size_t i = 0; options[i] != NULL; i++)
        lc_jw_text(w, options[i]);
    lc_jw_end(w);
}

/* A word for a POSIX shell. */
static void append_shell_word(loci_str word, lc_buf *out)
{
    bool is_plain = word.len > 0;

    for (size_t i = 0; i < word.len; i++) {
        char byte = word.ptr[i];

        is_plain = is_plain && ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                                (byte >= '0' && byte <= '9') || strchr("/._-:@+,", byte) != NULL);
    }
    if (is_plain) {
        lc_buf_append(out, word);
        return;
    }
    lc_buf_append_byte(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'')
            lc_buf_append(out, LC_STR("'\\''"));
        else
            lc_buf_append_byte(out, word.ptr[i]);
    }
    lc_buf_append_byte(out, '\'');
}

/* One element of the list of an event, and its command line. */
static loci_status write_hook(const setup *s, const char *event, lc_buf *command, lc_buf *out,
                              loci_error *err)
{
    const char *options[OPTIONS_MAX];
    lc_json_writer w;

    list_options(s, options);
    append_shell_word(loci_str_of(s->program), command);
    lc_buf_append_format(command, " hook %s", event);
    for (size_t i = 0; options[i] != NULL; i++) {
        lc_buf_append_byte(command, ' ');
        append_shell_word(loci_str_of(options[i]), command);
    }
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_name(&w, "hooks");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "command");
    lc_jw_member_str(&w, "command", lc_buf_str(command));
    lc_jw_member_int(&w, "timeout", HOOK_SECONDS);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    if (lc_buf_status(command, err) != LOCI_OK)
        return command->failure;
    return lc_buf_status(out, err);
}

/* ---- Edits ----------------------------------------------------------------------------------- */

static lc_config_file file_of(const setup *s, const lc_config_change *change, bool is_hooks)
{
    return (lc_config_file){.format = is_hooks ? LC_CONFIG_JSON : s->host->format,
                            .text = change->after,
                            .exists = change->exists_after};
}

/* Takes the text that an edit made over into the change. */
static loci_status take_text(setup *s, lc_config_change *change, lc_buf *text, loci_error *err)
{
    change->after = lc_arena_copy(s->cli->arena, lc_buf_str(text));
    return change->after.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static lc_config_place entry_place(const setup *s)
{
    return (lc_config_place){{loci_str_of(s->host->servers), loci_str_of(s->name)}, 2};
}

static loci_status add_entry(setup *s, lc_config_change *change, loci_error *err)
{
    lc_config_file file = file_of(s, change, false);
    lc_config_place place = entry_place(s);
    lc_config_entry entry = {.own = own_members + (s->host->has_type ? 0 : 1)};
    lc_json_writer w;
    lc_buf value, out;
    loci_status status;

    lc_buf_init(&value, s->cli->heap, LOCI_MEM_REQUESTS, ENTRY_BYTES_MAX);
    lc_buf_init(&out, s->cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    lc_jw_init(&w, &value);
    lc_jw_object(&w);
    if (s->url != NULL)
        write_url(s, &w);
    else
        write_command(s, &w);
    lc_jw_end(&w);
    status = lc_buf_status(&value, err);
    entry.value = lc_buf_str(&value);
    if (status == LOCI_OK)
        status = lc_config_put(s->cli->arena, &file, &place, &entry, &out, err);
    if (status == LOCI_OK)
        status = take_text(s, change, &out, err);
    if (status == LOCI_OK)
        change->exists_after = true;
    lc_buf_clear(&value);
    lc_buf_clear(&out);
    return status;
}

static loci_status remove_entry(setup *s, lc_config_change *change, loci_error *err)
{
    lc_config_file file = file_of(s, change, false);
    lc_config_place place = entry_place(s);
    const lc_json *found;
    lc_buf out;
    loci_status status = lc_config_find(s->cli->arena, &file, &place, &found, err);

    if (status != LOCI_OK || found == NULL)
        return status;
    if (!lc_mcp_entry_is_ours(found))
        return lc_fail(err, LOCI_ECONFLICT,
                       "the entry %s of %s does not run loci; nothing was changed: remove it by "
                       "hand if you want to",
                       s->name, change->path);
    lc_buf_init(&out, s->cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    status = lc_config_remove(s->cli->arena, &file, &place, &out, &change->exists_after, err);
    if (status == LOCI_OK)
        status = take_text(s, change, &out, err);
    lc_buf_clear(&out);
    return status;
}

/* The list of one event: our last element, if any. */
typedef struct hook_list {
    lc_config_place place;
    size_t index;
    bool has_ours;
    loci_str command;
} hook_list;

static loci_status find_hook(setup *s, const lc_config_change *change, const char *event,
                             hook_list *out, loci_error *err)
{
    lc_config_file file = file_of(s, change, true);
    const lc_json *list = NULL;
    size_t index = 0;
    loci_status status;

    *out = (hook_list){.place = {{LC_STR("hooks"), loci_str_of(event)}, 2}};
    status = lc_config_find(s->cli->arena, &file, &out->place, &list, err);
    if (status != LOCI_OK || list == NULL || lc_json_kind_of(list) != LC_JSON_ARRAY)
        return status;
    for (const lc_json *element = lc_json_first(list); element != NULL;
         element = lc_json_next(element), index++) {
        if (lc_mcp_hook_is_ours(element, &out->command)) {
            out->has_ours = true;
            out->index = index;
        }
    }
    return LOCI_OK;
}

static loci_status remove_hook(setup *s, lc_config_change *change, const char *event,
                               loci_error *err)
{
    hook_list list;
    loci_status status = find_hook(s, change, event, &list, err);

    while (status == LOCI_OK && list.has_ours) {
        lc_config_file file = file_of(s, change, true);
        lc_config_element element = {list.place, list.index};
        lc_buf out;

        lc_buf_init(&out, s->cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
        status = lc_config_remove_element(s->cli->arena, &file, &element, &out,
                                          &change->exists_after, err);
        if (status == LOCI_OK)
            status = take_text(s, change, &out, err);
        lc_buf_clear(&out);
        if (status == LOCI_OK)
            status = find_hook(s, change, event, &list, err);
    }
    return status;
}

static loci_status add_hook(setup *s, lc_config_change *change, const char *event, loci_error *err)
{
    lc_buf command, element, out;
    lc_config_file file;
    hook_list list;
    loci_status status;

    lc_buf_init(&command, s->cli->heap, LOCI_MEM_REQUESTS, ENTRY_BYTES_MAX);
    lc_buf_init(&element, s->cli->heap, LOCI_MEM_REQUESTS, ENTRY_BYTES_MAX);
    lc_buf_init(&out, s->cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    status = write_hook(s, event, &command, &element, err);
    if (status == LOCI_OK)
        status = find_hook(s, change, event, &list, err);
    if (status != LOCI_OK || (list.has_ours && lc_str_eq(list.command, lc_buf_str(&command))))
        goto out;
    status = remove_hook(s, change, event, err);
    if (status != LOCI_OK)
        goto out;
    file = file_of(s, change, true);
    status = lc_config_add_element(s->cli->arena, &file, &list.place, lc_buf_str(&element), &out,
                                   err);
    if (status == LOCI_OK)
        status = take_text(s, change, &out, err);
    if (status == LOCI_OK)
        change->exists_after = true;

out:
    lc_buf_clear(&command);
    lc_buf_clear(&element);
    lc_buf_clear(&out);
    return status;
}

/* Hooks are removed in the reverse order, so that each removal undoes the last addition. */
static loci_status change_hooks(setup *s, lc_config_change *change, bool is_install,
                                loci_error *err)
{
    loci_status status = LOCI_OK;
    size_t count = 0;

    while (lc_mcp_hook_events[count] != NULL)
        count++;
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        status = is_install ? add_hook(s, change, lc_mcp_hook_events[i], err)
                            : remove_hook(s, change, lc_mcp_hook_events[count - 1 - i], err);
    return status;
}

/* ---- Both commands --------------------------------------------------------------------------- */

/* Errors of the editor name a line; this adds the file. */
static loci_status name_file(const char *path, loci_status status, loci_error *err)
{
    loci_error inner = *err;

    if (status != LOCI_EINVAL && status != LOCI_ELIMIT)
        return status;
    return lc_fail(err, status, "%s: %s; nothing was changed: correct the file first", path,
                   inner.message);
}

typedef loci_status change_fn(setup *s, lc_config_change *change, bool is_install, loci_error *err);

static loci_status change_servers(setup *s, lc_config_change *change, bool is_install,
                                  loci_error *err)
{
    return is_install ? add_entry(s, change, err) : remove_entry(s, change, err);
}

static loci_status plan_file(setup *s, const char *path, change_fn *make, bool is_install,
                             loci_error *err)
{
    lc_config_change *change = &s->changes[s->change_count];
    loci_status status = LOCI_OK;

    if (s->is_print)
        *change = (lc_config_change){.path = path, .target = path, .after = LC_STR("")};
    else
        status = lc_config_change_open(s->cli, path, change, err);
    if (status != LOCI_OK)
        return status;
    status = name_file(path, make(s, change, is_install, err), err);
    if (status == LOCI_OK)
        s->change_count++;
    return status;
}

static loci_status plan(setup *s, bool is_install, loci_error *err)
{
    const char *servers, *hooks;
    loci_status status = lc_mcp_host_file(s->cli, s->host, s->scope, &servers, err);

    if (status == LOCI_OK && is_install)
        status = find_program(s, err);
    if (status == LOCI_OK && is_install)
        status = find_store(s, err);
    if (status == LOCI_OK)
        status = plan_file(s, servers, change_servers, is_install, err);
    if (status == LOCI_OK)
        status = lc_mcp_host_hooks(s->cli, s->host, s->scope, &hooks, err);
    if (status == LOCI_OK && hooks != NULL && (s->wants_hooks || !is_install))
        status = plan_file(s, hooks, change_hooks, is_install, err);
    return status;
}

static bool is_any(const setup *s)
{
    bool any = false;

    for (size_t i = 0; i < s->change_count; i++)
        any = any || lc_config_change_is_any(&s->changes[i]);
    return any;
}

static void report_json(const setup *s, bool is_applied)
{
    lc_cli *cli = s->cli;
    lc_json_writer w;

    lc_jw_init(&w, &cli->out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "client", s->host->name);
    lc_jw_member_text(&w, "name", s->name);
    lc_jw_member_bool(&w, "changed", is_applied);
    lc_jw_name(&w, "files");
    lc_jw_array(&w);
    for (size_t i = 0; i < s->change_count; i++) {
        const lc_config_change *change = &s->changes[i];
        lc_buf diff;

        lc_buf_init(&diff, cli->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
        if (lc_config_change_is_any(change))
            lc_config_change_show(cli, change, &diff);
        lc_jw_object(&w);
        lc_jw_member_text(&w, "path", change->path);
        lc_jw_member_bool(&w, "differs", lc_config_change_is_any(change));
        lc_jw_member_text(&w, "backup", change->backup);
        lc_jw_member_str(&w, "diff", lc_buf_str(&diff));
        lc_jw_end(&w);
        lc_buf_clear(&diff);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_append_byte(&cli->out, '\n');
}

/* Asks on the terminal; anything but y or yes is no. */
static bool ask(lc_cli *cli)
{
    lc_line_reader reader;
    loci_str line;
    bool is_yes;

    lc_cli_print(cli, "\nWrite this change? [y/N] ");
    if (!lc_cli_flush(cli))
        return false;
    lc_line_reader_init(&reader, cli->heap, STDIN_FILENO, 1024);
    is_yes = lc_line_reader_next(&reader, &line) == LC_LINE_READ;
    if (is_yes) {
        line = lc_str_trim(line);
        is_yes = lc_str_is(line, "y") || lc_str_is(line, "Y") || lc_str_is(line, "yes");
    }
    lc_line_reader_clear(&reader);
    return is_yes;
}

static int apply(setup *s)
{
    lc_cli *cli = s->cli;

    for (size_t i = 0; i < s->change_count; i++) {
        lc_config_change *change = &s->changes[i];
        loci_error err;

        if (!lc_config_change_is_any(change))
            continue;
        if (lc_config_change_apply(cli, change, &err) != LOCI_OK) {
            for (size_t j = 0; j < i; j++)
                lc_cli_note(cli, "%s was already written; its backup is %s", s->changes[j].path,
                            s->changes[j].backup != NULL ? s->changes[j].backup : "not needed");
            return lc_cli_report(cli, &err);
        }
        if (cli->globals.wants_json)
            continue;
        lc_cli_print_styled(cli, LC_STYLE_GOOD, "✓");
        lc_cli_print(cli, change->exists_after ? " Wrote %s\n" : " Removed %s\n", change->path);
        if (change->backup != NULL)
            lc_cli_print(cli, "  Backup: %s\n", change->backup);
    }
    return LC_EXIT_OK;
}

static int print_snippet(const setup *s)
{
    for (size_t i = 0; i < s->change_count; i++) {
        lc_cli_note(s->cli, "For %s:", s->changes[i].path);
        lc_buf_append(&s->cli->out, s->changes[i].after);
    }
    return LC_EXIT_OK;
}

static int run_plan(setup *s, bool is_install)
{
    lc_cli *cli = s->cli;
    int code;

    if (!is_any(s)) {
        if (cli->globals.wants_json)
            report_json(s, false);
        else
            lc_cli_print(cli,
                         is_install ? "Nothing to change: %s has this entry already.\n"
                                    : "Nothing to change: %s has no such entry.\n",
                         s->changes[0].path);
        return LC_EXIT_OK;
    }
    for (size_t i = 0; i < s->change_count && !cli->globals.wants_json; i++) {
        if (lc_config_change_is_any(&s->changes[i]))
            lc_config_change_show(cli, &s->changes[i], &cli->out);
    }
    if (s->is_dry_run) {
        if (cli->globals.wants_json)
            report_json(s, false);
        return LC_EXIT_OK;
    }
    if (!s->is_yes &&
        (!cli->out_terminal.is_terminal || isatty(STDIN_FILENO) != 1 || cli->globals.wants_json)) {
        loci_error err;

        (void)lc_fail(&err, LOCI_EINVAL,
                      "nothing was changed: pass --yes to write this change without a question");
        return lc_cli_report_usage(cli, &err);
    }
    if (!s->is_yes && !ask(cli)) {
        lc_cli_print(cli, "Nothing was changed.\n");
        return LC_EXIT_FAILED;
    }
    code = apply(s);
    if (code == LC_EXIT_OK && cli->globals.wants_json)
        report_json(s, true);
    else if (code == LC_EXIT_OK && is_install)
        lc_cli_print(cli, "  %s\n  Check it with: loci mcp doctor %s\n", s->host->next,
                     s->host->name);
    return code;
}

static int run(lc_cli *cli, const lc_arguments *arguments, bool is_install)
{
    setup s;
    loci_error err;
    int code = read_options(cli, arguments, &s);

    if (code != LC_EXIT_OK)
        return code;
    if (plan(&s, is_install, &err) != LOCI_OK)
        return err.status == LOCI_EUNSUPPORTED ? lc_cli_report_usage(cli, &err)
                                               : lc_cli_report(cli, &err);
    return is_install && s.is_print ? print_snippet(&s) : run_plan(&s, is_install);
}

int lc_command_mcp_install(lc_cli *cli, const lc_arguments *arguments)
{
    return run(cli, arguments, true);
}

int lc_command_mcp_uninstall(lc_cli *cli, const lc_arguments *arguments)
{
    return run(cli, arguments, false);
}

/* ---- loci mcp clients ------------------------------------------------------------------------ */

typedef struct client_state {
    const char *path;
    const char *state;  /* "installed", "not installed", "no file" or "broken" */
    const char *detail; /* Why it is broken, or NULL. */
} client_state;

static client_state look_at(lc_cli *cli, const lc_mcp_host *host, lc_mcp_scope scope)
{
    lc_config_place place = {{loci_str_of(host->servers), LC_STR("loci")}, 2};
    client_state found = {.state = "broken"};
    lc_config_change change;
    lc_config_file file;
    const lc_json *entry;
    loci_error err;
    loci_status status = lc_mcp_host_file(cli, host, scope, &found.path, &err);

    if (status == LOCI_OK)
        status = lc_config_change_open(cli, found.path, &change, &err);
    if (status == LOCI_OK) {
        file = (lc_config_file){host->format, change.before, change.existed};
        status = lc_config_find(cli->arena, &file, &place, &entry, &err);
    }
    if (status != LOCI_OK)
        found.detail = lc_arena_copy(cli->arena, loci_str_of(err.message)).ptr;
    else
        found.state = !change.existed ? "no file" : entry != NULL ? "installed" : "not installed";
    return found;
}

int lc_command_mcp_clients(lc_cli *cli, const lc_arguments *arguments)
{
    static const char *const scopes[] = {"user", "project"};
    lc_json_writer w;

    (void)arguments; /* It has no options. */
    lc_jw_init(&w, &cli->out);
    if (cli->globals.wants_json)
        lc_jw_array(&w);
    for (const lc_mcp_host *host = lc_mcp_hosts(); host->name != NULL; host++) {
        for (unsigned scope = 0; scope < LC_MCP_SCOPES; scope++) {
            client_state found;

            if (scope == LC_MCP_SCOPE_PROJECT && host->in_project == NULL)
                continue;
            found = look_at(cli, host, (lc_mcp_scope)scope);
            if (!cli->globals.wants_json) {
                lc_cli_print(cli, "%-15s %-8s %-14s %s\n", host->name, scopes[scope], found.state,
                             found.path != NULL ? found.path : "");
                if (found.detail != NULL)
                    lc_cli_print(cli, "%-39s %s\n", "", found.detail);
                continue;
            }
            lc_jw_object(&w);
            lc_jw_member_text(&w, "client", host->name);
            lc_jw_member_text(&w, "title", host->title);
            lc_jw_member_text(&w, "scope", scopes[scope]);
            lc_jw_member_text(&w, "state", found.state);
            lc_jw_member_text(&w, "path", found.path);
            lc_jw_member_text(&w, "problem", found.detail);
            lc_jw_end(&w);
        }
    }
    if (cli->globals.wants_json) {
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
    }
    return LC_EXIT_OK;
}
