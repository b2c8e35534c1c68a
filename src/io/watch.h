/* A file descriptor of one's own, watched on the loop: for sockets and pipes whose bytes a fiber reads and writes
 * itself, without blocking. And sockets over which descriptors are passed to other processes. Loop thread only.
 */
#ifndef LT_IO_WATCH_H
#define LT_IO_WATCH_H

#include "base/str.h"
#include "io/loop.h"

enum { LT_WATCH_READ = 1, LT_WATCH_WRITE = 2 };

typedef struct lt_watch lt_watch;

/* Wakes `wait` (LT_OK) as long as what is asked for is possible on `fd`, or its other end is gone: whoever is woken
 * reads until there is nothing more, or asks for less. Nothing is asked for yet. The descriptor becomes non-blocking;
 * one watch each. Errors: LT_E_NOMEM, LT_E_IO (no pipe, socket or terminal). Borrows: fd and wait, until it is closed.
 * Owns: the caller, lt_watch_close. */
lt_status lt_watch_open(lt_loop *loop, int fd, lt_wait *wait, lt_watch **ret_watch, lt_err *err);
/* What to look for from now on: LT_WATCH_READ, LT_WATCH_WRITE, both or 0. */
void lt_watch_set(lt_watch *watch, unsigned events);
/* Afterwards nobody is woken any more and the descriptor, which stays open, may be closed. NULL is allowed. */
void lt_watch_close(lt_watch *watch);

/* A connected pair of unix sockets, closed on exec: `stream`, or one that keeps messages apart. Our end does not block.
 * Errors: LT_E_IO. Owns: the caller, close. */
lt_status lt_watch_socket_pair(bool stream, int *ret_ours, int *ret_theirs, lt_err *err);
/* Sends one message with copies of `fds` (at most 4), without blocking. Errors: LT_E_CLOSED; LT_E_LIMIT: no room now;
 * LT_E_IO. */
lt_status lt_watch_socket_send(int fd, lt_str message, const int *fds, size_t count, lt_err *err);

#endif
