/* The warm interpreter: its life, what it says, and the process that waits for the next program. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/python/python_zygote.h"
#include "io/watch.h"
#include "runner/python/python_start.h"

/* One is always ready for the next program. */
static void python_zygote_want_spare(lt_zygote *z) LT_YIELDS {
  lt_python_child *child = NULL;
  if (z->spare != NULL || z->making_spare || z->over || z->closing) {
    return;
  }
  z->making_spare = true;
  z->users++;
  if (lt_python_child_new(z, &child, NULL) == LT_OK) {
    z->spare = child;
    lt_python_child_disown(child);
  }
  z->making_spare = false;
  lt_zygote_unuse(z);
}

/* --- What it says ------------------------------------------------------------------------------------------------- */

static void python_zygote_on_exit_message(lt_zygote *z, uint32_t id, int status, lt_str reason) LT_YIELDS {
  lt_python_child *child = lt_python_child_find(z, id);
  if (child == NULL) {
    return;
  }
  snprintf(child->reason, sizeof child->reason, "%.*s", LT_STR_ARG(reason));
  lt_python_child_exited(child, status);
  if (!child->owned) {
    lt_python_child_drop(child);
  }
}

static void python_zygote_on_fork_message(lt_zygote *z, uint32_t id, pid_t pid) {
  lt_python_child *child = lt_python_child_find(z, id);
  if (child != NULL) {
    child->pid = pid;
  }
}

static void python_zygote_on_message(lt_zygote *z, char *message) LT_YIELDS {
  char *rest = NULL;
  uint32_t id = (uint32_t)strtoul(message + 1, &rest, 10);
  switch (message[0]) {
    case 'R':
      z->ready = true;
      lt_python_wait_wake_all(&z->starters);
      break;
    case 'E':
      python_zygote_on_exit_message(z, id, (int)strtol(rest, NULL, 10), LT_STR_NULL);
      break;
    case 'N':
      python_zygote_on_exit_message(z, id, -1, lt_str_trim(lt_str_of(rest)));
      break;
    default: /* F: it has been forked */
      python_zygote_on_fork_message(z, id, (pid_t)strtol(rest, NULL, 10));
      break;
  }
}

/* Whether it should have ended, or is about to by itself. */
static bool python_zygote_lingers(const lt_zygote *z, const lt_python_child *child) {
  return !child->exited && (child->to_kill || (!child->owned && child != z->spare && !z->making_spare));
}

/* A program that has said its last word ends by itself, most of the time. */
static uint64_t python_zygote_look_after(lt_zygote *z, bool later) {
  uint64_t again_ms = UINT64_MAX;
  for (lt_python_child *child = z->children; child != NULL; child = child->next) {
    if (!python_zygote_lingers(z, child)) {
      continue;
    }
    child->ticks += later;
    if (child->to_kill || child->ticks > 1) {
      lt_python_child_kill(child);
    }
    uint64_t ms = child->to_kill ? LT_PYTHON_AGAIN_MS : LT_PYTHON_LINGER_MS;
    again_ms = ms < again_ms ? ms : again_ms;
  }
  return again_ms;
}

/* Until its end of the socket is closed. False: it never became ready. */
static bool python_zygote_listen_to(lt_zygote *z) LT_YIELDS {
  uint64_t began = lt_loop_now_ms(z->python->loop);
  char message[4200];
  bool later = false;
  while (!z->closing) {
    ssize_t n = recv(z->control, message, sizeof message - 1, MSG_DONTWAIT);
    if (n > 0) {
      message[n] = '\0';
      python_zygote_on_message(z, message);
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      return z->ready;
    }
    uint64_t gone = lt_loop_now_ms(z->python->loop) - began;
    uint64_t left = z->ready                    ? python_zygote_look_after(z, later)
                    : gone < LT_PYTHON_START_MS ? LT_PYTHON_START_MS - gone
                                                : 0;
    later = lt_wait_on(&z->wait, left) == LT_E_TIMEOUT;
    if (later && !z->ready) {
      return false;
    }
  }
  return true;
}

static lt_python_child *python_zygote_find_unowned(const lt_zygote *z) {
  lt_python_child *child = z->children;
  while (child != NULL && child->owned) {
    child = child->next;
  }
  return child;
}

/* Nothing comes from it any more: whoever waits is told. Its processes are gone, the kernel has killed them with it. */
static void python_zygote_end(lt_zygote *z) LT_YIELDS {
  lt_python *p = z->python;
  z->over = true;
  if (p->zygote == z) {
    p->zygote = NULL;
  }
  for (lt_python_child *child = z->children; child != NULL; child = child->next) {
    if (!child->exited) {
      lt_python_child_exited(child, -1);
    }
  }
  lt_python_wait_wake_all(&z->starters);
  for (lt_python_child *child = python_zygote_find_unowned(z); child != NULL; child = python_zygote_find_unowned(z)) {
    lt_python_child_drop(child);
  }
}

static void python_zygote_explain(lt_zygote *z, bool was_ready) LT_YIELDS {
  lt_python *p = z->python;
  if (z->closing) {
    lt_fail(&z->why, LT_E_CANCELLED, "the Python interpreter was ended");
  } else if (was_ready) {
    lt_fail(&z->why, LT_E_CLOSED, "the interpreter that Python programs are forked from has ended");
  } else {
    lt_loop_sleep(p->loop, LT_PROC_EXIT_GRACE_MS / 2); /* its last words */
    lt_python_explain(p, z->process, &z->why);
  }
}

static lt_status python_zygote_start(lt_zygote *z, lt_err *err) LT_YIELDS {
  LT_TRY(lt_python_start(z->python, &z->process, &z->control, err));
  LT_TRY(lt_watch_open(z->python->loop, z->control, &z->wait, &z->watch, err));
  lt_watch_set(z->watch, LT_WATCH_READ);
  return LT_OK;
}

static void python_zygote_close_process(lt_zygote *z) LT_YIELDS {
  if (z->process != NULL) {
    lt_process_signal(z->process, SIGKILL);
    lt_process_close(z->process);
    z->process = NULL;
  }
}

/* The fiber that starts it and listens to it, until its end. */
static void python_zygote_keep(void *arg) {
  lt_zygote *z = arg;
  lt_python *p = z->python;
  if (python_zygote_start(z, &z->why) == LT_OK) {
    bool was_ready = python_zygote_listen_to(z);
    z->deaf = true;
    python_zygote_explain(z, was_ready);
  }
  z->deaf = true;
  lt_watch_close(z->watch);
  if (z->control >= 0) {
    close(z->control);
  }
  python_zygote_close_process(z);
  python_zygote_end(z);
  lt_zygote_unuse(z);
  p->zygotes--;
  lt_python_wake_closer(p);
}

static lt_status python_zygote_zygote_new(lt_python *p, lt_err *err) {
  lt_zygote *z = lt_mem_zalloc(1, sizeof *z);
  if (z == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start Python");
  }
  z->python = p;
  z->control = -1;
  z->users = 1; /* the fiber that keeps it */
  lt_wait_init(&z->wait, p->loop);
  lt_status status = lt_loop_spawn(p->loop, python_zygote_keep, z, err);
  if (status != LT_OK) {
    lt_mem_free(z);
    return status;
  }
  p->zygotes++;
  p->zygote = z;
  return LT_OK;
}

/* A zygote that is ready; it may end at the next wait. */
static lt_status python_zygote_ready_zygote(lt_python *p, lt_cancel *cancel, lt_zygote **ret_zygote,
                                            lt_err *err) LT_YIELDS {
  if (p->zygote == NULL) {
    LT_TRY(python_zygote_zygote_new(p, err));
  }
  lt_zygote *z = p->zygote;
  if (z->ready) {
    *ret_zygote = z;
    return LT_OK;
  }
  z->users++;
  lt_status status = lt_python_wait_in(&z->starters, p->loop, cancel);
  if (status != LT_OK) {
    status = lt_fail(err, status, "Execution was cancelled");
  } else if (z->over) {
    status = lt_fail(err, z->why.status, "%s", lt_err_msg(&z->why));
  } else {
    *ret_zygote = z;
  }
  lt_zygote_unuse(z);
  return status;
}

/* --- For runs ----------------------------------------------------------------------------------------------------- */

static lt_status python_zygote_take(lt_python *p, lt_cancel *cancel, lt_python_child **ret_child,
                                    lt_err *err) LT_YIELDS {
  lt_zygote *z = NULL;
  LT_TRY(python_zygote_ready_zygote(p, cancel, &z, err));
  if (z->spare == NULL) {
    return lt_python_child_new(z, ret_child, err);
  }
  *ret_child = z->spare;
  z->spare->owned = true;
  z->spare = NULL;
  return LT_OK;
}

lt_status lt_python_child_take(lt_python *p, lt_wait *wait, lt_cancel *cancel, lt_python_child **ret_child,
                               lt_err *err) {
  if (p->running >= LT_PYTHON_RUNS_MAX) {
    LT_TRY(lt_python_wait_in(&p->queue, p->loop, cancel)); /* woken: the place is ours already */
  } else {
    p->running++;
  }
  lt_status status = python_zygote_take(p, cancel, ret_child, err);
  if (status != LT_OK) {
    lt_python_give_place(p);
    return status;
  }
  (*ret_child)->wait = wait;
  (*ret_child)->counted = true;
  return LT_OK;
}

void lt_python_child_prepare(lt_python *p) {
  if (p->zygote != NULL && p->zygote->ready) {
    python_zygote_want_spare(p->zygote);
  }
}

lt_status lt_python_warm(lt_python *p, lt_err *err) {
  lt_zygote *z = NULL;
  LT_TRY(python_zygote_ready_zygote(p, NULL, &z, err));
  python_zygote_want_spare(z);
  return LT_OK;
}

void lt_python_end_zygote(lt_python *p) {
  lt_wait closer;
  lt_wait_init(&closer, p->loop);
  p->closer = &closer;
  if (p->zygote != NULL) {
    p->zygote->closing = true;
    lt_wait_wake(&p->zygote->wait, LT_OK);
  }
  while (p->zygotes > 0 || p->removals > 0) {
    lt_wait_on(&closer, UINT64_MAX);
  }
  p->closer = NULL;
}
