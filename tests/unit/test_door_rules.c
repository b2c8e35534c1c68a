/* The door's rules: who may call what, who is asked, which edited inputs count, what may change during a wait. */
#include "unit/door_fix.h"

#include "base/mem.h"

static void on_approval(void *arg, bool waiting) {
  (void)arg;
  note(waiting ? "waiting" : "decided");
}

static lt_policy *policy_of(const lt_policy_rule *rules, size_t count, const lt_policy_budget *budgets,
                            size_t budget_count) {
  lt_policy *policy = NULL;
  assert_int_equal(lt_policy_new(rules, count, budgets, budget_count, &policy, NULL), LT_OK);
  return policy;
}

/* --- Policy and approval ------------------------------------------------------------------------------------------ */
TEST(rules_allow_and_deny) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("bank.transfer"), .when = TEXT("input.amount <= 1000"), .action = LT_ACTION_ALLOW},
      {.match = TEXT("bank.transfer"), .reason = TEXT("too much money"), .action = LT_ACTION_DENY},
      {.match = TEXT("bank.p*"), .action = LT_ACTION_DENY},
      {.match = TEXT("bank.rate"), .when = TEXT("input.from == \"EUR\""), .action = LT_ACTION_DENY},
  };
  lt_policy *policy = policy_of(rules, 4, NULL, 0);
  w->caller.policy = policy;
  expect(w, "bank.transfer", "{\"amount\":1000}", LT_OK, "1", "invoke transfer {\"amount\":1000}");
  expect(w, "bank.transfer", "{\"amount\":1001}", LT_E_DENIED, "Tool \"bank.transfer\" is not allowed: too much money",
         "");
  expect(w, "bank.transfer", "{}", LT_E_DENIED, "Tool \"bank.transfer\" is not allowed: too much money", "");
  expect(w, "bank.peek", "", LT_E_DENIED, "Tool \"bank.peek\" is not allowed: tools.policy[2] denies it", "");
  expect(w, "bank.rate", "", LT_E_DENIED,
         "Tool \"bank.rate\" is not allowed: tools.policy[3] denies it (for this input its condition cannot be told: a "
         "value is missing or of another type)",
         "");
  /* A wrong input is told before anybody is asked or refused. */
  expect(w, "bank.transfer", "{\"amount\":\"x\"}", LT_E_INVALID, "input.amount: expected number, got string", "");
  w->caller.policy = NULL;
  lt_policy_free(policy);
}

#define DESTRUCTIVE "{\"readOnlyHint\":false,\"destructiveHint\":true}"
#define READ_ONLY   "{\"readOnlyHint\":true}"
#define DENIED_PEEK "Tool \"bank.peek\" is not allowed: tools.policy[0] denies it"
#define CHANGED_PEEK                                                                                                  \
  "Tool \"bank.peek\" was not called: its annotations changed while the call waited, and the rules are stricter for " \
  "what it is now"

/* A run keeps the catalog that it began with; the annotations of now count, too. */
TEST(annotations_count_as_they_are_now) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("*"), .when = TEXT("annotations.destructiveHint"), .action = LT_ACTION_DENY},
  };
  lt_policy *policy = policy_of(rules, 1, NULL, 0);
  w->caller.policy = policy;
  w->caller.journal = &w->journal;
  assert_int_equal(lt_door_catalog(w->door, &w->caller.catalog, NULL), LT_OK);
  expect(w, "bank.peek", "", LT_OK, "1", "begin ann/r1 bank.peek {} repeatable; invoke peek {}; finish 7 OK 1");
  w->becomes = DESTRUCTIVE;
  change_peek();
  expect(w, "bank.peek", "", LT_E_DENIED, DENIED_PEEK, "");
  w->becomes = "";
  change_peek(); /* no annotations: the protocol's defaults */
  expect(w, "bank.peek", "", LT_E_DENIED, DENIED_PEEK, "");
  w->becomes = READ_ONLY;
  change_peek();
  w->becomes = NULL;
  expect(w, "bank.peek", "", LT_OK, "1", "begin ann/r1 bank.peek {} repeatable; invoke peek {}; finish 7 OK 1");
  /* A tool that was destructive when the run began stays so: a new list cannot loosen a run. */
  lt_catalog_unref(w->caller.catalog);
  w->becomes = DESTRUCTIVE;
  change_peek();
  assert_int_equal(lt_door_catalog(w->door, &w->caller.catalog, NULL), LT_OK);
  w->becomes = READ_ONLY;
  change_peek();
  w->becomes = NULL;
  expect(w, "bank.peek", "", LT_E_DENIED, DENIED_PEEK, "");
  lt_catalog_unref(w->caller.catalog);
  lt_policy_free(policy);
}

TEST(annotations_may_change_while_a_call_waits) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("*"), .when = TEXT("annotations.destructiveHint"), .action = LT_ACTION_DENY},
      {.match = TEXT("*"), .when = TEXT("has(input.ask)"), .action = LT_ACTION_ASK},
  };
  lt_policy *policy = policy_of(rules, 2, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->becomes = DESTRUCTIVE;
  expect(w, "bank.peek", "{\"ask\":1}", LT_E_DENIED, CHANGED_PEEK, "ask bank.peek {\"ask\":1} ()");
  w->becomes = READ_ONLY;
  change_peek();
  expect(w, "bank.peek", "{\"ask\":1}", LT_OK, "1", "ask bank.peek {\"ask\":1} (); invoke peek {\"ask\":1}");
  w->becomes = DESTRUCTIVE;
  w->caller.journal = &w->journal;
  expect(w, "bank.peek", "{}", LT_E_DENIED, CHANGED_PEEK,
         "begin ann/r1 bank.peek {} repeatable; finish 7 E_DENIED " CHANGED_PEEK);
  w->becomes = NULL;
  lt_policy_free(policy);
}

/* What a person has said of a tool for later calls is about the tool as it was. */
TEST(a_changed_tool_is_asked_about_again) {
  const lt_policy_rule rules[] = {{.match = TEXT("*"), .action = LT_ACTION_ASK}};
  lt_policy *policy = policy_of(rules, 1, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  assert_int_equal(lt_door_catalog(w->door, &w->caller.catalog, NULL), LT_OK);
  expect(w, "bank.peek", "", LT_OK, "1", "ask bank.peek {} (); invoke peek {}");
  w->becomes = DESTRUCTIVE;
  change_peek();
  w->becomes = NULL;
  expect(w, "bank.peek", "", LT_OK, "1",
         "ask bank.peek {} (); again: the tool's annotations have changed since this run began; invoke peek {}");
  lt_catalog_unref(w->caller.catalog);
  lt_policy_free(policy);
}

TEST(a_namespace_has_one_owner) {
  lt_provider other = {.name = LT_STR("bank"), .invoke = bank_invoke};
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_door_set_tools(w->door, &other, specs, 1, &err), LT_E_INVALID);
  assert_string_equal(err.msg, "the name \"bank\" is taken by the server or plugin \"bank\": rename one");
  other.name = LT_STR("BanK");
  assert_int_equal(lt_door_set_tools(w->door, &other, specs, 1, NULL), LT_E_INVALID);
  other.name = LT_STR("bank2");
  assert_int_equal(lt_door_set_tools(w->door, &other, specs, 1, NULL), LT_OK);
  lt_door_remove(w->door, &w->bank);
  lt_door_remove(w->door, &other);
  other.name = LT_STR("BanK"); /* it is free again */
  assert_int_equal(lt_door_set_tools(w->door, &other, specs, 1, NULL), LT_OK);
  lt_door_remove(w->door, &other);
}

TEST(the_stricter_layer_is_named_with_its_file) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("bank.*"), .action = LT_ACTION_ALLOW, .layer = LT_POLICY_PROJECT},
      {.match = TEXT("x"), .action = LT_ACTION_ALLOW},
      {.match = TEXT("bank.peek"), .action = LT_ACTION_DENY},
      {.match = TEXT("bank.transfer"), .reason = TEXT("the user asks"), .action = LT_ACTION_ASK},
  };
  const lt_policy_source source = {.rules = rules, .count = 4, .files = {TEXT("/user.yaml"), TEXT("/p.yaml")}};
  lt_policy *policy = NULL;
  assert_int_equal(lt_policy_compile(&source, &policy, NULL), LT_OK);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  expect(w, "bank.peek", "", LT_E_DENIED, "Tool \"bank.peek\" is not allowed: tools.policy[1] in /user.yaml denies it",
         "");
  expect(w, "bank.transfer", "", LT_OK, "1", "ask bank.transfer {} (the user asks); invoke transfer {}");
  expect(w, "bank.close", "", LT_OK, "1", "invoke close {}"); /* the user says nothing, the trusted project allows */
  lt_policy_free(policy);
}

TEST(a_tool_that_needs_approval_is_asked_about) {
  expect(w, "bank.close", "", LT_E_DENIED,
         "Tool \"bank.close\" needs approval, and there is nobody to ask: allow it in the configuration, such as "
         "tools: {policy: [{match: \"bank.close\", action: allow}]}",
         "");
  w->caller.approver = &w->approver;
  w->options.on_approval = on_approval;
  expect(w, "bank.close", "{\"a\":1}", LT_OK, "1",
         "waiting; ask bank.close {\"a\":1} (cannot be undone); decided; invoke close {\"a\":1}");
  w->verdict = LT_E_DENIED;
  expect(w, "bank.close", "", LT_E_DENIED, "Tool \"bank.close\" was not approved: Rejected by user",
         "waiting; ask bank.close {} (cannot be undone); decided");
  w->why = "not on a Sunday";
  expect(w, "bank.close", "", LT_E_DENIED, "Tool \"bank.close\" was not approved: not on a Sunday",
         "waiting; ask bank.close {} (cannot be undone); decided");
}

TEST(a_rule_overrides_the_tools_own_word) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("bank.close"), .action = LT_ACTION_ALLOW},
      {.match = TEXT("*"), .when = TEXT("annotations.readOnlyHint"), .action = LT_ACTION_ALLOW},
      {.match = TEXT("*"), .reason = TEXT("house rule"), .action = LT_ACTION_ASK},
  };
  lt_policy *policy = policy_of(rules, 3, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->asks = true;
  expect(w, "bank.close", "", LT_OK, "1", "invoke close {}");
  expect(w, "bank.peek", "", LT_OK, "1", "invoke peek {}");
  expect(w, "bank.rate", "", LT_OK, "1",
         "ask bank.rate {} (house rule); invoke rate {}; warning: Tool \"bank.rate\" "
         "does not answer what its output schema says (the answer is used as it is): "
         "output: expected object, got number");
  w->caller.policy = NULL;
  expect(w, "bank.peek", "", LT_OK, "1", "ask bank.peek {} (today is a holiday); invoke peek {}");
  lt_policy_free(policy);
}

TEST(without_memory_nothing_is_let_through) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("*"), .when = TEXT("annotations.readOnlyHint"), .action = LT_ACTION_DENY}};
  lt_policy *policy = policy_of(rules, 1, NULL, 0);
  w->caller.policy = policy;
  lt_status status = LT_OK;
  for (long n = 0; status != LT_E_DENIED; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_buf_clear(&w->happened);
    lt_mem_fail_at(n);
    status = lt_door_call(w->door, LT_STR("bank.peek"), LT_STR("{}"), &w->options, &out, NULL);
    lt_mem_fail_at(-1);
    assert_true(status == LT_E_DENIED || status == LT_E_NOMEM);
    assert_int_equal(w->happened.n, 0);
    lt_buf_release(&out);
  }
  lt_policy_free(policy);
}

TEST(budgets_hold) {
  const lt_policy_budget budgets[] = {{.match = TEXT("bank.*"), .calls = 2}};
  lt_policy *policy = policy_of(NULL, 0, budgets, 1);
  lt_budget *budget = lt_budget_new(policy);
  w->caller.policy = policy;
  w->caller.budget = budget;
  expect(w, "bank.peek", "", LT_OK, "1", "invoke peek {}");
  expect(w, "bank.transfer", "", LT_OK, "1", "invoke transfer {}");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("bank.peek"), LT_STR(""), &w->options, &out, NULL), LT_E_LIMIT);
  assert_true(lt_str_find(lt_buf_view(&out), LT_STR("bank.*"), 0) != SIZE_MAX);
  lt_buf_release(&out);
  lt_budget_free(budget);
  lt_policy_free(policy);
}

/* --- Edited inputs ------------------------------------------------------------------------------------------------ */
TEST(an_edited_input_reaches_the_tool_and_both_are_recorded) {
  const lt_policy_rule rules[] = {{.match = TEXT("*"), .action = LT_ACTION_ASK}};
  const char *const edits[] = {"{\"amount\":5}", "\"{\\\"amount\\\":6}\"", ""};
  lt_policy *policy = policy_of(rules, 1, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->caller.journal = &w->journal;
  w->edits = edits;
  expect(w, "bank.transfer", "{\"amount\":500}", LT_OK, "1",
         "ask bank.transfer {\"amount\":500} (); begin ann/r1 bank.transfer {\"amount\":500}; edited {\"amount\":5}; "
         "invoke transfer {\"amount\":5}; finish 7 OK 1");
  /* Coerced as a model's input is. */
  expect(w, "bank.transfer", "{\"amount\":500}", LT_OK, "1",
         "ask bank.transfer {\"amount\":500} (); begin ann/r1 bank.transfer {\"amount\":500}; edited {\"amount\":6}; "
         "invoke transfer {\"amount\":6}; finish 7 OK 1");
  expect(w, "bank.transfer", "{\"amount\":500}", LT_OK, "1",
         "ask bank.transfer {\"amount\":500} (); begin ann/r1 bank.transfer {\"amount\":500}; "
         "invoke transfer {\"amount\":500}; finish 7 OK 1");
  lt_policy_free(policy);
}

TEST(an_edited_input_that_does_not_fit_is_asked_about_again) {
  const char *const edits[] = {"{\"amount\":\"x\"}", "{\"amount\":", "[1]", "{\"amount\":7}"};
  const lt_policy_rule rules[] = {{.match = TEXT("*"), .action = LT_ACTION_ASK}};
  lt_policy *policy = policy_of(rules, 1, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->options.on_approval = on_approval;
  w->edits = edits;
#define ASKED "waiting; ask bank.transfer {\"amount\":500} (); "
  expect(w, "bank.transfer", "{\"amount\":500}", LT_OK, "1",
         ASKED "decided; " ASKED "again: input.amount: expected number, got string; decided; " ASKED
               "again: input: not JSON: invalid JSON at line 1, column 11: expected a value, but the text ends here; "
               "decided; " ASKED
               "again: input: expected an object, got array; decided; invoke transfer {\"amount\":7}");
  lt_policy_free(policy);
}

TEST(edits_that_never_fit_end) {
  const char *edits[LT_EDITS_MAX + 1];
  for (size_t i = 0; i <= LT_EDITS_MAX; i++) {
    edits[i] = "[]";
  }
  w->caller.approver = &w->approver;
  w->edits = edits;
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("bank.close"), LT_STR(""), &w->options, &out, NULL), LT_E_INVALID);
  assert_string_equal(out.p,
                      "Tool \"bank.close\" was not called: no edited input could be used: input: expected an object, "
                      "got array");
  assert_int_equal(w->edits - edits, LT_EDITS_MAX);
  lt_buf_release(&out);
}

TEST(the_rules_hold_for_an_edited_input) {
  const char *const edits[] = {"{\"amount\":5000}"};
  const lt_policy_rule rules[] = {
      {.match = TEXT("*"), .when = TEXT("input.amount > 1000"), .reason = TEXT("too much"), .action = LT_ACTION_DENY},
      {.match = TEXT("*"), .action = LT_ACTION_ASK}};
  lt_policy *policy = policy_of(rules, 2, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->edits = edits;
  expect(w, "bank.transfer", "{\"amount\":500}", LT_E_DENIED, "Tool \"bank.transfer\" is not allowed: too much",
         "ask bank.transfer {\"amount\":500} ()");
  lt_policy_free(policy);
}

/* A person sees "***"; the tool gets the secret where the mask still stands, and nowhere else. */
TEST(an_edit_keeps_the_secrets_that_are_not_shown) {
  const char *const edits[] = {"{\"key\":\"***\",\"n\":[{\"a\":\"x ***\"},3]}", "{\"n\":\"***\"}", "{\"key\":\"a***\"}",
                               "{\"key\":\"other\"}"};
  w->caller.approver = &w->approver;
  w->caller.journal = &w->journal;
  w->edits = edits;
#define SHOWN "{\"key\":\"***\",\"n\":[{\"a\":\"x ***\"},2]}"
#define GIVEN "{\"key\":\"" SECRET "\",\"n\":[{\"a\":\"x " SECRET "\"},2]}"
  expect(w, "bank.close", GIVEN, LT_OK, "1",
         "ask bank.close " SHOWN " (cannot be undone); begin ann/r1 bank.close " SHOWN
         "; edited {\"key\":\"***\","
         "\"n\":[{\"a\":\"x ***\"},3]}; invoke close {\"key\":\"" SECRET "\",\"n\":[{\"a\":\"x " SECRET
         "\"},3]}; finish 7 OK 1");
#define STRAY "again: input: \"***\" stands for a secret, and can only stay where it was"
  expect(w, "bank.close", GIVEN, LT_OK, "1",
         "ask bank.close " SHOWN " (cannot be undone); ask bank.close " SHOWN " (cannot be undone); " STRAY
         "; ask bank.close " SHOWN " (cannot be undone); " STRAY "; begin ann/r1 bank.close " SHOWN
         "; edited {\"key\":\"other\"}; invoke close {\"key\":\"other\"}; finish 7 OK 1");
}

TEST(an_edit_without_memory_is_not_called_as_asked) {
  const char *const edits[] = {"{\"amount\":5}"};
  w->caller.approver = &w->approver;
  lt_status status = LT_E_NOMEM;
  for (long n = 0; status != LT_OK; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_buf_clear(&w->happened);
    w->edits = edits;
    lt_mem_fail_at(n);
    status = lt_door_call(w->door, LT_STR("bank.close"), LT_STR("{\"amount\":500}"), &w->options, &out, NULL);
    lt_mem_fail_at(-1);
    assert_true(status == LT_OK || status == LT_E_NOMEM);
    bool is_called = w->happened.p != NULL && strstr(w->happened.p, "invoke") != NULL;
    assert_true(is_called == (status == LT_OK));
    assert_true(!is_called || strstr(w->happened.p, "invoke close {\"amount\":5}") != NULL);
    lt_buf_release(&out);
  }
}

static void fire(void *arg) {
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

TEST(a_cancel_ends_the_waiting_for_an_answer) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  w->options.cancel = &cancel;
  w->options.on_approval = on_approval;
  w->caller.approver = &w->approver;
  w->thinks_ms = 60000;
  assert_int_equal(lt_loop_spawn(w->loop, fire, &cancel, NULL), LT_OK);
  expect(w, "bank.close", "", LT_E_CANCELLED, "nobody waits any more",
         "waiting; ask bank.close {} (cannot be undone); decided");
}

static void remove_bank(void *arg) {
  world *w = arg;
  lt_door_remove(w->door, &w->bank);
}

TEST(a_tool_may_go_while_somebody_decides) {
  w->caller.approver = &w->approver;
  w->thinks_ms = 20;
  assert_int_equal(lt_loop_spawn(w->loop, remove_bank, w, NULL), LT_OK);
  expect(w, "bank.close", "", LT_E_CLOSED, GONE("bank.close"), "ask bank.close {} (cannot be undone)");
}

/* Takes the place of the bank's provider, as when a server is configured differently. */
static lt_status branch_invoke(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                               lt_buf *out, lt_err *err) {
  (void)self, (void)options, (void)err;
  note("branch %.*s %.*s", LT_STR_ARG(name), LT_STR_ARG(input));
  lt_buf_addc(out, "2");
  return LT_OK;
}

static lt_provider branch = {.name = TEXT("bank"), .invoke = branch_invoke};

static void replace_bank(void *arg) {
  world *w = arg;
  assert_true(lt_door_replace(w->door, &w->bank, &branch));
  assert_false(lt_door_replace(w->door, &w->bank, &branch)); /* it is not there any more */
  if (w->branch_says != NULL) {
    const lt_tool_spec now = {.name = TEXT("peek"), .annotations = lt_str_of(w->branch_says)};
    assert_int_equal(lt_door_set_tools(w->door, &branch, &now, 1, NULL), LT_OK);
  }
}

TEST(the_successor_of_a_provider_carries_the_call_out) {
  w->caller.approver = &w->approver;
  w->thinks_ms = 20;
  assert_int_equal(lt_loop_spawn(w->loop, replace_bank, w, NULL), LT_OK);
  expect(w, "bank.close", "", LT_OK, "2", "ask bank.close {} (cannot be undone); branch close {}");
  lt_door_remove(w->door, &branch);
}

TEST(a_caller_with_a_list_of_before_reaches_the_successor_if_the_tool_is_the_same) {
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  w->caller.catalog = catalog;
  replace_bank(w);
  expect(w, "bank.transfer", "{}", LT_OK, "2", "branch transfer {}");
  const lt_tool_spec other = {.name = TEXT("transfer"), .input_schema = TEXT("{\"required\":[\"id\"]}")};
  assert_int_equal(lt_door_set_tools(w->door, &branch, &other, 1, NULL), LT_OK);
  expect(w, "bank.transfer", "{}", LT_E_CLOSED,
         "Tool \"bank.transfer\" was not called: its server was replaced meanwhile, and the tool takes another input "
         "now. List the tools again to see which",
         "");
  expect(w, "bank.peek", "{}", LT_E_CLOSED, GONE("bank.peek"), "");
  lt_door_remove(w->door, &branch);
  w->caller.catalog = NULL;
  lt_catalog_unref(catalog);
}

TEST(what_the_successor_says_of_a_tool_is_judged) {
  const lt_policy_rule rules[] = {
      {.match = TEXT("*"), .when = TEXT("annotations.destructiveHint"), .action = LT_ACTION_DENY},
      {.match = TEXT("*"), .action = LT_ACTION_ASK},
  };
  lt_policy *policy = policy_of(rules, 2, NULL, 0);
  w->caller.policy = policy;
  w->caller.approver = &w->approver;
  w->thinks_ms = 20;
  w->branch_says = DESTRUCTIVE;
  assert_int_equal(lt_loop_spawn(w->loop, replace_bank, w, NULL), LT_OK);
  expect(w, "bank.peek", "", LT_E_DENIED, CHANGED_PEEK, "ask bank.peek {} ()");
  lt_door_remove(w->door, &branch);
  w->caller.policy = NULL;
  lt_policy_free(policy);
}

/* --- Who sees what ------------------------------------------------------------------------------------------------ */
TEST(a_hidden_tool_cannot_be_called) {
  w->caller.hidden = LT_STR("bank.peek");
  expect(w, "bank.peek", "", LT_E_NOTFOUND, "Tool \"bank.peek\" cannot be called from within itself", "");
  expect(w, "bank.transfer", "", LT_OK, "1", "invoke transfer {}");
}

TEST(programs_in_programs_have_an_end) {
  lt_caller chain[LT_CALLER_DEPTH_MAX + 2] = {0};
  for (size_t i = 1; i < LT_CALLER_DEPTH_MAX + 2; i++) {
    chain[i].parent = &chain[i - 1];
  }
  w->options.caller = &chain[LT_CALLER_DEPTH_MAX];
  expect(w, "bank.transfer", "", LT_OK, "1", "invoke transfer {}");
  w->options.caller = &chain[LT_CALLER_DEPTH_MAX + 1];
  expect(w, "bank.transfer", "", LT_E_LIMIT,
         "Tool \"bank.transfer\" was not called: programs run programs more than 8 deep", "");
}

TEST(a_caller_may_have_tools_of_its_own) {
  const lt_tool_spec own[] = {{.name = TEXT("mine"), .description = TEXT("not " SECRET)}};
  lt_provider provider = {.name = LT_STR("own"), .invoke = bank_invoke, .of_caller = true};
  const lt_catalog_source extra = {provider.name, &provider, own, 1};
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_door_catalog_with(w->door, &extra, 1, &catalog, NULL), LT_OK);
  w->caller.catalog = catalog;
  assert_true(lt_str_eqc(lt_catalog_find(catalog, LT_STR("own.mine"))->description, "not ***"));
  expect(w, "own.mine", "", LT_OK, "1", "invoke mine {}");
  expect(w, "bank.peek", "", LT_OK, "1", "invoke peek {}");
  w->caller.catalog = NULL;
  lt_catalog_unref(catalog);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_allow_and_deny),
      cmocka_unit_test(annotations_count_as_they_are_now),
      cmocka_unit_test(annotations_may_change_while_a_call_waits),
      cmocka_unit_test(a_changed_tool_is_asked_about_again),
      cmocka_unit_test(a_namespace_has_one_owner),
      cmocka_unit_test(the_stricter_layer_is_named_with_its_file),
      cmocka_unit_test(a_tool_that_needs_approval_is_asked_about),
      cmocka_unit_test(a_rule_overrides_the_tools_own_word),
      cmocka_unit_test(without_memory_nothing_is_let_through),
      cmocka_unit_test(budgets_hold),
      cmocka_unit_test(an_edited_input_reaches_the_tool_and_both_are_recorded),
      cmocka_unit_test(an_edited_input_that_does_not_fit_is_asked_about_again),
      cmocka_unit_test(edits_that_never_fit_end),
      cmocka_unit_test(the_rules_hold_for_an_edited_input),
      cmocka_unit_test(an_edit_keeps_the_secrets_that_are_not_shown),
      cmocka_unit_test(an_edit_without_memory_is_not_called_as_asked),
      cmocka_unit_test(a_cancel_ends_the_waiting_for_an_answer),
      cmocka_unit_test(a_tool_may_go_while_somebody_decides),
      cmocka_unit_test(the_successor_of_a_provider_carries_the_call_out),
      cmocka_unit_test(a_caller_with_a_list_of_before_reaches_the_successor_if_the_tool_is_the_same),
      cmocka_unit_test(what_the_successor_says_of_a_tool_is_judged),
      cmocka_unit_test(a_hidden_tool_cannot_be_called),
      cmocka_unit_test(programs_in_programs_have_an_end),
      cmocka_unit_test(a_caller_may_have_tools_of_its_own),
  };
  return cmocka_run_group_tests_name("door_rules", tests, NULL, NULL);
}
