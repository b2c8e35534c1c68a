/* TypeScript programs checked before they run: by a compiler that is warm, by one that has to start, and what the check
 * adds to a whole `lathe run`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/rig.h"
#include "runner/npm_program.h"
#include "runner/typecheck/tsc_find.h"
#include "runner/typecheck/typecheck.h"

enum { RUNS = 200, WARM_UP = 20, STARTS = 15, WHOLE = 25 };

#define TARGET_WARM_NS 10e6
#define NPM_TSC        "/../tests/node_modules/@typescript/typescript-linux-" LT_NPM_CPU "/lib/tsc"

typedef struct bench {
  lt_rig *rig;
  char *tsc;
  lt_buf code;
  lt_catalog *catalog;
  lt_typecheck *typecheck;
  bool has_failed; /* the program would run unchecked; err says why */
  lt_err err;
} bench;

static const lt_tool *find_tool(void *arg, lt_str word) {
  const bench *b = arg;
  return lt_catalog_find_word(b->catalog, LT_TOOL_TYPESCRIPT, word).tool;
}

static void on_line(void *arg, bool is_warning, lt_str line) {
  bench *b = arg;
  (void)is_warning;
  b->has_failed = true;
  (void)lt_fail(&b->err, LT_E_IO, "%.*s", LT_STR_ARG(line));
}

static void start(bench *b) {
  const lt_typecheck_options options = {.loop = b->rig->loop, .path = b->tsc, .on_line = on_line, .arg = b};
  LT_CHECK(lt_typecheck_new(&options, &b->typecheck, NULL) == LT_OK);
}

static void stop(bench *b) LT_YIELDS {
  lt_typecheck_free(b->typecheck);
  b->typecheck = NULL;
}

/* False: the check failed, or found an error, and b->err says what. */
static bool check(bench *b, lt_measure *m) LT_YIELDS {
  lt_run_request request = {.code = lt_buf_view(&b->code), .lang = LT_LANG_TYPESCRIPT};
  const lt_typecheck_program program = {.request = &request, .source = request.code, .find_tool = find_tool, .arg = b};
  lt_run_result result;
  lt_run_result_init(&result);
  b->err = LT_ERR_INIT;
  double began = lt_measure_now();
  lt_status status = lt_typecheck_run(b->typecheck, &program, &result, &b->err);
  lt_measure_add(m, lt_measure_now() - began);
  if (status == LT_E_PROGRAM) {
    (void)lt_fail(&b->err, status, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  }
  lt_run_result_release(&result);
  return status == LT_OK && !b->has_failed;
}

static void print(const bench *b, const char *what, bool is_ok, lt_measure *m, double target) {
  if (is_ok) {
    lt_measure_print_ns(what, m, target);
  } else {
    lt_measure_skip(what, "%s", lt_err_msg(&b->err));
    lt_measure_release(m);
  }
}

static bool measure_warm(bench *b, const char *what) LT_YIELDS {
  lt_measure m, warming;
  lt_measure_init(&m);
  lt_measure_init(&warming);
  bool is_ok = true;
  for (int i = 0; i < WARM_UP + RUNS && is_ok; i++) {
    is_ok = check(b, i < WARM_UP ? &warming : &m);
  }
  print(b, what, is_ok, &m, TARGET_WARM_NS);
  lt_measure_release(&warming);
  return is_ok;
}

/* As the first check of a session, when nothing has started the compiler ahead. */
static void measure_first(bench *b) LT_YIELDS {
  lt_measure m;
  lt_measure_init(&m);
  bool is_ok = true;
  for (int i = 0; i < STARTS && is_ok; i++) {
    start(b);
    is_ok = check(b, &m);
    stop(b);
  }
  print(b, "the first check of 25 lines, tsc's start included", is_ok, &m, 0);
}

/* The full path, or NULL. Owns: the caller, lt_mem_free. */
static char *find_tsc(void) {
  const char *npm = LT_BENCH_DIR NPM_TSC;
  return access(npm, X_OK) == 0 ? lt_mem_strdup(lt_str_of(npm)) : lt_tsc_find(NULL);
}

static bool open_bench(bench *b, lt_rig *rig) {
  b->rig = rig;
  b->tsc = find_tsc();
  if (b->tsc == NULL) {
    lt_measure_skip("checks of types", "there is no tsc, version 7, in tests/node_modules or PATH");
    return false;
  }
  lt_rig_read("tools.ts", &b->code);
  LT_CHECK(lt_door_catalog(rig->door, &b->catalog, NULL) == LT_OK);
  return true;
}

static void close_bench(bench *b) {
  if (b->catalog != NULL) {
    lt_buf_release(&b->code);
  }
  lt_catalog_unref(b->catalog);
  lt_mem_free(b->tsc);
}

static void measure_few(lt_rig *rig, void *arg) {
  bool *has_tsc = arg;
  bench b = {.rig = NULL};
  *has_tsc = open_bench(&b, rig);
  if (*has_tsc) {
    start(&b);
    measure_warm(&b, "25 lines that name 3 of 50 tools, warm");
    stop(&b);
  }
  close_bench(&b);
}

static void measure_many(lt_rig *rig, void *arg) {
  (void)arg;
  bench b = {.rig = NULL};
  if (open_bench(&b, rig)) {
    start(&b);
    if (measure_warm(&b, "… 3 of 1,000 tools, warm")) {
      long tsc = lt_memory_child(getpid());
      lt_memory_print("memory of tsc after that (its share of what is shared)", tsc, "Pss:");
      lt_memory_print("  of this anonymous", tsc, "Anonymous:");
    }
    stop(&b);
    measure_first(&b);
  }
  close_bench(&b);
}

/* --- Whole processes ---------------------------------------------------------------------------------------------- */

/* Its three parts in a row. */
static bool write_file(char *path, int suffix, const char *before, const char *value, const char *after) {
  int fd = mkstemps(path, suffix);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file == NULL) {
    return false;
  }
  fprintf(file, "%s%s%s\n", before, value, after);
  return fclose(file) == 0;
}

static void print_whole(const char *what, int exit_code, lt_measure *m, lt_measure *peer) {
  if (exit_code != 0) {
    lt_measure_skip(what, "lathe ended with exit code %d", exit_code);
    return;
  }
  lt_measure_print(&(lt_measure_line){.what = what, .samples = m, .peer = peer, .peer_name = "--no-check"});
}

/* They take turns. The configuration asks for the check, so that a run without one would fail. */
static void measure_whole(const char *program, const char *config) {
  const char *lathe = lt_peer_find_lathe();
  const char *const checked[] = {lathe, "run", program, "--config", config, NULL};
  const char *const unchecked[] = {lathe, "run", program, "--config", config, "--no-check", NULL};
  lt_measure with, without;
  lt_measure_init(&with);
  lt_measure_init(&without);
  int codes[2] = {0, 0};
  for (int i = 0; i < WHOLE && codes[0] == 0 && codes[1] == 0; i++) {
    double ns;
    codes[0] = lt_peer_run(checked, &ns);
    lt_measure_add(&with, ns);
    codes[1] = lt_peer_run(unchecked, &ns);
    lt_measure_add(&without, ns);
  }
  print_whole("lathe run of one line of TypeScript", codes[0], &with, &without);
  print_whole("… with --no-check", codes[1], &without, NULL);
  lt_measure_release(&with);
  lt_measure_release(&without);
}

static void measure_processes(void) {
  char program[] = "/tmp/lathe-bench-XXXXXX.ts", config[] = "/tmp/lathe-bench-XXXXXX.json";
  char *tsc = find_tsc();
  bool is_written = write_file(program, 3, "", "const n: number = 6; n * 7", "") &&
                    write_file(config, 5, "{\"typescript\":{\"check\":true,\"path\":\"", tsc, "\"}}");
  if (is_written) {
    measure_whole(program, config);
  }
  unlink(program);
  unlink(config);
  lt_mem_free(tsc);
}

void lt_bench_typecheck(void) {
  bool has_tsc = false;
  lt_rig_run(50, measure_few, &has_tsc);
  if (has_tsc) {
    lt_rig_run(1000, measure_many, NULL);
    measure_processes();
  }
}
