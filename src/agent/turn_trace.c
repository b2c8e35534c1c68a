#include "agent/turn_trace.h"

#include <string.h>

#include "base/clock.h"
#include "json/json.h"
#include "replay/notes.h"

/* --- The parent on record ----------------------------------------------------------------------------------------- */
/* NULL: the prompt runs for the first time, or was not traced then. */
static const lt_note *turn_trace_find(const lt_turn *turn) {
  const lt_turn_record *record = &turn->internal->record;
  return record->is_recalled ? lt_notes_find(&record->all, LT_PROMPT_NOTE_TRACE) : NULL;
}

void lt_turn_trace_note(const lt_turn *turn) {
  lt_journal *journal = turn->caller.journal;
  const lt_trace_context *parent = &turn->internal->trace_parent;
  char text[LT_TRACE_PARENT_LENGTH + 1] = "";
  if (!lt_trace_context_is_set(&turn->caller.trace) || turn_trace_find(turn) != NULL) {
    return;
  }
  LT_AUTO_BUF(note, LT_KIB);
  if (lt_trace_context_has_span(parent)) {
    lt_trace_context_print(parent, text);
  }
  lt_json_writer w = lt_json_writer_on(&note);
  lt_json_begin_object(&w);
  lt_json_key(&w, "traceparent");
  lt_json_put_cstr(&w, text);
  lt_json_key(&w, "tracestate");
  lt_json_put_str(&w, parent->state);
  lt_json_end_object(&w);
  const lt_note what = {.kind = LT_PROMPT_NOTE_TRACE, .number = lt_clock_wall_us(), .text = lt_buf_view(&note)};
  if (journal != NULL && journal->note != NULL && note.status == LT_OK) {
    journal->note(journal, turn->caller.run, &what, NULL, NULL);
  }
}

/* False: the prompt was not traced when it began. */
static bool turn_trace_recall(lt_turn *turn) {
  lt_turn_state *turn_state = turn->internal;
  const lt_note *note = turn_trace_find(turn);
  lt_json_doc doc;
  lt_str parent = LT_STR_NULL, state = LT_STR_NULL;
  if (note == NULL || lt_json_parse(&turn->arena, note->text, &doc, NULL) != LT_OK) {
    return false;
  }
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "traceparent"), &turn->arena, &parent);
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "tracestate"), &turn->arena, &state);
  (void)lt_trace_context_read(parent, state, &turn_state->trace_parent); /* without one it is not set */
  turn_state->earlier_us = (int64_t)lt_clock_wall_us() - (int64_t)note->number;
  return true;
}

/* --- The prompt's own span ---------------------------------------------------------------------------------------- */
static unsigned turn_trace_digit(char c) {
  return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0') & 15;
}

/* A prompt's id has as many digits as a trace's. */
_Static_assert(LT_STORE_ID_BYTES == 2 * LT_TRACE_ID_BYTES, "a prompt's id is a trace's id");
static void turn_trace_read_id(const char *prompt, uint8_t id[LT_TRACE_ID_BYTES]) {
  for (size_t i = 0; i < LT_TRACE_ID_BYTES; i++) {
    id[i] = (uint8_t)(turn_trace_digit(prompt[2 * i]) << 4 | turn_trace_digit(prompt[2 * i + 1]));
  }
}

/* The right half of an id is random (store_ids.c), the left half has the time. */
static lt_trace_context turn_trace_make(const lt_turn *turn, const lt_sampler *sampler) {
  const lt_trace_context *parent = &turn->internal->trace_parent;
  uint8_t id[LT_TRACE_ID_BYTES];
  lt_trace_context trace = *parent;
  turn_trace_read_id(turn->ids.prompt, id);
  if (!lt_trace_context_is_set(parent)) {
    memcpy(trace.trace_id, id, sizeof id);
  }
  memcpy(trace.span_id, id + LT_TRACE_ID_BYTES - LT_SPAN_ID_BYTES, LT_SPAN_ID_BYTES);
  trace.is_remote = false;
  trace.is_sampled = lt_sampler_takes(sampler, parent, trace.trace_id);
  return trace;
}

static void turn_trace_take_parent(lt_turn *turn, const lt_trace_context *parent) {
  lt_turn_state *turn_state = turn->internal;
  if (!lt_trace_context_has_span(parent)) {
    return;
  }
  lt_str state = lt_arena_dup(&turn->arena, parent->state);
  turn_state->trace_parent = *parent;
  turn_state->trace_parent.state = state.p != NULL ? state : LT_STR_NULL;
}

void lt_turn_trace_begin(lt_turn *turn, const lt_trace_context *parent) {
  const lt_sampler *sampler = turn->agent->options.sampler;
  if (sampler == NULL) {
    return;
  }
  if (!turn_trace_recall(turn)) {
    turn_trace_take_parent(turn, parent);
  }
  turn->caller.trace = turn_trace_make(turn, sampler);
}
