/* The Python runner's inside, shared by the files beside it. Everything here belongs to the loop's thread. */
#ifndef LT_RUNNER_PYTHON_IMPL_H
#define LT_RUNNER_PYTHON_IMPL_H

#include "io/process.h"
#include "io/watch.h"
#include "replay/call_matching.h"
#include "runner/runner.h"
#include "runner/run_tool_call.h"
#include "sandbox/workers.h"
#include "tool/catalog.h"
#include "runner/python/python.h"

/* --- The interpreter and its processes (python_zygote.c) ---------------------------------------------------------- */
typedef struct lt_zygote lt_zygote;

/* A process forked for a program. */
typedef struct lt_python_child {
  struct lt_python_child *next;
  lt_zygote *zygote;
  uint32_t id;
  int connection; /* our end */
  int output;     /* what it prints */
  bool owned;     /* by a run; otherwise it goes when it ends */
  bool counted;   /* in lt_python.running */
  bool to_kill;   /* could not be told to */
  unsigned ticks; /* of waiting for its end */
  bool exited;
  int status;       /* as waitpid has it; -1: not known */
  lt_wait *wait;    /* woken when it has exited; NULL: nobody has it yet */
  char *workspace;  /* a folder of its own, or NULL */
  char reason[128]; /* why there was no process; or empty */
  pid_t pid;        /* 0: not told yet */
} lt_python_child;

typedef struct lt_python_waiter {
  struct lt_python_waiter *next;
  lt_wait wait;
  bool woken;
} lt_python_waiter;

typedef struct lt_python_names lt_python_names;

struct lt_python {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;
  char *workspace; /* fixed; or NULL */
  char *helper;
  char *base;    /* the folder with the private workspaces; made when it is needed */
  int base_lock; /* keeps others from removing it; -1: none */
  char **env;    /* what the interpreter is started with */
  bool without_walls;
  lt_zygote *zygote;       /* the one that programs come from; or NULL */
  unsigned zygotes;        /* that have not ended */
  unsigned removals;       /* of folders, that go on */
  unsigned running;        /* programs with a process */
  lt_python_waiter *queue; /* those that wait for others to end */
  lt_wait *closer;
  lt_python_names *names; /* of the catalog seen last */
};

/* A process that waits for its program. Starts the interpreter when it does not run. LT_YIELDS; `cancel` ends the
 * waiting. Owns: the caller, lt_python_child_release. */
lt_status lt_python_child_take(lt_python *python, lt_wait *wait, lt_cancel *cancel, lt_python_child **ret_child,
                               lt_err *err) LT_YIELDS;
/* Asks for its end; `exited` says when it has come. */
void lt_python_child_kill(lt_python_child *child);
/* It was killed and is still there: the interpreter, and all that came from it, is given up. */
void lt_python_child_give_up(lt_python_child *child);
/* It is not needed any more. What has to be tidied up is done without anybody waiting. `ends`: it is about to end by
 * itself, and is killed only when it does not. LT_YIELDS while its folder is removed, when it has exited already. */
void lt_python_child_release(lt_python_child *child, bool ends) LT_YIELDS;
/* Has one forked for the next program, unless there is one. LT_YIELDS. */
void lt_python_child_prepare(lt_python *python) LT_YIELDS;
/* Ends the interpreter. LT_YIELDS until it is gone. */
void lt_python_end_zygote(lt_python *python) LT_YIELDS;
/* How the interpreter that it came from has ended. */
lt_status lt_python_child_lost(const lt_python_child *child, lt_err *err);

/* python_find.c: appends the interpreter's full path. LT_E_NOTFOUND. LT_YIELDS where a script has to be asked. */
lt_status lt_python_find(const lt_python *python, lt_buf *ret_file, lt_err *err) LT_YIELDS;

/* python_start.c: starts the interpreter's process behind its walls and sends it what it runs; `ret_control` is our end
 * of its control socket. Owns: the caller, both. */
lt_status lt_python_start(lt_python *python, lt_process **ret_process, int *ret_control, lt_err *err) LT_YIELDS;
/* Why an interpreter that did not become ready has ended. */
lt_status lt_python_explain(const lt_python *python, lt_process *process, lt_err *err);

/* python_folder.c: where programs work. */
lt_status lt_python_check_workspace(const lt_python *python, lt_err *err);
/* The folder that private workspaces are made in. LT_YIELDS while others' are removed that ended without doing so. */
lt_status lt_python_make_base(lt_python *python, lt_err *err) LT_YIELDS;
/* A new folder in it. Owns: the caller, lt_mem_free. */
lt_status lt_python_make_workspace(lt_python *python, uint32_t id, char **ret_path, lt_err *err);

/* python_move.c: keeps an earlier process' folder from being removed as left over, as long as this is open; -1: there
 * is none. */
int lt_python_hold(lt_str folder);
/* Moves what is in a folder, one that is held, into another, and removes it. LT_YIELDS. */
void lt_python_move(lt_loop *loop, int held, const char *from, const char *to) LT_YIELDS;

/* --- Names (python_names.c) --------------------------------------------------------------------------------------- */
/* The Python names of a catalog's tools; kept for the next run. NULL: no memory. Borrows: until the next call. */
const lt_python_names *lt_python_names_of(lt_python *python, lt_catalog *catalog);
void lt_python_names_free(lt_python_names *names); /* NULL is allowed */
/* The tool of a Python name; NULL: none. */
const lt_tool *lt_python_names_find(const lt_python_names *names, lt_str name);
/* Writes the member "tools": those whose names occur in the text, with their arguments. */
void lt_python_names_put(const lt_python_names *names, lt_str text, lt_str hidden, lt_json_writer *w);

/* --- A run (python_run.c) ----------------------------------------------------------------------------------------- */
typedef struct lt_python_call lt_python_call;

/* A message of the program's, as far as it has come. */
typedef struct lt_pyframe {
  unsigned char head[12];
  size_t head_n;
  uint32_t length;
  uint32_t id;
  uint32_t name_n;
  unsigned kind;
  lt_buf body;
} lt_pyframe;

enum { LT_PY_START = 1, LT_PY_VALUE = 2, LT_PY_FAILURE = 3 };                    /* to the program */
enum { LT_PY_CALL = 16, LT_PY_RESULT = 17, LT_PY_DONE = 18, LT_PY_FAILED = 19 }; /* from it */

typedef struct lt_python_run {
  lt_python *python;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_python_child *child;
  lt_watch *connection;
  lt_watch *output;
  lt_wait wait;
  lt_cancel cancel;
  lt_status stopped; /* why it was ended from here; LT_OK: it was not */
  uint64_t killed_ns;
  uint64_t look_ns; /* when its folder is looked at next */
  bool connection_closed;
  bool output_closed;

  /* What it sent (python_link.c). */
  lt_pyframe frame;
  bool broken; /* something that is no message */
  bool done;
  lt_buf failure; /* what it said of its failure */
  bool has_value;
  lt_buf to_send;
  size_t sent;

  /* What it said (python_text.c). */
  lt_run_text **last_text;
  size_t log_bytes;
  lt_buf line; /* one that has not ended */

  /* Its calls (python_calls.c). */
  lt_call_matching matching; /* what they were answered before, where it is run again */
  bool recalled;             /* its end is on record */
  lt_run_tool_call *calls;
  lt_run_tool_call **last_call;
  lt_python_call *queued;
  lt_python_call **last_queued;
  uint32_t call_count;
  uint32_t in_flight;
  uint32_t asking;
  size_t held_bytes;
  size_t kept_bytes;

  /* Its clock. */
  uint64_t deadline_ns;
  uint64_t stands_since_ns; /* 0: it runs */

  char piece[LT_PYTHON_PIECE_BYTES];
} lt_python_run;

/* python_link.c: reads what has come, as much as one turn allows: true, there may be more. */
bool lt_python_run_read(lt_python_run *run);
void lt_python_run_send(lt_python_run *run, unsigned kind, uint32_t id, lt_str body);
/* Sends what had to wait. */
void lt_python_run_flush(lt_python_run *run);
/* What the watch is to look for. */
void lt_python_run_watch(lt_python_run *run);

/* python_text.c: how much of what it prints is kept. */
size_t lt_python_run_log_max(const lt_run_request *request);
/* Likewise what it printed. */
bool lt_python_run_read_output(lt_python_run *run);
/* A line without its end, at the end. */
void lt_python_run_end_text(lt_python_run *run);
/* A line of ours among what it prints. */
void lt_python_run_warn(lt_python_run *run, lt_str text);

/* python_calls.c */
void lt_python_run_call(lt_python_run *run, uint32_t id, lt_str name, lt_str input);
void lt_python_run_drop_queued(lt_python_run *run);

/* python_run.c: lt_runner.run. */
lt_status lt_python_run_run(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                            lt_err *err) LT_YIELDS;
/* What the request allows, or what holds without it. */
uint64_t lt_python_run_memory(const lt_run_request *request);
/* Ends the program. */
void lt_python_run_stop(lt_python_run *run, lt_status why);
/* What it waits for has changed: its clock stands still or goes on. */
void lt_python_run_set_clock(lt_python_run *run);

/* python_disk.c: how long until its folder is to be looked at; UINT64_MAX: never. And the look: a program that has
 * written too much is stopped (LT_E_LIMIT). */
uint64_t lt_python_run_disk_ms(const lt_python_run *run);
void lt_python_run_look_at_disk(lt_python_run *run) LT_YIELDS;

/* held.c: bytes of files without a name that a process holds, which came from the folder. Blocks: not for the loop. */
uint64_t lt_python_held(pid_t pid, const char *folder);

/* python_judge.c: how it ended, into the result. LT_YIELDS while a long result is looked at. */
lt_status lt_python_run_judge(lt_python_run *run, lt_err *err) LT_YIELDS;

/* The embedded Python sources. */
lt_str lt_python_source(void);

#endif
