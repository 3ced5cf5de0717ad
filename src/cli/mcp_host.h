/* mcp_host.h - programs that start MCP servers, and where each keeps its list of servers.
 *
 * MCP calls such a program a host; on the command line and in messages it is a client.
 */
#ifndef LC_CLI_MCP_HOST_H
#define LC_CLI_MCP_HOST_H

#include "cli/cli.h"
#include "mcp/config_edit.h"

typedef enum lc_mcp_scope {
    LC_MCP_SCOPE_USER,    /* All work of this user. */
    LC_MCP_SCOPE_PROJECT, /* One project; the file is in its folder and may be shared. */
    LC_MCP_SCOPES
} lc_mcp_scope;

typedef struct lc_mcp_host {
    const char *name;  /* "claude-code" */
    const char *title; /* "Claude Code" */
    lc_config_format format;
    const char *servers;      /* Name of the list of servers: "mcpServers". */
    bool has_type;            /* An entry has a "type". */
    const char *url;          /* Member for the URL of a server; NULL = only commands. */
    const char *variable;     /* Text before the name of a variable in a header: "${env:"; behind it
                               * is "}". NULL = variables are not replaced. */
    const char *folder;       /* Variable with the folder of its files, or NULL. */
    const char *in_folder;    /* File in that folder, */
    const char *in_home;      /* or, if the variable is not set, in the home directory. */
    const char *in_project;   /* File in a project, or NULL. */
    const char *hooks_home;   /* The same for its hooks, or NULL. */
    const char *hooks_folder; /* In the folder of the variable. */
    const char *hooks_project;
    const char *next; /* The step that makes the client read the file again. */
} lc_mcp_host;

/* Ends with a NULL name. */
const lc_mcp_host *lc_mcp_hosts(void);
const lc_mcp_host *lc_mcp_host_find(loci_str name);

/* The file with the list of servers, in cli->arena. LOCI_EUNSUPPORTED if the host has no such
 * scope, LOCI_EINVAL without HOME. */
loci_status lc_mcp_host_file(lc_cli *cli, const lc_mcp_host *host, lc_mcp_scope scope,
                             const char **out, loci_error *err);
/* The same for its hooks; `*out` is NULL if it has none. */
loci_status lc_mcp_host_hooks(lc_cli *cli, const lc_mcp_host *host, lc_mcp_scope scope,
                              const char **out, loci_error *err);

/* The folder of the project: the nearest one upwards with a `.git`, else the current one; in
 * cli->arena. */
const char *lc_mcp_project_folder(lc_cli *cli);

/* Whether an entry runs a program called loci, or has a URL instead. */
bool lc_mcp_entry_is_ours(const lc_json *entry);

/* Events of Claude Code that loci has a hook for; ended by NULL. */
extern const char *const lc_mcp_hook_events[];
/* Whether the element of a list of hooks runs `loci hook`; `*out_command` is its command line. */
bool lc_mcp_hook_is_ours(const lc_json *element, loci_str *out_command);

/* The program `name` as a shell would find it, in cli->arena; NULL if there is none. */
const char *lc_mcp_program_find(lc_cli *cli, const char *name);

/* `loci mcp install` and its relatives; the first word says which. */
int lc_command_mcp_install(lc_cli *cli, const lc_arguments *arguments);
int lc_command_mcp_uninstall(lc_cli *cli, const lc_arguments *arguments);
int lc_command_mcp_clients(lc_cli *cli, const lc_arguments *arguments);
int lc_command_mcp_doctor(lc_cli *cli, const lc_arguments *arguments);

#endif /* LC_CLI_MCP_HOST_H */
