/* What owners of libuv handles need of the loop: timers, pollers, processes, pipes. Private to io/. */
#ifndef LT_IO_LOOP_HANDLES_H
#define LT_IO_LOOP_HANDLES_H

#include <uv.h>

#include "io/loop.h"

/* The loop in which handles are opened. */
uv_loop_t *lt_loop_uv(lt_loop *loop);
/* Counts an object with open handles. lt_loop_free checks that none is left. */
void lt_loop_add_object(lt_loop *loop);
void lt_loop_remove_object(lt_loop *loop);
/* lt_status for a libuv error code. */
lt_status lt_loop_status(int uv_code);

#endif
