/* What the tests of the tape share: runs that are killed at a chosen place and run again. A fake journal in memory, one
 * before it that goes dark after so many records, and tools "e" that count what they have done. */
#ifndef LT_TESTS_REPLAY_FIX_H
#define LT_TESTS_REPLAY_FIX_H

#include "run_fix.h"
#include "replay/tape.h"

/* --- A fake journal in memory ------------------------------------------------------------------------------------- */
/* Of plain malloc: it does not take part when memory is made to run out. */
typedef struct fake_note {
  struct fake_note *next;
  lt_note note;
} fake_note;

typedef struct fake_call {
  struct fake_call *next;
  lt_recorded_call call;
} fake_call;

typedef struct fake_journal {
  lt_journal base;
  fake_note *notes, **last_note;
  fake_call *calls, **last_call;
  int64_t last_id;
} fake_journal;

static inline lt_str fake_copy(lt_str text) {
  char *bytes = malloc(text.n + 1);
  memcpy(bytes, text.n > 0 ? text.p : "", text.n);
  return lt_str_from(bytes, text.n);
}

static inline void fake_free_text(lt_str text) {
  char *bytes;
  memcpy(&bytes, &text.p, sizeof bytes);
  free(bytes);
}

static inline void fake_note_add(lt_journal *self, lt_str run, const lt_note *what,
                                 void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  fake_journal *j = (fake_journal *)(void *)self;
  fake_note *one = calloc(1, sizeof *one);
  (void)run;
  (void)on_failure;
  (void)arg;
  one->note = *what;
  one->note.text = fake_copy(what->text);
  *j->last_note = one;
  j->last_note = &one->next;
}

static inline lt_status fake_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  fake_journal *j = (fake_journal *)(void *)self;
  fake_call **place = &j->calls;
  while (*place != NULL && (*place)->call.seq < call->seq) {
    place = &(*place)->next;
  }
  fake_call *one = *place;
  if (one != NULL && one->call.seq == call->seq) {
    bool same = one->call.hash == call->hash && !one->call.finished;
    *ret_id = one->call.id;
    return same ? LT_OK : lt_fail(err, LT_E_INTERNAL, "call %d is on record", (int)call->seq);
  }
  one = calloc(1, sizeof *one);
  one->call = (lt_recorded_call){.id = ++j->last_id,
                                 .seq = call->seq,
                                 .hash = call->hash,
                                 .tool = fake_copy(call->tool),
                                 .input = fake_copy(call->input),
                                 .repeatable = call->repeatable};
  one->next = *place;
  *place = one;
  *ret_id = one->call.id;
  return LT_OK;
}

static inline lt_status fake_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) {
  fake_journal *j = (fake_journal *)(void *)self;
  fake_call *one = j->calls;
  while (one != NULL && one->call.id != id) {
    one = one->next;
  }
  if (one == NULL || one->call.finished) {
    return lt_fail(err, LT_E_NOTFOUND, "no open call %d", (int)id);
  }
  one->call.finished = true;
  one->call.status = status;
  fake_free_text(one->call.answer);
  one->call.answer = fake_copy(answer);
  return LT_OK;
}

static inline lt_status fake_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) {
  const fake_journal *j = (fake_journal *)(void *)self;
  lt_record record = {0};
  size_t notes = 0, calls = 0;
  (void)run;
  for (const fake_note *one = j->notes; one != NULL; one = one->next) {
    notes++;
  }
  for (const fake_call *one = j->calls; one != NULL; one = one->next) {
    calls++;
  }
  lt_arena_init(&record.arena, LT_GIB);
  record.notes = lt_arena_zalloc(&record.arena, notes + 1, sizeof *record.notes);
  record.calls = lt_arena_zalloc(&record.arena, calls + 1, sizeof *record.calls);
  if (record.notes == NULL || record.calls == NULL) {
    lt_record_release(&record);
    return lt_fail(err, LT_E_NOMEM, "no memory for the record");
  }
  for (const fake_note *one = j->notes; one != NULL; one = one->next) {
    record.notes[record.note_count++] = one->note;
  }
  for (const fake_call *one = j->calls; one != NULL; one = one->next) {
    record.calls[record.call_count++] = one->call;
  }
  *ret_record = record;
  return LT_OK;
}

static inline fake_journal *fake_journal_new(void) {
  fake_journal *j = calloc(1, sizeof *j);
  j->base = (lt_journal){.begin = fake_begin, .finish = fake_finish, .note = fake_note_add, .recall = fake_recall};
  j->last_note = &j->notes;
  j->last_call = &j->calls;
  return j;
}

static inline void fake_journal_free(fake_journal *j) {
  for (fake_note *one = j->notes, *next; one != NULL; one = next) {
    next = one->next;
    fake_free_text(one->note.text);
    free(one);
  }
  for (fake_call *one = j->calls, *next; one != NULL; one = next) {
    next = one->next;
    fake_free_text(one->call.answer);
    fake_free_text(one->call.tool);
    fake_free_text(one->call.input);
    free(one);
  }
  free(j);
}

static inline size_t count_notes(const fake_journal *j, uint32_t kind) {
  size_t count = 0;
  for (const fake_note *one = j->notes; one != NULL; one = one->next) {
    count += one->note.kind == kind;
  }
  return count;
}

/* --- The lights --------------------------------------------------------------------------------------------------- */
#define EFFECTS  64
#define FOR_EVER UINT32_MAX

/* A program, its tools, and what is left of them when it is killed. */
typedef struct scene {
  world *w;
  lt_journal journal;  /* what the run has: it goes dark after `left` records */
  lt_journal *records; /* behind it */
  fake_journal *fake;  /* the same; NULL: it is the store's */
  unsigned left, taken;
  bool dark;
  bool strict; /* nothing is begun, and the program's end is not recalled: it must do without the world */
  bool prompt; /* it goes dark right behind the last record, not when one more is to be made */
  lt_cancel cancel;

  lt_provider tools;
  unsigned done[EFFECTS]; /* how often tool calls with that n have done something */
  unsigned invoked;       /* since the last play */
  lt_approver approver;
  enum { APPROVES, DENIES, KILLS } person;
  unsigned asked;

  lt_run_request request;
  lt_caller caller;
  lt_run_function functions[2];
  lt_buf told; /* what was told while the lights were on */
  lt_buf end;  /* how it ended: tell_again */
  lt_buf said; /* all that was said, as the result has it */
} scene;

static inline scene *scene_of(lt_journal *self) {
  return (scene *)(void *)((char *)self - offsetof(scene, journal));
}

static inline void lights_out(scene *s) {
  s->dark = true;
  lt_cancel_fire(&s->cancel, LT_E_CANCELLED);
}

/* Whether one more record is made. */
static inline bool take_record(scene *s) {
  if (s->dark) {
    return false;
  }
  if (s->left == 0) {
    lights_out(s);
    return false;
  }
  s->taken++;
  s->left -= s->left != FOR_EVER;
  if (s->left == 0 && s->prompt) {
    lights_out(s);
  }
  return true;
}

static inline lt_status scene_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  scene *s = scene_of(self);
  if (s->strict) {
    return lt_fail(err, LT_E_DIVERGED, "nothing is to be called");
  }
  return take_record(s) ? s->records->begin(s->records, call, ret_id, err) : lt_fail(err, LT_E_IO, "it is dark");
}

static inline lt_status scene_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) {
  scene *s = scene_of(self);
  return take_record(s) ? s->records->finish(s->records, id, status, answer, err) : lt_fail(err, LT_E_IO, "it is dark");
}

static inline void scene_note(lt_journal *self, lt_str run, const lt_note *what,
                              void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  scene *s = scene_of(self);
  if (!s->strict && take_record(s)) {
    s->records->note(s->records, run, what, on_failure, arg);
  }
}

static inline lt_status scene_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) {
  scene *s = scene_of(self);
  LT_TRY(s->records->recall(s->records, run, ret_record, err));
  for (size_t i = 0; s->strict && i < ret_record->note_count; i++) {
    if (ret_record->notes[i].kind == LT_NOTE_END) {
      ret_record->notes[i].kind = 0;
    }
  }
  return LT_OK;
}

/* --- The tools ---------------------------------------------------------------------------------------------------- */
/* Without memory of its own. */
static inline long field_of(lt_str input, const char *key) {
  size_t at = lt_str_find(input, lt_str_of(key), 0);
  return at == SIZE_MAX ? 0 : strtol(input.p + at + strlen(key), NULL, 10);
}

/* act, read, asked: {n, ms?, fail?, bytes?}: does something, takes its time, answers {"n": n}. */
static inline lt_status effect_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                      lt_buf *out, lt_err *err) {
  scene *s = (scene *)(void *)((char *)base - offsetof(scene, tools));
  (void)name;
  s->invoked++;
  long n = field_of(input, "\"n\":");
  s->done[n % EFFECTS]++;
  long ms = field_of(input, "\"ms\":");
  if (ms > 0) {
    LT_TRY(fake_wait(&s->w->tools, (uint64_t)ms, options, err));
  }
  if (field_of(input, "\"fail\":") != 0) {
    lt_buf_printf(out, "%ld went wrong", n);
    return LT_E_TOOL;
  }
  long bytes = field_of(input, "\"bytes\":");
  if (bytes > 0) {
    put_filler(out, bytes);
  } else {
    lt_buf_printf(out, "{\"n\":%ld}", n);
  }
  return LT_OK;
}

#define EFFECT_SCHEMA                                                                                    \
  TEXT(                                                                                                  \
      "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"ms\":{\"type\":\"integer\"}," \
      "\"fail\":{\"type\":\"integer\"},\"bytes\":{\"type\":\"integer\"}}}")
static const lt_tool_spec effect_specs[] = {
    {.name = TEXT("act"), .input_schema = EFFECT_SCHEMA},
    {.name = TEXT("read"), .input_schema = EFFECT_SCHEMA, .annotations = TEXT("{\"readOnlyHint\":true}")},
    {.name = TEXT("asked"), .input_schema = EFFECT_SCHEMA, .needs_approval = true},
};

static inline lt_status effect_function(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                                        lt_err *err) {
  scene *s = arg;
  lt_buf input;
  lt_buf_init(&input, LT_KIB);
  lt_buf_printf(&input, "{\"n\":%.*s}", LT_STR_ARG(lt_str_sub(args, 1, args.n - 1)));
  lt_status status = effect_invoke(&s->tools, LT_STR("act"), lt_buf_view(&input), options, out, err);
  lt_buf_release(&input);
  return status;
}

static inline lt_status scene_ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                                  lt_decision *ret_decision, lt_err *err) {
  scene *s = (scene *)(void *)((char *)self - offsetof(scene, approver));
  const lt_invoke_options options = {.cancel = cancel};
  (void)what, (void)arena;
  s->asked++;
  if (s->person == KILLS) {
    lights_out(s);
    return fake_wait(&s->w->tools, UINT64_MAX, &options, err);
  }
  if (s->person == DENIES) {
    ret_decision->reason = LT_STR("not today");
    return LT_OK;
  }
  ret_decision->is_approved = true;
  return LT_OK;
}

/* --- Playing ------------------------------------------------------------------------------------------------------ */
static inline void scene_on_text(void *arg, lt_said said, lt_str text) {
  scene *s = arg;
  (void)said;
  if (!s->dark) {
    lt_buf_add(&s->told, text);
    lt_buf_byte(&s->told, '\n');
  }
}

static inline void scene_open(scene *s, world *w, const char *code) {
  *s = (scene){.w = w, .fake = fake_journal_new(), .left = FOR_EVER};
  s->records = &s->fake->base;
  s->journal = (lt_journal){.begin = scene_begin, .finish = scene_finish, .note = scene_note, .recall = scene_recall};
  s->tools = (lt_provider){.name = LT_STR("e"), .invoke = effect_invoke};
  s->approver.ask = scene_ask;
  s->functions[0] = (lt_run_function){.name = LT_STR("once"), .call = effect_function, .arg = s};
  s->functions[1] = (lt_run_function){.name = LT_STR("often"), .call = effect_function, .arg = s, .repeatable = true};
  s->request = (lt_run_request){.code = lt_str_of(code),
                                .functions = s->functions,
                                .function_count = 2,
                                .caller = &s->caller,
                                .cancel = &s->cancel,
                                .on_text = scene_on_text,
                                .arg = s};
  lt_buf_init(&s->told, LT_GIB);
  lt_buf_init(&s->end, LT_GIB);
  lt_buf_init(&s->said, LT_GIB);
  assert_int_equal(lt_door_set_tools(w->door, &s->tools, effect_specs, 3, NULL), LT_OK);
}

static inline void scene_close(scene *s) {
  lt_door_remove(s->w->door, &s->tools);
  if (s->fake != NULL) {
    fake_journal_free(s->fake);
  }
  lt_buf_release(&s->told);
  lt_buf_release(&s->end);
  lt_buf_release(&s->said);
}

/* As a prompt sees it: how it ended, what was said, which calls failed. */
static inline void tell_again(scene *s, const lt_run_result *r) {
  lt_buf_clear(&s->end);
  lt_buf_clear(&s->said);
  tell_end(r, &s->end);
  tell_said(r, &s->end);
  for (const lt_run_call *c = r->calls; c != NULL; c = c->next) {
    lt_buf_printf(&s->end, " %.*s%s%.*s", LT_STR_ARG(c->tool),
                  c->error.n > 0 ? "!"
                  : c->finished  ? ""
                                 : "?",
                  LT_STR_ARG(c->error));
  }
  for (const lt_run_text *t = r->texts; t != NULL; t = t->next) {
    lt_buf_add(&s->said, t->text);
    lt_buf_byte(&s->said, '\n');
  }
}

/* Longer than the clock of a program stands still. */
static inline void wait_a_little(const scene *s) {
  const lt_invoke_options nobody = {0};
  assert_int_equal(fake_wait(&s->w->tools, 12, &nobody, NULL), LT_OK);
}

/* Runs it until so many records are made; `again`: there may be some. What lt_quickjs_run says. */
static inline lt_status play(scene *s, bool again, unsigned left) {
  lt_run_result result;
  s->left = left;
  s->taken = s->invoked = 0;
  s->dark = false;
  lt_cancel_init(&s->cancel);
  lt_buf_clear(&s->told);
  s->caller = (lt_caller){.user = LT_STR("u"),
                          .run = LT_STR("p/1"),
                          .approver = &s->approver,
                          .journal = &s->journal,
                          .noted = true,
                          .recalled = again};
  lt_run_result_init(&result);
  lt_status status = lt_quickjs_run(s->w->quickjs, &s->request, &result, NULL);
  tell_again(s, &result);
  lt_run_result_release(&result);
  return status;
}

/* Again without the world, and without the note of its end. */
static inline void play_strictly(scene *s) {
  s->strict = true;
  assert_int_equal(play(s, true, FOR_EVER), LT_OK);
  s->strict = false;
  assert_int_equal(s->invoked, 0);
}

#endif
