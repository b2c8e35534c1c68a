/* Spilling: an answer that is too long is stored as an artifact, and a preview replaces it. The door spills answers of
 * tools; other modules spill texts that did not pass the door. */
#ifndef LT_TOOL_ANSWER_SPILL_H
#define LT_TOOL_ANSWER_SPILL_H

#include "tool/caller.h"

/* Replaces the JSON text in `out` by {"preview", "bytes", "artifact", "note"}: its first LT_ANSWER_PREVIEW_BYTES (for a
 * string, of its characters), its length, and the artifact's id. When the text could not be stored, the id is null, the
 * status is not LT_OK and `err` says why. LT_YIELDS. */
lt_status lt_answer_spill(const lt_caller *caller, lt_str tool, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
