/* Any calls of the library, with good and with bad arguments, by one thread or two.
 *
 * The first byte chooses the configuration, whether two threads make the calls, and whether the host waits for the ends
 * of its runs or closes the environment with them. Then four bytes each are a call: the function, and three that choose
 * its arguments. For one of them all that follows is text: the entries of a snapshot.
 *
 * What must hold: a failure has a message and returns nothing, and none is LATHE_E_INTERNAL; texts that are JSON are
 * JSON; a call is answered once; each run has one end; lathe_close comes back.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "json/json.h"
#include "lathe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  STEP_BYTES = 4,
  STEPS_MAX = 64,
  REMEMBERED = 16, /* numbers of runs and calls */
  NUMBERS_MAX = 4096,
  ENDS_MS = 20000, /* then a run is left that should have ended: also on a slow machine */
  HUGE_BYTES = 65 * 1024 * 1024,
  TWO_THREADS = 1,
  WAITS_FOR_ENDS = 2,
  CONFIG_SHIFT = 2, /* the first byte */
  DEPTH_MAX = 3,    /* of lathe_run in an event of lathe_run */
};

/* The calls of one thread. */
typedef struct host {
  lathe_env *env;
  lt_str input; /* what is left of it */
  unsigned steps, depth;
  uint64_t runs[REMEMBERED], calls[REMEMBERED];
  size_t run_count, call_count;
  char *snapshot; /* the last one; NULL: none */
} host;

/* One call of a function. */
typedef struct step {
  uint8_t what, a, b, c;
} step;

/* Of the environment, by both threads. */
static atomic_uint started, ended;
static atomic_bool answered[NUMBERS_MAX];

static void check(bool is, const char *what) {
  if (!is) {
    fprintf(stderr, "fuzz_embed: %s\n", what);
    abort();
  }
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */
#define PICK(table, n) ((table)[(n) % (sizeof(table) / sizeof((table)[0]))])

static const char *pick_program(unsigned n) {
  static const char *const programs[] = {
      "1",
      "tPlain({})",
      "tAsked({n: 1})",
      "output('a'); console.log('b'); tPlain({n: 1}) + tPlain({n: 2})",
      "parallel([{tool: 't.plain', input: {n: 1}}, {tool: 't.asked', input: {n: 2}}, {tool: 't.gone'}])",
      "try { tPlain({}) } catch (e) { tAsked({n: e.message}) }",
      "interpreterRunCode({code: \"tPlain({}) + tAsked({n: 3})\"})",
      "for (;;) {}",
      "null.x",
      "const n: number = tPlain({}); return n",
      "syntax error",
      "output('x'.repeat(1e6)); store('k', 1); tGone({a: [1, {b: null}]})",
      "[Date.now(), Math.random(), tPlain({}), input]",
      "llm('what?')",
      "",
      NULL,
  };
  return PICK(programs, n);
}

/* 65 MiB of "xxx": more than an answer may have. */
static const char *huge_text(void) {
  static char *text;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (text == NULL) {
    text = malloc(HUGE_BYTES + 1);
    check(text != NULL, "no memory");
    memset(text, 'x', HUGE_BYTES);
    text[0] = text[HUGE_BYTES - 1] = '"';
    text[HUGE_BYTES] = '\0';
  }
  pthread_mutex_unlock(&lock);
  return text;
}

/* For answers, inputs, schemas, annotations and reasons alike. */
static const char *pick_text(unsigned n) {
  static const char *const texts[] = {
      NULL,
      "1",
      "{}",
      "{\"n\": 2}",
      "\"text\"",
      "",
      "{",
      "nul",
      "{} {}",
      "[[[[[[[[1]]]]]]]]",
      "\"\\ud800\"",
      "\xff\xfe",
      "{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"number\"}}, \"required\": [\"n\"]}",
      "{\"type\": \"nothing\", \"properties\": 3}",
      "{\"readOnlyHint\": true, \"idempotentHint\": \"yes\"}",
  };
  return n % 64 == 63 ? huge_text() : PICK(texts, n);
}

static const char *pick_tool(unsigned n) {
  static const char *const names[] = {"t.plain", "t.asked",    "t.gone", "plain", "t.", ".t",
                                      "",        "artifact.x", "a.b.c",  "\xff",  NULL};
  return PICK(names, n);
}

static uint64_t pick_number(const uint64_t *known, size_t count, unsigned n) {
  return n < 192 && count > 0 ? known[n % (count < REMEMBERED ? count : REMEMBERED)] : n - (n < 192 ? 0 : 192);
}

/* A struct as a host hands it over, in memory of just its size: as it is, of an older header, or a newer one that sets
 * a new member or not, or with a size that cannot be. Free it. */
static void *sized(const void *ours, size_t size, size_t oldest, unsigned how) {
  const size_t wrong[] = {0, 1, oldest - 1, LT_EMBED_STRUCT_BYTES + 1, SIZE_MAX};
  size_t said = how % 16 < 10 ? size : how % 16 < 12 ? oldest : how % 16 < 14 ? size + 16 : PICK(wrong, how / 16);
  size_t real = said > LT_EMBED_STRUCT_BYTES || said < sizeof said ? sizeof said : said;
  unsigned char *theirs = calloc(1, real);
  check(theirs != NULL, "no memory");
  memcpy(theirs, ours, real < size ? real : size);
  memcpy(theirs, &said, sizeof said);
  if (how % 16 == 13) {
    theirs[real - 1] = 1;
  }
  return how == 255 ? (free(theirs), NULL) : theirs;
}

/* --- What every function promises --------------------------------------------------------------------------------- */
static void check_status(lathe_status status, const lathe_error *error) {
  check(status >= LATHE_OK && (status <= LATHE_E_INTERNAL || status == LATHE_E_FORKED), "there is no such status");
  check(status != LATHE_E_INTERNAL && status != LATHE_E_FORKED, "a fault of the library");
  check(lathe_status_text(status)[0] != '\0', "a status without a text");
  if (status != LATHE_OK && error != NULL) {
    check(error->status == status, "the error has another status");
    check(error->message[0] != '\0' && memchr(error->message, 0, LATHE_MESSAGE_BYTES) != NULL, "no message");
  }
}

/* A text that is returned where there was no failure, and then only. */
static void check_text(lathe_status status, const lathe_error *error, const char *text, bool is_json) {
  check_status(status, error);
  check((text != NULL) == (status == LATHE_OK), "a failure with a text, or a success without one");
  check(text == NULL || !is_json || lt_json_check(lt_str_of(text), NULL) == LT_OK, "it is not JSON");
}

static void remember(uint64_t *known, size_t *count, uint64_t number) {
  known[(*count)++ % REMEMBERED] = number;
}

static void check_started(host *h, lathe_status status, const lathe_error *error, uint64_t run) {
  check_status(status, error);
  check((run != 0) == (status == LATHE_OK), "a failure with a run, or a success without one");
  if (run != 0) {
    started++;
    remember(h->runs, &h->run_count, run);
  }
}

static void check_event(host *h, const lathe_event *event) {
  check(event->size >= sizeof *event && event->tool != NULL && event->text != NULL && event->json != NULL, "no event");
  check(event->json[0] == '\0' || lt_json_check(lt_str_of(event->json), NULL) == LT_OK, "an event that is not JSON");
  check(event->data == NULL || event->data == h->env, "the data of no run");
  if (event->type == LATHE_EVENT_CALL || event->type == LATHE_EVENT_APPROVAL) {
    check(event->call != 0 && event->run != 0 && event->tool[0] != '\0', "a call of nothing");
    remember(h->calls, &h->call_count, event->call);
  }
  if (event->type == LATHE_EVENT_END) {
    check(event->status == LATHE_OK || event->text[0] != '\0', "a failed run without a message");
    ended++;
  }
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */
static void do_add_tool(host *h, const step *s, lathe_error *error) {
  const lathe_tool_options tool = {
      .name = pick_tool(s->a & 15),
      .description = pick_text(s->a >> 4),
      .input_schema = (s->b & 1) != 0 ? pick_text(s->b >> 1) : NULL,
      .output_schema = (s->b & 64) != 0 ? pick_text(s->b) : NULL,
      .annotations = (s->b & 128) != 0 ? pick_text(s->b) : NULL,
      .approval = (s->a & 15) == 1 ? "it is asked about" : NULL,
  };
  void *theirs = sized(&tool, sizeof tool, sizeof tool, s->c);
  check_status(lathe_add_tool(h->env, theirs, error), error);
  free(theirs);
}

static void do_remove_tool(host *h, const step *s, lathe_error *error) {
  check_status(lathe_remove_tool(h->env, pick_tool(s->a), error), error);
}

/* The limits are small, because programs wait for answers that never come. */
static void *make_run_options(const host *h, const step *s) {
  static const char *const languages[] = {NULL, "js", "ts", "cobol", ""};
  static const uint64_t timeouts_ms[] = {0, 1, 30, 100, UINT64_MAX}, memories[] = {0, 8 << 20, 1, UINT64_MAX};
  const lathe_run_options options = {
      .code = pick_program(s->a & 15),
      .language = (s->a & 15) == 9  ? "ts"
                  : (s->b & 3) == 3 ? PICK(languages, s->b >> 2)
                                    : NULL,
      .input = (s->a & 128) != 0 ? pick_text(s->b >> 2) : NULL,
      .timeout_ms = PICK(timeouts_ms, (s->a >> 4) & 7),
      .memory_bytes = (s->b & 12) == 12 ? PICK(memories, s->b >> 4) : 0,
      .data = h->env,
      .can_snapshot = s->b & 1,
      .by_turns = (s->b & 192) == 192,
      .keeps_signals = s->b & 2,
  };
  return sized(&options, sizeof options, offsetof(lathe_run_options, can_snapshot), s->c);
}

static void do_start(host *h, const step *s, lathe_error *error) {
  uint64_t run = 7;
  void *options = make_run_options(h, s);
  lathe_status status = lathe_start(h->env, options, &run, error);
  check_started(h, status, error, run);
  free(options);
}

/* Of all runs, or of one that is turned. */
static void do_next(host *h, const step *s, lathe_error *error) {
  static const int waits_ms[] = {0, 1, 5, 20};
  const lathe_event *event = NULL;
  int wait_ms = PICK(waits_ms, s->a);
  (void)error;
  lathe_status status = (s->b & 1) == 0
                            ? lathe_next(h->env, wait_ms, &event)
                            : lathe_turn(h->env, pick_number(h->runs, h->run_count, s->c), s->b >> 2, wait_ms, &event);
  check_status(status, NULL);
  check((event != NULL) == (status == LATHE_OK), "a failure with an event, or a success without one");
  if (event != NULL) {
    check_event(h, event);
    lathe_event_free(event);
  }
}

static void do_answer(host *h, const step *s, lathe_error *error) {
  lathe_status (*const answers[])(lathe_env *, uint64_t, const char *, lathe_error *) = {lathe_answer, lathe_fail,
                                                                                         lathe_approve, lathe_reject};
  uint64_t number = pick_number(h->calls, h->call_count, s->a);
  lathe_status status = PICK(answers, s->b)(h->env, number, pick_text(s->c), error);
  check_status(status, error);
  if (status == LATHE_OK && number < NUMBERS_MAX) {
    check(!atomic_exchange(&answered[number], true), "a call was answered twice");
  }
}

/* Or lets it go on by itself. */
static void do_cancel(host *h, const step *s, lathe_error *error) {
  uint64_t run = pick_number(h->runs, h->run_count, s->a);
  check_status((s->b & 1) == 0 ? lathe_cancel(h->env, run, error) : lathe_detach(h->env, run, error), error);
}

static bool take_step(host *h, step *ret) {
  if (h->input.n < STEP_BYTES || h->steps >= STEPS_MAX) {
    return false;
  }
  memcpy(ret, h->input.p, STEP_BYTES);
  h->input = lt_str_sub(h->input, STEP_BYTES, h->input.n);
  h->steps++;
  return true;
}

static void do_step(host *h, const step *s);

/* Makes the next call of the input. Then it answers the event unless that call did: lathe_run waits for the answer. */
static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  host *h = arg;
  step s;
  check(event->type != LATHE_EVENT_END, "lathe_run tells of its end");
  check_event(h, event);
  h->depth++;
  if (h->depth < DEPTH_MAX && take_step(h, &s)) {
    do_step(h, &s);
  }
  h->depth--;
  if (event->type == LATHE_EVENT_CALL) {
    (void)lathe_answer(env, event->call, "1", NULL);
  } else if (event->type == LATHE_EVENT_APPROVAL) {
    (void)lathe_reject(env, event->call, NULL, NULL);
  }
}

static void do_run(host *h, const step *s, lathe_error *error) {
  char *report = &(char){'x'};
  void *options = make_run_options(h, s);
  lathe_status status = lathe_run(h->env, options, (s->b & 2) != 0 ? on_event : NULL, h, &report, error);
  check(status != LATHE_OK || report != NULL, "a success without a report");
  check(report == NULL || lt_json_check(lt_str_of(report), NULL) == LT_OK, "a report that is not JSON");
  check_status(status, error);
  lathe_free(report);
  free(options);
}

static void do_snapshot(host *h, const step *s, lathe_error *error) {
  char *text = &(char){'x'};
  lathe_status status = lathe_snapshot(h->env, pick_number(h->runs, h->run_count, s->a), &text, error);
  check_text(status, error, text, true);
  if (status == LATHE_OK) {
    lathe_free(h->snapshot);
    h->snapshot = text;
  }
}

static void restore(host *h, const char *text, lathe_error *error) {
  uint64_t run = 7;
  lathe_status status = lathe_restore(h->env, text, h->env, &run, error);
  check_started(h, status, error, run);
}

/* The last snapshot, as it is or with a wrong byte, or a part of it. */
static void do_restore(host *h, const step *s, lathe_error *error) {
  char *text = h->snapshot != NULL ? strdup(h->snapshot) : NULL;
  size_t n = text != NULL ? strlen(text) : 0, at = n > 0 ? ((size_t)s->a << 8 | s->b) % n : 0;
  if (n > 0 && s->c > 0) {
    text[at] = s->c == 255 ? '\0' : (char)(text[at] ^ s->c);
  }
  restore(h, text, error);
  free(text);
}

static void do_restore_entries(host *h, const step *s, lathe_error *error) {
  char *text = malloc(h->input.n + 512);
  check(text != NULL, "no memory");
  int n =
      snprintf(text, 512,
               "{\"lathe\":\"%s\",\"code\":\"%s\",\"language\":\"js\",\"timeoutMs\":30,\"memoryBytes\":0,\"entries\":[",
               lathe_version(), s->a % 2 == 0 ? "tPlain({}) + tAsked({n: 1})" : "[Date.now(), tPlain({})]");
  memcpy(text + n, h->input.p, h->input.n);
  strcpy(text + (size_t)n + h->input.n, "]}");
  restore(h, text, error);
  free(text);
  h->input = LT_STR("");
}

static void do_prompt(host *h, const step *s, lathe_error *error) {
  uint64_t run = 7;
  const lathe_prompt_options options = {
      .input = (s->a & 16) != 0 ? pick_text(s->b) : pick_program(s->a),
      .model = (s->b & 3) == 3 ? "nobody" : NULL,
      .mode = (s->b & 12) == 12 ? "unheard-of" : NULL,
      .conversation = (s->b & 48) == 48 ? "c1" : NULL,
      .user = (s->b & 192) == 192 ? pick_text(s->a) : NULL,
      .prompt = (s->a & 96) == 96 ? pick_text(s->b) : NULL,
      .data = h->env,
  };
  void *theirs = sized(&options, sizeof options, sizeof options, s->c);
  lathe_status status = lathe_prompt(h->env, theirs, &run, error);
  check_started(h, status, error, run);
  free(theirs);
}

static void do_ask(host *h, const step *s, lathe_error *error) {
  static const char *const forms[] = {"ts", "python", "prompt", "cobol", NULL};
  char *text = &(char){'x'};
  lathe_status status;
  if (s->a % 3 == 0) {
    status = lathe_tools(h->env, pick_text(s->b), s->c, &text, error);
  } else if (s->a % 3 == 1) {
    status = lathe_declare(h->env, PICK(forms, s->b), s->c, &text, error);
  } else {
    void *options = make_run_options(h, s);
    status = lathe_check(h->env, options, &text, error);
    free(options);
  }
  check_text(status, error, text, s->a % 3 != 1);
  lathe_free(text);
}

/* Without an environment, and without a place for what is returned. */
static void do_nothing(host *h, const step *s, lathe_error *error) {
  const lathe_run_options options = {.size = sizeof options, .code = "1"};
  char *text = NULL;
  (void)s;
  check(lathe_start(NULL, &options, NULL, error) == LATHE_E_INVALID, "a run of no environment");
  check(lathe_restore(NULL, h->snapshot, NULL, NULL, error) == LATHE_E_INVALID, "a run of no environment");
  check(lathe_tools(NULL, "", 0, &text, error) == LATHE_E_INVALID, "tools of no environment");
  check(lathe_tools(h->env, "", 0, NULL, error) == LATHE_E_INVALID, "a place for nothing");
  check(lathe_snapshot(h->env, 1, NULL, error) == LATHE_E_INVALID, "a place for nothing");
  check(lathe_next(h->env, 0, NULL) == LATHE_E_INVALID, "a place for nothing");
  check(lathe_next(NULL, -1, &(const lathe_event *){NULL}) == LATHE_E_INVALID, "an event of no environment");
  check(lathe_fd(NULL) == -1 && lathe_fd(h->env) >= 0, "a descriptor of no environment");
  lathe_event_free(NULL);
  lathe_free(NULL);
  lathe_close(NULL);
}

/* Every fourth call has nowhere to put its error. */
static void do_step(host *h, const step *s) {
  void (*const functions[])(host *, const step *, lathe_error *) = {
      do_add_tool, do_remove_tool, do_start,           do_next, do_answer,  do_cancel, do_run, do_snapshot,
      do_restore,  do_prompt,      do_restore_entries, do_ask,  do_nothing,
  };
  enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
  lathe_error error = {.size = sizeof error};
  functions[s->what % FUNCTIONS](h, s, s->what / FUNCTIONS % 4 == 3 ? NULL : &error);
}

/* --- One environment ---------------------------------------------------------------------------------------------- */
static void *make_calls(void *arg) {
  host *h = arg;
  step s;
  while (take_step(h, &s)) {
    do_step(h, &s);
  }
  lathe_free(h->snapshot);
  return NULL;
}

/* All that the threads have started, they end here. */
static void await_ends(host *h) {
  uint64_t until_us = lt_clock_monotonic_us() + ENDS_MS * 1000ULL;
  for (uint64_t number = 1; number < NUMBERS_MAX && ended < started; number++) {
    (void)lathe_cancel(h->env, number, NULL);
    (void)lathe_detach(h->env, number, NULL);
  }
  while (ended < started) {
    check(lt_clock_monotonic_us() < until_us, "a run does not end");
    do_next(h, &(step){.a = 3}, NULL);
  }
  check(ended == started, "a run has ended twice");
}

static void make_all_calls(lathe_env *env, lt_str input, bool has_two_threads, bool waits_for_ends) {
  host one = {.env = env, .input = input}, two = {.env = env};
  pthread_t thread;
  if (has_two_threads) {
    size_t half = input.n / STEP_BYTES / 2 * STEP_BYTES;
    one.input = lt_str_sub(input, 0, half);
    two.input = lt_str_sub(input, half, input.n);
    check(pthread_create(&thread, NULL, make_calls, &two) == 0, "no thread");
  }
  make_calls(&one);
  if (has_two_threads) {
    pthread_join(thread, NULL);
  }
  if (waits_for_ends) {
    await_ends(&one);
  }
}

static lathe_status open_environment(unsigned n, lathe_env **ret_env) {
  static const char *const configs[] = {
      "{sandbox: {timeoutMs: 100}}",
      /* prompts that are programs ask no model */
      "{models: [{ref: none, baseUrl: 'http://127.0.0.1:1/v1'}], defaults: {mode: program}, sandbox: {timeoutMs: 100}}",
      "{sandbox: {timeoutMs: 100}, tools: {policy: [{match: 't.gone', action: deny}, {match: 't.plain', action: ask}],"
      " budgets: [{match: '*', calls: 2}]}}",
      "{sandbox: {timeoutMs: 100, maxOutputBytes: 1024}}", "{", "sandbox: 1", "\xff", NULL};
  lathe_error error = {.size = sizeof error};
  const lathe_options options = {.config = PICK(configs, n), .config_file = n % 16 == 15 ? "/nowhere" : NULL};
  void *theirs = sized(&options, sizeof options, offsetof(lathe_options, helper), n >> 3);
  lathe_status status = lathe_open(theirs, ret_env, &error);
  check_status(status, &error);
  check((*ret_env != NULL) == (status == LATHE_OK), "a failure with an environment, or a success without one");
  free(theirs);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lathe_env *env = NULL;
  if (size < 1 + STEP_BYTES || size > 65536) {
    return 0;
  }
  started = ended = 0;
  memset(answered, 0, sizeof answered);
  if (open_environment(data[0] >> CONFIG_SHIFT, &env) == LATHE_OK) {
    make_all_calls(env, lt_str_from(data + 1, size - 1), (data[0] & TWO_THREADS) != 0, (data[0] & WAITS_FOR_ENDS) != 0);
    lathe_close(env);
  }
  return 0;
}
