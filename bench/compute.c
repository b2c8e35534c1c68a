/* The engine at work: the same script here, in a QuickJS that is machine code (peers/native.c), in npm's quickjs-wasi
 * (the same file, as WebAssembly in Node's V8) and in Node itself. Each run begins with nothing: a clean box, a new
 * runtime, a new VM, a new context. They take turns. */
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/rig.h"

enum { RUNS = 12, ANSWER_BYTES = 256 };

static const struct {
  const char *file;
  const char *what;
} programs[] = {
    {"fib.js", "fib(27)"},
    {"loop.js", "a loop of 1,000,000 rounds"},
    {"strings.js", "building strings"},
    {"json.js", "JSON, parsed and printed"},
    {"sort.js", "100,000 numbers sorted with a comparator"},
    {"regex.js", "a log searched by a regular expression"},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

enum { NATIVE, WASI, NODE, PEERS };

static const char *const names[PEERS] = {
    [NATIVE] = "  QuickJS of 2021 as machine code, no sandbox",
    [WASI] = "  quickjs-wasi in Node",
    [NODE] = "  Node itself (compiles to machine code)",
};

typedef struct contest {
  lt_peer peers[PEERS];
  bool is_there[PEERS];
} contest;

/* Milliseconds, or what went wrong. */
static bool ask(lt_peer *peer, const char *file, lt_measure *m) {
  char answer[ANSWER_BYTES];
  char *end = answer;
  if (!lt_peer_ask(peer, file, answer, sizeof answer)) {
    return false;
  }
  double ms = strtod(answer, &end);
  if (end == answer || *end != '\0') {
    fprintf(stderr, "bench: %s: %s\n", file, answer);
    return false;
  }
  lt_measure_add(m, ms * 1e6);
  return true;
}

static void print_peer(const char *what, lt_measure *samples, lt_measure *ours) {
  if (samples->count < RUNS) {
    lt_measure_skip(what, "it could not be started, or has failed (make bench installs and builds it)");
    return;
  }
  lt_measure_print(&(lt_measure_line){.what = what, .samples = samples, .peer = ours, .peer_name = "lathe"});
}

static void measure_one(lt_rig *rig, contest *c, unsigned i) {
  lt_measure ours, theirs[PEERS];
  lt_buf code;
  lt_measure_init(&ours);
  for (unsigned p = 0; p < PEERS; p++) {
    lt_measure_init(&theirs[p]);
  }
  lt_rig_read(programs[i].file, &code);
  for (int k = 0; k < RUNS; k++) {
    lt_measure_add(&ours, lt_rig_time(rig, lt_buf_view(&code), LT_LANG_JAVASCRIPT));
    for (unsigned p = 0; p < PEERS; p++) {
      c->is_there[p] = c->is_there[p] && ask(&c->peers[p], programs[i].file, &theirs[p]);
    }
  }
  lt_measure_print(&(lt_measure_line){
      .what = programs[i].what, .samples = &ours, .peer = &theirs[NATIVE], .peer_name = "QuickJS of 2021"});
  for (unsigned p = 0; p < PEERS; p++) {
    print_peer(names[p], &theirs[p], &ours);
    lt_measure_release(&theirs[p]);
  }
  lt_buf_release(&code);
  lt_measure_release(&ours);
}

static void measure(lt_rig *rig, void *arg) {
  for (unsigned i = 0; i < PROGRAMS; i++) {
    measure_one(rig, arg, i);
  }
}

void lt_bench_compute(void) {
  contest c = {.is_there = {false}};
  c.is_there[NATIVE] =
      lt_peer_start(&c.peers[NATIVE], (const char *const[]){lt_peer_find_beside("lt_bench_native"), NULL});
  c.is_there[WASI] = lt_peer_open(&c.peers[WASI], "quickjs-wasi.mjs");
  c.is_there[NODE] = lt_peer_open(&c.peers[NODE], "node.mjs");
  lt_rig_run(50, measure, &c);
  for (unsigned p = 0; p < PEERS; p++) {
    lt_peer_close(&c.peers[p]);
  }
}
