#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/random.h"

/* --- Reading ------------------------------------------------------------------------------------------------------ */

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

/* --- Replacing ---------------------------------------------------------------------------------------------------- */

static bool file_write_all(int fd, lt_str text) {
  while (text.n > 0) {
    ssize_t n = write(fd, text.p, text.n);
    if (n < 0 && errno != EINTR) {
      return false;
    }
    text = lt_str_sub(text, n > 0 ? (size_t)n : 0, text.n);
  }
  return true;
}

/* False: errno says why, and the file may be there. Some file systems report a full disk only at close. */
static bool file_write_new(const char *path, lt_str text, const lt_file_replace_options *options) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    return false;
  }
  bool is_written = (options->mode == 0 || fchmod(fd, options->mode) == 0) && file_write_all(fd, text) &&
                    (!options->is_synced || fsync(fd) == 0);
  int why = errno;
  bool is_closed = close(fd) == 0;
  errno = is_written ? errno : why;
  return is_written && is_closed;
}

lt_status lt_file_replace(const char *path, lt_str text, const lt_file_replace_options *options, lt_err *err) {
  static const lt_file_replace_options none = {0};
  char fresh[PATH_MAX], random[17];
  if (!lt_random_hex(random, 16)) {
    return lt_fail(err, LT_E_IO, "cannot write %s: the kernel has no random bytes", path);
  }
  if (snprintf(fresh, sizeof fresh, "%s.%s", path, random) >= (int)sizeof fresh) {
    return lt_fail(err, LT_E_IO, "cannot write %s: its name is too long", path);
  }
  if (file_write_new(fresh, text, options ? options : &none) && rename(fresh, path) == 0) {
    return LT_OK;
  }
  int why = errno;
  (void)unlink(fresh);
  return lt_fail(err, LT_E_IO, "cannot write %s: %s", path, strerror(why));
}

lt_status lt_file_create(const char *path, lt_str text, lt_err *err) {
  static const lt_file_replace_options none = {0};
  if (file_write_new(path, text, &none)) {
    return LT_OK;
  }
  return errno == EEXIST ? lt_fail(err, LT_E_INVALID, "cannot make %s: it exists already", path)
                         : lt_fail(err, LT_E_IO, "cannot make %s: %s", path, strerror(errno));
}

void lt_file_make_folders(const char *path) {
  char folder[PATH_MAX];
  if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder) {
    return;
  }
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)!mkdir(folder, 0700);
    *slash = '/';
  }
}
