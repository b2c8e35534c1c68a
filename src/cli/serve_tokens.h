/* lathe serve token add|list|remove: who may use the server. */
#ifndef LT_CLI_SERVE_TOKENS_H
#define LT_CLI_SERVE_TOKENS_H

#include "cli/commands.h"
#include "config/config.h"

/* `action` and `user` are words of the command line; either may be NULL. Returns the exit code. */
int lt_serve_tokens_run(const lt_config_sources *sources, const char *action, const char *user);

#endif
