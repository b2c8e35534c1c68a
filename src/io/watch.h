/* Watches a file descriptor on the loop: for sockets and pipes that a fiber reads and writes itself, without blocking.
 * It also makes the socket pairs over which descriptors are passed to other processes. Loop thread only.
 */
#ifndef LT_IO_WATCH_H
#define LT_IO_WATCH_H

#include "base/str.h"
#include "io/loop.h"

enum { LT_WATCH_READ = 1, LT_WATCH_WRITE = 2 };

typedef struct lt_watch lt_watch;

/* Wakes `wait` (LT_OK) as long as one of the requested events is possible on `fd`, or its other end is gone. The woken
 * fiber reads until there is nothing more, or requests fewer events. At first no event is requested. The descriptor
 * becomes non-blocking. A descriptor can have one watch. Errors: LT_E_NOMEM, LT_E_IO (not a pipe, socket or terminal).
 * Borrows: fd and wait, until the watch is closed. Owns: the caller, lt_watch_close. */
lt_status lt_watch_open(lt_loop *loop, int fd, lt_wait *wait, lt_watch **ret_watch, lt_err *err);
/* Sets the requested events: LT_WATCH_READ, LT_WATCH_WRITE, both or 0. */
void lt_watch_set(lt_watch *watch, unsigned events);
/* Ends the watch: `wait` is not woken any more. The descriptor stays open; the caller may close it now. NULL is
 * allowed. */
void lt_watch_close(lt_watch *watch);

/* A connected pair of unix sockets, closed on exec: `stream`, or one that keeps messages apart. Our end does not block.
 * Errors: LT_E_IO. Owns: the caller, close. */
lt_status lt_watch_socket_pair(bool stream, int *ret_ours, int *ret_theirs, lt_err *err);
/* Sends one message with copies of `fds` (at most 4), without blocking. Errors: LT_E_CLOSED; LT_E_LIMIT: no room now;
 * LT_E_IO. */
lt_status lt_watch_socket_send(int fd, lt_str message, const int *fds, size_t count, lt_err *err);

#endif
