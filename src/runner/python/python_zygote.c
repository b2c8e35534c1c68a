/* The zygote: its start and end, its messages, and the processes that wait for the next programs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/read_ready.h"
#include "io/watch.h"
#include "runner/python/python_start.h"
#include "runner/python/python_zygote.h"

/* --- Spares ------------------------------------------------------------------------------------------------------- */
static bool python_zygote_needs_spare(const lt_python_zygote *z) {
  return z->spare_count < z->spares_wanted && !z->has_ended && !z->is_closing;
}

/* Forks processes for the next programs, unless there are enough. */
static void python_zygote_fork_spares(lt_python_zygote *z) LT_YIELDS {
  if (z->is_making_spare) {
    return;
  }
  z->is_making_spare = true;
  z->reference_count++;
  lt_python_child *child = NULL;
  while (python_zygote_needs_spare(z) && lt_python_child_new(z, &child, NULL) == LT_OK) {
    child->is_spare = true;
    z->spare_count++;
    lt_python_child_disown(child);
  }
  z->is_making_spare = false;
  lt_python_zygote_unref(z);
}

/* The first that was forked, and so the first that is ready; NULL: there is none. */
static lt_python_child *python_zygote_take_spare(lt_python_zygote *z) {
  lt_python_child *first = NULL;
  for (lt_python_child *child = z->children; child != NULL; child = child->next) {
    first = child->is_spare ? child : first; /* the newest is at the head */
  }
  if (first != NULL) {
    first->is_spare = false;
    first->is_owned = true;
    z->spare_count--;
  }
  return first;
}

/* A process takes longer to make ready than a short program runs. Programs that follow each other find several. */
static void python_zygote_note_program(lt_python_zygote *z) {
  uint64_t now_ms = lt_loop_now_ms(z->python->loop);
  if (now_ms - z->last_program_ms < LT_PYTHON_RUSH_MS && z->spares_wanted < LT_PYTHON_SPARES_MAX) {
    z->spares_wanted++;
  }
  z->last_program_ms = now_ms;
}

/* After a while without a program one spare is enough. Returns the milliseconds until then. */
static uint64_t python_zygote_drop_spares(lt_python_zygote *z) {
  uint64_t idle_ms = lt_loop_now_ms(z->python->loop) - z->last_program_ms;
  if (z->spares_wanted == 1 || idle_ms < LT_PYTHON_SPARES_MS) {
    return z->spares_wanted == 1 ? UINT64_MAX : LT_PYTHON_SPARES_MS - idle_ms;
  }
  z->spares_wanted = 1;
  for (lt_python_child *child = z->children; child != NULL && z->spare_count > 1; child = child->next) {
    if (child->is_spare) {
      child->is_spare = false;
      child->should_kill = true;
      z->spare_count--;
    }
  }
  return UINT64_MAX;
}

/* --- Messages from the interpreter -------------------------------------------------------------------------------- */

static void python_zygote_on_exit_message(lt_python_zygote *z, uint32_t id, int status, lt_str reason) LT_YIELDS {
  lt_python_child *child = lt_python_child_find(z, id);
  if (child == NULL) {
    return;
  }
  snprintf(child->reason, sizeof child->reason, "%.*s", LT_STR_ARG(reason));
  lt_python_child_exited(child, status);
  if (!child->is_owned) {
    lt_python_child_drop(child);
  }
}

static void python_zygote_on_fork_message(lt_python_zygote *z, uint32_t id, pid_t pid) {
  lt_python_child *child = lt_python_child_find(z, id);
  if (child != NULL) {
    child->pid = pid;
  }
}

static void python_zygote_on_message(lt_python_zygote *z, char *message) LT_YIELDS {
  char *rest = NULL;
  uint32_t id = (uint32_t)strtoul(message + 1, &rest, 10);
  switch (message[0]) {
    case 'R':
      z->is_ready = true;
      lt_python_waiters_wake_all(&z->starters);
      break;
    case 'E':
      python_zygote_on_exit_message(z, id, (int)strtol(rest, NULL, 10), LT_STR_NULL);
      break;
    case 'N':
      python_zygote_on_exit_message(z, id, -1, lt_str_trim(lt_str_of(rest)));
      break;
    default: /* F: the process has been forked */
      python_zygote_on_fork_message(z, id, (pid_t)strtol(rest, NULL, 10));
      break;
  }
}

/* Whether the process still exists although no program needs it. */
static bool python_zygote_lingers(const lt_python_zygote *z, const lt_python_child *child) {
  return !child->has_exited && (child->should_kill || (!child->is_owned && !child->is_spare && !z->is_making_spare));
}

/* Kills processes that outlive their program; most end by themselves. `is_tick`: another period has passed. Returns the
 * milliseconds until the next check. */
static uint64_t python_zygote_kill_lingering(lt_python_zygote *z, bool is_tick) {
  uint64_t again_ms = python_zygote_drop_spares(z);
  for (lt_python_child *child = z->children; child != NULL; child = child->next) {
    if (!python_zygote_lingers(z, child)) {
      continue;
    }
    child->linger_ticks += is_tick;
    if (child->should_kill || child->linger_ticks > 1) {
      lt_python_child_kill(child);
    }
    uint64_t ms = child->should_kill ? LT_PYTHON_AGAIN_MS : LT_PYTHON_LINGER_MS;
    again_ms = ms < again_ms ? ms : again_ms;
  }
  return again_ms;
}

/* Reads messages until the interpreter's end of the control socket is closed. False: it never became ready. */
static bool python_zygote_read_messages(lt_python_zygote *z) LT_YIELDS {
  uint64_t began = lt_loop_now_ms(z->python->loop);
  char message[4200];
  bool is_tick = false;
  while (!z->is_closing) {
    ssize_t n = lt_read_ready_socket(z->control, message, sizeof message - 1);
    if (n > 0) {
      message[n] = '\0';
      python_zygote_on_message(z, message);
      continue;
    }
    if (n != LT_READ_LATER) {
      return z->is_ready;
    }
    uint64_t gone = lt_loop_now_ms(z->python->loop) - began;
    uint64_t left = z->is_ready                 ? python_zygote_kill_lingering(z, is_tick)
                    : gone < LT_PYTHON_START_MS ? LT_PYTHON_START_MS - gone
                                                : 0;
    is_tick = lt_wait_on(&z->wait, left) == LT_E_TIMEOUT;
    if (is_tick && !z->is_ready) {
      return false;
    }
  }
  return true;
}

static lt_python_child *python_zygote_find_unowned(const lt_python_zygote *z) {
  lt_python_child *child = z->children;
  while (child != NULL && child->is_owned) {
    child = child->next;
  }
  return child;
}

/* Wakes everything that waits for the interpreter, which has ended. The kernel has killed its processes with it. */
static void python_zygote_mark_ended(lt_python_zygote *z) LT_YIELDS {
  lt_python *p = z->python;
  z->has_ended = true;
  if (p->zygote == z) {
    p->zygote = NULL;
  }
  for (lt_python_child *child = z->children; child != NULL; child = child->next) {
    if (!child->has_exited) {
      lt_python_child_exited(child, -1);
    }
  }
  lt_python_waiters_wake_all(&z->starters);
  for (lt_python_child *child = python_zygote_find_unowned(z); child != NULL; child = python_zygote_find_unowned(z)) {
    lt_python_child_drop(child);
  }
}

static void python_zygote_explain(lt_python_zygote *z, bool was_ready) LT_YIELDS {
  lt_python *p = z->python;
  if (z->is_closing) {
    lt_fail(&z->end_reason, LT_E_CANCELLED, "the Python interpreter was ended");
  } else if (was_ready) {
    lt_fail(&z->end_reason, LT_E_CLOSED, "the interpreter that Python programs are forked from has ended");
  } else {
    lt_loop_sleep(p->loop, LT_PYTHON_LAST_WORDS_MS); /* until its last messages have been read */
    lt_python_start_explain(p, z->process, &z->end_reason);
  }
}

static lt_status python_zygote_start(lt_python_zygote *z, lt_err *err) LT_YIELDS {
  LT_TRY(lt_python_start(z->python, &z->process, &z->control, err));
  LT_TRY(lt_watch_open(z->python->loop, z->control, &z->wait, &z->watch, err));
  lt_watch_set(z->watch, LT_WATCH_READ);
  return LT_OK;
}

static void python_zygote_close_process(lt_python_zygote *z) LT_YIELDS {
  if (z->process != NULL) {
    lt_process_signal(z->process, SIGKILL);
    lt_process_close(z->process);
    z->process = NULL;
  }
}

/* The zygote's fiber, from its start to its end. */
static void python_zygote_on_fiber(void *arg) {
  lt_python_zygote *z = arg;
  lt_python *p = z->python;
  if (python_zygote_start(z, &z->end_reason) == LT_OK) {
    bool was_ready = python_zygote_read_messages(z);
    z->is_control_closed = true;
    python_zygote_explain(z, was_ready);
  }
  z->is_control_closed = true;
  lt_watch_close(z->watch);
  if (z->control >= 0) {
    close(z->control);
  }
  python_zygote_close_process(z);
  python_zygote_mark_ended(z);
  lt_python_zygote_unref(z);
  p->zygote_count--;
  lt_python_wake_close(p);
}

static lt_status python_zygote_new(lt_python *p, lt_err *err) {
  lt_python_zygote *z = lt_mem_zalloc(1, sizeof *z);
  if (z == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start Python");
  }
  z->python = p;
  z->control = -1;
  z->spares_wanted = 1;
  z->reference_count = 1; /* its fiber */
  lt_wait_init(&z->wait, p->loop);
  lt_status status = lt_loop_spawn(p->loop, python_zygote_on_fiber, z, err);
  if (status != LT_OK) {
    lt_mem_free(z);
    return status;
  }
  p->zygote_count++;
  p->zygote = z;
  return LT_OK;
}

/* Starts an interpreter unless there is one, and waits until it is ready. It may end at any later wait. */
static lt_status python_zygote_get_ready(lt_python *p, lt_cancel *cancel, lt_python_zygote **ret_zygote,
                                         lt_err *err) LT_YIELDS {
  if (p->zygote == NULL) {
    LT_TRY(python_zygote_new(p, err));
  }
  lt_python_zygote *z = p->zygote;
  if (z->is_ready) {
    *ret_zygote = z;
    return LT_OK;
  }
  z->reference_count++;
  lt_status status = lt_python_waiters_wait(&z->starters, p->loop, cancel);
  if (status != LT_OK) {
    status = lt_fail(err, status, "Execution was cancelled");
  } else if (z->has_ended) {
    status = lt_err_copy(err, &z->end_reason);
  } else {
    *ret_zygote = z;
  }
  lt_python_zygote_unref(z);
  return status;
}

/* --- Processes for runs ------------------------------------------------------------------------------------------- */

static lt_status python_zygote_take_from_ready(lt_python *p, lt_cancel *cancel, lt_python_child **ret_child,
                                               lt_err *err) LT_YIELDS {
  lt_python_zygote *z = NULL;
  LT_TRY(python_zygote_get_ready(p, cancel, &z, err));
  python_zygote_note_program(z);
  *ret_child = python_zygote_take_spare(z);
  return *ret_child != NULL ? LT_OK : lt_python_child_new(z, ret_child, err);
}

lt_status lt_python_zygote_take_child(lt_python *p, lt_wait *wait, lt_cancel *cancel, lt_python_child **ret_child,
                                      lt_err *err) {
  if (p->slots_taken >= LT_PYTHON_RUNS_MAX) {
    /* Woken: the slot belongs to this fiber already. */
    LT_TRY(lt_python_waiters_wait(&p->slot_waiters, p->loop, cancel));
  } else {
    p->slots_taken++;
  }
  lt_status status = python_zygote_take_from_ready(p, cancel, ret_child, err);
  if (status != LT_OK) {
    lt_python_child_release_slot(p);
    return status;
  }
  (*ret_child)->exit_wait = wait;
  (*ret_child)->has_slot = true;
  return LT_OK;
}

void lt_python_zygote_prepare_spares(lt_python *p) {
  if (p->zygote != NULL && p->zygote->is_ready) {
    python_zygote_fork_spares(p->zygote);
  }
}

lt_status lt_python_warm(lt_python *p, lt_err *err) {
  lt_python_zygote *z = NULL;
  LT_TRY(python_zygote_get_ready(p, NULL, &z, err));
  python_zygote_fork_spares(z);
  return LT_OK;
}

void lt_python_zygote_close(lt_python *p) {
  lt_wait closer;
  lt_wait_init(&closer, p->loop);
  p->close_wait = &closer;
  if (p->zygote != NULL) {
    p->zygote->is_closing = true;
    lt_wait_wake(&p->zygote->wait, LT_OK);
  }
  while (p->zygote_count > 0 || p->removal_count > 0) {
    lt_wait_on(&closer, UINT64_MAX);
  }
  p->close_wait = NULL;
}
