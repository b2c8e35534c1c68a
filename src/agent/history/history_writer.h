/* The parts of a conversation's history, and their conversion to messages. Internal to agent/history/. */
#ifndef LT_AGENT_HISTORY_HISTORY_WRITER_H
#define LT_AGENT_HISTORY_HISTORY_WRITER_H

#include "agent/history/history.h"

typedef enum lt_history_part_kind {
  LT_HISTORY_PART_USER,       /* the user's input */
  LT_HISTORY_PART_TEXT,       /* text that was shown to the user */
  LT_HISTORY_PART_CALL,       /* a tool call that the model requested */
  LT_HISTORY_PART_JAVASCRIPT, /* a program of code mode */
  LT_HISTORY_PART_TYPESCRIPT, /* a program of typescript mode */
  LT_HISTORY_PART_CELL,       /* a call of mode codex */
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
  lt_str id;        /* the call's unique id, when it is written as a call */
  lt_str stored_id; /* CALL: the id of its output */
  lt_str function;
  lt_json attachments; /* USER: an array, or missing */
  lt_json input;
  lt_json result;
  lt_str unanswered; /* replaces a result that was never stored; empty: the call may still end */
  lt_str made;       /* the tool calls that a failed program had made */
  size_t tokens;     /* estimated, at this level */
} lt_history_part;

/* A text message. Consecutive messages of one role are joined, because some models refuse two messages of the same role
 * in a row. */
typedef struct lt_history_message {
  lt_buf text;
  lt_buf parts; /* of the user's files, with commas between them (media_parts.h) */
  bool of_user; /* otherwise the assistant's */
} lt_history_message;

typedef struct lt_history_writer {
  const lt_history *history;
  lt_json_writer *w;
  lt_arena *arena;         /* for unescaped strings */
  lt_history_message open; /* texts of one prompt and one role, a line each */
  lt_history_message last; /* the last message, not written yet; `open` joins it when the role changes */
  uint32_t omitted;        /* number of left-out parts since the last written part */
} lt_history_writer;

void lt_history_writer_init(lt_history_writer *writer, const lt_history *history, lt_json_writer *w, lt_arena *arena);
void lt_history_writer_release(lt_history_writer *writer);
void lt_history_writer_put(lt_history_writer *writer, const lt_history_part *part);
/* Writes the rest. `ret_user` (may be NULL): gets the text of the last message when that is the user's, and `ret_parts`
 * its parts; then the message is not written. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_history_writer_end(lt_history_writer *writer, lt_buf *ret_user, lt_buf *ret_parts);

#endif
