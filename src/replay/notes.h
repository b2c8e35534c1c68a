/* All kinds of notes that a run stores, and the format of their texts (docs/internals/replay.md). */
#ifndef LT_REPLAY_NOTES_H
#define LT_REPLAY_NOTES_H

#include "tool/journal.h"

/* Kinds of notes (lt_note.kind) of a program's run. The numbers are stored: never change one. LT_NOTE_USED marks a used
 * note, in memory only. */
enum {
  LT_NOTE_USED = 0,
  LT_NOTE_BEGIN = 1, /* number: the seed; time_us: since 1970; text: lt_program_identity */
  /* number: id of a call or timer whose outcome is ready; text: the failure (lt_notes_put_failure). Of a program in a
   * process: number of a call that failed before it was recorded */
  LT_NOTE_READY,
  LT_NOTE_TICK,   /* number: polls; at that poll the guest's clock moves to time_us */
  LT_NOTE_MODULE, /* text: name, line feed, source */
  LT_NOTE_END,    /* text: the result (result_note.h) */
  LT_NOTE_FOLDER, /* text: the folder that a program in a process works in */
  LT_NOTE_OPEN,   /* number: of a call of a program in a process; time_us: its lt_journal_hash */
};

/* Kinds of notes of a prompt's run. The numbers are stored: never change one. */
enum {
  /* {"lathe": version, "tools": a blob, "silent": names of sources without tools}; number: a hash of the tools */
  LT_PROMPT_NOTE_START = 1,
  LT_PROMPT_NOTE_COMPLETION, /* the result of lt_turn_ask; number: its zero-based index */
  LT_PROMPT_NOTE_LLM,        /* the usage of llm(), as a completion */
  LT_PROMPT_NOTE_DECISION,   /* {"id": of the output, "call": a hash, "reason"}; number: 1, approved */
  LT_PROMPT_NOTE_ARTIFACT,   /* its id; number: a hash of its content */
  LT_PROMPT_NOTE_CANCEL,     /* the prompt was cancelled */
  LT_PROMPT_NOTE_TOOLS,      /* {"tools", "silent"}: other tools than before; number: zero-based index of the round */
  LT_PROMPT_NOTE_TRACE,      /* {"traceparent", "tracestate"}, either may be empty; number: when the prompt began, us */
  LT_PROMPT_NOTE_CELL,       /* {"items", "ended", "ms"}: what a model was told of a cell; number: of the answer */
};

/* The first or the last note of a kind; NULL: none. */
lt_note *lt_notes_find(const lt_record *record, uint32_t kind);
const lt_note *lt_notes_find_last(const lt_record *record, uint32_t kind);
size_t lt_notes_count(const lt_record *record, uint32_t kind);
/* The record of the call with that number; NULL: there is none. */
const lt_recorded_call *lt_notes_find_call(const lt_record *record, uint64_t seq);

/* Write and read a failure as a note's text: `E_DENIED no`. Reading returns the failure, or LT_OK when the text is
 * none. */
void lt_notes_put_failure(lt_buf *out, lt_status status, lt_str message);
lt_status lt_notes_read_failure(lt_str text, lt_str *ret_message);
/* The status of that name (base/status.h); `otherwise` when the name is unknown. */
lt_status lt_notes_status(lt_str name, lt_status otherwise);

/* The program and its engine: the text of LT_NOTE_BEGIN. */
typedef struct lt_program_identity {
  lt_str runner;   /* "quickjs", "python", "deno" */
  uint64_t engine; /* the engine's fingerprint; 0 where the runner has none */
  uint64_t program;
  lt_str time_zone; /* empty: UTC */
} lt_program_identity;

#define LT_NOTES_IDENTITY_BYTES 128

/* Writes the identity of a program. `text` has room for LT_NOTES_IDENTITY_BYTES; the returned string is in it. */
lt_str lt_notes_put_identity(const lt_program_identity *identity, char *text);
/* Reads it; false: the note is not one of a program. Borrows the text. */
bool lt_notes_read_identity(lt_str text, lt_program_identity *ret_identity);

#endif
