/* Reads a command's input file; "-" is standard input. */
#ifndef LT_CLI_INPUT_FILE_H
#define LT_CLI_INPUT_FILE_H

#include "base/file.h"

/* As lt_file_read. */
lt_status lt_input_file_read(const char *path, lt_buf *out, lt_err *err);

#endif
