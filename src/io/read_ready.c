/* A file of its own: the compiler takes the address of errno for the same throughout a function, and a fiber that waits
 * in between may continue on another thread (docs/internals/fibers.md). */
#include "io/read_ready.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t read_ready_result(ssize_t n) {
  return n >= 0 ? n : errno == EAGAIN || errno == EINTR ? LT_READ_LATER : LT_READ_FAILED;
}

ssize_t lt_read_ready(int fd, void *to, size_t room) {
  return read_ready_result(read(fd, to, room));
}

ssize_t lt_read_ready_socket(int fd, void *to, size_t room) {
  return read_ready_result(recv(fd, to, room, MSG_DONTWAIT));
}
