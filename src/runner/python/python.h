/* The Python runner: programs in real processes, forked from an interpreter that is warm.
 *
 * One interpreter (the zygote) is started for the first program, or earlier by lt_python_warm. It forks a process for
 * every program and reaps it. One process is forked ahead and waits for the next program. The walls decide what a
 * program may do to the machine (docs/internals/walls.md). Its tool calls go through the door like all others.
 *
 * Loop thread only. How it works: docs/internals/python.md.
 */
#ifndef LT_RUNNER_PYTHON_PYTHON_H
#define LT_RUNNER_PYTHON_PYTHON_H

#include "io/loop.h"
#include "runner/runner.h"
#include "tool/door.h"

typedef struct lt_python lt_python;

typedef struct lt_python_options {
  lt_loop *loop;
  lt_door *door;
  const char *path;       /* the interpreter: a name to find in PATH, or a path; NULL: "python3" */
  const char *workspace;  /* the folder programs work in, which must exist and be writable; NULL: each program has a
                             private folder, which is removed at its end */
  const char *time_zone;  /* TZ of programs, unless `env` has one; NULL: UTC */
  const char *const *env; /* NAME=value, NULL last: further variables of programs; may be NULL */
  bool env_passthrough;   /* programs see this process's environment; otherwise PATH, a locale, HOME and TMPDIR */
  const char *helper;     /* the full path of a program that knows `__jail`; NULL: "/proc/self/exe" */
  bool without_walls;     /* programs run although a wall cannot be had */
} lt_python_options;

/* Nothing is started yet. Copies the options; borrows loop and door. Errors: LT_E_NOMEM.
 * Owns: the caller, lt_python_free. */
lt_status lt_python_new(const lt_python_options *options, lt_python **ret_python, lt_err *err);
/* Ends the interpreter. Every run must have ended. LT_YIELDS until the process is gone. NULL is allowed. */
void lt_python_free(lt_python *python) LT_YIELDS;

/* Starts the interpreter unless it runs, so that the first program need not wait for it. LT_YIELDS until it is ready.
 * Errors: LT_E_NOTFOUND (no interpreter), LT_E_UNSUPPORTED (older than 3.9, or a wall cannot be had), LT_E_CONFIG (the
 * workspace), LT_E_IO, LT_E_NOMEM; the message says what to do. */
lt_status lt_python_warm(lt_python *python, lt_err *err) LT_YIELDS;

/* The runner interface, for LT_LANG_PYTHON. It ignores a request's `modules`, `functions`, `values` and
 * `without_output`. What a program prints is its log, of which `max_output_bytes` are kept (0: `max_log_bytes`).
 * `input` is the program's `input_data`. `memory_bytes` (0: LT_PYTHON_MEMORY_BYTES) are on top of the interpreter's own
 * memory. A result that a program set before it failed is in the result's `value`, beside the error.
 * Borrows: lives as long as `python`. */
lt_runner *lt_python_runner(lt_python *python);

#endif
