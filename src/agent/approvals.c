#include "agent/approvals.h"

#include "agent/turn_observer.h"
#include "agent/turn_state.h"

typedef struct approval_waiter {
  struct approval_waiter *next;
  lt_str id;     /* of the tool output */
  uint64_t hash; /* of the shown call */
  lt_wait wait;
  bool is_decided;
  lt_arena *arena; /* of the decision's texts */
  lt_decision *decision;
} approval_waiter;

static lt_outbox *approvals_outbox(const lt_approvals *a) {
  return &a->turn->internal->outbox;
}

/* The prompt waits while at least one call does. */
static lt_status approvals_set_state(lt_approvals *a, lt_prompt_state state, lt_err *err) {
  if (a->turn->state == state) {
    return LT_OK;
  }
  a->turn->state = state;
  return lt_outbox_state(approvals_outbox(a), state, err);
}

static lt_status approvals_request(lt_approvals *a, const approval_waiter *pending, const lt_approval *what,
                                   lt_str reason, lt_err *err) {
  LT_AUTO_BUF(data, LT_PROMPT_MEMORY_BYTES);
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
  if (what->refusal.n > 0) {
    lt_json_key(&w, "refusal");
    lt_json_put_str(&w, what->refusal);
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  return data.status == LT_OK
             ? lt_outbox_event(approvals_outbox(a), "prompt.approval-requested", lt_buf_view(&data), err)
             : lt_fail(err, data.status, "no memory to ask for approval");
}

static uint32_t approvals_find_output(const lt_approvals *a, const lt_approval *what) {
  uint32_t number = lt_outbox_find_call(approvals_outbox(a), what->call);
  if (number == UINT32_MAX && what->seq > 0) {
    lt_buf id;
    lt_buf_init(&id, LT_KIB);
    lt_turn_put_call_id(a->turn, what->run, what->seq, &id);
    number = lt_outbox_find_open(approvals_outbox(a), lt_buf_view(&id));
    lt_buf_release(&id);
  }
  return number;
}

static lt_status approvals_begin_output(lt_approvals *a, const lt_approval *what, lt_str reason, uint32_t *ret_number,
                                        lt_err *err) {
  LT_AUTO_BUF(id, LT_KIB);
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
  return lt_outbox_tool_begin(approvals_outbox(a), &tool, ret_number, err);
}

static void approvals_add_waiting(lt_approvals *a, approval_waiter *pending) {
  approval_waiter **place = &a->waiters;
  while (*place != NULL) {
    place = &(*place)->next;
  }
  *place = pending;
}

static void approvals_remove_waiting(lt_approvals *a, approval_waiter *pending) {
  approval_waiter **place = &a->waiters;
  while (*place != pending) {
    place = &(*place)->next;
  }
  *place = pending->next;
}

/* The decision may come as soon as the event is out. */
static lt_status approvals_wait_for_decision(approval_waiter *pending, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_cancel_node node;
  lt_cancel_add(cancel, &node, &pending->wait);
  lt_status status = LT_OK;
  while (!pending->is_decided && status == LT_OK) {
    status = lt_wait_on(&pending->wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  return pending->is_decided ? LT_OK : lt_fail(err, status, "%s while approval was waited for", lt_status_text(status));
}

/* The prompt runs again when no call waits any more. */
static lt_status approvals_settle_state(lt_approvals *a, lt_status status, lt_err *err) {
  lt_status back = a->waiters == NULL ? approvals_set_state(a, LT_PROMPT_RUNNING, err) : LT_OK;
  return lt_status_first(status, back);
}

/* Marks the call's output as pending with the reason. A model's call, and a call that waited in an earlier process,
 * have an output already. */
static lt_status approvals_wait_for_person(lt_approvals *a, const lt_approval *what, uint32_t number, bool is_new,
                                           approval_waiter *pending, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  lt_str reason = what->reason.n > 0 ? what->reason : LT_STR("this call needs approval");
  if (!is_new) {
    LT_TRY(lt_outbox_tool_reason(approvals_outbox(a), number, reason, err));
  }
  approvals_add_waiting(a, pending);
  lt_status status = approvals_set_state(a, LT_PROMPT_WAITING, err);
  if (status == LT_OK) {
    status = approvals_request(a, pending, what, reason, err);
  }
  if (status == LT_OK) {
    status = approvals_wait_for_decision(pending, cancel, err);
  }
  approvals_remove_waiting(a, pending);
  return status;
}

static lt_status approvals_ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                               lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  lt_approvals *a = (lt_approvals *)(void *)self;
  approval_waiter pending = {.arena = arena, .decision = ret_decision};
  uint32_t number = approvals_find_output(a, what);
  bool is_new = number == UINT32_MAX;
  lt_wait_init(&pending.wait, a->turn->agent->options.loop);
  if (is_new) {
    LT_TRY(approvals_begin_output(a, what, what->reason.n > 0 ? what->reason : LT_STR("this call needs approval"),
                                  &number, err));
    is_new = !lt_outbox_is_old(approvals_outbox(a), number);
  }
  pending.id = lt_outbox_id(approvals_outbox(a), number);
  pending.hash = lt_journal_hash(what->tool->id, what->input);
  if (lt_turn_record_decision(a->turn, pending.id, pending.hash, arena, ret_decision)) {
    return approvals_settle_state(a, LT_OK, err);
  }
  LT_TRY(lt_turn_observer_record_end(a->turn, "a call waits for somebody's decision", err));
  return approvals_settle_state(a, approvals_wait_for_person(a, what, number, is_new, &pending, cancel, err), err);
}

lt_status lt_approvals_settle(lt_approvals *a, lt_err *err) {
  return approvals_settle_state(a, LT_OK, err);
}

void lt_approvals_init(lt_approvals *a, lt_turn *turn) {
  *a = (lt_approvals){.base = {.ask = approvals_ask}, .turn = turn};
}

lt_status lt_approvals_decide(lt_approvals *a, lt_str id, const lt_decision *decision, lt_err *err) {
  approval_waiter *pending = a->waiters;
  while (pending != NULL && (pending->is_decided || !lt_str_eq(pending->id, id))) {
    pending = pending->next;
  }
  if (pending == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "No tool call \"%.*s\" waits for approval", LT_STR_ARG(lt_str_sub(id, 0, 100)));
  }
  lt_decision what = *decision;
  what.reason = lt_str_sub(what.reason, 0, LT_RUN_ERROR_BYTES / 4);
  if (lt_decision_copy(pending->arena, &what, pending->decision) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a decision");
  }
  pending->is_decided = true;
  lt_turn_record_decide(a->turn, id, pending->hash, &what);
  lt_wait_wake(&pending->wait, LT_OK);
  return LT_OK;
}
