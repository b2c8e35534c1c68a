/* The text of a configuration file: what it may say, and the one clear line that every mistake gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "config/config.h"
#include "config_fix.h"

/* Every message is one line, says the file and has the expected words. */
static void expect_error(const char *text, size_t n, lt_status status, const char *message) {
  fixture f;
  if (parse_n(&f, text, n) != status) {
    fail_msg("expected: %s\n     got: %s for \"%s\"", message, lt_err_msg(&f.err), text);
  }
  if (strcmp(lt_err_msg(&f.err), message) != 0) {
    fail_msg("expected: %s\n     got: %s", message, lt_err_msg(&f.err));
  }
  lt_config_release(&f.config);
}

static void expect_config_error(const char *text, const char *message) {
  expect_error(text, strlen(text), LT_E_CONFIG, message);
}

/* --- What a file may say ------------------------------------------------------------------------------------------ */

static void nothing_means_the_defaults(void **state) {
  (void)state;
  const char *files[] = {"", "# only a comment\n", "---\n", "{}", "null", "mcpServers:\nsandbox:\nmodules:\n"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    fixture f;
    parse_well(&f, files[i]);
    assert_int_equal(f.config.server_count, 0);
    assert_int_equal(f.config.module_count, 0);
    assert_int_equal(f.config.timeout_ms, LT_RUN_TIMEOUT_MS);
    assert_int_equal(f.config.memory_mb, 0);
    assert_int_equal(f.config.max_output_bytes, 0); /* as the command says */
    assert_null(f.config.warnings[0]);
    lt_config_release(&f.config);
  }
}

static void every_known_key_is_read(void **state) {
  (void)state;
  fixture f;
  setenv("LT_TEST_A", "passed through", 1);
  unsetenv("LT_TEST_NOT");
  parse_well(&f,
             "mcpServers:\n"
             "  files: {command: npx, args: [server, 8080, true], env: {DEBUG: 1, EMPTY: ''}, cwd: data, "
             "startTimeoutMs: 500}\n"
             "  web: {type: sse, url: 'http://127.0.0.1:1/'}\n"
             "  web2: {url: 'http://127.0.0.1:2/', headers: {Authorization: x}}\n"
             "defaults: {model: m, mode: code, codeMode: true, maxRounds: {code: 10, relay: 4}}\n"
             "models: [{ref: normal, model: x, baseUrl: 'http://y', apiKeyEnv: K, maxTokens: 4096, codeMode: false}]\n"
             "modules: [{name: helpers, path: lib/helpers.js}, {name: abs, path: /opt/a.js}]\n"
             "tools: {policy: [{match: 'files.*', action: ask}, {match: '*', action: allow}]}\n"
             "plugins: [a.so, {path: b.so}]\n"
             "sandbox: {timeoutMs: 1500, memoryMb: 128, maxOutputBytes: 0, requireWalls: false}\n"
             "python: {path: /usr/bin/python3, workspace: w, env: {A: b}, envPassthrough: [LT_TEST_A, LT_TEST_NOT]}\n"
             "deno: {path: bin/deno}\n"
             "typescript: {path: tsc, check: true, runner: deno}\n"
             "plan: {maxSteps: 7, concurrency: 2}\n"
             "store: 'sqlite:data.db'\n"
             "server: {listen: '127.0.0.1:1', hosts: [a], origins: [b], tokens: [x, y], limits: {requests: 5}}\n");
  const lt_config *c = &f.config;
  assert_string_equal(c->server.hosts[0], "a");
  assert_string_equal(c->server.origins[0], "b");
  assert_string_equal(c->server.tokens[1], "y");
  assert_null(c->server.tokens[2]);
  assert_int_equal(c->server_count, 3);
  assert_string_equal(c->servers[0].name, "files");
  assert_string_equal(c->servers[0].type, "stdio");
  assert_string_equal(c->servers[0].command, "npx");
  assert_string_equal(c->servers[0].args[1], "8080");
  assert_string_equal(c->servers[0].args[2], "true");
  assert_null(c->servers[0].args[3]);
  assert_string_equal(c->servers[0].env[0], "DEBUG=1");
  assert_string_equal(c->servers[0].env[1], "EMPTY=");
  assert_null(c->servers[0].env[2]);
  assert_string_equal(c->servers[0].cwd, "/etc/lathe/data");
  assert_int_equal(c->servers[0].start_timeout_ms, 500);
  assert_string_equal(c->servers[1].type, "sse");
  assert_null(c->servers[1].args[0]);
  assert_string_equal(c->servers[2].type, "http");
  assert_string_equal(c->servers[2].url, "http://127.0.0.1:2/");
  assert_string_equal(c->servers[2].headers[0], "Authorization: x");
  assert_null(c->servers[2].headers[1]);
  assert_int_equal(c->module_count, 2);
  assert_string_equal(c->modules[0].name, "helpers");
  assert_string_equal(c->modules[0].path, "/etc/lathe/lib/helpers.js");
  assert_string_equal(c->modules[1].path, "/opt/a.js");
  assert_int_equal(c->rule_count, 2);
  assert_string_equal(c->rules[0].match, "files.*");
  assert_int_equal(c->rules[0].action, LT_CONFIG_ASK);
  assert_int_equal(c->timeout_ms, 1500);
  assert_int_equal(c->memory_mb, 128);
  assert_int_equal(c->max_output_bytes, 0);
  assert_false(c->require_walls);
  assert_int_equal(c->defaults.rounds_count, 2);
  assert_string_equal(c->defaults.rounds[1].name, "relay");
  assert_int_equal(c->defaults.rounds[1].value, 4);
  assert_string_equal(c->python.path, "/usr/bin/python3");
  assert_string_equal(c->python.workspace, "/etc/lathe/w");
  assert_string_equal(c->python.env[0], "A=b");
  assert_string_equal(c->python.env[1], "LT_TEST_A=passed through");
  assert_null(c->python.env[2]);
  assert_false(c->python.passthrough.all);
  assert_string_equal(c->deno_path, "/etc/lathe/bin/deno");
  assert_string_equal(c->typescript.path, "tsc");
  assert_int_equal(c->typescript.check, 1);
  assert_int_equal(c->typescript.runner, LT_CONFIG_DENO);
  assert_true(c->plan.given);
  assert_int_equal(c->plan.max_steps, 7);
  assert_int_equal(c->plan.concurrency, 2);
  assert_null(c->warnings[0]);
  lt_config_release(&f.config);
}

/* A section with nothing in it says that it is wanted. */
static void empty_sections_are_given(void **state) {
  (void)state;
  fixture f;
  parse_well(&f, "python:\nplan:\ntypescript:\ndeno:\n");
  assert_true(f.config.python.given);
  assert_null(f.config.python.path);
  assert_null(f.config.python.env[0]);
  assert_true(f.config.plan.given);
  assert_int_equal(f.config.plan.max_steps, LT_PLAN_STEPS);
  assert_int_equal(f.config.typescript.check, -1);
  lt_config_release(&f.config);
  parse_well(&f, "typescript: {check: true}\n");
  assert_null(f.config.warnings[0]);
  lt_config_release(&f.config);
  parse_well(&f, "python: {envPassthrough: true}\ntypescript: {check: false}\n");
  assert_true(f.config.python.passthrough.all);
  assert_int_equal(f.config.typescript.check, 0);
  assert_int_equal(f.config.typescript.runner, LT_CONFIG_QUICKJS);
  assert_false(f.config.plan.given);
  lt_config_release(&f.config);
  parse_well(&f, "");
  assert_false(f.config.python.given);
  assert_true(f.config.require_walls);
  lt_config_release(&f.config);
}

static void runner_sections_say_what_is_wrong(void **state) {
  (void)state;
  expect_config_error("python: {envPassthrough: HOME}",
                      "lathe.yaml:1: python.envPassthrough must be true, false or a list, not a string");
  expect_config_error("python: {path: ''}", "lathe.yaml:1: python.path is empty: write where it is, or leave it out");
  expect_config_error("typescript: {runner: node}",
                      "lathe.yaml:1: typescript.runner must be \"quickjs\" or \"deno\", not \"node\"");
  expect_config_error("plan: {maxSteps: 0}", "lathe.yaml:1: plan.maxSteps must be from 1 to 1000, not \"0\"");
  expect_config_error("python: {env: {'A=B': c}}", "lathe.yaml:1: an environment variable's name cannot contain \"=\"");
}

static void json_is_yaml(void **state) {
  (void)state;
  fixture f;
  parse_well(&f,
             "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\":{\"command\":\"\\/bin\\/x\",\"args\":[\"\\u00e9\",\"a: b # c\"],"
             "\"disabled\":false}\r\n\t}\r\n}\r\n");
  assert_string_equal(f.config.servers[0].command, "/bin/x");
  assert_string_equal(f.config.servers[0].args[0], "\xc3\xa9");
  assert_string_equal(f.config.servers[0].args[1], "a: b # c");
  lt_config_release(&f.config);
}

static void a_byte_order_mark_is_skipped(void **state) {
  (void)state;
  fixture f;
  parse_well(&f, "\xef\xbb\xbfsandbox:\n  timeoutMs: 7\n");
  assert_int_equal(f.config.timeout_ms, 7);
  lt_config_release(&f.config);
}

static void aliases_repeat_a_value(void **state) {
  (void)state;
  fixture f;
  parse_well(&f,
             "mcpServers:\n  a: {command: x, env: &e {K: v, L: w}}\n  b: {command: y, env: *e}\n"
             "  c: {command: z, env: *e}\n");
  assert_string_equal(f.config.servers[2].env[0], "K=v");
  assert_string_equal(f.config.servers[2].env[1], "L=w");
  assert_null(f.config.servers[2].env[2]);
  assert_string_equal(f.config.servers[1].name, "b");
  lt_config_release(&f.config);
}

/* --- References to the environment -------------------------------------------------------------------------------- */

static void references_are_replaced(void **state) {
  (void)state;
  fixture f;
  setenv("LT_TEST_A", "one", 1);
  setenv("LT_TEST_EMPTY", "", 1);
  unsetenv("LT_TEST_NOT");
  parse_well(
      &f,
      "mcpServers:\n  a:\n    command: ${LT_TEST_A}/x\n    args:\n"
      "      - a${LT_TEST_A}b${LT_TEST_A}\n      - ${LT_TEST_NOT:-deflt}\n      - '[${LT_TEST_EMPTY}]'\n"
      "      - ${LT_TEST_EMPTY:-filled}\n      - ${LT_TEST_NOT:-}\n      - $LT_TEST_A $5\n      - $${LT_TEST_A}\n"
      "      - ${LT_TEST_NOT:-a:-b}\n"
      "    env: {T: '${LT_TEST_A}'}\n    cwd: /${LT_TEST_A}\n");
  const lt_config_server *s = f.config.servers;
  assert_string_equal(s->command, "one/x");
  assert_string_equal(s->args[0], "aonebone");
  assert_string_equal(s->args[1], "deflt");
  assert_string_equal(s->args[2], "[]");
  assert_string_equal(s->args[3], "filled");
  assert_string_equal(s->args[4], "");
  assert_string_equal(s->args[5], "$LT_TEST_A $5");
  assert_string_equal(s->args[6], "${LT_TEST_A}");
  assert_string_equal(s->args[7], "a:-b");
  assert_string_equal(s->env[0], "T=one");
  assert_string_equal(s->cwd, "/one");
  lt_config_release(&f.config);
}

static void a_value_is_not_looked_into_again(void **state) {
  (void)state;
  fixture f;
  setenv("LT_TEST_A", "${LT_TEST_A}", 1);
  parse_well(&f, "mcpServers: {a: {command: '${LT_TEST_A}'}}");
  assert_string_equal(f.config.servers[0].command, "${LT_TEST_A}");
  lt_config_release(&f.config);
}

static void an_unset_reference_is_named(void **state) {
  (void)state;
  unsetenv("LT_TEST_NOT");
  fixture f;
  parse_well(&f, "mcpServers:\n  a:\n    command: x\n    env:\n      T: ${LT_TEST_NOT}\n  b: {command: y}\n");
  assert_string_equal(f.config.servers[0].fault,
                      "lathe.yaml:5: the environment variable LT_TEST_NOT is not set: set it, or write "
                      "${LT_TEST_NOT:-default}");
  assert_null(f.config.servers[1].fault);
  lt_config_release(&f.config);
  const char *broken[] = {"${", "${}", "${A", "${1A}", "${A B}", "${input:token}", "${:-x}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    char text[100];
    snprintf(text, sizeof text, "mcpServers: {a: {command: '%s'}}", broken[i]);
    expect_config_error(text,
                        "lathe.yaml:1: \"${\" must begin ${NAME} or ${NAME:-default}; write $${ for the two "
                        "characters themselves");
  }
}

static void a_disabled_server_may_lack_what_it_needs(void **state) {
  (void)state;
  fixture f;
  unsetenv("LT_TEST_NOT");
  parse_well(&f, "mcpServers: {a: {command: '${LT_TEST_NOT}', disabled: true}, b: {disabled: true}, c: {command: c}}");
  assert_int_equal(f.config.server_count, 3);
  assert_true(f.config.servers[0].disabled);
  assert_true(f.config.servers[1].disabled);
  assert_false(f.config.servers[2].disabled);
  lt_config_release(&f.config);
}

/* Whatever is wrong around a secret, the message does not show it. */
static void secrets_are_never_shown(void **state) {
  (void)state;
  const char *files[] = {
      "mcpServers: {a: {command: x, env: {K: [hush]}}}",
      "mcpServers: {a: {command: x, env: [K=hush]}}",
      "mcpServers: {a: {command: x, env: K=hush}}",
      "mcpServers: {a: {command: x, env: {K: {v: hush}}}}",
      "mcpServers: {a: {url: x, headers: hush}}",
      "mcpServers: {a: {args: ['${LT_TEST_SECRET}']}}",
      "mcpServers: {a: {command: x, env: {'A=B': '${LT_TEST_SECRET}'}}}",
      "modules: [{name: '${LT_TEST_SECRET}', path: '${LT_TEST_NOT}'}]",
      "modules: [{name: '${LT_TEST_SECRET}', path: a}, {name: '${LT_TEST_SECRET}', path: b}]",
      "mcpServers: {a: {command: x, env: {K: 'hush\\x'}}}\n  bad",
  };
  setenv("LT_TEST_SECRET", "hush", 1);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    fixture f;
    assert_int_equal(parse(&f, files[i]), LT_E_CONFIG);
    if (strstr(lt_err_msg(&f.err), "hush")) {
      fail_msg("shown: %s", lt_err_msg(&f.err));
    }
    lt_config_release(&f.config);
  }
}

/* --- Mistakes ----------------------------------------------------------------------------------------------------- */

static void unknown_keys_name_the_nearest(void **state) {
  (void)state;
  expect_config_error("# one\n\nmodles: []\n", "lathe.yaml:3: unknown key \"modles\" (did you mean \"models\"?)");
  expect_config_error("sandbox:\n  timeoutMS: 1\n  timeout: 5\n",
                      "lathe.yaml:2: unknown key \"timeoutMS\" in sandbox (did you mean \"timeoutMs\"?)");
  expect_config_error("tools:\n  policy:\n    - match: a\n      action: ask\n    - match: b\n      actoin: ask\n",
                      "lathe.yaml:6: unknown key \"actoin\" in tools.policy[1] (did you mean \"action\"?)");
  expect_config_error("deno: {somethingElse: 1}",
                      "lathe.yaml:1: unknown key \"somethingElse\" in deno (known here: path)");
  expect_config_error(
      "\"a\\nb\\x1b[31m\\x9b\": 1",
      "lathe.yaml:1: unknown key \"a?b?[31m?\" (known here: mcpServers, defaults, models, instructions, modules, "
      "tools, plugins, mcp, sandbox, python, deno, typescript, plan, programs, store, server, telemetry)");
}

static void wrong_types_say_what_was_expected(void **state) {
  (void)state;
  expect_config_error("sandbox:\n  timeoutMs: \"abc\"",
                      "lathe.yaml:2: sandbox.timeoutMs must be a whole number, not \"abc\"");
  expect_config_error("sandbox: {timeoutMs: '5'}", "lathe.yaml:1: sandbox.timeoutMs must be a whole number, not \"5\"");
  expect_config_error("sandbox: {timeoutMs: 1.5}",
                      "lathe.yaml:1: sandbox.timeoutMs must be a whole number, not \"1.5\"");
  expect_config_error("sandbox: {timeoutMs: [1]}",
                      "lathe.yaml:1: sandbox.timeoutMs must be a whole number, not a list");
  expect_config_error("sandbox: {timeoutMs: 99999999999999999999}",
                      "lathe.yaml:1: sandbox.timeoutMs must be a whole number, not \"99999999999999999999\"");
  expect_config_error("sandbox: {timeoutMs: 0}", "lathe.yaml:1: sandbox.timeoutMs must be from 1 to 600000, not \"0\"");
  expect_config_error("sandbox: {memoryMb: -5}", "lathe.yaml:1: sandbox.memoryMb must be from 2 to 2048, not \"-5\"");
  expect_config_error("models: [{ref: a, maxTokens: 0}]",
                      "lathe.yaml:1: models[0].maxTokens must be 1 or more, not \"0\"");
  expect_config_error("typescript: {check: yes}", "lathe.yaml:1: typescript.check must be true or false, not \"yes\"");
  expect_config_error("mcpServers: [a]", "lathe.yaml:1: mcpServers must be a mapping, not a list");
  expect_config_error("mcpServers:\n  a:\n", "lathe.yaml:2: mcpServers.a must be a mapping, not nothing");
  expect_config_error("mcpServers: {a: {command: [npx, x]}}",
                      "lathe.yaml:1: mcpServers.a.command must be a string, not a list");
  expect_config_error("mcpServers: {a: {command: x, args: --all}}",
                      "lathe.yaml:1: mcpServers.a.args must be a list, not a string");
  expect_config_error("mcpServers: {a: {command: x, args: [a, ~]}}",
                      "lathe.yaml:1: mcpServers.a.args[1] must be a string, not nothing");
  expect_config_error("mcpServers: {a: {type: ws, url: x}}",
                      "lathe.yaml:1: mcpServers.a.type must be \"stdio\", \"http\", \"sse\", \"streamable-http\" or "
                      "\"streamableHttp\", not \"ws\"");
  expect_config_error("tools: {policy: [{match: a, action: perhaps}]}",
                      "lathe.yaml:1: tools.policy[0].action must be \"allow\", \"ask\" or \"deny\", not \"perhaps\"");
  expect_config_error("just text", "lathe.yaml:1: the configuration must be a mapping, not a string");
  expect_config_error("42", "lathe.yaml:1: the configuration must be a mapping, not a number");
  expect_config_error("- a", "lathe.yaml:1: the configuration must be a mapping, not a list");
}

static void what_is_needed_is_asked_for(void **state) {
  (void)state;
  expect_config_error("modules:\n  - name: a\n    path: b\n  - name: c\n",
                      "lathe.yaml:4: modules[1] needs the key \"path\"");
  expect_config_error("tools: {policy: [{action: ask}]}", "lathe.yaml:1: tools.policy[0] needs the key \"match\"");
  expect_config_error("mcpServers:\n  a: {args: [b]}",
                      "lathe.yaml:2: mcpServers.a needs a \"command\" to start, or a \"url\" to connect to");
  expect_config_error("mcpServers:\n  a: {type: stdio, url: x}", "lathe.yaml:2: mcpServers.a needs a \"command\"");
  expect_config_error("mcpServers:\n  a: {type: http, command: x}", "lathe.yaml:2: mcpServers.a needs a \"url\"");
  expect_config_error("mcpServers:\n  a: {command: ''}",
                      "lathe.yaml:2: mcpServers.a needs a \"command\" that is not empty");
  expect_config_error("mcpServers: {'': {command: a}}", "lathe.yaml:1: a name in mcpServers is empty");
  expect_config_error("mcpServers: {a: {command: a, env: {X=Y: b}}}",
                      "lathe.yaml:1: an environment variable's name cannot contain \"=\"");
  expect_config_error("modules: [{name: a, path: b}, {name: a, path: c}]",
                      "lathe.yaml:1: modules[1] has the same name as modules[0]");
}

static void broken_yaml_has_its_line(void **state) {
  (void)state;
  expect_config_error("sandbox:\n  timeoutMs: 5\n bad: 1\n",
                      "lathe.yaml:3:2: not valid YAML: did not find expected key (while parsing a block mapping)");
  expect_config_error("sandbox:\n\ttimeoutMs: 5\n", "lathe.yaml:2: a tab cannot indent YAML: use spaces");
  expect_config_error("a: [1, 2\n",
                      "lathe.yaml:2:1: not valid YAML: did not find expected ',' or ']' (while parsing a "
                      "flow sequence)");
  expect_config_error("sandbox: {}\nstore: a\nsandbox: {}\n",
                      "lathe.yaml:3: the key \"sandbox\" is given twice (first on line 1)");
  expect_config_error("{a: 1,\n \"a\": 2}", "lathe.yaml:2: the key \"a\" is given twice (first on line 1)");
  expect_config_error("store: a\n---\nstore: b\n",
                      "lathe.yaml:2: a second document (---) starts here: a configuration has one");
  expect_config_error("[1]: 2", "lathe.yaml:1: a key must be a name, not a list");
  expect_config_error("store: !!python/object x",
                      "lathe.yaml:1: the tag tag:yaml.org,2002:python/object means nothing "
                      "here: remove it");
  expect_config_error("deno: {path: *x}", "lathe.yaml:1: the alias *x has no complete anchor &x before it");
  expect_config_error("deno: {<<: {path: a}}", "lathe.yaml:1: merge keys (<<) are not supported: write the keys out");
  expect_config_error("deno: &a {path: *a}", "lathe.yaml:1: the alias *a has no complete anchor &a before it");
}

static void bytes_that_are_no_text_have_their_line(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t n;
    const char *message;
  } cases[] = {
      {"store: a\nb: \0c", 14, "lathe.yaml:2: a NUL byte (byte 0x00); save the file as UTF-8 text"},
      {"\nstore: \xff", 9, "lathe.yaml:2: not UTF-8 (byte 0xff); save the file as UTF-8 text"},
      {"store: \xc3", 8, "lathe.yaml:1: not UTF-8 (byte 0xc3); save the file as UTF-8 text"},
      {"store: \xc0\xaf", 9, "lathe.yaml:1: not UTF-8 (byte 0xc0); save the file as UTF-8 text"},
      {"store: \xed\xa0\x80", 10, "lathe.yaml:1: not UTF-8 (byte 0xed); save the file as UTF-8 text"},
      {"store: \xf4\x90\x80\x80", 11, "lathe.yaml:1: not UTF-8 (byte 0xf4); save the file as UTF-8 text"},
      {"\xff\xfes\0", 4, "lathe.yaml:1: not UTF-8 (byte 0xff); save the file as UTF-8 text"},
      {"store: a\n\x01", 10, "lathe.yaml:2: control characters are not allowed"},
      {"store: \"a\\0b\"", 13, "lathe.yaml:1: a NUL character (\\0) cannot be part of a value"},
      {"\"a\\0b\": 1", 9, "lathe.yaml:1: a NUL character (\\0) cannot be part of a value"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_error(cases[i].text, cases[i].n, LT_E_CONFIG, cases[i].message);
  }
}

/* --- Ceilings ----------------------------------------------------------------------------------------------------- */

static void a_bomb_of_aliases_ends_early(void **state) {
  (void)state;
  fixture f;
  lt_buf buf;
  lt_buf_init(&buf, LT_MIB);
  lt_buf_addc(&buf, "store:\n  - &a0 [x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 40; i++) {
    lt_buf_printf(&buf, "  - &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1, i - 1,
                  i - 1, i - 1, i - 1, i - 1);
  }
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_E_LIMIT);
  assert_string_equal(lt_err_msg(&f.err),
                      "lathe.yaml:7: more than 100000 values, what aliases (*name) repeat included");
  lt_config_release(&f.config);
  lt_buf_release(&buf);
}

/* `n` times `what`, after `head`. */
static void expect_limit(const char *head, const char *what, size_t n, const char *message) {
  fixture f;
  lt_buf buf;
  lt_buf_init(&buf, 64 * LT_MIB);
  lt_buf_addc(&buf, head);
  for (size_t i = 0; i < n; i++) {
    lt_buf_printf(&buf, "%s", what);
  }
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_E_LIMIT);
  assert_string_equal(lt_err_msg(&f.err), message);
  lt_config_release(&f.config);
  lt_buf_release(&buf);
}

static void everything_has_a_ceiling(void **state) {
  (void)state;
  expect_limit("store: ", "[", 100, "lathe.yaml:1: nested deeper than 64 levels");
  expect_limit("store: ", "{a: ", 100, "lathe.yaml:1: nested deeper than 64 levels");
  expect_limit("store: [", "1,", 200000, "lathe.yaml:1: more than 100000 values, what aliases (*name) repeat included");
  expect_limit("store: [", "&a 1,", 1000, "lathe.yaml:1: more than 256 anchors (&name)");
  expect_limit("store: ", "xxxxxxxxxxxxxxxx", LT_CONFIG_MAX_BYTES / 16,
               "lathe.yaml: larger than a configuration may be (4 MiB)");
}

static void many_keys_are_compared_quickly(void **state) {
  (void)state;
  fixture f;
  lt_buf buf;
  lt_buf_init(&buf, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&buf, "mcpServers:\n a:\n  command: x\n  env:\n");
  for (int i = 0; i < 49000; i++) {
    lt_buf_printf(&buf, "   k%d: 1\n", i);
  }
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_OK);
  lt_config_release(&f.config);
  lt_buf_addc(&buf, "   k0: 2\n");
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_E_CONFIG);
  assert_string_equal(lt_err_msg(&f.err), "lathe.yaml:49005: the key \"k0\" is given twice (first on line 5)");
  lt_config_release(&f.config);
  lt_buf_release(&buf);
}

static void too_many_servers_are_refused(void **state) {
  (void)state;
  fixture f;
  lt_buf buf;
  lt_buf_init(&buf, LT_MIB);
  lt_buf_addc(&buf, "mcpServers:\n");
  for (int i = 0; i <= LT_MCP_SERVERS_MAX; i++) {
    lt_buf_printf(&buf, "  s%d: {command: x}\n", i);
  }
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_E_LIMIT);
  lt_config_release(&f.config);
  lt_buf_release(&buf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_means_the_defaults),
      cmocka_unit_test(every_known_key_is_read),
      cmocka_unit_test(empty_sections_are_given),
      cmocka_unit_test(runner_sections_say_what_is_wrong),
      cmocka_unit_test(json_is_yaml),
      cmocka_unit_test(a_byte_order_mark_is_skipped),
      cmocka_unit_test(aliases_repeat_a_value),
      cmocka_unit_test(references_are_replaced),
      cmocka_unit_test(a_value_is_not_looked_into_again),
      cmocka_unit_test(an_unset_reference_is_named),
      cmocka_unit_test(a_disabled_server_may_lack_what_it_needs),
      cmocka_unit_test(secrets_are_never_shown),
      cmocka_unit_test(unknown_keys_name_the_nearest),
      cmocka_unit_test(wrong_types_say_what_was_expected),
      cmocka_unit_test(what_is_needed_is_asked_for),
      cmocka_unit_test(broken_yaml_has_its_line),
      cmocka_unit_test(bytes_that_are_no_text_have_their_line),
      cmocka_unit_test(a_bomb_of_aliases_ends_early),
      cmocka_unit_test(everything_has_a_ceiling),
      cmocka_unit_test(many_keys_are_compared_quickly),
      cmocka_unit_test(too_many_servers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
