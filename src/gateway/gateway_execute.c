/* execute_code: runs a program that calls the tools of all servers. */
#include "gateway/gateway_pages.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_session.h"
#include "gateway/gateway_text.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"

static const char *const gateway_languages[] = {"javascript", "typescript", "python"};

static lt_status gateway_execute_describe(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_buf_addc(out, "Run a program that calls tools as functions. Tools of: ");
  LT_TRY(lt_gateway_text_servers(gateway, out, err));
  lt_buf_addc(
      out,
      ".\nUse it for every task that needs these tools: several calls, loops, filters and sums in one program, so that "
      "only the answer comes back. In JavaScript (the default) a tool's function takes one object and returns its "
      "value; no await is needed, Promise.all works. The value of the last expression, or of a top-level return, is "
      "the answer; console.log adds lines to it. parallel([{tool, input}]) makes calls side by side, "
      "discoverTools(\"words\") and toolSchema(\"tool.id\") find tools, tools[\"tool.id\"](input) calls one by its id. "
      "In Python a tool is server_tool(name=value) and print() adds to the answer; in TypeScript functions return "
      "promises of {success, value, error}. There are no files, no network and no other modules: the tools are the "
      "way out. A call that fails throws an error that says what to do.");
  lt_gateway_text_routing(gateway, out);
  lt_buf_addc(out, "\n");
  LT_TRY(lt_gateway_text_listing(gateway, out, err));
  return lt_buf_check(out, err, "no memory for the description");
}

static bool gateway_execute_knows(lt_str language) {
  for (size_t i = 0; i < sizeof gateway_languages / sizeof gateway_languages[0]; i++) {
    if (lt_str_eqc(language, gateway_languages[i])) {
      return true;
    }
  }
  return false;
}

static lt_status gateway_execute_read(lt_json arguments, lt_arena *arena, lt_gateway_program *ret, lt_err *err) {
  lt_json language = lt_json_get(arguments, "language"), timeout = lt_json_get(arguments, "timeout");
  *ret = (lt_gateway_program){.language = LT_STR("javascript")};
  if (!lt_json_str(lt_json_get(arguments, "code"), arena, &ret->code)) {
    return lt_fail(err, LT_E_INVALID, "code: expected the program as a string");
  }
  if (lt_json_exists(language) && lt_json_typeof(language) != LT_JSON_NULL &&
      (!lt_json_str(language, arena, &ret->language) || !gateway_execute_knows(ret->language))) {
    return lt_fail(err, LT_E_INVALID, "language: expected \"javascript\", \"typescript\" or \"python\"");
  }
  if (lt_json_exists(timeout) && lt_json_typeof(timeout) != LT_JSON_NULL &&
      (!lt_json_int(timeout, &ret->timeout_ms) || ret->timeout_ms < 1)) {
    return lt_fail(err, LT_E_INVALID, "timeout: expected a number of milliseconds, 1 or more");
  }
  return lt_gateway_session_read(arguments, arena, ret->language, &ret->session, err);
}

static lt_status gateway_execute_call(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                                      lt_err *err) LT_YIELDS {
  lt_gateway_program program;
  char run[LT_STORE_ID_BYTES + 1];
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  LT_TRY(gateway_execute_read(arguments, &arena, &program, err));
  LT_TRY(lt_gateway_runs_start(request, &program, run, err));
  lt_status status = lt_gateway_runs_answer(request, lt_str_of(run), ret_answer, err);
  if (request->is_cancelled) { /* nobody knows of the run, and nobody wants its effects */
    (void)lt_agent_cancel(request->gateway->agent, request->peer->user, lt_str_of(run), NULL);
  }
  LT_TRY(status);
  return lt_gateway_pages_cut(lt_str_of(run), ret_answer, err);
}

const lt_gateway_tool lt_gateway_execute = {
    .name = "execute_code",
    .title = "Run a program that calls tools",
    .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":\"string\",\"description\":\"The program\"},"
        "\"language\":{\"type\":\"string\",\"enum\":[\"javascript\",\"typescript\",\"python\"],"
        "\"description\":\"javascript unless said\"}," LT_GATEWAY_SESSION_SCHEMA
        ",\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Milliseconds, 30000 unless said; waiting "
        "for an "
        "approval does not count\"}},"
        "\"required\":[\"code\"]}",
    .describe = gateway_execute_describe,
    .call = gateway_execute_call,
};
