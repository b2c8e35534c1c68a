/* A client's file as text: its servers are read, put in and taken out; all other bytes stay as they are.
 *
 * Text is put in or taken out at one place; nothing is printed again. Each new text is read and compared with the old
 * one before it is handed out: the wanted server has changed, nothing else has. A file whose shape does not allow that
 * is refused.
 *
 * Owns: the arena. Borrows: the text. Pure.
 */
#ifndef LT_CLIENTS_CLIENT_TEXT_H
#define LT_CLIENTS_CLIENT_TEXT_H

#include "base/arena.h"
#include "clients/client_table.h"
#include "clients/toml.h"
#include "config/yaml.h"
#include "json/json.h"

typedef struct lt_client_text {
  const lt_client *client;
  const char *path; /* for messages */
  lt_str text;
  lt_arena arena;
  lt_json_doc doc;       /* the whole content as JSON */
  lt_json section;       /* where the servers stand; NONE: there is no such key */
  lt_str commentless;    /* JSON: the text with blanks for comments */
  lt_toml_table *tables; /* TOML */
  lt_yaml_node *yaml;    /* YAML */
} lt_client_text;

/* Reads the text; an empty one has no servers. Errors: LT_E_CONFIG with file and line, LT_E_LIMIT, LT_E_NOMEM. The
 * caller calls lt_client_text_release also after an error. */
lt_status lt_client_text_read(const lt_client *client, const char *path, lt_str text, lt_client_text *ret, lt_err *err);
void lt_client_text_release(lt_client_text *file);

/* The server of that name, else NONE. */
lt_json lt_client_text_server(const lt_client_text *file, lt_str name);
/* Visits the servers in their order. `it` starts as lt_json_each(file->section). False at the end. */
bool lt_client_text_next(lt_client_text *file, lt_json_iter *it, lt_str *ret_name, lt_json *ret_server);

/* Appends the text with this server (a JSON object) put in, or in place of the one of that name. Errors: LT_E_CONFIG:
 * the file's shape does not allow it; LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_client_text_put(const lt_client_text *file, lt_str name, lt_str server, lt_buf *out, lt_err *err);
/* Appends the text without that server, and without the section if it was made for this server. Errors: likewise;
 * LT_E_NOTFOUND. */
lt_status lt_client_text_drop(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err);

/* Whether two values say the same; members of objects may have any order. */
bool lt_client_text_is_same(lt_json a, lt_json b);

#endif
