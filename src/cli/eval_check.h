/* Runs a task's check as a program and says whether the model's result is right. */
#ifndef LT_CLI_EVAL_CHECK_H
#define LT_CLI_EVAL_CHECK_H

#include "cli/eval_tasks.h"
#include "runner/runner.h"

/* Checks the outputs of a prompt (a JSON array) with a JavaScript program. LT_OK: `ret_right` has the verdict, and
 * `why` gets the reason when the result is wrong. LT_YIELDS. */
lt_status lt_eval_check(lt_runner *runner, const lt_eval_task *task, lt_str outputs, lt_cancel *cancel, bool *ret_right,
                        lt_buf *why, lt_err *err) LT_YIELDS;

#endif
