/* The end of a Python program: the status and the error message of its result. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "js/jsscan.h"
#include "js/odd_text.h"
#include "json/json.h"
#include "runner/python/python_child.h"
#include "runner/python/python_end.h"
#include "runner/python/python_limits.h"
#include "runner/python/python_run.h"
#include "runner/python/python_state.h"
#include "runner/missing_name.h"
#include "tool/catalog_suggest.h"
#include "types/typegen.h"

/* --- The program's own report of its failure ---------------------------------------------------------------------- */

static lt_str python_end_text_of(lt_json report, const char *key, lt_arena *arena) {
  lt_str text = LT_STR_NULL;
  lt_json_str(lt_json_get(report, key), arena, &text);
  return text;
}

static void python_end_add_cut(lt_buf *out, lt_str text, size_t max) {
  lt_str head = lt_utf8_cut(text, max);
  lt_buf_add(out, head);
  if (head.n < text.n) {
    lt_buf_printf(out, "... (%zu bytes)", text.n);
  }
}

static void python_end_set_place(lt_python_run *run, lt_json report) {
  int64_t line = 0, column = 0;
  lt_json_int(lt_json_get(report, "line"), &line);
  lt_json_int(lt_json_get(report, "column"), &column);
  if (line <= 0 || line > UINT32_MAX) {
    return;
  }
  lt_str written = lt_jsscan_line(run->request->code, (uint32_t)line);
  run->result->line = (uint32_t)line;
  run->result->column = column > 0 && column <= (int64_t)written.n + 1 ? (uint32_t)column : 1;
  lt_buf_clear(&run->result->context);
  lt_run_result_put_context(&run->result->context, written, run->result->column - 1);
}

static void python_end_put_tool_name(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  (void)arg;
  lt_typegen_py_name(suggestion->tool->id, message);
}

static void python_end_put_tool(void *arg, const lt_tool *tool, lt_buf *out) {
  (void)arg;
  lt_typegen_py_name(tool->id, out);
}

/* A name that does not exist is one of another language, or a misspelt tool's. `module` could not be imported. `need`
 * was refused by the sandbox. */
static void python_end_advise(const lt_python_run *run, lt_str name, lt_str module, lt_str need, lt_buf *error) {
  const lt_missing_name_options options = {.catalog = run->catalog, .lang = LT_LANG_PYTHON, .put = python_end_put_tool};
  if (need.n > 0) {
    lt_missing_name_advise_need(&options, need, error);
  } else if (module.n > 0) {
    lt_missing_name_advise_module(&options, module, error);
  } else if (name.n > 0 && !lt_missing_name_advise(&options, name, error)) {
    lt_catalog_suggest_put(run->catalog, name, python_end_put_tool_name, NULL, error);
  }
}

/* A character that Python does not take for what it looks like. */
static void python_end_advise_character(lt_python_run *run) {
  lt_run_result *result = run->result;
  if (result->line == 0 || !lt_str_starts(lt_buf_view(&result->error), LT_STR("SyntaxError: invalid"))) {
    return;
  }
  lt_str line = lt_jsscan_line(run->request->code, result->line);
  size_t at = 0;
  for (uint32_t i = 1; i < result->column && at < line.n; i++) {
    at = lt_utf8_ceil(line, at + 1);
  }
  const char *odd = lt_odd_text_advise(lt_str_sub(line, at, line.n));
  if (odd != NULL) {
    lt_buf_printf(&result->error, ": this is %s", odd);
  }
}

static void python_end_describe_memory(lt_python_run *run) {
  lt_run_result_fail(run->result, LT_E_NOMEM,
                     "out of memory: the program needed more than its %lu MiB; work on smaller pieces, or allow more "
                     "(--memory, sandbox.memoryMb)",
                     (unsigned long)(lt_python_limits_memory_bytes(run->request) / LT_MIB));
}

static void python_end_describe_report(lt_python_run *run, lt_json report, lt_arena *arena) {
  lt_run_result *result = run->result;
  lt_str kind = python_end_text_of(report, "kind", arena);
  python_end_set_place(run, report);
  lt_buf_clear(&result->stack);
  python_end_add_cut(&result->stack, python_end_text_of(report, "stack", arena), LT_RUN_ERROR_BYTES);
  if (lt_str_eqc(kind, "memory")) {
    python_end_describe_memory(run);
    return;
  }
  result->status = lt_str_eqc(kind, "walls") ? LT_E_TRAP : LT_E_PROGRAM;
  lt_buf_clear(&result->error);
  lt_buf_addc(&result->error, lt_str_eqc(kind, "walls") ? "the program's walls could not be set up: " : "");
  python_end_add_cut(&result->error, python_end_text_of(report, "error", arena), LT_RUN_ERROR_BYTES);
  python_end_advise(run, python_end_text_of(report, "name", arena), python_end_text_of(report, "module", arena),
                    python_end_text_of(report, "need", arena), &result->error);
  python_end_advise_character(run);
}

static void python_end_describe_failure(lt_python_run *run) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_PYTHON_REPORT_BYTES);
  if (lt_json_parse(&arena, lt_buf_view(&run->link.failure), &doc, NULL) == LT_OK) {
    python_end_describe_report(run, lt_json_root(&doc), &arena);
  } else {
    lt_run_result_fail(run->result, LT_E_PROGRAM, "the program failed with an error that is too long to show");
  }
}

/* --- A program that ended without a report ------------------------------------------------------------------------ */

static void python_end_describe_signal(lt_python_run *run, int signum) {
  const char *name = sigabbrev_np(signum);
  if (signum == SIGXCPU) {
    lt_run_result_fail(run->result, LT_E_TIMEOUT, "the program used more processor time than its %lums allow",
                       (unsigned long)lt_run_request_timeout_ms(run->request));
  } else {
    bool is_trap = signum == SIGSYS;
    lt_run_result_fail(run->result, is_trap ? LT_E_TRAP : LT_E_PROGRAM, "the program was killed by SIG%s%s",
                       name ? name : "?",
                       signum == SIGSEGV ? " (endless recursion in native code, or a broken extension module)" : "");
  }
}

static void python_end_describe_exit(lt_python_run *run) {
  int status = run->child->exit_status;
  LT_ERR_VAR(err);
  if (status < 0) {
    lt_python_child_explain_loss(run->child, &err);
    lt_run_result_fail(run->result, LT_E_PROGRAM, "%s", lt_err_msg(&err));
  } else if (WIFSIGNALED(status)) {
    python_end_describe_signal(run, WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    lt_run_result_fail(run->result, LT_E_PROGRAM, "the program exited with code %d", WEXITSTATUS(status));
  }
}

static void python_end_describe_stopped(lt_python_run *run) {
  if (run->stop_reason == LT_E_TIMEOUT) {
    lt_run_result_fail(run->result, LT_E_TIMEOUT, "Execution timed out after %lums",
                       (unsigned long)lt_run_request_timeout_ms(run->request));
  } else if (run->stop_reason == LT_E_LIMIT && run->has_too_many_locks) {
    lt_run_result_fail(run->result, LT_E_PROGRAM, "the program holds too many locks of files: at most %d",
                       LT_PYTHON_LOCKS_MAX);
  } else if (run->stop_reason == LT_E_LIMIT) {
    lt_run_result_fail(
        run->result, LT_E_PROGRAM,
        "the program wrote too much into its folder: at most %lu MiB in %u files; give the data to a tool, or set "
        "python.workspace",
        LT_PYTHON_DISK_BYTES / LT_MIB, LT_PYTHON_DISK_FILES);
  } else if (run->stop_reason == LT_E_NOMEM) {
    lt_run_result_fail(run->result, LT_E_NOMEM, "no memory for the answers that the program waits for");
  } else {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
  }
}

/* --- The result's value ------------------------------------------------------------------------------------------- */

typedef struct json_check {
  lt_str text;
  bool is_valid;
} json_check;

static void python_end_check_json(void *arg) {
  json_check *check = arg;
  check->is_valid = lt_json_check(check->text, NULL) == LT_OK;
}

/* Drops a value that is not JSON or too long: the program may have written the message itself. */
static lt_status python_end_check_value(lt_python_run *run, lt_err *err) LT_YIELDS {
  lt_run_result *result = run->result;
  json_check check = {.text = lt_buf_view(&result->value), .is_valid = true};
  bool too_long = check.text.n > LT_RUN_RESULT_MAX_BYTES;
  if (result->kind == LT_VALUE_JSON && check.text.n > LT_CALL_INLINE_BYTES && !too_long) {
    LT_TRY(lt_loop_offload(run->python->loop, python_end_check_json, &check, err));
  } else if (result->kind == LT_VALUE_JSON && !too_long) {
    python_end_check_json(&check);
  }
  if (check.is_valid && !too_long) {
    return LT_OK;
  }
  result->kind = LT_VALUE_UNDEFINED;
  lt_buf_release(&result->value);
  if (result->status == LT_OK) {
    lt_run_result_fail(result, LT_E_PROGRAM,
                       too_long ? "set_result: the result has more than %lu MiB; give back less"
                                : "set_result: the result is not JSON, or nested too deeply (%lu MiB)",
                       LT_RUN_RESULT_MAX_BYTES / LT_MIB);
  }
  return LT_OK;
}

lt_status lt_python_end_describe(lt_python_run *run, lt_err *err) {
  if (run->stop_reason != LT_OK) {
    python_end_describe_stopped(run);
  } else if (run->link.is_broken) {
    lt_run_result_fail(
        run->result, LT_E_PROGRAM,
        "the program wrote to Lathe's own connection (a file descriptor that is not its own), or sent more than "
        "%lu MiB at once",
        LT_JSON_MAX_BYTES / LT_MIB);
  } else if (run->link.failure.n > 0) {
    python_end_describe_failure(run);
  } else if (!run->link.has_reported_end) {
    python_end_describe_exit(run);
  }
  return python_end_check_value(run, err);
}

/* --- The names of a program that is only checked ------------------------------------------------------------------ */

static void python_end_take_name(const lt_python_run *run, lt_str name, int64_t line, int64_t column) {
  LT_AUTO_BUF(message, 2 * LT_RUN_FAULT_BYTES);
  lt_buf_printf(&message, "name '%.*s' is not defined", LT_STR_ARG(lt_str_sub(name, 0, LT_KIB)));
  python_end_advise(run, name, LT_STR_NULL, LT_STR_NULL, &message);
  uint32_t behind = (uint32_t)column + (uint32_t)lt_utf8_count(name);
  const lt_run_fault fault = {.line = (uint32_t)line,
                              .column = (uint32_t)column,
                              .end_line = (uint32_t)line,
                              .end_column = behind,
                              .is_warning = true,
                              .message = lt_buf_view(&message)};
  lt_run_faults_add(run->request->faults, &fault);
}

void lt_python_end_take_names(lt_python_run *run) {
  lt_json_doc doc;
  lt_str name;
  int64_t line, column;
  LT_AUTO_ARENA(arena, LT_PYTHON_REPORT_BYTES);
  if (run->result->kind != LT_VALUE_JSON ||
      lt_json_parse(&arena, lt_buf_view(&run->result->value), &doc, NULL) != LT_OK) {
    return;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    if (lt_json_str(lt_json_at(it.value, 0), &arena, &name) && lt_json_int(lt_json_at(it.value, 1), &line) &&
        lt_json_int(lt_json_at(it.value, 2), &column) && line > 0 && line < INT32_MAX && column > 0 &&
        column < INT32_MAX) {
      python_end_take_name(run, name, line, column);
    }
  }
}
