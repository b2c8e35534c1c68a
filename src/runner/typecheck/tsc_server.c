#include "runner/typecheck/tsc_server.h"

#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "io/process.h"
#include "jail/jail.h"
#include "json/json.h"
#include "runner/thread_limit.h"
#include "runner/typecheck/lsp_frame.h"

#define ARGS_MAX 24
/* A folder that does not exist: nothing can stand beside the documents. */
#define FOLDER   "file:///lathe-types/"
#define SETTINGS "tsconfig.json"
#define GLOBALS  "globals.d.ts"
#define TOOLS    "tools.d.ts"
#define PROGRAM  "program.ts"

/* `noImplicitAny` (a part of `strict`) stays on, because without it the compiler takes every `[]` for an array that
 * stays empty. The settings name themselves as a file: then no second project, with the browser's library, is made for
 * them. */
static const char settings[] =
    "{\"compilerOptions\":{\"noEmit\":true,\"target\":\"esnext\",\"module\":\"esnext\",\"lib\":[\"esnext\"],"
    "\"types\":[],\"moduleDetection\":\"force\",\"resolveJsonModule\":true,\"noResolve\":true,\"skipLibCheck\":true,"
    "\"strict\":true,\"useUnknownInCatchVariables\":false},"
    "\"files\":[\"" GLOBALS "\",\"" TOOLS "\",\"" PROGRAM "\",\"" SETTINGS "\"]}";

struct lt_tsc_server {
  lt_loop *loop;
  lt_str globals;
  lt_process *process;
  lt_lsp_frame frame;
  int64_t last_id;  /* of a request */
  int64_t version;  /* of the documents */
  bool has_greeted; /* it has answered the greeting */
  bool is_ready;    /* it has the first documents */
  bool has_ended;   /* the process is gone, and so is the fiber */
  char ending[200]; /* how */
  int64_t asked_id; /* the request that is waited for; 0: none */
  bool has_reply;
  lt_buf reply;
  unsigned wait_ms;
  lt_timer *write_limit; /* kills a process that does not read */
  lt_wait *waiter;       /* of lt_tsc_server_check or lt_tsc_server_close */
};

/* --- Starting the process ----------------------------------------------------------------------------------------- */

typedef struct server_plan {
  lt_arena arena;
  const char *args[ARGS_MAX + 1];
  size_t count;
  bool has_failed;
} server_plan;

__attribute__((format(printf, 2, 3))) static void tsc_server_add(server_plan *plan, const char *format, ...) {
  char text[LT_PROC_PATH_MAX_BYTES + 64];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lt_str copy = lt_arena_dup(&plan->arena, lt_str_of(text));
  plan->has_failed = plan->has_failed || n < 0 || (size_t)n >= sizeof text || copy.p == NULL;
  LT_CHECK(plan->count < ARGS_MAX);
  plan->args[plan->count++] = copy.p;
}

/* The walls of a Python program, which has no sockets at all. */
static void tsc_server_plan(server_plan *plan, const lt_tsc_server_options *options) {
  char folder[LT_PROC_PATH_MAX_BYTES];
  lt_jail_walls walls;
  lt_jail_probe(&walls);
  snprintf(folder, sizeof folder, "%s", options->tsc);
  tsc_server_add(plan, "%s", options->helper);
  tsc_server_add(plan, LT_JAIL_WORD);
  tsc_server_add(plan, "--parent=%d", (int)getpid());
  tsc_server_add(plan, "--profile=python");
  tsc_server_add(plan, "--uid=%d", LT_JAIL_UID);
  tsc_server_add(plan, "--gid=%d", LT_JAIL_UID);
  tsc_server_add(plan, "--landlock-abi=%d", walls.landlock_abi);
  tsc_server_add(plan, "--cpu-seconds=%d", LT_TYPECHECK_CPU_SECONDS);
  tsc_server_add(plan, "--data=%lu", (unsigned long)LT_TYPECHECK_MEMORY_BYTES);
  tsc_server_add(plan, "--file-size=0");
  tsc_server_add(plan, "--open-files=256");
  tsc_server_add(plan, "--processes=%lu", (unsigned long)lt_thread_limit());
  tsc_server_add(plan, "--read=%s", dirname(folder));
  if (options->without_walls) {
    tsc_server_add(plan, "--best-effort");
  }
  tsc_server_add(plan, "--");
  tsc_server_add(plan, "%s", options->tsc);
  tsc_server_add(plan, "tsc");
  tsc_server_add(plan, "--lsp");
  tsc_server_add(plan, "--stdio");
}

static lt_status tsc_server_start(lt_tsc_server *server, const lt_tsc_server_options *options, lt_err *err) {
  static const char *const env[] = {"GOMEMLIMIT=512MiB", NULL};
  lt_jail_walls walls;
  lt_jail_probe(&walls);
  LT_TRY(options->without_walls ? LT_OK : lt_jail_check(&walls, LT_JAIL_PYTHON, err));
  server_plan plan = {.count = 0};
  lt_arena_init(&plan.arena, LT_MIB);
  tsc_server_plan(&plan, options);
  lt_status status = LT_E_NOMEM;
  if (!plan.has_failed) {
    lt_process_options how = {
        .file = options->helper, .argv = plan.args, .env = env, .cwd = "/", .line_max = SIZE_MAX, .is_raw = true};
    status = lt_process_open(options->loop, &how, &server->process, err);
  } else {
    lt_fail(err, status, "no memory for the compiler");
  }
  lt_arena_release(&plan.arena);
  return status;
}

/* --- Messages to it ----------------------------------------------------------------------------------------------- */

typedef struct server_message {
  lt_buf json;
  lt_json_writer writer;
} server_message;

static void tsc_server_put_text(lt_json_writer *w, const char *key, const char *text) {
  lt_json_key(w, key);
  lt_json_put_cstr(w, text);
}

/* Begins a message up to its params, which are an open object. `id`: 0: a notification. */
static void tsc_server_begin(server_message *message, const char *method, int64_t id) {
  lt_buf_init(&message->json, 2 * LT_TYPECHECK_TYPES_MAX_BYTES);
  message->writer = lt_json_writer_on(&message->json);
  lt_json_writer *w = &message->writer;
  lt_json_begin_object(w);
  tsc_server_put_text(w, "jsonrpc", "2.0");
  if (id != 0) {
    lt_json_key(w, "id");
    lt_json_put_int(w, id);
  }
  tsc_server_put_text(w, "method", method);
  lt_json_key(w, "params");
  lt_json_begin_object(w);
}

static lt_status tsc_server_write(lt_tsc_server *server, lt_str json) LT_YIELDS {
  LT_AUTO_BUF(bytes, 2 * LT_TYPECHECK_TYPES_MAX_BYTES + LT_KIB);
  lt_lsp_frame_put(&bytes, json);
  return bytes.status == LT_OK ? lt_process_write(server->process, lt_buf_view(&bytes), NULL) : bytes.status;
}

static lt_status tsc_server_send(lt_tsc_server *server, server_message *message) LT_YIELDS {
  lt_json_end_object(&message->writer);
  lt_json_end_object(&message->writer);
  lt_status status = message->json.status;
  if (status == LT_OK) {
    status = tsc_server_write(server, lt_buf_view(&message->json));
  }
  lt_buf_release(&message->json);
  return status;
}

static void tsc_server_put_document(lt_json_writer *w, const char *name) {
  char uri[64];
  snprintf(uri, sizeof uri, FOLDER "%s", name);
  lt_json_key(w, "textDocument");
  lt_json_begin_object(w);
  tsc_server_put_text(w, "uri", uri);
}

static lt_status tsc_server_open_document(lt_tsc_server *server, const char *name, lt_str text) LT_YIELDS {
  server_message message;
  tsc_server_begin(&message, "textDocument/didOpen", 0);
  lt_json_writer *w = &message.writer;
  tsc_server_put_document(w, name);
  tsc_server_put_text(w, "languageId", strcmp(name, SETTINGS) == 0 ? "json" : "typescript");
  lt_json_key(w, "version");
  lt_json_put_int(w, 0);
  lt_json_key(w, "text");
  lt_json_put_str(w, text);
  lt_json_end_object(w);
  return tsc_server_send(server, &message);
}

static lt_status tsc_server_change_document(lt_tsc_server *server, const char *name, lt_str text) LT_YIELDS {
  server_message message;
  tsc_server_begin(&message, "textDocument/didChange", 0);
  lt_json_writer *w = &message.writer;
  tsc_server_put_document(w, name);
  lt_json_key(w, "version");
  lt_json_put_int(w, server->version);
  lt_json_end_object(w);
  lt_json_key(w, "contentChanges");
  lt_json_begin_array(w);
  lt_json_begin_object(w);
  lt_json_key(w, "text");
  lt_json_put_str(w, text);
  lt_json_end_object(w);
  lt_json_end_array(w);
  return tsc_server_send(server, &message);
}

static lt_status tsc_server_ask(lt_tsc_server *server, int64_t id) LT_YIELDS {
  server_message message;
  tsc_server_begin(&message, "textDocument/diagnostic", id);
  tsc_server_put_document(&message.writer, PROGRAM);
  lt_json_end_object(&message.writer);
  return tsc_server_send(server, &message);
}

static lt_status tsc_server_greet(lt_tsc_server *server) LT_YIELDS {
  server_message message;
  tsc_server_begin(&message, "initialize", ++server->last_id);
  lt_json_writer *w = &message.writer;
  lt_json_key(w, "processId");
  lt_json_put_null(w);
  lt_json_key(w, "rootUri");
  lt_json_put_null(w);
  lt_json_key(w, "capabilities");
  lt_json_begin_object(w);
  lt_json_end_object(w);
  return tsc_server_send(server, &message);
}

/* After its answer to the greeting: the documents, and a first question, so that it reads its library now. */
static lt_status tsc_server_furnish(lt_tsc_server *server) LT_YIELDS {
  server_message message;
  tsc_server_begin(&message, "initialized", 0);
  LT_TRY(tsc_server_send(server, &message));
  LT_TRY(tsc_server_open_document(server, SETTINGS, lt_str_of(settings)));
  LT_TRY(tsc_server_open_document(server, GLOBALS, server->globals));
  LT_TRY(tsc_server_open_document(server, TOOLS, LT_STR("")));
  LT_TRY(tsc_server_open_document(server, PROGRAM, LT_STR("")));
  return tsc_server_ask(server, ++server->last_id);
}

/* --- Messages from it --------------------------------------------------------------------------------------------- */

static void tsc_server_wake(lt_tsc_server *server) {
  if (server->waiter != NULL) {
    lt_wait_wake(server->waiter, LT_OK);
  }
}

/* The server may ask, too (for its client's settings): there are none. */
static lt_status tsc_server_answer(lt_tsc_server *server, lt_json id) LT_YIELDS {
  LT_AUTO_BUF(json, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_json_begin_object(&w);
  tsc_server_put_text(&w, "jsonrpc", "2.0");
  lt_json_key(&w, "id");
  lt_json_put_raw(&w, lt_json_text(id));
  lt_json_key(&w, "result");
  lt_json_put_null(&w);
  lt_json_end_object(&w);
  return json.status == LT_OK ? tsc_server_write(server, lt_buf_view(&json)) : LT_OK;
}

static lt_status tsc_server_take_reply(lt_tsc_server *server, int64_t id, lt_str body) LT_YIELDS {
  if (!server->has_greeted) {
    server->has_greeted = true;
    LT_TRY(tsc_server_furnish(server));
    server->is_ready = true;
    tsc_server_wake(server);
  } else if (id == server->asked_id) {
    server->asked_id = 0;
    lt_buf_clear(&server->reply);
    lt_buf_add(&server->reply, body);
    server->has_reply = true;
    tsc_server_wake(server);
  }
  return LT_OK;
}

static lt_status tsc_server_take_message(lt_tsc_server *server, lt_str body) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_TYPECHECK_ARENA_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, body, &doc, NULL));
  lt_json id = lt_json_get(lt_json_root(&doc), "id");
  int64_t number;
  if (lt_json_exists(lt_json_get(lt_json_root(&doc), "method"))) {
    return lt_json_exists(id) ? tsc_server_answer(server, id) : LT_OK;
  }
  return lt_json_int(id, &number) ? tsc_server_take_reply(server, number, body) : LT_OK;
}

static lt_status tsc_server_take_bytes(lt_tsc_server *server, lt_str bytes) LT_YIELDS {
  lt_str body;
  lt_lsp_frame_got got;
  while ((got = lt_lsp_frame_next(&server->frame, &bytes, &body)) == LT_LSP_FRAME_BODY) {
    LT_TRY(tsc_server_take_message(server, body));
  }
  return got == LT_LSP_FRAME_MORE ? LT_OK : LT_E_INVALID;
}

static void tsc_server_describe_end(lt_tsc_server *server, lt_status status) {
  lt_str words = lt_str_trim(lt_process_stderr(server->process));
  size_t line = lt_str_find(words, LT_STR("\n"), 0);
  words = lt_str_sub(words, 0, line < 100 ? line : 100);
  if (status == LT_E_INVALID || status == LT_E_SYNTAX || status == LT_E_LIMIT) {
    snprintf(server->ending, sizeof server->ending, "does not answer as a language server does");
  } else {
    snprintf(server->ending, sizeof server->ending, "%s%s%.*s", lt_process_exit_text(server->process),
             words.n > 0 ? ": " : "", LT_STR_ARG(words));
  }
}

/* Its pipes may close a moment before it has ended, and how it ended is what a person needs to read. */
static void tsc_server_await_exit(lt_tsc_server *server) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(server->loop) + LT_PROC_EXIT_GRACE_MS;
  while (!lt_process_exited(server->process) && lt_loop_now_ms(server->loop) < until_ms) {
    lt_loop_sleep(server->loop, 5);
  }
}

static void tsc_server_on_fiber(void *arg) {
  lt_tsc_server *server = arg;
  lt_str bytes;
  lt_status status = tsc_server_greet(server);
  while (status == LT_OK) {
    status = lt_process_read_line(server->process, &bytes, NULL);
    if (status == LT_OK) {
      status = tsc_server_take_bytes(server, bytes);
    }
  }
  if (status == LT_E_CLOSED) {
    tsc_server_await_exit(server);
  }
  tsc_server_describe_end(server, status);
  lt_process_signal(server->process, SIGKILL);
  lt_process_close(server->process);
  server->process = NULL;
  server->has_ended = true;
  tsc_server_wake(server);
}

/* --- Its life ----------------------------------------------------------------------------------------------------- */

static void tsc_server_free(lt_tsc_server *server) {
  lt_lsp_frame_release(&server->frame);
  lt_buf_release(&server->reply);
  lt_timer_free(server->write_limit);
  lt_mem_free(server);
}

static void tsc_server_on_write_limit(void *arg) {
  lt_tsc_server_kill(arg);
}

lt_status lt_tsc_server_open(const lt_tsc_server_options *options, lt_tsc_server **ret_server, lt_err *err) {
  lt_tsc_server *server = lt_mem_zalloc(1, sizeof *server);
  if (server == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the compiler");
  }
  server->loop = options->loop;
  server->globals = options->globals;
  server->wait_ms = options->wait_ms != 0 ? options->wait_ms : LT_TYPECHECK_WAIT_MS;
  lt_lsp_frame_init(&server->frame, LT_TYPECHECK_REPLY_MAX_BYTES);
  lt_buf_init(&server->reply, LT_TYPECHECK_REPLY_MAX_BYTES);
  lt_status status = lt_timer_new(server->loop, tsc_server_on_write_limit, server, &server->write_limit, err);
  if (status == LT_OK) {
    status = tsc_server_start(server, options, err);
  }
  if (status != LT_OK) {
    tsc_server_free(server);
    return status;
  }
  *ret_server = server;
  if (lt_loop_spawn(server->loop, tsc_server_on_fiber, server, NULL) != LT_OK) { /* nobody reads */
    snprintf(server->ending, sizeof server->ending, "cannot be read: no memory");
    lt_process_signal(server->process, SIGKILL);
    server->has_ended = true;
  }
  return LT_OK;
}

void lt_tsc_server_kill(lt_tsc_server *server) {
  if (server->process != NULL) {
    lt_process_signal(server->process, SIGKILL);
  }
}

bool lt_tsc_server_has_ended(const lt_tsc_server *server) {
  return server->has_ended;
}

void lt_tsc_server_close(lt_tsc_server *server) {
  if (server == NULL) {
    return;
  }
  lt_wait wait;
  lt_wait_init(&wait, server->loop);
  server->waiter = &wait;
  lt_tsc_server_kill(server);
  while (!server->has_ended) {
    lt_wait_on(&wait, UINT64_MAX);
  }
  lt_process_close(server->process);
  tsc_server_free(server);
}

/* --- A check ------------------------------------------------------------------------------------------------------ */

static lt_status tsc_server_fail_late(const lt_tsc_server *server, lt_err *err) {
  return lt_fail(err, LT_E_TIMEOUT, "tsc did not answer within %g s", server->wait_ms / 1000.0);
}

/* Waits until the server is ready, or has replied, or is of no use. */
static lt_status tsc_server_wait(lt_tsc_server *server, lt_wait *wait, const bool *is_done, uint64_t until_ms,
                                 const lt_cancel *cancel, lt_err *err) LT_YIELDS {
  while (!*is_done && !server->has_ended) {
    uint64_t now = lt_loop_now_ms(server->loop);
    if (cancel != NULL && cancel->why != LT_OK) {
      return LT_E_CANCELLED;
    }
    if (now >= until_ms) {
      return tsc_server_fail_late(server, err);
    }
    lt_wait_on(wait, until_ms - now);
  }
  return *is_done ? LT_OK : lt_fail(err, LT_E_CLOSED, "tsc %s", server->ending);
}

static lt_status tsc_server_ask_about(lt_tsc_server *server, lt_str tools, lt_str program) LT_YIELDS {
  server->version++;
  server->has_reply = false;
  LT_TRY(tsc_server_change_document(server, TOOLS, tools));
  LT_TRY(tsc_server_change_document(server, PROGRAM, program));
  server->asked_id = ++server->last_id;
  return tsc_server_ask(server, server->asked_id);
}

static lt_status tsc_server_check_until(lt_tsc_server *server, lt_wait *wait, lt_str tools, lt_str program,
                                        const lt_cancel *cancel, lt_err *err) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(server->loop) + server->wait_ms;
  LT_TRY(tsc_server_wait(server, wait, &server->is_ready, until_ms, cancel, err));
  lt_timer_start(server->write_limit, server->wait_ms);
  lt_status status = tsc_server_ask_about(server, tools, program);
  lt_timer_stop(server->write_limit);
  if (status != LT_OK && lt_loop_now_ms(server->loop) >= until_ms) {
    return tsc_server_fail_late(server, err);
  }
  if (status == LT_E_NOMEM || status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the compiler's input");
  }
  LT_TRY(tsc_server_wait(server, wait, &server->has_reply, until_ms, cancel, err));
  return lt_buf_check(&server->reply, err, "no memory for the compiler's answer");
}

lt_status lt_tsc_server_check(lt_tsc_server *server, lt_str tools, lt_str program, lt_cancel *cancel, lt_str *ret_reply,
                              lt_err *err) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, server->loop);
  server->waiter = &wait;
  lt_cancel_add(cancel, &node, &wait);
  lt_status status = tsc_server_check_until(server, &wait, tools, program, cancel, err);
  lt_cancel_remove(cancel, &node);
  server->waiter = NULL;
  server->asked_id = 0;
  if (status == LT_OK) {
    *ret_reply = lt_buf_view(&server->reply);
  }
  return status;
}
