/* Prompts whose process has ended: found at the start and while the server runs, and carried out here. Internal to
 * serve/.
 *
 * A process that dies tells nobody. So the store is asked every LT_SERVE_ORPHANS_MS for prompts that have not ended and
 * have no living process, of any user and of any way in: an earlier server, a `lathe chat`, another server on the same
 * store. A prompt of another configuration stays as it is, and that is said once. So are the ends told that no event
 * has told.
 */
#ifndef LT_SERVE_SERVE_RESUME_H
#define LT_SERVE_SERVE_RESUME_H

#include "serve/serve_state.h"

/* Starts the fiber that looks. It sets `has_resumed` after the first look. Errors: LT_E_NOMEM. */
lt_status lt_serve_resume_start(lt_serve *serve, lt_err *err);
/* After `serve->closing` was fired: waits until the fiber has ended. LT_YIELDS. */
void lt_serve_resume_stop(lt_serve *serve) LT_YIELDS;

#endif
