/* Child processes. Lathe writes to their stdin and reads lines from their stdout; the end of their stderr is kept for
 * error reports.
 *
 * Each child has its own session and process group, so that it can be ended together with its own children. The child
 * gets only the environment in its options. Loop thread only.
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
  bool is_raw;             /* stdout has no lines: lt_process_read_line gives the bytes as they come */
  const char *helper; /* NULL, or the full path of a program that implements exec.h: it runs the command beside itself
                         and kills all that it has started when we die. lathe is such a program: "/proc/self/exe". When
                         it fails, it exits with code 127 and one line on stderr. */
  bool echo_stderr;   /* also pass the child's stderr on to ours (debugging) */
  int stdin_fd; /* a descriptor for the child's stdin, instead of a pipe: then lt_process_write has nothing to write to;
                   0: a pipe. The caller closes the descriptor. */
} lt_process_options;

/* Starts a child. Does not yield. Errors: LT_E_NOTFOUND (no such command, or cwd), LT_E_DENIED (not executable),
 * LT_E_IO, LT_E_NOMEM; the message names the command and stands alone. Borrows the options during the call. Owns: the
 * caller, lt_process_close. */
lt_status lt_process_open(lt_loop *loop, const lt_process_options *options, lt_process **ret_process, lt_err *err);

/* Queues bytes to the child's stdin; LT_YIELDS while more than LT_PROC_WRITE_QUEUE_BYTES are waiting there already.
 * Calls from several fibers do not mix their bytes and take turns in the order they came. The bytes are copied.
 * LT_E_CLOSED when the child is gone or closed its stdin. LT_OK does not mean that the child has read the bytes.
 */
lt_status lt_process_write(lt_process *process, lt_str bytes, lt_err *err) LT_YIELDS;

/* Ends the child's stdin after the queued bytes. From now on writing fails with LT_E_CLOSED. Does not yield. */
void lt_process_end_input(lt_process *process);

/* LT_YIELDS for the next line of stdout, without its "\n" (and "\r"). Borrows: valid until the next read. One reader.
 * The pipe is not read while the caller holds a line, or while a line is ready and no fiber waits for it
 * (backpressure). NUL bytes are data. Errors: LT_E_CLOSED at the end (a last line without "\n" is given first); the
 * message says how the child ended if it exited within LT_PROC_EXIT_GRACE_MS. The end is the child's exit, even when
 * another process holds its stdout open. LT_E_LIMIT, once per line over line_max: the line is dropped up to its end;
 * the next read is allowed. LT_E_NOMEM; the next read is allowed. */
lt_status lt_process_read_line(lt_process *process, lt_str *ret_line, lt_err *err) LT_YIELDS;

/* The last LT_PROC_STDERR_KEEP_BYTES of the child's stderr. Borrows: until the next turn of the loop. */
lt_str lt_process_stderr(const lt_process *process);

/* Whether the child has ended, and how: "exited with code 3" / "was killed by SIGSEGV" / "is still running" (borrowed;
 * lives as long as the process). When the child exits, the rest of its process group is killed. */
bool lt_process_exited(const lt_process *process);
const char *lt_process_exit_text(const lt_process *process);
int lt_process_pid(const lt_process *process); /* with a helper: the helper's */

/* Sends `signum` to the child's whole group; nothing once the child has ended. */
void lt_process_signal(lt_process *process, int signum);

/* Ends the child and frees it: end of input, after LT_PROC_KILL_AFTER_MS SIGTERM, after as long SIGKILL, both to the
 * group. Meanwhile queued input is still written, and output is discarded. LT_YIELDS until the child is gone. A child
 * that survives SIGKILL is abandoned after LT_PROC_GIVE_UP_MS. Fibers in lt_process_read_line and lt_process_write get
 * LT_E_CLOSED first. The process must not be used after this call. NULL is allowed. */
void lt_process_close(lt_process *process) LT_YIELDS;

#endif
