#include "runner/quickjs/program_end.h"

#include "base/nearest.h"
#include "base/utf8.h"
#include "js/js_call_start.h"
#include "js/jsscan.h"
#include "js/odd_text.h"
#include "runner/missing_name.h"
#include "runner/quickjs/run.h"
#include "runner/quickjs/source_place.h"
#include "runner/quickjs/tool_names.h"
#include "tool/identifier.h"

#define STACK_LINES_MAX 20

/* --- Where -------------------------------------------------------------------------------------------------------- */
static bool end_read_number(lt_str text, size_t *at, uint32_t *ret) {
  uint32_t n = 0;
  size_t start = *at;
  while (*at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9' && n < 100000000) {
    n = n * 10 + (uint32_t)(text.p[(*at)++] - '0');
  }
  *ret = n;
  return *at > start;
}

/* The index of the file's name in `at f (program.js:3:11)` or `at program.js:3:11`. Another file's name may have the
 * same end. */
static size_t end_find_file(lt_str frame, lt_str file) {
  size_t at = lt_str_find(frame, file, 1);
  while (at != SIZE_MAX && ((frame.p[at - 1] != '(' && frame.p[at - 1] != ' ') || at + file.n >= frame.n ||
                            frame.p[at + file.n] != ':')) {
    at = lt_str_find(frame, file, at + 1);
  }
  return at;
}

static lt_str end_function_of(lt_str frame) {
  lt_str call = lt_str_trim(frame);
  size_t end = lt_str_find(call, LT_STR(" ("), 0);
  lt_str name = lt_str_starts(call, LT_STR("at ")) && end != SIZE_MAX ? lt_str_sub(call, 3, end) : LT_STR("<program>");
  return lt_str_eq(name, LT_STR("<eval>")) ? LT_STR("<program>") : name;
}

/* Moves a place in the text that runs to a byte before it. */
static void end_move_to(lt_str code, size_t to, lt_run_place *place) {
  size_t start = 0;
  place->line = 1;
  for (size_t i = 0; i < to; i++) {
    if (code.p[i] == '\n') {
      place->line++;
      start = i + 1;
    }
  }
  place->column = (uint32_t)(to - start) + 1;
}

/* The name in `cannot read property 'name' of null`; or empty. */
static lt_str end_unread_property(lt_str message) {
  lt_str prefix = LT_STR("cannot read property '");
  size_t end = lt_str_find(message, LT_STR("' of "), 0);
  return lt_str_starts(message, prefix) && end != SIZE_MAX ? lt_str_sub(message, prefix.n, end) : LT_STR_NULL;
}

/* A place inside the arguments of a call that failed becomes the place where the call begins. `callee` is the function
 * that this frame has called; empty: the error was thrown here. */
static void end_move_to_call(const lt_run *run, lt_str callee, lt_run_place *place) {
  lt_str code = run->text.program.code;
  lt_str line = lt_jsscan_line(code, place->line);
  size_t at = (size_t)(line.p - code.p) + (place->column > 0 ? place->column - 1 : 0);
  if (place->column == 0 || line.n == 0 || at >= code.n || code.n > LT_RUN_FRAMES_CODE_BYTES) {
    return;
  }
  lt_str property = callee.n == 0 ? end_unread_property(lt_buf_view(&run->engine.text)) : LT_STR_NULL;
  size_t start = callee.n > 0                                     ? lt_js_call_start_of_callee(code, at, callee)
                 : lt_str_eq(property, LT_STR("Symbol.iterator")) ? lt_js_call_start_of_iterated(code, at)
                 : property.n > 0                                 ? lt_js_call_start_before_property(code, at, property)
                                                                  : at;
  if (start < at) {
    end_move_to(code, start, place);
  }
}

/* Finds the place in the written program, when this line of the stack is of the program. */
static bool end_position_of(const lt_run *run, lt_str frame, lt_str callee, lt_run_place *ret) {
  size_t at = end_find_file(frame, run->text.program.file);
  if (at == SIZE_MAX) {
    return false;
  }
  at += run->text.program.file.n + 1;
  *ret = (lt_run_place){0};
  if (!end_read_number(frame, &at, &ret->line)) {
    return false;
  }
  if (at < frame.n && frame.p[at] == ':') {
    at++;
    end_read_number(frame, &at, &ret->column);
  }
  end_move_to_call(run, callee, ret);
  lt_source_place_map(run, ret);
  return true;
}

static lt_str end_next_line(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\n"), 0);
  lt_str line = lt_str_sub(*rest, 0, end == SIZE_MAX ? rest->n : end);
  *rest = lt_str_sub(*rest, line.n + 1, rest->n);
  return line;
}

/* The frame of `class E extends Error {}` is the declaration of E; the next frame is where the error was created. */
static bool end_is_class_declared_at(const lt_run *run, lt_str name, const lt_run_place *place) {
  lt_str keyword = LT_STR("class ");
  lt_str line = lt_jsscan_line(run->request->code, place->line);
  lt_str text = lt_str_sub(line, place->at, line.n);
  return lt_str_starts(text, keyword) && lt_str_starts(lt_str_trim(lt_str_sub(text, keyword.n, text.n)), name);
}

static void end_add_frame(lt_run_result *result, lt_str name, const lt_run_place *place) {
  lt_buf_printf(&result->stack, "%sat %.*s (%u:%u)", result->stack.n > 0 ? "\n" : "", LT_STR_ARG(name), place->line,
                place->column);
}

/* Collects the program's frames; the first one is the place of the error. */
static void end_locate(lt_run *run) {
  unsigned most = run->request->code.n > LT_RUN_FRAMES_CODE_BYTES ? 1 : STACK_LINES_MAX;
  lt_str rest = lt_buf_view(&run->engine.stack);
  bool only_declared = true;
  lt_str callee = LT_STR_NULL;
  for (unsigned frames = 0; rest.n > 0 && frames < most;) {
    lt_str frame = end_next_line(&rest);
    lt_str name = end_function_of(frame);
    lt_run_place place;
    bool is_own = end_position_of(run, frame, callee, &place);
    callee = name;
    if (!is_own) {
      continue;
    }
    bool declared = only_declared && end_is_class_declared_at(run, name, &place);
    if (frames++ == 0 || (only_declared && !declared)) {
      lt_source_place_set(run, &place);
    }
    only_declared = declared;
    end_add_frame(run->result, name, &place);
  }
}

/* Link errors, which have no stack. */
static const struct {
  const char *prefix;  /* start of the message; the missing name follows */
  const char *keyword; /* keyword of the statement with the name */
} link_errors[] = {
    {"Module not found: ", "import"},
    {"Could not find export '", "import"},
    {"exported variable '", "export"},
};

static bool end_is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Finds the first place after `keyword` that has `name` as a whole word. */
static size_t end_find_name(lt_str source, lt_str keyword, lt_str name) {
  size_t at = lt_str_find(source, keyword, 0);
  while (at != SIZE_MAX && name.n > 0) {
    at = lt_str_find(source, name, at + 1);
    if (at != SIZE_MAX && !end_is_name_character(source.p[at - 1]) &&
        (at + name.n >= source.n || !end_is_name_character(source.p[at + name.n]))) {
      return at;
    }
  }
  return SIZE_MAX;
}

/* The engine does not name the import or export that failed; this finds the statement with the name. */
static void end_locate_link_error(lt_run *run) {
  lt_str text = lt_buf_view(&run->engine.text);
  for (size_t i = 0; i < sizeof link_errors / sizeof link_errors[0] && run->result->line == 0; i++) {
    lt_str prefix = lt_str_of(link_errors[i].prefix);
    if (!lt_str_starts(text, prefix)) {
      continue;
    }
    lt_str name = lt_str_sub(text, prefix.n, text.n);
    size_t end = lt_str_ends(prefix, LT_STR("'")) ? lt_str_find(name, LT_STR("'"), 0) : SIZE_MAX;
    size_t at = end_find_name(run->text.source, lt_str_of(link_errors[i].keyword), lt_str_sub(name, 0, end));
    if (at != SIZE_MAX) {
      lt_source_place_set_byte(run, at);
    }
  }
}

/* --- What --------------------------------------------------------------------------------------------------------- */
/* The name in `x is not defined`; or empty. */
static lt_str end_undefined_name(const lt_engine_result *engine) {
  lt_str suffix = LT_STR(" is not defined");
  lt_str text = lt_buf_view(&engine->text);
  if (!lt_str_eq(lt_buf_view(&engine->name), LT_STR("ReferenceError")) || !lt_str_ends(text, suffix)) {
    return LT_STR_NULL;
  }
  lt_str name = lt_str_sub(text, 0, text.n - suffix.n);
  return name.n > 2 && name.p[0] == '\'' ? lt_str_sub(name, 1, name.n - 1) : name;
}

/* A name such as badRead, when the tools of the server or plugin "bad" are unknown. */
static bool end_advise_silent(lt_run *run, lt_str name) {
  const lt_str *silent;
  size_t count = lt_catalog_silent(run->catalog, &silent);
  LT_AUTO_BUF(prefix, 4 * LT_KIB);
  bool found = false;
  for (size_t i = 0; i < count && !found; i++) {
    lt_buf_clear(&prefix);
    lt_identifier_js(&prefix, silent[i]);
    found = prefix.n > 0 && name.n > prefix.n && lt_str_starts(name, lt_buf_view(&prefix));
    if (found) {
      lt_buf_printf(&run->result->error, ": \"%.*s\" has told no tools, it may be down: tools[\"%.*s.x\"]({}) says why",
                    LT_STR_ARG(silent[i]), LT_STR_ARG(silent[i]));
    }
  }
  return found;
}

/* lt_run_request.without_output. */
static bool end_advise_output(lt_run *run, lt_str name) {
  bool it = lt_str_eqc(name, "output") || lt_str_eqc(name, "done") || lt_str_eqc(name, "complete");
  if (it && run->request->without_output) {
    lt_buf_addc(&run->result->error, " here: the value of the last expression is the answer");
    return true;
  }
  return false;
}

/* A name such as storeArtefact, when a function storeArtifact exists. */
static bool end_advise_function(lt_run *run, lt_str name) {
  lt_nearest nearest = lt_nearest_to(name, name.n < 5 ? 1 : 2);
  for (size_t i = 0; i < run->request->function_count; i++) {
    lt_nearest_offer(&nearest, run->request->functions[i].name);
  }
  if (nearest.name.p != NULL) {
    lt_buf_printf(&run->result->error, ". Did you mean: %.*s?", LT_STR_ARG(nearest.name));
  }
  return nearest.name.p != NULL;
}

static void end_put_tool(void *arg, const lt_tool *tool, lt_buf *out) {
  if (lt_tool_names_unless_hidden(arg, tool) != NULL) {
    lt_buf_add(out, lt_tool_names_of(arg, tool));
  }
}

static lt_missing_name_options end_missing_options(lt_run *run) {
  return (lt_missing_name_options){
      .catalog = run->catalog, .lang = run->request->lang, .put = end_put_tool, .arg = run};
}

static void end_advise(lt_run *run) {
  lt_str name = end_undefined_name(&run->engine);
  lt_buf *error = &run->result->error;
  const lt_missing_name_options options = end_missing_options(run);
  if (name.n == 0 || end_advise_output(run, name) || end_advise_function(run, name)) {
    return;
  }
  if (!end_advise_silent(run, name) && !lt_missing_name_advise(&options, name, error)) {
    lt_tool_names_suggest(run, name, error);
  }
}

/* A module that is not registered. A path is left alone: it names nothing that could be meant. */
static void end_advise_module(lt_run *run) {
  lt_str text = lt_buf_view(&run->engine.text), prefix = LT_STR("Module not found: ");
  lt_str module = lt_str_sub(text, prefix.n, text.n);
  if (!lt_str_starts(text, prefix) || module.n == 0 || strchr("./", module.p[0]) != NULL) {
    return;
  }
  lt_nearest nearest = lt_nearest_to(module, module.n < 5 ? 1 : 2);
  for (size_t i = 0; i < run->request->module_count; i++) {
    lt_nearest_offer(&nearest, run->request->modules[i].name);
  }
  if (nearest.name.p != NULL) {
    lt_buf_printf(&run->result->error, ". Did you mean: %.*s?", LT_STR_ARG(nearest.name));
    return;
  }
  const lt_missing_name_options options = end_missing_options(run);
  lt_missing_name_advise_module(&options, module, &run->result->error);
}

/* Syntax that models write and JavaScript does not have: the text where the parser stopped, and advice. */
static void end_advise_syntax(lt_run *run) {
  lt_run_result *result = run->result;
  if (!run->engine.is_unparsed || result->line == 0) {
    return;
  }
  lt_str line = lt_jsscan_line(run->request->code, result->line);
  lt_str rest = lt_str_sub(line, lt_source_place_byte_of(line, result->column - 1), line.n);
  const char *odd = lt_odd_text_advise(rest);
  if (odd != NULL) {
    lt_buf_printf(&result->error, ": this is %s", odd);
  } else if (lt_str_starts(rest, LT_STR("@"))) {
    lt_buf_addc(&result->error, ": there are no decorators here: call the function yourself");
  } else if (rest.n > 1 && rest.p[0] == '<' && (end_is_name_character(rest.p[1]) || rest.p[1] == '>')) {
    lt_buf_addc(&result->error, LT_MISSING_NAME_JSX);
  }
}

/* Adds the shown part of a message, cut between characters. */
static void end_add_cut(lt_buf *out, lt_str text, size_t max) {
  lt_str head = lt_utf8_cut(text, max);
  lt_buf_add(out, head);
  if (head.n < text.n) {
    lt_buf_printf(out, "... (%zu bytes)", text.n);
  }
}

static void end_judge_error(lt_run *run) {
  lt_run_result *result = run->result;
  result->status = LT_E_PROGRAM;
  lt_buf_clear(&result->error);
  lt_str name = lt_buf_view(&run->engine.name);
  if (name.n > 0 && !lt_str_eq(name, LT_STR("Error"))) {
    end_add_cut(&result->error, name, LT_RUN_CONTEXT_BYTES);
    lt_buf_addc(&result->error, ": ");
  }
  end_add_cut(&result->error, lt_buf_view(&run->engine.text), LT_RUN_ERROR_BYTES);
  if (run->engine.text.n == 0) {
    lt_buf_addc(&result->error, run->engine.text.status == LT_OK
                                    ? "the program threw an error without a message"
                                    : "the program threw an error whose message is too long to be read");
  }
  end_advise(run);
  end_advise_module(run);
  end_locate(run);
  end_locate_link_error(run);
  end_advise_syntax(run);
}

static void end_judge_stopped(lt_run *run) {
  if (atomic_load(&run->task.stop) == LT_STOP_TIMEOUT) {
    lt_run_result_fail(run->result, LT_E_TIMEOUT, "Execution timed out after %lums",
                       (unsigned long)lt_run_request_timeout_ms(run->request));
  } else {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
  }
}

static void end_judge_memory(lt_run *run) {
  end_locate(run);
  lt_run_result_fail(run->result, LT_E_NOMEM,
                     "out of memory: the program needed more than its %lu MiB; work on smaller pieces, or allow more "
                     "(--memory, sandbox.memoryMb)",
                     (unsigned long)(lt_run_request_memory_bytes(run->request) / LT_MIB));
}

static void end_judge_value(lt_run *run, lt_value_kind kind) {
  run->result->status = LT_OK;
  run->result->kind = kind;
  lt_buf_release(&run->result->value);
  run->result->value = run->engine.text;
  lt_buf_init(&run->engine.text, LT_RUN_RESULT_MAX_BYTES);
  lt_buf_clear(&run->result->unread);
  lt_buf_add(&run->result->unread, lt_buf_view(&run->engine.unread));
}

void lt_program_end_judge(lt_run *run) {
  bool stopped = atomic_load(&run->task.stop) != LT_STOP_NOT;
  switch (stopped ? LT_END_STOPPED : run->engine.ending) {
    case LT_END_VALUE:
      end_judge_value(run, LT_VALUE_JSON);
      break;
    case LT_END_STRING:
      end_judge_value(run, LT_VALUE_STRING);
      break;
    case LT_END_UNDEFINED:
      end_judge_value(run, LT_VALUE_UNDEFINED);
      break;
    case LT_END_ERROR:
      end_judge_error(run);
      break;
    case LT_END_MEMORY:
      end_judge_memory(run);
      break;
    case LT_END_STOPPED:
      end_judge_stopped(run);
      break;
    case LT_END_TRAP:
      lt_run_result_fail(run->result, LT_E_TRAP, "the sandbox stopped the program: %.*s",
                         LT_STR_ARG(lt_buf_view(&run->engine.text)));
      break;
  }
}

/* Finds `(3:12)` in `Unexpected token (3:12)`: the last such pair in a message of the type stripper. */
static void end_locate_in_message(lt_run *run, lt_str *message) {
  for (size_t at = message->n; at-- > 0;) {
    uint32_t line, column;
    size_t p = at + 1;
    if (message->p[at] != '(' || !end_read_number(*message, &p, &line) || p >= message->n || message->p[p++] != ':' ||
        !end_read_number(*message, &p, &column) || p >= message->n || message->p[p] != ')') {
      continue;
    }
    lt_source_place_set_column(run, line, column);
    *message = lt_str_trim(lt_str_sub(*message, 0, at));
    return;
  }
}

void lt_program_end_judge_syntax(lt_run *run) {
  if (atomic_load(&run->task.stop) != LT_STOP_NOT || run->engine.ending != LT_END_ERROR) {
    lt_program_end_judge(run);
    return;
  }
  lt_str message = lt_buf_view(&run->engine.text);
  end_locate_in_message(run, &message);
  run->result->status = LT_E_PROGRAM;
  lt_buf_clear(&run->result->error);
  if (!lt_str_starts(message, LT_STR("SyntaxError"))) {
    lt_buf_addc(&run->result->error, "SyntaxError: ");
  }
  end_add_cut(&run->result->error, message, LT_RUN_ERROR_BYTES);
  run->engine.is_unparsed = true;
  end_advise_syntax(run);
}
