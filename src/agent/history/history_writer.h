/* Steps of a conversation's history, and how they become messages. Internal to agent/history/. */
#ifndef LT_AGENT_HISTORY_HISTORY_WRITER_H
#define LT_AGENT_HISTORY_HISTORY_WRITER_H

#include "agent/history/history.h"

typedef enum lt_history_part_kind {
  LT_HISTORY_PART_USER,       /* what the user said */
  LT_HISTORY_PART_TEXT,       /* what the user was shown */
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
  uint32_t prompt;  /* zero-based index */
  lt_str text;      /* USER, TEXT */
  lt_str id;        /* of the call, unique, where it is shown as one */
  lt_str stored_id; /* CALL: its output's */
  lt_str function;
  lt_json input;
  lt_json result;
  lt_str unanswered; /* stands in for a result that never came; empty: it may still come */
  lt_str made;       /* tools that a program which did not end well had called */
  size_t tokens;     /* at this level */
} lt_history_part;

/* A message of text; those of one role that follow each other become one, as there are models that refuse a
 * conversation in which one side speaks twice in a row. */
typedef struct lt_history_message {
  lt_buf text;
  bool of_user; /* else of the assistant */
} lt_history_message;

typedef struct lt_history_writer {
  const lt_history *history;
  lt_json_writer *w;
  lt_arena *arena;         /* for strings with their escapes undone */
  lt_history_message open; /* texts of one prompt, a line each, until the next one of another role ... */
  lt_history_message last; /* ... which then join this: a message that is not written yet */
  uint32_t omitted;        /* steps since the last part that is shown */
} lt_history_writer;

void lt_history_writer_init(lt_history_writer *writer, const lt_history *history, lt_json_writer *w, lt_arena *arena);
void lt_history_writer_release(lt_history_writer *writer);
void lt_history_writer_put(lt_history_writer *writer, const lt_history_part *part);
/* Writes the rest. `ret_user` (may be NULL): gets the text of a last message of the user's, which is not written then.
 * LT_E_NOMEM or LT_E_LIMIT when something could not be written. */
lt_status lt_history_writer_end(lt_history_writer *writer, lt_buf *ret_user);

#endif
