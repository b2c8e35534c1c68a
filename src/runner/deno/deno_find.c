/* Finds Deno: where the configuration says, in PATH, in node_modules/.bin beside build/. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/deno/deno_find.h"
#include "runner/deno/deno_state.h"
#include "runner/npm_program.h"
#include "runner/typecheck/tsc_find.h"

/* node_modules/deno/bin.cjs */
static const lt_npm_place deno_places[] = {{2, "@deno/linux-" LT_NPM_CPU "-glibc/deno"},
                                           {1, "deno"},
                                           {1, "node_modules/@deno/linux-" LT_NPM_CPU "-glibc/deno"}};

lt_status lt_deno_find(lt_deno *deno, lt_err *err) {
  if (deno->exe != NULL && access(deno->exe, X_OK) == 0) {
    return LT_OK;
  }
  lt_mem_free(deno->exe);
  deno->exe = lt_npm_program_find(deno->path, "deno", deno_places, sizeof deno_places / sizeof deno_places[0]);
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
  deno->tsc = lt_tsc_find(deno->typescript_path);
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
