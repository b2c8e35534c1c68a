#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

lt_status lt_file_read_fd(int fd, const char *name, lt_buf *out, lt_err *err) {
  for (;;) {
    char bytes[16384];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got == 0) {
      return LT_OK;
    }
    if (got < 0 && errno != EINTR) {
      return lt_fail(err, LT_E_IO, "cannot read %s: %s", name, strerror(errno));
    }
    if (got > 0) {
      lt_buf_add(out, lt_str_from(bytes, (size_t)got));
    }
    if (out->status != LT_OK) {
      return lt_fail(err, out->status, "cannot read %s: it has more than %zu MiB", name, out->max / LT_MIB);
    }
  }
}

lt_status lt_file_read(const char *path, lt_buf *out, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return lt_fail(err, errno == ENOENT ? LT_E_NOTFOUND : LT_E_IO, "cannot open %s: %s", path, strerror(errno));
  }
  lt_status status = lt_file_read_fd(fd, path, out, err);
  close(fd);
  return status;
}
