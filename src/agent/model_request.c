#include "agent/model_request.h"

#include "base/clock.h"
#include "base/limits.h"

/* Borrows: `masked`, which is empty where there are no secrets. */
static lt_status model_request_mask(const lt_secrets *secrets, lt_str *json, lt_buf *masked, lt_err *err) {
  if (lt_secrets_in(secrets, *json)) {
    lt_secrets_mask_json(secrets, *json, masked);
    *json = lt_buf_view(masked);
  }
  return lt_buf_check(masked, err, "no memory to mask secrets");
}

static lt_status model_request_ask(const lt_agent_options *options, const lt_completion_request *request,
                                   lt_completion *completion, lt_err *err) LT_YIELDS {
  lt_monitor *monitor = options->monitor;
  lt_trace_context trace = lt_trace_context_child(request->trace);
  lt_completion_request traced = *request;
  traced.trace = &trace;
  lt_monitor_question told = {.purpose = request->purpose,
                              .run = request->run,
                              .model = request->model,
                              .trace = &trace,
                              .parent = request->trace,
                              .request = &traced};
  told.number = monitor != NULL ? ++monitor->numbered : 0;
  told.began_us = lt_clock_monotonic_us();
  lt_monitor_tell_question(monitor, &told);
  lt_status status = lt_model_complete(options->http, &traced, completion, err);
  told.has_ended = true;
  told.completion = completion;
  told.status = status;
  told.took_us = lt_clock_monotonic_us() - told.began_us;
  lt_monitor_tell_question(monitor, &told);
  return status;
}

lt_status lt_model_request_complete(const lt_agent_options *options, const lt_completion_request *request,
                                    lt_completion *completion, lt_err *err) {
  lt_completion_request shown = *request;
  LT_AUTO_BUF(messages, LT_HTTP_BODY_MAX_BYTES);
  LT_AUTO_BUF(tools, LT_HTTP_BODY_MAX_BYTES);
  LT_TRY(model_request_mask(options->secrets, &shown.messages, &messages, err));
  LT_TRY(model_request_mask(options->secrets, &shown.tools, &tools, err));
  return model_request_ask(options, &shown, completion, err);
}

void lt_model_request_put_retry(lt_json_writer *w, const lt_retry_notice *notice) {
  lt_json_put_pair(w, "reason", lt_str_of(notice->why));
  lt_json_key(w, "waitMs");
  lt_json_put_int(w, (int64_t)notice->wait_ms);
  lt_json_key(w, "try");
  lt_json_put_int(w, notice->next_try);
  lt_json_key(w, "tries");
  lt_json_put_int(w, notice->tries_max);
}
