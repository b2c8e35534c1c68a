/* Configuration files: where they are looked for, how several are combined, other clients' files, and failed
 * allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_adopt.h"
#include "config_fix.h"

/* --- Other clients' files ----------------------------------------------------------------------------------------- */

static lt_status parse_mcp(fixture *f, const char *text) {
  f->err = LT_ERR_INIT;
  return lt_config_parse_mcp(lt_str_of(text), ".mcp.json", "/etc/lathe", &f->config, &f->err);
}

static void another_clients_file_adds_its_servers(void **state) {
  (void)state;
  fixture f;
  parse_well(&f, "mcpServers: {a: {command: old, cwd: x}, b: {command: b}}\nsandbox: {timeoutMs: 9}");
  assert_int_equal(parse_mcp(&f,
                             "{\"mcpServers\": {\"c\": {\"command\": \"c\"}, \"a\": {\"command\": \"new\", "
                             "\"args\": [\"1\"]}}}"),
                   LT_OK);
  assert_int_equal(f.config.server_count, 3);
  assert_string_equal(f.config.servers[0].name, "a");
  assert_string_equal(f.config.servers[0].command, "new");
  assert_null(f.config.servers[0].cwd); /* the new one takes the old one's place, nothing is mixed */
  assert_string_equal(f.config.servers[1].name, "b");
  assert_string_equal(f.config.servers[2].name, "c");
  assert_int_equal(f.config.timeout_ms, 9);
  lt_config_release(&f.config);
}

static void its_unknown_keys_are_warnings(void **state) {
  (void)state;
  fixture f;
  parse_well(&f, "mcpServers:\n  a:\n    command: x\n    autoApprove: [y]\n    evn: {}\n");
  assert_string_equal(f.config.warnings[0], "lathe.yaml:4: the unknown key \"autoApprove\" in mcpServers.a is ignored");
  assert_string_equal(f.config.warnings[1],
                      "lathe.yaml:5: the unknown key \"evn\" in mcpServers.a is ignored (did you mean \"env\"?)");
  assert_null(f.config.warnings[2]);
  assert_int_equal(parse_mcp(&f, "{\"globalShortcut\": \"\", \"sandbox\": {\"x\": 1}, \"mcpServers\": {}}"), LT_OK);
  assert_string_equal(f.config.warnings[2], ".mcp.json:1: the unknown key \"globalShortcut\" is ignored");
  assert_string_equal(f.config.warnings[3], ".mcp.json:1: the unknown key \"sandbox\" is ignored");
  assert_null(f.config.warnings[4]);
  lt_config_release(&f.config);
}

static void a_flood_of_warnings_is_cut(void **state) {
  (void)state;
  fixture f;
  lt_buf buf;
  lt_buf_init(&buf, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&buf, "mcpServers:\n  a:\n    command: x\n");
  for (int i = 0; i < 40000; i++) {
    lt_buf_printf(&buf, "    unknown%d: 1\n", i);
  }
  assert_int_equal(parse_n(&f, buf.p, buf.n), LT_OK);
  size_t n = 0;
  while (f.config.warnings[n]) {
    n++;
  }
  assert_int_equal(n, LT_CONFIG_WARNINGS_MAX);
  lt_config_release(&f.config);
  lt_buf_release(&buf);
}

static void vs_codes_form_is_read_with_its_comments(void **state) {
  (void)state;
  fixture f;
  setenv("LATHE_TEST_FORM", "from the environment", 1);
  parse_well(&f, "");
  assert_int_equal(
      parse_mcp(
          &f,
          "// of the editor\n{\n  \"inputs\": [{\"id\": \"token\"}], /* asked for */\n"
          "  \"servers\": {\n"
          "    \"a\": {\"type\": \"stdio\", \"command\": \"c\", \"args\": [\"//x\", \"${env:LATHE_TEST_FORM}\",],\n"
          "          \"dev\": 1},\n"
          "    \"b\": {\"type\": \"http\", \"url\": \"https://x.example/mcp\",\n"
          "          \"headers\": {\"Authorization\": \"Bearer ${input:token}\"}},\n"
          "  },\n}\n"),
      LT_OK);
  assert_int_equal(f.config.server_count, 2);
  assert_string_equal(f.config.servers[0].args[0], "//x");
  assert_string_equal(f.config.servers[0].args[1], "from the environment");
  assert_string_equal(f.config.warnings[0], ".mcp.json:6: the unknown key \"dev\" in mcpServers.a is ignored");
  assert_null(f.config.warnings[1]);
  assert_null(f.config.servers[0].fault);
  assert_string_equal(f.config.servers[1].url, "https://x.example/mcp");
  /* We do not ask for an ${input:...}, as the editor does. */
  assert_non_null(strstr(f.config.servers[1].fault, ".mcp.json:8: \"${\" must begin ${NAME}"));
  lt_config_release(&f.config);
}

static void opencodes_form_is_read(void **state) {
  (void)state;
  fixture f;
  setenv("LATHE_TEST_FORM", "from the environment", 1);
  parse_well(&f, "");
  assert_int_equal(
      parse_mcp(&f,
                "{\"$schema\": \"https://opencode.ai/config.json\", \"theme\": \"dark\", \"mcp\": {\n"
                "\"a\": {\"type\": \"local\", \"command\": [\"npx\", \"-y\", \"${x}\"], \"enabled\": true,\n"
                "  \"environment\": {\"WHO\": \"{env:LATHE_TEST_FORM}\"}, \"timeout\": 5000},\n"
                "\"b\": {\"type\": \"remote\", \"url\": \"https://x.example/mcp\", \"oauth\": false},\n"
                "\"c\": {\"type\": \"local\", \"command\": [\"one\"], \"enabled\": false}}}"),
      LT_OK);
  const lt_config_server *a = &f.config.servers[0], *b = &f.config.servers[1], *c = &f.config.servers[2];
  assert_int_equal(f.config.server_count, 3);
  assert_string_equal(a->type, "stdio");
  assert_string_equal(a->command, "npx");
  assert_string_equal(a->args[0], "-y");
  assert_string_equal(a->args[1], "${x}"); /* opencode takes it as it is */
  assert_null(a->args[2]);
  assert_string_equal(a->env[0], "WHO=from the environment");
  assert_false(a->disabled);
  assert_string_equal(b->type, "http");
  assert_string_equal(c->command, "one");
  assert_true(c->disabled);
  assert_string_equal(f.config.warnings[0], ".mcp.json:3: the unknown key \"timeout\" in mcpServers.a is ignored");
  assert_null(f.config.warnings[1]);
  lt_config_release(&f.config);
}

/* What looks like a comment in YAML is an address. */
static void another_clients_yaml_has_no_such_comments(void **state) {
  (void)state;
  fixture f;
  parse_well(&f, "");
  assert_int_equal(parse_mcp(&f, "mcpServers: {a: {url: https://x.example/mcp}} # one\n"), LT_OK);
  assert_string_equal(f.config.servers[0].url, "https://x.example/mcp");
  lt_config_release(&f.config);
}

static void a_file_without_servers_is_a_mistake(void **state) {
  (void)state;
  const char *files[] = {"{}", "", "{\"mcp_servers\": {}}", "{\"mcpServers\": null}"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    fixture f;
    parse_well(&f, "");
    assert_int_equal(parse_mcp(&f, files[i]), LT_E_CONFIG);
    assert_non_null(strstr(lt_err_msg(&f.err), ".mcp.json:1: the configuration "));
    lt_config_release(&f.config);
  }
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/lathe-test-config-XXXXXX";
static char old_folder[4096];

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static int enter_folder(void **state) {
  (void)state;
  assert_non_null(getcwd(old_folder, sizeof old_folder));
  strcpy(folder + sizeof folder - sizeof "XXXXXX", "XXXXXX");
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(mkdir("home", 0755), 0);
  assert_int_equal(mkdir("home/lathe", 0755), 0);
  char home[4096];
  snprintf(home, sizeof home, "%s/home", folder);
  setenv("XDG_CONFIG_HOME", home, 1);
  unsetenv("LATHE_CONFIG");
  return 0;
}

static int leave_folder(void **state) {
  (void)state;
  const char *files[] = {"lathe.yaml", "other.yaml", "mcp.json", "home/lathe/lathe.yaml", "pipe"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    unlink(files[i]);
  }
  rmdir("home/lathe");
  rmdir("home");
  unsetenv("LATHE_CONFIG");
  return chdir(old_folder) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static lt_config_trust trusts_all(void *arg, const lt_config_file *file) {
  (void)arg;
  (void)file;
  return LT_CONFIG_TRUSTED;
}

static lt_status load(fixture *f, const char *config, const char *mcp) {
  f->err = LT_ERR_INIT;
  return lt_config_load(&(lt_config_sources){.config_file = config, .mcp_config_file = mcp, .trust = trusts_all},
                        &f->config, &f->err);
}

static void expect_loaded(const char *config, int64_t timeout_ms, const char *path_end) {
  fixture f;
  if (load(&f, config, NULL) != LT_OK) {
    fail_msg("%s", lt_err_msg(&f.err));
  }
  assert_int_equal(f.err.status,
                   LT_OK); /* a file that need not be there leaves nothing behind that looks like a failure */
  assert_int_equal(f.config.timeout_ms, timeout_ms);
  if (path_end) {
    assert_non_null(f.config.path);
    assert_true(lt_str_ends(lt_str_of(f.config.path), lt_str_of(path_end)));
  } else {
    assert_null(f.config.path);
  }
  lt_config_release(&f.config);
}

static void files_are_looked_for_in_order(void **state) {
  (void)state;
  expect_loaded(NULL, LT_RUN_TIMEOUT_MS, NULL);
  write_file("home/lathe/lathe.yaml", "sandbox: {timeoutMs: 1}");
  expect_loaded(NULL, 1, "home/lathe/lathe.yaml");
  write_file("lathe.yaml", "sandbox: {timeoutMs: 2}");
  expect_loaded(NULL, 2, "lathe.yaml");
  write_file("other.yaml", "sandbox: {timeoutMs: 3}");
  setenv("LATHE_CONFIG", "other.yaml", 1);
  expect_loaded(NULL, 3, "other.yaml");
  expect_loaded("lathe.yaml", 2, "lathe.yaml");
  setenv("LATHE_CONFIG", "", 1);
  expect_loaded(NULL, 2, "lathe.yaml");
}

static void files_say_what_they_are(void **state) {
  (void)state;
  fixture f;
  char real[4096], expected[4200];
  write_file("other.yaml", "tools: {policy: [{match: '*', action: deny}], budgets: [{match: '*', calls: 1}]}");
  write_file("mcp.json", "{\"mcpServers\": {}}");
  assert_int_equal(load(&f, "./other.yaml", "mcp.json"), LT_OK);
  assert_non_null(realpath(folder, real));
  snprintf(expected, sizeof expected, "%s/other.yaml", real);
  assert_int_equal(f.config.file_count, 2);
  assert_string_equal(f.config.files[0].path, expected);
  assert_string_equal(f.config.files[0].why, "--config");
  assert_int_equal(f.config.files[0].layer, LT_CONFIG_LAYER_PROJECT);
  assert_int_equal(strlen(f.config.files[0].hash), 64);
  assert_true(f.config.files[0].counts);
  assert_string_equal(f.config.files[1].why, "--mcp-config");
  assert_int_equal(f.config.rules[0].layer, LT_CONFIG_LAYER_PROJECT);
  assert_int_equal(f.config.budgets[0].layer, LT_CONFIG_LAYER_PROJECT);
  lt_config_release(&f.config);
}

static void expect_load_error(const char *config, const char *mcp, const char *message) {
  fixture f;
  assert_int_equal(load(&f, config, mcp), LT_E_CONFIG);
  assert_string_equal(lt_err_msg(&f.err), message);
  lt_config_release(&f.config);
}

static void a_file_that_is_asked_for_must_be_there(void **state) {
  (void)state;
  expect_load_error("not.yaml", NULL, "not.yaml: there is no such file (--config asks for it)");
  expect_load_error(NULL, "not.json", "not.json: there is no such file (--mcp-config asks for it)");
  expect_load_error("home", NULL, "home: cannot be read: it is a folder");
  setenv("LATHE_CONFIG", "not/there.yaml", 1);
  expect_load_error(NULL, NULL, "not/there.yaml: there is no such file ($LATHE_CONFIG asks for it)");
}

static void relative_paths_count_from_the_files_folder(void **state) {
  (void)state;
  fixture f;
  char expected[4096], real[4096];
  write_file("home/lathe/lathe.yaml", "modules: [{name: a, path: m.js}]\nmcpServers: {x: {command: ./x, cwd: .}}");
  write_file("mcp.json", "{\"mcpServers\": {\"y\": {\"command\": \"y\", \"cwd\": \"sub\"}}}");
  assert_int_equal(load(&f, "home/lathe/lathe.yaml", "mcp.json"), LT_OK);
  assert_non_null(realpath(folder, real));
  snprintf(expected, sizeof expected, "%.4000s/home/lathe/m.js", real);
  assert_string_equal(f.config.modules[0].path, expected);
  snprintf(expected, sizeof expected, "%.4000s/home/lathe", real);
  assert_string_equal(f.config.servers[0].cwd, expected);
  assert_string_equal(f.config.servers[0].command, "./x");
  snprintf(expected, sizeof expected, "%.4000s/sub", real);
  assert_string_equal(f.config.servers[1].cwd, expected);
  lt_config_release(&f.config);
}

static void an_endless_file_ends(void **state) {
  (void)state;
  fixture f;
  assert_int_equal(load(&f, "/dev/zero", NULL), LT_E_LIMIT);
  assert_string_equal(lt_err_msg(&f.err), "/dev/zero: larger than a configuration may be (4 MiB)");
  lt_config_release(&f.config);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static const char *const sweep_yaml =
    "mcpServers:\n  a: &a {command: '${HOME:-x}', args: [b, c], env: {K: '${HOME:-y}'}, cwd: d, extra: 1}\n  b: *a\n"
    "modules: [{name: m, path: p}]\ntools: {policy: [{match: '*', action: ask, when: 'true'}], budgets: [{match: a, "
    "calls: 1}]}\n"
    "plugins: [a.so, {path: '${LT_TEST_LONG:-b}', config: {k: ['${LT_TEST_LONG:-v}', 1], l: {}}}]\nstore: "
    "sqlite:a.db\n";

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  setenv("LT_TEST_LONG", "long enough for a secret", 1);
  for (long n = 0;; n++) {
    fixture f;
    lt_mem_fail_at(n);
    lt_status status = parse(&f, sweep_yaml);
    if (status == LT_OK) {
      status = parse_mcp(&f, "{\"mcpServers\": {\"a\": {\"command\": \"${HOME:-x}\", \"odd\": 1}}}");
    }
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_int_equal(f.config.server_count, 2);
      lt_config_release(&f.config);
      assert_true(n > 0);
      return;
    }
    assert_int_equal(status, LT_E_NOMEM);
    assert_non_null(strstr(lt_err_msg(&f.err), "out of memory"));
    lt_config_release(&f.config);
  }
}

static void every_failed_allocation_of_a_file_is_survived(void **state) {
  (void)state;
  write_file("mcp.json", sweep_yaml);
  for (long n = 0;; n++) {
    fixture f;
    lt_mem_fail_at(n);
    lt_status status = load(&f, NULL, "mcp.json");
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_config_release(&f.config);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      return;
    }
    assert_int_equal(status, LT_E_NOMEM);
    assert_non_null(strstr(lt_err_msg(&f.err), "out of memory"));
  }
}

/* Without memory an untrusted file does not count by mistake. */
static void every_failed_allocation_of_an_untrusted_file_is_survived(void **state) {
  (void)state;
  write_file("lathe.yaml", "mcpServers: {a: {command: x, args: ['${A}', '${B:-c}']}}\nplugins: [a.so]\n");
  for (long n = 0;; n++) {
    fixture f = {.err = LT_ERR_INIT};
    lt_mem_fail_at(n);
    lt_status status = lt_config_load(&(lt_config_sources){0}, &f.config, &f.err);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(f.config.server_count + f.config.plugin_count, 0);
    if (!failed) {
      assert_int_equal(status, LT_E_DENIED);
      const lt_config_file *file = lt_config_untrusted(&f.config);
      assert_non_null(file);
      assert_non_null(strstr(file->wants, "plugins[0]: a.so\n  read these environment variables: A B\n"));
      assert_string_equal(file->why, "./lathe.yaml, not trusted");
      lt_config_release(&f.config);
      return;
    }
    assert_true(status == LT_E_NOMEM || status == LT_E_DENIED);
    lt_config_release(&f.config);
  }
}

static void layers_have_their_rules(void **state) {
  (void)state;
  fixture f;
  write_file("home/lathe/lathe.yaml",
             "tools: {policy: [{match: a, action: deny}], budgets: [{match: a, calls: 1}]}\n"
             "defaults: {maxRounds: {code: 1, classic: 2}}\nmodels: [{ref: x}, {ref: y}]\n"
             "plugins: [{name: artifact}, a.so]");
  write_file("other.yaml",
             "tools: {policy: [{match: b, action: allow}], budgets: [{match: b, calls: 2}]}\n"
             "defaults: {maxRounds: {code: 3}}\nmodels: [{ref: y, model: z}]\n"
             "plugins: [{name: artifact, disabled: true}]");
  assert_int_equal(load(&f, "other.yaml", NULL), LT_OK);
  assert_int_equal(f.config.rule_count, 2);
  assert_int_equal(f.config.rules[0].layer, LT_CONFIG_LAYER_USER);
  assert_int_equal(f.config.rules[1].layer, LT_CONFIG_LAYER_PROJECT);
  assert_int_equal(f.config.budgets[0].layer, LT_CONFIG_LAYER_USER);
  assert_int_equal(f.config.budgets[1].layer, LT_CONFIG_LAYER_PROJECT);
  assert_int_equal(f.config.defaults.rounds_count, 2);
  assert_int_equal(f.config.defaults.rounds[0].value, 3);
  assert_string_equal(f.config.defaults.rounds[0].file, "other.yaml");
  assert_int_equal(f.config.model_count, 2);
  assert_string_equal(f.config.models[1].name, "z");
  assert_int_equal(f.config.plugin_count, 2);
  assert_true(f.config.plugins[1].disabled);
  assert_string_equal(f.config.warnings[0], "other.yaml: models: \"y\" replaces the one of another file");
  assert_string_equal(f.config.warnings[1], "other.yaml: plugins: \"artifact\" replaces the one of another file");
  assert_null(f.config.warnings[2]);
  lt_config_release(&f.config);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

/* --- Read again --------------------------------------------------------------------------------------------------- */
#define SHOP(keys) "mcpServers: {shop: {" keys "}}"

static void a_server_differs_by_any_of_its_keys(void **state) {
  (void)state;
  static const char *const others[] = {
      SHOP("command: b, args: [x], env: {A: one}"),
      SHOP("command: a, args: [x, y], env: {A: one}"),
      SHOP("command: a, args: [x], env: {A: two}"),
      SHOP("command: a, args: [x], env: {A: one}, cwd: /"),
      SHOP("command: a, args: [x], env: {A: one}, disabled: true"),
      SHOP("command: a, args: [x], env: {A: one}, sampling: {requests: 7}"),
      SHOP("command: a, args: [x], env: {A: one}, oauth: {scopes: [s]}"),
      SHOP("command: a, args: [x], env: {A: one}, idleTimeoutMs: 1"),
      SHOP("command: a, args: [x], env: {A: '${LATHE_TEST_NOT_SET}'}"),
      SHOP("url: 'https://a.example/'"),
  };
  fixture one, same;
  parse_well(&one, SHOP("command: a, args: [x], env: {A: one}"));
  parse_well(&same, SHOP("env: {A: one}, args: [x], command: a, type: stdio"));
  assert_false(lt_config_servers_differ(&one.config.servers[0], &same.config.servers[0]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    fixture other;
    parse_well(&other, others[i]);
    assert_true(lt_config_servers_differ(&one.config.servers[0], &other.config.servers[0]));
    lt_config_release(&other.config);
  }
  lt_config_release(&one.config);
  lt_config_release(&same.config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_clients_file_adds_its_servers),
      cmocka_unit_test(its_unknown_keys_are_warnings),
      cmocka_unit_test(a_flood_of_warnings_is_cut),
      cmocka_unit_test(vs_codes_form_is_read_with_its_comments),
      cmocka_unit_test(opencodes_form_is_read),
      cmocka_unit_test(another_clients_yaml_has_no_such_comments),
      cmocka_unit_test(a_file_without_servers_is_a_mistake),
      IN_FOLDER(files_are_looked_for_in_order),
      IN_FOLDER(files_say_what_they_are),
      IN_FOLDER(a_file_that_is_asked_for_must_be_there),
      IN_FOLDER(relative_paths_count_from_the_files_folder),
      IN_FOLDER(an_endless_file_ends),
      cmocka_unit_test(every_failed_allocation_is_survived),
      IN_FOLDER(every_failed_allocation_of_a_file_is_survived),
      IN_FOLDER(every_failed_allocation_of_an_untrusted_file_is_survived),
      IN_FOLDER(layers_have_their_rules),
      cmocka_unit_test(a_server_differs_by_any_of_its_keys),
  };
  return cmocka_run_group_tests_name("config_files", tests, NULL, NULL);
}
