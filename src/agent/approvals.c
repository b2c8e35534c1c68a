#include "agent/approvals.h"

#include "agent/check.h"
#include "agent/own.h"

typedef struct lt_pending {
  struct lt_pending *next;
  lt_str id;     /* of the tool output */
  uint64_t hash; /* of what is asked about */
  lt_wait wait;
  bool decided;
  bool approved;
  lt_buf *reason; /* why not */
} lt_pending;

static lt_outbox *outbox_of(const lt_approvals *a) {
  return &a->turn->own->outbox;
}

/* The state follows whether anybody is asked. */
static lt_status set_state(lt_approvals *a, lt_prompt_state state, lt_err *err) {
  if (a->turn->state == state) {
    return LT_OK;
  }
  a->turn->state = state;
  return lt_outbox_state(outbox_of(a), state, err);
}

static lt_status tell(lt_approvals *a, const lt_pending *pending, const lt_approval *what, lt_str reason, lt_err *err) {
  lt_buf data;
  lt_buf_init(&data, LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "promptId");
  lt_json_put_cstr(&w, a->turn->ids.prompt);
  lt_json_key(&w, "request");
  lt_json_begin_object(&w);
  lt_json_key(&w, "toolCallId");
  lt_json_put_str(&w, pending->id);
  lt_json_key(&w, "toolName");
  lt_json_put_str(&w, what->tool->id);
  lt_json_key(&w, "input");
  lt_json_put_raw(&w, what->input);
  lt_json_key(&w, "reason");
  lt_json_put_str(&w, reason);
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  lt_status status = data.status == LT_OK
                         ? lt_outbox_event(outbox_of(a), "prompt.approval-requested", lt_buf_view(&data), err)
                         : lt_fail(err, data.status, "no memory to ask for approval");
  lt_buf_release(&data);
  return status;
}

static uint32_t find_output(const lt_approvals *a, const lt_approval *what) {
  uint32_t number = lt_outbox_find_call(outbox_of(a), what->call);
  if (number == UINT32_MAX && what->seq > 0) {
    lt_buf id;
    lt_buf_init(&id, LT_KIB);
    lt_turn_put_call_id(a->turn, what->run, what->seq, &id);
    number = lt_outbox_find_open(outbox_of(a), lt_buf_view(&id));
    lt_buf_release(&id);
  }
  return number;
}

static lt_status begin_output(lt_approvals *a, const lt_approval *what, lt_str reason, uint32_t *ret_number,
                              lt_err *err) {
  lt_buf id;
  lt_buf_init(&id, LT_KIB);
  if (what->seq > 0) {
    lt_turn_put_call_id(a->turn, what->run, what->seq, &id);
  }
  const lt_outbox_tool tool = {
      .id = lt_buf_view(&id),
      .function = what->tool->id,
      .input = what->input,
      .reason = reason,
      .call = what->call,
      .inner = true,
  };
  lt_status status = lt_outbox_tool_begin(outbox_of(a), &tool, ret_number, err);
  lt_buf_release(&id);
  return status;
}

static void add(lt_approvals *a, lt_pending *pending) {
  lt_pending **place = &a->pending;
  while (*place != NULL) {
    place = &(*place)->next;
  }
  *place = pending;
}

static void take_off(lt_approvals *a, lt_pending *pending) {
  lt_pending **place = &a->pending;
  while (*place != pending) {
    place = &(*place)->next;
  }
  *place = pending->next;
}

/* It can be decided about from the moment it is told of. */
static lt_status wait_for_decision(lt_pending *pending, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_cancel_node node;
  lt_cancel_add(cancel, &node, &pending->wait);
  lt_status status = LT_OK;
  while (!pending->decided && status == LT_OK) {
    status = lt_wait_on(&pending->wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  if (!pending->decided) {
    return lt_fail(err, status, "%s while approval was waited for", lt_status_text(status));
  }
  return pending->approved ? LT_OK : LT_E_DENIED;
}

/* The state follows when the last of those that waited does no longer. */
static lt_status go_on(lt_approvals *a, lt_status status, lt_err *err) {
  lt_status back = a->pending == NULL ? set_state(a, LT_PROMPT_RUNNING, err) : LT_OK;
  return status == LT_OK ? back : status;
}

/* The call's output says that it waits, and why. A model's own call has one already, and so has one that waited in an
 * earlier process. */
static lt_status wait_for_person(lt_approvals *a, const lt_approval *what, uint32_t number, bool is_new,
                                 lt_pending *pending, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_str reason = what->reason.n > 0 ? what->reason : LT_STR("this call needs approval");
  if (!is_new) {
    LT_TRY(lt_outbox_tool_reason(outbox_of(a), number, reason, err));
  }
  add(a, pending);
  lt_status status = set_state(a, LT_PROMPT_WAITING, err);
  if (status == LT_OK) {
    status = tell(a, pending, what, reason, err);
  }
  if (status == LT_OK) {
    status = wait_for_decision(pending, cancel, err);
  }
  take_off(a, pending);
  return status;
}

static lt_status ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_buf *ret_reason,
                     lt_err *err) LT_YIELDS {
  lt_approvals *a = (lt_approvals *)(void *)self;
  lt_pending pending = {.reason = ret_reason};
  uint32_t number = find_output(a, what);
  bool is_new = number == UINT32_MAX, approved = false;
  lt_wait_init(&pending.wait, a->turn->agent->options.loop);
  if (is_new) {
    LT_TRY(begin_output(a, what, what->reason.n > 0 ? what->reason : LT_STR("this call needs approval"), &number, err));
    is_new = !lt_outbox_is_old(outbox_of(a), number);
  }
  pending.id = lt_outbox_id(outbox_of(a), number);
  pending.hash = lt_journal_hash(what->tool->id, what->input);
  if (lt_turn_record_decision(a->turn, pending.id, pending.hash, &approved, ret_reason)) {
    return go_on(a, approved ? LT_OK : LT_E_DENIED, err);
  }
  if (a->turn->agent->options.checks) {
    return lt_turn_check_beyond(a->turn, "a call waits for somebody's decision", err);
  }
  return go_on(a, wait_for_person(a, what, number, is_new, &pending, cancel, err), err);
}

lt_status lt_approvals_settle(lt_approvals *a, lt_err *err) {
  return go_on(a, LT_OK, err);
}

void lt_approvals_init(lt_approvals *a, lt_turn *turn) {
  *a = (lt_approvals){.base = {.ask = ask}, .turn = turn};
}

bool lt_approvals_decide(lt_approvals *a, lt_str id, bool approved, lt_str reason) {
  lt_pending *pending = a->pending;
  while (pending != NULL && (pending->decided || !lt_str_eq(pending->id, id))) {
    pending = pending->next;
  }
  if (pending == NULL) {
    return false;
  }
  pending->decided = true;
  pending->approved = approved;
  reason = lt_str_sub(reason, 0, LT_RUN_ERROR_BYTES / 4);
  lt_buf_add(pending->reason, reason);
  lt_turn_record_decide(a->turn, id, pending->hash, approved, reason);
  lt_wait_wake(&pending->wait, LT_OK);
  return true;
}
