/* Calls that wait for a person, in the middle of a program. */
#include "agent_fix.h"

#include "store/store_decisions.h"

/* --- Deciding ----------------------------------------------------------------------------------------------------- */
/* The id of the n-th request for approval, from 0; waits for it. */
typedef struct request_ids {
  unsigned count;
  char ids[16][64];
} request_ids;
static request_ids requests;

static void remember(world *w, const char *event, lt_str data) {
  (void)w;
  if (strcmp(event, "prompt.approval-requested") == 0) {
    lt_arena a;
    lt_arena_init(&a, LT_GIB);
    lt_str id = member(&a, data, "request.toolCallId");
    snprintf(requests.ids[requests.count++ % 16], 64, "%.*s", LT_STR_ARG(id));
    lt_arena_release(&a);
  }
}

static const char *request_id(world *w, unsigned n) {
  while (requests.count <= n) {
    if (lt_wait_on(&w->stirred, 30000) == LT_E_TIMEOUT) {
      FAIL_WITH("approval was not asked for %u times:\n%s\n", n + 1, w->events.p);
    }
  }
  return requests.ids[n];
}

static void begin(world *w, const char *input) {
  requests.count = 0;
  w->on_event = remember;
  start(w, input);
}

static lt_status approve(world *w, const char *id) {
  return lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(id),
                         &(lt_decision){.is_approved = true}, &w->err);
}

static lt_status reject(world *w, const char *id, const char *reason) {
  return lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(id),
                         &(lt_decision){.reason = lt_str_of(reason)}, &w->err);
}

/* --- One call ----------------------------------------------------------------------------------------------------- */
IN_WORLD(an_approved_call_continues_exactly_there) {
  script_texts(
      "const before = weatherEcho({n: 1});\n"
      "const r = bankPay({amount: 5});\n"
      "output(`paid ${r.paid} after ${before.n}`); done()",
      NULL);
  begin(w, "Pay");
  const char *id = request_id(w, 0);
  assert_stored(w, "state", "waiting_for_approval");
  assert_stored(w, "output.2.id", id);
  assert_stored(w, "output.2.parent", "call-0");
  assert_stored(w, "output.1.parent", "call-0");
  assert_stored(w, "output.2.result.type", "pending");
  assert_stored(w, "output.2.result.reason", "it is real money");
  assert_int_equal(w->paid, 0);
  assert_int_equal(approve(w, id), LT_OK);
  assert_int_not_equal(approve(w, id), LT_OK); /* decided */
  wait_end(w);
  assert_events(w,
                "created\n"
                "output tool code.execute pending Executing...\n"
                "output tool weather.echo pending Executing...\n"
                "output tool weather.echo success {\"n\":1}\n"
                "output tool bank.pay pending it is real money\n"
                "approval bank.pay {\"amount\":5} (it is real money)\n"
                "approval-decided\n"
                "output tool bank.pay pending Executing...\n"
                "output tool bank.pay success {\"paid\":5}\n"
                "output text paid 5 after 1\n"
                "output tool code.execute success \n"
                "completed\n");
  assert_int_equal(w->paid, 5);
  assert_int_equal(times_asked(), 1);
  assert_int_equal(approve(w, id), LT_E_NOTFOUND); /* over */
}

IN_WORLD(a_rejection_is_an_error_the_program_can_catch) {
  script_texts("try { bankPay({amount: 5}) } catch (e) { output(e.message) }; output('still here'); done()", NULL);
  begin(w, "Pay");
  assert_int_equal(reject(w, request_id(w, 0), "too much"), LT_OK);
  wait_end(w);
  assert_has(w->streams.p, "too much");
  assert_has(w->streams.p, "still here");
  assert_has(w->events.p, "output tool bank.pay error Tool \"bank.pay\" was not approved: too much\n");
  assert_stored(w, "state", "completed");
  assert_int_equal(w->paid, 0);
}

IN_WORLD(a_rejection_that_is_not_caught_is_told_to_the_model) {
  script_texts("bankPay({amount: 5}); output('never')", "output('sorry'); done()", NULL);
  begin(w, "Pay");
  assert_int_equal(reject(w, request_id(w, 0), ""), LT_OK);
  wait_end(w);
  assert_string_equal(w->streams.p, "sorry");
  char *body = asked(1);
  assert_has(body, "was not approved: Rejected by user");
  free(body);
}

IN_WORLD(the_deadline_does_not_run_meanwhile) {
  w->options.defaults.timeout_ms = 200;
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("const r = bankPay({amount: 5}); output(r.paid); done()", NULL);
  begin(w, "Pay");
  const char *id = request_id(w, 0);
  lt_loop_sleep(w->loop, 400);
  assert_int_equal(approve(w, id), LT_OK);
  wait_end(w);
  assert_string_equal(w->streams.p, "5");
}

static void approve_on_fiber(void *arg) {
  world *w = arg;
  assert_int_equal(approve(w, requests.ids[(requests.count - 1) % 16]), LT_OK);
}

/* Whoever is told may decide at once. */
static void approve_at_once(world *w, const char *event, lt_str data) {
  remember(w, event, data);
  if (strcmp(event, "prompt.approval-requested") == 0) {
    assert_int_equal(lt_loop_spawn(w->loop, approve_on_fiber, w, NULL), LT_OK);
  }
}

IN_WORLD(a_decision_may_come_as_soon_as_the_event_is_out) {
  script_texts("for (let i = 0; i < 5; i++) bankPay({amount: 1}); done()", NULL);
  requests.count = 0;
  w->on_event = approve_at_once;
  prompt(w, "Pay");
  assert_int_equal(w->paid, 5);
  assert_stored(w, "state", "completed");
}

/* --- Several ------------------------------------------------------------------------------------------------------ */
IN_WORLD(two_may_wait_at_once_and_are_decided_in_any_order) {
  script_texts(
      "const r = parallel([{tool: 'bank.pay', input: {amount: 1}}, {tool: 'bank.pay', input: {amount: 10}}, "
      "{tool: 'weather.echo', input: {n: 3}}]);\n"
      "output(r); done()",
      NULL);
  begin(w, "Pay");
  request_id(w, 1);
  assert_string_not_equal(requests.ids[0], requests.ids[1]);
  assert_stored(w, "state", "waiting_for_approval");
  assert_int_equal(reject(w, requests.ids[1], "not the big one"), LT_OK);
  wait_event(w, "output tool bank.pay error");
  assert_stored(w, "state", "waiting_for_approval");
  assert_int_equal(approve(w, requests.ids[0]), LT_OK);
  wait_end(w);
  assert_string_equal(
      w->streams.p, "[{\"paid\":1},{\"error\":\"Tool \\\"bank.pay\\\" was not approved: not the big one\"},{\"n\":3}]");
  assert_stored(w, "state", "completed");
}

IN_WORLD(all_may_be_rejected) {
  script_texts(
      "const r = parallel([1, 2, 3].map((amount) => ({tool: 'bank.pay', input: {amount}})));\n"
      "output(r.every((one) => one.error.includes('no'))); done()",
      NULL);
  begin(w, "Pay");
  request_id(w, 2);
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(reject(w, requests.ids[i], "no"), LT_OK);
  }
  wait_end(w);
  assert_string_equal(w->streams.p, "true");
  assert_int_equal(w->paid, 0);
}

IN_WORLD(the_state_goes_back_to_running) {
  script_texts("bankPay({amount: 1}); weatherHang({})", NULL);
  begin(w, "Pay");
  assert_int_equal(approve(w, request_id(w, 0)), LT_OK);
  while (w->hanging == 0) {
    lt_wait_on(&w->stirred, UINT64_MAX);
  }
  wait_event(w, "weather.hang pending");
  assert_stored(w, "state", "running");
  assert_int_equal(lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), NULL), LT_OK);
  wait_end(w);
}

/* --- Through other ways ------------------------------------------------------------------------------------------- */
IN_WORLD(a_program_of_a_program_asks_too) {
  script_texts("output(tools['interpreter.run-code']({code: 'bankPay({amount: 7}).paid'})); done()", NULL);
  begin(w, "Pay");
  assert_int_equal(approve(w, request_id(w, 0)), LT_OK);
  wait_end(w);
  assert_string_equal(w->streams.p, "7");
  assert_has(w->events.p, "output tool bank.pay success {\"paid\":7}\n");
}

IN_WORLD(only_whose_prompt_it_is_decides) {
  script_texts("bankPay({amount: 1}); done()", NULL);
  begin(w, "Pay");
  lt_str prompt = lt_str_of(w->ids.prompt), id = lt_str_of(request_id(w, 0));
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("eve"), prompt, id, &(lt_decision){.is_approved = true}, &w->err),
                   LT_E_NOTFOUND);
  assert_int_equal(lt_agent_cancel(w->agent, LT_STR("eve"), prompt, &w->err), LT_E_NOTFOUND);
  assert_int_equal(
      lt_agent_decide(w->agent, LT_STR("ann"), LT_STR("x"), id, &(lt_decision){.is_approved = true}, &w->err),
      LT_E_NOTFOUND);
  assert_int_equal(
      lt_agent_decide(w->agent, LT_STR("ann"), prompt, LT_STR("x"), &(lt_decision){.is_approved = true}, &w->err),
      LT_E_NOTFOUND);
  assert_string_equal(w->err.msg, "No tool call \"x\" waits for approval");
  assert_int_equal(approve(w, requests.ids[0]), LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 1);
}

IN_WORLD(secrets_are_not_shown_to_whoever_decides) {
  script_texts("bankPay({amount: 1, pin: 'hunter2-hunter2'}); done()", NULL);
  begin(w, "Pay");
  request_id(w, 0);
  assert_has(w->events.p, "approval bank.pay {\"amount\":1,\"pin\":\"***\"}");
  assert_int_equal(approve(w, requests.ids[0]), LT_OK);
  wait_end(w);
}

/* Two secrets have the same mask. */
IN_WORLD(an_input_with_a_secret_is_not_remembered_by_its_arguments) {
  script_texts(
      "bankPay({amount: 1, pin: 'hunter2-hunter2'}); bankPay({amount: 1, pin: 'hunter2-hunter2'}); "
      "bankPay({amount: 2}); bankPay({amount: 2}); done()",
      NULL);
  const lt_decision yes = {.is_approved = true, .remember = LT_REMEMBER_CALL};
  begin(w, "Pay");
  for (unsigned i = 0; i < 3; i++) {
    lt_str id = lt_str_of(request_id(w, i));
    assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), id, &yes, &w->err), LT_OK);
  }
  wait_end(w);
  assert_int_equal(requests.count, 3);
  assert_int_equal(w->paid, 6);
}

/* --- Decisions in the store --------------------------------------------------------------------------------------- */
/* Whether a decision about the prompt waits, by a look at it and at another one. */
static bool has_open_decision(world *w) {
  char prompts[2 * (LT_STORE_ID_BYTES + 1)];
  LT_AUTO_BUF(decided, LT_KIB);
  memcpy(prompts, "00000000000000000000000000000000", LT_STORE_ID_BYTES + 1);
  memcpy(prompts + LT_STORE_ID_BYTES + 1, w->ids.prompt, LT_STORE_ID_BYTES + 1);
  lt_status status = lt_store_decision_find_open(w->db, lt_str_from(prompts, sizeof prompts), &decided, &w->err);
  assert_int_equal(status, LT_OK);
  assert_true(decided.n == 0 || (decided.n == LT_STORE_ID_BYTES + 1 && strcmp(decided.p, w->ids.prompt) == 0));
  return decided.n > 0;
}

IN_WORLD(a_stored_decision_is_about_one_call_of_its_user) {
  int64_t row = 0;
  script_texts("bankPay({amount: 1}); done()", NULL);
  begin(w, "Pay");
  lt_decision_row what = {.prompt = lt_str_of(w->ids.prompt),
                          .verb = LT_VERB_APPROVE,
                          .user = LT_STR("eve"),
                          .call = lt_str_of(request_id(w, 0)),
                          .hash = 1, /* of another call that had this id */
                          .tool = LT_STR("bank.pay"),
                          .decision = {.is_approved = true}};
  assert_int_equal(lt_store_decision_put(w->db, &what, &row, &w->err), LT_E_NOTFOUND);
  what.user = LT_STR("ann");
  assert_false(has_open_decision(w));
  assert_int_equal(lt_store_decision_put(w->db, &what, &row, &w->err), LT_OK);
  lt_loop_sleep(w->loop, 5 * LT_DECISION_POLL_MS);
  assert_int_equal(w->paid, 0);
  assert_true(has_open_decision(w));
  assert_stored(w, "state", "waiting_for_approval");
  assert_int_equal(approve(w, requests.ids[0]), LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 1);
  assert_int_equal(lt_store_decision_put(w->db, &what, &row, &w->err), LT_E_NOTFOUND);
}

IN_WORLD(a_stored_decision_is_taken) {
  int64_t row = 0;
  script_texts("bankPay({amount: 1}); done()", NULL);
  begin(w, "Pay");
  lt_str call = lt_str_of(request_id(w, 0));
  const lt_decision_row what = {.prompt = lt_str_of(w->ids.prompt),
                                .verb = LT_VERB_APPROVE,
                                .user = LT_STR("ann"),
                                .call = call,
                                .hash = lt_journal_hash(LT_STR("bank.pay"), LT_STR("{\"amount\":1}")),
                                .tool = LT_STR("bank.pay"),
                                .decision = {.is_approved = true, .input = LT_STR("{\"amount\":3}")}};
  assert_int_equal(lt_store_decision_put(w->db, &what, &row, &w->err), LT_OK);
  assert_int_equal(lt_store_decision_put(w->db, &what, &row, &w->err), LT_E_INVALID);
  wait_end(w);
  assert_int_equal(w->paid, 3);
  assert_false(has_open_decision(w));
}

/* What this process decides, too: it is stored when it is confirmed, and a kill right behind it loses nothing. */
IN_WORLD(a_decision_is_stored_before_it_is_confirmed) {
  script_texts("bankPay({amount: 1}); bankPay({amount: 2}); done()", NULL);
  begin(w, "Pay");
  for (unsigned i = 0; i < 2; i++) {
    lt_arena a;
    LT_AUTO_BUF(rows, LT_MIB);
    const char *id = request_id(w, i);
    assert_int_equal(
        i == 0 ? approve(w, id) : lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), &w->err), LT_OK);
    lt_arena_init(&a, LT_GIB);
    assert_int_equal(lt_store_decision_list(w->db, lt_str_of(w->ids.prompt), &rows, &w->err), LT_OK);
    lt_str verb = member(&a, lt_buf_view(&rows), i == 0 ? "0.verb" : "1.verb");
    assert_true(lt_str_eqc(verb, i == 0 ? "approve" : "cancel"));
    lt_arena_release(&a);
  }
  wait_end(w);
  assert_int_equal(w->paid, 1);
  assert_stored(w, "state", "cancelled");
}

/* --- Without anybody's word --------------------------------------------------------------------------------------- */
IN_WORLD(a_policys_denial_can_be_caught_and_is_recorded) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("bank.*"), .action = LT_ACTION_DENY, .reason = TEXT("not on Sundays")},
      {.match = TEXT("weather.echo"), .action = LT_ACTION_ASK, .reason = TEXT("who knows")},
  };
  assert_int_equal(lt_policy_new(rules, 2, NULL, 0, &w->policy, &w->err), LT_OK);
  w->options.policy = w->policy;
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("try { bankPay({amount: 1}) } catch (e) { output(e.message) }; weatherEcho({n: 1}); done()", NULL);
  begin(w, "Pay");
  assert_int_equal(approve(w, request_id(w, 0)), LT_OK);
  wait_end(w);
  assert_string_equal(w->streams.p, "Tool \"bank.pay\" is not allowed: not on Sundays");
  assert_has(w->events.p,
             "output tool bank.pay pending Executing...\n"
             "output tool bank.pay error Tool \"bank.pay\" is not allowed: not on Sundays\n");
  assert_has(w->events.p, "approval weather.echo {\"n\":1} (who knows)\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_approved_call_continues_exactly_there),
      cmocka_unit_test(a_rejection_is_an_error_the_program_can_catch),
      cmocka_unit_test(a_rejection_that_is_not_caught_is_told_to_the_model),
      cmocka_unit_test(the_deadline_does_not_run_meanwhile),
      cmocka_unit_test(a_decision_may_come_as_soon_as_the_event_is_out),
      cmocka_unit_test(two_may_wait_at_once_and_are_decided_in_any_order),
      cmocka_unit_test(all_may_be_rejected),
      cmocka_unit_test(the_state_goes_back_to_running),
      cmocka_unit_test(a_program_of_a_program_asks_too),
      cmocka_unit_test(only_whose_prompt_it_is_decides),
      cmocka_unit_test(secrets_are_not_shown_to_whoever_decides),
      cmocka_unit_test(an_input_with_a_secret_is_not_remembered_by_its_arguments),
      cmocka_unit_test(a_stored_decision_is_about_one_call_of_its_user),
      cmocka_unit_test(a_stored_decision_is_taken),
      cmocka_unit_test(a_decision_is_stored_before_it_is_confirmed),
      cmocka_unit_test(a_policys_denial_can_be_caught_and_is_recorded),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
