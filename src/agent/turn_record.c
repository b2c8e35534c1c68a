#include "agent/turn_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/recorded_tools.h"
#include "agent/turn_state.h"
#include "json/json.h"

static lt_turn_record *turn_record_of(const lt_turn *turn) {
  return &turn->internal->record;
}

void lt_turn_record_release(lt_turn *turn) {
  lt_record_release(&turn_record_of(turn)->all);
}

/* --- Notes -------------------------------------------------------------------------------------------------------- */
/* A lost note does not stop the running prompt. When the prompt is carried out again, the missing number of a
 * completion is found, and the prompt ends then. */
static void turn_record_note(lt_turn *turn, uint32_t kind, uint64_t number, lt_buf *text) {
  lt_journal *journal = turn->caller.journal;
  const lt_note what = {.kind = kind, .number = number, .text = lt_buf_view(text)};
  if (journal != NULL && journal->note != NULL && text->status == LT_OK) {
    journal->note(journal, turn->caller.run, &what, NULL, NULL);
  }
  lt_buf_release(text);
}

/* The next note of this kind and number, from index `from` on. */
static lt_note *turn_record_find(const lt_turn_record *record, uint32_t kind, uint64_t number, size_t from) {
  for (size_t i = from; record->is_recalled && i < record->all.note_count; i++) {
    lt_note *note = &record->all.notes[i];
    if (note->kind == kind && note->number == number) {
      return note;
    }
  }
  return NULL;
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */
/* NULL: the prompt runs for the first time, or had not begun in the earlier process. */
static const lt_note *turn_record_find_start(const lt_turn_record *record) {
  return record->is_recalled ? lt_notes_find(&record->all, LT_PROMPT_NOTE_START) : NULL;
}

lt_status lt_turn_record_check(lt_turn *turn, lt_err *err) {
  const lt_note *start = turn_record_find_start(turn_record_of(turn));
  lt_json_doc doc;
  lt_str *was = &turn_record_of(turn)->begun_with;
  if (start == NULL) {
    return turn->internal->outbox.count == 0
               ? LT_OK
               : lt_fail(err, LT_E_DIVERGED, "diverged: how the prompt came so far is not on record: say it again");
  }
  if (lt_json_parse(&turn->arena, start->text, &doc, NULL) == LT_OK) {
    (void)lt_json_str(lt_json_get(lt_json_root(&doc), "lathe"), &turn->arena, was);
  }
  return LT_OK;
}

bool lt_turn_record_wants_start(const lt_turn *turn) {
  const lt_journal *journal = turn->caller.journal;
  return journal != NULL && journal->note != NULL && turn_record_find_start(turn_record_of(turn)) == NULL;
}

void lt_turn_record_put_start(lt_turn *turn, uint64_t tools, lt_buf *text) {
  turn_record_note(turn, LT_PROMPT_NOTE_START, tools, text);
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
/* The last change of the tools up to this round; NULL: none. */
static const lt_note *turn_record_find_tools(const lt_turn_record *record, uint64_t round) {
  const lt_note *found = NULL;
  for (size_t i = 0; i < record->all.note_count; i++) {
    const lt_note *note = &record->all.notes[i];
    found = note->kind == LT_PROMPT_NOTE_TOOLS && note->number <= round ? note : found;
  }
  return found;
}

lt_str lt_turn_record_tools(const lt_turn *turn, uint64_t round) {
  const lt_turn_record *record = turn_record_of(turn);
  const lt_note *start = turn_record_find_start(record);
  if (start == NULL) {
    return LT_STR("");
  }
  const lt_note *changed = turn_record_find_tools(record, round);
  bool is_on_record =
      round == 0 || (changed != NULL && changed->number == round) ||
      turn_record_find(record, LT_PROMPT_NOTE_COMPLETION, record->reply_count, record->search_from) != NULL;
  return !is_on_record ? LT_STR("") : changed != NULL ? changed->text : start->text;
}

void lt_turn_record_put_tools(lt_turn *turn, uint64_t round, lt_str tools) {
  lt_buf text;
  lt_buf_init(&text, 2 * LT_MIB);
  lt_buf_add(&text, tools);
  turn_record_note(turn, LT_PROMPT_NOTE_TOOLS, round, &text);
}

/* --- Completions -------------------------------------------------------------------------------------------------- */
static void record_put_usage(lt_json_writer *w, const lt_completion *completion) {
  lt_json_key(w, "usage");
  lt_json_begin_array(w);
  lt_json_put_int(w, completion->usage.input_tokens);
  lt_json_put_int(w, completion->usage.output_tokens);
  lt_json_put_int(w, completion->usage.reasoning_tokens);
  lt_json_put_int(w, completion->usage.estimated);
  lt_json_put_int(w, completion->usage.cached_input_tokens);
  lt_json_put_int(w, completion->usage.cache_write_tokens);
  lt_json_end_array(w);
  lt_json_put_pair(w, "model", completion->model);
}

static void record_put_calls(lt_json_writer *w, const lt_completion *completion) {
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (size_t i = 0; i < completion->call_count; i++) {
    const lt_requested_call *call = &completion->calls[i];
    lt_json_begin_array(w);
    lt_json_put_str(w, call->id);
    lt_json_put_str(w, call->name);
    lt_json_put_str(w, call->arguments);
    lt_json_end_array(w);
  }
  lt_json_end_array(w);
}

static void record_put_hash(lt_json_writer *w, const char *key, uint64_t hash) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
  lt_json_put_pair(w, key, lt_str_of(text));
}

void lt_turn_record_put(lt_turn *turn, uint64_t hash, const lt_completion *completion, lt_status status,
                        const lt_err *err) {
  lt_turn_record *record = turn_record_of(turn);
  uint64_t number = record->reply_count++;
  if (status == LT_E_CANCELLED || (turn->cancel.why != LT_OK && status == turn->cancel.why)) {
    return; /* the prompt ends: this is not a reply of the model */
  }
  lt_buf text;
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_begin_object(&w);
  record_put_hash(&w, "messages", hash);
  lt_json_put_pair(&w, "text", lt_buf_view(&completion->text));
  record_put_calls(&w, completion);
  lt_json_key(&w, "finish");
  lt_json_put_int(&w, completion->finish);
  record_put_usage(&w, completion);
  if (completion->kept.n > 0) {
    lt_json_key(&w, "kept");
    lt_json_put_raw(&w, lt_buf_view(&completion->kept));
  }
  if (status != LT_OK) {
    lt_json_put_pair(&w, "status", lt_str_of(lt_status_name(status)));
    lt_json_put_pair(&w, "error", lt_str_of(lt_err_msg(err)));
    lt_json_key(&w, "tooLong");
    lt_json_put_bool(&w, completion->too_long);
    lt_json_key(&w, "noMedia");
    lt_json_put_bool(&w, completion->no_media);
  }
  lt_json_end_object(&w);
  turn_record_note(turn, LT_PROMPT_NOTE_COMPLETION, number, &text);
}

void lt_turn_record_put_llm(lt_turn *turn, const lt_completion *completion) {
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_begin_object(&w);
  record_put_usage(&w, completion);
  lt_json_end_object(&w);
  turn_record_note(turn, LT_PROMPT_NOTE_LLM, 0, &text);
}

static int64_t record_int_at(lt_json array, uint32_t i) {
  int64_t n = 0;
  (void)lt_json_int(lt_json_at(array, i), &n);
  return n;
}

static bool record_read_usage(lt_json json, lt_completion *completion) {
  lt_json usage = lt_json_get(json, "usage");
  completion->usage = (lt_usage){.input_tokens = record_int_at(usage, 0),
                                 .output_tokens = record_int_at(usage, 1),
                                 .reasoning_tokens = record_int_at(usage, 2),
                                 .estimated = record_int_at(usage, 3) != 0,
                                 .cached_input_tokens = record_int_at(usage, 4),
                                 .cache_write_tokens = record_int_at(usage, 5)};
  return lt_json_str(lt_json_get(json, "model"), &completion->arena, &completion->model);
}

static bool record_read_calls(lt_json json, lt_completion *completion) {
  lt_json calls = lt_json_get(json, "calls");
  lt_requested_call *list = lt_arena_zalloc(&completion->arena, lt_json_count(calls) + 1, sizeof *list);
  lt_json_iter it = lt_json_each(calls);
  bool read = list != NULL;
  for (lt_requested_call *call = list; read && lt_json_next(&it); call++) {
    read = lt_json_str(lt_json_at(it.value, 0), &completion->arena, &call->id) &&
           lt_json_str(lt_json_at(it.value, 1), &completion->arena, &call->name) &&
           lt_json_str(lt_json_at(it.value, 2), &completion->arena, &call->arguments);
  }
  completion->calls = list;
  completion->call_count = read ? lt_json_count(calls) : 0;
  return read;
}

/* Copies everything into the completion's arena, which outlives the note. */
static bool record_read_completion(lt_turn *turn, const lt_note *from, uint64_t hash, lt_completion *completion,
                                   lt_status *ret_status, lt_err *err) {
  lt_json_doc doc;
  lt_str text = LT_STR(""), name = LT_STR(""), why = LT_STR(""), recorded = LT_STR("");
  int64_t finish = LT_FINISH_STOP;
  lt_arena *arena = &completion->arena;
  if (lt_json_parse(arena, from->text, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json json = lt_json_root(&doc);
  if (!lt_json_str(lt_json_get(json, "text"), arena, &text) || !record_read_usage(json, completion) ||
      !record_read_calls(json, completion)) {
    return false;
  }
  (void)lt_json_str(lt_json_get(json, "status"), arena, &name);
  (void)lt_json_str(lt_json_get(json, "error"), arena, &why);
  (void)lt_json_str(lt_json_get(json, "messages"), arena, &recorded);
  (void)lt_json_int(lt_json_get(json, "finish"), &finish);
  completion->finish = (lt_finish)finish;
  completion->too_long = lt_json_bool(lt_json_get(json, "tooLong"), false);
  completion->no_media = lt_json_bool(lt_json_get(json, "noMedia"), false);
  lt_buf_add(&completion->text, text);
  lt_buf_add(&completion->kept, lt_json_text(lt_json_get(json, "kept")));
  *ret_status = name.n == 0 ? LT_OK : lt_notes_status(name, LT_E_INTERNAL);
  if (*ret_status != LT_OK) {
    lt_fail(err, *ret_status, "%.*s", LT_STR_ARG(why));
  }
  lt_turn_record *record = turn_record_of(turn);
  if (!record->has_other_question && recorded.n > 0 && strtoull(recorded.p, NULL, 16) != hash) {
    record->has_other_question = true;
    record->other_question = from->number;
  }
  return completion->text.status == LT_OK && completion->kept.status == LT_OK;
}

bool lt_turn_record_has_reply(const lt_turn *turn) {
  const lt_turn_record *record = turn_record_of(turn);
  return turn_record_find(record, LT_PROMPT_NOTE_COMPLETION, record->reply_count, record->search_from) != NULL;
}

bool lt_turn_record_take(lt_turn *turn, uint64_t hash, lt_completion *completion, lt_status *ret_status, lt_err *err) {
  lt_turn_record *record = turn_record_of(turn);
  const lt_note *note = turn_record_find(record, LT_PROMPT_NOTE_COMPLETION, record->reply_count, record->search_from);
  if (note == NULL) {
    return false;
  }
  record->reply_count++;
  record->search_from = (size_t)(note - record->all.notes) + 1;
  if (!record_read_completion(turn, note, hash, completion, ret_status, err)) {
    *ret_status = lt_fail(err, LT_E_NOMEM, "no memory for a reply of the model that is on record");
  }
  return true;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */
static uint64_t record_count_in(lt_json json, const char *key) {
  int64_t n = 0;
  (void)lt_json_int(lt_json_get(json, key), &n);
  return n > 0 ? (uint64_t)n : 0;
}

bool lt_turn_record_cell(const lt_turn *turn, uint64_t number, lt_turn_cell_note *ret_note) {
  const lt_note *note = turn_record_find(turn_record_of(turn), LT_PROMPT_NOTE_CELL, number, 0);
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MIB);
  if (note == NULL || lt_json_parse(&arena, note->text, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json json = lt_json_root(&doc);
  *ret_note = (lt_turn_cell_note){.items = record_count_in(json, "items"),
                                  .took_ms = record_count_in(json, "ms"),
                                  .has_ended = lt_json_bool(lt_json_get(json, "ended"), false)};
  return true;
}

void lt_turn_record_put_cell(lt_turn *turn, uint64_t number, const lt_turn_cell_note *note) {
  lt_buf text;
  lt_buf_init(&text, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_begin_object(&w);
  lt_json_key(&w, "items");
  lt_json_put_int(&w, (int64_t)note->items);
  lt_json_key(&w, "ended");
  lt_json_put_bool(&w, note->has_ended);
  lt_json_key(&w, "ms");
  lt_json_put_int(&w, (int64_t)note->took_ms);
  lt_json_end_object(&w);
  turn_record_note(turn, LT_PROMPT_NOTE_CELL, number, &text);
}

/* --- Recalling ---------------------------------------------------------------------------------------------------- */
/* The usage of a program's llm() counts, whether the program asks again or not. */
static void record_count_llm(lt_turn *turn, const lt_note *note) {
  lt_json_doc doc;
  lt_completion completion;
  lt_completion_init(&completion);
  if (lt_json_parse(&completion.arena, note->text, &doc, NULL) == LT_OK) {
    (void)record_read_usage(lt_json_root(&doc), &completion);
    lt_turn_count_usage(turn, &completion);
  }
  lt_completion_release(&completion);
}

lt_status lt_turn_record_recall(lt_turn *turn, lt_err *err) {
  lt_turn_record *record = turn_record_of(turn);
  lt_journal *journal = turn->caller.journal;
  record->is_recalled = true;
  turn->caller.recalled = true;
  if (journal == NULL || journal->recall == NULL) {
    return LT_OK;
  }
  LT_TRY(journal->recall(journal, turn->caller.run, &record->all, err));
  for (size_t i = 0; i < record->all.note_count; i++) {
    if (record->all.notes[i].kind == LT_PROMPT_NOTE_LLM) {
      record_count_llm(turn, &record->all.notes[i]);
    } else if (record->all.notes[i].kind == LT_PROMPT_NOTE_CANCEL) {
      lt_cancel_fire(&turn->cancel, LT_E_CANCELLED);
    }
  }
  return LT_OK;
}

/* --- Decisions ---------------------------------------------------------------------------------------------------- */
void lt_turn_record_decide(lt_turn *turn, const lt_turn_decision *noted) {
  const lt_decision *decision = &noted->decision;
  lt_buf text;
  lt_buf_init(&text, 2 * LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "id", noted->id);
  record_put_hash(&w, "call", noted->hash);
  lt_json_put_pair(&w, "reason", decision->reason);
  lt_json_put_pair(&w, "input", decision->input);
  lt_json_key(&w, "row");
  lt_json_put_int(&w, noted->row);
  lt_json_put_pair(&w, "at", noted->at);
  if (decision->remember != LT_REMEMBER_NOTHING) {
    lt_json_put_pair(&w, "remember", lt_str_of(lt_decision_remember_name(decision->remember)));
    lt_json_put_pair(&w, "tool", noted->tool);
    lt_json_put_pair(&w, "asked", decision->remember == LT_REMEMBER_CALL ? noted->asked : LT_STR("{}"));
  }
  lt_json_end_object(&w);
  turn_record_note(turn, LT_PROMPT_NOTE_DECISION, decision->is_approved, &text);
}

void lt_turn_record_cancel(lt_turn *turn) {
  if (turn->cancel.why != LT_OK) {
    return;
  }
  lt_buf nothing;
  lt_buf_init(&nothing, LT_KIB);
  turn_record_note(turn, LT_PROMPT_NOTE_CANCEL, 0, &nothing); /* cancelled calls are on record after it */
  lt_cancel_fire(&turn->cancel, LT_E_CANCELLED);
}

/* Compares the hash, too: a program in a process may use the number of a decided call for another call. */
static bool record_is_about(lt_json decided, lt_str id, uint64_t hash) {
  LT_AUTO_ARENA(arena, LT_KIB);
  lt_str call = LT_STR("");
  return lt_json_str_eq(lt_json_get(decided, "id"), id) && lt_json_str(lt_json_get(decided, "call"), &arena, &call) &&
         strtoull(call.p, NULL, 16) == hash;
}

/* Notes of an earlier version have no input and no memory. */
static bool record_read_text(lt_json decided, const char *key, lt_arena *arena, lt_str *ret) {
  *ret = LT_STR("");
  return !lt_json_exists(lt_json_get(decided, key)) || lt_json_str(lt_json_get(decided, key), arena, ret);
}

/* False: no memory. An approval without its edited input would approve another call. */
static bool record_read_decision(lt_json decided, bool is_approved, lt_arena *arena, lt_decision *ret_decision) {
  lt_decision found = {.is_approved = is_approved};
  lt_str remember;
  bool read = record_read_text(decided, "reason", arena, &found.reason) &&
              record_read_text(decided, "input", arena, &found.input) &&
              record_read_text(decided, "remember", arena, &remember);
  if (read) {
    (void)lt_decision_find_remember(remember, &found.remember);
    *ret_decision = found;
  }
  return read;
}

bool lt_turn_record_decision(lt_turn *turn, lt_str id, uint64_t hash, lt_arena *arena, lt_turn_decision *ret_noted) {
  const lt_turn_record *record = turn_record_of(turn);
  *ret_noted = (lt_turn_decision){.id = id, .hash = hash};
  for (size_t i = 0; record->is_recalled && i < record->all.note_count; i++) {
    lt_note *note = &record->all.notes[i];
    lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
    if (note->kind == LT_PROMPT_NOTE_DECISION && doc != NULL && lt_json_parse(arena, note->text, doc, NULL) == LT_OK &&
        record_is_about(lt_json_root(doc), id, hash)) {
      note->kind = LT_NOTE_USED;
      (void)lt_json_int(lt_json_get(lt_json_root(doc), "row"), &ret_noted->row);
      return record_read_text(lt_json_root(doc), "at", arena, &ret_noted->at) &&
             record_read_decision(lt_json_root(doc), note->number != 0, arena, &ret_noted->decision);
    }
  }
  return false;
}

void lt_turn_record_remember(lt_turn *turn, lt_remembered_decisions *memory) {
  const lt_turn_record *record = turn_record_of(turn);
  LT_AUTO_ARENA(arena, LT_RECORD_MAX_BYTES);
  for (size_t i = 0; record->is_recalled && i < record->all.note_count; i++) {
    const lt_note *note = &record->all.notes[i];
    lt_json_doc doc;
    lt_decision decision = {0};
    lt_str tool, asked;
    bool is_decision = note->kind == LT_PROMPT_NOTE_DECISION && lt_json_parse(&arena, note->text, &doc, NULL) == LT_OK;
    if (is_decision && record_read_decision(lt_json_root(&doc), note->number != 0, &arena, &decision) &&
        record_read_text(lt_json_root(&doc), "tool", &arena, &tool) &&
        record_read_text(lt_json_root(&doc), "asked", &arena, &asked) && asked.n > 0) {
      lt_remembered_decisions_add(memory, tool, asked, &decision);
    }
  }
}

/* --- Artifacts -------------------------------------------------------------------------------------------- */
static uint64_t record_hash_artifact(const lt_artifact *artifact) {
  const lt_str texts[] = {artifact->type, artifact->description, artifact->mime_type, artifact->data};
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    number = number * 31 + lt_str_hash(texts[i]);
  }
  return number;
}

bool lt_turn_record_artifact(lt_turn *turn, const lt_artifact *artifact, lt_buf *ret_id) {
  const lt_turn_record *record = turn_record_of(turn);
  lt_note *note =
      record->is_recalled ? turn_record_find(record, LT_PROMPT_NOTE_ARTIFACT, record_hash_artifact(artifact), 0) : NULL;
  if (note == NULL) {
    return false;
  }
  note->kind = LT_NOTE_USED;
  lt_buf_add(ret_id, note->text);
  return true;
}

void lt_turn_record_put_aside(lt_turn *turn, const lt_artifact *artifact, lt_str id) {
  lt_buf text;
  lt_buf_init(&text, LT_KIB);
  lt_buf_add(&text, id);
  turn_record_note(turn, LT_PROMPT_NOTE_ARTIFACT, record_hash_artifact(artifact), &text);
}
