/* Reads a configuration file, once: what is judged, shown and used is the same text. Internal to config/. */
#ifndef LT_CONFIG_CONFIG_READ_H
#define LT_CONFIG_CONFIG_READ_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

typedef struct lt_config_folder {
  char path[PATH_MAX];
} lt_config_folder;

/* What a file was when it was opened. */
typedef struct lt_config_identity {
  dev_t device;
  ino_t inode;
} lt_config_identity;

/* Appends the file's text. A file that was found, not named, must be a regular one: a pipe would wait for ever. Errors:
 * LT_E_NOTFOUND, LT_E_CONFIG (it cannot be read), LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_read(const char *path, bool is_found, lt_buf *out, lt_config_identity *ret_identity, lt_err *err);

/* The folder of a file, absolute if possible, with its links resolved. By value. */
lt_config_folder lt_config_folder_of(const char *path);
/* The file's path in that folder. A link that is the file itself is not resolved: relative paths count from the folder
 * of the link. NULL without memory. */
const char *lt_config_absolute_path(lt_arena *arena, const char *path);

#endif
