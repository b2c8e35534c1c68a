#include "agent/approvals.h"

#include <inttypes.h>
#include <stdio.h>

#include "agent/stored_decision.h"
#include "agent/turn_observer.h"
#include "agent/turn_state.h"
#include "base/clock.h"
#include "store/store_decisions.h"

typedef struct approval_waiter {
  struct approval_waiter *next;
  lt_str id;               /* of the tool output */
  uint64_t hash;           /* of the shown call */
  const lt_approval *what; /* the asking fiber's */
  lt_wait wait;
  bool is_decided;
  bool is_remembered; /* by an earlier decision about another call */
  int64_t row;        /* of the stored decision; 0: the decision is remembered, or noted by an older Lathe */
  lt_str at;          /* when it was decided; empty: nobody was asked, or an older Lathe noted it */
  char stamp[LT_CLOCK_STAMP_BYTES]; /* `at` may point here */
  lt_arena *arena;                  /* of the decision's texts */
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
    LT_AUTO_BUF(id, LT_KIB);
    lt_turn_put_call_id(a->turn, what->run, what->seq, &id);
    number = lt_outbox_find_open(approvals_outbox(a), lt_buf_view(&id));
  }
  return number;
}

static lt_str approvals_question(uint64_t hash, char text[17]) {
  snprintf(text, 17, "%016" PRIx64, hash);
  return lt_str_of(text);
}

static lt_status approvals_begin_output(lt_approvals *a, const lt_approval *what, lt_str reason, uint32_t *ret_number,
                                        lt_err *err) {
  char question[17];
  LT_AUTO_BUF(id, LT_KIB);
  if (what->seq > 0) {
    lt_turn_put_call_id(a->turn, what->run, what->seq, &id);
  }
  const lt_outbox_tool tool = {
      .id = lt_buf_view(&id),
      .function = what->tool->id,
      .input = what->input,
      .reason = reason,
      .question = approvals_question(lt_journal_hash(what->tool->id, what->input), question),
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
  char question[17];
  if (!is_new) {
    LT_TRY(
        lt_outbox_tool_reason(approvals_outbox(a), number, reason, approvals_question(pending->hash, question), err));
  }
  approvals_add_waiting(a, pending);
  lt_agent_wake_watch(a->turn->agent);
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

/* --- Stored decisions --------------------------------------------------------------------------------------------- */
static bool approvals_is_used(const lt_approvals *a, int64_t row) {
  for (size_t at = 0; at < a->used.n; at += sizeof row) {
    if (memcmp(a->used.p + at, &row, sizeof row) == 0) {
      return true;
    }
  }
  return false;
}

static void approvals_use(lt_approvals *a, int64_t row) {
  if (row != 0) {
    lt_buf_add(&a->used, lt_str_from(&row, sizeof row));
  }
}

/* Calls `each` for the rows of a list until it returns true. */
static bool approvals_each_row(lt_approvals *a, lt_str rows, lt_arena *arena,
                               bool (*each)(lt_approvals *a, const lt_stored_decision *row, void *arg), void *arg) {
  lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
  lt_str text = lt_arena_dup(arena, rows);
  if (doc == NULL || text.p == NULL || lt_json_parse(arena, text, doc, NULL) != LT_OK) {
    return false;
  }
  lt_json_iter it = lt_json_each(lt_json_root(doc));
  bool is_done = false;
  while (!is_done && lt_json_next(&it)) {
    lt_stored_decision row;
    is_done = lt_stored_decision_read(it.value, arena, &row) && each(a, &row, arg);
  }
  return is_done;
}

static bool approvals_remember_row(lt_approvals *a, const lt_stored_decision *row, void *arg) {
  (void)arg;
  lt_remembered_decisions_add(&a->remembered, row->tool, LT_STR("{}"), &row->decision);
  return false;
}

/* A store that cannot be read costs questions, not calls. */
static void approvals_load(lt_approvals *a) LT_YIELDS {
  if (a->has_loaded) {
    return;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  if (lt_store_decision_list_session(a->turn->agent->options.db, lt_str_of(a->turn->ids.conversation), &rows, NULL) ==
      LT_OK) {
    (void)approvals_each_row(a, lt_buf_view(&rows), &arena, approvals_remember_row, NULL);
  }
  if (!a->has_loaded) { /* several calls may have asked at once, and stay in their order */
    lt_turn_record_remember(a->turn, &a->remembered);
  }
  a->has_loaded = true;
}

static bool approvals_is_row_for(lt_approvals *a, const lt_stored_decision *row, void *arg) {
  approval_waiter *pending = arg;
  bool is_cancel = lt_str_eqc(row->verb, "cancel");
  if (is_cancel || row->hash != pending->hash || !lt_str_eq(row->call, pending->id) || approvals_is_used(a, row->id)) {
    return false;
  }
  pending->row = row->id;
  pending->at = row->at;
  *pending->decision = row->decision;
  return true;
}

/* A decision that was stored while no process ran the prompt, or that its process did not live to carry out. */
static bool approvals_find_stored(lt_approvals *a, approval_waiter *pending) LT_YIELDS {
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  return a->turn->internal->record.is_recalled &&
         lt_store_decision_list(a->turn->agent->options.db, lt_str_of(a->turn->ids.prompt), &rows, NULL) == LT_OK &&
         approvals_each_row(a, lt_buf_view(&rows), pending->arena, approvals_is_row_for, pending);
}

/* Taken or not: its process may have been killed before the note of it was written. */
static bool approvals_is_cancel(lt_approvals *a, const lt_stored_decision *row, void *arg) {
  (void)a;
  *(int64_t *)arg = row->id;
  return lt_str_eqc(row->verb, "cancel");
}

void lt_approvals_look_for_cancel(lt_approvals *a) {
  lt_turn *turn = a->turn;
  int64_t row = 0;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  if (lt_store_decision_list(turn->agent->options.db, lt_str_of(turn->ids.prompt), &rows, NULL) == LT_OK &&
      approvals_each_row(a, lt_buf_view(&rows), &arena, approvals_is_cancel, &row)) {
    lt_turn_record_cancel(turn);
    (void)lt_store_decision_take(turn->agent->options.db, row, NULL);
  }
}

/* --- Decided ------------------------------------------------------------------------------------------------------ */
/* Equal masked texts may be different inputs: they are not remembered by their arguments. */
static void approvals_remember(lt_approvals *a, const approval_waiter *pending) {
  lt_decision decision = *pending->decision;
  if (!pending->is_remembered && !(decision.remember == LT_REMEMBER_CALL && pending->what->is_masked)) {
    lt_remembered_decisions_add(&a->remembered, pending->what->tool->id, pending->what->input, &decision);
  }
}

/* After a refused input the person is asked, whatever was remembered with it. */
static bool approvals_is_remembered(const lt_approvals *a, const lt_approval *what, lt_arena *arena,
                                    lt_decision *ret_decision) {
  lt_decision found;
  bool is_known = what->refusal.n == 0 &&
                  lt_remembered_decisions_find(&a->remembered, what->tool->id, what->input, &found) &&
                  !(found.remember == LT_REMEMBER_CALL && what->is_masked) &&
                  lt_decision_copy(arena, &found, ret_decision) == LT_OK;
  if (is_known) {
    ret_decision->remember = LT_REMEMBER_NOTHING;
  }
  return is_known;
}

static void approvals_note(lt_approvals *a, const approval_waiter *pending) {
  const lt_turn_decision note = {.id = pending->id,
                                 .hash = pending->hash,
                                 .row = pending->row,
                                 .tool = pending->what->tool->id,
                                 .asked = pending->what->is_masked ? LT_STR("") : pending->what->input,
                                 .at = pending->at,
                                 .decision = *pending->decision};
  lt_turn_record_decide(a->turn, &note);
}

/* The note makes the decision part of the prompt's record; the row shows it to other processes. A decision is on record
 * with either. */
static void approvals_take(lt_approvals *a, const approval_waiter *pending) LT_YIELDS {
  if (pending->row != 0) {
    (void)lt_store_decision_take(a->turn->agent->options.db, pending->row, NULL);
  }
}

static lt_status approvals_report_decided(lt_approvals *a, const approval_waiter *pending, lt_err *err) {
  const lt_decision *decision = pending->decision;
  LT_AUTO_BUF(data, LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_given(&w, "promptId", lt_str_of(a->turn->ids.prompt));
  lt_json_put_given(&w, "toolCallId", pending->id);
  lt_json_put_given(&w, "decision", decision->is_approved ? LT_STR("approve") : LT_STR("reject"));
  lt_json_put_given(&w, "reason", decision->reason);
  if (decision->input.n > 0 && lt_json_check(decision->input, NULL) == LT_OK) {
    lt_json_key(&w, "input");
    lt_json_put_raw(&w, decision->input);
  }
  lt_json_put_given(&w, "remember", lt_str_of(lt_decision_remember_name(decision->remember)));
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&data, err, "no memory for a decision"));
  return lt_outbox_event(approvals_outbox(a), "prompt.approval-decided", lt_buf_view(&data), err);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */
/* The question is closed: nobody can decide about this call any more. */
static lt_status approvals_close_question(lt_approvals *a, uint32_t number, const approval_waiter *pending,
                                          lt_err *err) LT_YIELDS {
  approvals_take(a, pending);
  lt_outbox_tool_decided(approvals_outbox(a), number, pending->at);
  LT_TRY(approvals_report_decided(a, pending, err));
  return pending->decision->is_approved
             ? lt_outbox_tool_reason(approvals_outbox(a), number, LT_STR("Executing..."), LT_STR(""), err)
             : LT_OK;
}

/* Decided in this process, in another, or before. */
static bool approvals_is_known(lt_approvals *a, approval_waiter *pending) LT_YIELDS {
  lt_turn_decision noted;
  if (lt_turn_record_decision(a->turn, pending->id, pending->hash, pending->arena, &noted)) {
    *pending->decision = noted.decision;
    pending->at = noted.at;
    approvals_use(a, noted.row);
    approvals_remember(a, pending);
    return true;
  }
  approvals_load(a);
  if (approvals_find_stored(a, pending)) {
    approvals_use(a, pending->row);
    approvals_remember(a, pending);
    approvals_note(a, pending);
    approvals_take(a, pending);
    return true;
  }
  if (approvals_is_remembered(a, pending->what, pending->arena, pending->decision)) {
    pending->is_remembered = true;
    approvals_note(a, pending);
    return true;
  }
  return false;
}

/* The earlier process asked, and did not live to say what was decided. */
static lt_status approvals_close_old_question(lt_approvals *a, uint32_t number, const approval_waiter *pending,
                                              lt_err *err) {
  lt_outbox_tool_decided(approvals_outbox(a), number, pending->at);
  if (!lt_outbox_has_question(approvals_outbox(a), number)) {
    return LT_OK;
  }
  LT_TRY(approvals_report_decided(a, pending, err));
  return lt_outbox_tool_reason(approvals_outbox(a), number, LT_STR("Executing..."), LT_STR(""), err);
}

static lt_status approvals_ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                               lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  lt_approvals *a = (lt_approvals *)(void *)self;
  approval_waiter pending = {.what = what, .arena = arena, .decision = ret_decision};
  uint32_t number = approvals_find_output(a, what);
  bool is_new = number == UINT32_MAX;
  LT_TRY(lt_deferred_start_store(a->turn->internal, err)); /* whoever decides finds the call in the store */
  lt_wait_init(&pending.wait, a->turn->agent->options.loop);
  pending.hash = lt_journal_hash(what->tool->id, what->input);
  if (is_new) {
    LT_TRY(approvals_begin_output(a, what, what->reason.n > 0 ? what->reason : LT_STR("this call needs approval"),
                                  &number, err));
    is_new = !lt_outbox_is_old(approvals_outbox(a), number);
  }
  pending.id = lt_outbox_id(approvals_outbox(a), number);
  if (approvals_is_known(a, &pending)) {
    lt_status closed = is_new ? LT_OK : approvals_close_old_question(a, number, &pending, err);
    return approvals_settle_state(a, closed, err);
  }
  LT_TRY(lt_turn_observer_record_end(a->turn, "a call waits for somebody's decision", err));
  lt_status status = approvals_wait_for_person(a, what, number, is_new, &pending, cancel, err);
  if (status == LT_OK) {
    status = approvals_close_question(a, number, &pending, err);
  }
  return approvals_settle_state(a, status, err);
}

lt_status lt_approvals_settle(lt_approvals *a, lt_err *err) {
  return approvals_settle_state(a, LT_OK, err);
}

void lt_approvals_init(lt_approvals *a, lt_turn *turn) {
  *a = (lt_approvals){.base = {.ask = approvals_ask}, .turn = turn};
  lt_buf_init(&a->used, LT_MIB);
}

void lt_approvals_release(lt_approvals *a) {
  lt_remembered_decisions_release(&a->remembered);
  lt_buf_release(&a->used);
}

/* --- Deciding ----------------------------------------------------------------------------------------------------- */
static approval_waiter *approvals_find_waiter(const lt_approvals *a, lt_str id) {
  approval_waiter *pending = a->waiters;
  while (pending != NULL && (pending->is_decided || !lt_str_eq(pending->id, id))) {
    pending = pending->next;
  }
  return pending;
}

static void approvals_wake(lt_approvals *a, approval_waiter *pending) {
  pending->is_decided = true;
  if (pending->at.n == 0) {
    lt_clock_stamp(pending->stamp);
    pending->at = lt_str_of(pending->stamp);
  }
  approvals_remember(a, pending);
  approvals_note(a, pending);
  lt_wait_wake(&pending->wait, LT_OK);
}

/* The other calls that wait, and that the decision holds for, too. */
static void approvals_wake_remembered(lt_approvals *a) {
  for (approval_waiter *other = a->waiters; other != NULL; other = other->next) {
    if (!other->is_decided && approvals_is_remembered(a, other->what, other->arena, other->decision)) {
      other->is_remembered = true;
      approvals_wake(a, other);
    }
  }
}

bool lt_approvals_decide(lt_approvals *a, const lt_stored_decision *stored) {
  approval_waiter *pending = approvals_find_waiter(a, stored->call);
  lt_decision what = stored->decision;
  what.reason = lt_str_sub(what.reason, 0, LT_RUN_ERROR_BYTES / 4);
  if (pending == NULL || pending->hash != stored->hash || approvals_is_used(a, stored->id) ||
      lt_decision_copy(pending->arena, &what, pending->decision) != LT_OK) {
    return false;
  }
  snprintf(pending->stamp, sizeof pending->stamp, "%.*s", LT_STR_ARG(stored->at));
  pending->at = lt_str_of(pending->stamp);
  pending->row = stored->id;
  approvals_use(a, stored->id);
  approvals_wake(a, pending);
  if (what.remember != LT_REMEMBER_NOTHING) {
    approvals_wake_remembered(a);
  }
  return true;
}
