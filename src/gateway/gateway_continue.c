/* continue_run: waits on for a run that was not done, also one that another process began. */
#include "gateway/gateway_pages.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"

static lt_status gateway_continue_describe(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_buf_addc(out,
              "Wait on for a run of execute_code that was not done, and get its answer: after minutes, in another "
              "session, after a restart. It goes on in the same program; calls that were made are not made again.");
  if (gateway->session->config.mcp_approves_by_call) {
    lt_buf_addc(out,
                " With `decision` and `call` it decides about a call that waits for approval: only as the user has "
                "said, never by yourself.");
  }
  return lt_buf_check(out, err, "no memory for the description");
}

/* --- A decision --------------------------------------------------------------------------------------------------- */
typedef struct continue_decision {
  lt_str call;
  lt_decision decision;
} continue_decision;

/* LT_E_NOTFOUND: none is given. */
static lt_status gateway_continue_read(const lt_gateway *gateway, lt_json arguments, lt_arena *arena,
                                       continue_decision *ret, lt_err *err) {
  lt_json decision = lt_json_get(arguments, "decision");
  bool is_approved = lt_json_str_eq(decision, LT_STR("approve"));
  *ret = (continue_decision){.decision = {.is_approved = is_approved}};
  if (!lt_json_exists(decision) || lt_json_typeof(decision) == LT_JSON_NULL) {
    return LT_E_NOTFOUND;
  }
  if (!gateway->session->config.mcp_approves_by_call) {
    return lt_fail(err, LT_E_DENIED,
                   "decision: this gateway takes no decision from a call: a person decides with `lathe approve` or "
                   "`lathe reject`, as the run's answer says (mcp.approveByCall: true would take it)");
  }
  if (!is_approved && !lt_json_str_eq(decision, LT_STR("reject"))) {
    return lt_fail(err, LT_E_INVALID, "decision: expected \"approve\" or \"reject\"");
  }
  if (!lt_json_str(lt_json_get(arguments, "call"), arena, &ret->call)) {
    return lt_fail(err, LT_E_INVALID, "call: expected the id of the call that waits, as the run's answer names it");
  }
  (void)lt_json_str(lt_json_get(arguments, "reason"), arena, &ret->decision.reason);
  return LT_OK;
}

static lt_status gateway_continue_decide(const lt_gateway_request *r, lt_str run, const continue_decision *what,
                                         lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  lt_status status = lt_agent_decide(r->gateway->agent, r->peer->user, run, what->call, &what->decision, &why);
  if (status == LT_E_NOTFOUND) {
    return lt_fail(err, LT_E_NOTFOUND,
                   "call: no such call of this run waits for approval: call continue_run without it");
  }
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

/* --- The call ----------------------------------------------------------------------------------------------------- */
static lt_status gateway_continue_call(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                                       lt_err *err) LT_YIELDS {
  lt_str wanted;
  char run[LT_STORE_ID_BYTES + 1];
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  if (!lt_json_str(lt_json_get(arguments, "run"), &arena, &wanted)) {
    return lt_fail(err, LT_E_INVALID, "run: expected the id that the answer of execute_code named");
  }
  continue_decision decision;
  lt_status given = gateway_continue_read(request->gateway, arguments, &arena, &decision, err);
  if (given == LT_OK) {
    LT_TRY(lt_gateway_runs_find(request, wanted, run, err));
    LT_TRY(gateway_continue_decide(request, lt_str_of(run), &decision, err));
  } else if (given != LT_E_NOTFOUND) {
    return given;
  }
  LT_TRY(lt_gateway_runs_continue(request, wanted, run, err));
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
    .deciding_annotations = "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false}",
    .deciding_input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"run\":{\"type\":\"string\",\"description\":\"The run's id\"},"
        "\"decision\":{\"type\":\"string\",\"enum\":[\"approve\",\"reject\"],\"description\":\"What the user has "
        "decided "
        "about a call that waits\"},"
        "\"call\":{\"type\":\"string\",\"description\":\"That call's id\"},"
        "\"reason\":{\"type\":\"string\",\"description\":\"Why it is rejected\"}},"
        "\"required\":[\"run\"]}",
    .describe = gateway_continue_describe,
    .call = gateway_continue_call,
};
