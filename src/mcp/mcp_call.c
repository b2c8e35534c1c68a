/* A call of a tool: its arguments, its headers, and the rounds of questions that a modern server may want. */
#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "mcp/mcp_param_headers.h"
#include "mcp/mcp_session_impl.h"

typedef struct mcp_call_job {
  const lt_mcp_session_request *wanted;
  const lt_mcp_self *self;
  lt_mcp_call_extra extra;
  int64_t id;
  bool wants_headers; /* the tool's parameters are mirrored into headers */
  lt_buf message, headers;
  lt_status status;
  lt_err err;
} mcp_call_job;

static void mcp_call_write(void *arg) {
  mcp_call_job *job = arg;
  lt_str arguments = lt_str_trim(job->wanted->arguments);
  job->status = lt_json_check(arguments, &job->err);
  if (job->status == LT_OK && arguments.p[0] != '{') {
    job->status = lt_fail(&job->err, LT_E_INVALID, "expected an object");
  }
  if (job->status == LT_OK && job->wants_headers) {
    lt_mcp_param_headers_add(&job->headers, job->wanted->input_schema, arguments);
    job->status = job->headers.status;
  }
  if (job->status == LT_OK && job->wanted->method != NULL) {
    lt_mcp_write_request(&job->message, job->id, job->self, job->wanted->method, arguments, &job->extra);
    job->status = job->message.status;
  } else if (job->status == LT_OK) {
    lt_mcp_write_call(&job->message, job->id, job->self, job->wanted->tool, arguments, &job->extra);
    job->status = job->message.status;
  }
}

static lt_status mcp_call_encode(lt_mcp_session *s, mcp_call_job *job, lt_err *err) LT_YIELDS {
  if (job->wanted->arguments.n < LT_MCP_OFFLOAD_BYTES ||
      lt_loop_offload(s->o.loop, mcp_call_write, job, NULL) != LT_OK) {
    mcp_call_write(job);
  }
  if (job->status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "the tool's arguments are over %lu MiB or nested too deep",
                   LT_MCP_LINE_MAX_BYTES / LT_MIB);
  }
  if (job->status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tool's arguments");
  }
  if (job->status != LT_OK) {
    return lt_fail(err, LT_E_INVALID, "the tool's arguments are not a JSON object: %s", lt_err_msg(&job->err));
  }
  return LT_OK;
}

static lt_status mcp_call_send(lt_mcp_session *s, lt_mcp_request *request, mcp_call_job *job, const lt_mcp_question *q,
                               lt_err *err) LT_YIELDS {
  lt_status status = mcp_call_encode(s, job, err);
  if (status != LT_OK) {
    if (!request->done) {
      lt_mcp_requests_leave(&s->calls, request);
    } else if (request->status == LT_OK) {
      lt_mcp_result_release(&request->answer);
    }
    return status;
  }
  LT_AUTO_BUF(name, LT_HTTP_HEADERS_MAX_BYTES);
  lt_mcp_param_headers_encode(&name, job->wanted->tool);
  const lt_mcp_outgoing about = {.method = job->wanted->method != NULL ? job->wanted->method : "tools/call",
                                 .name = lt_buf_view(&name),
                                 .headers = lt_buf_view(&job->headers)};
  return lt_mcp_session_ask(s, request, &job->message, &about, q, err);
}

/* The header is for what lies between, such as a proxy: the server reads `_meta`. */
static void mcp_call_add_trace(lt_buf *headers, const lt_trace_context *trace) {
  char parent[LT_TRACE_PARENT_LENGTH + 1];
  if (!lt_trace_context_has_span(trace)) {
    return;
  }
  lt_trace_context_print(trace, parent);
  lt_buf_printf(headers, "traceparent: %s\n", parent);
  if (trace->state.n > 0) {
    lt_buf_printf(headers, "tracestate: %.*s\n", LT_STR_ARG(trace->state));
  }
}

/* One request, and its answer. */
static lt_status mcp_call_ask(lt_mcp_session *s, lt_mcp_session_request *wanted, const lt_mcp_call_extra *extra,
                              uint64_t deadline_ms, lt_mcp_result *ret_result, lt_err *err) LT_YIELDS {
  char what[128];
  lt_str tool = wanted->tool;
  if (wanted->method != NULL) {
    snprintf(what, sizeof what, "%s", wanted->method);
  } else {
    snprintf(what, sizeof what, "tool \"%.*s\"", (int)(tool.n > 100 ? 100 : tool.n), tool.p ? tool.p : "");
  }
  const lt_mcp_call_options *o = wanted->options;
  lt_mcp_request request = {.on_progress = o->on_progress, .arg = o->arg};
  LT_TRY(lt_mcp_session_enter(s, &request, err));
  mcp_call_job job = {.wanted = wanted, .self = &s->self, .extra = *extra, .id = request.id};
  job.wants_headers = wanted->method == NULL && s->self.is_modern && !lt_mcp_link_is_process(s->link);
  lt_buf_init(&job.message, LT_MCP_LINE_MAX_BYTES);
  lt_buf_init(&job.headers, LT_HTTP_HEADERS_MAX_BYTES);
  mcp_call_add_trace(&job.headers, extra->trace);
  uint64_t left_ms = deadline_ms == UINT64_MAX ? UINT64_MAX : lt_mcp_session_left_of(s, deadline_ms);
  lt_mcp_question q = {.what = what, .timeout_ms = left_ms, .cancel = o->cancel};
  lt_status status = mcp_call_send(s, &request, &job, &q, err);
  lt_buf_release(&job.message);
  lt_buf_release(&job.headers);
  wanted->is_unheard = status != LT_OK && request.is_unheard;
  if (status != LT_OK && o->ret_code != NULL) {
    *o->ret_code = request.code;
  }
  if (status == LT_OK) {
    *ret_result = request.answer;
    ret_result->result.doc = &ret_result->doc;
  }
  return status;
}

/* --- More input --------------------------------------------------------------------------------------------------- */

/* "Servers [...] MUST include this field. [...] the client MUST treat the absent field as "complete"" (2026-07-28,
 * Result)
 */
static bool mcp_call_wants_input(const lt_mcp_session *s, lt_json result) {
  return s->self.is_modern && lt_json_str_eq(lt_json_get(result, "resultType"), LT_STR("input_required"));
}

/* Collects what the next request says. "the client MUST echo back the exact value of that field [...]. If the
 * `InputRequiredResult` does not contain a `requestState` field, the client MUST NOT include one in the retry." (MRTR)
 */
static lt_status mcp_call_gather(lt_mcp_session *s, const lt_mcp_session_request *wanted, lt_json result,
                                 lt_buf *responses, lt_buf *state, lt_err *err) LT_YIELDS {
  lt_json questions = lt_json_get(result, "inputRequests");
  lt_buf_clear(responses);
  lt_buf_clear(state);
  lt_json state_in = lt_json_get(result, "requestState");
  if (lt_json_typeof(state_in) == LT_JSON_STRING) {
    lt_buf_add(state, lt_json_text(state_in));
  }
  if (lt_json_exists(questions)) {
    LT_TRY(lt_mcp_questions_answer_all(s, questions, wanted->options, responses, err));
  } else if (state->n == 0) {
    return lt_fail(err, LT_E_PROTOCOL, "the server wants more input, and does not say which");
  }
  return lt_status_first(lt_buf_check(responses, err, "no memory for what the server asks"),
                         lt_buf_check(state, err, "no memory for what the server asks"));
}

lt_status lt_mcp_session_call(lt_mcp_session *s, lt_mcp_session_request *wanted, lt_mcp_result *ret_result,
                              lt_err *err) {
  uint64_t now_ms = lt_loop_now_ms(s->o.loop);
  uint64_t deadline_ms = wanted->timeout_ms > UINT64_MAX - now_ms ? UINT64_MAX : now_ms + wanted->timeout_ms;
  LT_AUTO_BUF(responses, LT_MCP_LINE_MAX_BYTES);
  LT_AUTO_BUF(state, LT_MCP_LINE_MAX_BYTES);
  if (s->self.is_modern) { /* "Every request declares [...] its capabilities": they may have changed */
    lt_mcp_questions_offer(s);
  }
  for (int round = 0; round < LT_MCP_ROUNDS_MAX; round++) {
    const lt_mcp_call_extra extra = {.wants_progress = wanted->options->on_progress != NULL,
                                     .input_responses = lt_buf_view(&responses),
                                     .request_state = lt_buf_view(&state),
                                     .trace = wanted->options->trace};
    LT_TRY(mcp_call_ask(s, wanted, &extra, deadline_ms, ret_result, err));
    if (wanted->options->leaves_input || !mcp_call_wants_input(s, ret_result->result)) {
      return LT_OK;
    }
    uint64_t asked_ms = lt_loop_now_ms(s->o.loop);
    lt_status status = mcp_call_gather(s, wanted, ret_result->result, &responses, &state, err);
    lt_mcp_result_release(ret_result);
    LT_TRY(status);
    uint64_t waited_ms = lt_loop_now_ms(s->o.loop) - asked_ms; /* for a person: no time of the server's */
    deadline_ms = deadline_ms > UINT64_MAX - waited_ms ? UINT64_MAX : deadline_ms + waited_ms;
  }
  return lt_fail(err, LT_E_LIMIT, "the server has asked for more input %d times for one call", LT_MCP_ROUNDS_MAX);
}
