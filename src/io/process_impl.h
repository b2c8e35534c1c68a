/* The struct of a child process. Private to process.c (start and end), process_io.c (pipes) and process_handles.c. It
 * stays one struct: the end of the process, of each pipe and of each handle depends on the other two. */
#ifndef LT_IO_PROCESS_IMPL_H
#define LT_IO_PROCESS_IMPL_H

#include "io/lines.h"
#include "io/loop_handles.h"
#include "io/process.h"

#define LT_PROC_STDERR_CAP (4 * LT_PROC_STDERR_KEEP_BYTES)

/* A fiber that waits for room in the queue to stdin, in its frame. */
typedef struct lt_proc_writer {
  struct lt_proc_writer *next;
  lt_wait wait;
} lt_proc_writer;

struct lt_process {
  lt_loop *loop;
  char name[128]; /* the command as configured, for messages */
  pid_t pid;
  int pidfd;       /* readable when it has ended; -1: it has ended unseen */
  bool has_keeper; /* `pid` is a keeper's (exec.h), and the command is its child */
  bool exited;
  char exit_text[64];

  uv_poll_t end;          /* of pidfd */
  uv_pipe_t in, out, err; /* our ends */
  unsigned handles;       /* of the four above, not yet closed */
  unsigned users;         /* fibers inside lt_process_write and lt_process_read_line */
  bool closing;
  bool orphan;     /* never started: freed with its last handle */
  lt_wait *closer; /* in lt_process_close's frame */

  /* stdout */
  lt_lines lines;
  lt_wait *reader;   /* parked in lt_process_read_line */
  bool is_line_held; /* the reader holds a line: the buffer must not move */
  bool reading;
  bool out_open;
  bool has_waited_for_exit; /* after the end of stdout, once */
  bool out_nomem;           /* to be reported to the reader */

  /* stdin */
  size_t queued; /* bytes handed to libuv and not written yet */
  lt_proc_writer *writers, **last_writer;
  bool in_open;
  bool input_ended; /* nothing more is written; open until the queue is empty */

  /* stderr: the newest bytes are at the end of `err_bytes`; when it is full, only its last part is kept */
  bool err_open;
  bool echo;
  size_t err_n;
  char err_bytes[LT_PROC_STDERR_CAP];
};

/* Takes our ends of the pipes, also when it fails (they become -1), and starts reading. Returns 0 or libuv's error. */
int lt_process_pipes_open(lt_process *process, int ours[3]);
/* After the child's exit: reads the rest of the pipes and closes them. */
void lt_process_pipes_finish(lt_process *process);
/* Ends the child's input after the queued bytes, wakes readers and writers with LT_E_CLOSED, and discards further
 * output. */
void lt_process_pipes_shut(lt_process *process);
/* Closes all open pipes. */
void lt_process_pipes_close(lt_process *process);

/* The close callback of all four handles. */
void lt_process_handle_closed(uv_handle_t *handle);
/* Wakes lt_process_close, which checks again. */
void lt_process_wake_closer(lt_process *process);
/* Frees the process, whose handles are closed. */
void lt_process_free(lt_process *process);

#endif
