/* Tasks for models, read from a file. */
#ifndef LT_CLI_EVAL_TASKS_H
#define LT_CLI_EVAL_TASKS_H

#include "config/config.h"

typedef enum lt_eval_kind { LT_EVAL_CONTAINS, LT_EVAL_MATCHES, LT_EVAL_JSON, LT_EVAL_JS } lt_eval_kind;

typedef struct lt_eval_task {
  const char *name;
  const char *prompt;
  lt_eval_kind kind;
  lt_str wanted; /* a text, a pattern, JSON text, or an expression */
} lt_eval_task;

typedef struct lt_eval_tasks {
  lt_config scratch;  /* its arena holds all texts */
  const char *config; /* path of the configuration to use, which counts once it is trusted; NULL: not given */
  const lt_eval_task *list;
  size_t count;
} lt_eval_tasks;

/* Reads {config?, tasks: [{name, prompt, check: {contains | matches | json | js: ...}}]}. Errors: LT_E_CONFIG, with
 * file and line; LT_E_NOTFOUND, LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. The caller releases it in either case. */
lt_status lt_eval_tasks_read(const char *path, lt_eval_tasks *ret_tasks, lt_err *err);
void lt_eval_tasks_release(lt_eval_tasks *tasks);

#endif
