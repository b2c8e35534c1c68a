#include "cli/input_file.h"

#include <string.h>
#include <unistd.h>

lt_status lt_input_file_read(const char *path, lt_buf *out, lt_err *err) {
  return strcmp(path, "-") == 0 ? lt_file_read_fd(STDIN_FILENO, "standard input", out, err)
                                : lt_file_read(path, out, err);
}
