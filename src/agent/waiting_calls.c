#include "agent/waiting_calls.h"

#include <stdlib.h>

#include "agent/stored_decision.h"
#include "base/limits.h"

static bool waiting_read_hash(lt_json json, lt_arena *arena, uint64_t *ret_hash) {
  lt_str text;
  bool read = lt_json_str(json, arena, &text);
  lt_str digits = read ? lt_arena_dup(arena, text) : LT_STR_NULL; /* with a NUL behind */
  *ret_hash = digits.p != NULL ? strtoull(digits.p, NULL, 16) : 0;
  return digits.p != NULL;
}

/* False: the output is no call that waits. */
static bool waiting_read_call(lt_json output, lt_arena *arena, lt_waiting_call *ret_call) {
  lt_json result = lt_json_get(output, "result");
  lt_waiting_call call = {.input = lt_json_text(lt_json_get(output, "input"))};
  bool read = waiting_read_hash(lt_json_get(result, "question"), arena, &call.hash) &&
              lt_json_str(lt_json_get(output, "id"), arena, &call.id) &&
              lt_json_str(lt_json_get(output, "function"), arena, &call.tool) &&
              lt_json_str(lt_json_get(result, "reason"), arena, &call.reason);
  call.is_whole = read && lt_journal_hash(call.tool, call.input) == call.hash;
  *ret_call = call;
  return read;
}

static lt_status waiting_read_prompt(lt_json prompt, lt_waiting_calls *calls, lt_err *err) {
  lt_json outputs = lt_json_get(prompt, "output");
  calls->has_ended = lt_json_typeof(lt_json_get(prompt, "completedAt")) == LT_JSON_STRING;
  calls->calls = lt_arena_zalloc(&calls->arena, lt_json_count(outputs) + 1, sizeof *calls->calls);
  if (calls->calls == NULL ||
      !lt_json_str(lt_json_get(prompt, "conversationId"), &calls->arena, &calls->conversation)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  }
  lt_json_iter it = lt_json_each(outputs);
  while (!calls->has_ended && lt_json_next(&it)) {
    calls->count += waiting_read_call(it.value, &calls->arena, &calls->calls[calls->count]);
  }
  return LT_OK;
}

/* A decision that a process has taken holds until the call is carried out: that process may have been killed in
 * between, and the next one finds the row. Not one with an edited input: the tool may have refused it, and the call
 * waits again. */
static void waiting_note_decision(lt_json row, lt_waiting_calls *calls) {
  lt_stored_decision d;
  bool holds = lt_stored_decision_read(row, &calls->arena, &d) && !(d.is_taken && d.decision.input.n > 0);
  for (size_t i = 0; i < calls->count && holds; i++) {
    lt_waiting_call *call = &calls->calls[i];
    call->is_decided |= call->hash == d.hash && lt_str_eq(d.call, call->id);
  }
}

static lt_status waiting_parse(const lt_buf *text, lt_waiting_calls *calls, lt_json_doc *doc, lt_err *err) {
  lt_str copy = lt_arena_dup(&calls->arena, lt_buf_view(text));
  return copy.p != NULL ? lt_json_parse(&calls->arena, copy, doc, err)
                        : lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
}

lt_status lt_waiting_calls_read(lt_store *db, lt_str user, lt_str prompt, lt_waiting_calls *ret_calls, lt_err *err) {
  lt_json_doc *docs;
  *ret_calls = (lt_waiting_calls){0};
  lt_arena_init(&ret_calls->arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_get(db, user, prompt, &text, err));
  LT_TRY(lt_store_decision_list(db, prompt, &rows, err));
  docs = lt_arena_zalloc(&ret_calls->arena, 2, sizeof *docs);
  if (docs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  }
  LT_TRY(waiting_parse(&text, ret_calls, &docs[0], err));
  LT_TRY(waiting_parse(&rows, ret_calls, &docs[1], err));
  LT_TRY(waiting_read_prompt(lt_json_root(&docs[0]), ret_calls, err));
  lt_json_iter it = lt_json_each(lt_json_root(&docs[1]));
  while (lt_json_next(&it)) {
    waiting_note_decision(it.value, ret_calls);
  }
  return LT_OK;
}

void lt_waiting_calls_release(lt_waiting_calls *calls) {
  lt_arena_release(&calls->arena);
}

const lt_waiting_call *lt_waiting_calls_find(const lt_waiting_calls *calls, lt_str id) {
  for (size_t i = 0; i < calls->count; i++) {
    if (lt_str_eq(calls->calls[i].id, id)) {
      return &calls->calls[i];
    }
  }
  return NULL;
}

bool lt_waiting_calls_has_open(const lt_waiting_calls *calls) {
  for (size_t i = 0; i < calls->count; i++) {
    if (!calls->calls[i].is_decided) {
      return true;
    }
  }
  return false;
}
