/* continue_run: waits on for a run that was not done, also one that another process began. */
#include <stdio.h>
#include <stdlib.h>

#include "gateway/gateway_pages.h"
#include "gateway/gateway_runs.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"
#include "store/store_decisions.h"

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

/* The call that waits, as it was shown. Errors: LT_E_NOTFOUND. */
static lt_status gateway_continue_find(lt_json prompt, lt_arena *arena, lt_decision_row *row, lt_err *err) {
  for (lt_json_iter it = lt_json_each(lt_json_get(prompt, "output")); lt_json_next(&it);) {
    lt_json question = lt_json_get(lt_json_get(it.value, "result"), "question");
    lt_str text;
    if (lt_json_str_eq(lt_json_get(it.value, "id"), row->call) && lt_json_str(question, arena, &text) &&
        lt_json_str(lt_json_get(it.value, "function"), arena, &row->tool)) {
      char digits[17];
      snprintf(digits, sizeof digits, "%.*s", LT_STR_ARG(text));
      row->hash = strtoull(digits, NULL, 16);
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_NOTFOUND, "call: no such call of this run waits for approval: call continue_run without it");
}

/* Decided here where the run is in this process, else by a row, which its process takes, or the one that goes on. */
static lt_status gateway_continue_decide(const lt_gateway_request *r, lt_str run, const continue_decision *what,
                                         lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  lt_store *store = lt_toolbox_db(r->gateway->session->toolbox);
  lt_decision_row row = {.prompt = run,
                         .verb = what->decision.is_approved ? LT_VERB_APPROVE : LT_VERB_REJECT,
                         .user = r->peer->user,
                         .call = what->call,
                         .decision = what->decision};
  LT_TRY(lt_store_prompt_get(store, r->peer->user, run, &prompt, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&prompt), &doc, err));
  LT_TRY(gateway_continue_find(lt_json_root(&doc), &arena, &row, err));
  if (lt_agent_decide(r->gateway->agent, r->peer->user, run, what->call, &what->decision, NULL) == LT_OK) {
    return LT_OK;
  }
  int64_t id;
  return lt_store_decision_put(store, &row, &id, err);
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
