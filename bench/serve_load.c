/* `lathe serve` under load, as its clients see it: prompts until their end, programs beside other sandboxes behind a
 * Node server, readers of events, and what a reader that does not read costs the others. The model is a stub that
 * answers at once; each prompt begins a conversation, so each has a title made, too. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/load.h"
#include "bench/memory.h"
#include "bench/peer.h"

enum {
  ROUNDS = 3,
  CROWD = 1000,
  PROMPT_SECONDS = 3,
  CROWD_SECONDS = 8,
  RUN_SECONDS = 1,
  READERS = 1000,
  IDLE_MS = 3000,
  STARTS = 15,
  SERVERS = 5
};
enum {
  SLOW_RECEIVE_BYTES = 4096,
  SLOW_SECONDS = 2,
  HEAD_MS = 10000,
  SETTLE_MS = 4000,
  SETTLE_STEP_MS = 250,
  READ_BYTES = 65536
};

#define PROGRAM     "output(\\\"hello\\\");\\ndone();"
#define EVENTS      "text/event-stream"
#define FAKE_SERVER LT_BENCH_DIR "/../tests/fakes/mcp_server.mjs"

typedef struct serve_bench {
  char folder[64]; /* everything that Lathe writes */
  char config[128];
  const char *lathe;
  const char *node; /* for peers: the newest there is */
  lt_crowd_model model;
  lt_load_server server;
} serve_bench;

/* --- Servers ------------------------------------------------------------------------------------------------------ */
static void serve_load_write_config(const serve_bench *b, unsigned servers) {
  FILE *file = fopen(b->config, "we");
  if (file == NULL) {
    return;
  }
  fputs("{\"mcpServers\":{", file);
  for (unsigned i = 0; i < servers; i++) {
    fprintf(file, "%s\"fake%u\":{\"command\":\"%s\",\"args\":[\"" FAKE_SERVER "\",\"--tools=20\"]}", i > 0 ? "," : "",
            i, b->node);
  }
  fputs("}}", file);
  fclose(file);
}

static bool serve_load_start_lathe(serve_bench *b) {
  return lt_load_server_start(
      &b->server, (const char *const[]){b->lathe, "serve", "--listen", "127.0.0.1:0", "--config", b->config, NULL});
}

/* The model is the collector, too: it answers whatever it is sent. */
static bool serve_load_start_traced(serve_bench *b) {
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d", b->model.port);
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1);
  bool is_up = serve_load_start_lathe(b);
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  return is_up;
}

static bool serve_load_start_peer(serve_bench *b, const char *sandbox) {
  return lt_load_server_start(
      &b->server, (const char *const[]){b->node, "--no-node-snapshot", LT_BENCH_DIR "/peers/run.mjs", sandbox, NULL});
}

/* Waits until the server is idle: titles of the prompts before are still made. */
static void serve_load_settle(const serve_bench *b) {
  double used = lt_memory_cpu(b->server.pid);
  bool is_busy = true;
  for (int ms = 0; ms < SETTLE_MS && is_busy; ms += SETTLE_STEP_MS) {
    usleep(SETTLE_STEP_MS * 1000);
    double now = lt_memory_cpu(b->server.pid);
    is_busy = now - used > SETTLE_STEP_MS * 1e6 / 50;
    used = now;
  }
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static void serve_load_print_prompts(const char *mode, unsigned connections, lt_measure *latency,
                                     const lt_load_seen *seen) {
  char what[128];
  snprintf(what, sizeof what, "POST /prompt to prompt.completed, mode %s, %u at once", mode, connections);
  if (seen->failed > 0 || seen->rate == 0) {
    lt_measure_skip(what, "%.0f of them did not end as they should, and %.0f a second did", seen->failed, seen->rate);
    return;
  }
  lt_measure_print_ns(what, latency, 0);
  lt_measure_print_one("  prompts in a second", LT_MEASURE_COUNT, seen->rate, 0);
}

static void serve_load_prompts(const serve_bench *b, const char *mode, unsigned connections) {
  char body[128];
  lt_measure latency;
  lt_load_seen seen;
  lt_measure_init(&latency);
  snprintf(body, sizeof body, "{\"input\":\"What is in src?\",\"mode\":\"%s\"}", mode);
  const lt_load load = {.path = "/prompt",
                        .body = body,
                        .expected = "\"prompt.completed\"",
                        .accept = EVENTS,
                        .connections = connections,
                        .seconds = connections < CROWD ? PROMPT_SECONDS : CROWD_SECONDS};
  if (lt_load_run(&b->server, &load, &latency, &seen)) {
    serve_load_print_prompts(mode, connections, &latency, &seen);
  } else {
    lt_measure_skip("POST /prompt", "wrk is not here");
  }
  serve_load_settle(b);
  lt_measure_release(&latency);
}

static void serve_load_measure_prompts(const serve_bench *b) {
  static const unsigned crowds[] = {1, 100, CROWD};
  static const char *const modes[] = {"code", "classic"};
  for (unsigned mode = 0; mode < sizeof modes / sizeof modes[0]; mode++) {
    for (unsigned i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
      serve_load_prompts(b, modes[mode], crowds[i]);
    }
  }
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
static const struct {
  const char *sandbox; /* of peers/run.mjs; NULL: lathe serve */
  const char *what;
  bool is_traced;
} runners[] = {
    {NULL, "POST /run of 1+2", false},
    {NULL, "  lathe serve that sends traces", true},
    {"quickjs-emscripten", "  a Node server with quickjs-emscripten", false},
    {"isolated-vm", "  a Node server with isolated-vm, an isolate for each request", false},
    {"isolated-vm-context", "  a Node server with isolated-vm, a context in one isolate", false},
};
enum { RUNNERS = sizeof runners / sizeof runners[0] };

typedef struct serve_load_runs {
  lt_measure latency, rate;
  double failed;
} serve_load_runs;

static void serve_load_run_once(const serve_bench *b, unsigned connections, serve_load_runs *runs) {
  const lt_load load = {.path = "/run",
                        .body = "{\"code\":\"1+2\"}",
                        .expected = "\"text\":\"3\"",
                        .connections = connections,
                        .seconds = RUN_SECONDS};
  lt_load_seen seen;
  if (lt_load_run(&b->server, &load, &runs->latency, &seen)) {
    lt_measure_add(&runs->rate, seen.rate);
    runs->failed += seen.failed;
  }
}

static void serve_load_print_runs(unsigned connections, serve_load_runs *runs) {
  char what[128];
  for (unsigned i = 0; i < RUNNERS; i++) {
    snprintf(what, sizeof what, "%s, %u at once", runners[i].what, connections);
    if (runs[i].rate.count == 0 || runs[i].failed > 0) {
      lt_measure_skip(what, runs[i].rate.count == 0 ? "it did not start" : "not all answers were right");
      continue;
    }
    lt_measure_print(&(lt_measure_line){.what = what, .samples = &runs[i].latency});
    lt_measure_print(&(lt_measure_line){.what = "  programs in a second",
                                        .samples = &runs[i].rate,
                                        .unit = LT_MEASURE_COUNT,
                                        .peer = i > 0 ? &runs[0].rate : NULL,
                                        .peer_name = "lathe serve"});
  }
}

/* In turn, so that all have the same neighbours. */
static void serve_load_measure_runs(serve_bench *b, unsigned connections) {
  serve_load_runs runs[RUNNERS] = {0};
  lt_load_server servers[RUNNERS], lathe = b->server;
  bool is_up[RUNNERS];
  for (unsigned i = 0; i < RUNNERS; i++) {
    is_up[i] = runners[i].is_traced         ? serve_load_start_traced(b)
               : runners[i].sandbox != NULL ? serve_load_start_peer(b, runners[i].sandbox)
                                            : true;
    servers[i] = b->server;
  }
  for (unsigned i = 0; i < ROUNDS * RUNNERS; i++) {
    b->server = servers[i % RUNNERS];
    if (is_up[i % RUNNERS]) {
      serve_load_run_once(b, connections, &runs[i % RUNNERS]);
    }
  }
  serve_load_print_runs(connections, runs);
  for (unsigned i = 0; i < RUNNERS; i++) {
    if (i > 0) {
      lt_load_server_stop(&servers[i]);
    }
    lt_measure_release(&runs[i].latency);
    lt_measure_release(&runs[i].rate);
  }
  b->server = lathe;
}

/* --- Readers ------------------------------------------------------------------------------------------------------ */
/* Whether the answer's head is there. */
static bool serve_load_await_head(int fd) {
  char bytes[READ_BYTES];
  struct pollfd one = {.fd = fd, .events = POLLIN};
  return poll(&one, 1, HEAD_MS) > 0 && read(fd, bytes, sizeof bytes) > 0 &&
         strncmp(bytes, "HTTP/1.1 200", strlen("HTTP/1.1 200")) == 0;
}

/* Opens all, and returns how many are served. */
static unsigned serve_load_open_readers(const serve_bench *b, int *fds, unsigned count) {
  unsigned served = 0;
  for (unsigned i = 0; i < count; i++) {
    fds[i] = lt_load_open_get(&b->server, "/events/stream", 0);
  }
  for (unsigned i = 0; i < count; i++) {
    served += fds[i] >= 0 && serve_load_await_head(fds[i]);
  }
  return served;
}

static void serve_load_close_readers(const int *fds, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (fds[i] >= 0) {
      close(fds[i]);
    }
  }
}

/* With all readers waiting: the time of the processors in a second, and how often a thread is woken. */
static void serve_load_measure_idle(const serve_bench *b) {
  double cpu = lt_memory_cpu(b->server.pid);
  long wakes = lt_memory_switches(b->server.pid);
  usleep(IDLE_MS * 1000);
  lt_measure_print_one("  the server's processor time in a second, while nothing happens", LT_MEASURE_NS,
                       (lt_memory_cpu(b->server.pid) - cpu) / (IDLE_MS / 1000.0), 0);
  lt_measure_print_one("  its threads' wake-ups in a second", LT_MEASURE_COUNT,
                       (double)(lt_memory_switches(b->server.pid) - wakes) / (IDLE_MS / 1000.0), 0);
}

static void serve_load_measure_readers(const serve_bench *b) {
  static int fds[READERS];
  long before = lt_memory_kib(b->server.pid, "Pss:");
  unsigned served = serve_load_open_readers(b, fds, READERS);
  long after = lt_memory_kib(b->server.pid, "Pss:");
  if (served < READERS || before < 0) {
    lt_measure_skip("1,000 readers of events", "%u are served", served);
  } else {
    lt_measure_print_one("1,000 readers of events held open: memory of each", LT_MEASURE_BYTES,
                         (double)(after - before) * 1024 / READERS, 0);
    serve_load_measure_idle(b);
  }
  serve_load_close_readers(fds, READERS);
}

/* --- A slow reader ------------------------------------------------------------------------------------------------ */
static void serve_load_beside(const serve_bench *b, bool has_slow, lt_measure *latency, lt_measure *rate) {
  const lt_load load = {.path = "/prompt",
                        .body = "{\"input\":\"What is in src?\",\"mode\":\"code\"}",
                        .expected = "\"prompt.completed\"",
                        .accept = EVENTS,
                        .connections = 100,
                        .seconds = SLOW_SECONDS};
  lt_load_seen seen;
  int slow = has_slow ? lt_load_open_get(&b->server, "/events/stream?after=0", SLOW_RECEIVE_BYTES) : -1;
  if (lt_load_run(&b->server, &load, latency, &seen) && seen.failed == 0) {
    lt_measure_add(rate, seen.rate);
  }
  if (slow >= 0) {
    close(slow);
  }
  serve_load_settle(b);
}

static void serve_load_measure_slow(const serve_bench *b) {
  lt_measure latency[2] = {{0}}, rate[2] = {{0}};
  for (unsigned i = 0; i < 2 * ROUNDS; i++) {
    serve_load_beside(b, i % 2 == 1, &latency[i % 2], &rate[i % 2]);
  }
  lt_measure_print(
      &(lt_measure_line){.what = "POST /prompt, 100 at once, beside a reader of all events that does not read",
                         .samples = &latency[1],
                         .peer = &latency[0],
                         .peer_name = "without it"});
  lt_measure_print(&(lt_measure_line){.what = "  prompts in a second",
                                      .samples = &rate[1],
                                      .unit = LT_MEASURE_COUNT,
                                      .peer = &rate[0],
                                      .peer_name = "without it"});
  for (unsigned i = 0; i < 2; i++) {
    lt_measure_release(&latency[i]);
    lt_measure_release(&rate[i]);
  }
}

/* --- Starting ----------------------------------------------------------------------------------------------------- */
static bool serve_load_is_ready(const serve_bench *b) {
  int fd = lt_load_open_get(&b->server, "/readyz", 0);
  bool is_ready = fd >= 0 && serve_load_await_head(fd);
  close(fd);
  return is_ready;
}

static void serve_load_measure_start(serve_bench *b) {
  char fresh[96]; /* a database without the prompts before */
  lt_measure m;
  double ns;
  lt_measure_init(&m);
  snprintf(fresh, sizeof fresh, "%s/fresh", b->folder);
  setenv("XDG_STATE_HOME", fresh, 1);
  serve_load_write_config(b, SERVERS);
  (void)lt_peer_run((const char *const[]){b->lathe, "tools", "--config", b->config, NULL}, &ns); /* fills the cache */
  for (int i = 0; i < STARTS; i++) {
    double start = lt_measure_now();
    bool is_up = serve_load_start_lathe(b);
    while (is_up && !serve_load_is_ready(b)) {
      usleep(200);
    }
    ns = lt_measure_now() - start;
    if (is_up) {
      lt_measure_add(&m, ns);
    }
    lt_load_server_stop(&b->server);
  }
  lt_measure_print_ns("from the start of lathe serve to GET /readyz; 5 servers, lists of the last time", &m, 0);
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */
static void serve_load_set_up(serve_bench *b) {
  char url[64];
  snprintf(b->config, sizeof b->config, "%s/lathe.yaml", b->folder);
  snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", b->model.port);
  setenv("XDG_STATE_HOME", b->folder, 1);
  setenv("XDG_CONFIG_HOME", b->folder, 1);
  setenv("XDG_CACHE_HOME", b->folder, 1);
  setenv("OPENAI_BASE_URL", url, 1);
  setenv("OPENAI_MODEL", "stub", 1);
  setenv("OPENAI_API_KEY", "", 1);
  serve_load_write_config(b, 0);
}

static void serve_load_measure(serve_bench *b) {
  if (!serve_load_start_lathe(b)) {
    lt_measure_skip("lathe serve", "it did not start");
    return;
  }
  serve_load_measure_readers(b); /* before anything else has used memory */
  serve_load_measure_prompts(b);
  serve_load_measure_runs(b, 1);
  serve_load_measure_runs(b, 100);
  serve_load_measure_slow(b);
  lt_load_server_stop(&b->server);
  serve_load_measure_start(b);
}

void lt_bench_serve(void) {
  serve_bench b = {.lathe = lt_peer_find_lathe(), .node = lt_peer_find("LATHE_BENCH_NEW_NODE", "node")};
  double ns;
  strcpy(b.folder, "/var/tmp/lathe-bench-XXXXXX"); /* where /tmp may be memory */
  if (mkdtemp(b.folder) == NULL || !lt_crowd_model_start(&b.model, 0, PROGRAM)) {
    lt_measure_skip("lathe serve", "no folder could be made in /var/tmp, or no model started");
    return;
  }
  serve_load_set_up(&b);
  serve_load_measure(&b);
  lt_crowd_model_stop(&b.model);
  (void)lt_peer_run((const char *const[]){"rm", "-rf", b.folder, NULL}, &ns);
}
