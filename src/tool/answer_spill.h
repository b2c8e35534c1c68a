/* Answers that are too long to be passed on: kept as artifacts, with a preview in their place. For the door, and for
 * whoever passes on what did not come through it. */
#ifndef LT_TOOL_ANSWER_SPILL_H
#define LT_TOOL_ANSWER_SPILL_H

#include "tool/caller.h"

/* Replaces the JSON text in `out` by {"preview", "bytes", "artifact", "note"}: the first LT_ANSWER_PREVIEW_BYTES of it
 * (of a string: of its characters), how long it was, and the id it is kept under, which is null when it could not be
 * kept; `err` says why then, and the status is not LT_OK. LT_YIELDS. */
lt_status lt_answer_spill(const lt_caller *caller, lt_str tool, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
