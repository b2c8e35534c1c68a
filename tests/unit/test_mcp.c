/* The MCP client and a server that behaves: handshake, lists, calls. Real processes, the real loop. */
#include "unit/mcp_fix.h"

/* --- Handshake and list ------------------------------------------------------------------------------------------- */

static void body_ready(void) {
  open_fake("--instructions=Be \"kind\"", NULL);
  assert_int_equal(lt_mcp_state_of(f.mcp), LT_MCP_STARTING);
  assert_int_equal(lt_mcp_protocol_version(f.mcp).n, 0);
  expect_ready();
  expect_str(lt_mcp_name(f.mcp), "fake");
  expect_str(lt_mcp_protocol_version(f.mcp), "2025-11-25");
  expect_str(lt_mcp_instructions(f.mcp), "Be \"kind\"");
  assert_int_equal(f.listings, 1);
  const lt_mcp_tool *echo = find_tool("echo");
  expect_str(echo->title, "Echo");
  expect_str(echo->description, "Answers \"text\"\n\xC3\xA9\xF0\x9F\x98\x80");
  expect_str(echo->input_schema, "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}");
  expect_str(echo->output_schema, "{\"type\":\"object\",\"properties\":{\"echoed\":{}}}");
  expect_str(echo->annotations, "{\"readOnlyHint\":true}");
  assert_int_equal(find_tool("add")->output_schema.n, 0);
  assert_int_equal(find_tool("add")->annotations.n, 0);
  expect_result(
      "heard", "{}",
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
      "\"capabilities\":{},\"clientInfo\":{\"name\":\"lathe\",\"version\":\"" LT_VERSION
      "\"}}},"
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{}},"
      "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"heard\","
      "\"arguments\":{}}}]");
  close_it();
  assert_string_equal(f.warnings, "");
}

static void body_old_versions(void) {
  static const char *const versions[] = {"--version=2025-06-18", "--version=2025-03-26", "--version=2024-11-05"};
  for (size_t i = 0; i < 3; i++) {
    open_fake(versions[i], NULL);
    expect_ready();
    expect_str(lt_mcp_protocol_version(f.mcp), versions[i] + strlen("--version="));
    expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
    close_it();
  }
}

static void body_bad_version(void) {
  open_fake("--version=1999-01-01", NULL);
  expect_down(LT_E_PROTOCOL, "protocol version \"1999-01-01\"");
  expect_in(lt_mcp_reason(f.mcp).p, "2024-11-05");
  expect_failure("echo", "{}", LT_E_CLOSED, "1999-01-01");
  close_it();
}

static void body_init_error(void) {
  open_fake("--init-error", NULL);
  expect_down(LT_E_INVALID, "error -32602: Unsupported protocol version");
  close_it();
}

static void body_no_tools(void) {
  open_fake("--no-tools", NULL);
  expect_ready();
  assert_int_equal(tool_count(), 0);
  assert_int_equal(f.listings, 1);
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("heard", "{}", NULL, &out, &err), LT_OK);
  expect_not_in(out.p, "tools/list");
  lt_buf_release(&out);
  close_it();
}

static void body_pages(void) {
  open_fake("--tools=25", "--page=4", NULL);
  expect_ready();
  assert_int_equal(tool_count(), 25);
  size_t n;
  expect_str(lt_mcp_tools(f.mcp, &n)[24].name, "t24");
  assert_int_equal(f.listings, 1);
  close_it();
}

static void body_circle(void) {
  open_fake("--tools=3", "--circle", NULL);
  expect_down(LT_E_PROTOCOL, "same cursor twice");
  close_it();
}

static void body_endless(void) {
  open_fake("--tools=1", "--endless", NULL);
  expect_down(LT_E_LIMIT, "more than 1000 pages");
  close_it();
}

static void body_too_many_tools(void) {
  open_fake("--tools=10001", "--page=3000", NULL);
  expect_down(LT_E_LIMIT, "more than 10000 tools");
  close_it();
}

static void body_bad_list(void) {
  open_fake("--bad-list", NULL);
  expect_down(LT_E_PROTOCOL, "no array \"tools\"");
  close_it();
}

static void body_rude_tools(void) {
  open_fake("--rude-tools", NULL);
  expect_ready();
  expect_str(find_tool("no-schema")->input_schema, "{}");
  expect_str(find_tool("odd-schema")->input_schema, "{}");
  assert_int_equal(find_tool("odd-schema")->output_schema.n, 0);
  assert_int_equal(find_tool("odd-schema")->annotations.n, 0);
  expect_str(find_tool("old-title")->title, "Old");
  expect_in(f.warnings, "without a name");
  assert_int_equal(f.warned, 1);
  close_it();
}

/* As server-everything does it: five notifications at once, and nothing has really changed. */
static void body_changes_at_start(void) {
  open_fake("--changes=5", NULL);
  expect_ready();
  expect_result("grow", "{\"n\":0}", "\"0\""); /* whatever was under way has been read by now */
  lt_loop_sleep(loop, 3 * LT_MCP_RELIST_GAP_MS);
  assert_int_equal(f.listings, 1);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("heard", "{}", NULL, &out, NULL), LT_OK);
  size_t lists = 0;
  for (const char *p = out.p; (p = strstr(p, "\"tools/list\"")); p++) {
    lists++;
  }
  assert_in_range(lists, 2, 3);
  lt_buf_release(&out);
  close_it();
}

static void body_list_changed(void) {
  open_fake(NULL, NULL);
  expect_ready();
  size_t before = tool_count();
  expect_result("grow", "{\"n\":2,\"times\":5}", "\"2\"");
  await_listings(2);
  assert_int_equal(tool_count(), before + 2);
  expect_result("extra-1", "{\"text\":\"new\"}", "new");
  expect_result("grow", "{\"n\":1,\"times\":1}", "\"3\"");
  await_listings(3);
  assert_int_equal(tool_count(), before + 3);
  close_it();
  assert_string_equal(f.warnings, "");
}

/* --- Start that fails --------------------------------------------------------------------------------------------- */

static void open_command(const char *command, const char *const *args, const char *const *env, uint64_t timeout_ms) {
  lt_mcp_options options = {.name = LT_STR("fake"),
                            .command = command,
                            .args = args,
                            .env = env,
                            .start_timeout_ms = timeout_ms,
                            .call_timeout_ms = timeout_ms,
                            .secrets = f.secrets,
                            .on_warning = on_warning,
                            .on_tools = on_tools,
                            .arg = &f};
  open_with(&options);
}

static void body_not_found(void) {
  open_command("no-such-command-here", NULL, NULL, 5000);
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_mcp_wait_ready(f.mcp, &err), LT_E_NOTFOUND);
  expect_in(err.msg, "no-such-command-here");
  expect_failure("echo", "{}", LT_E_CLOSED, "no-such-command-here");
  assert_int_equal(f.listings, 0);
  close_it();
}

static void body_never(void) {
  static const char *const args[] = {"tests/fakes/mcp_server.mjs", "--never", "--stderr=waiting for the moon", NULL};
  open_command("node", args, NULL, 600);
  expect_down(LT_E_TIMEOUT, "did not answer initialize within");
  expect_in(lt_mcp_reason(f.mcp).p, "Check that \"node\" starts an MCP server");
  expect_in(lt_mcp_reason(f.mcp).p, "waiting for the moon");
  expect_failure("echo", "{}", LT_E_CLOSED, "did not answer initialize");
  close_it();
}

/* "The `initialize` request MUST NOT be cancelled by clients": whatever the server sees, it is not that. */
static void body_never_cancelled(void) {
  char path[] = "/tmp/lt-mcp-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  char script[128];
  snprintf(script, sizeof script, "cat > %s", path);
  const char *args[] = {"-c", script, NULL};
  open_command("sh", args, NULL, 100);
  expect_down(LT_E_TIMEOUT, "did not answer initialize");
  close_it();
  char seen[1024] = "";
  assert_true(read(fd, seen, sizeof seen - 1) > 0);
  expect_in(seen, "\"initialize\"");
  expect_not_in(seen, "cancelled");
  close(fd);
  unlink(path);
}

static void body_silent_list(void) {
  static const char *const args[] = {"tests/fakes/mcp_server.mjs", "--silent-list", NULL};
  open_command("node", args, NULL, 800);
  expect_down(LT_E_TIMEOUT, "no answer to tools/list");
  close_it();
}

static void body_exit_in_handshake(void) {
  open_fake("--exit=5", NULL);
  expect_down(LT_E_CLOSED, "exited with code 5");
  expect_in(lt_mcp_reason(f.mcp).p, "API_TOKEN is wrong");
  assert_int_equal(f.warned, 0); /* no restart of what never worked */
  close_it();
}

static void body_secrets(void) {
  char path[4096];
  snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
  const char *env[] = {path, "API_TOKEN=hunter2!", "PLAIN=configured-value", "MODE=yes", NULL};
  f.secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(f.secrets, LT_STR("hunter2!")), LT_OK);
  assert_int_equal(lt_secrets_add(f.secrets, LT_STR("configured-value")), LT_OK);
  static const char *const args[] = {"tests/fakes/mcp_server.mjs", "--stderr-env=API_TOKEN", "--exit=1",
                                     "--stderr=say configured-value: yes\n", NULL};
  open_command("node", args, env, 20000);
  expect_down(LT_E_CLOSED, "token is ***!");
  expect_in(lt_mcp_reason(f.mcp).p, "say ***: yes");
  expect_not_in(lt_mcp_reason(f.mcp).p, "hunter2");
  close_it();
  static const char *const alive[] = {"tests/fakes/mcp_server.mjs", NULL};
  open_command("node", alive, env, 20000);
  expect_ready();
  expect_result("env", "{\"name\":\"API_TOKEN\"}", "hunter2!"); /* the child has it, and nothing it was not given */
  expect_result("env", "{\"name\":\"HOME\"}", "(unset)");
  expect_failure("error", "{\"message\":\"bad token hunter2!\"}", LT_E_PROTOCOL, "bad token ***");
  close_it();
  lt_secrets_free(f.secrets);
  f.secrets = NULL;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static void body_calls(void) {
  open_fake(NULL, NULL);
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\""); /* waits for the server by itself */
  expect_result("fail", "{}", "\"isError\":true");
  expect_result("echo", "{\"text\":\"\xC3\xA9 \\ud83d\\ude00 \\u0000\"}", "\xC3\xA9 \xF0\x9F\x98\x80 \\u0000");
  expect_result("echo", " {\n\"text\":\r\n\t\"a\\nb\"\n} ", "\"text\":\"a\\nb\"");
  expect_result("echo", "{\"text\":\"\xED\xA0\xBD|\xED\xB8\x80\"}", "\\ud83d|\\ude00");
  expect_failure("echo", "[1]", LT_E_INVALID, "expected an object");
  expect_failure("echo", "{\"a\":}", LT_E_INVALID, "not a JSON object");
  expect_failure("echo", "", LT_E_INVALID, "not a JSON object");
  expect_failure("echo", "{}\n{\"jsonrpc\":\"2.0\"}", LT_E_INVALID, "not a JSON object");
  expect_failure("nope", "{}", LT_E_INVALID, "error -32602: Unknown tool: nope");
  expect_failure("error", "{\"code\":-32000,\"message\":\"a\\u001b[31mred\\u0007\"}", LT_E_PROTOCOL,
                 "MCP server \"fake\": the server answered with error -32000: ared");
  expect_failure("error", "{\"code\":-32603,\"message\":\"\"}", LT_E_PROTOCOL, "error -32603");
  expect_failure("error", "{\"code\":\"x\"}", LT_E_PROTOCOL, "no code and message");
  expect_failure("odd-error", "{}", LT_E_PROTOCOL, "no code and message");
  expect_failure("no-result", "{}", LT_E_PROTOCOL, "expected an object, got nothing");
  expect_failure("text-result", "{}", LT_E_PROTOCOL, "expected an object, got string");
  expect_result("add", "{\"a\":20,\"b\":3}", "\"23\"");
  close_it();
  assert_string_equal(f.warnings, "");
}

static void body_parallel(void) {
  enum { N = 60 };
  static job jobs[N];
  memset(jobs, 0, sizeof jobs);
  open_fake(NULL, NULL);
  expect_ready();
  for (size_t i = 0; i < N; i++) {
    jobs[i].tool = "slow";
    snprintf(jobs[i].args, sizeof jobs[i].args, "{\"ms\":%zu}", 200 + N - i);
  }
  uint64_t since = lt_loop_now_ms(loop);
  start_jobs(jobs, N);
  await_jobs();
  assert_true(lt_loop_now_ms(loop) - since < N * 200 / 2);
  for (size_t i = 0; i < N; i++) {
    char want[32];
    snprintf(want, sizeof want, "slept %zu\"", 200 + N - i);
    assert_int_equal(jobs[i].status, LT_OK);
    expect_in(jobs[i].text, want);
  }
  close_it();
}

static void body_timeout(void) {
  open_fake(NULL, NULL);
  expect_ready();
  lt_mcp_call_options soon = {.timeout_ms = 50};
  expect_failure_with("late", "{\"ms\":150}", &soon, LT_E_TIMEOUT, "no answer to tool \"late\" within 50 ms");
  expect_result("cancelled", "{}", "[{\"requestId\":4,\"reason\":\"timed out\"}]");
  expect_result("slow", "{\"ms\":200}", "slept"); /* the late answer has come and gone */
  close_it();
  assert_string_equal(f.warnings, "");
}

static lt_cancel cancel;

static void fire_cancelled(void *arg) {
  (void)arg;
  lt_loop_sleep(loop, 30);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
}

static void fire_timeout(void *arg) {
  (void)arg;
  lt_loop_sleep(loop, 30);
  lt_cancel_fire(&cancel, LT_E_TIMEOUT);
}

static void body_cancel(void) {
  open_fake(NULL, NULL);
  expect_ready();
  lt_mcp_call_options options = {.cancel = &cancel};
  lt_cancel_init(&cancel);
  assert_int_equal(lt_loop_spawn(loop, fire_cancelled, NULL, NULL), LT_OK);
  expect_failure_with("hang", "{}", &options, LT_E_CANCELLED, "tool \"hang\" was cancelled");
  expect_result("cancelled", "{}", "[{\"requestId\":4,\"reason\":\"cancelled by the caller\"}]");
  /* One that was cancelled before it began is never heard of. */
  expect_failure_with("hang", "{\"second\":2}", &options, LT_E_CANCELLED, "cancelled");
  lt_cancel_init(&cancel);
  assert_int_equal(lt_loop_spawn(loop, fire_timeout, NULL, NULL), LT_OK);
  expect_failure_with("hang", "{}", &options, LT_E_TIMEOUT, "the deadline came");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("heard", "{}", NULL, &out, NULL), LT_OK);
  expect_not_in(out.p, "second");
  lt_buf_release(&out);
  /* A cancel that fires after the answer does no harm. */
  lt_cancel_init(&cancel);
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("add", "{\"a\":1,\"b\":1}", &options, &out, NULL), LT_OK);
  lt_buf_release(&out);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  close_it();
  assert_string_equal(f.warnings, "");
}

static char steps[256];

static void on_progress(void *arg, double progress, double total, lt_str message) {
  (void)arg;
  size_t used = strlen(steps);
  snprintf(steps + used, sizeof steps - used, "%g/%g %.*s;", progress, total, LT_STR_ARG(message));
}

static void body_progress(void) {
  open_fake(NULL, NULL);
  expect_ready();
  steps[0] = '\0';
  lt_mcp_call_options options = {.on_progress = on_progress};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(call_with("progress", "{\"steps\":2}", &options, &out, NULL), LT_OK);
  expect_in(out.p, "token 4");
  assert_string_equal(steps, "1/2 step 1;2/2 step 2;");
  lt_buf_release(&out);
  expect_result("progress", "{\"steps\":2}", "token undefined");
  assert_string_equal(steps, "1/2 step 1;2/2 step 2;");
  close_it();
}

static void body_big(void) {
  open_fake(NULL, NULL);
  expect_ready();
  lt_buf out;
  lt_buf_init(&out, 64 * LT_MIB);
  assert_int_equal(call_with("big", "{\"bytes\":3000000}", NULL, &out, NULL), LT_OK);
  assert_true(out.n > 3000000);
  lt_buf_clear(&out);
  assert_int_equal(call_with("dense", "{\"items\":1000000}", NULL, &out, NULL), LT_OK);
  assert_true(out.n > 2000000);
  lt_buf_clear(&out);
  lt_buf args;
  lt_buf_init(&args, 8 * LT_MIB);
  lt_buf_addc(&args, "{\"text\":\"");
  memset(lt_buf_reserve(&args, 2500000), 'y', 2500000);
  lt_buf_commit(&args, 2500000);
  lt_buf_addc(&args, "\"\n}");
  assert_int_equal(call_with("echo", args.p, NULL, &out, NULL), LT_OK);
  assert_true(out.n > 5000000);
  lt_buf_release(&args);
  lt_buf_release(&out);
  expect_result("deep", "{\"n\":300}", "[[[");
  expect_failure("deep", "{\"n\":100000}", LT_E_LIMIT, "deeper than 512 levels: ask the tool for less");
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  close_it();
}

static void body_too_long(void) {
  open_fake(NULL, NULL);
  expect_ready();
  expect_failure("big", "{\"bytes\":68000000}", LT_E_LIMIT, "over 64 MiB");
  assert_null(strstr(f.warnings, "dropped")); /* whoever has asked is told, and nobody else */
  expect_result("add", "{\"a\":1,\"b\":2}", "\"3\"");
  close_it();
}

FLOW(ready)
FLOW(old_versions)
FLOW(bad_version)
FLOW(init_error)
FLOW(no_tools)
FLOW(pages)
FLOW(circle)
FLOW(endless)
FLOW(too_many_tools)
FLOW(bad_list)
FLOW(rude_tools)
FLOW(changes_at_start)
FLOW(list_changed)
FLOW(not_found)
FLOW(never)
FLOW(never_cancelled)
FLOW(silent_list)
FLOW(exit_in_handshake)
FLOW(secrets)
FLOW(calls)
FLOW(parallel)
FLOW(timeout)
FLOW(cancel)
FLOW(progress)
FLOW(big)
FLOW(too_long)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ready),
      cmocka_unit_test(test_old_versions),
      cmocka_unit_test(test_bad_version),
      cmocka_unit_test(test_init_error),
      cmocka_unit_test(test_no_tools),
      cmocka_unit_test(test_pages),
      cmocka_unit_test(test_circle),
      cmocka_unit_test(test_endless),
      cmocka_unit_test(test_too_many_tools),
      cmocka_unit_test(test_bad_list),
      cmocka_unit_test(test_rude_tools),
      cmocka_unit_test(test_changes_at_start),
      cmocka_unit_test(test_list_changed),
      cmocka_unit_test(test_not_found),
      cmocka_unit_test(test_never),
      cmocka_unit_test(test_never_cancelled),
      cmocka_unit_test(test_silent_list),
      cmocka_unit_test(test_exit_in_handshake),
      cmocka_unit_test(test_secrets),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_parallel),
      cmocka_unit_test(test_timeout),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_big),
      cmocka_unit_test(test_too_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
