#include "embed/embed_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "replay/notes.h"

/* A note, a call, or that the host was asked about a call. */
typedef enum embed_recorded_kind { EMBED_RECORDED_NOTE, EMBED_RECORDED_CALL, EMBED_RECORDED_ASKED } embed_recorded_kind;

/* Its texts are behind it, but for the answer. */
typedef struct embed_recorded {
  struct embed_recorded *next;
  embed_recorded_kind kind;
  lt_note note;
  lt_recorded_call call; /* of ASKED: seq only */
  uint64_t number;       /* ASKED: the host's; 0: it was taken */
  bool is_earlier;       /* it comes from another process */
  char *answer;          /* owned */
} embed_recorded;

/* --- Entries ------------------------------------------------------------------------------------------------------ */
static lt_str embed_record_place(char **at, lt_str text) {
  lt_str copy = lt_str_from(*at, text.n);
  if (text.n > 0) {
    memcpy(*at, text.p, text.n);
  }
  *at += text.n;
  return copy;
}

static bool embed_record_has_room(lt_embed_record *record, size_t bytes) {
  record->is_incomplete |= bytes > LT_EMBED_RECORD_BYTES - record->bytes;
  record->bytes += record->is_incomplete ? 0 : bytes;
  return !record->is_incomplete;
}

/* NULL: it finds no room, and the record is incomplete. */
static embed_recorded *embed_record_add(lt_embed_record *record, const embed_recorded *what) {
  const lt_recorded_call *call = &what->call;
  size_t bytes = sizeof *what + what->note.text.n + call->tool.n + call->input.n + call->edited_input.n;
  embed_recorded *entry = embed_record_has_room(record, bytes) ? lt_mem_alloc(bytes) : NULL;
  if (entry == NULL) {
    record->is_incomplete = true;
    return NULL;
  }
  char *at = (char *)(entry + 1);
  *entry = *what;
  entry->next = NULL;
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

/* Only a run that was restored makes a call that is on record. */
static embed_recorded *embed_record_find_call(const lt_embed_record *record, uint64_t seq) {
  embed_recorded *entry = record->is_restored ? record->first : NULL;
  while (entry != NULL && (entry->kind != EMBED_RECORDED_CALL || entry->call.seq != seq)) {
    entry = entry->next;
  }
  return entry;
}

static void embed_record_answer(lt_embed_record *record, embed_recorded *entry, lt_status status, lt_str answer) {
  lt_mem_free(entry->answer);
  entry->answer = embed_record_has_room(record, answer.n) ? lt_mem_strdup(answer) : NULL;
  record->is_incomplete |= entry->answer == NULL;
  entry->call.answer = lt_str_from(entry->answer, entry->answer != NULL ? answer.n : 0);
  entry->call.status = status;
  entry->call.finished = entry->answer != NULL;
}

/* --- The journal -------------------------------------------------------------------------------------------------- */
/* A call without a number is one that no replay looks for. An incomplete record does not stop the run. */
static lt_status embed_record_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  lt_embed_record *record = (lt_embed_record *)(void *)self;
  embed_recorded *entry = call->seq != 0 ? embed_record_find_call(record, call->seq) : NULL;
  (void)err;
  if (entry == NULL && call->seq != 0) {
    const lt_recorded_call recorded = {.seq = call->seq,
                                       .hash = call->hash,
                                       .tool = call->tool,
                                       .input = call->input,
                                       .edited_input = call->edited_input,
                                       .repeatable = call->repeatable};
    entry = embed_record_add(record, &(embed_recorded){.kind = EMBED_RECORDED_CALL, .call = recorded});
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

/* Files are moved out of the folder of a program that went on elsewhere: a text that comes from outside must not say which
 * folder that is. A snapshot has no files anyway. */
static bool embed_record_keeps(const lt_note *note) {
  return note->kind != LT_NOTE_FOLDER;
}

static void embed_record_note(lt_journal *self, lt_str run, const lt_note *note,
                              void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  (void)run, (void)on_failure, (void)arg; /* what is lost is found out when a snapshot is wanted */
  if (embed_record_keeps(note)) {
    (void)embed_record_add((lt_embed_record *)(void *)self,
                           &(embed_recorded){.kind = EMBED_RECORDED_NOTE, .note = *note});
  }
}

static int embed_record_compare(const void *a, const void *b) {
  uint64_t x = ((const lt_recorded_call *)a)->seq, y = ((const lt_recorded_call *)b)->seq;
  return x < y ? -1 : x > y;
}

/* The texts are those of this record, which is there for longer than the run. */
static lt_status embed_record_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) {
  const lt_embed_record *from = (const lt_embed_record *)(const void *)self;
  lt_record record = {0};
  (void)run;
  lt_arena_init(&record.arena, LT_EMBED_RECORD_BYTES);
  record.notes = lt_arena_zalloc(&record.arena, from->count + 1, sizeof *record.notes);
  record.calls = lt_arena_zalloc(&record.arena, from->count + 1, sizeof *record.calls);
  if (record.notes == NULL || record.calls == NULL) {
    lt_record_release(&record);
    return lt_fail(err, LT_E_NOMEM, "no memory for the record of the run");
  }
  for (const embed_recorded *entry = from->first; entry != NULL; entry = entry->next) {
    if (entry->kind == EMBED_RECORDED_NOTE) {
      record.notes[record.note_count++] = entry->note;
    } else if (entry->kind == EMBED_RECORDED_CALL) {
      record.calls[record.call_count++] = entry->call;
    }
  }
  qsort(record.calls, record.call_count, sizeof *record.calls, embed_record_compare);
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
                                .recall = embed_record_recall};
  }
  return record;
}

void lt_embed_record_free(lt_embed_record *record) {
  for (embed_recorded *entry = record != NULL ? record->first : NULL; entry != NULL;) {
    embed_recorded *next = entry->next;
    lt_mem_free(entry->answer);
    lt_mem_free(entry);
    entry = next;
  }
  lt_mem_free(record);
}

void lt_embed_record_attach(lt_embed_record *record, const lt_secrets *secrets, lt_caller *caller) {
  if (!record->is_restored) {
    memcpy(record->id, caller->run.p, caller->run.n < sizeof record->id ? caller->run.n : sizeof record->id - 1);
  }
  caller->run = lt_str_of(record->id);
  caller->journal = lt_masked_records_journal(&record->masked, &record->base, secrets);
  caller->noted = true;
  caller->recalled = record->is_restored;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */
void lt_embed_record_ask(lt_embed_record *record, uint64_t seq, uint64_t number) {
  (void)embed_record_add(record,
                         &(embed_recorded){.kind = EMBED_RECORDED_ASKED, .call = {.seq = seq}, .number = number});
}

uint64_t lt_embed_record_take_number(lt_embed_record *record, uint64_t seq) {
  uint64_t number = 0;
  for (embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    if (entry->kind == EMBED_RECORDED_ASKED && entry->is_earlier && entry->call.seq == seq) {
      number = entry->number != 0 ? entry->number : number;
      entry->number = 0;
    }
  }
  return number;
}

bool lt_embed_record_was_begun(const lt_embed_record *record, uint64_t seq, lt_str *ret_edited_input) {
  const embed_recorded *entry = embed_record_find_call(record, seq);
  bool was_begun = entry != NULL && entry->is_earlier;
  if (was_begun) {
    *ret_edited_input = entry->call.edited_input;
  }
  return was_begun;
}

static bool embed_record_was_asked(const lt_embed_record *record, uint64_t seq) {
  const embed_recorded *entry = record->first;
  while (entry != NULL && (entry->kind != EMBED_RECORDED_ASKED || entry->call.seq != seq)) {
    entry = entry->next;
  }
  return entry != NULL;
}

lt_str lt_embed_record_open_tool(const lt_embed_record *record, size_t index) {
  for (const embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    bool is_open =
        entry->kind == EMBED_RECORDED_CALL && !entry->call.finished && embed_record_was_asked(record, entry->call.seq);
    if (is_open && index-- == 0) {
      return entry->call.tool;
    }
  }
  return LT_STR("");
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
static void embed_record_put_text(lt_json_writer *w, const char *key, lt_str text) {
  lt_json_key(w, key);
  lt_json_put_str(w, text);
}

static void embed_record_put_number(lt_json_writer *w, const char *key, uint64_t number) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)number); /* all bits of a hash, too */
}

static void embed_record_put_entry(lt_json_writer *w, const embed_recorded *entry) {
  lt_json_begin_object(w);
  if (entry->kind == EMBED_RECORDED_NOTE) {
    embed_record_put_number(w, "note", entry->note.kind);
    embed_record_put_number(w, "number", entry->note.number);
    embed_record_put_number(w, "timeUs", entry->note.time_us);
    embed_record_put_text(w, "text", entry->note.text);
  } else if (entry->kind == EMBED_RECORDED_CALL) {
    embed_record_put_number(w, "call", entry->call.seq);
    embed_record_put_number(w, "hash", entry->call.hash);
    embed_record_put_text(w, "tool", entry->call.tool);
    embed_record_put_text(w, "input", entry->call.input);
    embed_record_put_text(w, "editedInput", entry->call.edited_input);
    lt_json_key(w, "repeatable");
    lt_json_put_bool(w, entry->call.repeatable);
    if (entry->call.finished) {
      embed_record_put_number(w, "status", entry->call.status);
      embed_record_put_text(w, "answer", entry->call.answer);
    }
  } else {
    embed_record_put_number(w, "asked", entry->call.seq);
    embed_record_put_number(w, "number", entry->number);
  }
  lt_json_end_object(w);
}

void lt_embed_record_put(const lt_embed_record *record, lt_json_writer *w) {
  embed_record_put_text(w, "id", lt_str_of(record->id));
  lt_json_key(w, "entries");
  lt_json_begin_array(w);
  for (const embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    embed_record_put_entry(w, entry);
  }
  lt_json_end_array(w);
}

/* --- From JSON ---------------------------------------------------------------------------------------------------- */
typedef struct embed_record_reader {
  lt_json entry;
  lt_arena arena;
  bool is_complete; /* every member was there so far */
} embed_record_reader;

static uint64_t embed_record_take_int(embed_record_reader *r, const char *key) {
  int64_t number = 0;
  r->is_complete &= lt_json_int(lt_json_get(r->entry, key), &number);
  return (uint64_t)number;
}

static lt_str embed_record_take_text(embed_record_reader *r, const char *key) {
  lt_str text = LT_STR("");
  r->is_complete &= lt_json_str(lt_json_get(r->entry, key), &r->arena, &text);
  return text;
}

static embed_recorded embed_record_read_call(embed_record_reader *r) {
  embed_recorded entry = {.kind = EMBED_RECORDED_CALL};
  entry.call.seq = embed_record_take_int(r, "call");
  entry.call.hash = embed_record_take_int(r, "hash");
  entry.call.tool = embed_record_take_text(r, "tool");
  entry.call.input = embed_record_take_text(r, "input");
  entry.call.edited_input = embed_record_take_text(r, "editedInput");
  entry.call.repeatable = lt_json_bool(lt_json_get(r->entry, "repeatable"), false);
  return entry;
}

static embed_recorded embed_record_read_other(embed_record_reader *r) {
  embed_recorded entry = {.kind = EMBED_RECORDED_ASKED};
  if (lt_json_exists(lt_json_get(r->entry, "asked"))) {
    entry.call.seq = embed_record_take_int(r, "asked");
    entry.number = embed_record_take_int(r, "number");
    return entry;
  }
  entry.kind = EMBED_RECORDED_NOTE;
  entry.note.kind = (uint32_t)embed_record_take_int(r, "note");
  entry.note.number = embed_record_take_int(r, "number");
  entry.note.time_us = embed_record_take_int(r, "timeUs");
  entry.note.text = embed_record_take_text(r, "text");
  return entry;
}

static void embed_record_read_entry(lt_embed_record *record, embed_record_reader *r) {
  bool is_call = lt_json_exists(lt_json_get(r->entry, "call"));
  embed_recorded entry = is_call ? embed_record_read_call(r) : embed_record_read_other(r);
  entry.is_earlier = true;
  r->is_complete &= entry.kind != EMBED_RECORDED_NOTE || embed_record_keeps(&entry.note);
  embed_recorded *added = r->is_complete ? embed_record_add(record, &entry) : NULL;
  if (added != NULL && is_call && lt_json_exists(lt_json_get(r->entry, "status"))) {
    uint64_t status = embed_record_take_int(r, "status");
    lt_str answer = embed_record_take_text(r, "answer");
    r->is_complete &= status <= LT_E_INTERNAL;
    embed_record_answer(record, added, (lt_status)status, answer);
  }
}

/* A call that the host did not answer is given to it again. */
static void embed_record_let_repeat(lt_embed_record *record) {
  for (embed_recorded *entry = record->first; entry != NULL; entry = entry->next) {
    if (entry->kind == EMBED_RECORDED_CALL && !entry->call.finished &&
        embed_record_was_asked(record, entry->call.seq)) {
      entry->call.repeatable = true;
    }
  }
}

lt_status lt_embed_record_read(lt_embed_record *record, lt_json snapshot, lt_err *err) {
  embed_record_reader r = {.entry = snapshot, .is_complete = true};
  lt_arena_init(&r.arena, LT_EMBED_RECORD_BYTES);
  lt_str id = embed_record_take_text(&r, "id");
  r.is_complete &= id.n == LT_EMBED_RECORD_ID_DIGITS;
  memcpy(record->id, id.p != NULL ? id.p : "", r.is_complete ? id.n : 0);
  for (lt_json_iter it = lt_json_each(lt_json_get(snapshot, "entries")); r.is_complete && lt_json_next(&it);) {
    r.entry = it.value;
    embed_record_read_entry(record, &r);
  }
  lt_arena_release(&r.arena);
  embed_record_let_repeat(record);
  record->is_restored = true;
  if (!r.is_complete) {
    return lt_fail(err, LT_E_INVALID, "this is no snapshot of a run, or a part of one");
  }
  return record->is_incomplete ? lt_fail(err, LT_E_LIMIT, "the snapshot is too long, or there is no memory for it")
                               : LT_OK;
}
