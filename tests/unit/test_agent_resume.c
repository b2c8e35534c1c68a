/* Prompts that are left in the middle and carried out again: what comes of them, and what is not done twice. */
#include "agent_resume_fix.h"

static void leave_and_resume(world *w) {
  leave(w);
  resume(w);
}

/* --- Classic ------------------------------------------------------------------------------------------------------ */
IN_WORLD(replies_on_record_are_not_asked_for_again) {
  open_leaving(w, "classic");
  script("[" ECHO ",{\"hang\":true},\"It is done.\"]");
  start(w, "Look");
  wait_asked(2, w);
  leave(w);
  assert_stored(w, "state", "running");
  resume(w);
  wait_end(w);
  assert_events(w, "resumed\noutput text It is done.\ncompleted\n"); /* nothing of what was there before */
  assert_string_equal(w->streams.p, "It is done.");
  assert_int_equal(times_asked(), 3);
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.0.content", "I look.");
  assert_stored(w, "output.1.id", "c1");
  assert_stored(w, "output.2.content", "It is done.");
  assert_stored(w, "output.3", "");
  assert_stored(w, "usage.inputTokens", "20");
  assert_stored(w, "usage.requests", "2");
  char *second = asked(1), *third = asked(2);
  assert_string_equal(second, third); /* the model is told the same */
  free(second);
  free(third);
}

IN_WORLD(a_call_under_way_is_not_made_again) {
  open_leaving(w, "classic");
  script("[{\"calls\":[{\"id\":\"c1\",\"name\":\"weather_hang\",\"arguments\":{}}]},\"Well.\"]");
  start(w, "Hang");
  wait_hanging(w);
  leave_and_resume(w);
  wait_end(w);
  assert_events(
      w,
      "resumed\n"
      "output tool weather.hang pending Executing...\n"
      "output tool weather.hang error interrupted: Lathe ended while this call was being made; whether it took "
      "effect is not known\n"
      "output text Well.\n"
      "completed\n");
  assert_asked_has(1, "messages.2.content", "interrupted: Lathe ended while this call was being made");
}

IN_WORLD(a_calls_long_answer_is_the_same_artifact) {
  open_leaving(w, "classic");
  script(
      "[{\"calls\":[{\"id\":\"c1\",\"name\":\"weather_big\",\"arguments\":{\"bytes\":100000}}]},{\"hang\":true},\"!"
      "\"]");
  start(w, "Big");
  wait_asked(2, w);
  leave_and_resume(w);
  wait_end(w);
  char *second = asked(1), *third = asked(2);
  assert_string_equal(second, third);
  free(second);
  free(third);
}

IN_WORLD(files_of_tools_stay) {
  open_leaving(w, "classic");
  script("[{\"calls\":[{\"id\":\"c1\",\"name\":\"weather_picture\",\"arguments\":{}}]},{\"hang\":true},\"!\"]");
  start(w, "Picture");
  wait_asked(2, w);
  leave_and_resume(w);
  wait_end(w);
  assert_stored(w, "output.1.type", "file");
  assert_stored(w, "output.2.content", "!");
  assert_stored(w, "output.3", "");
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
IN_WORLD(a_program_goes_on_where_it_was) {
  open_leaving(w, "code");
  script_texts(
      "output('@'); const n = weatherEcho({n: Math.random()}).n; output(String(n));\n"
      "try { weatherHang({}) } catch (e) { output(e.message) }\n"
      "output(String(n)); weatherEcho({n: 2}); done()",
      NULL);
  start(w, "Go");
  wait_event(w, "output tool weather.hang pending");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_str first = stored(w, &a, "output.3.content"); /* random, and the same afterwards */
  leave_and_resume(w);
  wait_end(w);
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.1.id", "call-0.text-1");
  assert_stored(w, "output.2.id", "call-0.1");
  char *number = lt_mem_strdup(first);
  assert_stored(w, "output.3.content", number);
  assert_stored(w, "output.4.id", "call-0.2");
  assert_stored(w, "output.4.result.type", "error");
  assert_stored(w, "output.6.content", number);
  assert_stored(w, "output.7.id", "call-0.3");
  assert_stored(w, "output.8", "");
  assert_null(strstr(w->streams.p, "@")); /* it was said before */
  lt_mem_free(number);
  lt_arena_release(&a);
  assert_int_equal(times_asked(), 1);
}

IN_WORLD(values_and_costs_of_programs_that_ended_are_there) {
  open_leaving(w, "code");
  script(
      "[\"store('a', {n: 1}); llm('hm')\",\"said\",{\"hang\":true},"
      "\"complete({response: JSON.stringify(recall('a'))})\"]");
  start(w, "Go");
  wait_asked(3, w);
  leave_and_resume(w);
  wait_end(w);
  assert_string_equal(w->streams.p, "{\"n\":1}");
  assert_int_equal(times_asked(), 4);
  assert_stored(w, "usage.requests", "3");
  char *third = asked(2), *fourth = asked(3);
  assert_string_equal(third, fourth);
  free(third);
  free(fourth);
}

IN_WORLD(llm_is_asked_again_where_it_had_not_answered) {
  open_leaving(w, "code");
  script("[\"output(llm('hm')); done()\",{\"hang\":true},\"said\"]");
  start(w, "Go");
  wait_asked(2, w);
  leave_and_resume(w);
  wait_end(w);
  assert_string_equal(w->streams.p, "said");
  assert_stored(w, "state", "completed");
}

IN_WORLD(budgets_have_as_much_left_as_they_had) {
  const lt_policy_budget budget = {.match = LT_STR("weather.echo"), .calls = 3};
  assert_int_equal(lt_policy_new(NULL, 0, &budget, 1, &w->policy, NULL), LT_OK);
  w->options.policy = w->policy;
  open_leaving(w, "code");
  script_texts("weatherEcho({n: 1}); weatherEcho({n: 2})",
               "try { weatherHang({}) } catch (e) { }\nweatherEcho({n: 3}); weatherEcho({n: 4})", "done()", NULL);
  start(w, "Go");
  wait_hanging(w);
  leave_and_resume(w);
  wait_end(w);
  assert_asked_has(2, "messages.5.content", "the budget for \"weather.echo\" is used up: 3 calls per run");
  assert_asked_has(2, "messages.5.content", "- weather.echo {\"n\":3}: done");
}

/* Within one program: what the record has answered counts before what comes behind it is made. */
IN_WORLD(budgets_count_what_the_record_answers_at_once) {
  const lt_policy_budget budget = {.match = LT_STR("weather.echo"), .calls = 2};
  assert_int_equal(lt_policy_new(NULL, 0, &budget, 1, &w->policy, NULL), LT_OK);
  w->options.policy = w->policy;
  open_leaving(w, "code");
  script_texts(
      "weatherEcho({n: 1}); weatherEcho({n: 2}); try { weatherHang({}) } catch (e) { }\n"
      "try { weatherEcho({n: 3}) } catch (e) { output(e.message) }\ndone()",
      NULL);
  start(w, "Go");
  wait_hanging(w);
  leave_and_resume(w);
  wait_end(w);
  assert_has(w->streams.p, "the budget for \"weather.echo\" is used up: 2 calls per run");
  assert_stored(w, "state", "completed");
}

/* --- Approvals ---------------------------------------------------------------------------------------------------- */
static void waits_again(world *w, const char *mode, const char *id) {
  open_leaving(w, mode);
  w->on_event = remember;
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  assert_string_equal(asked_id, id);
  for (int i = 0; i < 3; i++) {
    leave(w);
    assert_stored(w, "state", "waiting_for_approval");
    asked_id[0] = '\0';
    resume(w);
    wait_event(w, "approval bank.pay {\"amount\":5} (it is real money)");
    assert_string_equal(asked_id, id);
    assert_int_equal(w->paid, 0);
  }
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(id),
                                   &(lt_decision){.is_approved = true}, &w->err),
                   LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 5);
  assert_stored(w, "state", "completed");
}

IN_WORLD(approval_in_code_mode) {
  script_texts(PAY_CODE, NULL);
  waits_again(w, "code", "call-0.1");
}

IN_WORLD(approval_in_classic_mode) {
  script("[{\"calls\":[{\"id\":\"p1\",\"name\":\"bank_pay\",\"arguments\":{\"amount\":5}}]},\"Paid.\"]");
  waits_again(w, "classic", "p1");
}

IN_WORLD(approval_in_run_code) {
  script(
      "[{\"calls\":[{\"id\":\"r1\",\"name\":\"interpreter_run-code\",\"arguments\":{\"code\":\"weatherEcho({n: 1}); "
      "bankPay({amount: 5})\"}}]},\"Paid.\"]");
  waits_again(w, "classic", "r1.1.1.2");
}

IN_WORLD(approval_in_typescript_mode) {
  script(
      "[{\"calls\":[{\"id\":\"t1\",\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(await "
      "pay({amount: 5}))\"}}]},\"Paid.\"]");
  waits_again(w, "typescript", "t1.1");
}

IN_WORLD(what_was_decided_is_not_asked_again) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts(
      "let said = [];\n"
      "for (const amount of [5, 7]) { try { said.push(bankPay({amount}).paid) } catch (e) { said.push(e.message) } }\n"
      "try { weatherHang({}) } catch (e) { }\n"
      "output(said.join(', ')); done()",
      NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay {\"amount\":5}");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                                   &(lt_decision){.is_approved = true}, NULL),
                   LT_OK);
  wait_event(w, "approval bank.pay {\"amount\":7}");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                                   &(lt_decision){.reason = LT_STR("too much")}, NULL),
                   LT_OK);
  wait_hanging(w);
  leave_and_resume(w);
  wait_end(w);
  assert_null(strstr(w->events.p, "approval"));
  assert_int_equal(w->paid, 5);
  assert_string_equal(w->streams.p, "5, Tool \"bank.pay\" was not approved: too much");
}

/* Decided, and left before the call was begun. */
IN_WORLD(a_decision_holds_in_the_next_process) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts(PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                                   &(lt_decision){.is_approved = true}, NULL),
                   LT_OK);
  leave_and_resume(w);
  wait_end(w);
  assert_null(strstr(w->events.p, "approval bank.pay"));
  assert_int_equal(w->paid, 5);
  assert_stored(w, "state", "completed");
}

/* --- Modes of plugins --------------------------------------------------------------------------------------------- */
static void plan(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text reply, value;
  for (int i = 0; i < 2; i++) {
    if (host->ask_model(call, LATHE_TEXT("[{\"role\":\"user\",\"content\":\"?\"}]"), LATHE_TEXT(""), &reply) != 0) {
      host->fail(call, "%s", host->error(call).p);
      return;
    }
    host->put_text(call, host->characters(call, host->member(call, reply, "text")));
    if (host->call_tool(call, LATHE_TEXT("weather.echo"), host->format(call, "{\"n\":%d}", i), &value) != 0) {
      host->fail(call, "%s", host->error(call).p);
      return;
    }
    const lathe_program program = {.size = sizeof program, .code = LATHE_TEXT("weatherEcho({in: 'program'})")};
    if (host->run_program(call, &program, &value) != 0) {
      host->fail(call, "%s", host->error(call).p);
      return;
    }
  }
}

static void setup_plan(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const lathe_mode mode = {.size = sizeof mode, .id = "plan", .invoke = plan};
  assert_int_equal(host->add_mode(call, &mode), 0);
}

static const lathe_plugin *plan_on_loop(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin, .id = "plans", .flags = LATHE_ON_LOOP, .setup = setup_plan};
  return &plugin;
}

static const lathe_plugin *plan_on_thread(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "plans", .setup = setup_plan};
  return &plugin;
}

static void plugged_goes_on(world *w, lathe_plugin_entry_fn *entry) {
  assert_int_equal(lt_host_add(w->host, entry, LT_STR(""), NULL), LT_OK);
  open_leaving(w, "plan");
  script("[\"one\",{\"hang\":true},\"two\"]");
  start(w, "Plan");
  wait_asked(2, w);
  leave_and_resume(w);
  wait_end(w);
  assert_events(w,
                "resumed\n"
                "output text two\n"
                "output tool weather.echo pending Executing...\n"
                "output tool weather.echo success {\"n\":1}\n"
                "output tool weather.echo pending Executing...\n"
                "output tool weather.echo success {\"in\":\"program\"}\n"
                "completed\n");
  assert_stored(w, "state", "completed");
  assert_stored(w, "output.6", "");
}

IN_WORLD(a_mode_of_a_plugin_on_the_loop) {
  plugged_goes_on(w, plan_on_loop);
}

IN_WORLD(a_mode_of_a_plugin_with_a_thread) {
  plugged_goes_on(w, plan_on_thread);
}

/* --- Outputs ------------------------------------------------------------------------------------------------------ */
IN_WORLD(what_no_reader_has_got_is_sent_again) {
  open_leaving(w, "code");
  w->on_event = remember;
  w->never_shown = true;
  script_texts("output('one'); output('two'); " PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  leave(w);
  lt_buf_clear(&w->streams);
  lt_buf_clear(&w->events);
  w->never_shown = false;
  resume(w);
  wait_event(w, "approval bank.pay");
  assert_string_equal(lt_buf_view(&w->streams).p, "onetwo");
  leave(w);
  lt_buf_clear(&w->streams);
  resume(w);
  wait_event(w, "approval bank.pay");
  assert_int_equal(w->streams.n, 0); /* acknowledged */
}

/* --- Anywhere ----------------------------------------------------------------------------------------------------- */
static unsigned events_seen, leave_at, deciding;
static bool is_leaving; /* nobody decides any more: the agent is about to go */

static void approve_on_fiber(void *arg) {
  world *w = arg;
  (void)lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                        &(lt_decision){.is_approved = true}, NULL);
  deciding--;
}

static void stop_at(world *w, const char *event, lt_str data) {
  if (strcmp(event, "prompt.approval-requested") == 0 && !is_leaving) {
    remember(w, event, data);
    deciding++;
    assert_int_equal(lt_loop_spawn(w->loop, approve_on_fiber, w, NULL), LT_OK);
  }
  events_seen++;
}

/* Ids, and what came of each; not what depends on when it was left. Returns how many calls were interrupted. */
static unsigned put_outputs(world *w, lt_buf *out) {
  unsigned interrupted = 0;
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  for (int i = 0; i < 100; i++) {
    char path[40];
    snprintf(path, sizeof path, "output.%d.id", i);
    lt_str id = stored(w, &a, path);
    if (id.n == 0) {
      break;
    }
    lt_buf_add(out, id);
    snprintf(path, sizeof path, "output.%d.result.type", i);
    lt_buf_printf(out, " %.*s\n", LT_STR_ARG(stored(w, &a, path)));
    snprintf(path, sizeof path, "output.%d.result.error", i);
    interrupted += lt_str_starts(stored(w, &a, path), LT_STR("interrupted: "));
  }
  lt_arena_release(&a);
  return interrupted;
}

static bool has_ended(world *w) {
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  bool ended = lt_str_eqc(stored(w, &a, "state"), "completed");
  lt_arena_release(&a);
  return ended;
}

/* True: it was left before it had ended. */
static bool leave_after(world *w, unsigned events) {
  events_seen = 0;
  leave_at = events;
  while (events_seen < leave_at && !has_ended(w)) {
    lt_wait_on(&w->stirred, 20);
  }
  is_leaving = true;
  while (deciding > 0) {
    lt_loop_sleep(w->loop, 1);
  }
  leave(w);
  is_leaving = false;
  bool left = !has_ended(w);
  open_agent(w);
  return left;
}

/* Left after each number of events: what is stored at the end is what an undisturbed run stores, and nothing was done
 * twice. The model answers by what it is told: by its messages, that is. */
static void same_wherever_left(world *w, const char *mode, const char *replies) {
  lt_buf whole, now;
  lt_buf_init(&whole, LT_GIB);
  lt_buf_init(&now, LT_GIB);
  open_leaving(w, mode);
  w->on_event = stop_at;
  script(replies);
  prompt(w, "Go");
  put_outputs(w, &whole);
  assert_stored(w, "state", "completed");
  unsigned paid = w->paid, left = 0;
  for (unsigned events = 1; events < 40; events++) {
    w->paid = 0;
    start(w, "Go");
    if (!leave_after(w, events)) {
      break;
    }
    left++;
    for (unsigned more = events; resume_as(w, "ann") == LT_OK && leave_after(w, more % 5 + 1); more++) {
    }
    lt_buf_clear(&now);
    unsigned interrupted = put_outputs(w, &now);
    assert_stored(w, "state", "completed");
    assert_true(w->paid <= paid);
    if (w->paid == paid && interrupted == 0) {
      assert_string_equal(now.p, whole.p);
    }
  }
  assert_true(left > 3);
  lt_buf_release(&whole);
  lt_buf_release(&now);
}

IN_WORLD(code_mode_left_anywhere) {
  same_wherever_left(w, "code",
                     "[{\"rounds\":[\"output('a'); let n = 0; for (const amount of [1, 2]) { try { n += "
                     "bankPay({amount}).paid } catch (e) { output(e.message) } } n\",\"output('b'); done()\"]}]");
}

IN_WORLD(classic_mode_left_anywhere) {
  same_wherever_left(
      w, "classic",
      "[{\"rounds\":[{\"text\":\"I pay.\",\"calls\":[{\"id\":\"a\",\"name\":\"bank_pay\",\"arguments\":{"
      "\"amount\":1}},{\"id\":\"b\",\"name\":\"weather_echo\",\"arguments\":{}}]},{\"calls\":[{\"id\":\"c\",\"name\":"
      "\"interpreter_run-code\",\"arguments\":{\"code\":\"weatherEcho({n: 1}); bankPay({amount: "
      "2})\"}}]},\"Paid.\"]}]");
}

/* What finds no memory can be tried again. */
IN_WORLD(resuming_may_run_out_of_memory_anywhere) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts(PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  leave(w);
  unsigned failures = 0;
  for (long n = 0;; n++) {
    open_agent(w);
    lt_buf_clear(&w->events);
    lt_mem_fail_at(n);
    lt_status status = resume_as(w, "ann");
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK && !failed) {
      break;
    }
    failures += status != LT_OK;
    assert_true(failed);
    leave(w);
    assert_stored(w, "state", "waiting_for_approval");
  }
  assert_true(failures > 5);
  wait_event(w, "approval bank.pay");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                                   &(lt_decision){.is_approved = true}, NULL),
                   LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replies_on_record_are_not_asked_for_again),
      cmocka_unit_test(a_call_under_way_is_not_made_again),
      cmocka_unit_test(a_calls_long_answer_is_the_same_artifact),
      cmocka_unit_test(files_of_tools_stay),
      cmocka_unit_test(a_program_goes_on_where_it_was),
      cmocka_unit_test(values_and_costs_of_programs_that_ended_are_there),
      cmocka_unit_test(llm_is_asked_again_where_it_had_not_answered),
      cmocka_unit_test(budgets_have_as_much_left_as_they_had),
      cmocka_unit_test(budgets_count_what_the_record_answers_at_once),
      cmocka_unit_test(approval_in_code_mode),
      cmocka_unit_test(approval_in_classic_mode),
      cmocka_unit_test(approval_in_run_code),
      cmocka_unit_test(approval_in_typescript_mode),
      cmocka_unit_test(what_was_decided_is_not_asked_again),
      cmocka_unit_test(a_decision_holds_in_the_next_process),
      cmocka_unit_test(a_mode_of_a_plugin_on_the_loop),
      cmocka_unit_test(a_mode_of_a_plugin_with_a_thread),
      cmocka_unit_test(what_no_reader_has_got_is_sent_again),
      cmocka_unit_test(code_mode_left_anywhere),
      cmocka_unit_test(classic_mode_left_anywhere),
      cmocka_unit_test(resuming_may_run_out_of_memory_anywhere),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
