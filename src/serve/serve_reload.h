/* What a configuration that was read again leaves behind. Internal to serve/. */
#ifndef LT_SERVE_SERVE_RELOAD_H
#define LT_SERVE_SERVE_RELOAD_H

#include "serve/serve_state.h"

/* Frees the configurations that were read while it ran. Nothing may borrow from them any more. The session's own has
 * the values that it was started with again. */
void lt_serve_reload_release(lt_serve *serve);

#endif
