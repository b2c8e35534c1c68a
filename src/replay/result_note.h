/* Writes and reads the note of a run's end in the journal. A prompt continues with that result when the program does
 * not run again. */
#ifndef LT_REPLAY_RESULT_NOTE_H
#define LT_REPLAY_RESULT_NOTE_H

#include "runner/run_request.h"

/* `values` has what store() keeps; may be NULL. */
void lt_result_note_write(const lt_run_result *result, const lt_stored_values *values, lt_buf *out);
/* `result` is initialised; `values` may be NULL. Errors: LT_E_NOMEM. */
lt_status lt_result_note_read(lt_str note, lt_run_result *result, lt_stored_values *values, lt_err *err);
/* Whether the run ended because its time or its memory was used up. */
bool lt_result_note_is_limit(lt_str note);
/* Whether nothing was run, because its types were wrong. */
bool lt_result_note_has_type_errors(lt_str note);
/* Appends the note without the parts that may differ between two runs of a program: its duration, and its calls,
 * because a call that the program did not wait for may end differently. False: the text is no such note, or no
 * memory. */
bool lt_result_note_put_comparable(lt_buf *out, lt_str note);

#endif
