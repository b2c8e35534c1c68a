#include "io/command_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin" /* without a PATH: execvp's default, and /usr/local/bin */

static const char *command_path_path_of(const char *const *env) {
  if (env == NULL) {
    const char *path = getenv("PATH");
    return path != NULL ? path : DEFAULT_PATH;
  }
  for (; *env != NULL; env++) {
    if (strncmp(*env, "PATH=", 5) == 0) {
      return *env + 5;
    }
  }
  return DEFAULT_PATH;
}

/* Returns 0, or the reason (errno) why `path` cannot be executed from the folder `dir`. */
static int command_path_check(int dir, const char *path) {
  struct stat st;
  if (fstatat(dir, path, &st, 0) != 0) {
    return errno;
  }
  if (S_ISDIR(st.st_mode)) {
    return EISDIR;
  }
  return faccessat(dir, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static lt_status command_path_explain(int why, const char *file, const char *path, lt_err *err) {
  switch (why) {
    case EISDIR:
      return lt_fail(err, LT_E_DENIED, "cannot start \"%s\": it is a folder, not a program", file);
    case EACCES:
      return lt_fail(err, LT_E_DENIED, "cannot start \"%s\": %s is not executable for this user (chmod +x it)", file,
                     path);
    case ENOENT:
    case ENOTDIR:
      return lt_fail(err, LT_E_NOTFOUND, "cannot start \"%s\": no such file", file);
    default:
      return lt_fail(err, LT_E_IO, "cannot start \"%s\": %s", file, strerror(why));
  }
}

/* Whether this is Lathe's own PATH. There, `.` or an empty entry would start files of the current folder, which may be
 * a stranger's. In a PATH that was made for the child, such an entry is intended. */
static bool command_path_is_own(const char *path) {
  const char *own = getenv("PATH");
  return own != NULL && strcmp(own, path) == 0;
}

static lt_status command_path_find_in_path(int dir, const char *file, const char *path, lt_buf *out, lt_err *err) {
  bool denied = false, is_own = command_path_is_own(path);
  char tried[LT_PROC_PATH_MAX_BYTES] = "";
  for (;;) {
    size_t n = strcspn(path, ":");
    lt_buf_clear(out);
    lt_buf_add(out, n > 0 ? lt_str_from(path, n) : LT_STR("."));
    lt_buf_byte(out, '/');
    lt_buf_addc(out, file);
    if (out->status == LT_E_NOMEM) {
      return lt_fail(err, LT_E_NOMEM, "cannot start \"%s\": out of memory", file);
    }
    int why = out->status == LT_OK ? command_path_check(dir, out->p) : ENAMETOOLONG;
    if (is_own && path[0] != '/') {
      why = ENOENT;
    }
    if (why == 0) {
      return LT_OK;
    }
    if (why == EACCES && !denied) {
      denied = true;
      memcpy(tried, out->p, out->n + 1);
    }
    if (path[n] == '\0') {
      break;
    }
    path += n + 1;
  }
  if (denied) {
    return command_path_explain(EACCES, file, tried, err);
  }
  return lt_fail(err, LT_E_NOTFOUND, "cannot start \"%s\": no such command in PATH (install it, or give its full path)",
                 file);
}

static lt_status command_path_open_cwd(const char *cwd, const char *file, int *ret_dir, lt_err *err) {
  *ret_dir = AT_FDCWD;
  if (cwd == NULL) {
    return LT_OK;
  }
  int dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    *ret_dir = dir;
    return LT_OK;
  }
  switch (errno) {
    case ENOENT:
      return lt_fail(err, LT_E_NOTFOUND, "cannot start \"%s\": its folder \"%s\" does not exist", file, cwd);
    case ENOTDIR:
      return lt_fail(err, LT_E_NOTFOUND, "cannot start \"%s\": \"%s\" is not a folder", file, cwd);
    case EACCES:
      return lt_fail(err, LT_E_DENIED, "cannot start \"%s\": no access to its folder \"%s\"", file, cwd);
    default:
      return lt_fail(err, LT_E_IO, "cannot start \"%s\" in \"%s\": %s", file, cwd, strerror(errno));
  }
}

lt_status lt_command_find(const char *file, const char *const *env, const char *cwd, lt_buf *ret_path, lt_err *err) {
  int dir;
  if (file[0] == '\0') {
    return lt_fail(err, LT_E_NOTFOUND, "cannot start a program: the command is empty");
  }
  LT_TRY(command_path_open_cwd(cwd, file, &dir, err));
  lt_status status = LT_OK;
  if (strchr(file, '/') == NULL) {
    status = command_path_find_in_path(dir, file, command_path_path_of(env), ret_path, err);
  } else {
    lt_buf_addc(ret_path, file);
    int why = command_path_check(dir, file);
    status = why == 0 ? LT_OK : command_path_explain(why, file, file, err);
  }
  if (status == LT_OK && ret_path->status != LT_OK) {
    status = lt_fail(err, ret_path->status, "cannot start \"%.64s...\": its name is too long", file);
  }
  if (dir != AT_FDCWD) {
    close(dir);
  }
  return status;
}
