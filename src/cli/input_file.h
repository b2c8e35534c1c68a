/* Reads a command's input: a file, standard input, or JSON as an argument. */
#ifndef LT_CLI_INPUT_FILE_H
#define LT_CLI_INPUT_FILE_H

#include "base/file.h"

/* As lt_file_read; "-" is standard input. */
lt_status lt_input_file_read(const char *path, lt_buf *out, lt_err *err);
/* Reads an argument that is JSON text, "@FILE" (its content) or "-" (standard input), and checks that it is JSON.
 * `name` is the argument in messages. Errors: lt_file_read's; LT_E_SYNTAX and LT_E_LIMIT of lt_json_check, with the
 * place. */
lt_status lt_input_file_read_json(const char *name, const char *argument, lt_buf *out, lt_err *err);
/* Whether the argument of lt_input_file_read_json is read from standard input. */
bool lt_input_file_is_stdin(const char *argument);

#endif
