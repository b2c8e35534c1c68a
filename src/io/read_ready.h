/* Reads what a descriptor has, for fibers that wait in between. */
#ifndef LT_IO_READ_READY_H
#define LT_IO_READ_READY_H

#include <sys/types.h>

enum {
  LT_READ_END = 0,
  LT_READ_LATER = -1, /* there is nothing now, or a signal came */
  LT_READ_FAILED = -2,
};

/* Returns how many bytes were read, or one of the above. `fd` is one that does not block, or is known to be readable.
 */
ssize_t lt_read_ready(int fd, void *to, size_t room);
/* The same of a socket, whether it blocks or not. */
ssize_t lt_read_ready_socket(int fd, void *to, size_t room);

#endif
