#include "serve/serve_record.h"

#include "json/json.h"
#include "replay/notes.h"

/* What the number, the time and the text of a note mean, by its kind. */
typedef enum record_number {
  RECORD_NUMBER_NONE, /* a hash or a seed, which says nothing to a reader */
  RECORD_NUMBER_INDEX,
  RECORD_NUMBER_OPENED, /* the number of a call or a timer */
  RECORD_NUMBER_CALL,
  RECORD_NUMBER_APPROVED,
} record_number;

typedef struct record_kind {
  uint32_t kind;
  const char *name;
  record_number number;
  bool has_time;
  bool is_json; /* the text is a JSON value */
} record_kind;

static const record_kind record_program_kinds[] = {
    {LT_NOTE_BEGIN, "begin", RECORD_NUMBER_NONE, true, false},
    {LT_NOTE_READY, "ready", RECORD_NUMBER_OPENED, true, false},
    {LT_NOTE_TICK, "tick", RECORD_NUMBER_INDEX, true, false},
    {LT_NOTE_MODULE, "module", RECORD_NUMBER_NONE, false, false},
    {LT_NOTE_END, "end", RECORD_NUMBER_NONE, true, true},
    {LT_NOTE_FOLDER, "folder", RECORD_NUMBER_NONE, false, false},
    {LT_NOTE_OPEN, "open", RECORD_NUMBER_CALL, false, false},
    {0},
};

static const record_kind record_prompt_kinds[] = {
    {LT_PROMPT_NOTE_START, "start", RECORD_NUMBER_NONE, false, true},
    {LT_PROMPT_NOTE_COMPLETION, "completion", RECORD_NUMBER_INDEX, false, true},
    {LT_PROMPT_NOTE_LLM, "llm", RECORD_NUMBER_NONE, false, true},
    {LT_PROMPT_NOTE_DECISION, "decision", RECORD_NUMBER_APPROVED, false, true},
    {LT_PROMPT_NOTE_ARTIFACT, "artifact", RECORD_NUMBER_NONE, false, false},
    {LT_PROMPT_NOTE_CANCEL, "cancel", RECORD_NUMBER_NONE, false, false},
    {LT_PROMPT_NOTE_TOOLS, "tools", RECORD_NUMBER_INDEX, false, true},
    {LT_PROMPT_NOTE_CELL, "cell", RECORD_NUMBER_INDEX, false, true},
    {0},
};

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void record_put_call(lt_json_writer *w, const lt_recorded_call *call) {
  lt_json_begin_object(w);
  lt_json_key(w, "seq");
  lt_json_put_int(w, (int64_t)call->seq);
  lt_json_key(w, "tool");
  lt_json_put_str(w, call->tool);
  lt_json_key(w, "input");
  lt_json_put_str(w, call->input);
  if (call->edited_input.n > 0) {
    lt_json_key(w, "editedInput");
    lt_json_put_str(w, call->edited_input);
  }
  if (call->finished && call->status == LT_OK) {
    lt_json_key(w, "output");
    lt_json_put_raw(w, call->answer);
  } else if (call->finished) {
    lt_json_key(w, "error");
    lt_json_put_str(w, call->answer);
  }
  lt_json_end_object(w);
}

/* --- Notes -------------------------------------------------------------------------------------------------------- */
/* The embedded engine counts calls and timers together and marks timers by odd numbers (runner/quickjs/run_opens.c);
 * runs in processes have numbers of calls only. */
static void record_put_opened(lt_json_writer *w, uint64_t number, bool is_engine) {
  bool is_timer = is_engine && number % 2 == 1;
  lt_json_key(w, is_timer ? "timer" : "call");
  lt_json_put_int(w, (int64_t)(is_engine ? (number + 1) / 2 : number));
}

static void record_put_number(lt_json_writer *w, const record_kind *kind, uint64_t number, bool is_engine) {
  switch (kind->number) {
    case RECORD_NUMBER_INDEX:
      lt_json_key(w, "index");
      lt_json_put_int(w, (int64_t)number);
      break;
    case RECORD_NUMBER_OPENED:
      record_put_opened(w, number, is_engine);
      break;
    case RECORD_NUMBER_CALL:
      record_put_opened(w, number, false);
      break;
    case RECORD_NUMBER_APPROVED:
      lt_json_key(w, "approved");
      lt_json_put_bool(w, number != 0);
      break;
    case RECORD_NUMBER_NONE:
      break;
  }
}

/* A note of a kind that this release does not know keeps its number as its name. */
static void record_put_note(lt_json_writer *w, const record_kind *kinds, const lt_note *note, bool is_engine) {
  while (kinds->name != NULL && kinds->kind != note->kind) {
    kinds++;
  }
  lt_json_begin_object(w);
  lt_json_key(w, "kind");
  if (kinds->name != NULL) {
    lt_json_put_cstr(w, kinds->name);
  } else {
    lt_json_put_int(w, note->kind);
  }
  record_put_number(w, kinds, note->number, is_engine);
  if (kinds->has_time) {
    lt_json_key(w, "timeUs");
    lt_json_put_int(w, (int64_t)note->time_us);
  }
  if (kinds->is_json && lt_json_check(note->text, NULL) == LT_OK) {
    lt_json_key(w, "data");
    lt_json_put_raw(w, note->text);
  } else if (note->text.n > 0) {
    lt_json_key(w, "text");
    lt_json_put_str(w, note->text);
  }
  lt_json_end_object(w);
}

/* Sets `ret_is_engine`: the embedded engine ran the program. */
static void record_put_runner(lt_json_writer *w, const lt_record *record, bool *ret_is_engine) {
  lt_program_identity identity;
  const lt_note *begin = lt_notes_find(record, LT_NOTE_BEGIN);
  *ret_is_engine = false;
  if (begin != NULL && lt_notes_read_identity(begin->text, &identity)) {
    *ret_is_engine = identity.engine != 0;
    lt_json_key(w, "runner");
    lt_json_put_str(w, identity.runner);
  }
}

void lt_serve_record_put(lt_json_writer *w, lt_str prompt, lt_str run, const lt_record *record) {
  bool is_engine = false, is_prompt = lt_str_eq(prompt, run);
  lt_json_begin_object(w);
  lt_json_key(w, "run");
  lt_json_put_str(w, run);
  if (!is_prompt) {
    record_put_runner(w, record, &is_engine);
  }
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (size_t i = 0; i < record->call_count; i++) {
    record_put_call(w, &record->calls[i]);
  }
  lt_json_end_array(w);
  lt_json_key(w, "notes");
  lt_json_begin_array(w);
  for (size_t i = 0; i < record->note_count; i++) {
    record_put_note(w, is_prompt ? record_prompt_kinds : record_program_kinds, &record->notes[i], is_engine);
  }
  lt_json_end_array(w);
  lt_json_end_object(w);
}

const char lt_serve_record_schema[] =
    "{\"type\":\"object\",\"required\":[\"prompt\",\"runs\"],\"properties\":{\"prompt\":{\"$ref\":"
    "\"#/components/schemas/Prompt\"},\"runs\":{\"type\":\"array\",\"description\":\"the prompt's own run, then those "
    "of "
    "its programs and of tools that make calls\",\"items\":{\"type\":\"object\",\"required\":[\"run\",\"calls\","
    "\"notes\"],\"properties\":{\"run\":{\"type\":\"string\"},\"runner\":{\"type\":\"string\"},\"calls\":{\"type\":"
    "\"array\",\"items\":{\"type\":\"object\",\"required\":[\"seq\",\"tool\",\"input\"],\"properties\":{\"seq\":{"
    "\"type\":"
    "\"integer\"},\"tool\":{\"type\":\"string\"},\"input\":{\"type\":\"string\",\"description\":\"the beginning of its "
    "JSON text\"},\"editedInput\":{\"type\":\"string\"},\"output\":{},\"error\":{\"type\":\"string\"}}}},\"notes\":{"
    "\"type\":\"array\",\"description\":\"in the order in which they were written\",\"items\":{\"type\":\"object\","
    "\"required\":[\"kind\"],\"properties\":{\"kind\":{\"description\":\"of a prompt: start, completion, llm, "
    "decision, "
    "artifact, cancel, tools; of a program: begin, ready, tick, module, end, folder, open\"},\"timeUs\":{\"type\":"
    "\"integer\",\"description\":\"microseconds since the program began; of begin: since 1970\"},\"call\":{\"type\":"
    "\"integer\",\"description\":\"the seq of the call\"},\"timer\":{\"type\":\"integer\"},\"index\":{\"type\":"
    "\"integer\"},\"approved\":{\"type\":\"boolean\"},\"text\":{\"type\":\"string\"},\"data\":{}}}}}}}}}";
