/* Prompts in code mode from start to end: what the seeds' examples do, what is stored and told, in which order. */
#include "agent_fix.h"

/* --- The seeds' examples, word for word --------------------------------------------------------------------------- */
IN_WORLD(the_first_example_of_015) {
  script_texts(
      "// No await needed — the function call suspends internally\n"
      "const weather = weatherGetWeather({ latitude: 55.67, longitude: 12.56 });\n"
      "const summary = llm(\"Summarize: \" + JSON.stringify(weather));\n"
      "output(summary);\n"
      "done();",
      "It is 27.835 degrees.", NULL);
  prompt(w, "How is the weather?");
  assert_events(w,
                "created\n"
                "output tool code.execute pending Executing...\n"
                "output tool weather.get-weather pending Executing...\n"
                "output tool weather.get-weather success {\"temperature\":27.835,\"description\":\"cloudy\"}\n"
                "output text It is 27.835 degrees.\n"
                "output tool code.execute success \n"
                "completed\n");
  assert_string_equal(w->streams.p, "It is 27.835 degrees.");
  assert_stored(w, "state", "completed");
  assert_stored(w, "mode", "code");
  assert_stored(w, "usage.inputTokens", "20"); /* llm() counts, too */
  assert_stored(w, "usage.totalTokens", "30");
  assert_stored(w, "usage.resolvedModel", "fake-2026");
  assert_asked(1, "messages.0.content", "You are a helpful assistant. Respond concisely.");
  assert_asked(1, "messages.1.content", "Summarize: {\"temperature\":27.835,\"description\":\"cloudy\"}");
}

IN_WORLD(the_example_of_complete) {
  script_texts(
      "const weather = weatherGetWeather({ latitude: 55.67, longitude: 12.56 });\n"
      "complete({\n"
      "  response: `The weather is ${weather.description} at ${weather.temperature}°C.`,\n"
      "  data: weather,\n"
      "  followUp: \"Would you like the forecast for tomorrow?\"\n"
      "});",
      NULL);
  prompt(w, "How is the weather?");
  assert_string_equal(w->streams.p, "The weather is cloudy at 27.835°C.\n\nWould you like the forecast for tomorrow?");
  assert_stored(w, "output.2.content", "The weather is cloudy at 27.835°C.");
  assert_stored(w, "output.3.content", "\n\nWould you like the forecast for tomorrow?");
  assert_stored(w, "output.0.result.output", "{\"stored\":true,\"followUp\":true}");
  assert_stored(w, "state", "completed");
  assert_int_equal(times_asked(), 1);
}

IN_WORLD(a_tool_of_classic_mode_runs_programs_here_too) {
  script_texts(
      "const r = tools['interpreter.run-code']({code: `"
      "const cities = [ { lat: 55.67, lon: 12.56 }, { lat: 48.85, lon: 2.35 }, { lat: 51.50, lon: -0.12 } ];\n"
      "const results = parallel(cities.map(c => ({ tool: 'weather.get-weather',\n"
      "  input: { latitude: c.lat, longitude: c.lon } })));\n"
      "results.map((r, i) => \\`\\${['Copenhagen', 'Paris', 'London'][i]}: \\${r.temperature}°C\\`).join('\\\\n')"
      " + llm('hm')`});\n"
      "complete({response: r})",
      "!", NULL);
  prompt(w, "Compare");
  assert_string_equal(w->streams.p, "Copenhagen: 27.835°C\nParis: 24.425°C\nLondon: 25.75°C!");
  assert_has(w->events.p, "output tool weather.get-weather success {\"temperature\":24.425");
  assert_stored(w, "output.1.function", "interpreter.run-code");
}

/* --- The loop's exits and what the model is told between ---------------------------------------------------------- */
IN_WORLD(a_failing_program_is_an_error_and_the_model_may_mend_it) {
  script_texts("log('starting');\nweatherEcho({n: 1});\nconst z = unknownVar;", "output('mended'); done();", NULL);
  prompt(w, "Do it");
  assert_events(w,
                "created\n"
                "output tool code.execute pending Executing...\n"
                "output tool weather.echo pending Executing...\n"
                "output tool weather.echo success {\"n\":1}\n"
                "output tool code.execute error ReferenceError: unknownVar is not defined (line 3, column 11: const z "
                "= unknownVar;)\n"
                "output tool code.execute pending Executing...\n"
                "output text mended\n"
                "output tool code.execute success \n"
                "completed\n");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "output.0.result.logs", "starting");
  assert_asked(1, "messages.2.role", "assistant");
  assert_asked(1, "messages.2.content", "log('starting');\nweatherEcho({n: 1});\nconst z = unknownVar;");
  assert_asked(1, "messages.3.role", "user");
  assert_asked(
      1, "messages.3.content",
      "Logs:\nstarting\n\n"
      "Execution error: ReferenceError: unknownVar is not defined (line 3, column 11: const z = unknownVar;)\n\n"
      "Tool calls that have already happened (do not repeat their effects):\n"
      "- weather.echo {\"n\":1}: done");
}

IN_WORLD(what_a_program_stores_is_there_in_the_next_round) {
  script_texts("store('a', {n: 1}); output('first'); log('x', {y: 2}); 1 + 2", "output(recall('a')); recall('none')",
               "complete({response: 'end', data: [1]}); recall('_lastData')", NULL);
  prompt(w, "Do it");
  assert_asked(1, "messages.3.content",
               "Logs:\nx {\"y\":2}\n\nExecution result: 3\n\n"
               "The user has been shown 1 text of output(): do not output the same again.");
  assert_asked(2, "messages.5.content",
               "Execution result: undefined\n\n"
               "The program returned nothing and logged nothing, and done() was not called. If the task is finished, "
               "reply with done(); otherwise end the program with the value you want to see, or log() it.\n\n"
               "The user has been shown 1 text of output(): do not output the same again.");
  assert_string_equal(w->streams.p, "first{\"n\":1}end");
  assert_stored(w, "output.0.result.output", "3");
}

IN_WORLD(values_do_not_survive_the_prompt) {
  script_texts("store('a', 1); done()", "complete({response: String(recall('a'))})", NULL);
  prompt(w, "One");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  start_in(w, conversation, "", "Two");
  wait_end(w);
  assert_string_equal(w->streams.p, "undefined");
}

/* But what complete() is given is there for the next ones, until there is another. */
IN_WORLD(data_of_complete_is_there_in_the_next_prompts) {
  script_texts("complete({response: 'a', data: {files: ['x', 'hunter2-hunter2']}})",
               "output(recall('_lastData')); done()",
               "output(recall('_lastData').files[0]); complete({response: '!', data: 7})",
               "output(recall('_lastData')); complete({response: '', data: 'x'.repeat(300000)})",
               "output(String(recall('_lastData'))); done()", NULL);
  prompt(w, "One");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  assert_stored(w, "output.0.data.files.0", "x");
  for (int i = 0; i < 4; i++) {
    start_in(w, conversation, "", "Go on");
    wait_end(w);
    assert_stored(w, "state", "completed");
  }
  assert_string_equal(w->streams.p, "a{\"files\":[\"x\",\"***\"]}x!7undefined");
}

IN_WORLD(an_empty_reply_ends_the_prompt) {
  script_texts(" \n", NULL);
  prompt(w, "Hello");
  assert_events(w, "created\noutput text (No response from model)\ncompleted\n");
  assert_string_equal(w->streams.p, "(No response from model)");
}

IN_WORLD(without_done_the_rounds_end) {
  w->options.rounds = &(lt_mode_rounds){LT_STR("code"), 3};
  w->options.rounds_count = 1;
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("1", NULL);
  prompt(w, "Hello");
  assert_int_equal(times_asked(), 3);
  assert_has(w->events.p, "output text (Reached maximum iterations without done() being called)\ncompleted\n");
  assert_stored(w, "state", "completed");
}

/* It is recorded as a program that failed, and not run; the second in a row is the answer. */
IN_WORLD(prose_is_answered_once) {
  script_texts("I'm afraid I cannot do that.", "output('a'); 1", "I still cannot.", "It is 42. \n", NULL);
  prompt(w, "Hello");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "output.0.input.code", "I'm afraid I cannot do that.");
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.4.content", "It is 42.");
  assert_string_equal(w->streams.p, "aIt is 42.");
  assert_int_equal(times_asked(), 4);
  assert_asked_has(1, "messages.3.content", "Execution error: The reply is text, not a program. Nothing was run.");
}

IN_WORLD(json_is_no_program) {
  script_texts("{\"name\": \"bank.pay\", \"arguments\": {\"amount\": 3}}", "done()", "```json\n[1, 2]\n```",
               "[{\"a\": 1}]", NULL);
  prompt(w, "Hello");
  assert_int_equal(w->paid, 0);
  assert_asked_has(1, "messages.3.content", "const result = bankPay({\"amount\": 3});");
  prompt(w, "Hello");
  assert_asked_has(3, "messages.3.content", "The reply is JSON, not a program: as a program it does nothing.");
  assert_stored(w, "output.1.content", "[{\"a\": 1}]");
}

/* Of text that a program has read, not of the program. */
IN_WORLD(a_syntax_error_in_what_a_program_reads_says_nothing_of_its_form) {
  script_texts("JSON.parse('{')", "done()", NULL);
  prompt(w, "Hello");
  char *body = asked(1);
  assert_has(body, "SyntaxError");
  assert_null(strstr(body, "Reply with one program"));
  free(body);
}

IN_WORLD(fences_are_taken_off) {
  script_texts("```javascript\noutput('hi');\ndone();\n```", NULL);
  prompt(w, "Hello");
  assert_string_equal(w->streams.p, "hi");
}

IN_WORLD(half_a_program_is_not_run) {
  script("[{\"text\":\"bankPay({amount: 1}); output('half\",\"finish\":\"length\"},\"done()\"]");
  prompt(w, "Hello");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "output.1.function", "code.execute");
  assert_int_equal(w->paid, 0);
}

IN_WORLD(after_done_the_rest_still_runs_and_a_failure_there_is_recorded) {
  script_texts("output('a'); done(); output('b'); throw new Error('too late')", NULL);
  prompt(w, "Hello");
  assert_string_equal(w->streams.p, "ab");
  assert_stored(w, "output.0.result.type", "error");
  assert_stored(w, "state", "completed");
  assert_int_equal(times_asked(), 1);
}

IN_WORLD(a_tools_failure_can_be_caught_and_is_recorded) {
  script_texts(
      "try { weatherFail({}) } catch (e) { output(e.message) }\n"
      "try { weatherGetWeather({latitude: 'x'}) } catch (e) { output('again') }\n"
      "try { tools['no.such']({}) } catch (e) { output('none') }; done()",
      NULL);
  prompt(w, "Hello");
  assert_has(w->events.p, "output tool weather.fail error it went wrong\n");
  assert_has(w->events.p, "output tool weather.get-weather error input");
  assert_has(w->streams.p, "it went wrong");
  assert_has(w->streams.p, "againnone");
}

/* --- Asking the model in the middle ------------------------------------------------------------------------------- */
IN_WORLD(llm_json_gives_a_value_or_what_was_said) {
  script_texts("log(llmJson('a'), llmJson({q: 'b'}), llmJson('c'), llmJson('d')); 0", "{\"a\": [1]}", "oh no", "",
               "```json\n[2]\n```", "done()", NULL);
  prompt(w, "Hello");
  assert_asked(1, "response_format.type", "json_object");
  assert_asked(1, "messages.0.content", "You are a helpful assistant. Respond with valid JSON only.");
  assert_asked(2, "messages.1.content", "{\"q\":\"b\"}");
  assert_asked(5, "messages.3.content", "Logs:\n{\"a\":[1]} oh no null [2]\n\nExecution result: 0");
  assert_stored(w, "usage.outputTokens", "30");
}

IN_WORLD(llm_without_a_model_throws) {
  script(
      "[\"try { llm('x') } catch (e) { output('caught: ' + e.message) }; try { llm() } catch (e) { output(e.message) "
      "}; done()\",{\"status\":401,\"text\":\"no key\"}]");
  prompt(w, "Hello");
  assert_has(w->streams.p, "caught: ");
  assert_has(w->streams.p, "llm() expects a prompt");
  assert_stored(w, "state", "completed");
}

/* --- What the model is told first --------------------------------------------------------------------------------- */
static void context_setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->add_module(call, "sums", LATHE_TEXT("export const two = 2;"));
  host->add_context(call, LATHE_TEXT("{\"type\":\"preference\",\"id\":\"units\",\"content\":\"metric\\nplease\"}"));
  host->add_context(call, LATHE_TEXT("{\"type\":\"note\",\"content\":\"short\"}"));
}

static const lathe_plugin *context_entry(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin, .id = "about", .flags = LATHE_ON_LOOP, .setup = context_setup};
  return &plugin;
}

IN_WORLD(the_system_prompt_tells_of_tools_functions_modules_and_context) {
  assert_int_equal(lt_host_add(w->host, context_entry, LT_STR(""), NULL), LT_OK);
  script_texts("import { two } from 'sums';\noutput(two); done()", NULL);
  prompt(w, "One");
  prompt(w, "Two");
  assert_string_equal(w->streams.p, "22");
  char *first = asked(0), *second = asked(1);
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_str system = member(&a, lt_str_of(first), "messages.0.content");
  assert_true(lt_str_eq(system, member(&a, lt_str_of(second), "messages.0.content")));
  char *text = lt_mem_strdup(system);
  assert_has(text, "You are an agent that solves tasks by writing JavaScript code.\n\nIMPORTANT RULES:\n");
  assert_has(text, "- These modules can be imported, and no others: `sums`\n");
  assert_has(text, "\n- storeArtifact(data, description?)");
  assert_has(text, "\nAVAILABLE TOOLS:\n");
  assert_has(text, "**bank**: bankPay (ID: bank.pay) - Pay money\n");
  assert_has(text, "weatherGetWeather (ID: weather.get-weather) - Get current weather");
  assert_has(text, "\nCONTEXT:\n[preference:units]\nmetric\nplease\n\n[note]\nshort\n");
  lt_mem_free(text);
  lt_arena_release(&a);
  free(first);
  free(second);
  assert_asked(0, "messages.1.content", "One");
}

IN_WORLD(earlier_programs_and_what_came_of_them_are_history) {
  script_texts("log('l'); output('shown'); 5", "complete({response: 'bye'})", "done()", NULL);
  prompt(w, "One");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  start_in(w, conversation, "", "Two");
  wait_end(w);
  assert_string_equal(conversation, w->ids.conversation);
  assert_asked(2, "messages.1.content", "One");
  assert_asked(2, "messages.2.content", "log('l'); output('shown'); 5");
  char *body = asked(2);
  assert_has(body, "Logs:\\nl\\n\\nExecution result: 5");
  assert_has(body, "bye");
  assert_has(body, "{\"role\":\"user\",\"content\":\"Two\"}]");
  assert_null(strstr(strstr(body, "Two") + 3, "Two")); /* not twice: the prompt is not its own history */
  free(body);
}

/* --- Too much ----------------------------------------------------------------------------------------------------- */
/* Servers that want the roles to alternate would refuse the conversation for good. */
IN_WORLD(what_follows_a_programs_end_is_one_message_with_it) {
  script_texts("done()", "output('bye'); done()", NULL);
  prompt(w, "One");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  start_in(w, conversation, "", "Two");
  wait_end(w);
  assert_asked(1, "messages.1.content", "One");
  assert_asked(1, "messages.2.content", "done()");
  assert_asked(1, "messages.3.role", "user");
  assert_asked(1, "messages.3.content", "Execution result: undefined\n\nTwo");
  assert_asked(1, "messages.4", "");
}

IN_WORLD(long_results_become_artifacts) {
  script_texts("weatherBig({bytes: 100000}); 'y'.repeat(50000)", "done()", NULL);
  prompt(w, "Hello");
  assert_stored(w, "output.0.result.output.bytes", "50002");
  assert_stored(w, "output.1.result.output.bytes", "100002");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_buf artifact;
  lt_buf_init(&artifact, LT_GIB);
  lt_str id = stored(w, &a, "output.0.result.output.artifact");
  assert_int_equal(lt_store_artifact_get(w->db, LT_STR("ann"), id, &artifact, NULL), LT_OK);
  assert_int_equal(member(&a, lt_buf_view(&artifact), "data").n, 50000);
  lt_buf_release(&artifact);
  lt_arena_release(&a);
  char *body = asked(1);
  assert_has(body, "Execution result: {\\\"preview\\\":\\\"yyyy");
  assert_true(strlen(body) < 40000);
  free(body);
}

IN_WORLD(long_logs_lose_their_middle) {
  script_texts("for (let i = 0; i < 3000; i++) log('line number ' + i)", "done()", NULL);
  prompt(w, "Hello");
  char *body = asked(1);
  assert_has(body, "Logs:\\nline number 0\\nline number 1\\n");
  assert_has(body, " tokens are left out here ...]");
  assert_has(body, "line number 2999\\n\\nExecution result: undefined");
  free(body);
}

IN_WORLD(files_of_tools_are_outputs) {
  script_texts("weatherPicture({}); done()", NULL);
  prompt(w, "Hello");
  assert_has(w->events.p, "output file image/png\n");
  assert_stored(w, "output.2.type", "file");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  assert_int_equal(stored(w, &a, "output.2.path").n, strlen("/artifacts/") + LT_ARTIFACT_ID_BYTES);
  lt_arena_release(&a);
}

IN_WORLD(secrets_are_not_recorded) {
  script_texts("weatherEcho({key: 'hunter2-hunter2'}); log('hunter2-hunter2'); throw new Error('hunter2-hunter2')",
               "done()", NULL);
  prompt(w, "Hello");
  assert_null(strstr(w->events.p, "hunter2"));
  assert_stored(w, "output.0.result.logs", "***");
  assert_stored(w, "output.1.input", "{\"key\":\"***\"}");
  char *body = asked(1);
  assert_has(body, "Logs:\\n***\\n\\nExecution error: ***");
  free(body);
}

/* --- Stored before it is told ------------------------------------------------------------------------------------- */

/* What is put out has an end; the program itself does not notice, and the prompt still can say something. */
IN_WORLD(what_one_prompt_puts_out_has_an_end) {
  script_texts("for (let i = 0; i < 12000; i++) output('x'); 1", "output('y'); done()", NULL);
  prompt(w, "Hello");
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.9999.content", "x");
  assert_stored(w, "output.10000.content", "(More was put out than one prompt may: the rest is dropped)");
  assert_int_equal(w->streams.n, 9999 + 59);
  assert_stored(w, "output.10001.function", "code.execute");
  assert_stored(w, "output.10002", "");
}

/* Half of what was to be seen must not be taken for all, least of all at the end. */
IN_WORLD(output_over_its_limit_is_said_to_be_cut) {
  script_texts("for (let i = 0; i < 70; i++) output('x'.repeat(1000)); 1",
               "for (let i = 0; i < 70; i++) output('x'.repeat(1000)); done()", NULL);
  prompt(w, "Hello");
  static const char said[] =
      "\n(The program put out more than the 64 KiB that are allowed (sandbox.maxOutputBytes): the rest is dropped)";
  assert_stored(w, "output.66.content", said);
  assert_stored(w, "output.67.function", "code.execute");
  assert_stored(w, "output.133.content", said);
  assert_stored(w, "output.134", "");
  char *body = asked(1);
  assert_has(body,
             "The rest was more than the 64 KiB a program may output: it was dropped, and the user has been told");
  free(body);
}

IN_WORLD(events_have_what_consumers_need) {
  script_texts("output('a'); output('b'); done()", NULL);
  start(w, "Hello");
  wait_end(w);
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  assert_stored(w, "output.1.id", "call-0.text-1");
  assert_stored(w, "output.2.id", "call-0.text-2");
  assert_stored(w, "output.0.id", "call-0");
  assert_int_equal(stored(w, &a, "output.0.start").n, 24);
  assert_int_equal(stored(w, &a, "output.0.end").n, 24);
  lt_arena_release(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_example_of_015),
      cmocka_unit_test(the_example_of_complete),
      cmocka_unit_test(a_tool_of_classic_mode_runs_programs_here_too),
      cmocka_unit_test(a_failing_program_is_an_error_and_the_model_may_mend_it),
      cmocka_unit_test(what_a_program_stores_is_there_in_the_next_round),
      cmocka_unit_test(values_do_not_survive_the_prompt),
      cmocka_unit_test(data_of_complete_is_there_in_the_next_prompts),
      cmocka_unit_test(an_empty_reply_ends_the_prompt),
      cmocka_unit_test(without_done_the_rounds_end),
      cmocka_unit_test(prose_is_answered_once),
      cmocka_unit_test(json_is_no_program),
      cmocka_unit_test(a_syntax_error_in_what_a_program_reads_says_nothing_of_its_form),
      cmocka_unit_test(fences_are_taken_off),
      cmocka_unit_test(half_a_program_is_not_run),
      cmocka_unit_test(after_done_the_rest_still_runs_and_a_failure_there_is_recorded),
      cmocka_unit_test(a_tools_failure_can_be_caught_and_is_recorded),
      cmocka_unit_test(llm_json_gives_a_value_or_what_was_said),
      cmocka_unit_test(llm_without_a_model_throws),
      cmocka_unit_test(the_system_prompt_tells_of_tools_functions_modules_and_context),
      cmocka_unit_test(earlier_programs_and_what_came_of_them_are_history),
      cmocka_unit_test(what_follows_a_programs_end_is_one_message_with_it),
      cmocka_unit_test(long_results_become_artifacts),
      cmocka_unit_test(long_logs_lose_their_middle),
      cmocka_unit_test(files_of_tools_are_outputs),
      cmocka_unit_test(secrets_are_not_recorded),
      cmocka_unit_test(what_one_prompt_puts_out_has_an_end),
      cmocka_unit_test(output_over_its_limit_is_said_to_be_cut),
      cmocka_unit_test(events_have_what_consumers_need),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
