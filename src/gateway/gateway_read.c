/* read_output: another piece of an answer that was too long for one. */
#include "gateway/gateway_pages.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"

static lt_status gateway_read_describe(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  (void)gateway;
  lt_buf_addc(out,
              "Read a piece of a run's answer that was too long to be shown at once. Prefer a program that returns "
              "less.");
  return lt_buf_check(out, err, "no memory for the description");
}

static lt_status gateway_read_call(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                                   lt_err *err) LT_YIELDS {
  lt_str wanted;
  int64_t from = 0;
  char run[LT_STORE_ID_BYTES + 1];
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json at = lt_json_get(arguments, "from");
  if (!lt_json_str(lt_json_get(arguments, "run"), &arena, &wanted)) {
    return lt_fail(err, LT_E_INVALID, "run: expected the id that the answer of execute_code named");
  }
  if (lt_json_exists(at) && (!lt_json_int(at, &from) || from < 0)) {
    return lt_fail(err, LT_E_INVALID, "from: expected a number of bytes, 0 or more");
  }
  LT_TRY(lt_gateway_runs_find(request, wanted, run, err));
  LT_TRY(lt_gateway_runs_tell(request, lt_str_of(run), ret_answer, err));
  lt_buf_clear(&ret_answer->blocks); /* they came with the first piece */
  return lt_gateway_pages_take(lt_str_of(run), (uint64_t)from, ret_answer, err);
}

const lt_gateway_tool lt_gateway_read = {
    .name = "read_output",
    .title = "Read more of a run's answer",
    .annotations = "{\"readOnlyHint\":true}",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"run\":{\"type\":\"string\",\"description\":\"The run's id\"},"
        "\"from\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"Where the piece begins, in bytes\"}},"
        "\"required\":[\"run\"]}",
    .describe = gateway_read_describe,
    .call = gateway_read_call,
};
