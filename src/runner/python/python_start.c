/* Starts the interpreter: finds it, puts it behind its walls, and sends it the Python sources. */
#include <errno.h>
#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/json.h"
#include "jail/jail.h"
#include "runner/python/python_find.h"
#include "runner/python/python_folder.h"
#include "runner/python/python_start.h"
#include "runner/python/python_state.h"
#include "io/watch.h"

#define OLD           "LATHE-PYTHON-IS-OLD "
#define ARG_MAX_COUNT 64
#define READABLE_MAX  24

extern const char lt_python_source_data[], lt_python_source_end[]; /* python_source.S */

/* Every version of Python understands this text. The control socket delivers the sources, then the settings. */
static const char boot[] =
    "import sys\n"
    "if sys.version_info < (3, 9):\n"
    "    sys.exit('" OLD
    "%d.%d' % sys.version_info[:2])\n"
    "import json, socket\n"
    "control = socket.socket(fileno=0)\n"
    "source, setup = control.recv(1 << 20), control.recv(1 << 20)\n"
    "control.detach()\n"
    "names = {'__name__': 'lathe', '__builtins__': __builtins__}\n"
    "exec(compile(source, '<lathe>', 'exec'), names)\n"
    "names['begin'](json.loads(setup))\n";

/* The files that the system's interpreters read, in addition to those that every jail allows. Not all of /etc, because
 * it names the machine's users. */
static const char *const system_folders[] = {
    "/usr/lib",  "/usr/lib64",     "/usr/local/lib", "/usr/share",       "/lib",
    "/lib64",    "/etc/localtime", "/etc/timezone",  "/etc/ld.so.cache", "/etc/mime.types",
    "/dev/null", "/dev/zero",      "/dev/full",      "/dev/random",      "/dev/urandom"};

typedef struct python_start_plan {
  lt_arena arena;
  lt_buf file; /* the interpreter */
  const char *args[ARG_MAX_COUNT];
  size_t count;
  const char *readable[READABLE_MAX]; /* in addition to the system's folders */
  size_t readable_count;
} python_start_plan;

static void python_start_add(python_start_plan *pl, const char *arg) {
  LT_CHECK(pl->count < ARG_MAX_COUNT - 1);
  pl->args[pl->count++] = arg;
}

static void python_start_add_option(python_start_plan *pl, const char *name, const char *value) {
  lt_str arg = lt_arena_printf(&pl->arena, "%s%s", name, value);
  python_start_add(pl, arg.p != NULL ? arg.p : "");
}

/* Whether the folder contains a Python library, or is a virtual environment. */
static bool python_start_is_prefix(const char *prefix) {
  char path[LT_PROC_PATH_MAX_BYTES + 16];
  snprintf(path, sizeof path, "%s/pyvenv.cfg", prefix);
  bool found = access(path, R_OK) == 0;
  snprintf(path, sizeof path, "%s/lib", prefix);
  DIR *dir = found ? NULL : opendir(path);
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL && !found; e = readdir(dir)) {
    found = strncmp(e->d_name, "python3", 7) == 0;
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return found;
}

/* `file` is PREFIX/bin/python3. Adds the parts of Python below the prefix, but not the whole prefix, which may be a
 * home folder. */
static void python_start_add_prefix(python_start_plan *pl, const char *file) {
  static const char *const parts[] = {"lib", "lib64", "pyvenv.cfg", "bin"};
  lt_str path = lt_str_of(file);
  for (int up = 0; up < 2; up++) {
    while (path.n > 0 && path.p[path.n - 1] != '/') {
      path.n--;
    }
    path.n -= path.n > 0;
  }
  lt_str prefix = lt_arena_dup(&pl->arena, path);
  if (prefix.p == NULL || prefix.n == 0 || lt_str_eqc(prefix, "/usr") || !python_start_is_prefix(prefix.p)) {
    return;
  }
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && pl->readable_count < READABLE_MAX; i++) {
    lt_str part = lt_arena_printf(&pl->arena, "%s/%s", prefix.p, parts[i]);
    if (part.p != NULL) {
      pl->readable[pl->readable_count++] = part.p;
    }
  }
}

/* A virtual environment's interpreter is a link to the interpreter with the library. */
static void python_start_add_prefixes(python_start_plan *pl) {
  python_start_add_prefix(pl, pl->file.p);
  char real[PATH_MAX];
  if (realpath(pl->file.p, real) != NULL) {
    python_start_add_prefix(pl, real);
  }
}

/* Debian's interpreters have a part of their library in /etc. */
static void python_start_add_etc(python_start_plan *pl) {
  glob_t found;
  if (glob("/etc/python3*", 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && pl->readable_count < READABLE_MAX; i++) {
      lt_str path = lt_arena_printf(&pl->arena, "%s", found.gl_pathv[i]);
      if (path.p != NULL) {
        pl->readable[pl->readable_count++] = path.p;
      }
    }
    globfree(&found);
  }
}

static void python_start_plan_args(python_start_plan *pl, const lt_python *p, int landlock_abi) {
  char number[24];
  snprintf(number, sizeof number, "%d", (int)getpid());
  python_start_add(pl, "lathe");
  python_start_add(pl, LT_JAIL_WORD);
  python_start_add_option(pl, "--parent=", number);
  python_start_add(pl, "--profile=python-zygote");
  for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++) {
    python_start_add_option(pl, "--read=", system_folders[i]);
  }
  for (size_t i = 0; i < pl->readable_count; i++) {
    python_start_add_option(pl, "--read=", pl->readable[i]);
  }
  python_start_add_option(pl, "--write=", p->workspace != NULL ? p->workspace : p->base_folder);
  snprintf(number, sizeof number, "%d", LT_JAIL_UID);
  python_start_add_option(pl, "--uid=", number);
  python_start_add_option(pl, "--gid=", number);
  snprintf(number, sizeof number, "%d", landlock_abi);
  python_start_add_option(pl, "--landlock-abi=", number);
  if (p->without_walls) {
    python_start_add(pl, "--best-effort");
  }
  python_start_add(pl, "--");
  python_start_add(pl, pl->file.p);
  python_start_add(pl, pl->file.p);
  static const char *const flags[] = {"-I", "-B", "-X", "utf8", "-c"};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    python_start_add(pl, flags[i]);
  }
  python_start_add(pl, boot);
}

/* --- Sources and settings ----------------------------------------------------------------------------------------- */

static void python_start_put_hex(lt_json_writer *w, const lt_buf *bytes) {
  static const char digits[] = "0123456789abcdef";
  LT_AUTO_BUF(hex, 2 * bytes->n + 1);
  for (size_t i = 0; i < bytes->n; i++) {
    lt_buf_byte(&hex, digits[(unsigned char)bytes->p[i] >> 4]);
    lt_buf_byte(&hex, digits[bytes->p[i] & 15]);
  }
  lt_json_put_str(w, lt_buf_view(&hex));
}

static void python_start_put_walls(const lt_python *p, const python_start_plan *pl, const lt_jail_walls *walls,
                                   const lt_buf *filter, lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_key(w, "walls");
  lt_json_begin_object(w);
  lt_json_key(w, "abi");
  lt_json_put_int(w, walls->landlock_abi);
  lt_json_key(w, "needed");
  lt_json_put_bool(w, !p->without_walls);
  lt_json_key(w, "readable");
  lt_json_begin_array(w);
  for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++) {
    lt_json_put_cstr(w, system_folders[i]);
  }
  for (size_t i = 0; i < pl->readable_count; i++) {
    lt_json_put_cstr(w, pl->readable[i]);
  }
  lt_json_end_array(w);
  lt_json_key(w, "filter");
  python_start_put_hex(w, filter);
  lt_json_end_object(w);
  lt_json_end_object(w);
}

static lt_status python_start_send_sources(const lt_python *p, const python_start_plan *pl, const lt_jail_walls *walls,
                                           int control, lt_err *err) {
  LT_AUTO_BUF(filter, LT_JAIL_FILTER_MAX_BYTES);
  LT_AUTO_BUF(setup, LT_PYTHON_SETUP_MAX_BYTES);
  if (walls->seccomp) {
    LT_TRY(lt_jail_filter(LT_JAIL_PYTHON, &filter, err));
  }
  lt_json_writer w = lt_json_writer_on(&setup);
  python_start_put_walls(p, pl, walls, &filter, &w);
  LT_TRY(lt_buf_check(&setup, err, "no memory to start Python"));
  lt_str source = lt_str_from(lt_python_source_data, (size_t)(lt_python_source_end - lt_python_source_data));
  LT_TRY(lt_watch_socket_send(control, source, NULL, 0, err));
  return lt_watch_socket_send(control, lt_buf_view(&setup), NULL, 0, err);
}

static lt_status python_start_open_process(lt_python *p, const python_start_plan *pl, int child_control,
                                           lt_process **ret_process, lt_err *err) {
  lt_process_options options = {
      .file = p->helper,
      .argv = pl->args,
      .env = (const char *const *)p->env,
      .cwd = p->workspace != NULL ? p->workspace : p->base_folder,
      .line_max = LT_PYTHON_PIECE_BYTES,
      .stdin_fd = child_control,
  };
  return lt_process_open(p->loop, &options, ret_process, err);
}

static lt_status python_start_from_plan(lt_python *p, python_start_plan *pl, lt_process **ret_process, int *ret_control,
                                        lt_err *err) LT_YIELDS {
  lt_jail_walls walls;
  int control, child_control;
  lt_jail_probe(&walls);
  if (!p->without_walls) {
    LT_TRY(lt_jail_check(&walls, LT_JAIL_PYTHON, err));
  }
  LT_TRY(lt_python_folder_check(p, err));
  LT_TRY(lt_python_find(p, &pl->file, err));
  if (p->workspace == NULL) {
    LT_TRY(lt_python_folder_make_base(p, err));
  }
  python_start_add_prefixes(pl);
  python_start_add_etc(pl);
  python_start_plan_args(pl, p, walls.landlock_abi);
  LT_TRY(lt_watch_socket_pair(false, &control, &child_control, err));
  lt_status status = python_start_send_sources(p, pl, &walls, control, err);
  if (status == LT_OK) {
    status = python_start_open_process(p, pl, child_control, ret_process, err);
  }
  close(child_control);
  if (status != LT_OK) {
    close(control);
    return status;
  }
  *ret_control = control;
  return LT_OK;
}

lt_status lt_python_start(lt_python *p, lt_process **ret_process, int *ret_control, lt_err *err) {
  python_start_plan pl = {.count = 0};
  lt_arena_init(&pl.arena, LT_MIB);
  lt_buf_init(&pl.file, LT_PROC_PATH_MAX_BYTES - 1);
  lt_status status = python_start_from_plan(p, &pl, ret_process, ret_control, err);
  lt_buf_release(&pl.file);
  lt_arena_release(&pl.arena);
  return status;
}

lt_status lt_python_start_explain(const lt_python *p, lt_process *process, lt_err *err) {
  lt_str said = lt_str_trim(lt_process_stderr(process));
  size_t old = lt_str_find(said, LT_STR(OLD), 0);
  if (old != SIZE_MAX) {
    lt_str version = lt_str_trim(lt_str_sub(said, old + sizeof OLD - 1, said.n));
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "\"%s\" is Python %.*s, and Python programs need 3.9 or newer: install one, or say where it is with "
                   "python.path in the configuration",
                   p->path, LT_STR_ARG(version));
  }
  lt_str last = said;
  for (size_t at = lt_str_find(last, LT_STR("\n"), 0); at != SIZE_MAX; at = lt_str_find(last, LT_STR("\n"), 0)) {
    last = lt_str_sub(last, at + 1, last.n);
  }
  const char *how = lt_process_exited(process) ? lt_process_exit_text(process) : "did not become ready in time";
  return lt_fail(err, LT_E_IO, "the Python interpreter \"%s\" could not be started: %.*s%s%s%s", p->path,
                 LT_STR_ARG(last), last.n > 0 ? " (" : "", how, last.n > 0 ? ")" : "");
}
