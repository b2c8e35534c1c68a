/* Checks the types of TypeScript programs before they run (docs/internals/typecheck.md).
 *
 * Whether a program is checked is decided here and nowhere else: types are checked where there is a compiler, unless
 * the configuration says otherwise. One compiler process answers all checks of the session, one after the other.
 * Checking is for better errors, not for safety: where the compiler fails, the program runs unchecked, with a warning.
 * Loop thread only.
 */
#ifndef LT_RUNNER_TYPECHECK_TYPECHECK_H
#define LT_RUNNER_TYPECHECK_TYPECHECK_H

#include "io/loop.h"
#include "runner/run_request.h"
#include "runner/run_result.h"
#include "tool/catalog.h"

typedef struct lt_typecheck lt_typecheck;

typedef struct lt_typecheck_options {
  lt_loop *loop;
  const char *path;   /* typescript.path, a `tsc`; NULL: in PATH, then in node_modules/.bin beside build/ */
  bool is_required;   /* typescript.check: true: without a check no TypeScript runs */
  bool without_walls; /* the compiler runs although a wall cannot be had */
  const char *helper; /* the full path of a program that knows `__jail` (jail/jail.h); NULL: "/proc/self/exe" */
  /* A line for the user: that there is no compiler, or that it failed. Must not yield; may be NULL. */
  void (*on_line)(void *arg, bool is_warning, lt_str line);
  void *arg;
} lt_typecheck_options;

/* Starts nothing. Copies the texts. Errors: LT_E_NOMEM. Owns: the caller, lt_typecheck_free. */
lt_status lt_typecheck_new(const lt_typecheck_options *options, lt_typecheck **ret_typecheck, lt_err *err);
/* Every check must have ended. NULL is allowed. LT_YIELDS until the compiler is gone. */
void lt_typecheck_free(lt_typecheck *typecheck) LT_YIELDS;

/* Starts the compiler, if there is one, so that the first check does not wait for it. Does not yield. The first check
 * reports a failure. NULL is allowed. */
void lt_typecheck_warm(lt_typecheck *typecheck);

/* A program to check. */
typedef struct lt_typecheck_program {
  const lt_run_request *request;
  lt_str source;        /* the program without code fences */
  unsigned line_offset; /* lines removed before it */
  lt_str globals;       /* declarations of what only this runner's programs have */
  bool only_names;      /* JavaScript: nothing but unknown names counts, as a warning */
  /* Borrows: the tool that a word of the program names; NULL: none that the program may see. */
  const lt_tool *(*find_tool)(void *arg, lt_str word);
  /* Appends "Did you mean: a, b?" for a name that is not defined, or nothing. */
  void (*put_suggestions)(void *arg, lt_str name, lt_buf *message);
  void *arg;
} lt_typecheck_program;

/* Checks a program. LT_OK: it may run. LT_E_PROGRAM: it may not, and `result` has the errors, in the form of any failed
 * program; all of them are in the request's `faults`, if it has any. Other errors, in `err`: LT_E_NOTFOUND
 * (typescript.path or typescript.check ask for a compiler that is not there), LT_E_IO (the check failed and is
 * required), LT_E_NOMEM. A cancelled request is LT_OK: its run ends as cancelled. LT_YIELDS, for LT_TYPECHECK_WAIT_MS
 * at most, and while other programs are checked. */
lt_status lt_typecheck_run(lt_typecheck *typecheck, const lt_typecheck_program *program, lt_run_result *result,
                           lt_err *err) LT_YIELDS;

/* Declarations of the globals of every program. Borrows: static. */
lt_str lt_typecheck_globals(void);

#endif
