/* An MCP server as a provider, with a client that only pretends: the functions of mcp/mcp_client.h are below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tool/masked_records.h"
#include "source/mcp_provider.h"
#include "unit/fiber_case.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* --- The client
 * ------------------------------------------------------------------------------------------------------- */
struct lt_mcp {
  lt_mcp_options options;
  lt_mcp_state state;
  lt_str reason;
  const lt_mcp_tool *tools;
  size_t count;
  lt_str answer; /* the result object's text */
  lt_status status;
  uint64_t got_timeout_ms;
  bool is_drained, is_shut_down;
};

static struct lt_mcp clients[2];
static struct lt_mcp *newest = &clients[0];
#define client (*newest)

lt_status lt_mcp_open(lt_loop *loop, const lt_mcp_options *options, lt_mcp **ret_mcp, lt_err *err) {
  (void)loop;
  void *memory = lt_mem_alloc(1);
  if (memory == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory");
  }
  lt_mem_free(memory);
  newest = newest == &clients[0] ? &clients[1] : &clients[0];
  client = (struct lt_mcp){.options = *options, .state = LT_MCP_STARTING};
  *ret_mcp = &client;
  return LT_OK;
}

lt_mcp_state lt_mcp_state_of(const lt_mcp *mcp) {
  return mcp->state;
}

lt_str lt_mcp_reason(const lt_mcp *mcp) {
  return mcp->reason;
}

lt_str lt_mcp_protocol_version(const lt_mcp *mcp) {
  (void)mcp;
  return LT_STR("2025-11-25");
}

const lt_mcp_tool *lt_mcp_tools(const lt_mcp *mcp, size_t *ret_count) {
  *ret_count = mcp->count;
  return mcp->tools;
}

lt_status lt_mcp_call(lt_mcp *mcp, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) {
  (void)tool;
  (void)arguments;
  mcp->got_timeout_ms = options->timeout_ms;
  if (mcp->status != LT_OK) {
    return lt_fail(err, mcp->status, "the server said nothing");
  }
  lt_arena_init(&ret_result->arena, 64 * LT_MIB);
  lt_status status = lt_json_parse(&ret_result->arena, mcp->answer, &ret_result->doc, err);
  if (status != LT_OK) {
    lt_arena_release(&ret_result->arena);
    return status;
  }
  ret_result->result = lt_json_root(&ret_result->doc);
  return LT_OK;
}

bool lt_mcp_may_retry(const lt_mcp *mcp) {
  (void)mcp;
  return false;
}

void lt_mcp_retry(lt_mcp *mcp) {
  (void)mcp;
}

void lt_mcp_wake(lt_mcp *mcp, uint64_t timeout_ms, lt_cancel *cancel) {
  (void)timeout_ms;
  (void)cancel;
  mcp->state = mcp->state == LT_MCP_IDLE ? LT_MCP_READY : mcp->state;
}

void lt_mcp_result_release(lt_mcp_result *result) {
  lt_arena_release(&result->arena);
}

lt_status lt_mcp_wait_ready(lt_mcp *mcp, lt_err *err) {
  return mcp->state == LT_MCP_READY ? LT_OK : lt_fail(err, LT_E_CLOSED, "it did not start");
}

void lt_mcp_drain(lt_mcp *mcp, lt_cancel *hurry) {
  assert_non_null(hurry);
  mcp->is_drained = true;
}

void lt_mcp_shut_down(lt_mcp *mcp) {
  mcp->is_shut_down = true;
  mcp->count = 0;
  mcp->options.on_tools(mcp->options.arg, mcp); /* a client may: nobody must listen any more */
}

void lt_mcp_free(lt_mcp *mcp) {
  assert_true(mcp == NULL || mcp->is_shut_down);
}

/* --- What all tests stand on
 * ------------------------------------------------------------------------------------------ */
static const lt_mcp_tool tools[] = {
    {.name = TEXT("say"), .description = TEXT("Says it"), .input_schema = TEXT("{}")},
    {.name = TEXT("count"), .input_schema = TEXT("{}"), .output_schema = TEXT("{\"type\":\"integer\"}")},
};

typedef struct world {
  lt_loop *loop;
  lt_door *door;
  lt_mcp_provider *provider;
  unsigned listed;
  unsigned warned;
  bool refused; /* the door did not take the list */
  void (*body)(struct world *w);
} world;

static void on_tools(void *arg, lt_mcp *mcp) {
  world *w = arg;
  lt_catalog *catalog = NULL;
  assert_ptr_equal(mcp, &client);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), w->refused ? 2 : client.count); /* the door knows before */
  lt_catalog_unref(catalog);
  w->listed++;
}

static void on_warning(void *arg, lt_mcp *mcp, lt_str message) {
  (void)mcp;
  assert_true(message.n > 0);
  ((world *)arg)->warned++;
}

static void run_body(void *arg) {
  world *w = arg;
  const lt_mcp_options options = {.name = LT_STR("srv"), .on_tools = on_tools, .on_warning = on_warning, .arg = w};
  assert_int_equal(lt_mcp_provider_open(w->loop, w->door, &options, NULL, &w->provider, NULL), LT_OK);
  assert_ptr_equal(lt_mcp_provider_client(w->provider), &client);
  client.state = LT_MCP_READY;
  client.tools = tools;
  client.count = 2;
  client.options.on_tools(client.options.arg, &client);
  w->body(w);
  lt_mcp_provider_end(w->provider, NULL);
  assert_true(client.is_shut_down && !client.is_drained);
  lt_mcp_provider_free(w->provider);
}

static void on_fiber(void (*body)(world *w)) {
  world w = {.body = body};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  lt_secrets *secrets = lt_secrets_new();
  const lt_door_options options = {.secrets = secrets};
  assert_int_equal(lt_secrets_add(secrets, LT_STR("hunter2-hunter2")), LT_OK);
  assert_int_equal(lt_door_new(w.loop, &options, &w.door, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, run_body, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  lt_door_free(w.door);
  lt_loop_free(w.loop);
  lt_secrets_free(secrets);
}

static void expect_call(world *w, const char *id, lt_status status, const char *want) {
  const lt_invoke_options options = {.timeout_ms = 777};
  lt_buf out;
  lt_buf_init(&out, 16 * LT_MIB);
  assert_int_equal(lt_door_call(w->door, lt_str_of(id), LT_STR(""), &options, &out, NULL), status);
  assert_string_equal(out.p, want);
  lt_buf_release(&out);
}

TEST(the_list_reaches_the_door) {
  lt_catalog *catalog = NULL;
  assert_int_equal(w->listed, 1);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  const lt_tool *tool = lt_catalog_find(catalog, LT_STR("srv.say"));
  assert_non_null(tool);
  assert_true(lt_str_eqc(tool->description, "Says it"));
  lt_catalog_unref(catalog);
}

TEST(answers_become_values) {
  client.answer = LT_STR("{\"content\":[{\"type\":\"text\",\"text\":\"42\"}]}");
  expect_call(w, "srv.say", LT_OK, "\"42\"");
  expect_call(w, "srv.count", LT_OK, "42"); /* its output schema says so */
  assert_int_equal(client.got_timeout_ms, 777);
  client.answer = LT_STR("{\"content\":[]}");
  expect_call(w, "srv.say", LT_OK, "null");
}

static lt_status expect_masked(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) {
  (void)self, (void)err;
  assert_true(lt_str_eqc(artifact->data, "it is ***"));
  assert_true(lt_str_eqc(artifact->mime_type, "text/***"));
  lt_buf_addc(ret_id, "a1");
  return LT_OK;
}

TEST(what_is_kept_of_answers_has_no_secrets) {
  lt_artifacts artifacts = {.put = expect_masked};
  lt_masked_artifacts masked;
  const lt_caller caller = {.user = LT_STR("ann"),
                            .artifacts = lt_masked_records_artifacts(&masked, &artifacts, lt_door_secrets(w->door))};
  const lt_invoke_options options = {.caller = &caller};
  client.answer = LT_STR(
      "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\","
      "\"mimeType\":\"text/hunter2-hunter2\",\"blob\":\"aXQgaXMgaHVudGVyMi1odW50ZXIy\"}}]}");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("srv.say"), LT_STR(""), &options, &out, NULL), LT_OK);
  assert_true(lt_str_find(lt_buf_view(&out), LT_STR("\"artifact\":\"a1\""), 0) != SIZE_MAX);
  lt_buf_release(&out);
}

TEST(failures_keep_their_words) {
  client.answer = LT_STR("{\"isError\":true,\"content\":[]}");
  expect_call(w, "srv.say", LT_E_TOOL, "Tool \"srv.say\" failed without a message");
  client.status = LT_E_TIMEOUT;
  expect_call(w, "srv.say", LT_E_TIMEOUT, "the server said nothing");
}

TEST(long_answers_are_read_off_the_loop) {
  lt_buf answer;
  lt_buf_init(&answer, 8 * LT_MIB);
  lt_buf_addc(&answer, "{\"structuredContent\":[\"");
  memset(lt_buf_reserve(&answer, 2 * LT_MIB), 'x', 2 * LT_MIB);
  lt_buf_commit(&answer, 2 * LT_MIB);
  lt_buf_addc(&answer, "\"]}");
  client.answer = lt_buf_view(&answer);
  lt_buf out;
  lt_buf_init(&out, 8 * LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("srv.say"), LT_STR(""), NULL, &out, NULL), LT_OK);
  assert_int_equal(out.n, 2 * LT_MIB + 4);
  lt_buf_release(&out);
  lt_buf_release(&answer);
}

TEST(a_server_that_is_down_says_why) {
  client.state = LT_MCP_DOWN;
  client.reason = LT_STR("srv could not be started");
  expect_call(w, "srv.say", LT_E_CLOSED, "srv could not be started");
  client.count = 0;
  client.options.on_tools(client.options.arg, &client);
  expect_call(w, "srv.say", LT_E_CLOSED, "srv could not be started");
}

TEST(too_many_tools_are_a_warning) {
  static lt_mcp_tool many[LT_TOOLS_MAX + 1];
  lt_catalog *catalog = NULL;
  client.tools = many;
  client.count = LT_TOOLS_MAX + 1;
  w->refused = true;
  client.options.on_tools(client.options.arg, &client);
  assert_int_equal(w->warned, 1);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), 2); /* the last list that could be taken */
  lt_catalog_unref(catalog);
}

static void expect_tools(const world *w, size_t count) {
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), count);
  lt_catalog_unref(catalog);
}

/* Puts a provider whose server starts in the place of the world's one, which it returns. */
static lt_mcp_provider *replace(world *w) {
  const lt_mcp_options options = {.name = LT_STR("srv"), .on_tools = on_tools, .on_warning = on_warning, .arg = w};
  lt_mcp_provider *before = w->provider;
  const struct lt_mcp *first = newest;
  lt_cancel hurry;
  lt_cancel_init(&hurry);
  assert_int_equal(lt_mcp_provider_open(w->loop, w->door, &options, before, &w->provider, NULL), LT_OK);
  lt_mcp_provider_end(before, &hurry);
  assert_true(first->is_drained && first->is_shut_down);
  return before;
}

TEST(one_that_takes_the_place_of_another_has_its_tools_until_it_has_its_own) {
  lt_mcp_provider *before = replace(w);
  expect_tools(w, 2);
  client.state = LT_MCP_READY;
  client.answer = LT_STR("{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}");
  expect_call(w, "srv.say", LT_OK, "\"hello\"");
  client.tools = tools;
  client.count = 1;
  client.options.on_tools(client.options.arg, &client);
  expect_tools(w, 1);
  assert_int_equal(lt_mcp_provider_await(w->provider, NULL), LT_OK);
  expect_tools(w, 1);
  lt_mcp_provider_free(before);
}

TEST(one_that_cannot_start_has_no_tools_of_another) {
  lt_mcp_provider *before = replace(w);
  client.state = LT_MCP_DOWN;
  client.reason = LT_STR("it did not start");
  assert_int_equal(lt_mcp_provider_await(w->provider, NULL), LT_E_CLOSED);
  expect_tools(w, 0);
  expect_call(w, "srv.say", LT_E_CLOSED, "it did not start");
  lt_mcp_provider_free(before);
}

TEST(one_that_has_left_does_not_come_back_with_a_new_list) {
  lt_mcp_provider_leave(w->provider);
  client.options.on_tools(client.options.arg, &client);
  expect_tools(w, 0);
  const lt_mcp_options options = {.name = LT_STR("SRV")};
  struct lt_mcp *first = newest;
  lt_mcp_provider *second;
  assert_int_equal(lt_mcp_provider_open(w->loop, w->door, &options, w->provider, &second, NULL),
                   LT_OK); /* free again */
  lt_mcp_provider_leave(second);
  lt_mcp_provider_end(second, NULL);
  lt_mcp_provider_free(second);
  newest = first;
}

static void without_memory_nothing_is_left_behind(void **state) {
  (void)state;
  world w = {0};
  const lt_mcp_options options = {.name = LT_STR("srv")};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  for (long n = 0;; n++) {
    assert_int_equal(lt_door_new(w.loop, NULL, &w.door, NULL), LT_OK);
    lt_mem_fail_at(n);
    lt_status status = lt_mcp_provider_open(w.loop, w.door, &options, NULL, &w.provider, NULL);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      lt_mcp_provider_end(w.provider, NULL);
      lt_mcp_provider_free(w.provider);
      lt_door_free(w.door);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
    lt_door_free(w.door);
  }
  lt_mcp_provider_free(NULL);
  lt_loop_free(w.loop);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_reaches_the_door),
      cmocka_unit_test(answers_become_values),
      cmocka_unit_test(what_is_kept_of_answers_has_no_secrets),
      cmocka_unit_test(failures_keep_their_words),
      cmocka_unit_test(long_answers_are_read_off_the_loop),
      cmocka_unit_test(a_server_that_is_down_says_why),
      cmocka_unit_test(too_many_tools_are_a_warning),
      cmocka_unit_test(one_that_takes_the_place_of_another_has_its_tools_until_it_has_its_own),
      cmocka_unit_test(one_that_cannot_start_has_no_tools_of_another),
      cmocka_unit_test(one_that_has_left_does_not_come_back_with_a_new_list),
      cmocka_unit_test(without_memory_nothing_is_left_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
