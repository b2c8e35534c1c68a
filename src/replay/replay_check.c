#include "replay/replay_check.h"

#include "base/mem.h"
#include "replay/notes.h"
#include "replay/replay_check_impl.h"
#include "replay/result_note.h"

static lt_replay_check *replay_check_of(lt_journal *self) {
  return (lt_replay_check *)(void *)self;
}

/* A run's name without the prompt's id: `call-1/2`. */
static lt_str check_below_prompt(lt_str run) {
  size_t slash = lt_str_find(run, LT_STR("/"), 0);
  return slash != SIZE_MAX ? lt_str_sub(run, slash + 1, run.n) : run;
}

static void check_put_fault(lt_replay_check *c, const char *kind, lt_str run, const char *what, lt_str detail) {
  if (c->fault.n == 0) {
    lt_buf_addc(&c->fault, kind);
    lt_buf_add(&c->fault, check_below_prompt(run));
    lt_buf_addc(&c->fault, what);
    lt_buf_add(&c->fault, detail);
  }
}

/* --- The record --------------------------------------------------------------------------------------------------- */
lt_replay_check_program *lt_replay_check_find_program(const lt_replay_check *c, lt_str run) {
  lt_replay_check_program *program = c->programs;
  while (program != NULL && !lt_str_eq(lt_buf_view(&program->run), run)) {
    program = program->next;
  }
  return program;
}

static lt_replay_check_program *check_add_program(lt_replay_check *c, lt_str run) {
  lt_replay_check_program *program = lt_mem_zalloc(1, sizeof *program);
  if (program != NULL) {
    lt_buf_init(&program->run, LT_MIB);
    lt_buf_init(&program->text, 2 * LT_JSON_MAX_BYTES);
    lt_buf_add(&program->run, run);
    program->next = c->programs;
    c->programs = program;
  }
  return program;
}

static void check_add_reason(lt_replay_check *c, lt_str why) {
  if (lt_str_find(lt_buf_view(&c->reasons), why, 0) == SIZE_MAX) {
    lt_buf_addc(&c->reasons, c->reasons.n > 0 ? "; " : "");
    lt_buf_add(&c->reasons, why);
  }
}

void lt_replay_check_skip(lt_replay_check *c, lt_str why) {
  c->counts.skipped++;
  check_add_reason(c, why);
}

bool lt_replay_check_give(lt_replay_check *c, lt_str run, lt_str why) {
  lt_replay_check_program *program = lt_replay_check_find_program(c, run);
  c->counts.programs -= program != NULL && !program->is_answered; /* it was counted as a program that runs again */
  program = program != NULL ? program : check_add_program(c, run);
  if (program == NULL) {
    return false;
  }
  program->is_answered = true;
  check_add_reason(c, why);
  return program->run.status == LT_OK;
}

/* Withholds the end of a program, unless the record answers for it. */
static lt_status check_recall_program(lt_replay_check *c, lt_str run, const lt_program_identity *identity,
                                      lt_note *ended, lt_err *err) {
  lt_replay_check_program *program = lt_replay_check_find_program(c, run);
  if (program != NULL && program->is_answered) {
    c->counts.skipped++;
    return LT_OK;
  }
  program = program != NULL ? program : check_add_program(c, run);
  if (program == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the end of a program");
  }
  program->is_in_process = identity->engine == 0;
  lt_buf_clear(&program->text);
  lt_buf_add(&program->text, ended->text);
  ended->kind = LT_NOTE_USED;
  c->counts.programs++;
  LT_TRY(lt_buf_check(&program->run, err, "no memory for the end of a program"));
  return lt_buf_check(&program->text, err, "no memory for the end of a program");
}

/* A timeout or a cancel may come at another moment the next time. */
static bool check_is_repeated(const lt_replay_check *c, const lt_recorded_call *call) {
  return call->finished && call->repeatable && call->status != LT_E_TIMEOUT && call->status != LT_E_CANCELLED &&
         call->status != LT_E_INTERRUPTED && c->options.only_calls != NULL &&
         c->options.only_calls(c->options.arg, call->tool);
}

static lt_replay_check_call *check_find_call(const lt_replay_check *c, int64_t id) {
  lt_replay_check_call *repeated = c->calls;
  while (repeated != NULL && repeated->id != id) {
    repeated = repeated->next;
  }
  return repeated;
}

/* The call is given to the caller without its end, which is kept here. */
static bool check_withhold_call(lt_replay_check *c, lt_str run, lt_recorded_call *call) {
  lt_replay_check_call *repeated = check_find_call(c, call->id) == NULL ? lt_mem_zalloc(1, sizeof *repeated) : NULL;
  call->finished = false;
  call->withheld = true;
  if (repeated == NULL) {
    return check_find_call(c, call->id) != NULL;
  }
  *repeated = (lt_replay_check_call){
      .next = c->calls, .id = call->id, .seq = call->seq, .hash = call->hash, .status = call->status};
  lt_buf_init(&repeated->run, LT_MIB);
  lt_buf_init(&repeated->answer, LT_JSON_MAX_BYTES);
  lt_buf_add(&repeated->run, run);
  lt_buf_add(&repeated->answer, call->answer);
  c->calls = repeated;
  return repeated->run.status == LT_OK && repeated->answer.status == LT_OK;
}

static lt_status check_withhold_calls(lt_replay_check *c, lt_str run, lt_record *record, lt_err *err) {
  for (size_t i = 0; i < record->call_count; i++) {
    if (check_is_repeated(c, &record->calls[i]) && !check_withhold_call(c, run, &record->calls[i])) {
      return lt_fail(err, LT_E_NOMEM, "no memory for a call that is made again");
    }
  }
  return LT_OK;
}

static lt_status check_end_of_record(lt_replay_check *c, lt_str run, lt_err *err) {
  c->is_beyond = true;
  return lt_fail(err, LT_E_DIVERGED, LT_REPLAY_RECORD_END ": how the program %.*s ended is not on it",
                 LT_STR_ARG(check_below_prompt(run)));
}

/* A prompt's notes are not those of a program. A recorded cancel does not end the prompt here: the check goes to the
 * end of the record. */
static lt_status check_recall_calls(lt_replay_check *c, lt_str run, lt_record *record, lt_err *err) {
  lt_note *cancel = lt_notes_find(record, LT_PROMPT_NOTE_CANCEL);
  if (cancel != NULL) {
    cancel->kind = LT_NOTE_USED;
  }
  return check_withhold_calls(c, run, record, err);
}

static lt_status check_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  lt_replay_check *c = replay_check_of(self);
  lt_record record;
  lt_program_identity identity;
  LT_TRY(c->options.records->recall(c->options.records, run, &record, err));
  const lt_note *begun = lt_notes_find(&record, LT_NOTE_BEGIN);
  lt_note *ended = lt_notes_find(&record, LT_NOTE_END);
  lt_status status = LT_OK;
  c->counts.calls += record.call_count;
  if (begun == NULL || !lt_notes_read_identity(begun->text, &identity)) {
    status = check_recall_calls(c, run, &record, err);
  } else {
    status = ended == NULL ? check_end_of_record(c, run, err) : check_recall_program(c, run, &identity, ended, err);
  }
  if (status == LT_OK) {
    *ret_record = record;
  } else {
    lt_record_release(&record);
  }
  return status;
}

/* --- Comparing --------------------------------------------------------------------------------------------- */
#define SHOWN_BEFORE 40  /* bytes before the first difference ... */
#define SHOWN_BEHIND 160 /* ... and after it */

/* The texts around the first difference. */
static void check_put_difference(lt_buf *out, lt_str old, lt_str new) {
  size_t at = 0;
  while (at < old.n && at < new.n &&old.p[at] == new.p[at]) {
    at++;
  }
  size_t from = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
  lt_buf_addc(out, "...");
  lt_buf_add(out, lt_str_sub(new, from, at + SHOWN_BEHIND < new.n ? at + SHOWN_BEHIND : new.n));
  lt_buf_addc(out, "..., and on record it is ...");
  lt_buf_add(out, lt_str_sub(old, from, at + SHOWN_BEHIND < old.n ? at + SHOWN_BEHIND : old.n));
  lt_buf_addc(out, "...");
}

static void check_compare_end(lt_replay_check *c, const lt_replay_check_program *program, lt_str new_text) {
  lt_str run = lt_buf_view(&program->run), old_text = lt_buf_view(&program->text);
  LT_AUTO_BUF(old, 2 * LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(new, 2 * LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(detail, LT_KIB);
  bool readable = lt_result_note_put_comparable(&old, old_text) && lt_result_note_put_comparable(&new, new_text);
  if (!readable) {
    check_put_fault(c, "program ", run, ": no memory to compare how it ended, or that is no end", LT_STR(""));
  } else if (!lt_str_eq(lt_buf_view(&old), lt_buf_view(&new))) {
    check_put_difference(&detail, lt_buf_view(&old), lt_buf_view(&new));
    lt_buf_addc(&detail, program->is_in_process ? " (its clock and its random numbers are not on record)" : "");
    check_put_fault(c, "program ", run, ": it ended otherwise: ", lt_buf_view(&detail));
  }
}

void lt_replay_check_ended(lt_replay_check *c, lt_str run) {
  const lt_replay_check_program *program = lt_replay_check_find_program(c, run);
  if (program != NULL && !program->is_answered && !program->is_compared) {
    check_put_fault(c, "program ", run, ": how it ended is too long to be compared, or has a secret in it", LT_STR(""));
  }
}

static void check_note(lt_journal *self, lt_str run, const lt_note *what,
                       void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_replay_check *c = replay_check_of(self);
  lt_replay_check_program *program = what->kind == LT_NOTE_END ? lt_replay_check_find_program(c, run) : NULL;
  (void)on_failure;
  (void)arg;
  if (program != NULL && !program->is_answered) {
    program->is_compared = true;
    check_compare_end(c, program, what->text);
  }
}

static lt_status check_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  lt_replay_check *c = replay_check_of(self);
  for (const lt_replay_check_call *repeated = c->calls; repeated != NULL; repeated = repeated->next) {
    if (repeated->seq == call->seq && repeated->hash == call->hash &&
        lt_str_eq(lt_buf_view(&repeated->run), call->run)) {
      *ret_id = repeated->id;
      return LT_OK;
    }
  }
  c->is_beyond = true;
  return lt_fail(err, LT_E_DIVERGED, LT_REPLAY_RECORD_END ": call %u of %.*s, %.*s %.*s, is not on it",
                 (unsigned)call->seq, LT_STR_ARG(check_below_prompt(call->run)), LT_STR_ARG(call->tool),
                 LT_STR_ARG(lt_str_sub(call->input, 0, LT_RECORD_SHOWN_BYTES)));
}

static void check_compare_answer(lt_replay_check *c, const lt_replay_check_call *call, lt_status status,
                                 lt_str answer) {
  lt_str recorded = lt_buf_view(&call->answer);
  if (status == call->status && lt_str_eq(answer, recorded)) {
    return;
  }
  LT_AUTO_BUF(detail, LT_KIB);
  if (status != call->status) {
    lt_buf_printf(&detail, "%s, and on record %s: ", lt_status_name(status), lt_status_name(call->status));
  }
  check_put_difference(&detail, recorded, answer);
  check_put_fault(c, "call ", lt_buf_view(&call->run), ": its answer is another: ", lt_buf_view(&detail));
}

/* A diverged call has its own message, and a cancelled call its reason. */
static lt_status check_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  lt_replay_check *c = replay_check_of(self);
  const lt_replay_check_call *call = check_find_call(c, id);
  (void)err;
  if (call != NULL && status != LT_E_DIVERGED && status != LT_E_CANCELLED) {
    check_compare_answer(c, call, status, answer);
  }
  return LT_OK;
}

void lt_replay_check_journal_init(lt_journal *journal) {
  *journal = (lt_journal){
      .begin = check_begin, .finish = check_finish, .note = check_note, .recall = check_recall, .final = true};
}

/* --- Results ------------------------------------------------------------------------------------------------------ */
lt_status lt_replay_check_refuse(lt_replay_check *c, lt_str provider, lt_str tool, lt_err *err) {
  c->is_beyond = true;
  return lt_fail(err, LT_E_DIVERGED, LT_REPLAY_RECORD_END ": \"%.*s.%.*s\" is called", LT_STR_ARG(provider),
                 LT_STR_ARG(tool));
}

lt_str lt_replay_check_reasons(const lt_replay_check *c) {
  return lt_buf_view(&c->reasons);
}

lt_replay_check_counts lt_replay_check_count(const lt_replay_check *c) {
  return c->counts;
}

lt_str lt_replay_check_fault(const lt_replay_check *c) {
  return lt_buf_view(&c->fault);
}

bool lt_replay_check_is_beyond(const lt_replay_check *c) {
  return c->is_beyond;
}
