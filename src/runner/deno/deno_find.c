/* Finds Deno and TypeScript's compiler: where the configuration says, in PATH, in node_modules/.bin beside build/.
 *
 * npm installs both as scripts for Node that start the real program. The search follows such a script to the program,
 * so that Node is neither needed nor waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/command_path.h"
#include "runner/deno/deno_find.h"
#include "runner/deno/deno_state.h"

#if defined(__aarch64__)
#define NPM_CPU "arm64"
#else
#define NPM_CPU "x64"
#endif

#define UP_MAX 4 /* folders above Lathe's program that are searched for node_modules */

static bool deno_find_is_program(const char *path) {
  char head[4] = {0};
  FILE *file = access(path, X_OK) == 0 ? fopen(path, "re") : NULL;
  if (file == NULL) {
    return false;
  }
  size_t n = fread(head, 1, sizeof head, file);
  fclose(file);
  return n == sizeof head && memcmp(head, "\177ELF", 4) == 0;
}

/* Removes the last `count` parts of the path. */
static bool deno_find_go_up(char *path, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
      return false;
    }
    *slash = '\0';
  }
  return true;
}

/* Where npm keeps the program that a script starts; the script is `up` folders below node_modules. */
typedef struct npm_place {
  unsigned up;
  const char *below;
} npm_place;

/* node_modules/deno/bin.cjs, node_modules/typescript/bin/tsc */
static const npm_place deno_places[] = {
    {2, "@deno/linux-" NPM_CPU "-glibc/deno"}, {1, "deno"}, {1, "node_modules/@deno/linux-" NPM_CPU "-glibc/deno"}};
static const npm_place tsc_places[] = {{3, "@typescript/typescript-linux-" NPM_CPU "/lib/tsc"},
                                       {2, "node_modules/@typescript/typescript-linux-" NPM_CPU "/lib/tsc"}};

/* Finds the real program: `path` itself, or the program that the script `path` starts. NULL: neither. Owns: the caller,
 * lt_mem_free. */
static char *deno_find_resolve(const char *path, const npm_place *places, size_t count) {
  char real[LT_PROC_PATH_MAX_BYTES + 1], base[LT_PROC_PATH_MAX_BYTES + 1], below[2 * LT_PROC_PATH_MAX_BYTES];
  _Static_assert(sizeof real >= 4096, "realpath's PATH_MAX");
  if (realpath(path, real) == NULL) {
    return NULL;
  }
  if (deno_find_is_program(real)) {
    return lt_mem_strdup(lt_str_of(real));
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(base, real, sizeof base);
    if (!deno_find_go_up(base, places[i].up)) {
      continue;
    }
    snprintf(below, sizeof below, "%s/%s", base, places[i].below);
    if (deno_find_is_program(below)) {
      return lt_mem_strdup(lt_str_of(below));
    }
  }
  return NULL;
}

static char *deno_find_in_path(const char *command, const npm_place *places, size_t count) {
  LT_AUTO_BUF(path, LT_PROC_PATH_MAX_BYTES - 1);
  char *found = NULL;
  if (lt_command_find(command, NULL, NULL, &path, NULL) == LT_OK) {
    found = deno_find_resolve(path.p, places, count);
  }
  return found;
}

static char *deno_find_beside_program(const char *name, const npm_place *places, size_t count) {
  char own[LT_PROC_PATH_MAX_BYTES + 1], path[LT_PROC_PATH_MAX_BYTES + 64];
  ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
  own[n > 0 ? n : 0] = '\0';
  char *found = NULL;
  for (unsigned i = 0; i < UP_MAX && found == NULL && deno_find_go_up(own, 1); i++) {
    snprintf(path, sizeof path, "%s/node_modules/.bin/%s", own, name);
    found = deno_find_resolve(path, places, count);
  }
  return found;
}

static char *deno_find_program(const char *configured, const char *name, const npm_place *places, size_t count) {
  if (configured != NULL) {
    return deno_find_in_path(configured, places, count);
  }
  char *found = deno_find_in_path(name, places, count);
  return found != NULL ? found : deno_find_beside_program(name, places, count);
}

lt_status lt_deno_find(lt_deno *deno, lt_err *err) {
  if (deno->exe != NULL && access(deno->exe, X_OK) == 0) {
    return LT_OK;
  }
  lt_mem_free(deno->exe);
  deno->exe = deno_find_program(deno->path, "deno", deno_places, sizeof deno_places / sizeof deno_places[0]);
  if (deno->exe != NULL) {
    return LT_OK;
  }
  const char *where = deno->path != NULL ? deno->path : "PATH or node_modules/.bin";
  return lt_fail(err, LT_E_NOTFOUND,
                 "Deno was not found (%s): install it (npm install deno), say where it is (deno.path), or use the "
                 "embedded engine (--runner quickjs)",
                 where);
}

lt_status lt_deno_find_tsc(lt_deno *deno, lt_err *err) {
  if (deno->check == LT_DENO_CHECK_NEVER || deno->tsc != NULL ||
      (deno->is_tsc_missing && deno->check == LT_DENO_CHECK_IF_FOUND)) {
    return LT_OK;
  }
  deno->tsc = deno_find_program(deno->typescript_path, "tsc", tsc_places, sizeof tsc_places / sizeof tsc_places[0]);
  deno->is_tsc_missing = deno->tsc == NULL;
  if (deno->tsc != NULL || (deno->check == LT_DENO_CHECK_IF_FOUND && deno->typescript_path == NULL)) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_NOTFOUND,
                 "TypeScript's compiler was not found (%s): install version 7 (npm install typescript), say where its "
                 "tsc is (typescript.path), or do without (typescript.check: false)",
                 deno->typescript_path != NULL ? deno->typescript_path : "PATH or node_modules/.bin");
}

/* --- Why Deno did not begin --------------------------------------------------------------------------------------- */

/* The major version in the output of `deno --version`; 0: there is none. LT_YIELDS. */
static unsigned deno_find_ask_version(lt_deno *deno, char *ret_line, size_t size) LT_YIELDS {
  const char *const argv[] = {"deno", "--version", NULL};
  const char *const env[] = {"DENO_NO_UPDATE_CHECK=1", "NO_COLOR=1", NULL};
  lt_process_options options = {.file = deno->exe, .argv = argv, .env = env, .cwd = "/", .line_max = LT_KIB};
  lt_process *process = NULL;
  lt_str line;
  unsigned major = 0;
  ret_line[0] = '\0';
  if (lt_process_open(deno->loop, &options, &process, NULL) != LT_OK) {
    return 0;
  }
  if (lt_process_read_line(process, &line, NULL) == LT_OK && lt_str_starts(line, LT_STR("deno "))) {
    size_t end = lt_str_find(line, LT_STR(" ("), 0);
    snprintf(ret_line, size, "%.*s", LT_STR_ARG(lt_str_sub(line, 0, end < 40 ? end : 40)));
    major = (unsigned)strtoul(ret_line + 5, NULL, 10);
  }
  lt_process_close(process);
  return major;
}

lt_status lt_deno_find_explain(lt_deno *deno, lt_process *process, lt_err *err) {
  char words[400], line[64];
  snprintf(words, sizeof words, "%.*s", LT_STR_ARG(lt_str_sub(lt_str_trim(lt_process_stderr(process)), 0, 399)));
  if (strcmp(lt_process_exit_text(process), "exited with code 127") == 0) { /* the walls or the file prevent it */
    return lt_fail(err, LT_E_IO, "Deno cannot be started: %s", words);
  }
  unsigned major = deno_find_ask_version(deno, line, sizeof line);
  if (major == 0) {
    return lt_fail(err, LT_E_NOTFOUND,
                   "%s is not Deno: say where it is (deno.path), or use the embedded engine (--runner quickjs)",
                   deno->exe);
  }
  if (major < LT_DENO_MAJOR_MIN) {
    return lt_fail(err, LT_E_NOTFOUND,
                   "%s is too old (%s): install version %d or later (npm install deno), or use the embedded engine "
                   "(--runner quickjs)",
                   deno->exe, line, LT_DENO_MAJOR_MIN);
  }
  return lt_fail(err, LT_E_UNSUPPORTED, "Deno (%s) did not begin, it %s: %s", line, lt_process_exit_text(process),
                 words);
}
