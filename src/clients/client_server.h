/* One server, in a client's words and in Lathe's: written for a client, or taken over from one. Pure. */
#ifndef LT_CLIENTS_CLIENT_SERVER_H
#define LT_CLIENTS_CLIENT_SERVER_H

#include "base/arena.h"
#include "clients/client_table.h"
#include "json/json.h"
#include "text/secrets.h"

/* Lathe as a server of the client. */
typedef struct lt_client_server {
  lt_str name;
  const char *command;          /* absolute */
  const char *const *args;      /* NULL last */
  const char *const *env;       /* NAME=value, NULL last */
  const char *const *env_names; /* variables that the client hands over, NULL last; for clients that must be told */
  const char *url;              /* not NULL: the client connects there, in place of a command */
  const char *token_env;        /* the variable with the token for that address; or NULL */
} lt_client_server;

/* Appends the server as a JSON object of the client's shape. Errors: LT_E_UNSUPPORTED: the client cannot connect to an
 * address, or cannot refer to a variable; LT_E_NOMEM. */
lt_status lt_client_server_write(const lt_client *client, const lt_client_server *server, lt_buf *out, lt_err *err);
/* Whether a server in the client's file is a Lathe that such a command has written: its command is a `lathe` and the
 * first argument `mcp`, or it has the same address. */
bool lt_client_server_is_lathe(const lt_client *client, lt_json server, const char *url);

/* Whether the server is an address of this machine that ends in /mcp: under Lathe's name, one of `lathe mcp --http`. */
bool lt_client_server_is_local(lt_json server);

/* What is taken over from a client. */
typedef struct lt_client_import {
  lt_buf json;         /* the server as lathe.yaml has it; starts empty */
  lt_buf notes;        /* lines for a person */
  lt_secrets *secrets; /* plainly written secrets are added */
} lt_client_import;

/* Adds one line to the notes. What a client's file says in it can neither begin a line of its own nor steer the
 * terminal. Limits: about 2 KiB, then it is cut. */
void lt_client_server_note(lt_client_import *import, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the server, in the shape of lathe.yaml's mcpServers, to `import->json`. References to variables become
 * ${NAME}. Errors: LT_E_UNSUPPORTED with the reason why it is left out; LT_E_NOMEM. Owns: the arena. */
lt_status lt_client_server_import(const lt_client *client, lt_str name, lt_json server, lt_arena *arena,
                                  lt_client_import *import, lt_err *err);

#endif
