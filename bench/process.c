/* Whole processes, from before the start to after the end: ours, an empty one, and other languages' with the same
 * little program. They take turns, so that what else the machine does is everybody's share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/measure.h"

enum { ROUNDS = 40, WARM_UP = 2, ARGS = 9, SERVERS = 10, CONFIG_BYTES = 8192 };

#define TARGET_RUN_NS     5e6
#define TARGET_SERVERS_NS 10e6
#define FAKE_SERVER       LT_BENCH_DIR "/../tests/fakes/mcp_server.mjs"

typedef struct command {
  const char *what;
  const char *argv[ARGS]; /* argv[0] NULL: it is not here */
  const char *absent;     /* why not */
  double target;
  const char *cache; /* XDG_CACHE_HOME; NULL: as it is */
  bool beside_run;   /* its ratio to `lathe run`; else that to /bin/true is shown */
  int exit_code;
  lt_measure samples;
} command;

enum { TRUE, RUN_JS, RUN_SERVERS, RUN_TS, COMMANDS = 10 };

/* As lt_peer_run, with another cache folder. */
static int run_with_cache(const char *const *argv, const char *cache, double *ret_ns) {
  const char *before = getenv("XDG_CACHE_HOME");
  char *kept = before != NULL ? strdup(before) : NULL;
  setenv("XDG_CACHE_HOME", cache, 1);
  int exit_code = lt_peer_run(argv, ret_ns);
  if (kept != NULL) {
    setenv("XDG_CACHE_HOME", kept, 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
  free(kept);
  return exit_code;
}

static void turn(command *c, int round) {
  double ns;
  if (c->argv[0] == NULL) {
    return;
  }
  c->exit_code = c->cache != NULL ? run_with_cache(c->argv, c->cache, &ns) : lt_peer_run(c->argv, &ns);
  if (round >= WARM_UP) {
    lt_measure_add(&c->samples, ns);
  }
}

static void print(command *c, command *all) {
  command *beside = &all[c->beside_run ? RUN_JS : TRUE];
  if (c->argv[0] == NULL) {
    lt_measure_skip(c->what, "%s", c->absent);
  } else if (c->exit_code != 0) {
    lt_measure_skip(c->what, "%s: exit code %d", c->argv[0], c->exit_code);
  } else {
    lt_measure_print(&(lt_measure_line){
        .what = c->what,
        .samples = &c->samples,
        .target = c->target,
        .peer = c == beside ? NULL : &beside->samples,
        .peer_name = c->beside_run ? "lathe run" : "/bin/true",
    });
  }
}

/* Writes a configuration with SERVERS servers, and has their lists of tools fetched. False: it is not possible here. */
static bool prepare_servers(const char *lathe, const char *node, char *folder, char *ret_config, size_t room) {
  char text[CONFIG_BYTES];
  if (node == NULL || mkdtemp(folder) == NULL) {
    return false;
  }
  snprintf(ret_config, room, "%s/lathe.yaml", folder);
  size_t n = (size_t)snprintf(text, sizeof text, "mcpServers:\n");
  for (int i = 0; i < SERVERS && n < sizeof text; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "  fake%d: {command: %s, args: [%s]}\n", i, node, FAKE_SERVER);
  }
  FILE *file = fopen(ret_config, "we");
  bool is_written = file != NULL && fputs(text, file) >= 0;
  is_written = file != NULL && fclose(file) == 0 && is_written;
  double ns;
  const char *const list[] = {lathe, "tools", "--config", ret_config, NULL};
  return is_written && run_with_cache(list, folder, &ns) == 0;
}

void lt_bench_process(void) {
  char folder[] = "/tmp/lathe-bench-XXXXXX", config[sizeof folder + 16];
  const char *lathe = lt_peer_find_lathe();
  const char *node = lt_peer_find("LATHE_BENCH_NODE", "node");
  const char *python = lt_peer_find("LATHE_BENCH_PYTHON", "python3");
  const char *deno = lt_peer_find("LATHE_BENCH_DENO", "deno");
  const char *npx = getenv("LATHE_BENCH_NPX"); /* a folder in which our npm packages are installed */
  const char *typescript = LT_BENCH_DIR "/programs/report.ts";
  bool has_servers = prepare_servers(lathe, node, folder, config, sizeof config);
  command all[COMMANDS] = {
      [TRUE] = {"/bin/true: an empty process", {"/bin/true"}},
      [RUN_JS] = {"lathe run -e 1+2", {lathe, "run", "-e", "1+2"}, .target = TARGET_RUN_NS},
      [RUN_SERVERS] = {"… with ten configured servers, of which it calls none",
                       {has_servers ? lathe : NULL, "run", "--config", config, "-e", "1+2"},
                       "there is no node for fake servers, or they do not start",
                       .target = TARGET_SERVERS_NS,
                       .cache = folder},
      [RUN_TS] = {"lathe run report.ts: 25 lines of TypeScript", {lathe, "run", typescript}},
      {"the npm package: npx NAME run -e 1+2",
       {npx == NULL ? NULL : "npx", "--prefix", npx, "--no", "lathe", "run", "-e", "1+2"},
       "there is no npm package of ours (make packages)",
       .beside_run = true},
      {"node -e 1+2", {node, "-e", "1+2"}, "there is no node here", .beside_run = true},
      {"python3 -c 1+2", {python, "-c", "1+2"}, "there is no python3 here", .beside_run = true},
      {"python3 -S -E -c 1+2", {python, "-S", "-E", "-c", "1+2"}, "there is no python3 here", .beside_run = true},
      {"deno eval 1+2", {deno, "eval", "1+2"}, "there is no deno here", .beside_run = true},
      {"deno run report.ts", {deno, "run", typescript}, "there is no deno here", .beside_run = true},
  };
  for (int round = 0; round < ROUNDS + WARM_UP; round++) {
    for (unsigned i = 0; i < COMMANDS; i++) {
      turn(&all[i], round);
    }
  }
  for (unsigned i = 0; i < COMMANDS; i++) {
    print(&all[i], all);
  }
  for (unsigned i = 0; i < COMMANDS; i++) {
    lt_measure_release(&all[i].samples);
  }
  double ns;
  (void)lt_peer_run((const char *const[]){"rm", "-rf", folder, NULL}, &ns);
}
