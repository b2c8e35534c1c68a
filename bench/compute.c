/* The engine at work: the same script here, in npm's quickjs-wasi (the same file, as WebAssembly in Node's V8) and in
 * Node itself. Each run begins with nothing: a clean box, a new VM, a new context. They take turns. */
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

typedef struct contest {
  lt_peer wasi;
  lt_peer node;
  bool has_wasi;
  bool has_node;
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

static void print_peer(const char *what, bool has, lt_measure *samples, lt_measure *ours) {
  if (!has || samples->count == 0) {
    lt_measure_skip(what, "it could not be started (npm ci)");
    return;
  }
  lt_measure_print(&(lt_measure_line){.what = what, .samples = samples, .peer = ours, .peer_name = "lathe"});
}

static void measure_one(lt_rig *rig, contest *c, unsigned i) {
  lt_measure ours, wasi, node;
  lt_measure_init(&ours);
  lt_measure_init(&wasi);
  lt_measure_init(&node);
  lt_buf code;
  lt_rig_read(programs[i].file, &code);
  for (int k = 0; k < RUNS; k++) {
    lt_measure_add(&ours, lt_rig_time(rig, lt_buf_view(&code), LT_LANG_JAVASCRIPT));
    c->has_wasi = c->has_wasi && ask(&c->wasi, programs[i].file, &wasi);
    c->has_node = c->has_node && ask(&c->node, programs[i].file, &node);
  }
  lt_measure_print(
      &(lt_measure_line){.what = programs[i].what, .samples = &ours, .peer = &wasi, .peer_name = "quickjs-wasi"});
  print_peer("  quickjs-wasi in Node", c->has_wasi, &wasi, &ours);
  print_peer("  Node itself (compiles to machine code)", c->has_node, &node, &ours);
  lt_buf_release(&code);
  lt_measure_release(&ours);
  lt_measure_release(&wasi);
  lt_measure_release(&node);
}

static void measure(lt_rig *rig, void *arg) {
  for (unsigned i = 0; i < PROGRAMS; i++) {
    measure_one(rig, arg, i);
  }
}

void lt_bench_compute(void) {
  contest c = {0};
  c.has_wasi = lt_peer_open(&c.wasi, "quickjs-wasi.mjs");
  c.has_node = lt_peer_open(&c.node, "node.mjs");
  lt_rig_run(50, measure, &c);
  if (c.has_wasi) {
    lt_peer_close(&c.wasi);
  }
  if (c.has_node) {
    lt_peer_close(&c.node);
  }
}
