/* Interfaces for the door's records: calls before and after they are made, and artifacts.
 *
 * store/ implements them; the door and the providers use them and know nothing of databases. Secrets are masked in
 * front of the store (masked_records.h). Loop thread only.
 */
#ifndef LT_TOOL_JOURNAL_H
#define LT_TOOL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fiber.h"
#include "base/str.h"

/* --- Calls -------------------------------------------------------------------------------------------------------- */
typedef struct lt_journal_call {
  lt_str user;         /* lt_caller.user */
  lt_str run;          /* lt_caller.run */
  uint64_t seq;        /* lt_invoke_options.seq; 0: none, and no replay looks for the call */
  uint64_t hash;       /* lt_journal_hash of the unchanged tool and input; a replay compares it */
  lt_str tool;         /* the id */
  lt_str input;        /* JSON text of an object, as the caller gave it */
  lt_str edited_input; /* the input with which a person replaced it, and which the tool gets; empty: none */
  bool repeatable; /* read-only or idempotent: making the call twice does no harm (MCP 2025-11-25, ToolAnnotations) */
  bool read_only;  /* it has no effect: it may be recorded later than it is made */
} lt_journal_call;

static inline uint64_t lt_journal_hash(lt_str tool, lt_str input) {
  return lt_str_hash(tool) * 31 + lt_str_hash(input);
}

/* --- Runs that can be run again (docs/internals/replay.md) -------------------------------------------------------- */
/* Other data that came to a run from outside. The writer of a note defines its kind and number. */
typedef struct lt_note {
  uint32_t kind;
  uint64_t number;
  uint64_t time_us; /* since the run began */
  lt_str text;      /* may be empty */
} lt_note;

/* A recorded call. */
typedef struct lt_recorded_call {
  int64_t id; /* the journal's id, for finish */
  uint64_t seq;
  uint64_t hash;
  lt_str tool;
  lt_str input;        /* its first LT_RECORD_SHOWN_BYTES, for messages */
  lt_str edited_input; /* empty: none */
  bool repeatable;
  bool finished;    /* false: the process ended before the call did */
  bool withheld;    /* not finished: a check makes the call again and compares the result */
  lt_status status; /* finished: LT_OK with the value (JSON text), or an error with its message */
  lt_str answer;
} lt_recorded_call;

/* The error message, with LT_E_INTERRUPTED, of a call in a resumed run: the call had begun but not finished, and must
 * not be made twice. */
#define LT_JOURNAL_INTERRUPTED \
  "interrupted: Lathe ended while this call was being made; whether it took effect is not known"

/* The record of a run. Owns: the caller of recall, lt_record_release. */
typedef struct lt_record {
  lt_arena arena;
  lt_note *notes; /* in the order they were noted */
  size_t note_count;
  lt_recorded_call *calls; /* the calls with a seq, sorted by it */
  size_t call_count;
} lt_record;

static inline void lt_record_release(lt_record *record) {
  lt_arena_release(&record->arena);
  *record = (lt_record){0};
}

typedef struct lt_journal lt_journal;
struct lt_journal {
  /* Records that a call is about to be made. After LT_OK the record survives the process and, unless the call is
   * repeatable, a power failure. A call that only reads may be queued instead, and its end, as notes are. After an
   * error the call must not be made. An unfinished call of the same run and seq is made again and keeps its record.
   * LT_YIELDS. Borrows `call`. */
  lt_status (*begin)(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS;
  /* Records the call's end: LT_OK with the value (JSON text), or an error with its message. The end of a call with a
   * seq may be queued, as notes are; no later call of the prompt begins before it is written. LT_YIELDS. */
  lt_status (*finish)(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS;
  /* Adds a note to a run and does not wait until it is written. Later calls and notes of the run are recorded only if
   * this note is. When the process ends before the next record, the notes since the last record are lost; nothing
   * outside has seen their effects. Copies. `on_failure` (may be NULL) is called on the loop when the note could not be
   * written; then the run cannot run again. NULL: this journal keeps no notes. Does not yield. */
  void (*note)(lt_journal *self, lt_str run, const lt_note *note, void (*on_failure)(void *arg, const lt_err *err),
               void *arg);
  /* A note of the run was lost before it got here: the run cannot run again. NULL: the journal need not know, as a
   * repeated run diverges. Does not yield. */
  void (*lose)(lt_journal *self, lt_str run, lt_status why);
  /* Reads the record of a run; an empty record is LT_OK, too. `ret_record` is written on success only. NULL when `note`
   * is NULL. LT_YIELDS. */
  lt_status (*recall)(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS;
  /* The journal only serves checks (replay/replay_check.h): begin refuses a call that is not recorded. */
  bool final;
};

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
typedef struct lt_artifact {
  lt_str user;
  lt_str run;  /* lt_caller.run of its maker; empty: it belongs to no run */
  lt_str type; /* its purpose: "code-output", "tool-result", "image", ... */
  lt_str description;
  lt_str mime_type; /* "application/json": `data` is JSON text */
  lt_str data;
} lt_artifact;

#define LT_ARTIFACT_ID_BYTES 32 /* hexadecimal digits of an id */

typedef struct lt_artifacts lt_artifacts;
struct lt_artifacts {
  /* Stores a copy under a new id and appends the id to `ret_id`. LT_YIELDS. LT_E_LIMIT: the run, with those that it
   * starts, or the store has too many bytes of artifacts already; the message says what to do. */
  lt_status (*put)(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS;
};

#endif
