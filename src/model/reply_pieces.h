/* The pieces of an assistant's message, in the order in which its provider wants them back: its text, its calls, and
 * what was kept of the answer (lt_completion.kept). Pure. Private to model/.
 */
#ifndef LT_MODEL_REPLY_PIECES_H
#define LT_MODEL_REPLY_PIECES_H

#include "json/json.h"

typedef enum lt_reply_piece_kind {
  LT_REPLY_TEXT, /* a string, or parts of a content */
  LT_REPLY_CALL, /* one of the message's "tool_calls" */
  LT_REPLY_OWN,  /* as the wire wrote it */
} lt_reply_piece_kind;

typedef struct lt_reply_pieces {
  lt_reply_piece_kind kind; /* of the present piece ... */
  lt_json value;            /* ... and the piece */
  lt_json content;          /* NONE: it was given, or its texts are among the parts */
  bool has_parts;
  lt_json_iter parts, calls;
} lt_reply_pieces;

/* Begins. Parts that another wire kept are left out. */
void lt_reply_pieces_init(lt_reply_pieces *pieces, lt_json message, const char *api);
/* Goes to the next piece; false: there is none. */
bool lt_reply_pieces_next(lt_reply_pieces *pieces);

#endif
