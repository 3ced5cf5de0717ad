#include "cli/mcp_host.h"
int lc_command_mcp_doctor(lc_cli *cli, const lc_arguments *arguments)
{
    (void)arguments;
    return lc_cli_usage(cli, "in work");
}
