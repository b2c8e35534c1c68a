/* Modes of plugins, from a shared object: on the plugin's own thread, and on the loop. */
#include "agent/modes/mode_table.h"
#include "agent_fix.h"

static void load(world *w, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s.so", LT_TEST_PLUGINS, name);
  if (lt_host_load(w->host, path, LT_STR(""), &w->err) != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&w->err));
  }
}

static void relay(world *w, const char *input) {
  start_in(w, "", "relay", input);
  wait_end(w);
}

static void carries_out_a_prompt(world *w) {
  script(
      "[{\"text\":\"Let me look.\",\"calls\":[{\"id\":\"c9\",\"name\":\"weather_get-weather\",\"arguments\":"
      "{\"latitude\":40,\"longitude\":1}}]},\"It is 20 degrees, hunter2-hunter2.\"]");
  relay(w, "How is the weather?");
  assert_events(w,
                "created\n"
                "output text Let me look.\n"
                "output tool weather.get-weather pending Executing...\n"
                "output tool weather.get-weather success {\"temperature\":20,\"description\":\"cloudy\"}\n"
                "output text It is 20 degrees, ***.\n"
                "completed\n");
  assert_string_equal(w->streams.p, "Let me look.It is 20 degrees, ***.");
  assert_stored(w, "state", "completed");
  assert_stored(w, "mode", "relay");
  assert_stored(w, "usage.inputTokens", "20");
  assert_stored(w, "usage.requests", "2");
  assert_stored(w, "output.1.input", "{\"latitude\":40,\"longitude\":1}");
  assert_asked(0, "messages", "[{\"role\":\"user\",\"content\":\"How is the weather?\"}]");
  assert_asked_has(0, "tools", "\"name\":\"weather_get-weather\"");
  assert_asked(1, "messages.2.content", "{\"temperature\":20,\"description\":\"cloudy\"}");
}

IN_WORLD(on_a_thread_of_its_own) {
  load(w, "mode");
  carries_out_a_prompt(w);
}

IN_WORLD(on_the_loop) {
  load(w, "mode_on_loop");
  carries_out_a_prompt(w);
}

IN_WORLD(failures_are_the_prompts) {
  load(w, "mode");
  relay(w, "fail");
  assert_events(w, "created\nerror it cannot be done with this\n");
  assert_stored(w, "state", "failed");
}

IN_WORLD(rounds_have_an_end) {
  load(w, "mode_on_loop");
  script_texts("1", "2", "3", "4", "5", NULL);
  relay(w, "ask");
  assert_events(w,
                "created\noutput text 1\noutput text 2\noutput text 3\noutput text 4\n"
                "error no reply: the model has been asked 4 times for this prompt, and no more are allowed\n");
  assert_int_equal(times_asked(), 4);
}

static void waits_for_approval(world *w) {
  script(
      "[{\"calls\":[{\"id\":\"p1\",\"name\":\"bank_pay\",\"arguments\":{\"amount\":5}}]},"
      "{\"calls\":[{\"id\":\"p2\",\"name\":\"bank_pay\",\"arguments\":{\"amount\":7}}]},\"Paid.\"]");
  for (int i = 0; i < 2; i++) {
    if (i == 0) {
      start_in(w, "", "relay", "Pay");
    }
    wait_event(w, i == 0 ? "approval bank.pay {\"amount\":5} (it is real money)" : "approval bank.pay {\"amount\":7}");
    lt_arena a;
    lt_arena_init(&a, LT_GIB);
    lt_str id = stored(w, &a, i == 0 ? "output.0.id" : "output.1.id");
    lt_status status = i == 0 ? lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), id,
                                                &(lt_decision){.is_approved = true}, &w->err)
                              : lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), id,
                                                &(lt_decision){.reason = LT_STR("too much")}, &w->err);
    assert_int_equal(status, LT_OK);
    lt_arena_release(&a);
  }
  wait_end(w);
  assert_int_equal(w->paid, 5);
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.0.result.type", "success");
  assert_stored(w, "output.1.result.type", "error");
  assert_asked_has(2, "messages.4.content", "too much");
}

IN_WORLD(approvals_on_a_thread) {
  load(w, "mode");
  waits_for_approval(w);
}

IN_WORLD(approvals_on_the_loop) {
  load(w, "mode_on_loop");
  waits_for_approval(w);
}

static void is_cancelled(world *w) {
  script("[{\"calls\":[{\"id\":\"h\",\"name\":\"weather_hang\",\"arguments\":{}}]},\"Never.\"]");
  start_in(w, "", "relay", "go");
  while (w->hanging == 0) {
    assert_int_equal(lt_wait_on(&w->stirred, 30000), LT_OK);
  }
  assert_int_equal(lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), &w->err), LT_OK);
  wait_end(w);
  assert_int_equal(w->hanging, 0);
  assert_int_equal(times_asked(), 1);
  assert_stored(w, "state", "cancelled");
  assert_stored(w, "output.0.result.type", "error");
}

IN_WORLD(a_cancel_ends_it_on_a_thread) {
  load(w, "mode");
  is_cancelled(w);
}

IN_WORLD(a_cancel_ends_it_on_the_loop) {
  load(w, "mode_on_loop");
  is_cancelled(w);
}

IN_WORLD(only_modes_ask_and_put_out) {
  load(w, "mode_on_loop");
  script("[{\"calls\":[{\"id\":\"c\",\"name\":\"relayer_pry\",\"arguments\":{}}]},\"So.\"]");
  relay(w, "go");
  assert_stored(w, "output.0.result.output", "only an execution mode asks the model and puts text out");
  assert_stored(w, "state", "completed");
}

IN_WORLD(rounds_as_configured_count_and_not_the_plugins) {
  load(w, "mode");
  w->options.rounds = &(lt_mode_rounds){LT_STR("relay"), 2};
  w->options.rounds_count = 1;
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("1", "2", "3", NULL);
  relay(w, "ask");
  assert_events(w,
                "created\noutput text 1\noutput text 2\n"
                "error no reply: the model has been asked 2 times for this prompt, and no more are allowed\n");
  assert_int_equal(times_asked(), 2);
}

IN_WORLD(modes_are_known_without_an_agent) {
  lt_err err = LT_ERR_INIT;
  load(w, "mode");
  assert_int_equal(lt_agent_check_mode(w->host, LT_STR("relay"), NULL), LT_OK);
  assert_int_equal(lt_agent_check_mode(NULL, LT_STR("code"), NULL), LT_OK);
  assert_int_equal(lt_agent_check_mode(NULL, LT_STR("relay"), &err), LT_E_INVALID);
  assert_has(lt_err_msg(&err), "there is no mode \"relay\"; there is: classic, code, ");
  assert_null(strstr(lt_err_msg(&err), ", relay"));
}

IN_WORLD(modes_are_listed) {
  lt_buf text;
  load(w, "mode");
  lt_buf_init(&text, LT_GIB);
  lt_agent_modes(w->agent, &text);
  assert_has(text.p, "{\"id\":\"relay\",\"name\":\"Relay (a plugin's)\",\"isDefault\":false},{\"id\":\"typescript\"");
  lt_buf_release(&text);
  const lt_prompt_request request = {.user = LT_STR("ann"), .input = LT_STR("go"), .mode = LT_STR("delay")};
  assert_int_equal(lt_agent_start(w->agent, &request, &w->ids, &w->err), LT_E_INVALID);
  assert_has(lt_err_msg(&w->err), "Unknown execution mode: \"delay\". Modes: classic, code, ");
  assert_has(lt_err_msg(&w->err), ", relay, typescript");
}

/* Another mode goes on with a conversation: it sees what was said and called. */
IN_WORLD(its_prompts_are_history) {
  load(w, "mode");
  script(
      "[{\"text\":\"Look.\",\"calls\":[{\"id\":\"c\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}}]},\"One.\","
      "\"Two.\"]");
  relay(w, "first");
  char conversation[LT_STORE_ID_BYTES + 1];
  memcpy(conversation, w->ids.conversation, sizeof conversation);
  start_in(w, conversation, "classic", "second");
  wait_end(w);
  assert_asked_has(2, "messages", "first");
  assert_asked_has(2, "messages", "weather_echo");
  assert_asked_has(2, "messages", "One.");
  assert_stored(w, "state", "completed");
}

/* --- Registering -------------------------------------------------------------------------------------------------- */
static void idle(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)host, (void)call, (void)in, (void)arg;
}

static lathe_mode wanted; /* what the plugin below registers */

static void setup_wanted(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  if (host->add_mode(call, &wanted) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

static char plugin_id[16];

static const lathe_plugin *wanting(void) {
  static lathe_plugin plugin;
  plugin = (lathe_plugin){.size = sizeof plugin, .id = plugin_id, .setup = setup_wanted};
  return &plugin;
}

static void assert_refused(world *w, lathe_mode mode, const char *why) {
  static unsigned n;
  wanted = mode;
  snprintf(plugin_id, sizeof plugin_id, "p%u", n++);
  lt_err err = LT_ERR_INIT;
  assert_int_not_equal(lt_host_add(w->host, wanting, LT_STR(""), &err), LT_OK);
  assert_has(lt_err_msg(&err), why);
}

IN_WORLD(what_cannot_be_registered) {
  load(w, "mode");
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  lt_agent_modes(w->agent, &text);
  lt_arena a;
  lt_json_doc doc;
  lt_arena_init(&a, LT_GIB);
  assert_int_equal(lt_json_parse(&a, lt_buf_view(&text), &doc, NULL), LT_OK);
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  unsigned count = 0;
  for (; lt_json_next(&it); count++) { /* all that there are, the built-in ones, too */
    lt_str id = LT_STR("");
    lt_json_str(lt_json_get(it.value, "id"), &a, &id);
    char *copy = lt_mem_strdup(id);
    assert_refused(w, (lathe_mode){.size = sizeof wanted, .id = copy, .invoke = idle}, "is there already");
    lt_mem_free(copy);
  }
  assert_int_equal(count, lt_mode_count + 1);
  lt_arena_release(&a);
  lt_buf_release(&text);
  assert_refused(w, (lathe_mode){.size = sizeof wanted, .id = "Not This", .invoke = idle}, "needs an id of");
  assert_refused(w, (lathe_mode){.size = sizeof wanted, .invoke = idle}, "needs an id of");
  assert_refused(w, (lathe_mode){.size = sizeof wanted, .id = "x"}, "has no function \"invoke\"");
  assert_refused(w, (lathe_mode){.size = 3, .id = "x", .invoke = idle}, "sizeof(lathe_mode)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_a_thread_of_its_own),
      cmocka_unit_test(on_the_loop),
      cmocka_unit_test(failures_are_the_prompts),
      cmocka_unit_test(rounds_have_an_end),
      cmocka_unit_test(modes_are_known_without_an_agent),
      cmocka_unit_test(rounds_as_configured_count_and_not_the_plugins),
      cmocka_unit_test(approvals_on_a_thread),
      cmocka_unit_test(approvals_on_the_loop),
      cmocka_unit_test(a_cancel_ends_it_on_a_thread),
      cmocka_unit_test(a_cancel_ends_it_on_the_loop),
      cmocka_unit_test(only_modes_ask_and_put_out),
      cmocka_unit_test(modes_are_listed),
      cmocka_unit_test(its_prompts_are_history),
      cmocka_unit_test(what_cannot_be_registered),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
