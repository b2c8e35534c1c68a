/* Spilling: an answer that is too long is kept as an artifact, and a preview takes its place. The door does it, and
 * rooms that pass on text which did not come through the door. */
#ifndef LT_TOOL_ANSWER_SPILL_H
#define LT_TOOL_ANSWER_SPILL_H

#include "tool/caller.h"

/* Replaces the JSON text in `out` by {"preview", "bytes", "artifact", "note"}: its first LT_ANSWER_PREVIEW_BYTES (of a
 * string: of its characters), its length, and the artifact's id. When it could not be kept, the id is null, the status
 * is not LT_OK and `err` says why. LT_YIELDS. */
lt_status lt_answer_spill(const lt_caller *caller, lt_str tool, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
