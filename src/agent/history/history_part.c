#include "agent/history/history_part.h"

#include "base/limits.h"

void lt_telling_init(lt_telling *t, const lt_history *history, lt_json_writer *w, lt_arena *arena) {
  *t = (lt_telling){.history = history, .w = w, .arena = arena};
  lt_buf_init(&t->open, LT_JSON_MAX_BYTES);
}

void lt_telling_release(lt_telling *t) {
  lt_buf_release(&t->open);
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */
static bool is_within_character(lt_str text, size_t at) {
  return at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80;
}

/* The text, or its beginning and its end with a note between them. */
static void put_cut(lt_buf *out, lt_str text, size_t max_bytes) {
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

/* Releases a text that was made on the way; what it lacks the whole lacks. */
static void done_with(lt_telling *t, lt_buf *text) {
  if (text->status != LT_OK && t->w->buf->status == LT_OK) {
    t->w->buf->status = text->status;
  }
  lt_buf_release(text);
}

static size_t most_of(const lt_part *part) {
  return part->level == LT_PART_WHOLE ? LT_HISTORY_PART_BYTES : LT_HISTORY_SHORT_BYTES;
}

/* A string's characters, anything else as JSON. */
static lt_str words_of(lt_telling *t, lt_json v) {
  lt_str text = lt_json_text(v);
  if (lt_json_typeof(v) == LT_JSON_STRING && !lt_json_str(v, t->arena, &text)) {
    t->w->buf->status = LT_E_NOMEM;
  }
  return text;
}

/* Does `text` hold so many backticks in a row? */
static bool has_fence(lt_str text, size_t ticks) {
  size_t run = 0;
  for (size_t i = 0; i < text.n; i++) {
    run = text.p[i] == '`' ? run + 1 : 0;
    if (run == ticks) {
      return true;
    }
  }
  return false;
}

static void put_fenced(lt_buf *out, const char *lang, lt_str code) {
  size_t ticks = 3;
  while (has_fence(code, ticks)) {
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
/* More for the message that was put last, of which the content is the last member. */
static void add_to_message(lt_telling *t, lt_str content) {
  lt_buf text;
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&text);
  lt_json_put_str(&w, content);
  if (t->w->buf->status == LT_OK && text.status == LT_OK) {
    t->w->buf->n -= strlen("\"}");
    lt_buf_addc(t->w->buf, "\\n\\n");
    lt_buf_add(t->w->buf, lt_str_sub(lt_buf_view(&text), 1, text.n));
    lt_buf_byte(t->w->buf, '}');
  }
  done_with(t, &text);
}

/* There are models that refuse a conversation in which one side speaks twice in a row. */
static void put_message(lt_telling *t, bool of_user, lt_str content) {
  if (t->last == (of_user ? LT_TOLD_USER : LT_TOLD_ASSISTANT)) {
    add_to_message(t, content);
    return;
  }
  lt_json_begin_object(t->w);
  lt_json_key(t->w, "role");
  lt_json_put_cstr(t->w, of_user ? "user" : "assistant");
  lt_json_key(t->w, "content");
  lt_json_put_str(t->w, content);
  lt_json_end_object(t->w);
  t->last = of_user ? LT_TOLD_USER : LT_TOLD_ASSISTANT;
}

static void flush(lt_telling *t) {
  if (t->open.status != LT_OK && t->w->buf->status == LT_OK) {
    t->w->buf->status = t->open.status;
  }
  if (t->open.n > 0) {
    put_message(t, t->of_user, lt_buf_view(&t->open));
    lt_buf_clear(&t->open);
  }
}

/* The open text as one of this role's, with room for more. */
static lt_buf *open_text(lt_telling *t, bool of_user) {
  if (t->of_user != of_user) {
    flush(t);
  }
  t->of_user = of_user;
  lt_buf_addc(&t->open, t->open.n > 0 ? "\n" : "");
  return &t->open;
}

static void put_left_out(lt_telling *t, bool of_user) {
  if (t->left_out > 0) {
    lt_buf_printf(open_text(t, of_user), "[%u %s left out]", t->left_out, t->left_out == 1 ? "step" : "steps");
    t->left_out = 0;
  }
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */
static bool is_type(const lt_part *part, const char *type) {
  return lt_json_str_eq(lt_json_get(part->result, "type"), lt_str_of(type));
}

static void put_pending(lt_telling *t, lt_buf *out, const lt_part *part) {
  if (part->unanswered.n > 0) {
    lt_buf_add(out, part->unanswered);
    return;
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "pending");
  lt_json_put_bool(&w, true);
  lt_json_key(&w, "reason");
  lt_json_put_str(&w, words_of(t, lt_json_get(part->result, "reason")));
  lt_json_end_object(&w);
}

/* An answer that is null or empty says as much as none. */
static lt_str answer_of(lt_telling *t, const lt_part *part) {
  lt_json output = lt_json_get(part->result, "output");
  lt_str words = lt_json_typeof(output) == LT_JSON_NULL ? LT_STR_NULL : words_of(t, output);
  return words.n > 0 ? words : LT_STR(LT_WIRE_NOTHING);
}

static lt_str error_of(lt_telling *t, const lt_part *part) {
  lt_str words = words_of(t, lt_json_get(part->result, "error"));
  return words.n > 0 ? words : LT_STR("it failed");
}

/* What a program had done before it failed must not be done again. */
static void put_made(lt_buf *out, const lt_part *part) {
  if (part->made.n > 0) {
    lt_buf_addc(out, "\n\nTools it had called: ");
    lt_buf_add(out, part->made);
  }
}

/* Of a call, as the model was told then. */
static void put_result(lt_telling *t, lt_buf *out, const lt_part *part) {
  size_t max = most_of(part);
  if (is_type(part, "success")) {
    put_cut(out, answer_of(t, part), max);
  } else if (is_type(part, "pending")) {
    put_pending(t, out, part);
  } else if (part->kind == LT_PART_CALL) {
    lt_buf failure;
    lt_buf_init(&failure, LT_JSON_MAX_BYTES);
    lt_wire_put_failure(&failure, part->function, error_of(t, part));
    put_cut(out, lt_buf_view(&failure), max);
    done_with(t, &failure);
    put_made(out, part);
  } else {
    put_cut(out, error_of(t, part), max);
  }
}

/* Lines of an array of strings, or one string. */
static void put_logs(lt_telling *t, lt_buf *out, const lt_part *part) {
  lt_json logs = lt_json_get(part->result, "logs");
  lt_buf lines;
  lt_buf_init(&lines, LT_JSON_MAX_BYTES);
  lt_json_iter it = lt_json_each(logs);
  while (lt_json_typeof(logs) == LT_JSON_ARRAY && lt_json_next(&it)) {
    lt_buf_addc(&lines, lines.n > 0 ? "\n" : "");
    lt_buf_add(&lines, words_of(t, it.value));
  }
  if (lt_json_typeof(logs) == LT_JSON_STRING) {
    lt_buf_add(&lines, words_of(t, logs));
  }
  if (lines.n > 0) {
    lt_buf_addc(out, "Logs:\n");
    put_cut(out, lt_buf_view(&lines), most_of(part));
    lt_buf_addc(out, "\n\n");
  }
  done_with(t, &lines);
}

/* Of a program of code mode: seed 014's feedback. */
static void put_feedback(lt_telling *t, lt_buf *out, const lt_part *part) {
  put_logs(t, out, part);
  if (is_type(part, "success")) {
    lt_json output = lt_json_get(part->result, "output");
    lt_buf_addc(out, "Execution result: ");
    put_cut(out, lt_json_exists(output) ? lt_json_text(output) : LT_STR("undefined"), most_of(part));
    return;
  }
  lt_buf_addc(out, "Execution error: ");
  if (is_type(part, "pending")) {
    lt_buf_add(out, part->unanswered.n > 0 ? part->unanswered : LT_STR("it has not ended"));
  } else {
    put_cut(out, error_of(t, part), most_of(part));
  }
  put_made(out, part);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void put_member(lt_telling *t, lt_json_writer *w, lt_json value, size_t max_bytes) {
  lt_buf text, cut;
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_buf_init(&cut, LT_JSON_MAX_BYTES);
  if (lt_json_text(value).n <= max_bytes) {
    lt_json_compact(value, &text);
  } else {
    lt_json_writer inner = lt_json_writer_on(&text);
    put_cut(&cut, words_of(t, value), max_bytes);
    lt_json_put_str(&inner, lt_buf_view(&cut));
  }
  lt_json_put_raw(w, lt_buf_view(&text));
  done_with(t, &cut);
  done_with(t, &text);
}

/* Of a shortened call every member that is long becomes a string that is cut. */
static void put_input(lt_telling *t, lt_buf *out, const lt_part *part) {
  size_t each = part->level == LT_PART_WHOLE ? LT_HISTORY_PART_BYTES : LT_HISTORY_SHORT_BYTES / 4;
  bool is_object = lt_json_typeof(part->input) == LT_JSON_OBJECT;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_iter it = lt_json_each(part->input);
  while (is_object && lt_json_next(&it)) {
    lt_json_key_str(&w, words_of(t, it.key));
    put_member(t, &w, it.value, each);
  }
  lt_json_end_object(&w);
}

/* `name` is the tool's name on the wire. */
static void put_tool_call(lt_telling *t, const lt_part *part, lt_str name, lt_str arguments) {
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

static lt_str name_on_wire(const lt_telling *t, const lt_part *part, char plain[LT_WIRE_NAME_CHARS + 1]) {
  lt_str name = lt_wire_name(t->history->wire, part->function);
  if (name.n == 0) { /* a tool that is not there any more */
    lt_wire_plain_name(part->function, plain);
    name = lt_str_of(plain);
  }
  return name;
}

/* The model's message; what it said before is its content. */
static void put_asking(lt_telling *t, const lt_part *part, lt_str arguments) {
  char plain[LT_WIRE_NAME_CHARS + 1];
  if (t->of_user) {
    flush(t);
  }
  lt_json_begin_object(t->w);
  lt_json_key(t->w, "role");
  lt_json_put_cstr(t->w, "assistant");
  lt_json_key(t->w, "content");
  if (t->open.n > 0) {
    lt_json_put_str(t->w, lt_buf_view(&t->open));
    lt_buf_clear(&t->open);
  } else {
    lt_json_put_null(t->w);
  }
  lt_json_key(t->w, "tool_calls");
  put_tool_call(t, part, name_on_wire(t, part, plain), arguments);
  lt_json_end_object(t->w);
}

static void put_answering(lt_telling *t, const lt_part *part, lt_str answer) {
  lt_json_begin_object(t->w);
  lt_json_key(t->w, "role");
  lt_json_put_cstr(t->w, "tool");
  lt_json_key(t->w, "tool_call_id");
  lt_json_put_str(t->w, part->id);
  lt_json_key(t->w, "content");
  lt_json_put_str(t->w, answer);
  lt_json_end_object(t->w);
  t->last = LT_TOLD_CALL;
}

/* As the API has it. */
static void put_call(lt_telling *t, const lt_part *part) {
  lt_buf arguments, result;
  lt_buf_init(&arguments, LT_JSON_MAX_BYTES);
  lt_buf_init(&result, LT_JSON_MAX_BYTES);
  put_input(t, &arguments, part);
  put_result(t, &result, part);
  put_asking(t, part, lt_buf_view(&arguments));
  put_answering(t, part, lt_buf_view(&result));
  done_with(t, &arguments);
  done_with(t, &result);
}

/* In a mode that calls no tools itself: who reads it writes programs, and must not learn another way. */
static void tell_call(lt_telling *t, const lt_part *part) {
  lt_buf *out = open_text(t, t->history->form == LT_HISTORY_CODE);
  lt_buf_addc(out, "[Tool call: ");
  lt_buf_add(out, part->function);
  lt_buf_byte(out, ' ');
  put_input(t, out, part);
  lt_buf_addc(out, " -> ");
  put_result(t, out, part);
  lt_buf_byte(out, ']');
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
static lt_str code_of(lt_telling *t, const lt_part *part) {
  return words_of(t, lt_json_get(part->input, "code"));
}

/* What was said before a program is no part of the reply that the program is: the user's side tells of it. */
static void turn_open_text(lt_telling *t) {
  lt_buf text;
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, "[Shown to the user]\n");
  lt_buf_add(&text, lt_buf_view(&t->open));
  lt_buf_clear(&t->open);
  lt_buf_add(open_text(t, true), lt_buf_view(&text));
  done_with(t, &text);
}

/* As code mode has it. */
static void put_program(lt_telling *t, const lt_part *part) {
  if (!t->of_user && t->open.n > 0) {
    turn_open_text(t);
  }
  flush(t);
  put_cut(open_text(t, false), code_of(t, part), LT_HISTORY_PART_BYTES);
  flush(t);
  put_feedback(t, open_text(t, true), part);
  flush(t);
}

static void tell_program(lt_telling *t, const lt_part *part) {
  bool js = part->kind == LT_PART_JAVASCRIPT;
  lt_buf code;
  lt_buf_init(&code, LT_JSON_MAX_BYTES);
  put_cut(&code, code_of(t, part), LT_HISTORY_PART_BYTES);
  lt_buf *out = open_text(t, t->history->form == LT_HISTORY_CODE);
  lt_buf_printf(out, "[Program run in %s]\n", js ? "JavaScript" : "TypeScript");
  put_fenced(out, js ? "js" : "ts", lt_buf_view(&code));
  lt_buf_byte(out, '\n');
  if (js) {
    put_feedback(t, out, part);
  } else {
    lt_buf_addc(out, is_type(part, "success") ? "Output: " : "Error: ");
    put_result(t, out, part);
  }
  done_with(t, &code);
}

/* --- One part ----------------------------------------------------------------------------------------------------- */
static void put_user(lt_telling *t, const lt_part *part) {
  flush(t);
  put_message(t, true, part->text);
}

void lt_telling_put(lt_telling *t, const lt_part *part) {
  static const lt_part_kind own[] = {
      [LT_HISTORY_CLASSIC] = LT_PART_CALL,
      [LT_HISTORY_TYPESCRIPT] = LT_PART_TYPESCRIPT,
      [LT_HISTORY_CODE] = LT_PART_JAVASCRIPT,
  };
  if (part->level == LT_PART_GONE) {
    t->left_out++;
    return;
  }
  bool is_own = part->kind == own[t->history->form];
  put_left_out(t, is_own && part->kind == LT_PART_JAVASCRIPT);
  if (part->kind == LT_PART_USER) {
    put_user(t, part);
  } else if (part->kind == LT_PART_TEXT) {
    put_cut(open_text(t, false), part->text, part->level == LT_PART_WHOLE ? SIZE_MAX : LT_HISTORY_SHORT_BYTES);
  } else if (is_own) {
    (part->kind == LT_PART_JAVASCRIPT ? put_program : put_call)(t, part);
  } else {
    (part->kind == LT_PART_CALL ? tell_call : tell_program)(t, part);
  }
}

lt_status lt_telling_end(lt_telling *t) {
  put_left_out(t, false);
  flush(t);
  return t->w->buf->status;
}
