/* continue_run: waits on for a run that was not done, also one that another process began. */
#include "gateway/gateway_pages.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"

static lt_status gateway_continue_describe(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  (void)gateway;
  lt_buf_addc(out,
              "Wait on for a run of execute_code that was not done, and get its answer: after minutes, in another "
              "session, after a restart. It goes on in the same program; calls that were made are not made again.");
  return lt_buf_check(out, err, "no memory for the description");
}

static lt_status gateway_continue_call(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                                       lt_err *err) LT_YIELDS {
  lt_str wanted;
  char run[LT_STORE_ID_BYTES + 1];
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  if (!lt_json_str(lt_json_get(arguments, "run"), &arena, &wanted)) {
    return lt_fail(err, LT_E_INVALID, "run: expected the id that the answer of execute_code named");
  }
  LT_TRY(lt_gateway_runs_continue(request->gateway, wanted, run, err));
  LT_TRY(lt_gateway_runs_answer(request, lt_str_of(run), ret_answer, err));
  return lt_gateway_pages_cut(lt_str_of(run), ret_answer, err);
}

const lt_gateway_tool lt_gateway_continue = {
    .name = "continue_run",
    .title = "Get the answer of a run",
    .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true}",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"run\":{\"type\":\"string\",\"description\":\"The run's id\"}},\"required\":[\"run\"]}",
    .describe = gateway_continue_describe,
    .call = gateway_continue_call,
};
