/* The warm interpreter: its life, the processes forked from it, and the one that waits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/python_impl.h"

struct lt_zygote {
  lt_python *python;
  lt_process *process;
  int control;
  lt_watch *watch;
  lt_wait wait;
  bool ready;
  bool closing;
  bool deaf; /* its control socket is closed */
  bool over; /* nothing comes from it any more */
  bool making_spare;
  unsigned users;
  lt_err why;           /* why it is over */
  lt_pychild *children; /* all of them, the spare too, until they are released */
  lt_pychild *spare;
  uint32_t last_id;
  lt_pywaiter *starters; /* those that wait for it to be ready */
};

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static void append(lt_pywaiter **list, lt_pywaiter *waiter) {
  while (*list != NULL) {
    list = &(*list)->next;
  }
  *list = waiter;
}

static void unlink_waiter(lt_pywaiter **list, const lt_pywaiter *waiter) {
  while (*list != NULL && *list != waiter) {
    list = &(*list)->next;
  }
  if (*list != NULL) {
    *list = waiter->next;
  }
}

/* Until somebody wakes it, or the cancel does. Afterwards it is in no list. */
static lt_status wait_in(lt_pywaiter **list, lt_loop *loop, lt_cancel *cancel) LT_YIELDS {
  lt_pywaiter waiter = {.next = NULL};
  lt_cancel_node node;
  lt_wait_init(&waiter.wait, loop);
  append(list, &waiter);
  lt_cancel_add(cancel, &node, &waiter.wait);
  lt_status status = lt_wait_on(&waiter.wait, UINT64_MAX);
  lt_cancel_remove(cancel, &node);
  if (!waiter.woken) {
    unlink_waiter(list, &waiter);
  }
  return waiter.woken ? LT_OK : status;
}

static void wake_first(lt_pywaiter **list) {
  lt_pywaiter *waiter = *list;
  if (waiter != NULL) {
    *list = waiter->next;
    waiter->woken = true;
    lt_wait_wake(&waiter->wait, LT_OK);
  }
}

static void wake_all(lt_pywaiter **list) {
  while (*list != NULL) {
    wake_first(list);
  }
}

/* --- Children ----------------------------------------------------------------------------------------------------- */

static void child_exited(lt_pychild *child, int status) {
  child->exited = true;
  child->status = status;
  if (child->wait != NULL) {
    lt_wait_wake(child->wait, LT_OK);
  }
}

static lt_pychild *find_child(const lt_zygote *z, uint32_t id) {
  lt_pychild *child = z->children;
  while (child != NULL && child->id != id) {
    child = child->next;
  }
  return child;
}

/* Children, and fibers in the middle of something, use it. */
static void unuse(lt_zygote *z) {
  z->users--;
  if (z->over && z->users == 0) {
    lt_mem_free(z);
  }
}

static void close_ends(lt_pychild *child) {
  if (child->connection >= 0) {
    close(child->connection);
    close(child->output);
    child->connection = child->output = -1;
  }
}

/* Out of the list and freed; its folder is the caller's. */
static char *child_free(lt_pychild *child) {
  lt_zygote *z = child->zygote;
  lt_pychild **place = &z->children;
  while (*place != child) {
    place = &(*place)->next;
  }
  *place = child->next;
  close_ends(child);
  char *workspace = child->workspace;
  lt_mem_free(child);
  unuse(z);
  return workspace;
}

typedef struct removal {
  lt_python *python;
  char *folder;
} removal;

static void wake_closer(lt_python *p) {
  if (p->closer != NULL) {
    lt_wait_wake(p->closer, LT_OK);
  }
}

static void on_removal(void *arg) {
  removal *r = arg;
  lt_python_remove_tree(r->python->loop, r->folder);
  r->python->removals--;
  wake_closer(r->python);
  lt_mem_free(r->folder);
  lt_mem_free(r);
}

/* Nobody waits for what a program has left there. */
static void remove_workspace(lt_python *p, char *folder) LT_YIELDS {
  if (folder == NULL || rmdir(folder) == 0) {
    lt_mem_free(folder);
    return;
  }
  removal *r = lt_mem_alloc(sizeof *r);
  if (r != NULL) {
    *r = (removal){p, folder};
    if (lt_loop_spawn(p->loop, on_removal, r, NULL) == LT_OK) {
      p->removals++;
      return;
    }
  }
  lt_mem_free(r);
  lt_python_remove_tree(p->loop, folder);
  lt_mem_free(folder);
}

/* A program has ended: whoever waits has its place. */
static void give_place(lt_python *p) {
  if (p->queue != NULL) {
    wake_first(&p->queue);
  } else {
    p->running--;
  }
}

static void child_drop(lt_pychild *child) LT_YIELDS {
  lt_zygote *z = child->zygote;
  lt_python *p = z->python;
  bool counted = child->counted;
  z->spare = z->spare == child ? NULL : z->spare;
  remove_workspace(p, child_free(child));
  if (counted) {
    give_place(p);
  }
}

/* Nobody has it: it goes when it ends. */
static void disown(lt_pychild *child) LT_YIELDS {
  child->owned = false;
  if (child->exited) {
    child_drop(child);
  }
}

static lt_status open_ends(lt_pychild *child, int theirs[2], lt_err *err) {
  int fds[2];
  LT_TRY(lt_socket_pair(true, &child->connection, &theirs[0], err));
  if (pipe2(fds, O_CLOEXEC) != 0) {
    lt_status status = lt_fail(err, LT_E_IO, "no pipe for a Python program: %s", strerror(errno));
    close(child->connection);
    close(theirs[0]);
    child->connection = -1;
    return status;
  }
  child->output = fds[0];
  theirs[1] = fds[1];
  return LT_OK;
}

static lt_status ask_for_fork(lt_zygote *z, const lt_pychild *child, const int theirs[2], lt_err *err) LT_YIELDS {
  char message[LT_PROC_PATH_MAX_BYTES + 32];
  const char *folder = child->workspace != NULL ? child->workspace : z->python->workspace;
  int n = snprintf(message, sizeof message, "F %u %s", child->id, folder);
  if (z->deaf) {
    return lt_fail(err, LT_E_CLOSED, "the Python interpreter has ended");
  }
  lt_status status = lt_socket_send(z->control, lt_str_from(message, (size_t)n), theirs, 2, err);
  for (unsigned tries = 0; status == LT_E_LIMIT && !z->deaf && tries < LT_PYTHON_KILL_MS; tries++) {
    lt_sleep(z->python->loop, 1); /* it reads when it has forked the others */
    status = z->deaf ? lt_fail(err, LT_E_CLOSED, "the Python interpreter has ended")
                     : lt_socket_send(z->control, lt_str_from(message, (size_t)n), theirs, 2, err);
  }
  return status;
}

static lt_status child_new(lt_zygote *z, lt_pychild **ret_child, lt_err *err) LT_YIELDS {
  lt_pychild *child = lt_mem_zalloc(1, sizeof *child);
  int theirs[2];
  if (child == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another Python program");
  }
  *child = (lt_pychild){.zygote = z, .id = ++z->last_id, .connection = -1, .output = -1, .status = -1, .owned = true};
  child->next = z->children;
  z->children = child;
  z->users++;
  lt_status status =
      z->python->workspace != NULL ? LT_OK : lt_python_make_workspace(z->python, child->id, &child->workspace, err);
  if (status == LT_OK) {
    status = open_ends(child, theirs, err);
  }
  if (status == LT_OK) {
    status = ask_for_fork(z, child, theirs, err);
    close(theirs[0]);
    close(theirs[1]);
  }
  if (status != LT_OK) {
    lt_python *p = z->python;
    remove_workspace(p, child_free(child));
    return status;
  }
  *ret_child = child;
  return LT_OK;
}

/* One is always ready for the next program. */
static void want_spare(lt_zygote *z) LT_YIELDS {
  lt_pychild *child = NULL;
  if (z->spare != NULL || z->making_spare || z->over || z->closing) {
    return;
  }
  z->making_spare = true;
  z->users++;
  if (child_new(z, &child, NULL) == LT_OK) {
    z->spare = child;
    disown(child);
  }
  z->making_spare = false;
  unuse(z);
}

/* --- What it says ---------------------------------------------------------------------------------------------------
 */

static void on_exit_message(lt_zygote *z, uint32_t id, int status, lt_str reason) LT_YIELDS {
  lt_pychild *child = find_child(z, id);
  if (child == NULL) {
    return;
  }
  snprintf(child->reason, sizeof child->reason, "%.*s", LT_STR_ARG(reason));
  child_exited(child, status);
  if (!child->owned) {
    child_drop(child);
  }
}

static void on_message(lt_zygote *z, char *message) LT_YIELDS {
  char *rest = NULL;
  uint32_t id = (uint32_t)strtoul(message + 1, &rest, 10);
  switch (message[0]) {
    case 'R':
      z->ready = true;
      wake_all(&z->starters);
      break;
    case 'E':
      on_exit_message(z, id, (int)strtol(rest, NULL, 10), LT_STR_NULL);
      break;
    case 'N':
      on_exit_message(z, id, -1, lt_str_trim(lt_str_of(rest)));
      break;
    default: /* F: it has been forked */
      break;
  }
}

/* Whether it should have ended, or is about to by itself. */
static bool lingers(const lt_zygote *z, const lt_pychild *child) {
  return !child->exited && (child->to_kill || (!child->owned && child != z->spare && !z->making_spare));
}

/* A program that has said its last word ends by itself, most of the time. */
static uint64_t look_after(lt_zygote *z, bool later) {
  uint64_t again_ms = UINT64_MAX;
  for (lt_pychild *child = z->children; child != NULL; child = child->next) {
    if (!lingers(z, child)) {
      continue;
    }
    child->ticks += later;
    if (child->to_kill || child->ticks > 1) {
      lt_pychild_kill(child);
    }
    uint64_t ms = child->to_kill ? LT_PYTHON_AGAIN_MS : LT_PYTHON_LINGER_MS;
    again_ms = ms < again_ms ? ms : again_ms;
  }
  return again_ms;
}

/* Until its end of the socket is closed. False: it never became ready. */
static bool listen_to(lt_zygote *z) LT_YIELDS {
  uint64_t began = lt_loop_now_ms(z->python->loop);
  char message[4200];
  bool later = false;
  while (!z->closing) {
    ssize_t n = recv(z->control, message, sizeof message - 1, MSG_DONTWAIT);
    if (n > 0) {
      message[n] = '\0';
      on_message(z, message);
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      return z->ready;
    }
    uint64_t gone = lt_loop_now_ms(z->python->loop) - began;
    uint64_t left = z->ready ? look_after(z, later) : gone < LT_PYTHON_START_MS ? LT_PYTHON_START_MS - gone : 0;
    later = lt_wait_on(&z->wait, left) == LT_E_TIMEOUT;
    if (later && !z->ready) {
      return false;
    }
  }
  return true;
}

static lt_pychild *find_unowned(const lt_zygote *z) {
  lt_pychild *child = z->children;
  while (child != NULL && child->owned) {
    child = child->next;
  }
  return child;
}

/* Nothing comes from it any more: whoever waits is told. Its processes are gone, the kernel has killed them with it. */
static void end(lt_zygote *z) LT_YIELDS {
  lt_python *p = z->python;
  z->over = true;
  if (p->zygote == z) {
    p->zygote = NULL;
  }
  for (lt_pychild *child = z->children; child != NULL; child = child->next) {
    if (!child->exited) {
      child_exited(child, -1);
    }
  }
  wake_all(&z->starters);
  for (lt_pychild *child = find_unowned(z); child != NULL; child = find_unowned(z)) {
    child_drop(child);
  }
}

static void explain(lt_zygote *z, bool was_ready) LT_YIELDS {
  lt_python *p = z->python;
  if (z->closing) {
    lt_fail(&z->why, LT_E_CANCELLED, "the Python interpreter was ended");
  } else if (was_ready) {
    lt_fail(&z->why, LT_E_CLOSED, "the interpreter that Python programs are forked from has ended");
  } else {
    lt_sleep(p->loop, LT_PROC_EXIT_GRACE_MS / 2); /* its last words */
    lt_python_explain(p, z->process, &z->why);
  }
}

static lt_status start(lt_zygote *z, lt_err *err) LT_YIELDS {
  LT_TRY(lt_python_start(z->python, &z->process, &z->control, err));
  LT_TRY(lt_watch_open(z->python->loop, z->control, &z->wait, &z->watch, err));
  lt_watch_set(z->watch, LT_WATCH_READ);
  return LT_OK;
}

static void close_process(lt_zygote *z) LT_YIELDS {
  if (z->process != NULL) {
    lt_process_signal(z->process, SIGKILL);
    lt_process_close(z->process);
    z->process = NULL;
  }
}

/* The fiber that starts it and listens to it, until its end. */
static void keep(void *arg) {
  lt_zygote *z = arg;
  lt_python *p = z->python;
  if (start(z, &z->why) == LT_OK) {
    bool was_ready = listen_to(z);
    z->deaf = true;
    explain(z, was_ready);
  }
  z->deaf = true;
  lt_watch_close(z->watch);
  if (z->control >= 0) {
    close(z->control);
  }
  close_process(z);
  end(z);
  unuse(z);
  p->zygotes--;
  wake_closer(p);
}

static lt_status zygote_new(lt_python *p, lt_err *err) {
  lt_zygote *z = lt_mem_zalloc(1, sizeof *z);
  if (z == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start Python");
  }
  z->python = p;
  z->control = -1;
  z->users = 1; /* the fiber that keeps it */
  lt_wait_init(&z->wait, p->loop);
  lt_status status = lt_loop_spawn(p->loop, keep, z, err);
  if (status != LT_OK) {
    lt_mem_free(z);
    return status;
  }
  p->zygotes++;
  p->zygote = z;
  return LT_OK;
}

/* A zygote that is ready; it may end at the next wait. */
static lt_status ready_zygote(lt_python *p, lt_cancel *cancel, lt_zygote **ret_zygote, lt_err *err) LT_YIELDS {
  if (p->zygote == NULL) {
    LT_TRY(zygote_new(p, err));
  }
  lt_zygote *z = p->zygote;
  if (z->ready) {
    *ret_zygote = z;
    return LT_OK;
  }
  z->users++;
  lt_status status = wait_in(&z->starters, p->loop, cancel);
  if (status != LT_OK) {
    status = lt_fail(err, status, "Execution was cancelled");
  } else if (z->over) {
    status = lt_fail(err, z->why.status, "%s", lt_err_msg(&z->why));
  } else {
    *ret_zygote = z;
  }
  unuse(z);
  return status;
}

/* --- For runs ----------------------------------------------------------------------------------------------------- */

static lt_status take(lt_python *p, lt_cancel *cancel, lt_pychild **ret_child, lt_err *err) LT_YIELDS {
  lt_zygote *z = NULL;
  LT_TRY(ready_zygote(p, cancel, &z, err));
  if (z->spare == NULL) {
    return child_new(z, ret_child, err);
  }
  *ret_child = z->spare;
  z->spare->owned = true;
  z->spare = NULL;
  return LT_OK;
}

lt_status lt_pychild_take(lt_python *p, lt_wait *wait, lt_cancel *cancel, lt_pychild **ret_child, lt_err *err) {
  if (p->running >= LT_PYTHON_RUNS_MAX) {
    LT_TRY(wait_in(&p->queue, p->loop, cancel)); /* woken: the place is ours already */
  } else {
    p->running++;
  }
  lt_status status = take(p, cancel, ret_child, err);
  if (status != LT_OK) {
    give_place(p);
    return status;
  }
  (*ret_child)->wait = wait;
  (*ret_child)->counted = true;
  return LT_OK;
}

void lt_pychild_kill(lt_pychild *child) {
  lt_zygote *z = child->zygote;
  char message[24];
  int n = snprintf(message, sizeof message, "K %u", child->id);
  if (child->exited || z->deaf) {
    return;
  }
  lt_status status = lt_socket_send(z->control, lt_str_from(message, (size_t)n), NULL, 0, NULL);
  if (status == LT_E_LIMIT && !child->to_kill) { /* it is busy: once more, soon */
    child->to_kill = true;
    lt_wait_wake(&z->wait, LT_OK);
  } else if (status == LT_OK) {
    child->to_kill = false;
  } else if (status != LT_E_LIMIT) {
    lt_pychild_give_up(child);
  }
}

void lt_pychild_give_up(lt_pychild *child) {
  if (!child->zygote->deaf) {
    lt_process_signal(child->zygote->process, SIGKILL);
  }
}

lt_status lt_pychild_lost(const lt_pychild *child, lt_err *err) {
  if (child->reason[0] != '\0') {
    return lt_fail(err, LT_E_IO, "no process for a Python program: %s", child->reason);
  }
  return lt_fail(err, LT_E_CLOSED, "%s", lt_err_msg(&child->zygote->why));
}

void lt_pychild_release(lt_pychild *child, bool ends) {
  child->wait = NULL;
  if (!ends) {
    lt_pychild_kill(child);
  }
  lt_wait_wake(&child->zygote->wait, LT_OK);
  disown(child);
}

void lt_pychild_prepare(lt_python *p) {
  if (p->zygote != NULL && p->zygote->ready) {
    want_spare(p->zygote);
  }
}

lt_status lt_python_warm(lt_python *p, lt_err *err) {
  lt_zygote *z = NULL;
  LT_TRY(ready_zygote(p, NULL, &z, err));
  want_spare(z);
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
