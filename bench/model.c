/* What asking a model costs beyond the model (crowd.h): a completion through the service, beside the bare exchange of
 * the same bytes over one connection; then a thousand at once. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/crowd.h"
#include "bench/measure.h"
#include "text/sse.h"
#include "model/model.h"
#include "model/completion_wire.h"

enum { ROUNDS = 50, EVENTS = 1000, ASKED = 2000, WARM_UP = 300, AT_ONCE = 1000, MODEL_MS = 200 };

#define MESSAGES "[{\"role\":\"user\",\"content\":\"hi there, model\"}]"

/* --- Bare --------------------------------------------------------------------------------------------------------- */

static int dial(int port) {
  struct sockaddr_in at = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ? fd : -1;
}

static bool exchange(int fd, const char *request, size_t n) {
  static char answer[65536];
  size_t got = 0;
  if (write(fd, request, n) != (ssize_t)n) {
    return false;
  }
  for (;;) {
    ssize_t more = read(fd, answer + got, sizeof answer - got);
    if (more <= 0) {
      return false;
    }
    got += (size_t)more;
    if (got >= 8 && memcmp(answer + got - 8, "[DONE]\n\n", 8) == 0) {
      return true;
    }
  }
}

static void measure_bare(int port, lt_measure *m) {
  static const char body[] = "{\"model\":\"fake-model\",\"messages\":" MESSAGES
                             ",\"max_tokens\":4096,\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
  char request[1024];
  int n = snprintf(request, sizeof request,
                   "POST /normal/bare/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                   "application/json\r\nAccept: text/event-stream, application/json\r\nUser-Agent: "
                   "bare\r\nContent-Length: %zu\r\n\r\n%s",
                   port, sizeof body - 1, body);
  int fd = dial(port);
  for (int i = 0; fd >= 0 && i < ASKED + WARM_UP; i++) {
    double since = lt_measure_now();
    if (!exchange(fd, request, (size_t)n)) {
      break;
    }
    if (i >= WARM_UP) {
      lt_measure_add(m, lt_measure_now() - since);
    }
  }
  close(fd);
}

/* --- Through the service ------------------------------------------------------------------------------------------ */

typedef struct rig {
  lt_loop *loop;
  lt_http *http;
  int port;
  lt_measure *samples;
  lt_measure *cpu; /* our own, per round; may be NULL */
  size_t left;
  size_t failed;
  lt_wait done;
} rig;

static bool ask(rig *r, const char *behaviour) {
  char url[128];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/%s/bench/v1", r->port, behaviour);
  lt_model model = {.name = LT_STR("fake-model"), .base_url = lt_str_of(url)};
  lt_completion_request request = {.model = &model, .messages = LT_STR(MESSAGES)};
  lt_completion completion;
  lt_completion_init(&completion);
  bool ok = lt_model_complete(r->http, &request, &completion, NULL) == LT_OK && completion.retries == 0;
  lt_completion_release(&completion);
  return ok;
}

static void ask_in_turn(void *arg) {
  rig *r = arg;
  for (int i = 0; i < ASKED + WARM_UP; i++) {
    double since = lt_measure_now();
    if (!ask(r, "normal")) {
      break;
    }
    if (i >= WARM_UP) {
      lt_measure_add(r->samples, lt_measure_now() - since);
    }
  }
}

static void ask_slow(void *arg) {
  rig *r = arg;
  r->failed += ask(r, "slow") ? 0 : 1;
  r->left--;
  lt_wait_wake(&r->done, LT_OK);
}

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void ask_at_once(void *arg) {
  rig *r = arg;
  lt_wait_init(&r->done, r->loop);
  for (int round = 0; round < 5; round++) {
    double since = lt_measure_now();
    double cpu = cpu_now();
    r->left = AT_ONCE;
    for (int i = 0; i < AT_ONCE; i++) {
      LT_CHECK(lt_loop_spawn(r->loop, ask_slow, r, NULL) == LT_OK);
    }
    while (r->left > 0) {
      lt_wait_on(&r->done, UINT64_MAX);
    }
    lt_measure_add(r->samples, lt_measure_now() - since);
    lt_measure_add(r->cpu, cpu_now() - cpu);
  }
}

static size_t with_service(int port, void (*body)(void *arg), lt_measure *m, lt_measure *cpu) {
  rig r = {.port = port, .samples = m, .cpu = cpu};
  LT_CHECK(lt_loop_new(&r.loop, NULL) == LT_OK);
  LT_CHECK(lt_http_new(r.loop, &r.http, NULL) == LT_OK);
  LT_CHECK(lt_loop_spawn(r.loop, body, &r, NULL) == LT_OK);
  lt_loop_run(r.loop);
  lt_http_free(r.http);
  lt_loop_free(r.loop);
  return r.failed;
}

/* A connection each, at both ends. */
static void allow_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

static void print_at_once(lt_measure *m, lt_measure *cpu, size_t failed) {
  if (failed > 0) {
    lt_measure_skip("1,000 completions at once of a model that takes 200 ms", "%zu of them failed", failed);
  } else {
    lt_measure_print_ns("1,000 completions at once of a model that takes 200 ms", m, 2 * MODEL_MS * 1e6);
    lt_measure_print_ns("  of which our own processor time", cpu, 0);
  }
}

/* What a token costs on its way from the bytes to the text. */
static void measure_events(lt_measure *m) {
  static const char event[] =
      "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\","
      "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"finish_reason\":null}]}\n\n";
  lt_model model = {.name = LT_STR("m")};
  lt_completion_request request = {.model = &model};
  for (int round = 0; round < ROUNDS; round++) {
    lt_completion completion;
    lt_assembly assembly;
    lt_sse sse;
    lt_sse_event e;
    lt_completion_init(&completion);
    lt_assembly_init(&assembly, &lt_chat_completions_wire, &request, &completion);
    lt_sse_init(&sse, LT_MODEL_EVENT_MAX_BYTES);
    double since = lt_measure_now();
    for (int i = 0; i < EVENTS; i++) {
      LT_CHECK(lt_sse_add(&sse, lt_str_from(event, sizeof event - 1)) == LT_OK && lt_sse_next(&sse, &e));
      LT_CHECK(lt_assembly_event(&assembly, e.event, e.data, NULL) == LT_OK);
    }
    lt_measure_add(m, (lt_measure_now() - since) / EVENTS);
    lt_sse_release(&sse);
    lt_assembly_release(&assembly);
    lt_completion_release(&completion);
  }
}

static void measure_one(lt_measure *ours, lt_measure *bare) {
  lt_crowd_model model;
  if (!lt_crowd_model_start(&model, 0, "Hello, world")) {
    return;
  }
  with_service(model.port, ask_in_turn, ours, NULL);
  measure_bare(model.port, bare);
  lt_crowd_model_stop(&model);
}

static size_t measure_crowd(lt_measure *crowd, lt_measure *cpu) {
  lt_crowd_model model;
  if (!lt_crowd_model_start(&model, MODEL_MS, "Hello, world")) {
    return AT_ONCE;
  }
  size_t failed = with_service(model.port, ask_at_once, crowd, cpu);
  lt_crowd_model_stop(&model);
  return failed;
}

void lt_bench_model(void) {
  lt_measure bare, ours, crowd, cpu, events;
  lt_measure_init(&bare);
  lt_measure_init(&ours);
  lt_measure_init(&crowd);
  lt_measure_init(&cpu);
  lt_measure_init(&events);
  allow_files();
  measure_one(&ours, &bare);
  size_t failed = measure_crowd(&crowd, &cpu);
  lt_measure_print(&(lt_measure_line){.what = "a completion of a model that takes no time",
                                      .samples = &ours,
                                      .target = 1e6,
                                      .peer = &bare,
                                      .peer_name = "a bare exchange of the same bytes"});
  lt_measure_print_ns("  a bare exchange of the same bytes", &bare, 0);
  measure_events(&events);
  lt_measure_print_ns("  an event of a stream (batches of 1,000)", &events, 0);
  print_at_once(&crowd, &cpu, failed);
  lt_measure_release(&ours);
  lt_measure_release(&bare);
}
