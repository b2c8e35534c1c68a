/* Starts a child, notices its exit, and ends it with its whole process group. process_io.c has its pipes. */
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/command_path.h"
#include "io/exec.h"
#include "io/open_files.h"
#include "io/process_impl.h"
#include "io/spawn.h"

/* --- Exit --------------------------------------------------------------------------------------------------------- */

static void process_signal_group(const lt_process *p, int signum) {
  (void)kill(-p->pid, signum); /* ESRCH: the group is empty */
}

/* A keeper (exec.h) ends everything; killed itself, it could not. */
static void process_kill_all(const lt_process *p) {
  process_signal_group(p, p->has_keeper ? LT_EXEC_END_SIGNAL : SIGKILL);
}

static void process_describe_exit(lt_process *p, lt_spawn_state state, int how) {
  const char *name = WIFSIGNALED(how) ? sigabbrev_np(WTERMSIG(how)) : NULL;
  if (state == LT_SPAWN_ENDED_SOMEHOW) {
    snprintf(p->exit_text, sizeof p->exit_text, "ended, and its exit code was taken by other code");
  } else if (name != NULL) {
    snprintf(p->exit_text, sizeof p->exit_text, "was killed by SIG%s", name);
  } else if (WIFSIGNALED(how)) {
    snprintf(p->exit_text, sizeof p->exit_text, "was killed by signal %d", WTERMSIG(how));
  } else {
    snprintf(p->exit_text, sizeof p->exit_text, "exited with code %d", WEXITSTATUS(how));
  }
}

static void process_note_end(lt_process *p, lt_spawn_state state, int how) {
  p->exited = true;
  process_describe_exit(p, state, how);
  lt_process_pipes_finish(p);
  lt_process_wake_closer(p);
}

static void process_on_end(uv_poll_t *end, int status, int events) {
  (void)status;
  (void)events;
  lt_process *p = end->data;
  int how = 0;
  lt_spawn_state state = lt_spawn_reap(p->pid, &how);
  if (state == LT_SPAWN_RUNS) {
    return;
  }
  uv_poll_stop(&p->end);
  process_note_end(p, state, how);
}

/* --- Starting ----------------------------------------------------------------------------------------------------- */

typedef struct process_ends {
  int ours[3];
  int theirs[3];
} process_ends;

static void process_close_fds(int fds[3]) {
  for (int i = 0; i < 3; i++) {
    if (fds[i] >= 0) {
      close(fds[i]);
      fds[i] = -1;
    }
  }
}

/* Pipes are used and not libuv's socket pairs, because programs open /dev/stdin. */
static lt_status process_open_ends(process_ends *e, const char *name, lt_err *err) {
  *e = (process_ends){.ours = {-1, -1, -1}, .theirs = {-1, -1, -1}};
  for (int i = 0; i < 3; i++) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
      lt_status status = lt_fail(err, LT_E_IO, "cannot start \"%s\": no pipe for it: %s%s", name, strerror(errno),
                                 errno == EMFILE ? " (raise the limit: ulimit -n)" : "");
      process_close_fds(e->ours);
      process_close_fds(e->theirs);
      return status;
    }
    bool child_reads = i == STDIN_FILENO;
    e->theirs[i] = fds[child_reads ? 0 : 1];
    e->ours[i] = fds[child_reads ? 1 : 0];
  }
  return LT_OK;
}

/* execve's parameters are not const, but execve does not write to them. */
static char *process_without_const(const char *s) {
  return (char *)(uintptr_t)s;
}

/* The command line: the file itself, or `helper LT_EXEC_WORD OUR_PID OPEN_FILES FILE ARGV...` (exec.h). Owns: the
 * caller. */
static char **process_make_argv(const lt_process_options *options, const char *path, const char *our_pid) {
  size_t n = 0;
  while (options->argv[n] != NULL) {
    n++;
  }
  char **argv = lt_mem_zalloc(n + 6, sizeof *argv);
  if (argv == NULL) {
    return NULL;
  }
  size_t at = 0;
  if (options->helper != NULL) {
    argv[at++] = process_without_const(options->helper);
    argv[at++] = process_without_const(LT_EXEC_WORD);
    argv[at++] = process_without_const(our_pid);
    argv[at++] = process_without_const(lt_open_files_before());
    argv[at++] = process_without_const(path);
  }
  for (size_t i = 0; i < n; i++) {
    argv[at++] = process_without_const(options->argv[i]);
  }
  return argv;
}

/* Returns 0 or libuv's error. */
static int process_watch(lt_process *p) {
  if (p->pidfd < 0) {
    process_note_end(p, LT_SPAWN_ENDED_SOMEHOW, 0);
    return 0;
  }
  int rc = uv_poll_init(lt_loop_uv(p->loop), &p->end, p->pidfd);
  if (rc == 0) {
    p->handles++;
    rc = uv_poll_start(&p->end, UV_READABLE, process_on_end);
  }
  return rc;
}

static int process_spawn(lt_process *p, const lt_process_options *options, const char *path, const int theirs[3]) {
  char our_pid[16];
  snprintf(our_pid, sizeof our_pid, "%d", (int)getpid());
  char **argv = process_make_argv(options, path, our_pid);
  if (argv == NULL) {
    return UV_ENOMEM;
  }
  const lt_spawn_options spawn = {
      .path = options->helper != NULL ? options->helper : path,
      .argv = argv,
      .env = (char **)(uintptr_t)options->env,
      .cwd = options->cwd,
      .fds = {options->stdin_fd != 0 ? options->stdin_fd : theirs[0], theirs[1], theirs[2]},
  };
  int failed = lt_spawn(&spawn, &p->pid, &p->pidfd);
  lt_mem_free(argv);
  int rc = failed != 0 ? uv_translate_sys_error(failed) : process_watch(p);
  if (failed == 0 && rc != 0) {
    lt_spawn_undo(p->pid, p->pidfd); /* libuv has not begun to watch it */
  }
  return rc;
}

static lt_status process_explain_spawn(const lt_process *p, const lt_process_options *options, int rc, lt_err *err) {
  const char *why = uv_strerror(rc);
  if (options->helper != NULL && (rc == UV_ENOENT || rc == UV_EACCES)) {
    return lt_fail(err, lt_loop_status(rc), "cannot start \"%s\": %s, which starts it: %s", p->name, options->helper,
                   why);
  }
  if (rc == UV_ENOENT) {
    why = "the interpreter that its first line names, or its loader, is missing";
  } else if (rc == UV_ENOSYS) {
    why = "the kernel is too old (pidfd_open: Linux 5.3 has it)";
  } else if (rc == UV_EMFILE) {
    why = "no descriptor for it (raise the limit: ulimit -n)";
  } else if (rc == UV_EAGAIN) {
    why = "too many processes (raise the limit: ulimit -u)";
  } else if (rc == UV_E2BIG) {
    why = "its arguments and environment are too long";
  }
  return lt_fail(err, lt_loop_status(rc), "cannot start \"%s\": %s", p->name, why);
}

/* The handle first: it must not watch a number that another file has. */
static void process_close_end(lt_process *p) {
  if (p->end.loop != NULL) { /* it was watched */
    uv_close((uv_handle_t *)&p->end, lt_process_handle_closed);
    close(p->pidfd);
  }
}

/* For a process that was not started: it is freed after libuv has closed its handles. */
static void process_abandon(lt_process *p) {
  p->orphan = true;
  p->handles++; /* keeps it from being freed in this function */
  lt_process_pipes_close(p);
  process_close_end(p);
  p->handles--;
  if (p->handles == 0) {
    lt_process_free(p);
  }
}

static lt_status process_start(lt_process *p, const lt_process_options *options, const char *path, lt_err *err) {
  process_ends e;
  lt_status status = process_open_ends(&e, p->name, err);
  if (status != LT_OK) {
    return status;
  }
  int rc = lt_process_pipes_open(p, e.ours);
  if (rc == 0) {
    rc = process_spawn(p, options, path, e.theirs);
  }
  process_close_fds(e.theirs);
  if (rc != 0) {
    return process_explain_spawn(p, options, rc, err);
  }
  return LT_OK;
}

static lt_process *process_new(lt_loop *loop, const lt_process_options *options) {
  lt_process *p = lt_mem_zalloc(1, sizeof *p);
  if (p == NULL) {
    return NULL;
  }
  p->loop = loop;
  p->end.data = p;
  p->pidfd = -1;
  p->echo = options->echo_stderr;
  p->has_keeper = options->helper != NULL;
  lt_lines_init(&p->lines, options->line_max);
  p->lines.is_raw = options->is_raw;
  snprintf(p->name, sizeof p->name, "%s", options->file);
  snprintf(p->exit_text, sizeof p->exit_text, "is still running");
  lt_loop_add_object(loop);
  return p;
}

static lt_status process_open_found(lt_loop *loop, const lt_process_options *options, const char *path,
                                    lt_process **ret_process, lt_err *err) {
  lt_process *p = process_new(loop, options);
  if (p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "cannot start \"%s\": out of memory", options->file);
  }
  lt_status status = process_start(p, options, path, err);
  if (status != LT_OK) {
    process_abandon(p);
    return status;
  }
  *ret_process = p;
  return LT_OK;
}

lt_status lt_process_open(lt_loop *loop, const lt_process_options *options, lt_process **ret_process, lt_err *err) {
  LT_AUTO_BUF(path, LT_PROC_PATH_MAX_BYTES - 1);
  LT_TRY(lt_command_find(options->file, options->env, options->cwd, &path, err));
  return process_open_found(loop, options, path.p, ret_process, err);
}

/* --- State -------------------------------------------------------------------------------------------------------- */

bool lt_process_exited(const lt_process *process) {
  return process->exited;
}

const char *lt_process_exit_text(const lt_process *process) {
  return process->exit_text;
}

int lt_process_pid(const lt_process *process) {
  return process->pid;
}

void lt_process_signal(lt_process *process, int signum) {
  if (!process->exited) {
    if (signum == SIGKILL) {
      process_kill_all(process);
    } else {
      process_signal_group(process, signum);
    }
  }
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */

static bool process_has_exited(const lt_process *p) {
  return p->exited;
}

static bool process_is_unused(const lt_process *p) {
  return p->users == 0;
}

static bool process_is_closed(const lt_process *p) {
  return p->handles == 0;
}

/* LT_YIELDS until `done` or the timeout. `timeout_ms` UINT64_MAX: no timeout. */
static bool process_await(lt_process *p, bool (*done)(const lt_process *), uint64_t timeout_ms) LT_YIELDS {
  uint64_t since = lt_loop_now_ms(p->loop);
  while (!done(p)) {
    uint64_t gone = lt_loop_now_ms(p->loop) - since;
    uint64_t left = timeout_ms == UINT64_MAX ? UINT64_MAX : timeout_ms > gone ? timeout_ms - gone : 0;
    if (lt_wait_on(p->closer, left) == LT_E_TIMEOUT) {
      return done(p);
    }
  }
  return true;
}

static void process_end_child(lt_process *p) LT_YIELDS {
  if (process_await(p, process_has_exited, LT_PROC_KILL_AFTER_MS)) {
    return;
  }
  process_signal_group(p, SIGTERM);
  if (process_await(p, process_has_exited, LT_PROC_KILL_AFTER_MS)) {
    return;
  }
  process_kill_all(p);
  /* After that time it is another user's process (sudo), or stuck in the kernel: the wait ends. */
  process_await(p, process_has_exited, LT_PROC_GIVE_UP_MS);
}

void lt_process_close(lt_process *process) {
  lt_process *p = process;
  if (p == NULL) {
    return;
  }
  LT_CHECK(!p->closing);
  lt_wait closer;
  lt_wait_init(&closer, p->loop);
  p->closer = &closer;
  p->closing = true;
  lt_process_pipes_shut(p);
  process_end_child(p);
  process_await(p, process_is_unused, UINT64_MAX);
  lt_process_pipes_close(p);
  process_close_end(p);
  process_await(p, process_is_closed, UINT64_MAX);
  lt_process_free(p);
}
