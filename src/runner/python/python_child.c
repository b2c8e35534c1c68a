/* Processes forked for programs: from the fork that is asked for to the folder that is removed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/python/python_zygote.h"
#include "io/watch.h"
#include "runner/python/python_folder.h"
#include "runner/remove_folder.h"

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static void python_child_append(lt_python_waiter **list, lt_python_waiter *waiter) {
  while (*list != NULL) {
    list = &(*list)->next;
  }
  *list = waiter;
}

static void python_child_unlink_waiter(lt_python_waiter **list, const lt_python_waiter *waiter) {
  while (*list != NULL && *list != waiter) {
    list = &(*list)->next;
  }
  if (*list != NULL) {
    *list = waiter->next;
  }
}

lt_status lt_python_wait_in(lt_python_waiter **list, lt_loop *loop, lt_cancel *cancel) {
  lt_python_waiter waiter = {.next = NULL};
  lt_cancel_node node;
  lt_wait_init(&waiter.wait, loop);
  python_child_append(list, &waiter);
  lt_cancel_add(cancel, &node, &waiter.wait);
  lt_status status = lt_wait_on(&waiter.wait, UINT64_MAX);
  lt_cancel_remove(cancel, &node);
  if (!waiter.woken) {
    python_child_unlink_waiter(list, &waiter);
  }
  return waiter.woken ? LT_OK : status;
}

void lt_python_wait_wake_first(lt_python_waiter **list) {
  lt_python_waiter *waiter = *list;
  if (waiter != NULL) {
    *list = waiter->next;
    waiter->woken = true;
    lt_wait_wake(&waiter->wait, LT_OK);
  }
}

void lt_python_wait_wake_all(lt_python_waiter **list) {
  while (*list != NULL) {
    lt_python_wait_wake_first(list);
  }
}

/* --- Children ----------------------------------------------------------------------------------------------------- */

void lt_python_child_exited(lt_python_child *child, int status) {
  child->exited = true;
  child->status = status;
  if (child->wait != NULL) {
    lt_wait_wake(child->wait, LT_OK);
  }
}

lt_python_child *lt_python_child_find(const lt_zygote *z, uint32_t id) {
  lt_python_child *child = z->children;
  while (child != NULL && child->id != id) {
    child = child->next;
  }
  return child;
}

void lt_zygote_unuse(lt_zygote *z) {
  z->users--;
  if (z->over && z->users == 0) {
    lt_mem_free(z);
  }
}

static void python_child_close_ends(lt_python_child *child) {
  if (child->connection >= 0) {
    close(child->connection);
    close(child->output);
    child->connection = child->output = -1;
  }
}

/* Out of the list and freed; its folder is the caller's. */
static char *python_child_child_free(lt_python_child *child) {
  lt_zygote *z = child->zygote;
  lt_python_child **place = &z->children;
  while (*place != child) {
    place = &(*place)->next;
  }
  *place = child->next;
  python_child_close_ends(child);
  char *workspace = child->workspace;
  lt_mem_free(child);
  lt_zygote_unuse(z);
  return workspace;
}

typedef struct removal {
  lt_python *python;
  char *folder;
} removal;

void lt_python_wake_closer(lt_python *p) {
  if (p->closer != NULL) {
    lt_wait_wake(p->closer, LT_OK);
  }
}

static void python_child_on_removal(void *arg) {
  removal *r = arg;
  lt_remove_folder(r->python->loop, r->folder);
  r->python->removals--;
  lt_python_wake_closer(r->python);
  lt_mem_free(r->folder);
  lt_mem_free(r);
}

/* Nobody waits for what a program has left there. */
static void python_child_remove_workspace(lt_python *p, char *folder) LT_YIELDS {
  if (folder == NULL || rmdir(folder) == 0) {
    lt_mem_free(folder);
    return;
  }
  removal *r = lt_mem_alloc(sizeof *r);
  if (r != NULL) {
    *r = (removal){p, folder};
    if (lt_loop_spawn(p->loop, python_child_on_removal, r, NULL) == LT_OK) {
      p->removals++;
      return;
    }
  }
  lt_mem_free(r);
  lt_remove_folder(p->loop, folder);
  lt_mem_free(folder);
}

void lt_python_give_place(lt_python *p) {
  if (p->queue != NULL) {
    lt_python_wait_wake_first(&p->queue);
  } else {
    p->running--;
  }
}

void lt_python_child_drop(lt_python_child *child) {
  lt_zygote *z = child->zygote;
  lt_python *p = z->python;
  bool counted = child->counted;
  z->spare = z->spare == child ? NULL : z->spare;
  python_child_remove_workspace(p, python_child_child_free(child));
  if (counted) {
    lt_python_give_place(p);
  }
}

void lt_python_child_disown(lt_python_child *child) {
  child->owned = false;
  if (child->exited) {
    lt_python_child_drop(child);
  }
}

static lt_status python_child_open_ends(lt_python_child *child, int theirs[2], lt_err *err) {
  int fds[2];
  LT_TRY(lt_watch_socket_pair(true, &child->connection, &theirs[0], err));
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

/* The interpreter's memory, which its programs have, too: its walls keep it from looking itself. */
static void python_child_measure_memory(const lt_zygote *z, unsigned long *ret_space, unsigned long *ret_data) {
  char text[128] = "";
  unsigned long pages[6] = {0};
  snprintf(text, sizeof text, "/proc/%d/statm", lt_process_pid(z->process));
  FILE *file = fopen(text, "re");
  bool read = file != NULL && fgets(text, sizeof text, file) != NULL;
  if (file != NULL) {
    fclose(file);
  }
  char *rest = text;
  for (unsigned i = 0; read && i < 6; i++) {
    pages[i] = strtoul(rest, &rest, 10);
  }
  unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
  *ret_space = pages[5] > 0 ? pages[0] * page : LT_PYTHON_SPACE_BYTES;
  *ret_data = pages[5] > 0 ? pages[5] * page : LT_PYTHON_DATA_BYTES;
}

static lt_status python_child_ask_for_fork(lt_zygote *z, const lt_python_child *child, const int theirs[2],
                                           lt_err *err) LT_YIELDS {
  char message[LT_PROC_PATH_MAX_BYTES + 96];
  unsigned long space, data;
  const char *folder = child->workspace != NULL ? child->workspace : z->python->workspace;
  python_child_measure_memory(z, &space, &data);
  int n = snprintf(message, sizeof message, "F %u %lu %lu %s", child->id, space, data, folder);
  if (z->deaf) {
    return lt_fail(err, LT_E_CLOSED, "the Python interpreter has ended");
  }
  lt_status status = lt_watch_socket_send(z->control, lt_str_from(message, (size_t)n), theirs, 2, err);
  for (unsigned tries = 0; status == LT_E_LIMIT && !z->deaf && tries < LT_PYTHON_KILL_MS; tries++) {
    lt_loop_sleep(z->python->loop, 1); /* it reads when it has forked the others */
    status = z->deaf ? lt_fail(err, LT_E_CLOSED, "the Python interpreter has ended")
                     : lt_watch_socket_send(z->control, lt_str_from(message, (size_t)n), theirs, 2, err);
  }
  return status;
}

lt_status lt_python_child_new(lt_zygote *z, lt_python_child **ret_child, lt_err *err) {
  lt_python_child *child = lt_mem_zalloc(1, sizeof *child);
  int theirs[2];
  if (child == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another Python program");
  }
  *child =
      (lt_python_child){.zygote = z, .id = ++z->last_id, .connection = -1, .output = -1, .status = -1, .owned = true};
  child->next = z->children;
  z->children = child;
  z->users++;
  lt_status status =
      z->python->workspace != NULL ? LT_OK : lt_python_make_workspace(z->python, child->id, &child->workspace, err);
  if (status == LT_OK) {
    status = python_child_open_ends(child, theirs, err);
  }
  if (status == LT_OK) {
    status = python_child_ask_for_fork(z, child, theirs, err);
    close(theirs[0]);
    close(theirs[1]);
  }
  if (status != LT_OK) {
    lt_python *p = z->python;
    python_child_remove_workspace(p, python_child_child_free(child));
    return status;
  }
  *ret_child = child;
  return LT_OK;
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */
void lt_python_child_kill(lt_python_child *child) {
  lt_zygote *z = child->zygote;
  char message[24];
  int n = snprintf(message, sizeof message, "K %u", child->id);
  if (child->exited || z->deaf) {
    return;
  }
  lt_status status = lt_watch_socket_send(z->control, lt_str_from(message, (size_t)n), NULL, 0, NULL);
  if (status == LT_E_LIMIT && !child->to_kill) { /* it is busy: once more, soon */
    child->to_kill = true;
    lt_wait_wake(&z->wait, LT_OK);
  } else if (status == LT_OK) {
    child->to_kill = false;
  } else if (status != LT_E_LIMIT) {
    lt_python_child_give_up(child);
  }
}

void lt_python_child_give_up(lt_python_child *child) {
  if (!child->zygote->deaf) {
    lt_process_signal(child->zygote->process, SIGKILL);
  }
}

lt_status lt_python_child_lost(const lt_python_child *child, lt_err *err) {
  if (child->reason[0] != '\0') {
    return lt_fail(err, LT_E_IO, "no process for a Python program: %s", child->reason);
  }
  return lt_fail(err, LT_E_CLOSED, "%s", lt_err_msg(&child->zygote->why));
}

void lt_python_child_release(lt_python_child *child, bool ends) {
  child->wait = NULL;
  if (!ends) {
    lt_python_child_kill(child);
  }
  lt_wait_wake(&child->zygote->wait, LT_OK);
  lt_python_child_disown(child);
}
