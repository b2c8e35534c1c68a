#include "cli/input_file.h"

#include <string.h>
#include <unistd.h>

#include "json/json.h"

lt_status lt_input_file_read(const char *path, lt_buf *out, lt_err *err) {
  return strcmp(path, "-") == 0 ? lt_file_read_fd(STDIN_FILENO, "standard input", out, err)
                                : lt_file_read(path, out, err);
}

bool lt_input_file_is_stdin(const char *argument) {
  return argument != NULL && (strcmp(argument, "-") == 0 || strcmp(argument, "@-") == 0);
}

/* No JSON text begins with "@" or is "-". */
static lt_status input_file_read_argument(const char *name, const char *argument, lt_buf *out, lt_err *err) {
  if (lt_input_file_is_stdin(argument)) {
    return lt_input_file_read("-", out, err);
  }
  if (argument[0] != '@') {
    lt_buf_addc(out, argument);
    return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "%s is too long", name);
  }
  return argument[1] != '\0' ? lt_file_read(argument + 1, out, err)
                             : lt_fail(err, LT_E_INVALID, "%s: a file's name is missing after the @", name);
}

lt_status lt_input_file_read_json(const char *name, const char *argument, lt_buf *out, lt_err *err) {
  bool is_file = argument[0] == '@' && !lt_input_file_is_stdin(argument);
  const char *place = is_file ? argument + 1 : lt_input_file_is_stdin(argument) ? "standard input" : name;
  LT_TRY(input_file_read_argument(name, argument, out, err));
  lt_status status = lt_json_check(lt_buf_view(out), err);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s is not JSON: %s", place, lt_err_msg(err));
}
