#include "model/text_calls.h"

#include "base/limits.h"
#include "model/assembly.h"

#define NAME_BYTES 200 /* between an opening and the arguments */

enum { PLAIN, OPENING, BODY, AFTER };
/* The body: before its first character; a name in front of the arguments; JSON; elements up to the closing tag. */
enum { BODY_BEFORE, BODY_NAME, BODY_JSON, BODY_ELEMENTS };
typedef enum text_calls_verdict { VERDICT_MORE, VERDICT_CALL, VERDICT_TEXT } text_calls_verdict;

static const struct {
  const char *opening, *closing; /* `closing` ends elements */
} text_calls_forms[] = {
    [LT_TEXT_CALLS_TAG] = {"<tool_call>", "</function>"},
    [LT_TEXT_CALLS_LIST] = {"[TOOL_CALLS]", ""},
    [LT_TEXT_CALLS_FUNCTION] = {"<function=", "</function>"},
    [LT_TEXT_CALLS_PYTHON] = {"<|python_tag|>", ""},
    [LT_TEXT_CALLS_INVOKE] = {"<invoke name=\"", "</invoke>"},
    [LT_TEXT_CALLS_INVOKES] = {"<function_calls>", "</function_calls>"},
};
#define FORMS (sizeof text_calls_forms / sizeof text_calls_forms[0])

/* What may stand behind a call and is nobody's text. */
static const char *const text_calls_closings[] = {"</tool_call>", "</function>", "</function_calls>", "</invoke>",
                                                  "<|eom_id|>",   "<|eot_id|>",  "[/TOOL_CALLS]"};
#define CLOSINGS (sizeof text_calls_closings / sizeof text_calls_closings[0])

void lt_text_calls_init(lt_text_calls *c) {
  *c = (lt_text_calls){.state = PLAIN};
  lt_buf_init(&c->held, LT_MODEL_TEXT_MAX_BYTES);
  lt_buf_init(&c->said, LT_MODEL_TEXT_MAX_BYTES);
}

void lt_text_calls_release(lt_text_calls *c) {
  lt_buf_release(&c->held);
  lt_buf_release(&c->said);
}

static bool text_calls_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* --- Text --------------------------------------------------------------------------------------------------------- */
/* Follows code fences: three marks at the beginning of a line open one, or close it. */
static void text_calls_track(lt_text_calls *c, char byte) {
  c->before = byte;
  if (byte == '\n') {
    c->in_line = false;
    c->marks = 0;
  } else if (!c->in_line && c->marks == 0 && (byte == '`' || byte == '~')) {
    c->mark = byte;
    c->marks = 1;
  } else if (!c->in_line && c->marks > 0 && byte == c->mark) {
    c->marks++;
    if (c->marks == 3 && (c->fence == 0 || c->fence == c->mark)) {
      c->fence = c->fence == 0 ? c->mark : '\0';
    }
  } else {
    c->in_line = c->in_line || c->marks > 0 || !text_calls_is_space(byte);
  }
}

static void text_calls_say(lt_text_calls *c, lt_str text) {
  size_t n = text.n;
  while (n > 0 && text_calls_is_space(text.p[n - 1])) {
    n--;
  }
  c->said_end = n > 0 ? c->said.n + n : c->said_end;
  lt_buf_add(&c->said, text);
}

/* Hands text on, in as few pieces as it came. White space at its end waits for what follows. */
static void text_calls_hand_on(lt_assembly *a) {
  lt_text_calls *c = &a->text_calls;
  if (c->said_end > 0 && c->said.status == LT_OK) {
    lt_assembly_take_text(a, lt_str_sub(lt_buf_view(&c->said), 0, c->said_end));
    lt_buf_consume(&c->said, c->said_end);
  }
  c->said_end = 0;
}

/* The first `n` bytes of what was held are text. */
static void text_calls_say_held(lt_assembly *a, size_t n) {
  lt_text_calls *c = &a->text_calls;
  lt_str text = lt_str_sub(lt_buf_view(&c->held), 0, n);
  for (size_t i = 0; i < text.n; i++) {
    text_calls_track(c, text.p[i]);
  }
  text_calls_say(c, text);
  lt_buf_clear(&c->held);
  c->state = PLAIN;
}

/* Returns how much of the text was taken: all of it, or up to a character with which markup may begin. */
static size_t text_calls_take_plain(lt_assembly *a, lt_str text) {
  lt_text_calls *c = &a->text_calls;
  size_t i = 0;
  while (i < text.n && ((text.p[i] != '<' && text.p[i] != '[') || c->fence != 0 || c->before == '`')) {
    text_calls_track(c, text.p[i++]);
  }
  text_calls_say(c, lt_str_sub(text, 0, i));
  c->state = i < text.n ? OPENING : PLAIN;
  return i;
}

/* --- Openings ----------------------------------------------------------------------------------------------------- */
static bool text_calls_begins(lt_str held, const char *with) {
  return lt_str_starts(lt_str_of(with), held);
}

/* Reads one byte of what may be an opening, or behind a call a closing. False: it is text, and the byte is not taken.
 */
static bool text_calls_take_opening(lt_assembly *a, char byte, bool is_after) {
  lt_text_calls *c = &a->text_calls;
  lt_buf_byte(&c->held, byte);
  lt_str held = lt_buf_view(&c->held);
  bool may_be = false;
  for (size_t i = 0; i < FORMS; i++) {
    may_be = may_be || text_calls_begins(held, text_calls_forms[i].opening);
    if (lt_str_eqc(held, text_calls_forms[i].opening)) {
      c->state = BODY;
      c->form = (lt_text_calls_form)i;
      c->body = held.n;
      c->body_state = i == LT_TEXT_CALLS_INVOKE ? BODY_ELEMENTS : i == LT_TEXT_CALLS_FUNCTION ? BODY_NAME : BODY_BEFORE;
      c->depth = 0;
      c->in_string = false;
      c->is_escaped = false;
      return true;
    }
  }
  for (size_t i = 0; is_after && i < CLOSINGS; i++) {
    may_be = may_be || text_calls_begins(held, text_calls_closings[i]);
    if (lt_str_eqc(held, text_calls_closings[i])) {
      lt_buf_clear(&c->held);
      return true;
    }
  }
  if (!may_be) {
    text_calls_say_held(a, held.n - 1);
  }
  return may_be;
}

/* Behind a call: white space and closing tags belong to it. */
static bool text_calls_take_after(lt_assembly *a, char byte) {
  lt_text_calls *c = &a->text_calls;
  if (c->held.n == 0 && text_calls_is_space(byte)) {
    text_calls_track(c, byte);
    return true;
  }
  if (c->held.n == 0 && byte != '<' && byte != '[') {
    c->state = PLAIN;
    return false;
  }
  return text_calls_take_opening(a, byte, true);
}

/* --- Bodies ------------------------------------------------------------------------------------------------------- */
static text_calls_verdict text_calls_follow_json(lt_text_calls *c, char byte) {
  if (c->in_string) {
    c->in_string = byte != '"' || c->is_escaped;
    c->is_escaped = byte == '\\' && !c->is_escaped;
  } else if (byte == '"') {
    c->in_string = true;
  } else if (byte == '{' || byte == '[') {
    c->depth++;
  } else if ((byte == '}' || byte == ']') && --c->depth == 0) {
    return VERDICT_CALL;
  }
  return VERDICT_MORE;
}

static text_calls_verdict text_calls_begin_json(lt_text_calls *c, char byte) {
  c->body_state = BODY_JSON;
  return text_calls_follow_json(c, byte);
}

/* The first character of a body, or of what follows a function's name, says what it is. */
static text_calls_verdict text_calls_begin_body(lt_text_calls *c, char byte) {
  bool has_list = c->form == LT_TEXT_CALLS_TAG || c->form == LT_TEXT_CALLS_LIST;
  bool has_elements =
      c->form == LT_TEXT_CALLS_TAG || c->form == LT_TEXT_CALLS_FUNCTION || c->form == LT_TEXT_CALLS_INVOKES;
  if (text_calls_is_space(byte)) {
    return VERDICT_MORE;
  }
  if ((byte == '{' && c->form != LT_TEXT_CALLS_INVOKES) || (byte == '[' && has_list)) {
    return text_calls_begin_json(c, byte);
  }
  if (byte == '<' && has_elements) {
    c->body_state = BODY_ELEMENTS;
    return VERDICT_MORE;
  }
  c->body_state = BODY_NAME;
  return c->form == LT_TEXT_CALLS_LIST ? VERDICT_MORE : VERDICT_TEXT;
}

/* <function=NAME>, or [TOOL_CALLS]NAME[ARGS]{ */
static text_calls_verdict text_calls_follow_name(lt_text_calls *c, char byte) {
  if (c->form == LT_TEXT_CALLS_FUNCTION && byte == '>') {
    c->body_state = BODY_BEFORE;
    return VERDICT_MORE;
  }
  if (c->form == LT_TEXT_CALLS_LIST && byte == '{') {
    return text_calls_begin_json(c, byte);
  }
  return byte == '\n' || byte == '<' || c->held.n > c->body + NAME_BYTES ? VERDICT_TEXT : VERDICT_MORE;
}

static text_calls_verdict text_calls_follow_body(lt_text_calls *c, char byte) {
  if (c->body_state == BODY_BEFORE) {
    return text_calls_begin_body(c, byte);
  } else if (c->body_state == BODY_NAME) {
    return text_calls_follow_name(c, byte);
  } else if (c->body_state == BODY_JSON) {
    return text_calls_follow_json(c, byte);
  }
  bool ends = byte == '>' && lt_str_ends(lt_buf_view(&c->held), lt_str_of(text_calls_forms[c->form].closing));
  return ends ? VERDICT_CALL : VERDICT_MORE;
}

/* What is held is a call, or text as a whole: what is in it is not looked at again. */
static void text_calls_end_body(lt_assembly *a, bool is_whole) {
  lt_text_calls *c = &a->text_calls;
  lt_str body = lt_str_sub(lt_buf_view(&c->held), c->body, c->held.n);
  bool has_arguments = c->body_state == BODY_JSON || c->body_state == BODY_ELEMENTS;
  if (has_arguments && c->held.status == LT_OK && lt_text_call_read(a, c->form, body, is_whole)) {
    text_calls_hand_on(a);
    lt_buf_clear(&c->held);
    lt_buf_clear(&c->said);
    c->state = AFTER;
    text_calls_track(c, '>');
  } else {
    text_calls_say_held(a, c->held.n);
  }
}

static void text_calls_take_body(lt_assembly *a, char byte) {
  lt_text_calls *c = &a->text_calls;
  lt_buf_byte(&c->held, byte);
  text_calls_verdict verdict = text_calls_follow_body(c, byte);
  if (verdict == VERDICT_CALL) {
    text_calls_end_body(a, true);
  } else if (verdict == VERDICT_TEXT) {
    text_calls_say_held(a, c->held.n);
  }
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */
void lt_text_calls_take(lt_assembly *a, lt_str text) {
  lt_text_calls *c = &a->text_calls;
  if (a->request->tools.n == 0) {
    lt_assembly_take_text(a, text);
    return;
  }
  for (size_t i = 0; i < text.n;) {
    if (c->state == PLAIN) {
      i += text_calls_take_plain(a, lt_str_sub(text, i, text.n));
    } else if (c->state == OPENING) {
      i += text_calls_take_opening(a, text.p[i], false);
    } else if (c->state == AFTER) {
      i += text_calls_take_after(a, text.p[i]);
    } else {
      text_calls_take_body(a, text.p[i++]);
    }
  }
  text_calls_hand_on(a);
}

void lt_text_calls_end(lt_assembly *a) {
  lt_text_calls *c = &a->text_calls;
  if (c->state == BODY) {
    text_calls_end_body(a, false);
  }
  if (c->state != AFTER || c->held.n > 0) {
    text_calls_say_held(a, c->held.n);
    lt_assembly_take_text(a, lt_buf_view(&c->said));
  }
  lt_buf_clear(&c->said);
  c->said_end = 0;
}
