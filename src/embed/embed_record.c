#include "embed/embed_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "replay/notes.h"

/* What an entry is: a note, a call, or the fact that the host was asked about a call. */
typedef enum embed_recorded_kind { EMBED_RECORDED_NOTE, EMBED_RECORDED_CALL, EMBED_RECORDED_ASKED } embed_recorded_kind;

/* Its texts are behind it, but for the answer. While an ASKED waits for the host it has the tool. */
typedef struct embed_recorded {
  struct embed_recorded *next;
  embed_recorded_kind kind;
  lt_str run; /* empty: the program; of what its calls run themselves, the rest of the name: "/3/1" (lt_caller.run) */
  lt_note note;
  lt_recorded_call call;  /* of ASKED: seq, and the tool */
  uint64_t number;        /* ASKED: the host's; 0: it was taken */
  bool is_for_the_answer; /* ASKED: to carry the call out; else, to decide about it */
  char *answer;           /* owned */
} embed_recorded;

/* --- Names -------------------------------------------------------------------------------------------------------- */
/* The name of a run below the program's; false: it is not below it, and nothing of it is recorded. */
static bool embed_record_names(const lt_embed_record *record, lt_str run, lt_str *ret_rest) {
  lt_str own = lt_str_of(record->id);
  *ret_rest = lt_str_sub(run, own.n, run.n);
  return lt_str_starts(run, own) && (ret_rest->n == 0 || ret_rest->p[0] == '/');
}

static int embed_record_compare_name(const embed_recorded *a, const embed_recorded *b) {
  int order = lt_str_cmp(a->run, b->run);
  return order != 0 ? order : a->call.seq < b->call.seq ? -1 : a->call.seq > b->call.seq;
}

/* Calls before what was asked about them. */
static int embed_record_compare(const void *x, const void *y) {
  const embed_recorded *a = *(const embed_recorded *const *)x, *b = *(const embed_recorded *const *)y;
  int order = embed_record_compare_name(a, b);
  return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/* What the other process has recorded of a call, in the index: the first of `ret_count`. */
static embed_recorded **embed_record_find(const lt_embed_record *record, const lt_embed_call_name *name,
                                          size_t *ret_count) {
  embed_recorded wanted = {.call = {.seq = name->seq}};
  size_t low = 0, high = record->earlier_count;
  *ret_count = 0;
  if (high == 0 || name->seq == 0 || !embed_record_names(record, name->run, &wanted.run)) {
    return NULL;
  }
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (embed_record_compare_name(record->earlier[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  while (low + *ret_count < record->earlier_count &&
         embed_record_compare_name(record->earlier[low + *ret_count], &wanted) == 0) {
    ++*ret_count;
  }
  return record->earlier + low;
}

static embed_recorded *embed_record_find_call(const lt_embed_record *record, const lt_embed_call_name *name) {
  size_t count;
  embed_recorded **found = embed_record_find(record, name, &count);
  return count > 0 && found[0]->kind == EMBED_RECORDED_CALL ? found[0] : NULL;
}

/* --- Entries ------------------------------------------------------------------------------------------------------ */
static lt_str embed_record_place(char **at, lt_str text) {
  lt_str copy = lt_str_from(*at, text.n);
  if (text.n > 0) {
    memcpy(*at, text.p, text.n);
  }
  *at += text.n;
  return copy;
}

static void embed_record_lose(lt_embed_record *record, lt_status why) {
  record->lost = lt_status_first(record->lost, why);
}

static bool embed_record_has_room(lt_embed_record *record, size_t bytes) {
  if (bytes > LT_EMBED_RECORD_BYTES - record->bytes) {
    embed_record_lose(record, LT_E_LIMIT);
  }
  record->bytes += record->lost == LT_OK ? bytes : 0;
  return record->lost == LT_OK;
}

/* NULL: the record is incomplete. */
static embed_recorded *embed_record_add(lt_embed_record *record, const embed_recorded *what) {
  const lt_recorded_call *call = &what->call;
  size_t bytes = sizeof *what + what->run.n + what->note.text.n + call->tool.n + call->input.n + call->edited_input.n;
  if (!embed_record_has_room(record, bytes)) {
    return NULL;
  }
  embed_recorded *entry = lt_mem_alloc(bytes);
  if (entry == NULL) {
    embed_record_lose(record, LT_E_NOMEM);
    return NULL;
  }
  char *at = (char *)(entry + 1);
  *entry = *what;
  entry->next = NULL;
  entry->run = embed_record_place(&at, what->run);
  entry->note.text = embed_record_place(&at, what->note.text);
  entry->call.tool = embed_record_place(&at, call->tool);
  entry->call.input = embed_record_place(&at, call->input);
  entry->call.edited_input = embed_record_place(&at, call->edited_input);
  entry->call.id = (int64_t)(intptr_t)entry;
  record->count++;
  *record->last = entry;
  record->last = &entry->next;
  return entry;
}

/* The first answer stays: runs that were recalled borrow it. */
static void embed_record_answer(lt_embed_record *record, embed_recorded *entry, lt_status status, lt_str answer) {
  if (entry->answer != NULL || !embed_record_has_room(record, answer.n)) {
    return;
  }
  entry->answer = lt_mem_strdup(answer);
  if (entry->answer == NULL) {
    embed_record_lose(record, LT_E_NOMEM);
    return;
  }
  entry->call.answer = lt_str_from(entry->answer, answer.n);
  entry->call.status = status;
  entry->call.finished = true;
}

/* --- The journal -------------------------------------------------------------------------------------------------- */
/* A call without a number is one that no replay looks for. An incomplete record does not stop the run. */
static lt_status embed_record_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  lt_embed_record *record = (lt_embed_record *)(void *)self;
  lt_str run;
  (void)err;
  *ret_id = 0;
  if (call->seq == 0 || !embed_record_names(record, call->run, &run)) {
    return LT_OK;
  }
  const embed_recorded *entry = embed_record_find_call(record, &(lt_embed_call_name){call->run, call->seq});
  if (entry == NULL) {
    const lt_recorded_call recorded = {.seq = call->seq,
                                       .hash = call->hash,
                                       .tool = call->tool,
                                       .input = call->input,
                                       .edited_input = call->edited_input,
                                       .repeatable = call->repeatable};
    entry = embed_record_add(record, &(embed_recorded){.kind = EMBED_RECORDED_CALL, .run = run, .call = recorded});
  }
  *ret_id = entry != NULL ? entry->call.id : 0;
  return LT_OK;
}

static lt_status embed_record_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) {
  lt_embed_record *record = (lt_embed_record *)(void *)self;
  embed_recorded *entry = (embed_recorded *)(intptr_t)id;
  (void)err;
  if (entry != NULL) {
    embed_record_answer(record, entry, status, answer);
  }
  return LT_OK;
}

/* Not the folder of a program that went on elsewhere, out of which files are moved: a text that comes from outside must
 * not say which folder that is, and a snapshot has no files anyway. Not the end: a program that waits has none. */
static bool embed_record_keeps(const lt_note *note, lt_str run) {
  switch (note->kind) {
    case LT_NOTE_BEGIN:
    case LT_NOTE_READY:
    case LT_NOTE_TICK:
    case LT_NOTE_MODULE:
    case LT_NOTE_OPEN:
      return true;
    case LT_NOTE_END: /* of a program that a call of this one has run */
      return run.n > 0;
    default:
      return false;
  }
}

static void embed_record_note(lt_journal *self, lt_str run, const lt_note *note,
                              void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_embed_record *record = (lt_embed_record *)(void *)self;
  lt_str rest;
  (void)on_failure, (void)arg; /* what is lost is found out when a snapshot is wanted */
  if (embed_record_names(record, run, &rest) && embed_record_keeps(note, rest)) {
    (void)embed_record_add(record, &(embed_recorded){.kind = EMBED_RECORDED_NOTE, .run = rest, .note = *note});
  }
}

static void embed_record_on_loss(lt_journal *self, lt_str run, lt_status why) {
  lt_embed_record *record = (lt_embed_record *)(void *)self;
  lt_str rest;
  if (embed_record_names(record, run, &rest)) {
    embed_record_lose(record, why);
  }
}

static int embed_record_compare_seq(const void *a, const void *b) {
  uint64_t x = ((const lt_recorded_call *)a)->seq, y = ((const lt_recorded_call *)b)->seq;
  return x < y ? -1 : x > y;
}

/* The texts are those of this record, which is there for longer than the run. */
static lt_status embed_record_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) {
  const lt_embed_record *from = (const lt_embed_record *)(const void *)self;
  lt_record record = {0};
  lt_str rest;
  size_t count = 0;
  bool is_known = embed_record_names(from, run, &rest);
  for (const embed_recorded *entry = from->first; is_known && entry != NULL; entry = entry->next) {
    count += lt_str_eq(entry->run, rest);
  }
  lt_arena_init(&record.arena, LT_EMBED_RECORD_BYTES);
  record.notes = lt_arena_zalloc(&record.arena, count + 1, sizeof *record.notes);
  record.calls = lt_arena_zalloc(&record.arena, count + 1, sizeof *record.calls);
  if (record.notes == NULL || record.calls == NULL) {
    lt_record_release(&record);
    return lt_fail(err, LT_E_NOMEM, "no memory for the record of the run");
  }
  for (const embed_recorded *entry = from->first; count > 0 && entry != NULL; entry = entry->next) {
    bool is_wanted = lt_str_eq(entry->run, rest);
    if (is_wanted && entry->kind == EMBED_RECORDED_NOTE) {
      record.notes[record.note_count++] = entry->note;
    } else if (is_wanted && entry->kind == EMBED_RECORDED_CALL) {
      record.calls[record.call_count++] = entry->call;
    }
  }
  qsort(record.calls, record.call_count, sizeof *record.calls, embed_record_compare_seq);
  *ret_record = record;
  return LT_OK;
}

lt_embed_record *lt_embed_record_new(void) {
  lt_embed_record *record = lt_mem_zalloc(1, sizeof *record);
  if (record != NULL) {
    record->last = &record->first;
    record->base = (lt_journal){.begin = embed_record_begin,
                                .finish = embed_record_finish,
                                .note = embed_record_note,
                                .lose = embed_record_on_loss,
                                .recall = embed_record_recall};
  }
  return record;
}

void lt_embed_record_free(lt_embed_record *record) {
  if (record == NULL) {
    return;
  }
  for (embed_recorded *entry = record->first; entry != NULL;) {
    embed_recorded *next = entry->next;
    lt_mem_free(entry->answer);
    lt_mem_free(entry);
    entry = next;
  }
  lt_mem_free(record->earlier);
  lt_mem_free(record);
}

void lt_embed_record_attach(lt_embed_record *record, const lt_secrets *secrets, lt_caller *caller) {
  LT_CHECK(caller->run.n < sizeof record->id);
  memcpy(record->id, caller->run.p, caller->run.n);
  caller->journal = lt_masked_records_journal(&record->masked, &record->base, secrets);
  caller->noted = true;
  caller->recalled = record->is_restored;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */
struct embed_recorded *lt_embed_record_ask(lt_embed_record *record, const lt_embed_call_name *name,
                                           bool is_for_the_answer, lt_str tool, uint64_t number) {
  lt_str run;
  return name->seq != 0 && embed_record_names(record, name->run, &run)
             ? embed_record_add(record, &(embed_recorded){.kind = EMBED_RECORDED_ASKED,
                                                          .run = run,
                                                          .call = {.seq = name->seq, .tool = tool},
                                                          .number = number,
                                                          .is_for_the_answer = is_for_the_answer})
             : NULL;
}

void lt_embed_record_end_ask(struct embed_recorded *asked) {
  if (asked != NULL) {
    asked->call.tool = LT_STR("");
  }
}

/* The numbers of a call that were not taken are of one process, and grow there: the highest is the last one's. */
uint64_t lt_embed_record_take_number(lt_embed_record *record, const lt_embed_call_name *name) {
  size_t count;
  uint64_t number = 0;
  embed_recorded **found = embed_record_find(record, name, &count);
  for (size_t i = 0; i < count; i++) {
    number = found[i]->number > number ? found[i]->number : number;
    found[i]->number = 0;
    if (found[i]->kind == EMBED_RECORDED_ASKED) {
      lt_embed_record_end_ask(found[i]); /* it is asked again */
    }
  }
  return number;
}

bool lt_embed_record_was_begun(const lt_embed_record *record, const lt_embed_call_name *name,
                               lt_str *ret_edited_input) {
  const embed_recorded *entry = embed_record_find_call(record, name);
  if (entry != NULL) {
    *ret_edited_input = entry->call.edited_input;
  }
  return entry != NULL;
}

lt_str lt_embed_record_next_open_tool(const lt_embed_record *record, size_t *at) {
  while (*at < record->earlier_count) {
    const embed_recorded *entry = record->earlier[(*at)++];
    if (entry->kind == EMBED_RECORDED_ASKED && entry->call.tool.n > 0) {
      return entry->call.tool;
    }
  }
  return LT_STR("");
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
static void embed_record_put_number(lt_json_writer *w, const char *key, uint64_t number) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)number); /* all bits of a hash, too */
}

static void embed_record_put_flag(lt_json_writer *w, const char *key, bool is_so) {
  lt_json_key(w, key);
  lt_json_put_bool(w, is_so);
}

static void embed_record_put_entry(lt_json_writer *w, const embed_recorded *entry) {
  lt_json_begin_object(w);
  if (entry->run.n > 0) {
    lt_json_put_pair(w, "run", entry->run);
  }
  if (entry->kind == EMBED_RECORDED_NOTE) {
    embed_record_put_number(w, "note", entry->note.kind);
    embed_record_put_number(w, "number", entry->note.number);
    embed_record_put_number(w, "timeUs", entry->note.time_us);
    lt_json_put_pair(w, "text", entry->note.text);
  } else if (entry->kind == EMBED_RECORDED_CALL) {
    embed_record_put_number(w, "call", entry->call.seq);
    embed_record_put_number(w, "hash", entry->call.hash);
    lt_json_put_pair(w, "tool", entry->call.tool);
    lt_json_put_pair(w, "input", entry->call.input);
    lt_json_put_pair(w, "editedInput", entry->call.edited_input);
    embed_record_put_flag(w, "repeatable", entry->call.repeatable);
    if (entry->call.finished) {
      embed_record_put_number(w, "status", entry->call.status);
      lt_json_put_pair(w, "answer", entry->call.answer);
    }
  } else {
    embed_record_put_number(w, "asked", entry->call.seq);
    embed_record_put_number(w, "number", entry->number);
    embed_record_put_flag(w, "forTheAnswer", entry->is_for_the_answer);
    if (entry->call.tool.n > 0) {
      lt_json_put_pair(w, "tool", entry->call.tool);
    }
  }
  lt_json_end_object(w);
}

void lt_embed_record_put(const lt_embed_record *record, lt_json_writer *w) {
  lt_json_key(w, "entries");
  lt_json_begin_array(w);
  for (const embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    embed_record_put_entry(w, entry);
  }
  lt_json_end_array(w);
}

/* --- From JSON ---------------------------------------------------------------------------------------------------- */
/* The text may be anybody's. */
typedef struct embed_record_reader {
  lt_json entry;
  lt_arena arena;
  lt_status status; /* the first failure; LT_E_INVALID: this is no record */
} embed_record_reader;

static void embed_record_expect(embed_record_reader *r, bool is_so) {
  r->status = lt_status_first(r->status, is_so ? LT_OK : LT_E_INVALID);
}

static uint64_t embed_record_take_int(embed_record_reader *r, const char *key) {
  int64_t number = 0;
  embed_record_expect(r, lt_json_int(lt_json_get(r->entry, key), &number));
  return (uint64_t)number;
}

static lt_str embed_record_take_text(embed_record_reader *r, const char *key) {
  lt_str text = LT_STR("");
  lt_json value = lt_json_get(r->entry, key);
  embed_record_expect(r, lt_json_typeof(value) == LT_JSON_STRING);
  if (r->status == LT_OK && !lt_json_str(value, &r->arena, &text)) {
    r->status = LT_E_NOMEM;
  }
  return text;
}

static lt_str embed_record_take_run(embed_record_reader *r) {
  if (!lt_json_exists(lt_json_get(r->entry, "run"))) {
    return LT_STR("");
  }
  lt_str run = embed_record_take_text(r, "run");
  embed_record_expect(r, lt_str_starts(run, LT_STR("/")));
  return run;
}

static embed_recorded embed_record_read_call(embed_record_reader *r) {
  embed_recorded entry = {.kind = EMBED_RECORDED_CALL};
  entry.call.seq = embed_record_take_int(r, "call");
  entry.call.hash = embed_record_take_int(r, "hash");
  entry.call.tool = embed_record_take_text(r, "tool");
  entry.call.input = embed_record_take_text(r, "input");
  entry.call.edited_input = embed_record_take_text(r, "editedInput");
  entry.call.repeatable = lt_json_bool(lt_json_get(r->entry, "repeatable"), false);
  embed_record_expect(r, entry.call.seq != 0 && entry.call.tool.n > 0);
  return entry;
}

static embed_recorded embed_record_read_other(embed_record_reader *r) {
  embed_recorded entry = {.kind = EMBED_RECORDED_ASKED};
  if (lt_json_exists(lt_json_get(r->entry, "asked"))) {
    entry.call.seq = embed_record_take_int(r, "asked");
    entry.number = embed_record_take_int(r, "number");
    entry.is_for_the_answer = lt_json_bool(lt_json_get(r->entry, "forTheAnswer"), false);
    if (lt_json_exists(lt_json_get(r->entry, "tool"))) {
      entry.call.tool = embed_record_take_text(r, "tool");
    }
    return entry;
  }
  entry.kind = EMBED_RECORDED_NOTE;
  entry.note.kind = (uint32_t)embed_record_take_int(r, "note");
  entry.note.number = embed_record_take_int(r, "number");
  entry.note.time_us = embed_record_take_int(r, "timeUs");
  entry.note.text = embed_record_take_text(r, "text");
  return entry;
}

/* A value is JSON, or empty where a function had none. */
static void embed_record_read_answer(lt_embed_record *record, embed_record_reader *r, embed_recorded *added) {
  uint64_t status = embed_record_take_int(r, "status");
  lt_str answer = embed_record_take_text(r, "answer");
  embed_record_expect(r, status <= LT_E_INTERNAL);
  embed_record_expect(r, status != LT_OK || answer.n == 0 || lt_json_check(answer, NULL) == LT_OK);
  if (r->status == LT_OK) {
    embed_record_answer(record, added, (lt_status)status, answer);
  }
}

static void embed_record_read_entry(lt_embed_record *record, embed_record_reader *r) {
  bool is_call = lt_json_exists(lt_json_get(r->entry, "call"));
  embed_recorded entry = is_call ? embed_record_read_call(r) : embed_record_read_other(r);
  entry.run = embed_record_take_run(r);
  embed_record_expect(r, entry.kind != EMBED_RECORDED_NOTE || embed_record_keeps(&entry.note, entry.run));
  embed_recorded *added = r->status == LT_OK ? embed_record_add(record, &entry) : NULL;
  if (added != NULL && is_call && lt_json_exists(lt_json_get(r->entry, "status"))) {
    embed_record_read_answer(record, r, added);
  }
}

/* Sorts what is on record of calls. False: there is no memory. */
static bool embed_record_index(lt_embed_record *record) {
  record->earlier = lt_mem_zalloc(record->count + 1, sizeof(embed_recorded *));
  if (record->earlier == NULL) {
    return false;
  }
  for (embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    if (entry->kind != EMBED_RECORDED_NOTE) {
      record->earlier[record->earlier_count++] = entry;
    }
  }
  qsort(record->earlier, record->earlier_count, sizeof(embed_recorded *), embed_record_compare);
  return true;
}

/* A call that the host was to carry out, and has not answered, is given to it again. False: a call is there twice. */
static bool embed_record_open_calls(lt_embed_record *record) {
  embed_recorded *call = NULL;
  for (size_t i = 0; i < record->earlier_count; i++) {
    embed_recorded *entry = record->earlier[i];
    bool is_same = call != NULL && embed_record_compare_name(call, entry) == 0;
    if (entry->kind == EMBED_RECORDED_CALL) {
      call = entry;
      if (is_same) {
        return false;
      }
    } else if (is_same && entry->is_for_the_answer && !call->call.finished) {
      call->call.repeatable = true;
    }
  }
  return true;
}

static void embed_record_read_all(lt_embed_record *record, embed_record_reader *r, lt_json snapshot) {
  lt_json entries = lt_json_get(snapshot, "entries");
  embed_record_expect(r, lt_json_typeof(entries) == LT_JSON_ARRAY);
  for (lt_json_iter it = lt_json_each(entries); r->status == LT_OK && lt_json_next(&it);) {
    r->entry = it.value;
    embed_record_read_entry(record, r);
  }
  r->status = lt_status_first(r->status, record->lost);
  if (r->status == LT_OK && !embed_record_index(record)) {
    r->status = LT_E_NOMEM;
  }
  embed_record_expect(r, embed_record_open_calls(record));
}

lt_status lt_embed_record_read(lt_embed_record *record, lt_json snapshot, lt_err *err) {
  embed_record_reader r = {.status = LT_OK};
  lt_arena_init(&r.arena, LT_CALL_INDEX_MAX_BYTES);
  embed_record_read_all(record, &r, snapshot);
  lt_arena_release(&r.arena);
  record->is_restored = true;
  return lt_fail_if(err, r.status, "%s",
                    r.status == LT_E_INVALID ? "this is no snapshot of a run, or a part of one"
                    : r.status == LT_E_LIMIT ? "the snapshot is too long"
                                             : "no memory for the snapshot");
}
