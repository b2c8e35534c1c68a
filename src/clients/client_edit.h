/* Puts a server into a client's text, and takes it out, one pair of functions for each format. Internal to clients/;
 * client_text.c checks what they make.
 *
 * `server` is a JSON object. Errors: LT_E_CONFIG: the file's shape does not allow it.
 */
#ifndef LT_CLIENTS_CLIENT_EDIT_H
#define LT_CLIENTS_CLIENT_EDIT_H

#include "clients/client_text.h"

lt_status lt_client_edit_put_json(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err);
lt_status lt_client_edit_drop_json(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err);
lt_status lt_client_edit_put_toml(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err);
lt_status lt_client_edit_drop_toml(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err);
lt_status lt_client_edit_put_yaml(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err);
lt_status lt_client_edit_drop_yaml(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err);

/* The line break of the file: "\r\n" where its first line ends so. */
const char *lt_client_edit_line_end(lt_str text);

#endif
