/* An MCP server's answer through our client, beside the bare exchange of one line for one line over the same kind of
 * pipes with the same runtime: what is left is what the protocol, the loop and the checking cost. */
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/rig.h"
#include "mcp/mcp_client.h"

enum { CALLS = 2000, WARM_UP = 300, ANSWER_BYTES = 4096 };

#define ARGUMENTS "{\"text\":\"hello\"}"

static void measure_bare(lt_measure *m) {
  lt_peer peer;
  char answer[ANSWER_BYTES];
  if (!lt_peer_open(&peer, "echo.mjs")) {
    return;
  }
  const char *line =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":" ARGUMENTS
      "}}";
  for (int i = 0; i < CALLS + WARM_UP; i++) {
    double start = lt_measure_now();
    if (!lt_peer_ask(&peer, line, answer, sizeof answer)) {
      break;
    }
    if (i >= WARM_UP) {
      lt_measure_add(m, lt_measure_now() - start);
    }
  }
  lt_peer_close(&peer);
}

static bool call(lt_mcp *mcp, lt_measure *m) {
  lt_mcp_result result;
  double start = lt_measure_now();
  if (lt_mcp_call(mcp, LT_STR("echo"), LT_STR(ARGUMENTS), NULL, &result, NULL) != LT_OK) {
    return false;
  }
  lt_measure_add(m, lt_measure_now() - start);
  lt_mcp_result_release(&result);
  return true;
}

static void measure_client(lt_rig *rig, void *arg) {
  lt_measure *m = arg;
  lt_measure cold;
  lt_measure_init(&cold);
  const char *node = lt_peer_find("LATHE_BENCH_NODE", "node");
  const char *args[] = {LT_BENCH_DIR "/../tests/fakes/mcp_server.mjs", NULL};
  lt_mcp_options options = {.name = LT_STR("fake"), .command = node != NULL ? node : "node", .args = args};
  lt_mcp *mcp = NULL;
  LT_CHECK(lt_mcp_open(rig->loop, &options, &mcp, NULL) == LT_OK);
  if (lt_mcp_wait_ready(mcp, NULL) == LT_OK) {
    for (int i = 0; i < CALLS + WARM_UP && call(mcp, i < WARM_UP ? &cold : m); i++) {
    }
  }
  lt_mcp_close(mcp);
  lt_measure_release(&cold);
}

void lt_bench_mcp(void) {
  lt_measure bare, client;
  lt_measure_init(&bare);
  lt_measure_init(&client);
  lt_rig_run(50, measure_client, &client);
  measure_bare(&bare);
  if (client.count == 0) {
    lt_measure_skip("tools/call over stdio", "the fake server, a Node program, could not be started");
  } else {
    lt_measure_print(&(lt_measure_line){.what = "tools/call over stdio: our client, a fake server in Node",
                                        .samples = &client,
                                        .peer = &bare,
                                        .peer_name = "a bare echo"});
    lt_measure_print_ns("  a bare echo of one line in Node", &bare, 0);
  }
  lt_measure_release(&bare);
  lt_measure_release(&client);
}
