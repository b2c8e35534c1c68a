#include "runner/typecheck/typecheck_report.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "js/jsscan.h"
#include "json/json.h"

#define SEVERITY_ERROR 1 /* Language Server Protocol 3.17, DiagnosticSeverity */

/* --- Which errors count ------------------------------------------------------------------------------------------- */

/* Many globals are declared as `any`, and modules have no types: an implicit `any` (TS7...) is no fault. Nor is a
 * `return` outside any function (the program may return), a namespace used as a type (2709, of a global that is `any`),
 * `export =` (1203), a module that the compiler does not see (2307, 2792: the engine's own error says what there is),
 * and an
 * `@ts-expect-error` too many (2578). */
static bool report_is_ignored(int64_t code, lt_str message) {
  static const int64_t ignored[] = {1108, 1203, 2307, 2578, 2709, 2792};
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
    if (code == ignored[i]) {
      return true;
    }
  }
  return code >= 7000 && code < 8000 && lt_str_find(message, LT_STR("implicitly"), 0) != SIZE_MAX;
}

/* The compiler does not see the variables of earlier programs of a session: a name that it does not know (2304, 2503,
 * 2552, 18004) may be one. */
static bool report_may_be_known(const lt_typecheck_program *program, int64_t code) {
  bool is_continued = program->request->session != NULL && program->request->session->memory.n > 0;
  return is_continued && (code == 2304 || code == 2503 || code == 2552 || code == 18004);
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

/* The offset of the byte at which the UTF-16 unit `units` (zero-based) of a line begins. */
static size_t report_byte_of(lt_str line, size_t units) {
  size_t at = 0;
  while (at < line.n && units > 0) {
    size_t wide = (unsigned char)line.p[at] >= 0xf0 ? 2 : 1;
    units -= wide < units ? wide : units;
    at = lt_utf8_ceil(line, at + 1);
  }
  return at;
}

/* `line` and `units` are zero-based, in the text that the compiler has. */
static lt_run_place report_place_of(const lt_typecheck_program *program, size_t prefix, int64_t line, int64_t units) {
  size_t own = line == 0 ? prefix : 0, at = units > 0 ? (size_t)units : 0;
  lt_run_place place = {.line = (uint32_t)line + 1 + program->line_offset};
  lt_str text = lt_jsscan_line(program->request->code, place.line);
  place.at = report_byte_of(text, at > own ? at - own : 0);
  place.column = (uint32_t)lt_utf8_count(lt_str_sub(text, 0, place.at)) + 1;
  return place;
}

/* --- The text ----------------------------------------------------------------------------------------------------- */

static void report_add_cut(lt_buf *out, lt_str text) {
  lt_str head = lt_utf8_cut(text, LT_KIB);
  lt_buf_add(out, head);
  if (head.n < text.n) {
    lt_buf_printf(out, "... (%zu bytes)", text.n);
  }
}

/* The name in `Cannot find name 'x'.`, unless the compiler itself makes a suggestion. Only tools that the program names
 * correctly are declared. */
static lt_str report_missing_name(lt_str message) {
  lt_str before = LT_STR("Cannot find name '");
  size_t end = lt_str_find(message, LT_STR("'"), before.n);
  bool is_advised = lt_str_find(message, LT_STR("Did you mean"), 0) != SIZE_MAX;
  return lt_str_starts(message, before) && !is_advised ? lt_str_sub(message, before.n, end) : LT_STR_NULL;
}

static void report_set_place(const lt_typecheck_program *program, const lt_run_place *place, lt_run_result *result) {
  result->line = place->line;
  result->column = place->column;
  lt_buf_clear(&result->context);
  lt_run_result_put_context(&result->context, lt_jsscan_line(program->request->code, place->line), place->at);
}

/* One Diagnostic of the answer. */
typedef struct report_fault {
  int64_t severity, code, line, units, end_line, end_units;
  lt_str message;
} report_fault;

static bool report_read_fault(lt_arena *arena, lt_json item, report_fault *ret) {
  lt_json start = lt_json_get(lt_json_get(item, "range"), "start"),
          end = lt_json_get(lt_json_get(item, "range"), "end");
  *ret = (report_fault){.severity = SEVERITY_ERROR, .end_line = -1};
  if (!lt_json_int(lt_json_get(end, "line"), &ret->end_line) || ret->end_line >= INT32_MAX ||
      !lt_json_int(lt_json_get(end, "character"), &ret->end_units)) {
    ret->end_line = -1;
  }
  (void)lt_json_int(lt_json_get(item, "severity"), &ret->severity);
  return lt_json_int(lt_json_get(start, "line"), &ret->line) &&
         lt_json_int(lt_json_get(start, "character"), &ret->units) && ret->line >= 0 && ret->line < INT32_MAX &&
         lt_json_int(lt_json_get(item, "code"), &ret->code) &&
         lt_json_str(lt_json_get(item, "message"), arena, &ret->message);
}

static void report_put_fault(const lt_typecheck_program *program, size_t prefix, const report_fault *fault,
                             bool is_first, lt_run_result *result) {
  lt_run_place place = report_place_of(program, prefix, fault->line, fault->units);
  if (is_first) {
    report_set_place(program, &place, result);
  } else {
    lt_buf_printf(&result->error, "\nline %u, column %u: ", place.line, place.column);
  }
  lt_buf_printf(&result->error, "TS%lld: ", (long long)fault->code);
  report_add_cut(&result->error, fault->message);
  lt_str name = report_missing_name(fault->message);
  if (name.n > 0 && program->put_suggestions != NULL) {
    program->put_suggestions(program->arg, name, &result->error);
  }
}

/* The same for an editor. */
static void report_add_fault(const lt_typecheck_program *program, size_t prefix, const report_fault *fault) {
  LT_AUTO_BUF(message, LT_RUN_FAULT_BYTES + 2 * LT_KIB);
  lt_run_place place = report_place_of(program, prefix, fault->line, fault->units);
  lt_run_place end = {.line = 0};
  if (fault->end_line >= fault->line) {
    end = report_place_of(program, prefix, fault->end_line, fault->end_units);
  }
  lt_str name = report_missing_name(fault->message);
  report_add_cut(&message, fault->message);
  if (name.n > 0 && program->put_suggestions != NULL) {
    program->put_suggestions(program->arg, name, &message);
  }
  const lt_run_fault found = {.line = place.line,
                              .column = place.column,
                              .end_line = end.line,
                              .end_column = end.column,
                              .is_warning = program->only_names,
                              .message = lt_buf_view(&message)};
  lt_run_faults_add(program->request->faults, &found);
}

/* A name that is not declared: 2304, and 2552 with a suggestion. */
static bool report_counts(const lt_typecheck_program *program, const report_fault *fault) {
  if (program->only_names && fault->code >= 2000 && fault->code != 2304 && fault->code != 2552) {
    return false;
  }
  return fault->severity == SEVERITY_ERROR && !report_is_ignored(fault->code, fault->message);
}

static bool report_is_of_syntax(const report_fault *fault) {
  return fault->code >= 1000 && fault->code < 2000;
}

/* Then the other errors only follow from them. */
static bool report_has_syntax_errors(const lt_typecheck_program *program, lt_arena *arena, lt_json items) {
  report_fault fault;
  lt_json_iter it = lt_json_each(items);
  while (lt_json_next(&it)) {
    if (report_read_fault(arena, it.value, &fault) && report_counts(program, &fault) && report_is_of_syntax(&fault)) {
      return true;
    }
  }
  return false;
}

lt_status lt_typecheck_report(const lt_typecheck_program *program, size_t prefix, lt_str reply, lt_run_result *result) {
  LT_AUTO_ARENA(arena, LT_TYPECHECK_ARENA_BYTES);
  lt_json_doc doc;
  if (lt_json_parse(&arena, reply, &doc, NULL) != LT_OK) {
    return LT_E_INVALID;
  }
  lt_json items = lt_json_get(lt_json_get(lt_json_root(&doc), "result"), "items");
  if (lt_json_typeof(items) != LT_JSON_ARRAY) {
    return LT_E_INVALID;
  }
  bool is_syntax = report_has_syntax_errors(program, &arena, items);
  unsigned count = 0;
  lt_json_iter it = lt_json_each(items);
  while (lt_json_next(&it)) {
    report_fault fault;
    if (!report_read_fault(&arena, it.value, &fault)) {
      return LT_E_INVALID;
    }
    if (!report_counts(program, &fault) || report_may_be_known(program, fault.code) ||
        (is_syntax && (program->only_names || !report_is_of_syntax(&fault)))) {
      continue;
    }
    if (program->request->faults != NULL) {
      report_add_fault(program, prefix, &fault);
    }
    if (count == 0) {
      lt_buf_clear(&result->error);
    }
    if (count++ < LT_TYPECHECK_SHOWN) {
      report_put_fault(program, prefix, &fault, count == 1, result);
    }
  }
  if (count > LT_TYPECHECK_SHOWN) {
    lt_buf_printf(&result->error, "\nand %u more", count - LT_TYPECHECK_SHOWN);
  }
  result->status = count > 0 ? LT_E_PROGRAM : result->status;
  result->has_type_errors = count > 0;
  return count > 0 ? LT_E_PROGRAM : LT_OK;
}
