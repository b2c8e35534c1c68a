/* The configuration's sections for tools, plugins and the store, and which of its values are secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "config/config.h"

static lt_status parse(lt_config *config, const char *text, lt_err *err) {
  *err = LT_ERR_INIT;
  return lt_config_parse(lt_str_of(text), "lathe.yaml", "/etc/lathe", config, err);
}

static void parse_well(lt_config *config, const char *text) {
  lt_err err;
  if (parse(config, text, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

static void expect_error(const char *text, const char *message) {
  lt_config config;
  lt_err err;
  if (parse(&config, text, &err) != LT_E_CONFIG || strcmp(lt_err_msg(&err), message) != 0) {
    fail_msg("expected: %s\n     got: %s", message, lt_err_msg(&err));
  }
  lt_config_release(&config);
}

/* --- tools -------------------------------------------------------------------------------------------------------- */

static void rules_and_budgets_are_read(void **state) {
  (void)state;
  lt_config c;
  parse_well(&c,
             "tools:\n"
             "  policy:\n"
             "    - {match: bank.transfer, action: allow, when: 'input.amount <= 1000'}\n"
             "    - {match: bank.*, action: ask, reason: 'moves money'}\n"
             "    - {match: '*.delete*', action: deny}\n"
             "  budgets:\n"
             "    - {match: '*', calls: 100}\n"
             "    - {match: web.*, perMinute: 30, calls: 9}\n"
             "  listingTokens: 4000\n");
  assert_int_equal(c.rule_count, 3);
  assert_string_equal(c.rules[0].match, "bank.transfer");
  assert_int_equal(c.rules[0].action, LT_CONFIG_ALLOW);
  assert_string_equal(c.rules[0].when, "input.amount <= 1000");
  assert_null(c.rules[0].reason);
  assert_int_equal(c.rules[1].action, LT_CONFIG_ASK);
  assert_string_equal(c.rules[1].reason, "moves money");
  assert_int_equal(c.rules[2].action, LT_CONFIG_DENY);
  assert_null(c.rules[2].when);
  assert_int_equal(c.budget_count, 2);
  assert_int_equal(c.budgets[0].calls, 100);
  assert_int_equal(c.budgets[0].per_minute, 0);
  assert_int_equal(c.budgets[1].calls, 9);
  assert_int_equal(c.budgets[1].per_minute, 30);
  assert_int_equal(c.listing_tokens, 4000);
  lt_config_release(&c);
}

static void mistakes_in_tools_are_told(void **state) {
  (void)state;
  expect_error("tools: {policy: [{match: '', action: ask}]}",
               "lathe.yaml:1: tools.policy[0].match is empty: write a tool's id, or \"*\" for all");
  static const char *const nothing[] = {"''", "~", "' '", "'${LATHE_TEST_UNSET:-}'"};
  for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "tools: {policy: [{match: a, action: allow, when: %s}]}", nothing[i]);
    expect_error(text,
                 "lathe.yaml:1: tools.policy[0].when is empty: write a condition, or leave \"when\" out to match "
                 "every call");
  }
  expect_error("tools: {policy: [{match: a, action: Ask}]}",
               "lathe.yaml:1: tools.policy[0].action must be \"allow\", \"ask\" or \"deny\", not \"Ask\"");
  expect_error("tools:\n  policy:\n  - match: a\n    action: ask\n    wen: x",
               "lathe.yaml:5: unknown key \"wen\" in tools.policy[0] (did you mean \"when\"?)");
  expect_error("tools: {policy: [{match: a, action: ask, when: [a]}]}",
               "lathe.yaml:1: tools.policy[0].when must be a string, not a list");
  expect_error("tools: {policy: {match: a}}", "lathe.yaml:1: tools.policy must be a list, not a mapping");
  expect_error("tools:\n  budgets:\n  - {match: a, calls: 1}\n  - match: b\n",
               "lathe.yaml:4: tools.budgets[1] needs the key \"calls\" or \"perMinute\"");
  expect_error("tools: {budgets: [{match: a, calls: 0}]}",
               "lathe.yaml:1: tools.budgets[0].calls must be 1 or more, not \"0\"");
  expect_error("tools: {budgets: [{calls: 1}]}", "lathe.yaml:1: tools.budgets[0] needs the key \"match\"");
  expect_error("tools: {listingTokens: many}",
               "lathe.yaml:1: tools.listingTokens must be a whole number, not \"many\"");
}

/* --- plugins ------------------------------------------------------------------------------------------------------ */

static void plugins_are_read(void **state) {
  (void)state;
  lt_config c;
  setenv("LT_TEST_SECRET", "hush-hush", 1);
  unsetenv("LT_TEST_NOT");
  parse_well(&c,
             "plugins:\n"
             "  - todo.so\n"
             "  - {path: /opt/x.so, config: {a: [1, 1.50, -2e3, true, null, '7', 0x1f, .5, +3], 'b \"': {}, c: ~,"
             " d: \"é\\n\", e: yes, f: 007, g: 'x${LT_TEST_SECRET}', h: [], i: 12345678901234567890}}\n"
             "  - {name: artifact, disabled: true}\n"
             "  - {name: interpreter, config: ~}\n"
             "  - {path: '${LT_TEST_NOT}', config: {a: '${LT_TEST_NOT}'}, disabled: true}\n");
  assert_int_equal(c.plugin_count, 5);
  assert_string_equal(c.plugins[0].path, "/etc/lathe/todo.so");
  assert_null(c.plugins[0].name);
  assert_string_equal(c.plugins[0].config, "");
  assert_string_equal(c.plugins[1].path, "/opt/x.so");
  assert_string_equal(c.plugins[1].config,
                      "{\"a\":[1,1.50,-2e3,true,null,\"7\",\"0x1f\",\".5\",\"+3\"],\"b \\\"\":{},\"c\":null,"
                      "\"d\":\"é\\n\",\"e\":\"yes\",\"f\":\"007\",\"g\":\"xhush-hush\",\"h\":[],"
                      "\"i\":12345678901234567890}");
  assert_int_equal(lt_json_check(lt_str_of(c.plugins[1].config), NULL), LT_OK);
  assert_string_equal(c.plugins[2].name, "artifact");
  assert_true(c.plugins[2].disabled);
  assert_string_equal(c.plugins[3].name, "interpreter");
  assert_false(c.plugins[3].disabled);
  assert_true(c.plugins[4].disabled);
  lt_config_release(&c);
}

static void mistakes_in_plugins_are_told(void **state) {
  (void)state;
  expect_error("plugins: a.so", "lathe.yaml:1: plugins must be a list, not a string");
  expect_error("plugins: [[a]]", "lathe.yaml:1: plugins[0] must be a path or a mapping, not a list");
  expect_error("plugins: ['']", "lathe.yaml:1: plugins[0] is empty: write where it is, or leave it out");
  expect_error("plugins: [{config: {}}]",
               "lathe.yaml:1: plugins[0] needs a \"path\" (a shared object) or \"name\" (built in)");
  expect_error("plugins: [a.so, {path: b.so, name: artifact}]",
               "lathe.yaml:1: plugins[1] needs either \"path\" (a shared object) or \"name\" (built in), not both");
  expect_error(
      "plugins: [{name: artefact}]",
      "lathe.yaml:1: plugins[0].name must be \"artifact\", \"interpreter\", \"plan\" or \"python\", not \"artefact\"");
  expect_error("plugins: [{path: a, config: [1]}]", "lathe.yaml:1: plugins[0].config must be a mapping, not a list");
  expect_error("plugins: [{path: a, confg: {}}]",
               "lathe.yaml:1: unknown key \"confg\" in plugins[0] (did you mean \"config\"?)");
  unsetenv("LT_TEST_NOT");
  expect_error("plugins:\n- path: a\n  config:\n    b:\n    - c\n    - {d: '${LT_TEST_NOT}'}\n",
               "lathe.yaml:6: the environment variable LT_TEST_NOT is not set: set it, or write "
               "${LT_TEST_NOT:-default}");
}

/* --- store -------------------------------------------------------------------------------------------------------- */

static void expect_store(const char *text, const char *store) {
  lt_config c;
  parse_well(&c, text);
  store == NULL ? assert_null(c.store) : assert_string_equal(c.store, store);
  lt_config_release(&c);
}

static void a_store_is_a_file_or_memory(void **state) {
  (void)state;
  expect_store("{}", NULL);
  expect_store("store:", NULL);
  expect_store("store: sqlite:data/a.db", "/etc/lathe/data/a.db");
  expect_store("store: sqlite:/var/a.db", "/var/a.db");
  expect_store("store: sqlite:///var/a.db", "///var/a.db");
  expect_store("store: 'sqlite::memory:'", ":memory:");
}

static void other_stores_are_refused(void **state) {
  (void)state;
  expect_error("store: data.db", "lathe.yaml:1: store must say what it is: write sqlite:data.db");
  expect_error("store: [a]", "lathe.yaml:1: store must be a text or a mapping, not a list");
  const char *odd[] = {"store: 'sqlite:'", "store: ':memory:'", "store: mysql://me:hush@x", "store: ''",
                       "store: sqlite://a.db"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    expect_error(odd[i], "lathe.yaml:1: store must be sqlite:PATH, or sqlite::memory: to keep nothing");
  }
  expect_error("store: postgresql://me:hush@x/y",
               "lathe.yaml:1: store: postgresql:// is not built yet: use sqlite:PATH");
}

/* --- Secrets ------------------------------------------------------------------------------------------------------ */

static bool is_secret(const lt_config *c, const char *value) {
  for (size_t i = 0; i < c->secret_count; i++) {
    if (lt_str_eqc(c->secrets[i], value)) {
      return true;
    }
  }
  return false;
}

static void what_variables_bring_is_secret(void **state) {
  (void)state;
  lt_config c;
  setenv("LT_TEST_A", "from-env", 1);
  setenv("LT_TEST_B", "from-header", 1);
  setenv("LT_TEST_C", "from-args", 1);
  setenv("LT_TEST_D", "from-url", 1);
  setenv("LT_TEST_E", "from-plugin", 1);
  setenv("LT_TEST_F", "from-cwd", 1);
  setenv("LT_TEST_G", "short", 1);
  setenv("HOME", "/srv/somebody", 1);
  setenv("XDG_DATA_HOME", "/srv/somebody/data", 1);
  unsetenv("LT_TEST_NOT");
  parse_well(
      &c,
      "mcpServers:\n"
      "  a: {command: '${LT_TEST_F}', cwd: '${LT_TEST_F}', args: ['x=${LT_TEST_C}', '${LT_TEST_NOT:-by-default}',"
      " '${HOME}/x', '${XDG_DATA_HOME}/y'], env: {A: 'a ${LT_TEST_A} b', G: '${LT_TEST_G}', H: plain-text}}\n"
      "  b: {url: 'http://x/${LT_TEST_D}', headers: {A: '${LT_TEST_B}'}}\n"
      "  c: {command: c, env: {A: '${LT_TEST_A}'}}\n"
      "plugins: [{path: x, config: {k: {l: ['${LT_TEST_E}']}}}]\n");
  assert_true(is_secret(&c, "from-env"));
  assert_true(is_secret(&c, "from-header"));
  assert_true(is_secret(&c, "from-args"));
  assert_true(is_secret(&c, "from-url"));
  assert_true(is_secret(&c, "from-plugin"));
  assert_int_equal(c.secret_count, 5);
  lt_config_release(&c);
}

static void what_its_key_says_is_secret(void **state) {
  (void)state;
  lt_config c;
  parse_well(
      &c,
      "mcpServers:\n"
      "  a: {command: a, env: {API_KEY: literal-key, dbPassword: literal-word, GIT_AUTHOR_NAME: Somebody,"
      " SSH_AUTH_SOCK: /tmp/agent, MAX_TOKENS: 200000, KEYBOARD: qwertz, monkey: banana1, AUTH_TOKEN_COUNT: 5}}\n"
      "  b: {url: 'http://x', headers: {Authorization: Bearer literal-token, X-Trace: tracing}}\n"
      "  c: {command: c, disabled: true, env: {API_KEY: never-used}}\n");
  assert_true(is_secret(&c, "literal-key"));
  assert_true(is_secret(&c, "literal-word"));
  assert_true(is_secret(&c, "Bearer literal-token"));
  assert_int_equal(c.secret_count, 3);
  lt_config_release(&c);
}

static void too_many_secrets_are_refused(void **state) {
  (void)state;
  lt_config c;
  lt_err err;
  lt_buf text;
  lt_buf_init(&text, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&text, "mcpServers: {a: {command: a, env: {");
  for (int i = 0; i < 300; i++) {
    lt_buf_printf(&text, "KEY_%d: secret-%d, ", i, i);
  }
  lt_buf_addc(&text, "}}}");
  assert_int_equal(parse(&c, text.p, &err), LT_E_LIMIT);
  assert_string_equal(lt_err_msg(&err), "lathe.yaml: more than 256 different secrets");
  lt_config_release(&c);
  lt_buf_release(&text);
}

static void the_mask_has_the_environments_secrets_too(void **state) {
  (void)state;
  lt_config c;
  lt_err err = LT_ERR_INIT;
  lt_secrets *secrets = NULL;
  setenv("LT_TEST_TOKEN", "inherited-token", 1);
  setenv("LT_TEST_A", "from-env", 1);
  setenv("LT_TEST_PLAIN", "plain-value", 1);
  parse_well(&c, "mcpServers: {a: {command: a, env: {A: '${LT_TEST_A}'}}}");
  assert_int_equal(lt_config_secrets(&c, &secrets, &err), LT_OK);
  assert_true(lt_secrets_in(secrets, LT_STR("-inherited-token-")));
  assert_true(lt_secrets_in(secrets, LT_STR("from-env")));
  assert_false(lt_secrets_in(secrets, LT_STR("plain-value")));
  lt_secrets_free(secrets);
  for (long n = 0;; n++) { /* every allocation that fails */
    lt_mem_fail_at(n);
    lt_status status = lt_config_secrets(&c, &secrets, &err);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      lt_secrets_free(secrets);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
  }
  lt_config_release(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_and_budgets_are_read),
      cmocka_unit_test(mistakes_in_tools_are_told),
      cmocka_unit_test(plugins_are_read),
      cmocka_unit_test(mistakes_in_plugins_are_told),
      cmocka_unit_test(a_store_is_a_file_or_memory),
      cmocka_unit_test(other_stores_are_refused),
      cmocka_unit_test(what_variables_bring_is_secret),
      cmocka_unit_test(what_its_key_says_is_secret),
      cmocka_unit_test(too_many_secrets_are_refused),
      cmocka_unit_test(the_mask_has_the_environments_secrets_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
