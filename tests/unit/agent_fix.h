/* What the agent's tests share: the real model client with a scripted server, a real door, runner and store (a file in
 * a folder of its own), the built-in plugins, a provider "t" that does what it is told, and all events as lines of
 * text.
 */
#ifndef LT_TESTS_AGENT_FIX_H
#define LT_TESTS_AGENT_FIX_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/quickjs.h"
#include "sandbox/box.h"
#include "tool/masked_records.h"
#include "unit/script_server.h"

#undef fail /* cmocka's macro; the plugins' header has a member of that name */

#include "plugin/builtin/builtin_plugins.h"

#define FAIL_WITH(...) (print_error(__VA_ARGS__), _fail(__FILE__, __LINE__))

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static struct sigaction on_segv, on_bus;

/* cmocka puts its own handlers in place for every test; a box needs its. */
static inline int run_all_tests(const struct CMUnitTest *tests, size_t count) {
  assert_int_equal(lt_box_thread_init(NULL), LT_OK);
  sigaction(SIGSEGV, NULL, &on_segv);
  sigaction(SIGBUS, NULL, &on_bus);
  return _cmocka_run_group_tests("agent", tests, count, setup_server, teardown_server);
}

/* --- The world ---------------------------------------------------------------------------------------------------- */
typedef struct world {
  lt_loop *loop;
  lt_door *door;
  char path[96]; /* of the database */
  lt_store *db;
  lt_http *http;
  lt_artifacts *artifacts;
  lt_journal *journal;
  lt_masked_journal masked_journal;
  lt_quickjs *quickjs;
  lt_host *host;
  lt_secrets *secrets;
  lt_policy *policy;
  lt_model models[2];
  lt_agent_options options;
  lt_agent *agent;
  lt_provider tools, bank;
  unsigned open, most_open, paid;
  unsigned hanging;
  lt_buf events;  /* a line each */
  lt_buf streams; /* all pieces of texts */
  lt_buf drafts; /* of programs that were being written, as events: "~piece" or "|piece" (restart), "1~piece" (index) */
  lt_wait stirred; /* woken with each event and by what hangs */
  void (*on_event)(struct world *w, const char *event, lt_str data);
  bool never_shown;  /* no output is acknowledged */
  lt_prompt_ids ids; /* of the last prompt */
  lt_err err;
  void (*body)(struct world *w);
} world;

static unsigned scripts; /* each test's world has a name of its own for its script */

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static inline lt_status wait_for_ms(world *w, uint64_t ms, const lt_invoke_options *options, lt_err *err) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, w->loop);
  lt_cancel_add(options->cancel, &node, &wait);
  lt_status status = lt_wait_on(&wait, ms);
  lt_cancel_remove(options->cancel, &node);
  return status == LT_E_TIMEOUT && options->cancel->why == LT_OK ? LT_OK : lt_fail(err, status, "told to stop");
}

static inline double number_in(lt_str input, const char *key) {
  lt_arena arena;
  lt_json_doc doc;
  double n = 0;
  lt_arena_init(&arena, LT_GIB);
  if (lt_json_parse(&arena, input, &doc, NULL) == LT_OK) {
    lt_json_double(lt_json_get(lt_json_root(&doc), key), &n);
  }
  lt_arena_release(&arena);
  return n;
}

static inline lt_status do_tool(world *w, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                                lt_err *err) {
  if (lt_str_eqc(name, "get-weather")) {
    lt_buf_printf(out, "{\"temperature\":%g,\"description\":\"cloudy\"}", number_in(input, "latitude") / 2);
  } else if (lt_str_eqc(name, "echo")) {
    lt_buf_add(out, input);
  } else if (lt_str_eqc(name, "wait")) {
    LT_TRY(wait_for_ms(w, (uint64_t)number_in(input, "ms"), options, err));
    lt_buf_addc(out, "\"waited\"");
  } else if (lt_str_eqc(name, "hang")) {
    w->hanging++;
    lt_wait_wake(&w->stirred, LT_OK);
    lt_status status = wait_for_ms(w, UINT64_MAX, options, err);
    w->hanging--;
    return status;
  } else if (lt_str_eqc(name, "fail")) {
    lt_buf_addc(out, "it went wrong");
    return LT_E_TOOL;
  } else if (lt_str_eqc(name, "big")) {
    lt_buf_byte(out, '"');
    for (double i = number_in(input, "bytes"); i > 0; i--) {
      lt_buf_byte(out, 'x');
    }
    lt_buf_byte(out, '"');
  } else if (lt_str_eqc(name, "picture")) {
    const lt_artifact picture = {.user = options->caller->user,
                                 .type = LT_STR("image"),
                                 .mime_type = LT_STR("image/png"),
                                 .data = LT_STR("png")};
    lt_buf_addc(out, "{\"artifact\":\"");
    LT_TRY(options->caller->artifacts->put(options->caller->artifacts, &picture, out, err));
    lt_buf_addc(out, "\"}");
  } else if (lt_str_eqc(name, "pay")) {
    w->paid += (unsigned)number_in(input, "amount");
    lt_buf_printf(out, "{\"paid\":%u}", w->paid);
  }
  return LT_OK;
}

static inline lt_status invoke(world *w, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                               lt_err *err) {
  w->open++;
  w->most_open = w->open > w->most_open ? w->open : w->most_open;
  lt_status status = do_tool(w, name, input, options, out, err);
  w->open--;
  return status;
}

static inline lt_status invoke_t(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                                 lt_buf *out, lt_err *err) {
  return invoke((world *)(void *)((char *)self - offsetof(world, tools)), name, input, options, out, err);
}

static inline lt_status invoke_bank(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                                    lt_buf *out, lt_err *err) {
  return invoke((world *)(void *)((char *)self - offsetof(world, bank)), name, input, options, out, err);
}

static const lt_tool_spec weather_specs[] = {
    {.name = TEXT("get-weather"),
     .description = TEXT("Get current weather"),
     .input_schema = TEXT("{\"type\":\"object\",\"required\":[\"latitude\",\"longitude\"],\"properties\":{\"latitude\":"
                          "{\"type\":\"number\"},\"longitude\":{\"type\":\"number\"}}}")},
    {.name = TEXT("echo"), .description = TEXT("Gives back what it gets")},
    {.name = TEXT("wait")},
    {.name = TEXT("hang")},
    {.name = TEXT("fail")},
    {.name = TEXT("big")},
    {.name = TEXT("picture")},
};
static const lt_tool_spec bank_specs[] = {
    {.name = TEXT("pay"),
     .description = TEXT("Pay money"),
     .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"amount\":{\"type\":\"number\"}}}"),
     .needs_approval = true,
     .approval = TEXT("it is real money")},
};

/* --- Events ------------------------------------------------------------------------------------------------------- */
static inline lt_str member(lt_arena *arena, lt_str json, const char *path) {
  lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
  assert_non_null(doc);
  lt_err err = LT_ERR_INIT;
  if (lt_json_parse(arena, json, doc, &err) != LT_OK) {
    FAIL_WITH("%s in %.*s\n", lt_err_msg(&err), LT_STR_ARG(json));
  }
  lt_json v = lt_json_root(doc);
  char key[64];
  for (const char *p = path; *p != '\0';) {
    size_t n = strcspn(p, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, p);
    v = key[0] >= '0' && key[0] <= '9' ? lt_json_at(v, (uint32_t)atoi(key)) : lt_json_get(v, key);
    p += n + (p[n] == '.');
  }
  lt_str text = lt_json_text(v);
  return lt_json_str(v, arena, &text) ? text : text;
}

/* `output text hello`, `output tool t.echo pending Executing...`, `approval bank.pay {...} (why)`, `completed`, ... */
static inline void note_event(world *w, const char *event, lt_str data) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  if (strcmp(event, "prompt.output") == 0) {
    lt_str type = member(&a, data, "output.type");
    lt_buf_printf(&w->events, "output %.*s ", LT_STR_ARG(type));
    if (lt_str_eqc(type, "text")) {
      lt_buf_add(&w->events, member(&a, data, "output.content"));
    } else if (lt_str_eqc(type, "tool")) {
      lt_str result = member(&a, data, "output.result.type");
      const char *key = lt_str_eqc(result, "pending") ? "output.result.reason"
                        : lt_str_eqc(result, "error") ? "output.result.error"
                                                      : "output.result.output";
      lt_buf_add(&w->events, member(&a, data, "output.function"));
      lt_buf_printf(&w->events, " %.*s ", LT_STR_ARG(result));
      lt_buf_add(&w->events, member(&a, data, key));
    } else {
      lt_buf_add(&w->events, member(&a, data, "output.mimeType"));
    }
  } else if (strcmp(event, "prompt.approval-requested") == 0) {
    lt_buf_addc(&w->events, "approval ");
    lt_buf_add(&w->events, member(&a, data, "request.toolName"));
    lt_buf_byte(&w->events, ' ');
    lt_buf_add(&w->events, member(&a, data, "request.input"));
    lt_buf_addc(&w->events, " (");
    lt_buf_add(&w->events, member(&a, data, "request.reason"));
    lt_buf_addc(&w->events, ")");
  } else if (strcmp(event, "prompt.error") == 0) {
    lt_buf_addc(&w->events, "error ");
    lt_buf_add(&w->events, member(&a, data, "error"));
  } else {
    lt_buf_addc(&w->events, strchr(event, '.') + 1);
  }
  lt_buf_byte(&w->events, '\n');
  lt_arena_release(&a);
}

static inline void note_piece(world *w, lt_str data) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_buf *to = lt_str_eqc(member(&a, data, "program"), "true") ? &w->drafts : &w->streams;
  if (to == &w->drafts) {
    lt_buf_add(to, member(&a, data, "index"));
    lt_buf_byte(to, lt_str_eqc(member(&a, data, "restart"), "true") ? '|' : '~');
  }
  lt_buf_add(to, member(&a, data, "delta"));
  lt_arena_release(&a);
}

static inline void acknowledge(world *w, lt_str data) {
  lt_json_doc doc;
  int64_t change = 0;
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  if (lt_json_parse(&a, data, &doc, NULL) == LT_OK && lt_json_int(lt_json_get(lt_json_root(&doc), "change"), &change)) {
    lt_agent_shown(w->agent, member(&a, data, "promptId"), (uint64_t)change);
  }
  lt_arena_release(&a);
}

static inline void on_event(void *arg, lt_str user, const char *event, lt_str data) {
  world *w = arg;
  (void)user;
  if (strcmp(event, "prompt.stream") == 0) {
    note_piece(w, data);
  } else {
    note_event(w, event, data);
  }
  if (w->on_event != NULL) {
    w->on_event(w, event, data);
  }
  if (strcmp(event, "prompt.output") == 0 && !w->never_shown) {
    acknowledge(w, data);
  }
  lt_wait_wake(&w->stirred, LT_OK);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static inline lt_runner *runner_of(void *arg, lt_lang lang, lt_err *err) {
  (void)lang;
  world *w = arg;
  if (w->quickjs == NULL && lt_quickjs_new(w->loop, w->door, 2, &w->quickjs, err) != LT_OK) {
    return NULL;
  }
  return lt_quickjs_runner(w->quickjs);
}

static inline void on_host_line(void *arg, bool warning, lt_str line) {
  (void)arg;
  if (warning) {
    print_error("%.*s\n", LT_STR_ARG(line));
  }
}

static inline void open_agent(world *w) {
  if (lt_agent_new(&w->options, &w->agent, &w->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&w->err));
  }
}

static inline void open_world(world *w) {
  static char url[96], name[2][16];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/s%u/v1", server.port, ++scripts);
  snprintf(name[0], sizeof name[0], "fake");
  assert_int_equal(lt_http_new(w->loop, &w->http, NULL), LT_OK);
  w->artifacts = lt_store_artifacts_new(w->db);
  w->journal = lt_store_journal_new(w->db);
  const lt_host_options host = {.loop = w->loop,
                                .door = w->door,
                                .db = w->db,
                                .is_mode_reserved = lt_agent_is_built_in_mode,
                                .artifacts = w->artifacts,
                                .runner = runner_of,
                                .on_line = on_host_line,
                                .arg = w};
  assert_int_equal(lt_host_new(&host, &w->host, NULL), LT_OK);
  assert_int_equal(lt_host_add(w->host, lt_builtin_artifact, LT_STR(""), NULL), LT_OK);
  assert_int_equal(lt_host_add(w->host, lt_builtin_interpreter, LT_STR(""), NULL), LT_OK);
  lt_host_ready(w->host);
  w->models[0] = (lt_model){.ref = LT_STR("normal"), .name = LT_STR("fake"), .base_url = lt_str_of(url)};
  w->options = (lt_agent_options){
      .loop = w->loop,
      .door = w->door,
      .db = w->db,
      .http = w->http,
      .host = w->host,
      .journal = lt_masked_records_journal(&w->masked_journal, w->journal, w->secrets),
      .artifacts = w->artifacts,
      .secrets = w->secrets,
      .models = w->models,
      .model_count = 1,
      .default_mode = LT_STR("code"),
      .runner = runner_of,
      .runner_arg = w,
      .on_event = on_event,
      .arg = w,
  };
  open_agent(w);
}

static inline void close_world(world *w) {
  lt_agent_free(w->agent);
  lt_host_free(w->host);
  lt_quickjs_free(w->quickjs);
  lt_http_free(w->http);
  lt_store_journal_free(w->journal);
  lt_store_artifacts_free(w->artifacts);
  lt_store_close(w->db);
}

static inline void on_world_fiber(void *arg) {
  world *w = arg;
  open_world(w);
  w->body(w);
  close_world(w);
}

static inline void in_world(void (*body)(world *w)) {
  world w = {.body = body};
  sigaction(SIGSEGV, &on_segv, NULL);
  sigaction(SIGBUS, &on_bus, NULL);
  lt_buf_init(&w.events, LT_GIB);
  lt_buf_init(&w.streams, LT_GIB);
  lt_buf_init(&w.drafts, LT_GIB);
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  lt_wait_init(&w.stirred, w.loop);
  w.secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(w.secrets, LT_STR("hunter2-hunter2")), LT_OK);
  const lt_door_options door = {.secrets = w.secrets};
  assert_int_equal(lt_door_new(w.loop, &door, &w.door, NULL), LT_OK);
  w.tools = (lt_provider){.name = LT_STR("weather"), .invoke = invoke_t};
  w.bank = (lt_provider){.name = LT_STR("bank"), .invoke = invoke_bank};
  assert_int_equal(
      lt_door_set_tools(w.door, &w.tools, weather_specs, sizeof weather_specs / sizeof *weather_specs, NULL), LT_OK);
  assert_int_equal(lt_door_set_tools(w.door, &w.bank, bank_specs, 1, NULL), LT_OK);
  snprintf(w.path, sizeof w.path, "%s/%u.db", server.folder, scripts);
  assert_int_equal(lt_store_new(w.loop, w.path, &w.db, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, on_world_fiber, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  assert_int_equal(w.open, 0);
  lt_door_free(w.door);
  lt_loop_free(w.loop);
  lt_secrets_free(w.secrets);
  lt_policy_free(w.policy);
  lt_buf_release(&w.events);
  lt_buf_release(&w.streams);
  lt_buf_release(&w.drafts);
}

/* A test whose body runs on a fiber of the loop: IN_WORLD(test_name) { ... w ... } */
#define IN_WORLD(name)                   \
  static void name##_on_fiber(world *w); \
  static void name(void **state) {       \
    (void)state;                         \
    in_world(name##_on_fiber);           \
  }                                      \
  static void name##_on_fiber(world *w)

/* --- What tests do ------------------------------------------------------------------------------------------------ */
/* What the model will say: a JSON array, see script_model.mjs. */
static inline void script(const char *replies) {
  char path[128];
  lt_err err = LT_ERR_INIT;
  if (lt_json_check(lt_str_of(replies), &err) != LT_OK) {
    FAIL_WITH("%s in %s\n", lt_err_msg(&err), replies);
  }
  snprintf(path, sizeof path, "%s/s%u.json", server.folder, scripts);
  FILE *f = fopen(path, "w");
  fputs(replies, f);
  fclose(f);
}

/* The same from texts, NULL at the end. */
static inline void script_texts(const char *first, ...) {
  lt_buf json;
  va_list more;
  lt_buf_init(&json, LT_GIB);
  lt_json_writer writer = lt_json_writer_on(&json);
  lt_json_begin_array(&writer);
  va_start(more, first);
  for (const char *text = first; text != NULL; text = va_arg(more, const char *)) {
    lt_json_put_cstr(&writer, text);
  }
  va_end(more);
  lt_json_end_array(&writer);
  script(json.p);
  lt_buf_release(&json);
}

/* Takes out of a request what classic and typescript mode themselves tell the model; what else is in that message
 * stays. */
static inline void leave_mode_out(char *body) {
  static const char begin[] = "{\"role\":\"system\",\"content\":\"You are an assistant ",
                    end[] = "the user's language.";
  char *from = strstr(body, begin);
  char *to = from != NULL ? strstr(from, end) : NULL;
  if (to == NULL) {
    return;
  }
  to += sizeof end - 1;
  bool is_all = strncmp(to, "\"},", 3) == 0;
  from += is_all ? 0 : strlen("{\"role\":\"system\",\"content\":\"");
  to += is_all ? 3 : strlen("\\n\\n");
  memmove(from, to, strlen(to) + 1);
}

/* The body of request `n`, from 0; the caller frees. */
static inline char *asked(unsigned n) {
  char path[128];
  char *line = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, "%s/s%u.asked", server.folder, scripts);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  for (unsigned i = 0; i <= n; i++) {
    if (getline(&line, &size, f) < 0) {
      FAIL_WITH("the model was not asked %u times\n", n + 1);
    }
  }
  fclose(f);
  leave_mode_out(line);
  char *body = strdup(line);
  free(line);
  return body;
}

static inline unsigned times_asked(void) {
  char path[128];
  unsigned n = 0;
  snprintf(path, sizeof path, "%s/s%u.asked", server.folder, scripts);
  FILE *f = fopen(path, "r");
  for (int c; f != NULL && (c = fgetc(f)) != EOF;) {
    n += c == '\n';
  }
  if (f != NULL) {
    fclose(f);
  }
  return n;
}

/* A member of request `n`, such as "messages.1.content"; negative numbers count from the end in `messages`. */
static inline void assert_asked(unsigned n, const char *path, const char *expected) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  char *body = asked(n);
  lt_str text = member(&a, lt_str_of(body), path);
  char *got = lt_mem_strdup(text);
  assert_string_equal(got, expected);
  lt_mem_free(got);
  free(body);
  lt_arena_release(&a);
}

static inline void start_in(world *w, const char *conversation, const char *mode, const char *input) {
  const lt_prompt_request request = {.user = LT_STR("ann"),
                                     .conversation = lt_str_of(conversation),
                                     .input = lt_str_of(input),
                                     .mode = lt_str_of(mode)};
  if (lt_agent_start(w->agent, &request, &w->ids, &w->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&w->err));
  }
}

static inline void start(world *w, const char *input) {
  start_in(w, "", "", input);
}

static inline void wait_end(world *w) {
  lt_status status = lt_agent_wait(w->agent, lt_str_of(w->ids.prompt), NULL, &w->err);
  assert_true(status == LT_OK || status == LT_E_NOTFOUND);
}

/* Until the events hold this text. */
static inline void wait_event(world *w, const char *text) {
  while (w->events.n == 0 || strstr(w->events.p, text) == NULL) {
    if (lt_wait_on(&w->stirred, 30000) == LT_E_TIMEOUT) {
      FAIL_WITH("no \"%s\" in:\n%s\n", text, w->events.p);
    }
  }
}

static inline void prompt(world *w, const char *input) {
  start(w, input);
  wait_end(w);
}

static inline void assert_events(world *w, const char *expected) {
  assert_string_equal(w->events.n > 0 ? w->events.p : "", expected);
}

static inline void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    FAIL_WITH("no \"%s\" in: %s\n", part, text);
  }
}

/* Whether the model's request `n` has `part` in what stands at `path`. */
static inline void assert_asked_has(unsigned n, const char *path, const char *part) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  char *body = asked(n);
  char *got = lt_mem_strdup(member(&a, lt_str_of(body), path));
  assert_has(got, part);
  lt_mem_free(got);
  free(body);
  lt_arena_release(&a);
}

/* A member of the last prompt as it is stored. */
static inline lt_str stored(world *w, lt_arena *a, const char *path) {
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  if (lt_store_prompt_get(w->db, LT_STR("ann"), lt_str_of(w->ids.prompt), &text, &w->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&w->err));
  }
  lt_str copy = lt_arena_dup(a, lt_buf_view(&text));
  lt_buf_release(&text);
  return member(a, copy, path);
}

static inline void assert_stored(world *w, const char *path, const char *expected) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_str text = stored(w, &a, path);
  char *got = lt_mem_strdup(text);
  assert_string_equal(got, expected);
  lt_mem_free(got);
  lt_arena_release(&a);
}

#endif
