/* A journal and a place for artifacts that mask secrets, in front of those of a store. This is the exit to the store:
 * whoever records hands over what it has. Loop thread only.
 *
 * Recorded text is masked as JSON where it is JSON (a value stays one), as text otherwise. Without memory to mask,
 * nothing is recorded.
 */
#ifndef LT_TOOL_MASKED_RECORDS_H
#define LT_TOOL_MASKED_RECORDS_H

#include "text/secrets.h"
#include "tool/journal.h"

typedef struct lt_masked_journal {
  lt_journal base; /* first */
  lt_journal *to;
  const lt_secrets *secrets;
} lt_masked_journal;

typedef struct lt_masked_artifacts {
  lt_artifacts base; /* first */
  lt_artifacts *to;
  const lt_secrets *secrets;
} lt_masked_artifacts;

/* Returns the masking journal in front of `to`. Borrows: all three, as long as it is used. */
lt_journal *lt_masked_records_journal(lt_masked_journal *masked, lt_journal *to, const lt_secrets *secrets);
/* The same for artifacts. */
lt_artifacts *lt_masked_records_artifacts(lt_masked_artifacts *masked, lt_artifacts *to, const lt_secrets *secrets);

#endif
