/* Conditions of policies: what they mean, what cannot be told, and how much work they may take. */
#include "unit/policy_fix.h"

/* 'y', 'n' or '?'. */
static char judge_in(const char *when, const world *w) {
  lt_str text = tight(lt_str_of(when));
  lt_policy_rule rules[] = {{.match = LT_STR("*"), .when = text, .action = LT_ACTION_DENY},
                            {.match = LT_STR("*"), .when = text, .action = LT_ACTION_ALLOW},
                            {.match = LT_STR("*"), .action = LT_ACTION_ASK}};
  lt_policy *policy = policy_of(rules, 1);
  drop(text); /* nothing is borrowed */
  lt_policy_decision decision = lt_policy_decide(policy, &w->call);
  lt_policy_free(policy);
  return decision.action != LT_ACTION_DENY ? 'n' : decision.unsure ? '?' : 'y';
}

static char judge(const char *when, const char *input) {
  world w;
  world_init(&w, "files.write_file", lt_str_of(input), "{\"readOnlyHint\":false,\"title\":\"Write\"}");
  char got = judge_in(when, &w);
  world_release(&w);
  return got;
}

typedef struct row {
  const char *when;
  const char *input;
  char want;
} row;

static void check_rows(const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char got = judge(rows[i].when, rows[i].input);
    if (got != rows[i].want) {
      fail_msg("%s with %s: %c, not %c", rows[i].when, rows[i].input, got, rows[i].want);
    }
  }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static void test_comparisons(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 1", "{\"a\":1}", 'y'},
      {"input.a == 1", "{\"a\":1.0}", 'y'},
      {"input.a == 1", "{\"a\":10e-1}", 'y'},
      {"input.a == -0", "{\"a\":0}", 'y'},
      {"input.a != 1", "{\"a\":1}", 'n'},
      {"input.a != 1", "{\"a\":2}", 'y'},
      {"input.a < 2", "{\"a\":1}", 'y'},
      {"input.a < 1", "{\"a\":1}", 'n'},
      {"input.a <= 1", "{\"a\":1}", 'y'},
      {"input.a > 1", "{\"a\":1}", 'n'},
      {"input.a >= 1", "{\"a\":1}", 'y'},
      {"input.a >= -1", "{\"a\":-1.5}", 'n'},
      {"1 <= input.a", "{\"a\":1}", 'y'},
      {"input.a == input.b", "{\"a\":1,\"b\":1.0}", 'y'},
      {"input.a == \"x\"", "{\"a\":\"x\"}", 'y'},
      {"input.a == 'x'", "{\"a\":\"\\u0078\"}", 'y'},
      {"'x' == input.a", "{\"a\":\"\\u0078\"}", 'y'},
      {"input.a != 'x'", "{\"a\":\"y\"}", 'y'},
      {"input.a == input.b", "{\"a\":\"\\u0078\",\"b\":\"x\"}", 'y'},
      {"input.a < '2026-01-01'", "{\"a\":\"2025-12-31\"}", 'y'},
      {"input.a < 'b'", "{\"a\":\"bb\"}", 'n'},
      {"input.a >= ''", "{\"a\":\"\"}", 'y'},
      {"input.a == true", "{\"a\":true}", 'y'},
      {"input.a != true", "{\"a\":false}", 'y'},
      {"input.a == null", "{\"a\":null}", 'y'},
      {"input.a == null", "{\"a\":[]}", 'n'},
      {"input.a != null", "{\"a\":\"x\"}", 'y'},
      {"null == input.a", "{\"a\":null}", 'y'},
      {"input.a == input.b", "{\"a\":null,\"b\":null}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_what_cannot_be_compared(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 1", "{}", '?'},
      {"input.a == null", "{}", '?'},
      {"input.a != 1", "{}", '?'},
      {"input.a == 1", "{\"a\":\"1\"}", '?'},
      {"input.a != 'x'", "{\"a\":[\"x\"]}", '?'},
      {"input.a != 'x'", "{\"a\":null}", '?'},
      {"input.a == true", "{\"a\":\"true\"}", '?'},
      {"input.a == true", "{\"a\":1}", '?'},
      {"input.a == input.b", "{\"a\":[],\"b\":[]}", '?'},
      {"input.a == input.b", "{\"a\":{},\"b\":{}}", '?'},
      {"input.a < input.b", "{\"a\":true,\"b\":true}", '?'},
      {"input.a.b == 1", "{\"a\":1}", '?'},
      {"input.a[0] == 1", "{\"a\":{\"0\":1}}", '?'},
      {"input.a['0'] == 1", "{\"a\":[1]}", '?'},
  };
  CHECK_ROWS(rows);
}

/* `input.amount <= 1000` cannot be talked round. */
static void test_numbers_are_exact(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a <= 1000", "{\"a\":1000.0}", 'y'},
      {"input.a <= 1000", "{\"a\":1e3}", 'y'},
      {"input.a <= 1000", "{\"a\":1000.0000000000000000}", 'y'},
      {"input.a <= 1000", "{\"a\":1000.0001}", 'n'},
      {"input.a <= 1000", "{\"a\":1000.0000000000000001}", '?'}, /* 1000 to a tool that reads doubles */
      {"input.a < 1", "{\"a\":0.99999999999999999999}", '?'},
      {"input.a <= 1000", "{\"a\":1e400}", 'n'},
      {"input.a <= 1000", "{\"a\":-1e400}", 'y'},
      {"input.a > 0", "{\"a\":1e-400}", '?'},
      {"input.a >= 0", "{\"a\":1e-400}", 'y'},
      {"input.a == 9007199254740993", "{\"a\":9007199254740993}", 'y'},
      {"input.a == 9007199254740993", "{\"a\":9007199254740992}", '?'}, /* the same double */
      {"input.a == 9007199254740993", "{\"a\":9007199254740000}", 'n'},
      {"input.a <= 9007199254740992", "{\"a\":9007199254740993}", '?'},
      {"input.a <= 9007199254740993", "{\"a\":9007199254740992}", 'y'},
      {"input.a < 123456789012345678901234567890", "{\"a\":123456789012345678901234567890}", 'n'},
      {"input.a == 0.1", "{\"a\":0.1}", 'y'},
      {"input.a == 0.1", "{\"a\":0.10000000000000000001}", '?'},
      {"input.a == 0.3", "{\"a\":0.30000000000000004}", 'n'},
  };
  CHECK_ROWS(rows);
}

static void test_members_given_twice(void **state) {
  (void)state;
  const row rows[] = {
      {"input.amount <= 1000", "{\"amount\":1,\"amount\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\":9999,\"amount\":1}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"amount\":1}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"\\u0061mount\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"Amount\":9999}", '?'}, /* the same to some readers */
      {"input.amount <= 1000", "{\"AMOUNT\":1}", '?'},
      {"has(input.amount)", "{\"Amount\":1}", '?'},
      {"has(input.risk)", "{\"ri\xC5\xBFk\":1}", '?'},     /* the long s folds to s */
      {"has(input.risk)", "{\"ris\xE2\x84\xAA\":1}", '?'}, /* the Kelvin sign to k */
      {"has(input.risk)", "{\"ris\xE2\x84\xAB\":1}", 'n'},
      {"input.amount <= 1000", "{\"amount\":1,\"amounts\":9999}", 'y'},
      {"has(input.amount)", "{\"amount\":1,\"amount\":2}", '?'},
      {"input.a.b == 1", "{\"a\":{\"b\":1},\"a\":{\"b\":2}}", '?'},
      {"input.a.b == 1", "{\"a\":{\"b\":1,\"c\":2,\"c\":3},\"d\":1,\"d\":2}", 'y'},
      {"any(input.l, it.a == 1)", "{\"l\":[{\"a\":1,\"a\":2}]}", '?'},
      /* A reader in C ends a name at its NUL. */
      {"input.amount <= 1000", "{\"amount\":1,\"amount\\u0000\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\\u0000x\":9999,\"amount\":1}", '?'},
      {"has(input.amount)", "{\"amount\\u0000\":1}", '?'},
      {"has(input.amount)", "{\"AMOUNT\\u0000\":1}", '?'},
      {"has(input.amount)", "{\"\\u0000amount\":1}", 'n'},
      {"has(input.amount)", "{\"amoun\\u0000t\":1}", 'n'},
      /* JavaScript that copies members finds there what the object does not have. */
      {"has(input.force)", "{\"__proto__\":{\"force\":true}}", '?'},
      {"input.force", "{\"__proto__\":{\"force\":true},\"force\":false}", 'n'},
      {"has(input.a.force)", "{\"a\":{\"\\u005f_proto__\":{\"force\":true}}}", '?'},
      {"input.a == 1 || true", "{\"a\":1,\"a\":2}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_in(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a in [1, 2]", "{\"a\":2.0}", 'y'},
      {"input.a in [1, 2]", "{\"a\":3}", 'n'},
      {"input.a in ['GET', \"HEAD\"]", "{\"a\":\"HEAD\"}", 'y'},
      {"input.a in ['GET', \"HEAD\"]", "{\"a\":\"get\"}", 'n'},
      {"input.a in ['GET']", "{\"a\":[\"GET\"]}", '?'},
      {"input.a in ['GET']", "{}", '?'},
      {"input.a in [9007199254740993, 5]", "{\"a\":9007199254740992}", '?'},
      {"input.a in [5, 9007199254740993]", "{\"a\":9007199254740992}", '?'},
      {"input.a in [null, 'x']", "{\"a\":null}", 'y'},
      {"input.a in [null, 'x']", "{\"a\":\"y\"}", 'n'},
      {"!(input.a in ['x'])", "{\"a\":\"y\"}", 'y'},
      {"tool.id in ['a', 'files.write_file']", "{}", 'y'},
      {"length(input.a) in [1, 2]", "{\"a\":\"xy\"}", 'y'},
      {"input.in in [true]", "{\"in\":true}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_matches(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a matches '*.txt'", "{\"a\":\"x.txt\"}", 'y'},
      {"input.a matches '*.txt'", "{\"a\":\"x.txt.exe\"}", 'n'},
      {"input.a matches '*@example.org'", "{\"a\":\"me@example.org\"}", 'y'},
      {"input.a matches '?'", "{\"a\":\"\\u20ac\"}", 'y'},
      {"input.a matches '?'", "{\"a\":\"\\ud83d\\ude00\"}", 'y'},
      {"input.a matches ''", "{\"a\":\"\"}", 'y'},
      {"input.a matches '*'", "{\"a\":1}", '?'},
      {"input.a matches '*'", "{}", '?'},
      {"tool.id matches '*.write_*'", "{}", 'y'},
      {"annotations.title matches 'W*'", "{}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_within(void **state) {
  (void)state;
  const row rows[] = {
      {"input.p within '/tmp'", "{\"p\":\"/tmp\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a/b\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"//tmp///a\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/x/../tmp/./a\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmpx/a\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/TMP/a\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/../etc/passwd\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/..\"}", 'n'},
      {"input.p within '/tmp/a'", "{\"p\":\"/tmp/a/b/../../a/c\"}", 'y'},
      {"input.p within '/tmp/a'", "{\"p\":\"/tmp/a/../b\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a/../../etc\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/%2e%2e/etc\"}", 'y'}, /* a name like any other */
      {"input.p within '/tmp'", "{\"p\":\"/tmp/...\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"\\/tmp\\/..\\u002f..\\u002fetc\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/../../tmp/a\"}", 'y'},
      {"input.p within '/tmp/.//x/../'", "{\"p\":\"/tmp/a\"}", 'y'},
      {"input.p within '/'", "{\"p\":\"/a\"}", 'y'},
      {"input.p within '/'", "{\"p\":\"/\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"tmp/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"../etc\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"~/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"file:///tmp/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a\\u0000/../../etc\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":[\"/tmp/a\"]}", '?'},
      {"input.p within '/tmp'", "{}", '?'},
  };
  CHECK_ROWS(rows);
}

/* Where a NUL ends a string for the tool, it has seen another one. */
static void test_nul(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 'x'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a != 'x'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a in ['x']", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a < 'y'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a == input.b", "{\"a\":\"x\\u0000\",\"b\":\"x\"}", '?'},
      {"input.a matches '*.txt'", "{\"a\":\"run.sh\\u0000.txt\"}", '?'},
      {"input.a == 'x'", "{\"a\":\"x\\u0001y\"}", 'n'},
      {"length(input.a) == 3", "{\"a\":\"x\\u0000y\"}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_length(void **state) {
  (void)state;
  const row rows[] = {
      {"length(input.a) == 0", "{\"a\":\"\"}", 'y'},
      {"length(input.a) == 1", "{\"a\":\"\\ud83d\\ude00\"}", 'y'},
      {"length(input.a) == 2", "{\"a\":\"\xC3\xA9!\"}", 'y'},
      {"length(input.a) <= 2", "{\"a\":[1,[2,3],4]}", 'n'},
      {"length(input.a) == 2", "{\"a\":{\"x\":1,\"y\":{\"z\":1}}}", 'y'},
      {"length(input.a) <= 2", "{\"a\":12}", '?'},
      {"length(input.a) <= 2", "{\"a\":null}", '?'},
      {"length(input.a) <= 2", "{}", '?'},
      {"length(input) <= 2", "{\"a\":1}", 'y'},
      {"length(tool.id) > 3", "{}", 'y'},
      {"length(input.length) == 1", "{\"length\":\"x\"}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_has(void **state) {
  (void)state;
  const row rows[] = {
      {"has(input.a)", "{\"a\":null}", 'y'},
      {"has(input.a)", "{}", 'n'},
      {"has(input.a.b)", "{\"a\":{\"b\":1}}", 'y'},
      {"has(input.a.b)", "{\"a\":\"b\"}", 'n'},
      {"has(input.a[1])", "{\"a\":[1,2]}", 'y'},
      {"has(input.a[2])", "{\"a\":[1,2]}", 'n'},
      {"has(input)", "{}", 'y'},
      {"has(annotations.title)", "{}", 'y'},
      {"has(annotations.mine)", "{}", 'n'},
      {"has(input.a) && input.a", "{}", 'n'},
      {"has(input.has) && input.has", "{\"has\":true}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_paths(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a.b[0][\"odd key\"] == 1", "{\"a\":{\"b\":[{\"odd key\":1}]}}", 'y'},
      {"input['a'].b[1] == 2", "{\"a\":{\"b\":[1,2,3]}}", 'y'},
      {"input[\"it's\"] == 2", "{\"it's\":2}", 'y'},
      {"input['it\\'s \\\"x\\\" \"y\"'] == 2", "{\"it's \\\"x\\\" \\\"y\\\"\":2}", 'y'},
      {"input['\\u00e9\\n'] == 2", "{\"\xC3\xA9\\n\":2}", 'y'},
      {"input.\xC3\xA9 == 2", "{\"\xC3\xA9\":2}", 'y'},
      {"input.$_a1 == 2", "{\"$_a1\":2}", 'y'},
      {" input . a [ 0 ]\n==\t1 ", "{\"a\":[1]}", 'y'},
      {"input[''] == 1", "{\"\":1}", 'y'},
  };
  CHECK_ROWS(rows);
}

/* --- Logic -------------------------------------------------------------------------------------------------------- */

/* input.t is true, input.f false, input.u missing. */
static void test_kleene(void **state) {
  (void)state;
  static const char in[] = "{\"t\":true,\"f\":false}";
  const row rows[] = {
      {"input.t", in, 'y'},
      {"input.f", in, 'n'},
      {"input.u", in, '?'},
      {"!input.t", in, 'n'},
      {"!input.f", in, 'y'},
      {"!input.u", in, '?'},
      {"!!input.t", in, 'y'},
      {"input.t && input.t", in, 'y'},
      {"input.t && input.f", in, 'n'},
      {"input.t && input.u", in, '?'},
      {"input.f && input.u", in, 'n'},
      {"input.u && input.f", in, 'n'},
      {"input.u && input.t", in, '?'},
      {"input.u && input.u", in, '?'},
      {"input.f || input.f", in, 'n'},
      {"input.t || input.u", in, 'y'},
      {"input.u || input.t", in, 'y'},
      {"input.u || input.f", in, '?'},
      {"input.f || input.u", in, '?'},
      {"input.t || input.f && input.f", in, 'y'}, /* && binds tighter */
      {"(input.t || input.f) && input.f", in, 'n'},
      {"!(input.t && input.f)", in, 'y'},
      {"input.f || input.f || input.t", in, 'y'},
      {"input.u && input.t && input.f", in, 'n'},
      {"(input.f || input.u) || input.t", in, 'y'},
      {"true", in, 'y'},
      {"false", in, 'n'},
  };
  CHECK_ROWS(rows);
}

static void test_bare_operands(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a", "{\"a\":\"true\"}", '?'}, {"input.a", "{\"a\":1}", '?'},         {"input.a", "{\"a\":null}", '?'},
      {"input.a", "{\"a\":[true]}", '?'},   {"input.a[0]", "{\"a\":[true]}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_any_and_all(void **state) {
  (void)state;
  const row rows[] = {
      {"any(input.f, it within '/tmp')", "{\"f\":[\"/etc/x\",\"/tmp/x\"]}", 'y'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/etc/x\",\"/tmp/x\"]}", 'n'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/tmp/y\",\"/tmp/x\"]}", 'y'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/tmp/y\",7]}", '?'},
      {"all(input.f, it within '/tmp')", "{\"f\":[7,\"/etc\"]}", 'n'},
      {"any(input.f, it within '/tmp')", "{\"f\":[7,\"/tmp/x\"]}", 'y'},
      {"any(input.f, it within '/tmp')", "{\"f\":[7,\"/etc\"]}", '?'},
      {"any(input.f, it == 1)", "{\"f\":[]}", 'n'},
      {"all(input.f, it == 1)", "{\"f\":[]}", 'y'},
      {"all(input.f, it == 1)", "{}", '?'},
      {"all(input.f, it == 1)", "{\"f\":1}", '?'},
      {"any(input.f, it == 1)", "{\"f\":{\"a\":1}}", '?'},
      {"all(input.l, it.n >= 1 && length(it.s) < 3)", "{\"l\":[{\"n\":1,\"s\":\"ab\"},{\"n\":2,\"s\":\"\"}]}", 'y'},
      {"any(input.l, all(it.m, it == 1))", "{\"l\":[{\"m\":[2]},{\"m\":[1,1]}]}", 'y'},
      {"any(input.l, all(it.m, it == 1) && it.k)", "{\"l\":[{\"m\":[1],\"k\":true}]}", 'y'},
      {"any(input.l, it[1] == 5)", "{\"l\":[[1,2],[1,5]]}", 'y'},
      {"any(input.l, it)", "{\"l\":[false,true]}", 'y'},
      {"any(input.any, it)", "{\"any\":[true]}", 'y'},
      {"any(input.l, has(it.x))", "{\"l\":[1,{\"x\":1}]}", 'y'},
  };
  CHECK_ROWS(rows);
}

typedef struct hint_row {
  const char *annotations; /* NULL: none */
  const char *want;        /* readOnly, destructive, idempotent, openWorld */
} hint_row;

static void test_hints(void **state) {
  (void)state;
  const hint_row rows[] = {
      {NULL, "nyny"},
      {"{}", "nyny"},
      {"{\"readOnlyHint\":true}", "ynyy"},
      {"{\"readOnlyHint\":true,\"destructiveHint\":true,\"idempotentHint\":false}", "ynyy"},
      {"{\"readOnlyHint\":false,\"destructiveHint\":false}", "nnny"},
      {"{\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}", "nnyn"},
      {"{\"readOnlyHint\":\"true\",\"openWorldHint\":0}", "nyny"},
      {"{\"readOnlyHint\":true,\"readOnlyHint\":true}", "nyny"},
      {"{\"readonlyhint\":true}", "nyny"},
      {"[true]", "nyny"},
  };
  const char *whens[] = {"annotations.readOnlyHint", "annotations.destructiveHint", "annotations['idempotentHint']",
                         "annotations.openWorldHint == true"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    world w;
    world_init(&w, "t", LT_STR("{}"), rows[i].annotations);
    for (size_t k = 0; k < 4; k++) {
      if (judge_in(whens[k], &w) != rows[i].want[k]) {
        fail_msg("%s of %s should be %c", whens[k], rows[i].annotations, rows[i].want[k]);
      }
    }
    world_release(&w);
  }
}

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

static char judge_long(const char *when, char *input) {
  char got = judge(when, input);
  lt_mem_free(input);
  return got;
}

/* Past the work that is allowed nothing is known, and so nothing let through. */
static void test_work_is_bounded(void **state) {
  (void)state;
  const char *many = "{\"l\":[\"/tmp/x\"";
  assert_int_equal(judge_long("all(input.l, it within '/tmp')", repeat(many, ",\"/tmp/x\"", 10000, "]}")), 'y');
  assert_int_equal(judge_long("all(input.l, it within '/tmp')", repeat(many, ",\"/tmp/x\"", 1000000, "]}")), '?');
  assert_int_equal(judge_long("any(input.l, any(input.l, it == 1))", repeat("{\"l\":[0", ",0", 5000, "]}")), '?');
  assert_int_equal(judge_long("length(input.l) < 9000000", repeat("{\"l\":\"", "0123456789", 800000, "\"}")), 'y');
  assert_int_equal(judge_long("length(input.l) < 90000000", repeat("{\"l\":\"", "0123456789", 3000000, "\"}")), '?');
  assert_int_equal(judge_long("input.l matches '*a*a*a*b'", repeat("{\"l\":\"", "aaaaaaaaaa", 3000000, "\"}")), '?');
  assert_int_equal(judge_long("input.a == 1", repeat("{\"a\":1", ",\"b\":1", 1000, "}")), 'y');
  assert_int_equal(judge_long("input.a == 1", repeat("{\"a\":1", ",\"b\":1", 1200000, "}")), '?');
  assert_int_equal(judge_long("input.a == 'x'", repeat("{\"a\":\"", "\\u0078", 1000000, "\"}")), 'n');
}

/* A call that uses all the work up hides nothing from the rules behind, not what the tool says of itself either. */
static void test_annotations_behind_too_much_work(void **state) {
  (void)state;
  world w;
  const lt_policy_rule rules[] = {
      {.match = LT_STR("*"), .when = LT_STR("any(input.l, any(input.l, it == 1))"), .action = LT_ACTION_ALLOW},
      {.match = LT_STR("*"), .when = LT_STR("!annotations.openWorldHint"), .action = LT_ACTION_DENY}};
  char *input = repeat("{\"l\":[0", ",0", 5000, "]}");
  lt_policy *policy = policy_of(rules, 2);
  world_init(&w, "a.b", lt_str_of(input), "{\"openWorldHint\":false}");
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  assert_int_equal(decision.action, LT_ACTION_DENY);
  assert_true(decision.unsure);
  world_release(&w);
  lt_policy_free(policy);
  lt_mem_free(input);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_what_cannot_be_compared),
      cmocka_unit_test(test_numbers_are_exact),
      cmocka_unit_test(test_members_given_twice),
      cmocka_unit_test(test_in),
      cmocka_unit_test(test_matches),
      cmocka_unit_test(test_within),
      cmocka_unit_test(test_nul),
      cmocka_unit_test(test_length),
      cmocka_unit_test(test_has),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_kleene),
      cmocka_unit_test(test_bare_operands),
      cmocka_unit_test(test_any_and_all),
      cmocka_unit_test(test_hints),
      cmocka_unit_test(test_work_is_bounded),
      cmocka_unit_test(test_annotations_behind_too_much_work),
  };
  return cmocka_run_group_tests_name("policy_conditions", tests, NULL, NULL);
}
