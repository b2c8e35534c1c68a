/* Processes forked for programs: from the request for a fork to the removal of the process's folder. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/watch.h"
#include "runner/python/python_child.h"
#include "runner/python/python_folder.h"
#include "runner/python/python_zygote.h"
#include "runner/remove_folder.h"

/* --- Children ----------------------------------------------------------------------------------------------------- */

void lt_python_child_exited(lt_python_child *child, int status) {
  child->has_exited = true;
  child->exit_status = status;
  if (child->exit_wait != NULL) {
    lt_wait_wake(child->exit_wait, LT_OK);
  }
}

lt_python_child *lt_python_child_find(const lt_python_zygote *z, uint32_t id) {
  lt_python_child *child = z->children;
  while (child != NULL && child->id != id) {
    child = child->next;
  }
  return child;
}

static void python_child_close_ends(lt_python_child *child) {
  if (child->connection >= 0) {
    close(child->connection);
    close(child->output);
    child->connection = child->output = -1;
  }
}

/* Removes the child from its zygote's list and frees it. Owns: the caller, lt_mem_free the folder's path, which may be
 * NULL. */
static char *python_child_free(lt_python_child *child) {
  lt_python_zygote *z = child->zygote;
  lt_python_child **place = &z->children;
  while (*place != child) {
    place = &(*place)->next;
  }
  *place = child->next;
  python_child_close_ends(child);
  char *workspace = child->workspace;
  lt_mem_free(child);
  lt_python_zygote_unref(z);
  return workspace;
}

typedef struct workspace_removal {
  lt_python *python;
  char *folder;
} workspace_removal;

static void python_child_on_removal(void *arg) {
  workspace_removal *r = arg;
  lt_remove_folder(r->python->loop, r->folder);
  r->python->removal_count--;
  lt_python_wake_close(r->python);
  lt_mem_free(r->folder);
  lt_mem_free(r);
}

/* Removes a program's folder on a fiber of its own, so that no run waits for it. Owns `folder`. */
static void python_child_remove_workspace(lt_python *p, char *folder) LT_YIELDS {
  if (folder == NULL || rmdir(folder) == 0) {
    lt_mem_free(folder);
    return;
  }
  workspace_removal *r = lt_mem_alloc(sizeof *r);
  if (r != NULL) {
    *r = (workspace_removal){p, folder};
    if (lt_loop_spawn(p->loop, python_child_on_removal, r, NULL) == LT_OK) {
      p->removal_count++;
      return;
    }
  }
  lt_mem_free(r);
  lt_remove_folder(p->loop, folder);
  lt_mem_free(folder);
}

void lt_python_child_release_slot(lt_python *p) {
  if (p->slot_waiters != NULL) {
    lt_python_waiters_wake_first(&p->slot_waiters);
  } else {
    p->slots_taken--;
  }
}

void lt_python_child_drop(lt_python_child *child) {
  lt_python_zygote *z = child->zygote;
  lt_python *p = z->python;
  bool counted = child->has_slot;
  z->spare_count -= child->is_spare;
  python_child_remove_workspace(p, python_child_free(child));
  if (counted) {
    lt_python_child_release_slot(p);
  }
}

void lt_python_child_disown(lt_python_child *child) {
  child->is_owned = false;
  if (child->has_exited) {
    lt_python_child_drop(child);
  }
}

static lt_status python_child_open_ends(lt_python_child *child, int child_ends[2], lt_err *err) {
  int fds[2];
  LT_TRY(lt_watch_socket_pair(true, &child->connection, &child_ends[0], err));
  if (pipe2(fds, O_CLOEXEC) != 0) {
    lt_status status = lt_fail(err, LT_E_IO, "no pipe for a Python program: %s", strerror(errno));
    close(child->connection);
    close(child_ends[0]);
    child->connection = -1;
    return status;
  }
  child->output = fds[0];
  child_ends[1] = fds[1];
  return LT_OK;
}

/* The interpreter's memory, which its programs share. The interpreter's walls keep it from reading /proc itself. */
static void python_child_measure_memory(const lt_python_zygote *z, unsigned long *ret_space, unsigned long *ret_data) {
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

/* Asks for the fork, again and again while the interpreter is busy. */
static lt_status python_child_send_fork_request(lt_python_zygote *z, const lt_python_child *child,
                                                const int child_ends[2], lt_err *err) LT_YIELDS {
  char message[LT_PROC_PATH_MAX_BYTES + 96];
  unsigned long space, data;
  const char *folder = child->workspace != NULL ? child->workspace : z->python->workspace;
  python_child_measure_memory(z, &space, &data);
  int n = snprintf(message, sizeof message, "F %u %lu %lu %s", child->id, space, data, folder);
  for (unsigned tries = 0; !z->is_control_closed; tries++) {
    lt_status status = lt_watch_socket_send(z->control, lt_str_from(message, (size_t)n), child_ends, 2, err);
    if (status != LT_E_LIMIT || tries >= LT_PYTHON_KILL_MS) {
      return status;
    }
    lt_loop_sleep(z->python->loop, 1); /* the interpreter reads when it has forked the other processes */
  }
  return lt_fail(err, LT_E_CLOSED, "the Python interpreter has ended");
}

static lt_status python_child_fork(lt_python_zygote *z, lt_python_child *child, lt_err *err) LT_YIELDS {
  int child_ends[2];
  if (z->python->workspace == NULL) {
    LT_TRY(lt_python_folder_make(z->python, child->id, &child->workspace, err));
  }
  LT_TRY(python_child_open_ends(child, child_ends, err));
  lt_status status = python_child_send_fork_request(z, child, child_ends, err);
  close(child_ends[0]);
  close(child_ends[1]);
  return status;
}

lt_status lt_python_child_new(lt_python_zygote *z, lt_python_child **ret_child, lt_err *err) {
  lt_python_child *child = lt_mem_zalloc(1, sizeof *child);
  if (child == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another Python program");
  }
  *child = (lt_python_child){
      .zygote = z, .id = ++z->last_id, .connection = -1, .output = -1, .exit_status = -1, .is_owned = true};
  child->next = z->children;
  z->children = child;
  z->reference_count++;
  lt_status status = python_child_fork(z, child, err);
  if (status != LT_OK) {
    lt_python *p = z->python;
    python_child_remove_workspace(p, python_child_free(child));
    return status;
  }
  *ret_child = child;
  return LT_OK;
}

/* --- The end of a process ----------------------------------------------------------------------------------------- */

void lt_python_child_kill(lt_python_child *child) {
  lt_python_zygote *z = child->zygote;
  char message[24];
  int n = snprintf(message, sizeof message, "K %u", child->id);
  if (child->has_exited || z->is_control_closed) {
    return;
  }
  lt_status status = lt_watch_socket_send(z->control, lt_str_from(message, (size_t)n), NULL, 0, NULL);
  if (status == LT_E_LIMIT && !child->should_kill) { /* the zygote is busy, and its fiber asks once more soon */
    child->should_kill = true;
    lt_wait_wake(&z->wait, LT_OK);
  } else if (status == LT_OK) {
    child->should_kill = false;
  } else if (status != LT_E_LIMIT) {
    lt_python_child_kill_zygote(child);
  }
}

void lt_python_child_kill_zygote(lt_python_child *child) {
  if (!child->zygote->is_control_closed) {
    lt_process_signal(child->zygote->process, SIGKILL);
  }
}

lt_status lt_python_child_explain_loss(const lt_python_child *child, lt_err *err) {
  if (child->reason[0] != '\0') {
    return lt_fail(err, LT_E_IO, "no process for a Python program: %s", child->reason);
  }
  return lt_fail(err, LT_E_CLOSED, "%s", lt_err_msg(&child->zygote->end_reason));
}

void lt_python_child_release(lt_python_child *child, bool ends) {
  child->exit_wait = NULL;
  if (!ends) {
    lt_python_child_kill(child);
  }
  lt_wait_wake(&child->zygote->wait, LT_OK);
  lt_python_child_disown(child);
}
