#include "replay/check.h"

#include "base/mem.h"
#include "replay/check_impl.h"
#include "runner/quickjs/tape.h"

static lt_check *check_of(lt_journal *self) {
  return (lt_check *)(void *)self;
}

/* `prompt/call-1/2`: below the prompt's id, which everybody knows. */
static lt_str below_prompt(lt_str run) {
  size_t slash = lt_str_find(run, LT_STR("/"), 0);
  return slash != SIZE_MAX ? lt_str_sub(run, slash + 1, run.n) : run;
}

static void put_fault(lt_check *c, const char *kind, lt_str run, const char *what, lt_str detail) {
  if (c->fault.n == 0) {
    lt_buf_addc(&c->fault, kind);
    lt_buf_add(&c->fault, below_prompt(run));
    lt_buf_addc(&c->fault, what);
    lt_buf_add(&c->fault, detail);
  }
}

/* --- What is on record -------------------------------------------------------------------------------------------- */
lt_note *lt_replay_check_find_note(const lt_record *record, uint32_t kind) {
  for (size_t i = 0; i < record->note_count; i++) {
    if (record->notes[i].kind == kind) {
      return &record->notes[i];
    }
  }
  return NULL;
}

/* What ran it and what it was, in a few words. A prompt has an object there. */
static bool is_program(const lt_note *begun) {
  return begun != NULL && begun->text.n > 0 && begun->text.p[0] != '{';
}

/* The embedded engine's has two numbers of 16 digits. */
static bool is_in_process(const lt_note *begun) {
  return begun->text.n != 33 || begun->text.p[16] != ' ';
}

lt_replay_check_program *lt_replay_check_find_program(const lt_check *c, lt_str run) {
  lt_replay_check_program *one = c->programs;
  while (one != NULL && !lt_str_eq(lt_buf_view(&one->run), run)) {
    one = one->next;
  }
  return one;
}

static lt_replay_check_program *add_program(lt_check *c, lt_str run) {
  lt_replay_check_program *one = lt_mem_zalloc(1, sizeof *one);
  if (one != NULL) {
    lt_buf_init(&one->run, LT_MIB);
    lt_buf_init(&one->text, 2 * LT_JSON_MAX_BYTES);
    lt_buf_add(&one->run, run);
    one->next = c->programs;
    c->programs = one;
  }
  return one;
}

static void add_reason(lt_check *c, lt_str why) {
  if (lt_str_find(lt_buf_view(&c->reasons), why, 0) == SIZE_MAX) {
    lt_buf_addc(&c->reasons, c->reasons.n > 0 ? "; " : "");
    lt_buf_add(&c->reasons, why);
  }
}

void lt_replay_check_skip(lt_check *c, lt_str why) {
  c->counts.skipped++;
  add_reason(c, why);
}

bool lt_replay_check_give(lt_check *c, lt_str run, lt_str why) {
  lt_replay_check_program *one = lt_replay_check_find_program(c, run);
  c->counts.programs -= one != NULL && !one->given; /* it was to run again */
  one = one != NULL ? one : add_program(c, run);
  if (one == NULL) {
    return false;
  }
  one->given = true;
  add_reason(c, why);
  return one->run.status == LT_OK;
}

/* Of what the record does not answer for the end is withheld. */
static lt_status recall_program(lt_check *c, lt_str run, const lt_note *begun, lt_note *ended, lt_err *err) {
  lt_replay_check_program *one = lt_replay_check_find_program(c, run);
  if (one != NULL && one->given) {
    c->counts.skipped++;
    return LT_OK;
  }
  one = one != NULL ? one : add_program(c, run);
  if (one == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the end of a program");
  }
  one->in_process = is_in_process(begun);
  lt_buf_clear(&one->text);
  lt_buf_add(&one->text, ended->text);
  ended->kind = 0;
  c->counts.programs++;
  lt_status status = one->run.status == LT_OK ? one->text.status : one->run.status;
  return status == LT_OK ? LT_OK : lt_fail(err, status, "no memory for the end of a program");
}

/* Its time, or its caller's, may be up at another moment. */
static bool is_repeated(const lt_check *c, const lt_recorded_call *call) {
  return call->finished && call->repeatable && call->status != LT_E_TIMEOUT && call->status != LT_E_CANCELLED &&
         call->status != LT_E_INTERRUPTED && c->options.only_calls != NULL &&
         c->options.only_calls(c->options.arg, call->tool);
}

static lt_replay_check_call *find_call(const lt_check *c, int64_t id) {
  lt_replay_check_call *one = c->calls;
  while (one != NULL && one->id != id) {
    one = one->next;
  }
  return one;
}

/* It is given without its end, which is kept. */
static bool reopen(lt_check *c, lt_str run, lt_recorded_call *call) {
  lt_replay_check_call *one = find_call(c, call->id) == NULL ? lt_mem_zalloc(1, sizeof *one) : NULL;
  call->finished = false;
  if (one == NULL) {
    return find_call(c, call->id) != NULL;
  }
  *one = (lt_replay_check_call){
      .next = c->calls, .id = call->id, .seq = call->seq, .hash = call->hash, .status = call->status};
  lt_buf_init(&one->run, LT_MIB);
  lt_buf_init(&one->answer, LT_JSON_MAX_BYTES);
  lt_buf_add(&one->run, run);
  lt_buf_add(&one->answer, call->answer);
  c->calls = one;
  return one->run.status == LT_OK && one->answer.status == LT_OK;
}

static lt_status reopen_calls(lt_check *c, lt_str run, lt_record *record, lt_err *err) {
  for (size_t i = 0; i < record->call_count; i++) {
    if (is_repeated(c, &record->calls[i]) && !reopen(c, run, &record->calls[i])) {
      return lt_fail(err, LT_E_NOMEM, "no memory for a call that is made again");
    }
  }
  return LT_OK;
}

static lt_status end_of_record(lt_check *c, lt_str run, lt_err *err) {
  c->beyond = true;
  return lt_fail(err, LT_E_DIVERGED, "the record ends here: how the program %.*s ended is not on it",
                 LT_STR_ARG(below_prompt(run)));
}

static lt_status recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  lt_check *c = check_of(self);
  lt_record record;
  LT_TRY(c->options.records->recall(c->options.records, run, &record, err));
  const lt_note *begun = lt_replay_check_find_note(&record, LT_NOTE_BEGIN);
  lt_note *ended = lt_replay_check_find_note(&record, LT_NOTE_END);
  lt_status status = LT_OK;
  c->counts.calls += record.call_count;
  if (!is_program(begun)) {
    status = reopen_calls(c, run, &record, err);
  } else {
    status = ended == NULL ? end_of_record(c, run, err) : recall_program(c, run, begun, ended, err);
  }
  if (status == LT_OK) {
    *ret_record = record;
  } else {
    lt_record_release(&record);
  }
  return status;
}

/* --- What comes of it --------------------------------------------------------------------------------------------- */
/* Without what may differ: how long it took, and how calls that it did not wait for have ended. */
static bool put_comparable(lt_buf *out, lt_str text) {
  size_t us = lt_str_find(text, LT_STR(",\"us\":"), 0);
  size_t texts = lt_str_find(text, LT_STR(",\"texts\":["), 0);
  size_t calls = lt_str_find(text, LT_STR(",\"calls\":["), 0);
  size_t values = lt_str_find(text, LT_STR("],\"values\":{"), 0);
  if (texts == SIZE_MAX || calls == SIZE_MAX) {
    return false;
  }
  lt_buf_add(out, lt_str_sub(text, 0, us < texts ? us : texts));
  lt_buf_add(out, lt_str_sub(text, texts, calls));
  if (values != SIZE_MAX) {
    lt_buf_add(out, lt_str_sub(text, values, text.n));
  }
  return out->status == LT_OK;
}

#define SHOWN_BEFORE 40 /* bytes of what is the same, and ... */
#define SHOWN_BEHIND 160

/* Round the first difference. */
static void put_difference(lt_buf *out, lt_str old, lt_str new) {
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

static void compare(lt_check *c, const lt_replay_check_program *program, lt_str new_text) {
  lt_str run = lt_buf_view(&program->run), old_text = lt_buf_view(&program->text);
  lt_buf old, new, detail;
  lt_buf_init(&old, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&new, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&detail, LT_KIB);
  bool readable = put_comparable(&old, old_text) && put_comparable(&new, new_text);
  if (!readable) {
    put_fault(c, "program ", run, ": no memory to compare how it ended, or that is no end", LT_STR(""));
  } else if (!lt_str_eq(lt_buf_view(&old), lt_buf_view(&new))) {
    put_difference(&detail, lt_buf_view(&old), lt_buf_view(&new));
    lt_buf_addc(&detail, program->in_process ? " (its clock and its random numbers are not on record)" : "");
    put_fault(c, "program ", run, ": it ended otherwise: ", lt_buf_view(&detail));
  }
  lt_buf_release(&old);
  lt_buf_release(&new);
  lt_buf_release(&detail);
}

void lt_replay_check_ended(lt_check *c, lt_str run) {
  const lt_replay_check_program *one = lt_replay_check_find_program(c, run);
  if (one != NULL && !one->given && !one->compared) {
    put_fault(c, "program ", run, ": how it ended is too long to be compared, or has a secret in it", LT_STR(""));
  }
}

static void note(lt_journal *self, lt_str run, const lt_note *what, void (*on_failure)(void *arg, const lt_err *err),
                 void *arg) {
  lt_check *c = check_of(self);
  lt_replay_check_program *one = what->kind == LT_NOTE_END ? lt_replay_check_find_program(c, run) : NULL;
  (void)on_failure;
  (void)arg;
  if (one != NULL && !one->given) {
    one->compared = true;
    compare(c, one, what->text);
  }
}

static lt_status begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  lt_check *c = check_of(self);
  for (const lt_replay_check_call *one = c->calls; one != NULL; one = one->next) {
    if (one->seq == call->seq && one->hash == call->hash && lt_str_eq(lt_buf_view(&one->run), call->run)) {
      *ret_id = one->id;
      return LT_OK;
    }
  }
  c->beyond = true;
  return lt_fail(err, LT_E_DIVERGED, "the record ends here: call %u of %.*s, %.*s %.*s, is not on it",
                 (unsigned)call->seq, LT_STR_ARG(below_prompt(call->run)), LT_STR_ARG(call->tool),
                 LT_STR_ARG(lt_str_sub(call->input, 0, LT_RECORD_SHOWN_BYTES)));
}

static void compare_answer(lt_check *c, const lt_replay_check_call *call, lt_status status, lt_str answer) {
  lt_buf detail;
  lt_str then = lt_buf_view(&call->answer);
  if (status == call->status && lt_str_eq(answer, then)) {
    return;
  }
  lt_buf_init(&detail, LT_KIB);
  if (status != call->status) {
    lt_buf_printf(&detail, "%s, and on record %s: ", lt_status_name(status), lt_status_name(call->status));
  }
  put_difference(&detail, then, answer);
  put_fault(c, "call ", lt_buf_view(&call->run), ": its answer is another: ", lt_buf_view(&detail));
  lt_buf_release(&detail);
}

/* One that went another way says itself how, and one that was cut short has been told why. */
static lt_status finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  lt_check *c = check_of(self);
  const lt_replay_check_call *call = find_call(c, id);
  (void)err;
  if (call != NULL && status != LT_E_DIVERGED && status != LT_E_CANCELLED) {
    compare_answer(c, call, status, answer);
  }
  return LT_OK;
}

/* --- Being there -------------------------------------------------------------------------------------------------- */
lt_check *lt_replay_check_new(const lt_replay_check_options *options) {
  lt_check *c = lt_mem_zalloc(1, sizeof *c);
  if (c != NULL) {
    c->journal = (lt_journal){.begin = begin, .finish = finish, .note = note, .recall = recall, .final = true};
    lt_replay_check_runner_init(&c->runner);
    c->options = *options;
    lt_buf_init(&c->fault, 4 * LT_KIB);
    lt_buf_init(&c->reasons, 4 * LT_KIB);
  }
  return c;
}

void lt_replay_check_free(lt_check *c) {
  if (c == NULL) {
    return;
  }
  for (lt_replay_check_program *one = c->programs, *next; one != NULL; one = next) {
    next = one->next;
    lt_buf_release(&one->run);
    lt_buf_release(&one->text);
    lt_mem_free(one);
  }
  for (lt_replay_check_call *one = c->calls, *next; one != NULL; one = next) {
    next = one->next;
    lt_buf_release(&one->run);
    lt_buf_release(&one->answer);
    lt_mem_free(one);
  }
  lt_buf_release(&c->fault);
  lt_buf_release(&c->reasons);
  lt_mem_free(c);
}

lt_journal *lt_replay_check_journal(lt_check *c) {
  return &c->journal;
}

lt_runner *lt_replay_check_runner(lt_check *c) {
  return &c->runner;
}

lt_str lt_replay_check_reasons(const lt_check *c) {
  return lt_buf_view(&c->reasons);
}

lt_replay_check_counts lt_replay_check_count(const lt_check *c) {
  return c->counts;
}

lt_str lt_replay_check_fault(const lt_check *c) {
  return lt_buf_view(&c->fault);
}

bool lt_replay_check_is_beyond(const lt_check *c) {
  return c->beyond;
}
