/* Lathe as a client's MCP server (lathe mcp), beside its parts alone: the same call made of the server directly, one
 * fsync. Messages go over pipes or HTTP as a client sends them, so what is left is what Lathe costs. With
 * LATHE_BENCH_EXECUTOR set to the program of npm's `executor`, that one does the same. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/measure.h"
#include "bench/peer.h"

enum {
  CALLS = 400,
  WARM_UP = 40,
  HTTP_CALLS = 4000,
  HTTP_WARM_UP = 400,
  EXECUTOR_CALLS = 60,
  EXECUTOR_WARM_UP = 10,
  STARTS = 30,
  SERVERS = 5,
  TOOLS = 5000,
  LISTS = 10,
  MORE_CALLS = 50,
  ANSWER_BYTES = 16 * 1024 * 1024,
};

#define TARGET_START_NS   15e6
#define TARGET_EXECUTE_NS 200e3
#define TARGET_CALL_NS    100e3

#define HELLO                                                                                               \
  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"," \
  "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define LIST        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}"
#define CALL(name, arguments)                                                                                          \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":" arguments \
  "}}"
#define CODE(code)  CALL("execute_code", "{\"code\":\"" code "\"}")
#define FAKE_SERVER LT_BENCH_DIR "/../tests/fakes/mcp_server.mjs"

typedef struct gateway_bench {
  char folder[64]; /* everything that Lathe writes */
  char config[128];
  const char *lathe, *node;
  char *answer; /* ANSWER_BYTES */
} gateway_bench;

/* --- A client ----------------------------------------------------------------------------------------------------- */
static bool gateway_connect(gateway_bench *b, const char *const *argv, lt_peer *peer) {
  return lt_peer_start(peer, argv) && lt_peer_ask(peer, HELLO, b->answer, ANSWER_BYTES) &&
         fputs(INITIALIZED, peer->to) >= 0;
}

static bool gateway_connect_lathe(gateway_bench *b, lt_peer *peer) {
  return gateway_connect(b, (const char *const[]){b->lathe, "mcp", "--config", b->config, NULL}, peer);
}

static bool gateway_connect_fake(gateway_bench *b, lt_peer *peer) {
  return gateway_connect(b, (const char *const[]){b->node, FAKE_SERVER, NULL}, peer);
}

/* Asks once, and adds the time. False: no answer, or an error. */
static bool gateway_ask(gateway_bench *b, lt_peer *peer, const char *line, lt_measure *m) {
  double start = lt_measure_now();
  if (!lt_peer_ask(peer, line, b->answer, ANSWER_BYTES) || strstr(b->answer, "\"isError\":true") != NULL ||
      strstr(b->answer, "\"error\":{") != NULL) {
    return false;
  }
  if (m != NULL) {
    lt_measure_add(m, lt_measure_now() - start);
  }
  return true;
}

static void gateway_write_config(gateway_bench *b, const char *text) {
  FILE *file = fopen(b->config, "we");
  if (file != NULL) {
    fputs(text, file);
    fclose(file);
  }
}

static void gateway_configure(gateway_bench *b, unsigned servers, unsigned tools, const char *more) {
  char text[8192];
  size_t n = (size_t)snprintf(text, sizeof text, "{\"mcpServers\":{");
  for (unsigned i = 0; i < servers; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "%s\"fake%u\":{\"command\":\"%s\",\"args\":[\"" FAKE_SERVER "\"",
                          i > 0 ? "," : "", i, b->node);
    if (tools > 0) {
      n += (size_t)snprintf(text + n, sizeof text - n, ",\"--tools=%u\"", tools);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "]}");
  }
  snprintf(text + n, sizeof text - n, "}%s}", more);
  gateway_write_config(b, text);
}

/* Fills the cache with the servers' lists. */
static void gateway_list_once(gateway_bench *b) {
  double ns;
  (void)lt_peer_run((const char *const[]){b->lathe, "tools", "--config", b->config, NULL}, &ns);
}

/* --- Starting ----------------------------------------------------------------------------------------------------- */
static void gateway_measure_start(gateway_bench *b) {
  lt_measure lathe, cat;
  lt_measure_init(&lathe);
  lt_measure_init(&cat);
  gateway_configure(b, SERVERS, 20, "");
  gateway_list_once(b);
  for (int i = 0; i < STARTS; i++) {
    lt_peer peer;
    double start = lt_measure_now();
    if (lt_peer_start(&peer, (const char *const[]){b->lathe, "mcp", "--config", b->config, NULL}) &&
        lt_peer_ask(&peer, HELLO, b->answer, ANSWER_BYTES) && lt_peer_ask(&peer, LIST, b->answer, ANSWER_BYTES)) {
      lt_measure_add(&lathe, lt_measure_now() - start);
    }
    lt_peer_close(&peer);
    start = lt_measure_now();
    if (lt_peer_start(&peer, (const char *const[]){"/bin/cat", NULL}) &&
        lt_peer_ask(&peer, HELLO, b->answer, ANSWER_BYTES)) {
      lt_measure_add(&cat, lt_measure_now() - start);
    }
    lt_peer_close(&peer);
  }
  lt_measure_print(&(lt_measure_line){.what = "start, initialize, tools/list; 5 servers, lists of the last time",
                                      .samples = &lathe,
                                      .target = TARGET_START_NS,
                                      .peer = &cat,
                                      .peer_name = "/bin/cat"});
  lt_measure_release(&lathe);
  lt_measure_release(&cat);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
enum { DIRECT, SUM, READ, READS, WRITE, WRITES, SYNC, ROWS };

static void gateway_sync(const gateway_bench *b, lt_measure *m) {
  char path[96], page[4096] = {0};
  snprintf(path, sizeof path, "%s/sync", b->folder);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  double start = lt_measure_now();
  if (fd >= 0 && write(fd, page, sizeof page) == (ssize_t)sizeof page && fdatasync(fd) == 0) {
    lt_measure_add(m, lt_measure_now() - start);
  }
  close(fd);
}

/* What one more call in a program costs, beyond the same call made directly. */
static void gateway_print_more(const char *what, lt_measure *one, lt_measure *many, lt_measure *direct, double target) {
  double more = (lt_measure_median(many) - lt_measure_median(one)) / MORE_CALLS - lt_measure_median(direct);
  lt_measure_print_one(what, LT_MEASURE_NS, more, target);
}

static void gateway_print_calls(lt_measure *m) {
  lt_measure_print_ns("execute_code of 1+2, over stdio", &m[SUM], TARGET_EXECUTE_NS);
  lt_measure_print(&(lt_measure_line){.what = "execute_code with one read-only call of a fake server in Node",
                                      .samples = &m[READ],
                                      .peer = &m[DIRECT],
                                      .peer_name = "the call made directly"});
  gateway_print_more("  a further read-only call of a program, beyond a direct one", &m[READ], &m[READS], &m[DIRECT],
                     TARGET_CALL_NS);
  lt_measure_print(&(lt_measure_line){.what = "execute_code with one call that has an effect: the run is stored",
                                      .samples = &m[WRITE],
                                      .peer = &m[DIRECT],
                                      .peer_name = "the call made directly"});
  gateway_print_more("  a further call with an effect, beyond a direct one", &m[WRITE], &m[WRITES], &m[DIRECT], 0);
  lt_measure_print_ns("  the same call made directly", &m[DIRECT], 0);
  lt_measure_print_ns("  4 KB written and synced (fdatasync)", &m[SYNC], 0);
}

static void gateway_measure_calls(gateway_bench *b) {
  static const char *const lines[] = {
      [SUM] = CODE("1+2"),
      [READ] = CODE("fake0Echo({text:'hello'})"),
      [READS] = CODE("for (let i = 0; i < 51; i++) fake0Echo({text:'hello'}); 1"),
      [WRITE] = CODE("fake0Add({a:1,b:2})"),
      [WRITES] = CODE("for (let i = 0; i < 51; i++) fake0Add({a:1,b:2}); 1"),
  };
  lt_measure m[ROWS];
  lt_peer lathe, fake;
  for (int row = 0; row < ROWS; row++) {
    lt_measure_init(&m[row]);
  }
  gateway_configure(b, 1, 0, "");
  bool is_up = gateway_connect_lathe(b, &lathe) && gateway_connect_fake(b, &fake);
  for (int i = 0; is_up && i < CALLS + WARM_UP; i++) {
    is_up = gateway_ask(b, &fake, CALL("echo", "{\"text\":\"hello\"}"), i < WARM_UP ? NULL : &m[DIRECT]);
    for (int row = SUM; is_up && row <= WRITES; row++) {
      bool is_long = row == READS || row == WRITES;
      is_up = (is_long && i % 20 != 0) || gateway_ask(b, &lathe, lines[row], i < WARM_UP ? NULL : &m[row]);
    }
    gateway_sync(b, &m[SYNC]);
  }
  if (is_up) {
    gateway_print_calls(m);
  } else {
    lt_measure_skip("execute_code", "lathe mcp or the fake server, a Node program, did not answer: %.200s", b->answer);
  }
  lt_peer_close(&lathe);
  lt_peer_close(&fake);
  for (int row = 0; row < ROWS; row++) {
    lt_measure_release(&m[row]);
  }
}

/* --- Over HTTP ---------------------------------------------------------------------------------------------------- */
#define HTTP_SUM                                                                                                 \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"execute_code\",\"arguments\":" \
  "{\"code\":\"1+2\"},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                    \
  "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"

/* The bytes that bench/gateway-http.mjs sends. */
static void gateway_write_http_request(const lt_load_server *server, char *ret_request, size_t room) {
  snprintf(ret_request, room,
           "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:%u\r\ncontent-type: application/json\r\n"
           "accept: application/json, text/event-stream\r\ncontent-length: %zu\r\n"
           "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: execute_code\r\n\r\n" HTTP_SUM,
           server->port, strlen(HTTP_SUM));
}

/* False: an answer did not come, or is not 3. */
static bool gateway_ask_over_http(gateway_bench *b, const lt_load_server *server, lt_measure *m) {
  char request[1024];
  int fd = lt_load_connect(server, 0);
  bool is_right = fd >= 0;
  gateway_write_http_request(server, request, sizeof request);
  for (int i = 0; is_right && i < HTTP_CALLS + HTTP_WARM_UP; i++) {
    double start = lt_measure_now();
    is_right = lt_load_ask(fd, request, b->answer, ANSWER_BYTES);
    double end = lt_measure_now();
    is_right = is_right && strstr(b->answer, "\"text\":\"3\"") != NULL;
    if (is_right && i >= HTTP_WARM_UP) {
      lt_measure_add(m, end - start);
    }
  }
  if (fd >= 0) {
    close(fd);
  }
  return is_right;
}

/* A lean client: bench/gateway-http.mjs shows many clients at once, and its own time is in every figure there. */
static void gateway_measure_http(gateway_bench *b) {
  const char *what = "execute_code of 1+2, over HTTP, one connection that stays open";
  lt_load_server server;
  lt_measure m;
  lt_measure_init(&m);
  b->answer[0] = '\0';
  gateway_write_config(b, "{}");
  if (lt_load_server_start(
          &server, (const char *const[]){b->lathe, "mcp", "--http", "127.0.0.1:0", "--config", b->config, NULL}) &&
      gateway_ask_over_http(b, &server, &m)) {
    lt_measure_print_ns(what, &m, TARGET_EXECUTE_NS);
  } else {
    lt_measure_skip(what, "lathe mcp --http did not answer with 3: %.200s", b->answer);
  }
  lt_load_server_stop(&server);
  lt_measure_release(&m);
}

/* --- Many tools --------------------------------------------------------------------------------------------------- */
static void gateway_measure_many(gateway_bench *b) {
  lt_measure list, first, search;
  lt_peer lathe;
  lt_measure_init(&list);
  lt_measure_init(&first);
  lt_measure_init(&search);
  gateway_configure(b, 1, TOOLS, ",\"tools\":{\"expose\":[{\"match\":\"fake0.*\",\"as\":\"both\"}]}");
  gateway_list_once(b);
  bool is_up = gateway_connect_lathe(b, &lathe) && gateway_ask(b, &lathe, LIST, &first);
  size_t bytes = strlen(b->answer);
  for (int i = 0; is_up && i < LISTS; i++) {
    is_up = gateway_ask(b, &lathe, LIST, &list) &&
            gateway_ask(b, &lathe, CALL("search_tools", "{\"query\":\"tool number 77\"}"), &search);
  }
  lt_peer_close(&lathe);
  if (is_up) {
    lt_measure_print_ns("tools/list of 5,000 tools that are passed through", &list, 0);
    lt_measure_print_one("  its answer", LT_MEASURE_BYTES, (double)bytes, 0);
    lt_measure_print_ns("search_tools among 5,000", &search, 0);
  } else {
    lt_measure_skip("tools/list of 5,000 tools", "lathe mcp did not answer: %.200s", b->answer);
  }
  lt_measure_release(&list);
  lt_measure_release(&first);
  lt_measure_release(&search);
}

/* --- npm's executor ----------------------------------------------------------------------------------------------- */
static void gateway_measure_executor(gateway_bench *b) {
  const char *program = getenv("LATHE_BENCH_EXECUTOR");
  lt_measure m;
  lt_peer peer;
  if (program == NULL || program[0] == '\0') {
    lt_measure_skip("  npm's executor: execute of 1+2", "LATHE_BENCH_EXECUTOR does not name its program");
    return;
  }
  lt_measure_init(&m);
  setenv("HOME", b->folder, 1);
  bool is_up = gateway_connect(b, (const char *const[]){program, "mcp", "--scope", b->folder, NULL}, &peer);
  for (int i = 0; is_up && i < EXECUTOR_CALLS; i++) {
    is_up = gateway_ask(b, &peer, CALL("execute", "{\"code\":\"return 1+2\"}"), i < EXECUTOR_WARM_UP ? NULL : &m);
  }
  if (peer.pid > 0) {
    kill(peer.pid, SIGKILL); /* it does not end with its input */
  }
  lt_peer_close(&peer);
  if (m.count > 0) {
    lt_measure_print_ns("  npm's executor: execute of 1+2, over stdio", &m, 0);
  } else {
    lt_measure_skip("  npm's executor: execute of 1+2", "%s did not answer", program);
  }
  lt_measure_release(&m);
}

void lt_bench_gateway(void) {
  gateway_bench b = {.lathe = lt_peer_find_lathe(), .node = lt_peer_find("LATHE_BENCH_NODE", "node")};
  strcpy(b.folder, "/tmp/lathe-bench-XXXXXX");
  b.answer = malloc(ANSWER_BYTES);
  if (b.node == NULL || b.answer == NULL || mkdtemp(b.folder) == NULL) {
    lt_measure_skip("lathe mcp", "there is no node here for a fake server");
    return;
  }
  snprintf(b.config, sizeof b.config, "%s/lathe.yaml", b.folder);
  setenv("XDG_STATE_HOME", b.folder, 1);
  setenv("XDG_CONFIG_HOME", b.folder, 1);
  setenv("XDG_CACHE_HOME", b.folder, 1);
  gateway_measure_start(&b);
  gateway_measure_calls(&b);
  gateway_measure_http(&b);
  gateway_measure_executor(&b);
  gateway_measure_many(&b);
  free(b.answer);
  double ns;
  (void)lt_peer_run((const char *const[]){"rm", "-rf", b.folder, NULL}, &ns);
}
