/* Files of one's own on the loop: who waits is woken when there is something, and only then; descriptors that are
 * passed arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/watch.h"

typedef struct world {
  lt_loop *loop;
  void (*body)(struct world *w);
} world;

static void on_world(void *arg) {
  world *w = arg;
  w->body(w);
}

static void on_fiber(void (*body)(world *w)) {
  world w = {.body = body};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, on_world, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  lt_loop_free(w.loop);
}

#include "fiber_case.h"

static void open_pair(world *w, int *ours, int *theirs, lt_wait *wait, lt_watch **watch) {
  assert_int_equal(lt_watch_socket_pair(true, ours, theirs, NULL), LT_OK);
  lt_wait_init(wait, w->loop);
  assert_int_equal(lt_watch_open(w->loop, *ours, wait, watch, NULL), LT_OK);
}

TEST(test_wakes_when_there_is_something) {
  int ours, theirs;
  lt_wait wait;
  lt_watch *watch;
  char c = 'x';
  open_pair(w, &ours, &theirs, &wait, &watch);
  assert_int_equal(write(theirs, &c, 1), 1);
  assert_int_equal(lt_wait_on(&wait, 20), LT_E_TIMEOUT); /* nothing was asked for */
  lt_watch_set(watch, LT_WATCH_READ);
  assert_int_equal(lt_wait_on(&wait, 20000), LT_OK);
  assert_int_equal(read(ours, &c, 1), 1);
  assert_int_equal(read(ours, &c, 1), -1); /* does not block */
  lt_wait_on(&wait, 0);
  assert_int_equal(lt_wait_on(&wait, 20), LT_E_TIMEOUT);
  lt_watch_set(watch, LT_WATCH_WRITE);
  assert_int_equal(lt_wait_on(&wait, 20000), LT_OK);
  lt_watch_set(watch, LT_WATCH_READ);
  lt_wait_on(&wait, 0);
  close(theirs); /* the end is something, too */
  assert_int_equal(lt_wait_on(&wait, 20000), LT_OK);
  assert_int_equal(read(ours, &c, 1), 0);
  lt_watch_close(watch);
  close(ours);
}

TEST(test_a_closed_watch_wakes_nobody) {
  int ours, theirs;
  lt_wait wait;
  lt_watch *watch;
  open_pair(w, &ours, &theirs, &wait, &watch);
  lt_watch_set(watch, LT_WATCH_READ);
  assert_int_equal(write(theirs, "x", 1), 1);
  lt_watch_close(watch);
  assert_int_equal(lt_wait_on(&wait, 20), LT_E_TIMEOUT);
  assert_int_equal(lt_watch_open(w->loop, ours, &wait, &watch, NULL), LT_OK); /* the descriptor can be watched again */
  lt_watch_set(watch, LT_WATCH_READ);
  assert_int_equal(lt_wait_on(&wait, 20000), LT_OK);
  lt_watch_close(watch);
  lt_watch_close(NULL);
  close(ours);
  close(theirs);
}

TEST(test_what_cannot_be_watched) {
  lt_wait wait;
  lt_watch *watch = NULL;
  lt_err err = LT_ERR_INIT;
  lt_wait_init(&wait, w->loop);
  FILE *file = tmpfile();
  assert_int_not_equal(lt_watch_open(w->loop, fileno(file), &wait, &watch, &err), LT_OK);
  assert_true(lt_err_msg(&err)[0] != '\0');
  fclose(file);
  int ours, theirs;
  assert_int_equal(lt_watch_socket_pair(true, &ours, &theirs, NULL), LT_OK);
  lt_mem_fail_at(0);
  assert_int_equal(lt_watch_open(w->loop, ours, &wait, &watch, NULL), LT_E_NOMEM);
  lt_mem_fail_at(-1);
  close(ours);
  close(theirs);
}

static int receive_fd(int from, char *byte) {
  char control[64];
  struct iovec iov = {byte, 1};
  struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd = -1;
  assert_int_equal(recvmsg(from, &msg, 0), 1);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
  return fd;
}

TEST(test_descriptors_are_passed) {
  int ours, theirs, fds[2];
  char byte = 0;
  (void)w;
  assert_int_equal(lt_watch_socket_pair(false, &ours, &theirs, NULL), LT_OK);
  assert_int_equal(pipe(fds), 0);
  assert_int_equal(lt_watch_socket_send(ours, LT_STR("a"), &fds[1], 1, NULL), LT_OK);
  int fd = receive_fd(theirs, &byte);
  assert_int_equal(byte, 'a');
  assert_int_equal(write(fd, "b", 1), 1);
  assert_int_equal(read(fds[0], &byte, 1), 1);
  assert_int_equal(byte, 'b');
  lt_status status = LT_OK;
  for (int i = 0; i < 100000 && status == LT_OK; i++) {
    status = lt_watch_socket_send(ours, LT_STR("full"), NULL, 0, NULL);
  }
  assert_int_equal(status, LT_E_LIMIT);
  close(theirs);
  assert_int_equal(lt_watch_socket_send(ours, LT_STR("gone"), NULL, 0, NULL), LT_E_CLOSED);
  close(ours);
  close(fd);
  close(fds[0]);
  close(fds[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wakes_when_there_is_something),
      cmocka_unit_test(test_a_closed_watch_wakes_nobody),
      cmocka_unit_test(test_what_cannot_be_watched),
      cmocka_unit_test(test_descriptors_are_passed),
  };
  return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
