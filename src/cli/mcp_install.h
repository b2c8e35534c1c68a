/* What `lathe mcp install` writes for a client: this program as a server, with everything by absolute path. Clients
 * start servers in folders of their choice and with few variables. */
#ifndef LT_CLI_MCP_INSTALL_H
#define LT_CLI_MCP_INSTALL_H

#include "clients/client_server.h"
#include "clients/client_table.h"
#include "config/config_outline.h"
#include "text/secrets.h"

/* The options that install and import share. */
typedef struct lt_mcp_install_options {
  const char *config_file, *mcp_config_file; /* --config, --mcp-config; or NULL */
  const char *store;                         /* --store; or NULL */
  const char *url;                           /* --http; or NULL */
  const char *token_env;                     /* --token-env; or NULL */
  const char *env;                           /* --env: names with commas; or NULL */
  const char *name;                          /* --name; or NULL: "lathe" */
  const char *planned_config;                /* a configuration that will be there when the client starts it; or NULL */
  bool is_project;
} lt_mcp_install_options;

typedef struct lt_mcp_install {
  lt_arena arena;
  const char *name;
  const char *config_path;   /* that is written; NULL: none, there is no configuration yet */
  lt_config_outline outline; /* of the configuration */
  lt_secrets *secrets;       /* values that --env writes */
  lt_buf server;             /* the JSON object, in the client's shape */
} lt_mcp_install;

/* Errors: LT_E_INVALID: wrong options; LT_E_CONFIG, LT_E_UNSUPPORTED, LT_E_NOTFOUND, LT_E_NOMEM. The caller calls
 * lt_mcp_install_release also after an error. */
lt_status lt_mcp_install_prepare(const lt_client *client, const lt_mcp_install_options *options, lt_mcp_install *ret,
                                 lt_err *err);
void lt_mcp_install_release(lt_mcp_install *install);
/* Appends lines about the variables that the configuration's servers need. */
void lt_mcp_install_put_notes(const lt_mcp_install *install, const lt_client *client,
                              const lt_mcp_install_options *options, lt_buf *out);

/* The client of that name, or NULL after a message on standard error. `command` is the command's name, for it. */
const lt_client *lt_mcp_install_client(const char *command, const char *name);

#endif
