#include "agent/history/history_writer.h"

#include "agent/media_parts.h"
#include "base/limits.h"

void lt_history_writer_init(lt_history_writer *t, const lt_history *history, lt_json_writer *w, lt_arena *arena) {
  *t = (lt_history_writer){.history = history, .w = w, .arena = arena};
  lt_buf_init(&t->open.text, LT_JSON_MAX_BYTES);
  lt_buf_init(&t->last.text, LT_JSON_MAX_BYTES);
  lt_buf_init(&t->last.parts, LT_JSON_MAX_BYTES);
}

void lt_history_writer_release(lt_history_writer *t) {
  lt_buf_release(&t->open.text);
  lt_buf_release(&t->last.text);
  lt_buf_release(&t->last.parts);
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */
static bool is_within_character(lt_str text, size_t at) {
  return at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80;
}

/* The text, or its beginning and its end with a note between them. */
static void history_writer_put_cut(lt_buf *out, lt_str text, size_t max_bytes) {
  if (text.n <= max_bytes) {
    lt_buf_add(out, text);
    return;
  }
  size_t head = max_bytes / 3 * 2, tail = text.n - max_bytes / 3;
  while (head > 0 && is_within_character(text, head)) {
    head--;
  }
  while (is_within_character(text, tail)) {
    tail++;
  }
  lt_buf_add(out, lt_str_sub(text, 0, head));
  lt_buf_printf(out, " ... [%zu bytes left out] ... ", tail - head);
  lt_buf_add(out, lt_str_sub(text, tail, text.n));
}

/* A failed text fails the whole history. */
static void history_writer_pass_status(lt_history_writer *t, const lt_buf *text) {
  if (text->status != LT_OK && t->w->buf->status == LT_OK) {
    t->w->buf->status = text->status;
  }
}

static size_t history_part_max_bytes(const lt_history_part *part) {
  return part->level == LT_HISTORY_PART_WHOLE ? LT_HISTORY_PART_BYTES : LT_HISTORY_SHORT_BYTES;
}

/* A string's characters, anything else as JSON. */
static lt_str history_writer_text_of(lt_history_writer *t, lt_json v) {
  lt_str text = lt_json_text(v);
  if (lt_json_typeof(v) == LT_JSON_STRING && !lt_json_str(v, t->arena, &text)) {
    t->w->buf->status = LT_E_NOMEM;
  }
  return text;
}

/* Whether `text` has so many backticks in a row. */
static bool has_backticks(lt_str text, size_t ticks) {
  size_t run = 0;
  for (size_t i = 0; i < text.n; i++) {
    run = text.p[i] == '`' ? run + 1 : 0;
    if (run == ticks) {
      return true;
    }
  }
  return false;
}

static void put_fenced_code(lt_buf *out, const char *lang, lt_str code) {
  size_t ticks = 3;
  while (has_backticks(code, ticks)) {
    ticks++;
  }
  for (size_t i = 0; i < ticks; i++) {
    lt_buf_byte(out, '`');
  }
  lt_buf_printf(out, "%s\n", lang);
  lt_buf_add(out, code);
  lt_buf_addc(out, lt_str_ends(code, LT_STR("\n")) ? "" : "\n");
  for (size_t i = 0; i < ticks; i++) {
    lt_buf_byte(out, '`');
  }
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */
static void history_writer_write_last(lt_history_writer *t) {
  lt_history_message *last = &t->last;
  if (last->parts.n > 0) {
    lt_media_parts_put_message(t->w, "user", lt_buf_view(&last->parts), lt_buf_view(&last->text));
    lt_buf_clear(&last->parts);
    lt_buf_clear(&last->text);
  } else if (last->text.n > 0) {
    lt_json_begin_object(t->w);
    lt_json_key(t->w, "role");
    lt_json_put_cstr(t->w, last->of_user ? "user" : "assistant");
    lt_json_key(t->w, "content");
    lt_json_put_str(t->w, lt_buf_view(&last->text));
    lt_json_end_object(t->w);
    lt_buf_clear(&last->text);
  }
}

static void history_writer_put_message(lt_history_writer *t, bool of_user, lt_str content) {
  lt_history_message *last = &t->last;
  if (last->of_user != of_user) {
    history_writer_write_last(t);
  }
  last->of_user = of_user;
  lt_buf_addc(&last->text, last->text.n > 0 ? "\n\n" : "");
  lt_buf_add(&last->text, content);
  history_writer_pass_status(t, &last->text);
}

static void history_writer_close_text(lt_history_writer *t) {
  lt_buf *text = &t->open.text;
  history_writer_pass_status(t, text);
  if (text->n > 0) {
    history_writer_put_message(t, t->open.of_user, lt_buf_view(text));
    lt_buf_clear(text);
  }
}

/* The open text as one of this role's, with room for more. */
static lt_buf *history_writer_open_text(lt_history_writer *t, bool of_user) {
  if (t->open.of_user != of_user) {
    history_writer_close_text(t);
  }
  t->open.of_user = of_user;
  lt_buf_addc(&t->open.text, t->open.text.n > 0 ? "\n" : "");
  return &t->open.text;
}

static void history_writer_put_omitted(lt_history_writer *t, bool of_user) {
  if (t->omitted > 0) {
    lt_buf_printf(history_writer_open_text(t, of_user), "[%u %s left out]", t->omitted,
                  t->omitted == 1 ? "step" : "steps");
    t->omitted = 0;
  }
}

/* --- Results ----------------------------------------------------------------------------------------------------- */
static bool history_part_is_type(const lt_history_part *part, const char *type) {
  return lt_json_str_eq(lt_json_get(part->result, "type"), lt_str_of(type));
}

static void history_writer_put_pending(lt_history_writer *t, lt_buf *out, const lt_history_part *part) {
  if (part->unanswered.n > 0) {
    lt_buf_add(out, part->unanswered);
    return;
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "pending");
  lt_json_put_bool(&w, true);
  lt_json_key(&w, "reason");
  lt_json_put_str(&w, history_writer_text_of(t, lt_json_get(part->result, "reason")));
  lt_json_end_object(&w);
}

/* A null or empty answer is treated as no answer. */
static lt_str history_writer_answer_of(lt_history_writer *t, const lt_history_part *part) {
  lt_json output = lt_json_get(part->result, "output");
  lt_str words = lt_json_typeof(output) == LT_JSON_NULL ? LT_STR_NULL : history_writer_text_of(t, output);
  return words.n > 0 ? words : LT_STR(LT_TOOL_ANSWER_NOTHING);
}

static lt_str history_writer_error_of(lt_history_writer *t, const lt_history_part *part) {
  lt_str words = history_writer_text_of(t, lt_json_get(part->result, "error"));
  return words.n > 0 ? words : LT_STR("it failed");
}

/* Lists the calls of a failed program, so that the model does not repeat them. */
static void history_writer_put_made_calls(lt_buf *out, const lt_history_part *part) {
  if (part->made.n > 0) {
    lt_buf_addc(out, "\n\nTools it had called: ");
    lt_buf_add(out, part->made);
  }
}

/* The result of a call, as the model read it then. */
static void history_writer_put_result(lt_history_writer *t, lt_buf *out, const lt_history_part *part) {
  size_t max = history_part_max_bytes(part);
  if (history_part_is_type(part, "success")) {
    history_writer_put_cut(out, history_writer_answer_of(t, part), max);
  } else if (history_part_is_type(part, "pending")) {
    history_writer_put_pending(t, out, part);
  } else if (part->kind == LT_HISTORY_PART_CALL) {
    LT_AUTO_BUF(failure, LT_JSON_MAX_BYTES);
    lt_tool_answer_put_failure(&failure, part->function, history_writer_error_of(t, part));
    history_writer_put_cut(out, lt_buf_view(&failure), max);
    history_writer_pass_status(t, &failure);
    history_writer_put_made_calls(out, part);
  } else {
    history_writer_put_cut(out, history_writer_error_of(t, part), max);
  }
}

/* Lines of an array of strings, or one string. */
static void history_writer_put_logs(lt_history_writer *t, lt_buf *out, const lt_history_part *part) {
  lt_json logs = lt_json_get(part->result, "logs");
  LT_AUTO_BUF(lines, LT_JSON_MAX_BYTES);
  lt_json_iter it = lt_json_each(logs);
  while (lt_json_typeof(logs) == LT_JSON_ARRAY && lt_json_next(&it)) {
    lt_buf_addc(&lines, lines.n > 0 ? "\n" : "");
    lt_buf_add(&lines, history_writer_text_of(t, it.value));
  }
  if (lt_json_typeof(logs) == LT_JSON_STRING) {
    lt_buf_add(&lines, history_writer_text_of(t, logs));
  }
  if (lines.n > 0) {
    lt_buf_addc(out, "Logs:\n");
    history_writer_put_cut(out, lt_buf_view(&lines), history_part_max_bytes(part));
    lt_buf_addc(out, "\n\n");
  }
  history_writer_pass_status(t, &lines);
}

/* Of a program of code mode: seed 014's feedback. */
static void history_writer_put_feedback(lt_history_writer *t, lt_buf *out, const lt_history_part *part) {
  history_writer_put_logs(t, out, part);
  if (history_part_is_type(part, "success")) {
    lt_json output = lt_json_get(part->result, "output");
    lt_buf_addc(out, "Execution result: ");
    history_writer_put_cut(out, lt_json_exists(output) ? lt_json_text(output) : LT_STR("undefined"),
                           history_part_max_bytes(part));
    return;
  }
  lt_buf_addc(out, "Execution error: ");
  if (history_part_is_type(part, "pending")) {
    lt_buf_add(out, part->unanswered.n > 0 ? part->unanswered : LT_STR("it has not ended"));
  } else {
    history_writer_put_cut(out, history_writer_error_of(t, part), history_part_max_bytes(part));
  }
  history_writer_put_made_calls(out, part);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void history_writer_put_member(lt_history_writer *t, lt_json_writer *w, lt_json value, size_t max_bytes) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(cut, LT_JSON_MAX_BYTES);
  if (lt_json_text(value).n <= max_bytes) {
    lt_json_compact(value, &text);
  } else {
    lt_json_writer inner = lt_json_writer_on(&text);
    history_writer_put_cut(&cut, history_writer_text_of(t, value), max_bytes);
    lt_json_put_str(&inner, lt_buf_view(&cut));
  }
  lt_json_put_raw(w, lt_buf_view(&text));
  history_writer_pass_status(t, &cut);
  history_writer_pass_status(t, &text);
}

/* In a shortened call every long member becomes a shortened string. */
static void history_writer_put_input(lt_history_writer *t, lt_buf *out, const lt_history_part *part) {
  size_t each = part->level == LT_HISTORY_PART_WHOLE ? LT_HISTORY_PART_BYTES : LT_HISTORY_SHORT_BYTES / 4;
  bool is_object = lt_json_typeof(part->input) == LT_JSON_OBJECT;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_iter it = lt_json_each(part->input);
  while (is_object && lt_json_next(&it)) {
    lt_json_key_str(&w, history_writer_text_of(t, it.key));
    history_writer_put_member(t, &w, it.value, each);
  }
  lt_json_end_object(&w);
}

/* `name` is the tool's name on the wire. */
static void history_writer_put_tool_call(lt_history_writer *t, const lt_history_part *part, lt_str name,
                                         lt_str arguments) {
  lt_json_writer *w = t->w;
  lt_json_begin_array(w);
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, part->id);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "function");
  lt_json_key(w, "function");
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  lt_json_put_str(w, name);
  lt_json_key(w, "arguments");
  lt_json_put_str(w, arguments);
  lt_json_end_object(w);
  lt_json_end_object(w);
  lt_json_end_array(w);
}

static lt_str history_writer_name_on_wire(const lt_history_writer *t, const lt_history_part *part,
                                          char plain[LT_TOOL_NAME_CHARS + 1]) {
  lt_str name = lt_tool_definitions_name(t->history->definitions, part->function);
  if (name.n == 0) { /* the tool does not exist any more */
    lt_tool_definitions_plain_name(part->function, plain);
    name = lt_str_of(plain);
  }
  return name;
}

/* Writes the model's message with the call; its content is the text before the call. */
static void history_writer_put_call_request(lt_history_writer *t, const lt_history_part *part, lt_str arguments) {
  char plain[LT_TOOL_NAME_CHARS + 1];
  if (t->open.of_user) {
    history_writer_close_text(t);
  }
  history_writer_write_last(t);
  lt_json_begin_object(t->w);
  lt_json_key(t->w, "role");
  lt_json_put_cstr(t->w, "assistant");
  lt_json_key(t->w, "content");
  if (t->open.text.n > 0) {
    lt_json_put_str(t->w, lt_buf_view(&t->open.text));
    lt_buf_clear(&t->open.text);
  } else {
    lt_json_put_null(t->w);
  }
  lt_json_key(t->w, "tool_calls");
  history_writer_put_tool_call(t, part, history_writer_name_on_wire(t, part, plain), arguments);
  lt_json_end_object(t->w);
}

static void history_writer_put_call_answer(lt_history_writer *t, const lt_history_part *part, lt_str answer) {
  lt_json_begin_object(t->w);
  lt_json_key(t->w, "role");
  lt_json_put_cstr(t->w, "tool");
  lt_json_key(t->w, "tool_call_id");
  lt_json_put_str(t->w, part->id);
  lt_json_key(t->w, "content");
  lt_json_put_str(t->w, answer);
  lt_json_end_object(t->w);
}

/* Writes a call in the form of the API. */
static void history_writer_put_call(lt_history_writer *t, const lt_history_part *part) {
  LT_AUTO_BUF(arguments, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(result, LT_JSON_MAX_BYTES);
  history_writer_put_input(t, &arguments, part);
  history_writer_put_result(t, &result, part);
  history_writer_put_call_request(t, part, lt_buf_view(&arguments));
  history_writer_put_call_answer(t, part, lt_buf_view(&result));
  history_writer_pass_status(t, &arguments);
  history_writer_pass_status(t, &result);
}

/* Writes a call as text, for a mode whose model only writes programs and must not learn to call tools directly. */
static void history_writer_describe_call(lt_history_writer *t, const lt_history_part *part) {
  lt_buf *out = history_writer_open_text(t, t->history->form == LT_HISTORY_CODE);
  lt_buf_addc(out, "[Tool call: ");
  lt_buf_add(out, part->function);
  lt_buf_byte(out, ' ');
  history_writer_put_input(t, out, part);
  lt_buf_addc(out, " -> ");
  history_writer_put_result(t, out, part);
  lt_buf_byte(out, ']');
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
static lt_str history_writer_code_of(lt_history_writer *t, const lt_history_part *part) {
  return history_writer_text_of(t, lt_json_get(part->input, "code"));
}

/* In code mode the whole reply is the program, so text before a program is quoted on the user's side. */
static void history_writer_quote_open_text(lt_history_writer *t) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, "[Shown to the user]\n");
  lt_buf_add(&text, lt_buf_view(&t->open.text));
  lt_buf_clear(&t->open.text);
  lt_buf_add(history_writer_open_text(t, true), lt_buf_view(&text));
  history_writer_pass_status(t, &text);
}

/* Writes a program in the form of code mode. */
static void history_writer_put_program(lt_history_writer *t, const lt_history_part *part) {
  if (!t->open.of_user && t->open.text.n > 0) {
    history_writer_quote_open_text(t);
  }
  history_writer_close_text(t);
  history_writer_put_cut(history_writer_open_text(t, false), history_writer_code_of(t, part), LT_HISTORY_PART_BYTES);
  history_writer_close_text(t);
  history_writer_put_feedback(t, history_writer_open_text(t, true), part);
  history_writer_close_text(t);
}

static void history_writer_describe_program(lt_history_writer *t, const lt_history_part *part) {
  bool js = part->kind != LT_HISTORY_PART_TYPESCRIPT;
  LT_AUTO_BUF(code, LT_JSON_MAX_BYTES);
  history_writer_put_cut(&code, history_writer_code_of(t, part), LT_HISTORY_PART_BYTES);
  lt_buf *out = history_writer_open_text(t, t->history->form == LT_HISTORY_CODE);
  lt_buf_printf(out, "[Program run in %s]\n", js ? "JavaScript" : "TypeScript");
  put_fenced_code(out, js ? "js" : "ts", lt_buf_view(&code));
  lt_buf_byte(out, '\n');
  if (part->kind == LT_HISTORY_PART_JAVASCRIPT) {
    history_writer_put_feedback(t, out, part);
  } else {
    lt_buf_addc(out, history_part_is_type(part, "success") ? "Output: " : "Error: ");
    history_writer_put_result(t, out, part);
  }
  history_writer_pass_status(t, &code);
}

/* --- One part ----------------------------------------------------------------------------------------------------- */
static void history_writer_put_user(lt_history_writer *t, const lt_history_part *part) {
  history_writer_close_text(t);
  history_writer_put_message(t, true, part->text);
  if (lt_json_count(part->attachments) > 0) {
    lt_media_parts_put_attachments(&t->last.parts, part->attachments);
    history_writer_pass_status(t, &t->last.parts);
  }
}

void lt_history_writer_put(lt_history_writer *t, const lt_history_part *part) {
  static const lt_history_part_kind own[] = {
      [LT_HISTORY_CLASSIC] = LT_HISTORY_PART_CALL,
      [LT_HISTORY_TYPESCRIPT] = LT_HISTORY_PART_TYPESCRIPT,
      [LT_HISTORY_CODEX] = LT_HISTORY_PART_CELL,
      [LT_HISTORY_CODE] = LT_HISTORY_PART_JAVASCRIPT,
  };
  if (part->level == LT_HISTORY_PART_OMITTED) {
    t->omitted++;
    return;
  }
  bool is_own = part->kind == own[t->history->form];
  history_writer_put_omitted(t, is_own && part->kind == LT_HISTORY_PART_JAVASCRIPT);
  if (part->kind == LT_HISTORY_PART_USER) {
    history_writer_put_user(t, part);
  } else if (part->kind == LT_HISTORY_PART_TEXT) {
    history_writer_put_cut(history_writer_open_text(t, false), part->text,
                           part->level == LT_HISTORY_PART_WHOLE ? SIZE_MAX : LT_HISTORY_SHORT_BYTES);
  } else if (is_own) {
    (part->kind == LT_HISTORY_PART_JAVASCRIPT ? history_writer_put_program : history_writer_put_call)(t, part);
  } else {
    bool is_program = part->kind != LT_HISTORY_PART_CALL && lt_json_exists(lt_json_get(part->input, "code"));
    (is_program ? history_writer_describe_program : history_writer_describe_call)(t, part);
  }
}

lt_status lt_history_writer_end(lt_history_writer *t, lt_buf *ret_user, lt_buf *ret_parts) {
  history_writer_put_omitted(t, false);
  history_writer_close_text(t);
  if (ret_user != NULL && t->last.of_user) {
    lt_buf_add(ret_user, lt_buf_view(&t->last.text));
    lt_buf_add(ret_parts, lt_buf_view(&t->last.parts));
    history_writer_pass_status(t, ret_user);
    history_writer_pass_status(t, ret_parts);
  } else {
    history_writer_write_last(t);
  }
  return t->w->buf->status;
}
