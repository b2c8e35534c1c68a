/* Whether what a model made of a task is right: the task's check, run as a program. */
#ifndef LT_CLI_EVAL_CHECK_H
#define LT_CLI_EVAL_CHECK_H

#include "cli/eval_tasks.h"
#include "runner/runner.h"

/* Checks the outputs of a prompt (a JSON array) with a JavaScript program. LT_OK: `ret_right` has the answer, and what
 * is wrong is appended to `why`. LT_YIELDS. */
lt_status lt_eval_check(lt_runner *runner, const lt_eval_task *task, lt_str outputs, lt_cancel *cancel, bool *ret_right,
                        lt_buf *why, lt_err *err) LT_YIELDS;

#endif
