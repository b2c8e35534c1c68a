/* The end of a Deno run: the status, the error message and its place in the program's text. */
#include <stdio.h>

#include "base/utf8.h"
#include "runner/deno/deno_end.h"
#include "runner/deno/deno_output.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_source.h"
#include "js/jsscan.h"
#include "runner/missing_name.h"
#include "tool/catalog_suggest.h"

#define FRAMES_MAX 20

/* --- Places in the program ---------------------------------------------------------------------------------------- */

static bool deno_end_read_number(lt_str text, size_t *at, uint32_t *ret) {
  uint32_t n = 0;
  size_t start = *at;
  while (*at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9' && n < 100000000) {
    n = n * 10 + (uint32_t)(text.p[(*at)++] - '0');
  }
  *ret = n;
  return *at > start;
}

/* The offset of the byte at which the UTF-16 unit `units` (zero-based) of a line begins. */
static size_t deno_end_byte_of(lt_str line, uint32_t units) {
  size_t at = 0;
  while (at < line.n && units > 0) {
    unsigned char c = (unsigned char)line.p[at];
    uint32_t wide = c >= 0xf0 ? 2 : 1;
    units -= wide < units ? wide : units;
    at = lt_utf8_ceil(line, at + 1);
  }
  return at;
}

/* Finds the place in the program's text of a line and column in the file that ran. The first line of that file has a
 * prefix. */
static lt_run_place deno_end_place_of(const lt_deno_run *run, uint32_t line, uint32_t column) {
  size_t prefix = line == run->line_offset + 1 ? run->column_offset : 0;
  uint32_t units = column > prefix ? column - 1 - (uint32_t)prefix : 0;
  lt_str text = lt_jsscan_line(run->request->code, line);
  lt_run_place place = {.line = line, .at = deno_end_byte_of(text, units)};
  place.column = (uint32_t)lt_utf8_count(lt_str_sub(text, 0, place.at)) + 1;
  return place;
}

static void deno_end_set_place(lt_deno_run *run, const lt_run_place *place) {
  lt_run_result *result = run->result;
  result->line = place->line;
  result->column = place->column;
  lt_buf_clear(&result->context);
  lt_run_result_put_context(&result->context, lt_jsscan_line(run->request->code, place->line), place->at);
}

/* `at f (file:///.../lathe-deno-abc/program.ts:4:26)`, or without the function. */
static bool deno_end_find_place(const lt_deno_run *run, lt_str frame, lt_run_place *ret) {
  char file[sizeof run->instance.folder + 32];
  snprintf(file, sizeof file, "%s/%s:", run->instance.folder, LT_DENO_PROGRAM(run));
  size_t at = lt_str_find(frame, lt_str_of(file), 0);
  uint32_t line, column;
  if (at == SIZE_MAX) {
    return false;
  }
  at += strlen(file);
  if (!deno_end_read_number(frame, &at, &line) || at >= frame.n || frame.p[at++] != ':' ||
      !deno_end_read_number(frame, &at, &column)) {
    return false;
  }
  *ret = deno_end_place_of(run, line, column);
  return true;
}

static bool deno_end_contains(lt_str text, const char *part) {
  return lt_str_find(text, lt_str_of(part), 0) != SIZE_MAX;
}

static lt_str deno_end_next_line(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\n"), 0);
  lt_str line = lt_str_sub(*rest, 0, end == SIZE_MAX ? rest->n : end);
  *rest = lt_str_sub(*rest, line.n + 1, rest->n);
  return line;
}

static lt_str deno_end_function_of(lt_str frame) {
  lt_str call = lt_str_trim(frame);
  size_t end = lt_str_find(call, LT_STR(" ("), 0);
  bool named = lt_str_starts(call, LT_STR("at ")) && end != SIZE_MAX;
  lt_str name = named ? lt_str_sub(call, 3, end) : LT_STR("<program>");
  return lt_str_starts(name, LT_STR("async ")) ? lt_str_sub(name, 6, name.n) : name;
}

/* Adds the program's own frames to the result's stack. The first one is the error's place. */
static void deno_end_locate(lt_deno_run *run, lt_str stack) {
  lt_str rest = stack;
  unsigned frames = 0;
  while (rest.n > 0 && frames < FRAMES_MAX) {
    lt_str frame = deno_end_next_line(&rest);
    lt_run_place place;
    if (!lt_str_starts(lt_str_trim(frame), LT_STR("at ")) || !deno_end_find_place(run, frame, &place)) {
      continue;
    }
    if (frames++ == 0) {
      deno_end_set_place(run, &place);
    }
    lt_buf_printf(&run->result->stack, "%sat %.*s (%u:%u)", run->result->stack.n > 0 ? "\n" : "",
                  LT_STR_ARG(deno_end_function_of(frame)), place.line, place.column);
  }
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

static void deno_end_add_cut(lt_buf *out, lt_str text, size_t max) {
  lt_str head = lt_utf8_cut(text, max);
  lt_buf_add(out, head);
  if (head.n < text.n) {
    lt_buf_printf(out, "... (%zu bytes)", text.n);
  }
}

/* `need`: what a tool may give (missing_name.h), instead of advice. */
static const struct {
  const char *begins;
  const char *advice;
  const char *need;
} refused[] = {
    {"Requires net access", NULL, "network"},
    {"Requires read access", NULL, "files"},
    {"Requires write access", NULL, "files"},
    {"Requires env access", "there is no environment in a program: use `input` or call a tool", NULL},
    {"Requires run access", "a program starts no processes: call a tool", NULL},
    {"Requires ffi access", "a program loads no libraries: call a tool", NULL},
    {"Requires sys access", "a program is told nothing of the machine", NULL},
    {"Deno.symlink", NULL, "files"},
    {"Deno.link", NULL, "files"},
    {"A remote specifier was requested", "nothing can be imported from the network", NULL},
    {"npm specifiers were requested", "nothing can be imported from npm", NULL},
    {"JSR specifiers were requested", "nothing can be imported from JSR", NULL},
    {"Relative import path", "there is no such module: import a registered module, or a built-in one as \"node:...\"",
     NULL},
    {"Import \"", "there is no such module: import a registered module, or a built-in one as \"node:...\"", NULL},
};

/* Removes Deno's advice to change its command line. */
static lt_str deno_end_without_advice(lt_str message) {
  size_t again = lt_str_find(message, LT_STR(", run again with the --"), 0);
  size_t unscoped = lt_str_find(message, LT_STR(" requires unscoped --"), 0);
  return lt_str_sub(message, 0, again < unscoped ? again : unscoped);
}

static void deno_end_put_tool_name(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  lt_buf_add(message, lt_deno_source_name_of(arg, suggestion->tool));
}

static void deno_end_put_tool(void *arg, const lt_tool *tool, lt_buf *out) {
  lt_buf_add(out, lt_deno_source_name_of(arg, tool));
}

static lt_missing_name_options deno_end_missing_options(lt_deno_run *run) {
  return (lt_missing_name_options){
      .catalog = run->catalog, .lang = run->request->lang, .put = deno_end_put_tool, .arg = run};
}

static void deno_end_put_advice(lt_deno_run *run, lt_str message) {
  const lt_missing_name_options options = deno_end_missing_options(run);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (!lt_str_starts(message, lt_str_of(refused[i].begins))) {
      continue;
    }
    if (refused[i].need != NULL) {
      lt_missing_name_advise_need(&options, lt_str_of(refused[i].need), &run->result->error);
    } else {
      lt_buf_printf(&run->result->error, ": %s", refused[i].advice);
    }
    return;
  }
}

/* Says what to use for a name that is not defined, or suggests tools with a similar name. */
static void deno_end_put_suggestions(lt_deno_run *run, lt_str name) {
  const lt_missing_name_options options = deno_end_missing_options(run);
  if (name.n > 0 && lt_missing_name_advise(&options, name, &run->result->error)) {
    return;
  }
  lt_catalog_suggest_put(run->catalog, name, deno_end_put_tool_name, run, &run->result->error);
}

static lt_str deno_end_undefined_name(lt_str name, lt_str message) {
  lt_str suffix = LT_STR(" is not defined");
  bool is_undefined = lt_str_eqc(name, "ReferenceError") && lt_str_ends(message, suffix);
  return is_undefined ? lt_str_sub(message, 0, message.n - suffix.n) : LT_STR_NULL;
}

/* Whether the parser stopped in a tag of JSX, which it takes for a type: at the / of `</p>` or the end of `<br/>`, or
 * at the attribute of `<p class=`. */
static bool deno_end_is_tag(const lt_deno_run *run) {
  lt_str line = lt_jsscan_line(run->request->code, run->result->line);
  size_t at = 0;
  for (uint32_t i = 1; i < run->result->column && at < line.n; i++) {
    at = lt_utf8_ceil(line, at + 1);
  }
  size_t open = at;
  while (open > 0 && line.p[open - 1] != '<') {
    open--;
  }
  if (at >= line.n || open == 0) {
    return false;
  }
  lt_str inside = lt_str_sub(line, open, at);
  bool is_closing = line.p[at] == '/' && inside.n == 0;
  bool is_empty = line.p[at] == '>' && lt_str_ends(inside, LT_STR("/"));
  bool has_attribute = inside.n > 1 && lt_str_ends(inside, LT_STR(" ")) &&
                       lt_str_starts(lt_buf_view(&run->result->error), LT_STR("SyntaxError: Expected '>', got"));
  return is_closing || is_empty || has_attribute;
}

/* Deno wraps a syntax error: `TypeError: SyntaxError: Expression expected`, then lines that show the place. */
static void deno_end_describe_failure(lt_deno_run *run) {
  lt_run_result *result = run->result;
  lt_str name = lt_buf_view(&run->output.failure.name), message = lt_buf_view(&run->output.failure.message);
  if (lt_str_starts(message, LT_STR("SyntaxError: ")) && lt_str_eqc(name, "TypeError")) {
    message = deno_end_next_line(&message);
    name = LT_STR_NULL;
  }
  result->status = LT_E_PROGRAM;
  lt_buf_clear(&result->error);
  if (name.n > 0 && !lt_str_eqc(name, "Error")) {
    lt_buf_add(&result->error, lt_str_sub(name, 0, LT_RUN_CONTEXT_BYTES));
    lt_buf_addc(&result->error, ": ");
  }
  deno_end_add_cut(&result->error, deno_end_without_advice(message), LT_RUN_ERROR_BYTES);
  if (message.n == 0) {
    lt_buf_addc(&result->error, "the program threw an error without a message");
  }
  deno_end_put_advice(run, message);
  deno_end_put_suggestions(run, deno_end_undefined_name(name, message));
  deno_end_locate(run, lt_buf_view(&run->output.failure.stack));
  if (lt_str_starts(lt_buf_view(&result->error), LT_STR("SyntaxError: ")) && deno_end_is_tag(run)) {
    lt_buf_addc(&result->error, LT_MISSING_NAME_JSX);
  }
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

/* Reads `program.ts(2,36): error TS2551: Property ...`. Indented lines continue the message. */
static bool deno_end_read_fault(lt_str line, uint32_t *ret_line, uint32_t *ret_column, lt_str *ret_code,
                                lt_str *ret_text) {
  lt_str file = LT_STR("program.ts("), kind = LT_STR("): error ");
  size_t at = file.n;
  if (!lt_str_starts(line, file) || !deno_end_read_number(line, &at, ret_line) || at >= line.n || line.p[at++] != ',' ||
      !deno_end_read_number(line, &at, ret_column) || !lt_str_starts(lt_str_sub(line, at, line.n), kind)) {
    return false;
  }
  line = lt_str_sub(line, at + kind.n, line.n);
  size_t colon = lt_str_find(line, LT_STR(": "), 0);
  if (colon == SIZE_MAX) {
    return false;
  }
  *ret_code = lt_str_sub(line, 0, colon);
  *ret_text = lt_str_sub(line, colon + 2, line.n);
  return true;
}

/* Many globals are declared as `any`, and Node's modules have no types. So an implicit `any` is no fault of the
 * program. noImplicitAny stays on, because without it the compiler takes every `[]` for an array that stays empty. */
static bool deno_end_is_ignored(lt_str code, lt_str text) {
  bool is_shape = lt_str_eqc(code, "TS1235"); /* a namespace in a program that returns, and so is a function's body */
  return is_shape || lt_str_eqc(code, "TS2709") ||
         (lt_str_starts(code, LT_STR("TS7")) && deno_end_contains(text, "implicitly"));
}

bool lt_deno_end_has_type_errors(const lt_deno_run *run) {
  lt_str rest = lt_buf_view(&run->checker.report);
  bool has_ignored = false;
  while (rest.n > 0) {
    lt_str line = deno_end_next_line(&rest), code, text;
    uint32_t at, column;
    if (!lt_str_starts(line, LT_STR("  "))) {
      if (!deno_end_read_fault(line, &at, &column, &code, &text) || !deno_end_is_ignored(code, text)) {
        return true;
      }
      has_ignored = true;
    }
  }
  return !has_ignored; /* the compiler itself failed */
}

/* The name in `Cannot find name 'x'.`, unless TypeScript itself makes a suggestion. Only tools that the program names
 * correctly are declared. */
static lt_str deno_end_missing_name(lt_str text) {
  lt_str prefix = LT_STR("Cannot find name '");
  size_t end = lt_str_find(text, LT_STR("'"), prefix.n);
  bool advised = lt_str_find(text, LT_STR("Did you mean"), 0) != SIZE_MAX;
  return lt_str_starts(text, prefix) && !advised ? lt_str_sub(text, prefix.n, end) : LT_STR_NULL;
}

static void deno_end_put_fault(lt_deno_run *run, uint32_t line, uint32_t column, lt_str code, lt_str text, bool first) {
  lt_run_place place = deno_end_place_of(run, line, column);
  lt_buf *error = &run->result->error;
  if (first) {
    deno_end_set_place(run, &place);
    lt_buf_printf(error, "%.*s: ", LT_STR_ARG(code));
  } else {
    lt_buf_printf(error, "\nline %u, column %u: %.*s: ", place.line, place.column, LT_STR_ARG(code));
  }
  deno_end_add_cut(error, text, LT_KIB);
  deno_end_put_suggestions(run, deno_end_missing_name(text));
}

static void deno_end_describe_types(lt_deno_run *run) {
  lt_str rest = lt_buf_view(&run->checker.report);
  unsigned count = 0, shown = 0;
  run->result->status = LT_E_PROGRAM;
  lt_buf_clear(&run->result->error);
  bool is_shown = false;
  while (rest.n > 0) {
    lt_str text = deno_end_next_line(&rest), code, what;
    uint32_t line, column;
    if (deno_end_read_fault(text, &line, &column, &code, &what) && !deno_end_is_ignored(code, what)) {
      is_shown = count++ < LT_TYPECHECK_SHOWN;
      if (is_shown) {
        deno_end_put_fault(run, line, column, code, what, shown++ == 0);
      }
    } else if (is_shown && lt_str_starts(text, LT_STR("  "))) {
      lt_buf_addc(&run->result->error, "\n");
      deno_end_add_cut(&run->result->error, text, LT_KIB);
    } else {
      is_shown = false;
    }
  }
  if (count > shown) {
    lt_buf_printf(&run->result->error, "\nand %u more", count - shown);
  }
  if (count == 0) { /* the compiler itself failed */
    lt_str words = lt_str_trim(run->checker.report.n > 0 ? lt_buf_view(&run->checker.report)
                                                         : lt_process_stderr(run->checker.process));
    lt_run_result_fail(run->result, LT_E_PROGRAM,
                       "its types could not be checked: tsc %s: %.*s (typescript.check: false does "
                       "without)",
                       lt_process_exit_text(run->checker.process), LT_STR_ARG(lt_str_sub(words, 0, 500)));
  }
}

/* --- The process -------------------------------------------------------------------------------------------------- */

static void deno_end_describe_stopped(lt_deno_run *run) {
  if (run->stop_reason == LT_E_TIMEOUT) {
    lt_run_result_fail(run->result, LT_E_TIMEOUT, "Execution timed out after %lums",
                       (unsigned long)lt_run_request_timeout_ms(run->request));
  } else if (run->stop_reason == LT_E_PROGRAM) {
    deno_end_describe_types(run);
  } else if (run->stop_reason == LT_E_NOMEM) {
    lt_run_result_fail(run->result, LT_E_NOMEM, "no memory for another program");
  } else {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
  }
}

/* The text before `marker`. On standard error, Deno's own message follows the program's output. */
static lt_str deno_end_text_before(lt_str text, const char *marker) {
  size_t at = lt_str_find(text, lt_str_of(marker), 0);
  return at != SIZE_MAX ? lt_str_sub(text, 0, at) : text;
}

static bool deno_end_ran_out_of_memory(lt_str words) {
  return deno_end_contains(words, "out of memory") || deno_end_contains(words, "OutOfMemory") ||
         deno_end_contains(words, "Ineffective mark-compacts");
}

/* Describes the exit. Returns the part of standard error that the error message does not contain. */
static lt_str deno_end_describe_exit(lt_deno_run *run, lt_str words) {
  lt_run_result *result = run->result;
  if (deno_end_contains(words, "memory for CodeRange")) {
    lt_run_result_fail(
        result, LT_E_NOMEM,
        "no room for another Worker: each takes 512 MiB of the process's address space, however little it does; "
        "start fewer, or allow more (--memory, sandbox.memoryMb)");
    return deno_end_text_before(words, "#\n# Fatal");
  }
  if (deno_end_ran_out_of_memory(words)) {
    lt_run_result_fail(result, LT_E_NOMEM,
                       "out of memory: the program needed more than its %lu MiB; work on smaller pieces, or allow more "
                       "(--memory, sandbox.memoryMb)",
                       (unsigned long)(lt_run_request_memory_bytes(run->request) / LT_MIB));
    return deno_end_text_before(deno_end_text_before(words, "<--- Last few GCs"), "#\n# Fatal");
  }
  if (deno_end_contains(words, "promise never resolved")) {
    lt_run_result_fail(result, LT_E_PROGRAM, "the program waits for a promise that nothing will ever settle");
    return deno_end_text_before(words, "error: Top-level await promise never resolved");
  }
  lt_run_result_fail(result, LT_E_PROGRAM, "the program's process %s", lt_process_exit_text(run->instance.process));
  deno_end_locate(run, words);
  return words;
}

static void deno_end_add_stderr(lt_deno_run *run, lt_str words) {
  words = lt_str_trim(words);
  if (words.n > 0) {
    lt_deno_output_add(run, LT_SAID_ERROR, words);
  }
}

void lt_deno_end_describe(lt_deno_run *run) {
  lt_run_result *result = run->result;
  lt_str words = run->instance.process != NULL ? lt_process_stderr(run->instance.process) : LT_STR_NULL;
  if (run->stop_reason != LT_OK) {
    deno_end_describe_stopped(run);
  } else if (run->output.failure.is_reported) {
    deno_end_describe_failure(run);
  } else if (strcmp(lt_process_exit_text(run->instance.process), "exited with code 0") != 0) {
    words = deno_end_describe_exit(run, words);
  } else {
    result->status = LT_OK;
  }
  deno_end_add_stderr(run, words);
  if (result->status != LT_OK) {
    lt_buf_release(&result->value);
    result->kind = LT_VALUE_UNDEFINED;
  }
}
