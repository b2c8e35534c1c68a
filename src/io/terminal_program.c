#include "io/terminal_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "io/loop_handles.h"

/* A program that has the terminal. */
typedef struct terminal_program {
  uv_process_t process; /* first */
  lt_wait ended;
  lt_wait closed;
  int64_t code; /* 128 and more: a signal ended it */
} terminal_program;

static void terminal_program_on_exit(uv_process_t *process, int64_t code, int signum) {
  terminal_program *p = (terminal_program *)process;
  p->code = signum != 0 ? 128 + signum : code;
  lt_wait_wake(&p->ended, LT_OK);
}

static void terminal_program_on_closed(uv_handle_t *handle) {
  lt_wait_wake(&((terminal_program *)handle)->closed, LT_OK);
}

/* A cancel ends it first. */
static lt_status terminal_program_await(terminal_program *p, lt_cancel *cancel) LT_YIELDS {
  lt_cancel_node node;
  lt_cancel_add(cancel, &node, &p->ended);
  lt_status status = lt_wait_on(&p->ended, UINT64_MAX);
  lt_cancel_remove(cancel, &node);
  if (status != LT_OK) {
    uv_process_kill(&p->process, SIGTERM);
    (void)lt_wait_on(&p->ended, UINT64_MAX);
  }
  return status;
}

static int terminal_program_spawn(terminal_program *p, lt_loop *loop, const char *const *argv, int fd) {
  uv_stdio_container_t stdio[3];
  for (int i = 0; i < 3; i++) {
    stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = fd};
  }
  const uv_process_options_t options = {.exit_cb = terminal_program_on_exit,
                                        .file = argv[0],
                                        .args = (char **)(uintptr_t)argv,
                                        .stdio_count = 3,
                                        .stdio = stdio};
  return uv_spawn(lt_loop_uv(loop), &p->process, &options);
}

/* The child's terminal is opened anew: ours does not block. */
lt_status lt_terminal_program_run(lt_loop *loop, const char *const *argv, lt_cancel *cancel, int *ret_code,
                                  lt_err *err) {
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return lt_fail(err, LT_E_NOTFOUND, "cannot open the terminal for %s: %s", argv[0], strerror(errno));
  }
  terminal_program p = {.code = 0};
  lt_wait_init(&p.ended, loop);
  lt_wait_init(&p.closed, loop);
  int rc = terminal_program_spawn(&p, loop, argv, fd);
  close(fd);
  lt_status status = rc == 0 ? terminal_program_await(&p, cancel) : LT_OK;
  uv_close((uv_handle_t *)&p.process, terminal_program_on_closed);
  (void)lt_wait_on(&p.closed, UINT64_MAX);
  if (rc != 0) {
    return lt_fail(err, LT_E_NOTFOUND, "cannot start %s: %s", argv[0], uv_strerror(rc));
  }
  *ret_code = (int)p.code;
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s while %s ran", lt_status_text(status), argv[0]);
}
