/* What others see of a call: masked texts, events, times. */
#include "base/clock.h"
#include "base/limits.h"
#include "tool/door_call_impl.h"

/* --- Masking of secrets ------------------------------------------------------------------------------------------- */
lt_str lt_door_shown_input(lt_door_call_state *c) {
  if (c->asked_input.p != NULL) {
    return c->asked_input;
  }
  if (c->masked_input.n == 0) {
    if (!lt_secrets_in(c->secrets, c->input)) {
      return c->input;
    }
    lt_secrets_mask_json(c->secrets, c->input, &c->masked_input);
  }
  return lt_buf_view_or(&c->masked_input, LT_STR("{}")); /* never a secret */
}

lt_str lt_door_shown_edit(lt_door_call_state *c) {
  if (c->asked_input.p == NULL || !lt_secrets_in(c->secrets, c->input)) {
    return c->asked_input.p == NULL ? LT_STR("") : c->input;
  }
  if (c->masked_edit.n == 0) {
    lt_secrets_mask_json(c->secrets, c->input, &c->masked_edit);
  }
  return lt_buf_view_or(&c->masked_edit, LT_STR("{}")); /* never a secret */
}

lt_str lt_door_shown_answer(const lt_door_call_state *c, lt_status status, lt_buf *masked) {
  lt_str answer = lt_buf_view(c->out);
  if (!lt_secrets_in(c->secrets, answer)) {
    return answer;
  }
  if (status == LT_OK) {
    lt_secrets_mask_json(c->secrets, answer, masked);
  } else {
    lt_secrets_mask(c->secrets, answer, masked);
  }
  return lt_buf_view_or(masked, LT_STR("\"***\"")); /* never a secret */
}

void lt_door_mask_value(lt_door_call_state *c) {
  LT_AUTO_BUF(masked, c->out->max);
  lt_str value = lt_door_shown_answer(c, LT_OK, &masked);
  if (value.p != c->out->p) {
    lt_buf_clear(c->out);
    lt_buf_add(c->out, value);
  }
}

void lt_door_put_message(lt_door_call_state *c, lt_status status) {
  if (c->out->status != LT_OK) {
    lt_buf_clear(c->out);
  }
  if (c->out->n == 0) {
    bool has_message = c->err->status != LT_OK && c->err->msg[0] != '\0';
    lt_buf_addc(c->out, has_message ? c->err->msg : lt_status_text(status));
  }
  lt_secrets_mask_buf(c->secrets, c->out);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */
bool lt_door_has_listener(const lt_door_call_state *c) {
  return c->caller->on_call != NULL || lt_monitor_wants_calls(lt_door_monitor(c->door));
}

static void door_send(const lt_door_call_state *c, const lt_call_event *event) {
  lt_monitor_tell_call(lt_door_monitor(c->door), event);
  if (c->caller->on_call != NULL) {
    c->caller->on_call(c->caller->arg, event);
  }
}

void lt_door_tell(lt_door_call_state *c, lt_call_stage stage, lt_status status, lt_str answer) {
  if (!lt_door_has_listener(c)) {
    return;
  }
  uint64_t now_us = lt_clock_monotonic_us();
  c->started_us = stage == LT_CALL_STARTED ? now_us : c->started_us;
  c->trace.ended_us = now_us;
  LT_AUTO_BUF(id, LT_JSON_MAX_BYTES);
  if (c->tool == NULL) {
    lt_secrets_mask(c->secrets, c->id, &id);
  }
  const lt_call_event event = {
      .stage = stage,
      .call = c->number,
      .run = c->caller->run,
      .seq = c->options.seq,
      .tool = c->tool != NULL ? c->id : lt_buf_view(&id),
      .input = lt_door_shown_input(c),
      .edited_input = lt_door_shown_edit(c),
      .status = status,
      .answer = answer,
      .is_known = c->tool != NULL,
      .took_us = c->started_us > 0 ? now_us - c->started_us : 0,
      .trace = stage == LT_CALL_FINISHED ? &c->trace : NULL,
  };
  c->has_ended = stage == LT_CALL_FINISHED;
  door_send(c, &event);
}

void lt_door_tell_progress(void *arg, double progress, double total, lt_str message) {
  lt_door_call_state *c = arg;
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  lt_secrets_mask(c->secrets, message, &masked);
  const lt_call_event event = {
      .stage = LT_CALL_PROGRESS,
      .call = c->number,
      .run = c->caller->run,
      .seq = c->options.seq,
      .tool = c->id,
      .input = lt_door_shown_input(c),
      .answer = lt_buf_view_or(&masked, LT_STR("***")),
      .progress = progress,
      .progress_total = total,
  };
  door_send(c, &event);
}

/* --- The trace ---------------------------------------------------------------------------------------------------- */
void lt_door_begin_trace(lt_door_call_state *c) {
  if (!lt_door_has_listener(c)) {
    return;
  }
  c->trace.begun_us = lt_clock_monotonic_us();
  c->trace.parent = c->caller->trace;
  c->trace.self = lt_trace_context_child(&c->trace.parent);
  c->options.trace = &c->trace.self;
  c->options.ret_peer = &c->trace.peer;
}

void lt_door_trace_question(lt_door_call_state *c) {
  if (c->trace.begun_us != 0 && c->trace.asked_us == 0) {
    c->trace.asked_us = lt_clock_monotonic_us();
  }
}

void lt_door_trace_answer(lt_door_call_state *c) {
  c->trace.decided_us = c->trace.asked_us != 0 ? lt_clock_monotonic_us() : 0;
}
