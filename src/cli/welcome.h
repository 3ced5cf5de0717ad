/* welcome.h - `loci` alone: what it is, and what to do next. */
#ifndef LC_CLI_WELCOME_H
#define LC_CLI_WELCOME_H

#include "cli/cli.h"

int lc_welcome(lc_cli *cli);

#endif /* LC_CLI_WELCOME_H */
