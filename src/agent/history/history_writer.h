/* One step of a conversation's history, and how it is told; internal to agent/ (history.h). */
#ifndef LT_AGENT_HISTORY_HISTORY_WRITER_H
#define LT_AGENT_HISTORY_HISTORY_WRITER_H

#include "agent/history/history.h"

typedef enum lt_history_part_kind {
  LT_HISTORY_PART_USER,       /* what the user said */
  LT_HISTORY_PART_TEXT,       /* what the user was told */
  LT_HISTORY_PART_CALL,       /* a tool call of the model's own */
  LT_HISTORY_PART_JAVASCRIPT, /* a program of code mode */
  LT_HISTORY_PART_TYPESCRIPT, /* a program of typescript mode */
} lt_history_part_kind;

typedef enum lt_history_part_level {
  LT_HISTORY_PART_WHOLE,
  LT_HISTORY_PART_SHORT,
  LT_HISTORY_PART_OMITTED
} lt_history_part_level;

typedef struct lt_history_part {
  lt_history_part_kind kind;
  lt_history_part_level level;
  uint32_t prompt;  /* number */
  lt_str text;      /* USER, TEXT */
  lt_str id;        /* of the call, unique, where it is told as one */
  lt_str stored_id; /* CALL: its output's */
  lt_str function;
  lt_json input;
  lt_json result;
  lt_str unanswered; /* what stands in for a result that never came; empty: it may still come */
  lt_str made;       /* tools that a program which did not end well had called */
  size_t tokens;     /* at this level */
} lt_history_part;

typedef enum lt_history_last {
  LT_HISTORY_LAST_NONE,
  LT_HISTORY_LAST_USER,
  LT_HISTORY_LAST_ASSISTANT,
  LT_HISTORY_LAST_CALL
} lt_history_last;

/* Where parts are told, one after the other; texts of one role that follow each other become one message. */
typedef struct lt_history_writer {
  const lt_history *history;
  lt_json_writer *w;
  lt_arena *arena;      /* for strings with their escapes undone */
  lt_buf open;          /* a text that has not been written yet ... */
  bool of_user;         /* ... and whose it is */
  lt_history_last last; /* the message that was written last */
  uint32_t left_out;
} lt_history_writer;

void lt_history_writer_init(lt_history_writer *telling, const lt_history *history, lt_json_writer *w, lt_arena *arena);
void lt_history_writer_release(lt_history_writer *telling);
void lt_history_writer_put(lt_history_writer *telling, const lt_history_part *part);
/* Writes what is open. LT_E_NOMEM or LT_E_LIMIT when something could not be told. */
lt_status lt_history_writer_end(lt_history_writer *telling);

#endif
