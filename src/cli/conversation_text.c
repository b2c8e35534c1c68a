#include "cli/conversation_text.h"

#include "agent/incomplete.h"
#include "base/limits.h"
#include "json/json.h"
#include "types/typegen_text.h"

#define CALL_CHARS 100 /* shown of a call's input, and of its error */

typedef struct conversation_writer {
  lt_conversation_form form;
  lt_arena *arena;
  lt_buf *out;
} conversation_writer;

static lt_str conversation_text(lt_json json, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(json, key), arena, &text);
  return text;
}

static void conversation_end_block(const conversation_writer *w) {
  lt_str so_far = lt_buf_view(w->out);
  lt_buf_addc(w->out, lt_str_ends(so_far, LT_STR("\n")) ? "" : "\n");
  if (w->form != LT_CONVERSATION_LINES) {
    lt_buf_byte(w->out, '\n');
  }
}

/* --- Programs and calls ------------------------------------------------------------------------------------------- */
/* One more backtick than the text has in a row, and at least `least`. */
static size_t conversation_fence(lt_str text, size_t least) {
  size_t longest = 0, run = 0;
  for (size_t i = 0; i < text.n; i++) {
    run = text.p[i] == '`' ? run + 1 : 0;
    longest = run > longest ? run : longest;
  }
  return longest + 1 > least ? longest + 1 : least;
}

static void conversation_put_fence(lt_buf *out, size_t length) {
  for (size_t i = 0; i < length; i++) {
    lt_buf_byte(out, '`');
  }
}

static void conversation_put_code_span(lt_buf *out, lt_str text) {
  size_t length = conversation_fence(text, 1);
  conversation_put_fence(out, length);
  lt_buf_addc(out, length > 1 ? " " : "");
  lt_buf_add(out, text);
  lt_buf_addc(out, length > 1 ? " " : "");
  conversation_put_fence(out, length);
}

static void conversation_put_program(const conversation_writer *w, lt_str code) {
  size_t length = conversation_fence(code, 3);
  conversation_put_fence(w->out, length);
  lt_buf_addc(w->out, "js\n");
  lt_buf_add(w->out, code);
  lt_buf_addc(w->out, lt_str_ends(code, LT_STR("\n")) ? "" : "\n");
  conversation_put_fence(w->out, length);
  conversation_end_block(w);
}

static void conversation_put_call_text(const conversation_writer *w, lt_str function, lt_json input) {
  bool is_markdown = w->form == LT_CONVERSATION_MARKDOWN;
  LT_AUTO_BUF(call, LT_MIB);
  lt_typegen_put_line(&call, function, 2 * CALL_CHARS);
  lt_buf_byte(&call, ' ');
  lt_typegen_put_line(&call, lt_json_text(input), is_markdown ? 10 * CALL_CHARS : CALL_CHARS);
  lt_buf_addc(w->out, is_markdown ? "- " : "  ");
  if (is_markdown) {
    conversation_put_code_span(w->out, lt_buf_view(&call));
  } else {
    lt_buf_add(w->out, lt_buf_view(&call));
  }
}

static void conversation_put_call(const conversation_writer *w, lt_json output) {
  lt_json result = lt_json_get(output, "result"), input = lt_json_get(output, "input");
  lt_str code = conversation_text(input, "code", w->arena);
  if (w->form == LT_CONVERSATION_MARKDOWN && code.n > 0) {
    conversation_put_program(w, code);
  }
  if (w->form == LT_CONVERSATION_LINES || code.n == 0) {
    conversation_put_call_text(w, conversation_text(output, "function", w->arena), input);
  } else {
    lt_buf_addc(w->out, "- the program");
  }
  if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("error"))) {
    lt_buf_addc(w->out, "  failed: ");
    lt_typegen_put_line(w->out, conversation_text(result, "error", w->arena), CALL_CHARS);
  } else if (lt_json_str_eq(lt_json_get(result, "type"), LT_STR("pending"))) {
    lt_buf_addc(w->out, "  has not ended");
  }
  conversation_end_block(w);
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static void conversation_put_output(const conversation_writer *w, lt_json output) {
  lt_json type = lt_json_get(output, "type");
  if (lt_json_str_eq(type, LT_STR("text"))) {
    lt_buf_add(w->out, conversation_text(output, "content", w->arena));
    conversation_end_block(w);
  } else if (w->form == LT_CONVERSATION_TALK) {
    return;
  } else if (lt_json_str_eq(type, LT_STR("tool"))) {
    conversation_put_call(w, output);
  } else {
    lt_buf_addc(w->out, w->form == LT_CONVERSATION_LINES ? "  file: artifact " : "- file: artifact ");
    lt_typegen_put_line(w->out, conversation_text(output, "artifact", w->arena), CALL_CHARS);
    conversation_end_block(w);
  }
}

/* A text with a mark before each line. */
static void conversation_put_marked(const conversation_writer *w, const char *mark, lt_str text) {
  for (size_t at = 0; at < text.n;) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    end = end < text.n ? end : text.n;
    lt_buf_addc(w->out, mark);
    lt_buf_add(w->out, lt_str_sub(text, at, end));
    lt_buf_byte(w->out, '\n');
    at = end + 1;
  }
}

static void conversation_put_input(const conversation_writer *w, lt_str input) {
  conversation_put_marked(w, "> ", input);
  if (w->form != LT_CONVERSATION_LINES) {
    lt_buf_byte(w->out, '\n');
  }
}

static void conversation_put_prompt(const conversation_writer *w, lt_json prompt) {
  lt_str state = conversation_text(prompt, "state", w->arena), error = conversation_text(prompt, "error", w->arena);
  bool is_open = lt_str_eqc(state, "running") || lt_str_eqc(state, "waiting_for_approval");
  conversation_put_input(w, conversation_text(prompt, "input", w->arena));
  if (is_open && w->form == LT_CONVERSATION_TALK) {
    return; /* it is continued, and shows its outputs itself */
  }
  lt_json_iter it = lt_json_each(lt_json_get(prompt, "output"));
  while (lt_json_next(&it)) {
    conversation_put_output(w, it.value);
  }
  if (lt_incomplete_reason_in(prompt).n > 0) {
    lt_buf_addc(w->out, "  (incomplete: ");
    lt_typegen_put_line(w->out, lt_incomplete_describe(lt_incomplete_reason_in(prompt)), CALL_CHARS);
    lt_buf_addc(w->out, ")");
    conversation_end_block(w);
  } else if (!lt_str_eqc(state, "completed")) {
    lt_buf_printf(w->out, "  (%.*s%s", LT_STR_ARG(state), error.n > 0 ? ": " : "");
    lt_typegen_put_line(w->out, error, 4 * CALL_CHARS);
    lt_buf_addc(w->out, ")");
    conversation_end_block(w);
  }
}

/* --- The summary -------------------------------------------------------------------------------------------------- */
/* What the model is told in place of the prompts above. */
static void conversation_put_summary(const conversation_writer *w, lt_str text) {
  static const char about[] = "From here on the model is told this summary of what stands above:";
  if (w->form == LT_CONVERSATION_LINES) {
    lt_buf_printf(w->out, "  (%s)\n", about);
    conversation_put_marked(w, "  | ", text);
    return;
  }
  lt_buf_printf(w->out, "---\n\n*%s*\n\n", about);
  lt_buf_add(w->out, text);
  lt_buf_addc(w->out, "\n\n---\n\n");
}

lt_status lt_conversation_text_put(lt_str history, lt_str summary, lt_conversation_form form, lt_buf *out,
                                   lt_err *err) {
  lt_json_doc doc, told = {0};
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  const conversation_writer w = {.form = form, .arena = &arena, .out = out};
  LT_TRY(lt_json_parse(&arena, history, &doc, err));
  if (summary.n > 0) {
    LT_TRY(lt_json_parse(&arena, summary, &told, err));
  }
  lt_str text = conversation_text(lt_json_root(&told), "text", &arena);
  lt_str up_to = conversation_text(lt_json_root(&told), "upTo", &arena);
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    if (text.n > 0 && lt_str_cmp(conversation_text(it.value, "id", &arena), up_to) > 0) {
      conversation_put_summary(&w, text);
      text.n = 0;
    }
    conversation_put_prompt(&w, it.value);
  }
  if (text.n > 0) {
    conversation_put_summary(&w, text);
  }
  return lt_buf_check(out, err, "the conversation is too long to be shown: see --json");
}
