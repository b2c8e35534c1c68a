/* Classic and TypeScript mode, from a prompt to its end: what the model is asked, what is done, stored and told. */
#include "agent_fix.h"

static void prompt_in(world *w, const char *mode, const char *input) {
  start_in(w, "", mode, input);
  wait_end(w);
}

static void go_on(world *w, const char *mode, const char *input) {
  char conversation[LT_STORE_ID_BYTES + 1];
  memcpy(conversation, w->ids.conversation, sizeof conversation);
  start_in(w, conversation, mode, input);
  wait_end(w);
}

/* --- Classic mode: one call --------------------------------------------------------------------------------------- */
IN_WORLD(classic_calls_a_tool) {
  script(
      "[{\"text\":\"Let me look.\",\"calls\":[{\"id\":\"c9\",\"name\":\"weather_get-weather\",\"arguments\":"
      "{\"latitude\":40,\"longitude\":1}}]},\"It is 20 degrees.\"]");
  prompt_in(w, "classic", "How is the weather?");
  assert_events(w,
                "created\n"
                "output text Let me look.\n"
                "output tool weather.get-weather pending Executing...\n"
                "output tool weather.get-weather success {\"temperature\":20,\"description\":\"cloudy\"}\n"
                "output text It is 20 degrees.\n"
                "completed\n");
  assert_string_equal(w->streams.p, "Let me look.It is 20 degrees.");
  assert_stored(w, "state", "completed");
  assert_stored(w, "usage.inputTokens", "20");
  assert_stored(w, "output.1.input", "{\"latitude\":40,\"longitude\":1}");
  assert_asked(0, "messages", "[{\"role\":\"user\",\"content\":\"How is the weather?\"}]");
  assert_asked(1, "messages.1",
               "{\"role\":\"assistant\",\"content\":\"Let me look.\",\"tool_calls\":[{\"id\":\"c9\",\"type\":"
               "\"function\",\"function\":{\"name\":\"weather_get-weather\",\"arguments\":"
               "\"{\\\"latitude\\\":40,\\\"longitude\\\":1}\"}}]}");
  assert_asked(1, "messages.2",
               "{\"role\":\"tool\",\"tool_call_id\":\"c9\",\"content\":\"{\\\"temperature\\\":20,\\\"description\\\":"
               "\\\"cloudy\\\"}\"}");
  assert_asked_has(0, "tools",
                   "{\"type\":\"function\",\"function\":{\"name\":\"bank_pay\",\"description\":\"Pay money\"");
  assert_asked_has(0, "tools", "\"name\":\"interpreter_run-code\"");
  assert_asked_has(0, "tools", "\"name\":\"weather_wait\",\"parameters\":{\"type\":\"object\",\"properties\":{}}");
}

/* Seed 015, "parallel weather lookup in classic mode", word for word. */
IN_WORLD(the_weather_example_of_015) {
  script(
      "[{\"calls\":[{\"name\":\"interpreter_run-code\",\"arguments\":{\"code\":"
      "\"// LLM calls interpreter.run-code with this code:\\n"
      "const cities = [\\n"
      "  { lat: 55.67, lon: 12.56 },  // Copenhagen\\n"
      "  { lat: 48.85, lon: 2.35 },   // Paris\\n"
      "  { lat: 51.50, lon: -0.12 },  // London\\n"
      "];\\n"
      "\\n"
      "const results = parallel(cities.map(c => ({\\n"
      "  tool: 'weather.get-weather',\\n"
      "  input: { latitude: c.lat, longitude: c.lon }\\n"
      "})));\\n"
      "\\n"
      "results.map((r, i) => `${['Copenhagen', 'Paris', 'London'][i]}: ${r.temperature}\xC2\xB0"
      "C`).join('\\\\n');"
      "\"}}]},\"There you are.\"]");
  prompt_in(w, "classic", "Weather in three cities?");
  assert_asked(1, "messages.2.content",
               "Copenhagen: 27.835\xC2\xB0"
               "C\nParis: 24.425\xC2\xB0"
               "C\nLondon: 25.75\xC2\xB0"
               "C");
  assert_stored(w, "output.0.function", "interpreter.run-code");
  assert_stored(w, "output.0.result.type", "success");
  assert_stored(w, "state", "completed");
  /* The program's calls are outputs, too; in the conversation's history they are the program's. */
  assert_stored(w, "output.3.function", "weather.get-weather");
  assert_stored(w, "output.3.parent", "call_0");
  go_on(w, "classic", "And now?");
  assert_asked(2, "messages.2.content",
               "Copenhagen: 27.835\xC2\xB0"
               "C\nParis: 24.425\xC2\xB0"
               "C\nLondon: 25.75\xC2\xB0"
               "C");
  assert_asked(2, "messages.3.content", "There you are.");
}

/* --- Several calls ------------------------------------------------------------------------------------------------ */
/* The slow one first: its answer still comes first, and all go on at once. */
IN_WORLD(calls_of_a_reply_go_on_side_by_side) {
  script(
      "[{\"calls\":[{\"name\":\"weather_wait\",\"arguments\":{\"ms\":60}},"
      "{\"name\":\"weather_wait\",\"arguments\":{\"ms\":30}},"
      "{\"name\":\"weather_echo\",\"arguments\":{\"n\":3}},"
      "{\"name\":\"weather_fail\"}]},\"done\"]");
  prompt_in(w, "classic", "go");
  assert_true(w->most_open >= 2);
  assert_asked(1, "messages.2.content", "waited");
  assert_asked(1, "messages.3.content", "waited");
  assert_asked(1, "messages.4.content", "{\"n\":3}");
  assert_asked(1, "messages.5.content", "Error in tool \"weather.fail\": it went wrong");
  assert_stored(w, "output.0.function", "weather.wait");
  assert_stored(w, "output.2.function", "weather.echo");
  assert_stored(w, "output.3.result.error", "it went wrong");
  assert_stored(w, "state", "completed");
}

/* One of them needs approval: nothing after it happens before somebody has decided. */
IN_WORLD(calls_that_need_approval_are_made_in_order) {
  script(
      "[{\"calls\":[{\"id\":\"first\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}},"
      "{\"id\":\"pay\",\"name\":\"bank_pay\",\"arguments\":{\"amount\":5}},"
      "{\"id\":\"last\",\"name\":\"weather_echo\",\"arguments\":{\"n\":2}}]},\"paid\"]");
  start_in(w, "", "classic", "pay");
  wait_event(w, "approval bank.pay {\"amount\":5} (it is real money)");
  assert_null(strstr(w->events.p, "{\"n\":2}"));
  assert_int_equal(w->paid, 0);
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), LT_STR("pay"),
                                   &(lt_decision){.is_approved = true}, &w->err),
                   LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 5);
  assert_asked(1, "messages.3.content", "{\"paid\":5}");
  assert_asked(1, "messages.4.content", "{\"n\":2}");
  assert_stored(w, "output.2.id", "last");
  assert_stored(w, "state", "completed");
}

IN_WORLD(a_rejected_call_is_told_the_model) {
  script("[{\"calls\":[{\"id\":\"pay\",\"name\":\"bank_pay\",\"arguments\":{\"amount\":5}}]},\"pity\"]");
  start_in(w, "", "classic", "pay");
  wait_event(w, "approval bank.pay");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), LT_STR("pay"),
                                   &(lt_decision){.reason = LT_STR("too much")}, &w->err),
                   LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 0);
  assert_asked(1, "messages.2.content", "Tool \"bank.pay\" was not approved: too much");
  assert_stored(w, "state", "completed");
}

/* By the policy's word, too. */
IN_WORLD(calls_that_the_policy_asks_about_are_made_in_order) {
  static const lt_policy_rule rules[] = {
      {.match = TEXT("weather.echo"), .when = TEXT("input.n == 2"), .action = LT_ACTION_ASK}};
  assert_int_equal(lt_policy_new(rules, 1, NULL, 0, &w->policy, &w->err), LT_OK);
  w->options.policy = w->policy;
  lt_agent_free(w->agent);
  open_agent(w);
  script(
      "[{\"calls\":[{\"id\":\"a\",\"name\":\"weather_echo\",\"arguments\":{\"n\":2}},"
      "{\"id\":\"b\",\"name\":\"weather_echo\",\"arguments\":{\"n\":3}}]},\"done\"]");
  start_in(w, "", "classic", "go");
  wait_event(w, "approval weather.echo {\"n\":2}");
  assert_null(strstr(w->events.p, "{\"n\":3}"));
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), LT_STR("a"),
                                   &(lt_decision){.is_approved = true}, &w->err),
                   LT_OK);
  wait_end(w);
  assert_asked(1, "messages.3.content", "{\"n\":3}");
}

IN_WORLD(a_cancelled_prompt_leaves_nothing_open) {
  script("[{\"calls\":[{\"name\":\"weather_hang\"},{\"name\":\"weather_hang\"},{\"name\":\"weather_echo\"}]},\"no\"]");
  start_in(w, "", "classic", "go");
  while (w->hanging < 2) {
    lt_wait_on(&w->stirred, 30000);
  }
  assert_int_equal(lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), &w->err), LT_OK);
  wait_end(w);
  assert_int_equal(w->hanging, 0);
  assert_int_equal(times_asked(), 1);
  assert_stored(w, "state", "cancelled");
}

/* --- What models get wrong ---------------------------------------------------------------------------------------- */
IN_WORLD(unknown_tools_and_broken_arguments_are_told_the_model) {
  script(
      "[{\"calls\":[{\"name\":\"weather_get-wether\",\"arguments\":{}},"
      "{\"name\":\"weather_echo\",\"arguments\":\"{\\\"a\\\": \"},"
      "{\"name\":\"weather_get-weather\",\"arguments\":{\"latitude\":\"x\"}},"
      "{\"name\":\"weather.echo\",\"arguments\":\"\"}]},\"I see.\"]");
  prompt_in(w, "classic", "go");
  assert_asked_has(1, "messages.2.content",
                   "Tool \"weather_get-wether\" not found. Available tools: artifact_get, artifact_list");
  assert_asked_has(1, "messages.2.content", "Did you mean: weather_get-weather?");
  assert_asked_has(1, "messages.3.content", "Invalid JSON in arguments for tool \"weather_echo\": ");
  assert_asked_has(1, "messages.4.content", "input.latitude: expected number");
  assert_asked(1, "messages.5.content", "{}");
  /* What goes back to the server is JSON, whatever the model wrote. */
  assert_asked(1, "messages.1.tool_calls.1.function.arguments", "{}");
  assert_asked(1, "messages.1.tool_calls.3.function.name", "weather_echo");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "output.1.result.type", "error");
  assert_stored(w, "output.1.input", "{\"a\": ");
  assert_stored(w, "output.1.function", "weather.echo");
  assert_stored(w, "state", "completed");
}

/* A reply that was cut in the middle of its arguments. */
IN_WORLD(arguments_that_are_cut_off) {
  script(
      "[{\"calls\":[{\"name\":\"weather_echo\",\"arguments\":\"{\\\"a\\\": \\\"long\"}],\"finish\":\"length\"},"
      "\"ok\"]");
  prompt_in(w, "classic", "go");
  assert_asked_has(1, "messages.2.content", "reached its limit of tokens");
}

/* A model that counts its calls from 0 each time. */
IN_WORLD(ids_of_calls_are_unique) {
  script(
      "[{\"calls\":[{\"id\":\"call_0\",\"name\":\"weather_echo\"}]},"
      "{\"calls\":[{\"id\":\"call_0\",\"name\":\"weather_echo\"}]},"
      "{\"calls\":[{\"id\":\"not allowed!\",\"name\":\"weather_echo\"}]},\"ok\"]");
  prompt_in(w, "classic", "go");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  char *body = asked(3);
  lt_str ids[3];
  for (unsigned i = 0; i < 3; i++) {
    char path[64];
    snprintf(path, sizeof path, "messages.%u.tool_calls.0.id", 1 + 2 * i);
    ids[i] = member(&a, lt_str_of(body), path);
    snprintf(path, sizeof path, "messages.%u.tool_call_id", 2 + 2 * i);
    assert_true(lt_str_eq(member(&a, lt_str_of(body), path), ids[i]));
    assert_true(lt_str_find(ids[i], LT_STR(" "), 0) == SIZE_MAX);
  }
  assert_false(lt_str_eq(ids[0], ids[1]) || lt_str_eq(ids[1], ids[2]) || lt_str_eq(ids[0], ids[2]));
  free(body);
  lt_arena_release(&a);
}

IN_WORLD(long_answers_are_put_aside) {
  script("[{\"calls\":[{\"name\":\"weather_big\",\"arguments\":{\"bytes\":100000}}]},\"ok\"]");
  prompt_in(w, "classic", "go");
  assert_asked_has(1, "messages.2.content", "\"preview\":\"xxx");
  assert_asked_has(1, "messages.2.content", "\"artifact\":\"");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  char *body = asked(1);
  assert_in_range(member(&a, lt_str_of(body), "messages.2.content").n, 4000, 5000);
  free(body);
  lt_arena_release(&a);
}

IN_WORLD(an_empty_answer_is_said_to_be_one) {
  script("[{\"calls\":[{\"name\":\"weather_big\",\"arguments\":{\"bytes\":0}}]},\"ok\"]");
  prompt_in(w, "classic", "go");
  assert_asked(1, "messages.2.content", "(completed, no output)");
}

/* --- How it ends -------------------------------------------------------------------------------------------------- */
IN_WORLD(a_model_that_says_nothing) {
  script("[\"\"]");
  prompt_in(w, "classic", "go");
  assert_events(w, "created\noutput text (No response from model)\ncompleted\n");
}

IN_WORLD(a_model_that_never_stops) {
  script("[{\"calls\":[{\"name\":\"weather_echo\"}]}]");
  prompt_in(w, "classic", "go");
  assert_int_equal(times_asked(), 25);
  assert_stored(w, "output.25.content", "Exceeded maximum number of rounds (25). Stopping.");
  assert_stored(w, "state", "completed");
}

IN_WORLD(rounds_as_configured) {
  const lt_mode_rounds rounds[] = {{LT_STR("code"), 3}, {LT_STR("classic"), 2}};
  w->options.rounds = rounds;
  w->options.rounds_count = 2;
  lt_agent_free(w->agent);
  open_agent(w);
  script("[{\"calls\":[{\"name\":\"weather_echo\"}]}]");
  prompt_in(w, "classic", "go");
  assert_int_equal(times_asked(), 2);
  assert_stored(w, "output.2.content", "Exceeded maximum number of rounds (2). Stopping.");
}

IN_WORLD(text_before_a_broken_stream_stays) {
  script("[{\"text\":\"I will now\",\"cut\":true}]");
  prompt_in(w, "classic", "go");
  assert_stored(w, "state", "failed");
  assert_stored(w, "output.0.content", "I will now");
}

/* --- History ------------------------------------------------------------------------------------------------------ */
IN_WORLD(classic_goes_on_with_what_was) {
  script(
      "[{\"text\":\"Looking.\",\"calls\":[{\"id\":\"c1\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}}]},"
      "\"One.\",\"Two.\"]");
  prompt_in(w, "classic", "first");
  go_on(w, "classic", "second");
  assert_asked(2, "messages",
               "[{\"role\":\"user\",\"content\":\"first\"},"
               "{\"role\":\"assistant\",\"content\":\"Looking.\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
               "\"function\":{\"name\":\"weather_echo\",\"arguments\":\"{\\\"n\\\":1}\"}}]},"
               "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"n\\\":1}\"},"
               "{\"role\":\"assistant\",\"content\":\"One.\"},"
               "{\"role\":\"user\",\"content\":\"second\"}]");
}

/* Nobody tells how long a model's context is: it is found out. */
IN_WORLD(a_history_that_is_too_long_is_shortened) {
#define REFUSED "{\"status\":400,\"text\":\"This model's maximum context length is 8192 tokens\"}"
  static const char *const modes[] = {"classic", "code"};
  for (size_t i = 0; i < 2; i++) {
    scripts++;
    lt_agent_free(w->agent);
    static char url[2][96];
    snprintf(url[i], sizeof url[i], "http://127.0.0.1:%d/s%u/v1", server.port, scripts);
    w->models[0].base_url = lt_str_of(url[i]);
    open_agent(w);
    script(i == 0 ? "[{\"calls\":[{\"name\":\"weather_big\",\"arguments\":{\"bytes\":20000}}]},\"x\"," REFUSED
                    ",\"ok\"]"
                  : "[\"done(); weatherBig({bytes: 20000})\"," REFUSED ",\"output('ok'); done()\"]");
    prompt_in(w, modes[i], "first");
    go_on(w, modes[i], "second");
    unsigned last = times_asked() - 1;
    char *before = asked(last - 1), *after = asked(last);
    assert_has(before, "xxxxxxxxxxxxxxxxxxxx");
    assert_has(after, "bytes left out");
    assert_has(after, "\"first\"");
    assert_has(after, i == 0 ? "\"second\"" : "\\n\\nsecond\""); /* code: one message with the end of the program */
    assert_true(strlen(after) + 19000 < strlen(before));
    free(before);
    free(after);
    assert_stored(w, "state", "completed");
    assert_stored(w, i == 0 ? "output.0.content" : "output.1.content", "ok");
  }
}

/* When there is nothing before it: what it has been answered itself, the newest at last. */
IN_WORLD(a_prompt_that_becomes_too_long_is_shortened) {
#define BIG(bytes) "{\"calls\":[{\"name\":\"weather_big\",\"arguments\":{\"bytes\":" #bytes "}}]}"
  script("[" BIG(20000) "," BIG(21000) "," REFUSED "," REFUSED ",\"ok\"]");
  prompt_in(w, "classic", "first");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  static const size_t bytes[][2] = {{20000, 21000}, {600, 21000}, {600, 600}};
  for (unsigned i = 0; i < 3; i++) {
    char *body = asked(2 + i);
    lt_str old = member(&a, lt_str_of(body), "messages.2.content");
    lt_str new = member(&a, lt_str_of(body), "messages.4.content");
    assert_true(old.n <= bytes[i][0] + 200 && (i > 0 || old.n == 20000));
    assert_true(new.n <= bytes[i][1] + 200 && (i > 1 || new.n == 21000));
    assert_true(lt_str_eqc(member(&a, lt_str_of(body), "messages.0.content"), "first"));
    assert_true(lt_str_eq(member(&a, lt_str_of(body), "messages.3.tool_calls.0.id"),
                          member(&a, lt_str_of(body), "messages.4.tool_call_id")));
    free(body);
  }
  lt_arena_release(&a);
  assert_stored(w, "output.2.content", "ok");
}

IN_WORLD(many_calls_at_once) {
  lt_buf replies;
  lt_buf_init(&replies, LT_GIB);
  lt_buf_addc(&replies, "[{\"calls\":[");
  for (int i = 0; i < 300; i++) {
    lt_buf_printf(&replies, "%s{\"id\":\"c%d\",\"name\":\"weather_wait\",\"arguments\":{\"ms\":20}}", i > 0 ? "," : "",
                  i);
  }
  lt_buf_addc(&replies, "]},\"ok\"]");
  script(replies.p);
  lt_buf_release(&replies);
  prompt_in(w, "classic", "go");
  assert_true(w->most_open > 5);
  assert_asked(1, "messages.301.tool_call_id", "c299");
  assert_asked(1, "messages.301.content", "waited");
  assert_stored(w, "output.299.id", "c299");
  assert_stored(w, "output.300.content", "ok");
}

/* Off the loop. */
IN_WORLD(a_long_history_and_many_tools) {
  enum { TOOLS = 400 };
  static char names[TOOLS][16];
  static lt_tool_spec specs[TOOLS];
  for (int i = 0; i < TOOLS; i++) {
    snprintf(names[i], sizeof names[i], "b%d", i);
    specs[i] = (lt_tool_spec){.name = lt_str_of(names[i])};
  }
  assert_int_equal(lt_door_set_tools(w->door, &w->bank, specs, TOOLS, NULL), LT_OK);
  script(
      "[{\"calls\":[{\"id\":\"c\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}}]},"
      "\"ok\"]");
  char *words = lt_mem_alloc(200001);
  memset(words, 'w', 200000);
  words[200000] = '\0';
  prompt_in(w, "classic", words);
  go_on(w, "classic", "second");
  assert_asked(2, "messages.0.content", words);
  assert_asked(2, "messages.2.content", "{\"n\":1}");
  assert_asked_has(2, "tools", "\"bank_b399\"");
  assert_stored(w, "state", "completed");
  lt_mem_free(words);
}

IN_WORLD(a_prompt_that_is_too_long_fails) {
  script("[\"x\"," REFUSED "]");
  prompt_in(w, "classic", "first");
  go_on(w, "classic", "second");
  assert_stored(w, "state", "failed");
  assert_in_range(times_asked(), 2, 6);
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_str error = stored(w, &a, "error");
  assert_true(lt_str_find(error, LT_STR("too long for this model"), 0) != SIZE_MAX);
  lt_arena_release(&a);
}

IN_WORLD(modes_take_turns) {
  script(
      "[\"log('looking'); output('hi'); done();\","
      "{\"calls\":[{\"id\":\"c1\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}}]},\"One.\","
      "{\"calls\":[{\"id\":\"s1\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(7)\"}}]},"
      "\"Seven.\",\"done();\"]");
  prompt_in(w, "code", "first");
  go_on(w, "classic", "second");
  assert_asked_has(1, "messages.1.content", "```js\nlog('looking'); output('hi'); done();\n```\nLogs:\nlooking");
  go_on(w, "typescript", "third");
  assert_asked(3, "messages.3.content", "[Tool call: weather.echo {\"n\":1} -> {\"n\":1}]\nOne.");
  go_on(w, "code", "fourth");
  assert_asked(5, "messages.2.content", "log('looking'); output('hi'); done();");
  assert_asked_has(5, "messages.3.content", "Logs:\nlooking\n\nExecution result: ");
  assert_asked(5, "messages.4.content", "hi");
  assert_asked_has(5, "messages", "console.log(7)");
  assert_stored(w, "state", "completed");
}

/* --- Plugins that prepare ----------------------------------------------------------------------------------------- */
static unsigned moods;

static void mood_answer(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->answer(call, LATHE_TEXT("\"fine\""));
}

/* Each time another tool and another context item. */
static void mood_prepare(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  moods++;
  const lathe_tool tool = {
      .size = sizeof tool, .name = host->format(call, "ask%u", moods).p, .description = "Ask", .invoke = mood_answer};
  host->add_tool(call, &tool);
  host->add_context(call, host->format(call, "{\"type\":\"mood\",\"content\":\"mood %u\"}", moods));
}

static const lathe_plugin *mood_plugin(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "mood", .prepare = mood_prepare};
  return &plugin;
}

/* Before every asking in classic mode, once in the others. */
IN_WORLD(plugins_prepare_before_every_asking_of_classic_mode) {
  moods = 0;
  assert_int_equal(lt_host_add(w->host, mood_plugin, LT_STR(""), NULL), LT_OK);
  script(
      "[{\"calls\":[{\"id\":\"c1\",\"name\":\"mood_ask1\",\"arguments\":{}}]},"
      "{\"calls\":[{\"id\":\"c2\",\"name\":\"mood_ask1\",\"arguments\":{}}]},\"So.\","
      "\"1\",\"done()\"]");
  prompt_in(w, "classic", "How are you?");
  assert_asked(0, "messages.0.content", "mood 1");
  assert_asked_has(0, "tools", "\"mood_ask1\"");
  assert_asked(1, "messages.0.content", "mood 2");
  assert_asked(1, "messages.1.content", "How are you?");
  assert_asked(1, "messages.3.content", "fine");
  assert_asked_has(1, "tools", "\"mood_ask2\"");
  assert_asked(2, "messages.0.content", "mood 3");
  assert_asked_has(2, "messages.5.content", "not found");
  assert_stored(w, "state", "completed");
  go_on(w, "code", "And now?");
  assert_int_equal(moods, 4);
  assert_asked_has(4, "messages.0.content", "mood 4");
  assert_stored(w, "state", "completed");
}

/* --- TypeScript mode ---------------------------------------------------------------------------------------------- */
IN_WORLD(typescript_runs_a_program) {
  script(
      "[{\"text\":\"Let me see.\",\"calls\":[{\"id\":\"s1\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":"
      "\"const r: Result<any> = await get_weather({latitude: 40, longitude: 1});\\n"
      "if (r.success) { console.log(r.value.temperature); console.log({a: 1}); }\"}}]},\"It is 20.\"]");
  prompt_in(w, "typescript", "How is the weather?");
  assert_events(w,
                "created\n"
                "output text Let me see.\n"
                "output tool execute_typescript pending Executing...\n"
                "output tool weather.get-weather pending Executing...\n"
                "output tool weather.get-weather success {\"temperature\":20,\"description\":\"cloudy\"}\n"
                "output tool execute_typescript success 20\n{ a: 1 }\n\n"
                "output text It is 20.\n"
                "completed\n");
  assert_asked(1, "messages.2.content", "20\n{ a: 1 }\n");
  assert_stored(w, "output.2.parent", "s1");
  assert_asked(0, "tools.0.function.name", "execute_typescript");
  assert_asked_has(0, "tools.0.function.description", "declare function get_weather(input: GetWeatherInput)");
  assert_asked_has(0, "tools.0.function.description", "type Result<T> =");
  assert_asked(0, "tools.1", "");
}

IN_WORLD(typescript_without_output) {
  script("[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"const x: number = 1;\"}}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked(1, "messages.2.content", "(completed, no output)");
}

/* With the model's own line numbers, and what it had printed and done. */
IN_WORLD(typescript_that_fails) {
  script(
      "[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":"
      "\"interface A { b: string }\\nconsole.log('before');\\nconsole.error('careful');\\n"
      "await echo({n: 1});\\nconst a: A = undefined as any;\\n\\nconsole.log(a.b);\"}}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked_has(1, "messages.2.content", "careful\nTypeError: ");
  assert_asked_has(1, "messages.2.content", "at line 7, column ");
  assert_asked_has(1, "messages.2.content", ": console.log(a.b);");
  assert_asked_has(1, "messages.2.content", "Tool calls it had made: weather.echo\n\nSTDOUT:\nbefore\n");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "output.0.function", "execute_typescript");
  assert_stored(w, "state", "completed");
}

IN_WORLD(typescript_that_is_none) {
  script(
      "[{\"calls\":[{\"id\":\"a\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"const = 1\"}},"
      "{\"id\":\"b\",\"name\":\"execute_typescript\",\"arguments\":{\"program\":\"1\"}},"
      "{\"id\":\"c\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"1\",\"timeout\":0}},"
      "{\"id\":\"d\",\"name\":\"get_weather\",\"arguments\":{}},"
      "{\"id\":\"e\",\"name\":\"execute_typescript\",\"arguments\":\"{\\\"code\\\": \"},"
      "{\"id\":\"f\",\"name\":\"execute_typescript\",\"arguments\":\"\\\"{\\\\\\\"code\\\\\\\": "
      "\\\\\\\"console.log(8)\\\\\\\"}\\\"\"}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked_has(1, "messages.2.content", "SyntaxError");
  assert_asked_has(1, "messages.3.content", "Error parsing parameters: ");
  assert_asked_has(1, "messages.4.content", "Error parsing parameters: timeout");
  assert_asked(1, "messages.5.content",
               "Tool \"get_weather\" not found. Available tools: execute_typescript. Call it in its code: await "
               "get_weather({...})");
  assert_asked_has(1, "messages.6.content", "Invalid JSON in arguments for tool \"execute_typescript\"");
  assert_asked(1, "messages.7.content", "8\n");
  assert_stored(w, "state", "completed");
}

IN_WORLD(typescript_takes_a_timeout) {
  script(
      "[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(1); for (;;) {}\","
      "\"timeout\":50}}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked_has(1, "messages.2.content", "Execution timed out after 50ms");
  assert_asked_has(1, "messages.2.content", "\n\nSTDOUT:\n1\n");
}

/* Programs of one reply follow each other, and share what they store. */
IN_WORLD(typescript_stores_for_the_next_program) {
  script(
      "[{\"calls\":[{\"id\":\"a\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"store('k', {n: 4})\"}},"
      "{\"id\":\"b\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(recall('k').n)\"}}]},"
      "{\"calls\":[{\"id\":\"c\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":"
      "\"console.log(recall('k').n + 1)\"}}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked(1, "messages.3.content", "4\n");
  assert_asked(2, "messages.5.content", "5\n");
}

/* The program stands still in the middle of its call. */
#define PAY                                                               \
  "{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":" \
  "\"const r = await pay({amount: 3}); console.log(JSON.stringify(r)); \"}}]},\"ok\""

IN_WORLD(typescript_waits_for_approval) {
  script("[" PAY "," PAY "]");
  for (int approve = 0; approve < 2; approve++) {
    lt_arena a;
    lt_arena_init(&a, LT_GIB);
    lt_buf_clear(&w->events);
    start_in(w, "", "typescript", "go");
    wait_event(w, "approval bank.pay");
    lt_str call = stored(w, &a, "output.1.id");
    lt_str id = lt_str_of(w->ids.prompt);
    assert_int_equal(
        approve ? lt_agent_decide(w->agent, LT_STR("ann"), id, call, &(lt_decision){.is_approved = true}, &w->err)
                : lt_agent_decide(w->agent, LT_STR("ann"), id, call, &(lt_decision){.reason = LT_STR("no")}, &w->err),
        LT_OK);
    wait_end(w);
    assert_int_equal(w->paid, approve ? 3 : 0);
    assert_stored(w, "output.0.result.output",
                  approve ? "{\"success\":true,\"value\":{\"paid\":3}}\n"
                          : "{\"success\":false,\"error\":\"Tool \\\"bank.pay\\\" was not approved: no\"}\n");
    lt_arena_release(&a);
  }
}

/* The user sees it whole, the model beginning and end. */
IN_WORLD(typescript_that_prints_too_much) {
  script(
      "[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":"
      "\"for (let i = 0; i < 8000; i++) console.log('line', i)\"}}]},\"ok\"]");
  prompt_in(w, "typescript", "go");
  assert_asked_has(1, "messages.2.content", "line 0\nline 1\n");
  assert_asked_has(1, "messages.2.content", "left out");
}

IN_WORLD(typescript_that_never_stops) {
  script("[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(1)\"}}]}]");
  prompt_in(w, "typescript", "go");
  assert_int_equal(times_asked(), 25);
  assert_stored(w, "output.25.content", "Exceeded maximum number of rounds (25). Stopping.");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classic_calls_a_tool),
      cmocka_unit_test(the_weather_example_of_015),
      cmocka_unit_test(calls_of_a_reply_go_on_side_by_side),
      cmocka_unit_test(calls_that_need_approval_are_made_in_order),
      cmocka_unit_test(a_rejected_call_is_told_the_model),
      cmocka_unit_test(calls_that_the_policy_asks_about_are_made_in_order),
      cmocka_unit_test(a_cancelled_prompt_leaves_nothing_open),
      cmocka_unit_test(unknown_tools_and_broken_arguments_are_told_the_model),
      cmocka_unit_test(arguments_that_are_cut_off),
      cmocka_unit_test(ids_of_calls_are_unique),
      cmocka_unit_test(long_answers_are_put_aside),
      cmocka_unit_test(an_empty_answer_is_said_to_be_one),
      cmocka_unit_test(a_model_that_says_nothing),
      cmocka_unit_test(a_model_that_never_stops),
      cmocka_unit_test(rounds_as_configured),
      cmocka_unit_test(text_before_a_broken_stream_stays),
      cmocka_unit_test(classic_goes_on_with_what_was),
      cmocka_unit_test(a_history_that_is_too_long_is_shortened),
      cmocka_unit_test(a_prompt_that_becomes_too_long_is_shortened),
      cmocka_unit_test(many_calls_at_once),
      cmocka_unit_test(a_long_history_and_many_tools),
      cmocka_unit_test(a_prompt_that_is_too_long_fails),
      cmocka_unit_test(modes_take_turns),
      cmocka_unit_test(plugins_prepare_before_every_asking_of_classic_mode),
      cmocka_unit_test(typescript_runs_a_program),
      cmocka_unit_test(typescript_without_output),
      cmocka_unit_test(typescript_that_fails),
      cmocka_unit_test(typescript_that_is_none),
      cmocka_unit_test(typescript_takes_a_timeout),
      cmocka_unit_test(typescript_stores_for_the_next_program),
      cmocka_unit_test(typescript_waits_for_approval),
      cmocka_unit_test(typescript_that_prints_too_much),
      cmocka_unit_test(typescript_that_never_stops),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
