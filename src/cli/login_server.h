/* The server that `lathe login` and `lathe logout` are about. */
#ifndef LT_CLI_LOGIN_SERVER_H
#define LT_CLI_LOGIN_SERVER_H

#include "config/config.h"

/* Borrows: the configuration. Errors: LT_E_NOTFOUND, with the names there are; LT_E_INVALID: there is nothing to log in
 * to. */
lt_status lt_login_server_find(const lt_config *config, const char *name, const lt_config_server **ret_server,
                               lt_err *err);
/* Forgets which tools the server had for whoever was logged in before. Blocks. */
void lt_login_server_forget_tools(const lt_config_server *server);

#endif
