/* Prompts of the agent in the library: their events, calls of the host's tools, approvals, cancelling, and a prompt
 * that goes on in another environment with the same store. The model is a fake that says what a script tells it to. */
#include "embed_fix.h"

#include <stdatomic.h>

#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_env.h"
#include "unit/script_server.h"

static unsigned scripts; /* each script has a name of its own */

static lathe_env *open_with_model(const char *replies, const char *more) {
  char path[128], config[1024];
  snprintf(path, sizeof path, "%s/p%u.json", server.folder, ++scripts);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(replies, f);
  fclose(f);
  snprintf(config, sizeof config,
           "{\"models\": [{\"ref\": \"fake\", \"baseUrl\": \"http://127.0.0.1:%d/p%u/v1\"}],"
           " \"defaults\": {\"model\": \"fake\", \"mode\": \"code\"}%s}",
           server.port, scripts, more);
  return embed_open(config);
}

static uint64_t prompt(lathe_env *env, const char *input, const char *conversation) {
  uint64_t run = 0;
  const lathe_prompt_options options = {.size = sizeof options, .input = input, .conversation = conversation};
  assert_int_equal(lathe_prompt(env, &options, &run, NULL), LATHE_OK);
  assert_int_not_equal(run, 0);
  return run;
}

/* What the events until one of a type have been. */
typedef struct heard {
  char names[4000]; /* of the agent's events, with spaces between them */
  char text[400];   /* all pieces of text */
  char prompt[64], conversation[64];
  unsigned cancelled;
} heard;

static void copy_member(const char *json, const char *key, char *to, size_t size) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
  const char *at = strstr(json, quoted);
  if (at != NULL) {
    at += strlen(quoted);
    snprintf(to, size, "%.*s", (int)strcspn(at, "\""), at);
  }
}

static void hear(heard *h, const lathe_event *event) {
  if (event->type == LATHE_EVENT_CANCELLED) {
    h->cancelled++;
  } else if (event->type == LATHE_EVENT_PROMPT) {
    char piece[100] = "";
    strncat(h->names, event->text, 50);
    strcat(h->names, " ");
    copy_member(event->json, "promptId", h->prompt, sizeof h->prompt);
    copy_member(event->json, "conversationId", h->conversation, sizeof h->conversation);
    if (strcmp(event->text, "prompt.stream") == 0 && strstr(event->json, "\"program\"") == NULL) {
      copy_member(event->json, "delta", piece, sizeof piece);
      strcat(h->text, piece);
    }
  }
}

/* The next event of a type; those before it are heard. */
static const lathe_event *until(lathe_env *env, lathe_event_type type, heard *h) {
  const lathe_event *event = NULL;
  while (lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK && event->type != (int)type) {
    hear(h, event);
    if (event->type == LATHE_EVENT_END) {
      fail_msg("the prompt ended: %s %s", lathe_status_text(event->status), event->json);
    }
    lathe_event_free(event);
  }
  assert_non_null(event);
  return event;
}

static uint64_t until_call(lathe_env *env, lathe_event_type type, heard *h) {
  const lathe_event *event = until(env, type, h);
  uint64_t call = event->call;
  assert_string_equal(event->tool, "shop.stock");
  assert_has(event->json, "{\"item\":\"tea\"}");
  lathe_event_free(event);
  return call;
}

static void until_end(lathe_env *env, heard *h, lathe_status status, const char *report, const char *message) {
  const lathe_event *event = until(env, LATHE_EVENT_END, h);
  assert_int_equal(event->status, status);
  assert_has(event->json, report);
  assert_has(event->text, message);
  lathe_event_free(event);
}

static void expect_end(lathe_env *env, const lathe_prompt_options *options, lathe_status status, const char *message) {
  heard h = {.names = ""};
  uint64_t run;
  assert_int_equal(lathe_prompt(env, options, &run, NULL), LATHE_OK);
  until_end(env, &h, status, "{", message);
}

#define PROGRAM "[\"```js\\noutput(shopStock({item: 'tea'}).n)\\n```\", \"There are 41.\"]"

/* --- The whole way ------------------------------------------------------------------------------------------------ */
static void test_prompt(void **state) {
  (void)state;
  lathe_env *env = open_with_model(PROGRAM, "");
  heard first = {.names = ""}, second = {.names = ""};
  embed_add_tool(env, "shop.stock", NULL);
  uint64_t run = prompt(env, "How much tea is there?", NULL);
  const lathe_event *event = embed_next(env, LATHE_EVENT_PROMPT);
  assert_string_equal(event->text, "prompt.created");
  assert_has(event->json, "\"mode\":\"code\"");
  assert_int_equal(event->run, run);
  hear(&first, event);
  lathe_event_free(event);
  uint64_t call = until_call(env, LATHE_EVENT_CALL, &first);
  assert_int_equal(lathe_answer(env, call, "{\"n\": 41}", NULL), LATHE_OK);
  until_end(env, &first, LATHE_OK, "\"state\":\"completed\"", "");
  assert_string_equal(first.text, "41There are 41."); /* the program's word, then the model's */
  assert_has(first.names, "prompt.output ");
  assert_has(first.names, "prompt.completed ");
  assert_int_equal(strlen(first.conversation), 32);
  (void)prompt(env, "And again?", first.conversation);
  until_end(env, &second, LATHE_OK, "There are 41.", "");
  assert_string_equal(second.conversation, first.conversation);
  lathe_close(env);
}

/* How many requests the scripted model has got that have a text. */
static int count_asked(const char *text) {
  char path[128];
  static char line[LT_MIB];
  int count = 0;
  snprintf(path, sizeof path, "%s/p%u.asked", server.folder, scripts);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  while (fgets(line, sizeof line, f) != NULL) {
    count += strstr(line, text) != NULL;
  }
  fclose(f);
  return count;
}

#define DOT "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

static void test_attachments(void **state) {
  (void)state;
  lathe_env *env = open_with_model("[\"A dot.\"]", "");
  heard h = {.names = ""};
  lathe_prompt_options o = {.size = sizeof o, .input = "What is this?", .mode = "classic"};
  o.attachments = "[{\"name\": \"a/dot.png\", \"data\": \"" DOT
                  "\", \"mimeType\": \"image/jpeg\"},"
                  " {\"name\": \"notes.md\", \"text\": \"Buy tea.\"}]";
  assert_int_equal(lathe_prompt(env, &o, NULL, NULL), LATHE_OK);
  until_end(env, &h, LATHE_OK, "A dot.", "");
  assert_int_equal(count_asked("data:image/png;base64," DOT), 1);
  assert_int_equal(count_asked("[Attached: notes.md]\\nBuy tea."), 1);
  static const struct {
    const char *attachments, *message;
  } bad[] = {
      {"{}", "a list of at most 20"},
      {"[3]", "either `data` (base64) or `text`"},
      {"[{\"name\": \"a\", \"data\": \"AAAA\"}]", "models take images"},
      {"[{\"name\": \"a\", \"text\": \"<html>\", \"mimeType\": \"image/png\"}]", "its media type is that of an image"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    o.attachments = bad[i].attachments;
    expect_end(env, &o, LATHE_E_INVALID, bad[i].message);
  }
  o.attachments = "[";
  expect_end(env, &o, LATHE_E_SYNTAX, "not JSON");
  lathe_close(env);
}

static void test_approval(void **state) {
  (void)state;
  lathe_env *env = open_with_model(PROGRAM, "");
  heard h = {.names = ""};
  lathe_error error = {.size = sizeof error};
  embed_add_tool(env, "shop.stock", "it is far to go");
  (void)prompt(env, "How much tea is there?", NULL);
  const lathe_event *event = until(env, LATHE_EVENT_APPROVAL, &h);
  assert_has(event->text, "it is far to go");
  assert_has(h.names, "prompt.approval-requested ");
  uint64_t question = event->call;
  lathe_event_free(event);
  assert_int_equal(lathe_answer(env, question, "1", NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_approve(env, question, NULL, NULL), LATHE_OK);
  assert_int_equal(lathe_approve(env, question, NULL, &error), LATHE_E_NOTFOUND);
  assert_has(error.message, "does not wait");
  uint64_t call = until_call(env, LATHE_EVENT_CALL, &h);
  assert_int_equal(lathe_answer(env, call, "{\"n\": 41}", NULL), LATHE_OK);
  until_end(env, &h, LATHE_OK, "There are 41.", "");
  assert_has(h.names, "prompt.approval-decided ");
  assert_int_equal(h.cancelled, 0);
  lathe_close(env);
}

static void test_rejection(void **state) {
  (void)state;
  lathe_env *env = open_with_model(PROGRAM, "");
  heard h = {.names = ""};
  embed_add_tool(env, "shop.stock", "it is far to go");
  (void)prompt(env, "How much tea is there?", NULL);
  uint64_t question = until_call(env, LATHE_EVENT_APPROVAL, &h);
  assert_int_equal(lathe_reject(env, question, "stay here", NULL), LATHE_OK);
  until_end(env, &h, LATHE_OK, "stay here", "");
  lathe_close(env);
}

static void test_cancel(void **state) {
  (void)state;
  lathe_env *env = open_with_model(PROGRAM, "");
  heard h = {.names = ""};
  embed_add_tool(env, "shop.stock", "it is far to go");
  uint64_t run = prompt(env, "How much tea is there?", NULL);
  uint64_t question = until_call(env, LATHE_EVENT_APPROVAL, &h);
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_OK);
  until_end(env, &h, LATHE_E_CANCELLED, "\"state\":\"cancelled\"", "");
  assert_int_equal(h.cancelled, 1);
  assert_int_equal(lathe_approve(env, question, NULL, NULL), LATHE_E_NOTFOUND);
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_E_NOTFOUND);
  lathe_close(env);
}

/* The end of a prompt that is cancelled when it is about to end says what is in the store. */
static void test_cancel_at_the_end(void **state) {
  (void)state;
  lathe_env *env = open_with_model("[]", "");
  const lathe_prompt_options options = {.size = sizeof options, .input = "output('there')", .mode = "program"};
  for (int i = 0; i < 50; i++) {
    uint64_t run;
    bool is_put_out = false;
    assert_int_equal(lathe_prompt(env, &options, &run, NULL), LATHE_OK);
    while (!is_put_out) {
      const lathe_event *event = embed_next(env, LATHE_EVENT_PROMPT);
      is_put_out = strcmp(event->text, "prompt.output") == 0;
      lathe_event_free(event);
    }
    usleep(i * 20);
    (void)lathe_cancel(env, run, NULL);
    heard h = {.names = ""};
    const lathe_event *event = until(env, LATHE_EVENT_END, &h);
    assert_has(event->json, event->status == LATHE_OK ? "\"state\":\"completed\"" : "\"state\":\"cancelled\"");
    lathe_event_free(event);
  }
  lathe_close(env);
}

/* --- Another environment ------------------------------------------------------------------------------------------ */
/* The first one is closed while the prompt waits for a decision, and one that is open takes its place. */
static void test_goes_on(void **state) {
  (void)state;
  char more[256];
  heard first = {.names = ""}, second = {.names = ""};
  snprintf(more, sizeof more, ", \"store\": \"sqlite:%s/goes-on.db\"", server.folder);
  lathe_env *env = open_with_model(PROGRAM, more);
  embed_add_tool(env, "shop.stock", "it is far to go");
  (void)prompt(env, "How much tea is there?", NULL);
  (void)until_call(env, LATHE_EVENT_APPROVAL, &first);
  lathe_close(env);
  scripts--; /* the same script, whose first reply is on record, and the same configuration */
  env = open_with_model("[\"There are 41.\"]", more);
  embed_add_tool(env, "shop.stock", "it is far to go");
  uint64_t run;
  const lathe_prompt_options options = {.size = sizeof options, .prompt = first.prompt};
  assert_int_equal(lathe_prompt(env, &options, &run, NULL), LATHE_OK);
  uint64_t question = until_call(env, LATHE_EVENT_APPROVAL, &second);
  assert_has(second.names, "prompt.resumed ");
  assert_int_equal(lathe_approve(env, question, NULL, NULL), LATHE_OK);
  uint64_t call = until_call(env, LATHE_EVENT_CALL, &second);
  assert_int_equal(lathe_answer(env, call, "{\"n\": 41}", NULL), LATHE_OK);
  until_end(env, &second, LATHE_OK, "There are 41.", "");
  lathe_close(env);
}

/* --- What is wrong ------------------------------------------------------------------------------------------------ */
static void test_bad_prompts(void **state) {
  (void)state;
  uint64_t run = 7;
  char long_name[300];
  lathe_error error = {.size = sizeof error};
  lathe_env *env = open_with_model("[{\"status\": 400, \"text\": \"too hot to think\"}]", "");
  assert_int_equal(lathe_prompt(NULL, NULL, &run, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_prompt(env, NULL, &run, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_prompt(env, &(lathe_prompt_options){.size = 3}, &run, NULL), LATHE_E_INVALID);
  lathe_prompt_options o = {.size = sizeof o};
  assert_int_equal(lathe_prompt(env, &o, &run, &error), LATHE_E_INVALID);
  assert_has(error.message, "input");
  assert_int_equal(run, 0);
  o.prompt = "short";
  assert_int_equal(lathe_prompt(env, &o, &run, NULL), LATHE_E_INVALID);
  o = (lathe_prompt_options){.size = sizeof o, .input = "a", .prompt = "01a20a22d9190c1b80a7c404fd078bd5"};
  assert_int_equal(lathe_prompt(env, &o, &run, NULL), LATHE_E_INVALID);
  o.input = NULL;
  expect_end(env, &o, LATHE_E_NOTFOUND, "");
  memset(long_name, 'u', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  o = (lathe_prompt_options){.size = sizeof o, .input = "a", .user = long_name};
  assert_int_equal(lathe_prompt(env, &o, &run, NULL), LATHE_E_INVALID);
  o = (lathe_prompt_options){.size = sizeof o, .input = "a", .model = "none"};
  expect_end(env, &o, LATHE_E_INVALID, "none");
  o = (lathe_prompt_options){.size = sizeof o, .input = "a", .mode = "none"};
  expect_end(env, &o, LATHE_E_INVALID, "Unknown execution mode");
  o = (lathe_prompt_options){.size = sizeof o, .input = "a", .conversation = "none"};
  expect_end(env, &o, LATHE_E_NOTFOUND, "none");
  o = (lathe_prompt_options){.size = sizeof o, .input = "a"};
  expect_end(env, &o, LATHE_E_PROGRAM, "too hot to think");
  lathe_close(env);
}

static void test_no_models(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_prompt_options o = {.size = sizeof o, .input = "a"};
  expect_end(env, &o, LATHE_E_CONFIG, "models");
  lathe_close(env);
  env = embed_open("{\"models\": [{\"ref\": \"m\", \"apiKeyEnv\": \"LATHE_TEST_NO_SUCH_KEY\"}]}");
  expect_end(env, &o, LATHE_E_CONFIG, "LATHE_TEST_NO_SUCH_KEY");
  lathe_close(env);
}

static size_t count_events(lathe_env *env) {
  pthread_mutex_lock(&env->lock);
  size_t count = env->queue.count;
  pthread_mutex_unlock(&env->lock);
  return count;
}

static bool has_ended(lathe_env *env, uint64_t run) {
  pthread_mutex_lock(&env->lock);
  bool is_known = lt_embed_table_find(&env->runs, run) != NULL;
  pthread_mutex_unlock(&env->lock);
  return !is_known;
}

/* A question that finds no room would wait for ever. */
static void test_full_queue(void **state) {
  (void)state;
  lathe_env *env = open_with_model("[\"```js\\nshopStock({item: 'tea'}); shopBuy({})\\n```\"]", "");
  heard h = {.names = ""};
  embed_add_tool(env, "shop.stock", NULL);
  embed_add_tool(env, "shop.buy", "it costs");
  uint64_t run = prompt(env, "Buy tea.", NULL);
  uint64_t call = until_call(env, LATHE_EVENT_CALL, &h);
  for (int i = 0; i < 2; i++) { /* a program may log 65,536 empty lines */
    embed_start(env, "for (let i = 0; i < 60000; i++) console.log('')");
  }
  while (count_events(env) < LT_EMBED_EVENTS_MAX) {
    usleep(1000);
  }
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_OK);
  while (!has_ended(env, run)) { /* nothing is taken: there is no room again */
    usleep(1000);
  }
  const lathe_event *event = NULL;
  while (lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK && (event->type != LATHE_EVENT_END || event->run != run)) {
    assert_int_not_equal(event->type, LATHE_EVENT_APPROVAL);
    lathe_event_free(event);
  }
  assert_non_null(event);
  assert_int_equal(event->status, LATHE_E_CANCELLED);
  assert_has(event->text, "room");
  lathe_event_free(event);
  lathe_close(env);
}

/* True: an allocation has failed. The prompt ends all the same. */
static bool prompt_without_memory(lathe_env *env, long n) {
  uint64_t run = 7;
  lathe_error error = {.size = sizeof error};
  const lathe_prompt_options options = {
      .size = sizeof options, .input = "output(shopStock({item: 'tea'}))", .mode = "program"};
  lt_mem_fail_at(n);
  lathe_status status = lathe_prompt(env, &options, &run, &error);
  const lathe_event *event = NULL;
  bool has_ended = status != LATHE_OK;
  while (!has_ended && lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK) {
    has_ended = event->type == LATHE_EVENT_END;
    if (event->type == LATHE_EVENT_CALL && lathe_answer(env, event->call, "41", NULL) != LATHE_OK) {
      lathe_status failed = lathe_fail(env, event->call, NULL, NULL);
      assert_true(failed == LATHE_OK || failed == LATHE_E_NOTFOUND); /* the prompt may have failed meanwhile */
    }
    lathe_event_free(event);
  }
  bool has_failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  assert_true(has_ended);
  if (status != LATHE_OK) {
    assert_int_equal(status, LATHE_E_NOMEM);
    assert_has(error.message, "memory");
    assert_int_equal(run, 0);
  }
  return has_failed;
}

static void test_without_memory(void **state) {
  (void)state;
  lathe_env *env = NULL;
  for (long n = 24; n >= -1; n--) { /* the first prompt of an environment makes the agent */
    lathe_close(env);
    env = open_with_model("[]", "");
    embed_add_tool(env, "shop.stock", NULL);
    (void)prompt_without_memory(env, n);
  }
  for (long n = 0; prompt_without_memory(env, n); n++) {
  }
  lathe_close(env);
}

/* An environment that closes while a prompt waits for its model, and one for the host. */
static void test_close(void **state) {
  (void)state;
  lathe_env *env = open_with_model("[{\"text\": \"a\", \"hang\": true}]", "");
  (void)prompt(env, "Wait.", NULL);
  const lathe_event *event = embed_next(env, LATHE_EVENT_PROMPT);
  lathe_event_free(event);
  lathe_close(env);
  env = open_with_model(PROGRAM, "");
  heard h = {.names = ""};
  embed_add_tool(env, "shop.stock", NULL);
  (void)prompt(env, "How much tea is there?", NULL);
  (void)until_call(env, LATHE_EVENT_CALL, &h);
  lathe_close(env);
}

typedef struct latecomer {
  lathe_env *env;
  char *input;
  lathe_status status;
  atomic_bool is_over;
} latecomer;

static void *prompting_thread(void *arg) {
  latecomer *l = arg;
  const lathe_prompt_options options = {.size = sizeof options, .input = l->input};
  l->status = lathe_prompt(l->env, &options, NULL, NULL);
  l->is_over = true;
  return NULL;
}

static bool has_users(lathe_env *env) {
  pthread_mutex_lock(&env->lock);
  bool is_used = env->users > 0;
  pthread_mutex_unlock(&env->lock);
  return is_used;
}

/* The first prompt of an environment begins when that is closing: to copy its input takes longer. No agent is made for
 * it, as nobody would end it (the leak checker sees it). */
static void test_first_prompt_of_a_closing_environment(void **state) {
  (void)state;
  enum { INPUT_BYTES = 64 * 1024 * 1024 };
  pthread_t thread;
  latecomer l = {.env = open_with_model("[]", ""), .input = malloc(INPUT_BYTES), .status = LATHE_E_INTERNAL};
  memset(l.input, 'a', INPUT_BYTES - 1);
  l.input[INPUT_BYTES - 1] = '\0';
  assert_int_equal(pthread_create(&thread, NULL, prompting_thread, &l), 0);
  while (!has_users(l.env) && !l.is_over) {
  }
  lathe_close(l.env);
  pthread_join(thread, NULL);
  assert_int_equal(l.status, LATHE_OK);
  free(l.input);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prompt),
      cmocka_unit_test(test_attachments),
      cmocka_unit_test(test_approval),
      cmocka_unit_test(test_rejection),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_goes_on),
      cmocka_unit_test(test_bad_prompts),
      cmocka_unit_test(test_no_models),
      cmocka_unit_test(test_full_queue),
      cmocka_unit_test(test_close),
      cmocka_unit_test(test_first_prompt_of_a_closing_environment),
      cmocka_unit_test(test_cancel_at_the_end),
      cmocka_unit_test(test_without_memory),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, setup_server, teardown_server);
}
