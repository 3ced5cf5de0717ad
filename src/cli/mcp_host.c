/* mcp_host.c - the table of hosts, from their own documentation (November 2026):
 *
 *   - Claude Code: "Connect Claude Code to tools via MCP", "Hooks reference", "Settings"
 *   - Claude Desktop: "Connect to local MCP servers"; on Linux the path that its packages use
 *   - Cursor: "Model Context Protocol (MCP)"
 *   - VS Code: "MCP configuration reference", "Variables reference"
 *   - Codex: "Model Context Protocol", "Configuration reference"
 *   - Gemini CLI: "MCP servers with Gemini CLI", "Gemini CLI configuration"
 *   - Zed: "Model Context Protocol"; it sends variables in headers as they are (its issue 60459)
 */
#include "cli/mcp_host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

#ifdef __APPLE__
#define APPLICATIONS "Library/Application Support/"
#define APPLICATIONS_VARIABLE NULL
#else
#define APPLICATIONS ".config/"
#define APPLICATIONS_VARIABLE "XDG_CONFIG_HOME"
#endif

static const lc_mcp_host table[] = {
    {.name = "claude-code",
     .title = "Claude Code",
     .servers = "mcpServers",
     .has_type = true,
     .url = "url",
     .variable = "${",
     .folder = "CLAUDE_CONFIG_DIR",
     .in_folder = ".claude.json",
     .in_home = ".claude.json",
     .in_project = ".mcp.json",
     .hooks_home = ".claude/settings.json",
     .hooks_folder = "settings.json",
     .hooks_project = ".claude/settings.json",
     .next = "Start a new session of Claude Code; /mcp lists its servers."},
    {.name = "claude-desktop",
     .title = "Claude Desktop",
     .servers = "mcpServers",
     .folder = APPLICATIONS_VARIABLE,
     .in_folder = "Claude/claude_desktop_config.json",
     .in_home = APPLICATIONS "Claude/claude_desktop_config.json",
     .next = "Quit Claude Desktop and start it again."},
    {.name = "cursor",
     .title = "Cursor",
     .servers = "mcpServers",
     .has_type = true,
     .url = "url",
     .variable = "${env:",
     .in_home = ".cursor/mcp.json",
     .in_project = ".cursor/mcp.json",
     .next = "Restart Cursor and check that the server is enabled in its MCP settings."},
    {.name = "vscode",
     .title = "VS Code",
     .servers = "servers",
     .has_type = true,
     .url = "url",
     .variable = "${env:",
     .folder = APPLICATIONS_VARIABLE,
     .in_folder = "Code/User/mcp.json",
     .in_home = APPLICATIONS "Code/User/mcp.json",
     .in_project = ".vscode/mcp.json",
     .next = "Run \"MCP: List Servers\" in VS Code and start the server."},
    {.name = "codex",
     .title = "Codex",
     .format = LC_CONFIG_TOML,
     .servers = "mcp_servers",
     .url = "url",
     .variable = "", /* It has a member of its own for the name of the variable. */
     .folder = "CODEX_HOME",
     .in_folder = "config.toml",
     .in_home = ".codex/config.toml",
     .in_project = ".codex/config.toml",
     .next = "Start a new session of Codex; /mcp lists its servers."},
    {.name = "gemini",
     .title = "Gemini CLI",
     .servers = "mcpServers",
     .url = "httpUrl",
     .variable = "${",
     .in_home = ".gemini/settings.json",
     .in_project = ".gemini/settings.json",
     .next = "Start Gemini CLI again; /mcp lists its servers."},
    {.name = "zed",
     .title = "Zed",
     .servers = "context_servers",
     .url = "url",
     .folder = "XDG_CONFIG_HOME",
     .in_folder = "zed/settings.json",
     .in_home = ".config/zed/settings.json",
     .in_project = ".zed/settings.json",
     .next = "Zed reads the file at once; the agent panel shows the state of the server."},
    {0},
};

const lc_mcp_host *lc_mcp_hosts(void)
{
    return table;
}

const lc_mcp_host *lc_mcp_host_find(loci_str name)
{
    for (const lc_mcp_host *host = table; host->name != NULL; host++) {
        if (lc_str_is(name, host->name))
            return host;
    }
    return NULL;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static loci_status join(lc_cli *cli, const char *folder, const char *file, const char **out,
                        loci_error *err)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path)
        return lc_fail(err, LOCI_ELIMIT, "%s: the path is too long", folder);
    *out = lc_arena_copy(cli->arena, loci_str_of(path)).ptr;
    return *out != NULL ? LOCI_OK : lc_fail_memory(err);
}

const char *lc_mcp_project_folder(lc_cli *cli)
{
    char here[PATH_MAX], probe[PATH_MAX + 8];
    const char *copy = NULL;

    if (getcwd(here, sizeof here) != NULL) {
        copy = lc_arena_copy(cli->arena, loci_str_of(here)).ptr;
        for (;;) {
            char *slash = strrchr(here, '/');

            (void)snprintf(probe, sizeof probe, "%s/.git", here);
            if (access(probe, F_OK) == 0) {
                copy = lc_arena_copy(cli->arena, loci_str_of(here[0] != '\0' ? here : "/")).ptr;
                break;
            }
            if (slash == NULL || here[0] == '\0')
                break;
            *slash = '\0';
        }
    }
    return copy != NULL ? copy : ".";
}

static loci_status home_file(lc_cli *cli, const char *file, const char **out, loci_error *err)
{
    const char *home = lc_cli_variable("HOME");

    if (home == NULL)
        return lc_fail(err, LOCI_EINVAL, "HOME is not set, so the file of the client is unknown");
    return join(cli, home, file, out, err);
}

loci_status lc_mcp_host_file(lc_cli *cli, const lc_mcp_host *host, lc_mcp_scope scope,
                             const char **out, loci_error *err)
{
    const char *folder = host->folder != NULL ? lc_cli_variable(host->folder) : NULL;

    if (scope == LC_MCP_SCOPE_PROJECT && host->in_project == NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s has no configuration per project; use --scope user", host->title);
    if (scope == LC_MCP_SCOPE_PROJECT)
        return join(cli, lc_mcp_project_folder(cli), host->in_project, out, err);
    if (folder != NULL)
        return join(cli, folder, host->in_folder, out, err);
    return home_file(cli, host->in_home, out, err);
}

loci_status lc_mcp_host_hooks(lc_cli *cli, const lc_mcp_host *host, lc_mcp_scope scope,
                              const char **out, loci_error *err)
{
    const char *folder = host->folder != NULL ? lc_cli_variable(host->folder) : NULL;

    *out = NULL;
    if (host->hooks_home == NULL)
        return LOCI_OK;
    if (scope == LC_MCP_SCOPE_PROJECT)
        return join(cli, lc_mcp_project_folder(cli), host->hooks_project, out, err);
    if (folder != NULL)
        return join(cli, folder, host->hooks_folder, out, err);
    return home_file(cli, host->hooks_home, out, err);
}

const char *lc_mcp_program_find(lc_cli *cli, const char *name)
{
    loci_str rest = loci_str_of(getenv("PATH"));
    struct stat info;

    if (strchr(name, '/') != NULL)
        return stat(name, &info) == 0 && S_ISREG(info.st_mode) && access(name, X_OK) == 0 ? name
                                                                                          : NULL;
    while (rest.ptr != NULL) {
        loci_str folder = lc_str_split(rest, ':', &rest);
        char path[PATH_MAX];

        if ((size_t)snprintf(path, sizeof path, "%.*s/%s", (int)folder.len,
                             folder.len > 0 ? folder.ptr : ".", name) >= sizeof path)
            continue;
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0)
            return lc_arena_copy(cli->arena, loci_str_of(path)).ptr;
    }
    return NULL;
}

static loci_str base_name(loci_str path)
{
    size_t at = path.len;

    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return (loci_str){path.ptr + at, path.len - at};
}

bool lc_mcp_entry_is_ours(const lc_json *entry)
{
    const lc_json *command = lc_json_find(entry, "command", LC_JSON_STRING);

    if (command != NULL)
        return lc_str_is(base_name(lc_json_str(command)), "loci");
    return lc_json_find(entry, "url", LC_JSON_STRING) != NULL ||
           lc_json_find(entry, "httpUrl", LC_JSON_STRING) != NULL;
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

const char *const lc_mcp_hook_events[] = {"SessionStart", "UserPromptSubmit", "PreCompact",
                                          "SessionEnd", NULL};

/* The first word of a command line for a shell, without quotes; `rest` follows it. */
static loci_str first_word(loci_str line, loci_str *rest)
{
    line = lc_str_trim(line);
    if (line.len > 0 && (line.ptr[0] == '\'' || line.ptr[0] == '"'))
        return lc_str_split((loci_str){line.ptr + 1, line.len - 1}, line.ptr[0], rest);
    return lc_str_split(line, ' ', rest);
}

static bool runs_hook(loci_str command)
{
    loci_str rest = LC_STR_NONE;
    loci_str program = first_word(command, &rest);

    return lc_str_is(base_name(program), "loci") && lc_str_is(first_word(rest, &rest), "hook");
}

bool lc_mcp_hook_is_ours(const lc_json *element, loci_str *out_command)
{
    const lc_json *list = lc_json_find(element, "hooks", LC_JSON_ARRAY);
    const lc_json *command;

    /* An element with other commands beside ours belongs to its user. */
    if (list == NULL || lc_json_count(list) != 1)
        return false;
    command = lc_json_find(lc_json_first(list), "command", LC_JSON_STRING);
    if (command == NULL || !runs_hook(lc_json_str(command)))
        return false;
    *out_command = lc_json_str(command);
    return true;
}
