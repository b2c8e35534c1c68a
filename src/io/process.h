/* Child processes that talk over stdin and stdout, one line at a time; their stderr is kept for error reports.
 *
 * Each child is a session and process group of its own, so that it can be ended with everything it started. The child
 * gets only the environment it is given. Loop thread only.
 */
#ifndef LT_IO_PROCESS_H
#define LT_IO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "io/loop.h"

typedef struct lt_process lt_process;

typedef struct lt_process_options {
  const char *file;        /* looked up in the child's PATH unless it contains a slash */
  const char *const *argv; /* argv[0] first, NULL last */
  const char *const *env;  /* NAME=value, NULL last; NULL: this process's environment */
  const char *cwd;         /* NULL: this process's */
  size_t line_max;         /* bytes of the longest line accepted from stdout */
  const char *helper;      /* NULL, or the full path of a program that does what exec.h says: it asks the kernel to be
                              killed when we die (PR_SET_PDEATHSIG), then becomes the command. lathe is one:
                              "/proc/self/exe". What fails in it is exit code 127 and a line on stderr. */
  bool echo_stderr;        /* also pass the child's stderr on to ours (debugging) */
  int stdin_fd;            /* a descriptor of ours for the child's stdin, instead of a pipe: there is nothing to write
                              to then; 0: none. Stays ours to close. */
} lt_process_options;

/* Starts a child. Does not yield. Errors: LT_E_NOTFOUND (no such command, or cwd), LT_E_DENIED (not executable),
 * LT_E_IO, LT_E_NOMEM; the message names the command and stands alone. Borrows the options during the call. Owns: the
 * caller, lt_process_close. */
lt_status lt_process_open(lt_loop *loop, const lt_process_options *options, lt_process **ret_process, lt_err *err);

/* Queues bytes to the child's stdin; LT_YIELDS while more than LT_PROC_WRITE_QUEUE_BYTES are waiting there already.
 * Calls from several fibers do not mix their bytes and take turns in the order they came. The bytes are copied.
 * LT_E_CLOSED when the child is gone or closed its stdin. LT_OK promises nothing about bytes still in the queue then.
 */
lt_status lt_process_write(lt_process *process, lt_str bytes, lt_err *err) LT_YIELDS;

/* The child's stdin ends after what was written to it, for good: writing is LT_E_CLOSED from now on. Does not yield. */
void lt_process_end_input(lt_process *process);

/* LT_YIELDS for the next line of stdout, without its "\n" (and "\r"). Borrows: valid until the next read. One reader.
 * The pipe is not read while a line is lent or ready and nobody asks (backpressure). NUL bytes are data.
 * Errors: LT_E_CLOSED at the end (a last line without "\n" is given first); the message says how the child ended when
 * it did so within LT_PROC_EXIT_GRACE_MS. The end is the child's exit, whoever else holds its stdout open. LT_E_LIMIT,
 * once: a line over line_max, told as soon as it is known and dropped up to its end; reading on is possible.
 * LT_E_NOMEM; reading on is possible. */
lt_status lt_process_read_line(lt_process *process, lt_str *ret_line, lt_err *err) LT_YIELDS;

/* The last LT_PROC_STDERR_KEEP_BYTES of the child's stderr. Borrows: until the next turn of the loop. */
lt_str lt_process_stderr(const lt_process *process);

/* Whether it has ended, and how: "exited with code 3" / "was killed by SIGSEGV" / "is still running" (borrowed; lives
 * as long as the process). What it left behind in its group is killed at its exit. */
bool lt_process_exited(const lt_process *process);
const char *lt_process_exit_text(const lt_process *process);
int lt_process_pid(const lt_process *process);

/* Sends `signum` to the child's whole group; nothing once the child has ended. */
void lt_process_signal(lt_process *process, int signum);

/* Ends the child and frees it: end of input, after LT_PROC_KILL_AFTER_MS SIGTERM, after as long SIGKILL, both to the
 * group. Input already queued is still written meanwhile, output is thrown away. LT_YIELDS until it is gone; what even
 * SIGKILL does not end is given up after LT_PROC_GIVE_UP_MS. Fibers in lt_process_read_line and lt_process_write get
 * LT_E_CLOSED first; nobody may use the process afterwards, once. NULL is allowed. */
void lt_process_close(lt_process *process) LT_YIELDS;

#endif
