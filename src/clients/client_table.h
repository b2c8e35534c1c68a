/* The MCP clients that Lathe can be installed in: where each keeps its servers, and in which form.
 *
 * A client is one row. Everything that differs between clients is a column; nothing else in the program asks which
 * client it is. This module reads the environment and looks whether files exist; it opens none.
 */
#ifndef LT_CLIENTS_CLIENT_TABLE_H
#define LT_CLIENTS_CLIENT_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef enum lt_client_format { LT_CLIENT_JSON, LT_CLIENT_TOML, LT_CLIENT_YAML } lt_client_format;

/* How a text in the client's file refers to a variable of the environment. */
typedef enum lt_client_reference {
  LT_CLIENT_PLAIN,    /* it cannot */
  LT_CLIENT_SHELL,    /* ${NAME}, ${NAME:-default}, as in lathe.yaml */
  LT_CLIENT_DOLLAR,   /* ${NAME} and $NAME */
  LT_CLIENT_ENV,      /* ${env:NAME} */
  LT_CLIENT_BRACES,   /* {env:NAME} */
  LT_CLIENT_TEMPLATE, /* ${{ secrets.NAME }} */
} lt_client_reference;

/* A place of the user's file. */
typedef struct lt_client_place {
  const char *variable; /* when it is set, the file is `within` that folder; or the file itself (`within` is "") */
  const char *within;
  const char *usual; /* "~/" is the home, "@/" the folder of configurations ($XDG_CONFIG_HOME) */
} lt_client_place;

typedef struct lt_client {
  const char *name;  /* of the command line */
  const char *title; /* for a person */
  lt_client_place place;
  const char *other; /* a place like `usual`, that counts when its file exists and the first one's does not; or NULL */
  const char *project; /* the file in a project's folder; NULL: it has none */
  lt_client_format format;
  const char *section; /* the key under which servers stand */
  bool is_list;        /* the section is a list of servers with a `name`, not a mapping by name */
  const char *fresh;   /* the text that a new file must have; NULL: none */

  const char *stdio_type, *http_type; /* the value of `type`; NULL: there is no such key */
  const char *command;                /* the key of the command */
  bool has_one_list;                  /* the command's list has its arguments, too */
  const char *env;                    /* the key of variables with values */
  const char *env_names;              /* the key of names of variables that are handed over; NULL: all are */
  const char *token_env; /* the key of the name of the variable with a bearer token; NULL: a header has it */
  const char *url;       /* the key of the address; NULL: only programs can be started */
  const char *extra;     /* more members of each server, JSON without braces; or NULL */
  bool has_name_inside;  /* a server repeats its name in the member `name` */
  lt_client_reference reference;
  const char *next; /* what a person does then */
} lt_client;

/* The client of that name; NULL: there is none, and `ret_nearest` is a name that is meant, or NULL. */
const lt_client *lt_client_table_find(const char *name, const char **ret_nearest);
/* Appends all names, with commas. */
void lt_client_table_list(lt_buf *out);
/* Appends the path of the client's file: the user's, or the one in the current folder. Errors: LT_E_NOTFOUND: there is
 * no home; LT_E_UNSUPPORTED: the client has no file for projects. */
lt_status lt_client_table_path(const lt_client *client, bool is_project, lt_buf *out, lt_err *err);

#endif
