/* Finds the interpreter: the first of its name in PATH that can be started behind the walls.
 *
 * Behind the walls only the interpreter itself can be executed. So a version manager's script is run before, and asked
 * which interpreter it would start. Root's programs run as the user nobody, who cannot reach root's home.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/python/python_find.h"
#include "runner/python/python_state.h"

static bool python_find_is_script(const char *file) {
  char head[2] = {0};
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  bool script = fd >= 0 && read(fd, head, 2) == 2 && head[0] == '#' && head[1] == '!';
  if (fd >= 0) {
    close(fd);
  }
  return script;
}

static void python_find_on_timeout(void *arg) {
  lt_process_signal(arg, SIGKILL);
}

/* Runs a script to learn which interpreter it starts. */
static bool python_find_ask_script(const lt_python *p, const char *script, char ret_file[PATH_MAX]) LT_YIELDS {
  const char *argv[] = {script, "-I", "-c", "import sys; print(sys.executable)", NULL};
  lt_process_options options = {.file = script, .argv = argv, .line_max = PATH_MAX - 1};
  lt_process *process = NULL;
  lt_timer *timer = NULL;
  lt_str line = LT_STR_NULL;
  if (lt_process_open(p->loop, &options, &process, NULL) != LT_OK) {
    return false;
  }
  if (lt_timer_new(p->loop, python_find_on_timeout, process, &timer, NULL) == LT_OK) {
    lt_timer_start(timer, LT_PYTHON_START_MS);
  }
  bool is_path =
      lt_process_read_line(process, &line, NULL) == LT_OK && line.n > 1 && line.n < PATH_MAX && line.p[0] == '/';
  if (is_path) {
    memcpy(ret_file, line.p, line.n);
    ret_file[line.n] = '\0';
  }
  lt_timer_free(timer);
  lt_process_close(process);
  return is_path;
}

/* Whether all users may enter the folders of the path and execute the file. */
static bool python_find_is_open_to_all(const char *file) {
  char path[PATH_MAX];
  size_t n = strlen(file);
  struct stat st;
  if (n >= sizeof path || stat(file, &st) != 0 || (st.st_mode & 5) != 5) {
    return false;
  }
  memcpy(path, file, n + 1);
  while (n > 1) {
    while (n > 1 && path[n - 1] != '/') {
      n--;
    }
    n -= n > 1;
    path[n] = '\0';
    if (n > 1 && (stat(path, &st) != 0 || (st.st_mode & 1) == 0)) {
      return false;
    }
  }
  return true;
}

static bool python_find_is_reachable(const char *file) {
  char real[PATH_MAX];
  return geteuid() != 0 ||
         (python_find_is_open_to_all(file) && realpath(file, real) != NULL && python_find_is_open_to_all(real));
}

/* Takes the file if it is an interpreter, or else the interpreter that the script starts. False: `ret_why` may say why
 * not. */
static bool python_find_try_file(const lt_python *p, const char *file, lt_buf *ret_file,
                                 const char **ret_why) LT_YIELDS {
  char other[PATH_MAX];
  struct stat st;
  if (stat(file, &st) != 0 || !S_ISREG(st.st_mode) || access(file, X_OK) != 0) {
    return false;
  }
  if (python_find_is_script(file) && python_find_is_reachable(file)) {
    if (!python_find_ask_script(p, file, other)) {
      *ret_why = "it is a script that does not start a Python";
      return false;
    }
    file = other;
  }
  if (!python_find_is_reachable(file)) {
    *ret_why = "programs run as nobody when Lathe is started by root, and nobody cannot reach it";
    return false;
  }
  lt_buf_clear(ret_file);
  lt_buf_addc(ret_file, file);
  return ret_file->status == LT_OK;
}

static bool python_find_search_path(const lt_python *p, lt_buf *ret_file, const char **ret_why) LT_YIELDS {
  const char *path = getenv("PATH");
  char candidate[PATH_MAX];
  lt_str rest = lt_str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
  while (rest.n > 0) {
    size_t end = lt_str_find(rest, LT_STR(":"), 0);
    lt_str folder = lt_str_sub(rest, 0, end);
    rest = lt_str_sub(rest, folder.n + 1, rest.n);
    size_t name = strlen(p->path);
    if (folder.n == 0 || folder.p[0] != '/' || folder.n + name + 2 > sizeof candidate) {
      continue;
    }
    memcpy(candidate, folder.p, folder.n);
    candidate[folder.n] = '/';
    memcpy(candidate + folder.n + 1, p->path, name + 1);
    if (python_find_try_file(p, candidate, ret_file, ret_why)) {
      return true;
    }
  }
  return false;
}

lt_status lt_python_find(const lt_python *p, lt_buf *ret_file, lt_err *err) {
  const char *why = NULL;
  bool found = strchr(p->path, '/') != NULL ? python_find_try_file(p, p->path, ret_file, &why)
                                            : python_find_search_path(p, ret_file, &why);
  if (found) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_NOTFOUND,
                 "Python programs need Python 3.9 or newer, and \"%s\" cannot be started%s%s: install it, or say where "
                 "it is with python.path in the configuration",
                 p->path, why != NULL ? ", as " : "", why != NULL ? why : "");
}
