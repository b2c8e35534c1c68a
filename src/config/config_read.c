#include "config/config_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

static lt_status config_read_to_end(int fd, lt_buf *buf) {
  for (;;) {
    char *into = lt_buf_reserve(buf, 16 * LT_KIB);
    if (into == NULL) {
      return buf->status;
    }
    ssize_t n = read(fd, into, 16 * LT_KIB);
    if (n > 0) {
      lt_buf_commit(buf, (size_t)n);
    } else if (n == 0) {
      return LT_OK;
    } else if (errno != EINTR) {
      return LT_E_IO;
    }
  }
}

static lt_status config_read_fail(const char *path, bool is_open, int error, lt_err *err) {
  bool is_missing = !is_open && (error == ENOENT || error == ENOTDIR);
  return lt_fail(err, is_missing ? LT_E_NOTFOUND : LT_E_CONFIG, "%s: cannot be read: %s", path,
                 error == EISDIR ? "it is a folder" : strerror(error));
}

static lt_status config_read_open(int fd, const char *path, lt_buf *out, lt_err *err) {
  switch ((int)config_read_to_end(fd, out)) {
    case LT_OK:
      return LT_OK;
    case LT_E_LIMIT:
      return lt_fail(err, LT_E_LIMIT, "%s: larger than a configuration may be (%lu MiB)", path,
                     LT_CONFIG_MAX_BYTES / LT_MIB);
    case LT_E_NOMEM:
      return lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
    default:
      return config_read_fail(path, true, errno, err);
  }
}

lt_status lt_config_read(const char *path, bool is_found, lt_buf *out, lt_config_identity *ret_identity, lt_err *err) {
  struct stat st = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | (is_found ? O_NONBLOCK | O_NOCTTY : 0));
  if (fd < 0 || fstat(fd, &st) != 0) {
    lt_status status = config_read_fail(path, fd >= 0, errno, err);
    if (fd >= 0) {
      close(fd);
    }
    return status;
  }
  *ret_identity = (lt_config_identity){st.st_dev, st.st_ino};
  bool is_file = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode); /* reading a folder fails, with its reason */
  lt_status status = !is_found || is_file
                         ? config_read_open(fd, path, out, err)
                         : lt_fail(err, LT_E_CONFIG, "%s: cannot be read: it is no regular file", path);
  close(fd);
  return status;
}

lt_config_folder lt_config_folder_of(const char *path) {
  lt_config_folder named, absolute;
  const char *slash = strrchr(path, '/');
  if (slash == NULL) {
    snprintf(named.path, sizeof named.path, ".");
  } else {
    snprintf(named.path, sizeof named.path, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  }
  return realpath(named.path, absolute.path) != NULL ? absolute : named;
}

const char *lt_config_absolute_path(lt_arena *arena, const char *path) {
  lt_config_folder folder = lt_config_folder_of(path);
  const char *slash = strrchr(path, '/');
  bool is_root = strcmp(folder.path, "/") == 0;
  return lt_arena_printf(arena, "%s/%s", is_root ? "" : folder.path, slash != NULL ? slash + 1 : path).p;
}
