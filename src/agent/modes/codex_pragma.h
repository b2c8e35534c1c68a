/* The first line of a program of mode codex: `// @exec: {"yield_time_ms": 10000, "max_output_tokens": 1000}`. Pure. */
#ifndef LT_AGENT_MODES_CODEX_PRAGMA_H
#define LT_AGENT_MODES_CODEX_PRAGMA_H

#include "base/buf.h"
#include "json/json.h"

typedef struct lt_codex_pragma {
  uint64_t yield_ms;
  size_t max_tokens;
} lt_codex_pragma;

/* Reads the first line that is neither empty nor a code fence; without a pragma there, the standards. False: `why` has
 * a sentence for the model. The limits are lowered to what there may be (limits.h). */
bool lt_codex_pragma_read(lt_str code, lt_codex_pragma *ret, lt_buf *why);
/* A number of milliseconds, or of tokens, that a model asks for: `value` is the JSON, missing or null: the standard.
 * False: `why` has a sentence that begins with `name`. */
bool lt_codex_pragma_number(lt_json value, const char *name, int64_t standard, int64_t max, int64_t *ret, lt_buf *why);

#endif
