/* What the door hands its records to: calls before and after they are made, and things too large to pass on.
 *
 * Interfaces only: store/ implements them, the door and the providers use them and know nothing of databases. What is
 * handed over has no secrets in it any more. Loop thread only.
 */
#ifndef LT_TOOL_JOURNAL_H
#define LT_TOOL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fiber.h"
#include "base/str.h"

/* --- Calls ------------------------------------------------------------------------------------ */
typedef struct lt_journal_call {
  lt_str user;     /* on whose behalf */
  lt_str run;      /* the run or prompt that makes it */
  lt_str tool;     /* its id */
  lt_str input;    /* JSON text of an object */
  bool repeatable; /* read-only or idempotent: making it twice does no harm (MCP 2025-11-25, ToolAnnotations) */
} lt_journal_call;

typedef struct lt_journal lt_journal;
struct lt_journal {
  /* Records that a call is about to be made. When this returns LT_OK the record survives the process; and the power's
   * going, too, unless the call is repeatable. Anything else: the call is not made. LT_YIELDS. Borrows `call`. */
  lt_status (*begin)(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS;
  /* Records how it ended: LT_OK with its value (JSON text), anything else with its message. LT_YIELDS. */
  lt_status (*finish)(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS;
};

/* --- Artifacts -------------------------------------------------------------------------------- */
typedef struct lt_artifact {
  lt_str user;
  lt_str type; /* what it is for: "code-output", "tool-result", "image", ... */
  lt_str description;
  lt_str mime_type; /* "application/json": `data` is JSON text */
  lt_str data;
} lt_artifact;

#define LT_ARTIFACT_ID_BYTES 32 /* hexadecimal digits of an id */

typedef struct lt_artifacts lt_artifacts;
struct lt_artifacts {
  /* Keeps a copy under a new id, which is appended to `ret_id`. LT_YIELDS. */
  lt_status (*put)(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS;
};

#endif
