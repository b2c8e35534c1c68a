/* The library as its hosts see it: a whole run of 1+2, and of one call of a function of the host, from C, Python and
 * Node.js; beside it the sandboxes that npm has for a process of Node.js. They take turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "bench/peer.h"
#include "lathe.h"

enum { TURNS = 20, RUNS = 50, ANSWER_BYTES = 4096, IMPORTS = 12, WHAT_BYTES = 96 };

static const char *const programs[] = {"1+2", "add({a: 1, b: 2})"};
static const char *const asked[] = {"plus", "call"};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* --- C ------------------------------------------------------------------------------------------------------------ */
static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  (void)arg;
  if (event->type == LATHE_EVENT_CALL) {
    lathe_answer(env, event->call, "3", NULL);
  }
}

static void run_blocking(lathe_env *env, const lathe_run_options *run) {
  char *report = NULL;
  if (lathe_run(env, run, on_event, NULL, &report, NULL) != LATHE_OK) {
    fprintf(stderr, "bench: %s\n", report != NULL ? report : "lathe_run failed");
  }
  lathe_free(report);
}

static void run_started(lathe_env *env, const lathe_run_options *run) {
  uint64_t number;
  const lathe_event *event;
  bool has_ended = lathe_start(env, run, &number, NULL) != LATHE_OK;
  while (!has_ended && lathe_next(env, -1, &event) == LATHE_OK) {
    on_event(env, event, NULL);
    has_ended = event->type == LATHE_EVENT_END;
    lathe_event_free(event);
  }
}

typedef void way_to_run(lathe_env *env, const lathe_run_options *run);

static void turn_in_c(lathe_env *env, way_to_run *way, unsigned program, lt_measure *samples) {
  const lathe_run_options run = {.size = sizeof run, .code = programs[program]};
  for (int i = 0; i < RUNS; i++) {
    double start = lt_measure_now();
    way(env, &run);
    lt_measure_add(samples, lt_measure_now() - start);
  }
}

/* --- Others ------------------------------------------------------------------------------------------------------- */
typedef struct host {
  const char *what; /* %s: its name and version */
  const char *variable, *program;
  const char *script, *arg;
  bool is_peer; /* not ours: its ratio to ours in Node.js is shown */
  bool is_there;
  char name[WHAT_BYTES];
  lt_peer peer;
  lt_measure samples[PROGRAMS];
} host;

static host hosts[] = {
    {.what = "Python, Sandbox.run",
     .variable = "LATHE_BENCH_PYTHON",
     .program = "python3",
     .script = "library.py",
     .arg = "sync"},
    {.what = "Python, AsyncSandbox.run",
     .variable = "LATHE_BENCH_PYTHON",
     .program = "python3",
     .script = "library.py",
     .arg = "async"},
    {.what = "Node.js, Sandbox.run",
     .variable = "LATHE_BENCH_NEW_NODE",
     .program = "node",
     .script = "library.mjs",
     .arg = "lathe"},
    {.what = "Node.js, ",
     .variable = "LATHE_BENCH_NEW_NODE",
     .program = "node",
     .script = "library.mjs",
     .arg = "quickjs-emscripten",
     .is_peer = true},
    {.what = "Node.js, ",
     .variable = "LATHE_BENCH_NEW_NODE",
     .program = "node",
     .script = "library.mjs",
     .arg = "isolated-vm",
     .is_peer = true},
    {.what = "Node.js, ",
     .variable = "LATHE_BENCH_NEW_NODE",
     .program = "node",
     .script = "library.mjs",
     .arg = "monty",
     .is_peer = true},
};
enum { HOSTS = sizeof hosts / sizeof hosts[0], OURS_IN_NODE = 2 };

static void host_open(host *h) {
  char script[WHAT_BYTES * 4];
  const char *program = lt_peer_find(h->variable, h->program);
  snprintf(script, sizeof script, "%s/peers/%s", LT_BENCH_DIR, h->script);
  h->is_there = program != NULL && lt_peer_start(&h->peer, (const char *const[]){program, script, h->arg, NULL}) &&
                lt_peer_ask(&h->peer, "name", h->name, sizeof h->name);
}

static void host_turn(host *h, unsigned program) {
  static char answer[ANSWER_BYTES];
  char line[WHAT_BYTES];
  snprintf(line, sizeof line, "%s %d", asked[program], RUNS);
  h->is_there = h->is_there && lt_peer_ask(&h->peer, line, answer, sizeof answer);
  char *at = answer, *end;
  for (double ns; h->is_there && (ns = strtod(at, &end), end != at); at = end) {
    lt_measure_add(&h->samples[program], ns);
  }
}

static void host_print(host *h, unsigned program) {
  char what[2 * WHAT_BYTES];
  snprintf(what, sizeof what, "  %s%s", h->what, h->is_peer ? h->is_there ? h->name : h->arg : "");
  if (h->samples[program].count == 0) {
    lt_measure_skip(what, "it did not start: make node, scripts/setup.sh bench, LATHE_BENCH_MONTY");
    return;
  }
  lt_measure *ours = &hosts[OURS_IN_NODE].samples[program];
  lt_measure_print(&(lt_measure_line){.what = what,
                                      .samples = &h->samples[program],
                                      .peer = h->is_peer ? ours : NULL,
                                      .peer_name = "lathe in Node.js"});
}

/* --- What importing costs ----------------------------------------------------------------------------------------- */
/* library.py prints nanoseconds and two numbers of bytes. */
static void measure_import(void) {
  const char *python = lt_peer_find("LATHE_BENCH_PYTHON", "python3");
  const char *const argv[] = {python, LT_BENCH_DIR "/peers/library.py", "import", NULL};
  lt_measure figures[3];
  for (int k = 0; k < 3; k++) {
    lt_measure_init(&figures[k]);
  }
  for (int i = 0; i < IMPORTS && python != NULL; i++) {
    char answer[ANSWER_BYTES];
    lt_peer peer;
    if (lt_peer_start(&peer, argv) && fgets(answer, sizeof answer, peer.from) != NULL) {
      char *at = answer;
      for (int k = 0; k < 3; k++) {
        lt_measure_add(&figures[k], strtod(at, &at));
      }
    }
    lt_peer_close(&peer);
  }
  if (figures[0].count == 0) {
    lt_measure_skip("Python, import lathe", "it did not start");
    return;
  }
  lt_measure_print_ns("Python, import lathe", &figures[0], 0);
  lt_measure_print(&(lt_measure_line){
      .what = "  memory of the process's own that it takes", .samples = &figures[1], .unit = LT_MEASURE_BYTES});
  lt_measure_print(&(lt_measure_line){
      .what = "  … and the first sandbox, with its first program", .samples = &figures[2], .unit = LT_MEASURE_BYTES});
  lt_measure_release(&figures[1]);
  lt_measure_release(&figures[2]);
}

/* --- In turn ------------------------------------------------------------------------------------------------------ */
static void measure_program(lathe_env *env, unsigned program) {
  static const char *const what[] = {"1+2: C, lathe_run", "one call of a function of the host: C, lathe_run"};
  lt_measure blocking, started;
  lt_measure_init(&blocking);
  lt_measure_init(&started);
  for (int i = 0; i < TURNS; i++) {
    turn_in_c(env, run_blocking, program, &blocking);
    turn_in_c(env, run_started, program, &started);
    for (unsigned k = 0; k < HOSTS; k++) {
      host_turn(&hosts[k], program);
    }
  }
  lt_measure_print_ns(what[program], &blocking, 0);
  lt_measure_print_ns("  C, lathe_start and lathe_next", &started, 0);
  for (unsigned k = 0; k < HOSTS; k++) {
    host_print(&hosts[k], program);
  }
  for (unsigned k = 0; k < HOSTS; k++) {
    lt_measure_release(&hosts[k].samples[program]);
  }
}

void lt_bench_library(void) {
  const lathe_tool_options add = {.size = sizeof add, .name = "add"};
  lathe_error error = {.size = sizeof error};
  lathe_env *env = NULL;
  if (lathe_open(NULL, &env, &error) != LATHE_OK || lathe_add_tool(env, &add, &error) != LATHE_OK) {
    lt_measure_skip("library", "%s", error.message);
    lathe_close(env);
    return;
  }
  for (unsigned k = 0; k < HOSTS; k++) {
    host_open(&hosts[k]);
  }
  for (unsigned program = 0; program < PROGRAMS; program++) {
    measure_program(env, program);
  }
  for (unsigned k = 0; k < HOSTS; k++) {
    lt_peer_close(&hosts[k].peer);
  }
  lathe_close(env);
  measure_import();
}
