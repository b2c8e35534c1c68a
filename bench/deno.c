/* TypeScript in a Deno process, beside Deno started as the seed of the idea does it: one file with a preamble and the
 * program, everything allowed, its types checked by Deno itself, calls as HTTP to a port of this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/rig.h"
#include "io/http_server.h"
#include "io/process.h"
#include "runner/deno/deno.h"

enum { ROUNDS = 20, NAIVE_ROUNDS = 15, NAIVE_CHECKED_ROUNDS = 4, PAUSE_MS = 20, AHEAD_MS = 150 };

#define TARGET_UNCHECKED_NS 30e6
#define TARGET_CHECKED_NS   60e6

static const char plus[] = "console.log(1 + 2);\n";
static const char call[] = "const r = await echo({ a: 1 } as any); if (!r.success) throw r.error;\n";

/* What the seed's generator writes for one tool. */
static const char preamble[] =
    "type Result<T> = | { success: true; value: T } | { success: false; error: string };\n"
    "interface ToolCall<T> { tool_name: string; arguments: T; }\n"
    "interface ToolResult<T> { content: string | T; is_error: boolean; }\n"
    "const SERVER_PORT = %u;\n"
    "export interface EchoInput { a: number }\n"
    "export type EchoOutput = Record<string, unknown>;\n"
    "async function echo(input: EchoInput): Promise<Result<EchoOutput>> {\n"
    "  const reqBody: ToolCall<EchoInput> = { tool_name: 'echo', arguments: input };\n"
    "  const response = await fetch(`http://localhost:${SERVER_PORT}/`, {\n"
    "    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(reqBody),\n"
    "  });\n"
    "  const result: ToolResult<EchoOutput> = await response.json();\n"
    "  if (!response.ok || result.is_error) return { success: false, error: String(result.content) };\n"
    "  return { success: true, value: result.content as EchoOutput };\n"
    "}\n\n// User Code\n";

typedef struct bench {
  lt_rig *rig;
  const char *exe;
  unsigned port;
} bench;

/* --- Ours --------------------------------------------------------------------------------------------------------- */
static lt_status run_one(lt_deno *deno, const char *code, lt_err *err) LT_YIELDS {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_TYPESCRIPT};
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = lt_deno_runner(deno)->run(lt_deno_runner(deno), &request, &result, err);
  if (status == LT_OK && result.status != LT_OK) {
    status = lt_fail(err, result.status, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  }
  lt_run_result_release(&result);
  return status;
}

/* What its first thread has started: Deno's own process is the child of that which holds its gate. */
static void print_memory(void) {
  long spare = lt_memory_child(lt_memory_child(getpid()));
  lt_memory_print("memory of a Deno that was started ahead (its share of what is shared)", spare, "Pss:");
  lt_memory_print("  of this anonymous", spare, "Anonymous:");
}

/* False: there is no Deno here, or no compiler. */
static bool sample_ours(const bench *b, const char *code, lt_deno_check check, bool ahead, const char *what,
                        lt_measure *m) LT_YIELDS {
  lt_deno *deno = NULL;
  lt_err err = LT_ERR_INIT;
  lt_deno_options options = {.loop = b->rig->loop,
                             .door = b->rig->door,
                             .path = b->exe,
                             .check = check,
                             .ahead_ms = ahead ? LT_DENO_SPARE_MS : 0};
  LT_CHECK(lt_deno_new(&options, &deno, NULL) == LT_OK);
  lt_status status = run_one(deno, code, &err); /* the programs are read from the disk once */
  for (int i = 0; i < ROUNDS && status == LT_OK; i++) {
    lt_loop_sleep(b->rig->loop, ahead ? AHEAD_MS : PAUSE_MS);
    double start = lt_measure_now();
    status = run_one(deno, code, &err);
    lt_measure_add(m, lt_measure_now() - start);
  }
  if (ahead && check == LT_DENO_CHECK_NEVER && code == plus && status == LT_OK) {
    lt_loop_sleep(b->rig->loop, AHEAD_MS);
    print_memory();
  }
  lt_deno_free(deno);
  if (status != LT_OK) {
    lt_measure_skip(what, "%s", lt_err_msg(&err));
  }
  return status == LT_OK;
}

/* --- The seed's way ----------------------------------------------------------------------------------------------- */
static void on_naive_call(void *arg, const lt_http_call *request, lt_http_answer *answer) {
  (void)arg, (void)request;
  answer->content_type = "application/json";
  lt_buf_addc(&answer->body, "{\"content\":{\"a\":1},\"is_error\":false}");
}

static bool write_program(char *path, unsigned port, const char *code) {
  int fd = mkstemps(path, 3);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file == NULL) {
    return false;
  }
  fprintf(file, preamble, port);
  fputs(code, file);
  return fclose(file) == 0;
}

static bool start_naive(const bench *b, const char *path, const char *check) LT_YIELDS {
  const char *const argv[] = {"deno", "run", "--allow-all", "--no-prompt", check, path, NULL};
  lt_process_options options = {.file = b->exe, .argv = argv, .cwd = "/tmp", .line_max = LT_MIB};
  lt_process *process = NULL;
  lt_str line;
  if (lt_process_open(b->rig->loop, &options, &process, NULL) != LT_OK) {
    return false;
  }
  while (lt_process_read_line(process, &line, NULL) == LT_OK) {
  }
  bool ok = strcmp(lt_process_exit_text(process), "exited with code 0") == 0;
  lt_process_close(process);
  return ok;
}

static void sample_naive(const bench *b, const char *code, const char *check, int rounds, lt_measure *m) LT_YIELDS {
  for (int i = 0; i < rounds; i++) {
    char path[] = "/tmp/cpe-code-XXXXXX.ts";
    double start = lt_measure_now();
    bool ok = write_program(path, b->port, code) && start_naive(b, path, check);
    double ns = lt_measure_now() - start;
    unlink(path);
    if (ok) {
      lt_measure_add(m, ns);
    }
  }
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */
typedef struct question {
  const char *what;
  const char *code;
  bool checked;
  bool ahead;
} question;

static void compare(const bench *b, const question *q) LT_YIELDS {
  lt_measure ours, naive;
  lt_measure_init(&ours);
  lt_measure_init(&naive);
  if (sample_ours(b, q->code, q->checked ? LT_DENO_CHECK_ALWAYS : LT_DENO_CHECK_NEVER, q->ahead, q->what, &ours)) {
    if (!q->ahead) {
      int rounds = q->checked ? NAIVE_CHECKED_ROUNDS : NAIVE_ROUNDS;
      sample_naive(b, q->code, q->checked ? "--check" : "--no-check", rounds, &naive);
    }
    lt_measure_print(&(lt_measure_line){.what = q->what,
                                        .samples = &ours,
                                        .target = q->checked ? TARGET_CHECKED_NS : TARGET_UNCHECKED_NS,
                                        .peer = naive.count > 0 ? &naive : NULL,
                                        .peer_name = q->checked ? "deno run --check" : "deno run"});
  }
  lt_measure_release(&ours);
  lt_measure_release(&naive);
}

static void measure(lt_rig *rig, void *arg) {
  (void)arg;
  bench b = {.rig = rig, .exe = lt_peer_find("LATHE_BENCH_DENO", "deno")};
  lt_http_server *server = NULL;
  lt_http_server_options options = {.handle = on_naive_call};
  lt_err err = LT_ERR_INIT;
  if (b.exe == NULL || lt_http_server_open(rig->loop, &options, &server, &err) != LT_OK) {
    lt_measure_skip("Deno", "%s", b.exe == NULL ? "deno is not installed" : lt_err_msg(&err));
    return;
  }
  b.port = lt_http_server_port(server);
  static const question questions[] = {
      {"1+2", plus, false, false},
      {"one tool call", call, false, false},
      {"1+2, its types checked first", plus, true, false},
      {"one tool call, its types checked first", call, true, false},
      {"1+2, Deno started ahead", plus, false, true},
      {"one tool call, Deno started ahead", call, false, true},
      {"1+2, its types checked first, Deno started ahead", plus, true, true},
      {"one tool call, its types checked first, Deno started ahead", call, true, true},
  };
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    compare(&b, &questions[i]);
  }
  lt_http_server_close(server);
}

void lt_bench_deno(void) {
  lt_rig_run(50, measure, NULL);
}
