/* Thoughts that arrive as text. Models that think write <think>...</think> before their answer, and not every server
 * separates that. The tag counts only at the very start: otherwise an answer about the tag would lose a part.
 *
 * Some templates write <think> themselves, so that the answer has only the end tag. What stands before it are thoughts.
 * Text that was shown meanwhile stays: from then on, the text of such a model waits for its end tag. */
#include "base/limits.h"
#include "model/assembly.h"

#define BEGIN LT_STR("<think>")
#define END   LT_STR("</think>")

static lt_str without_leading_space(lt_str text) {
  size_t at = 0;
  while (at < text.n && strchr(" \t\r\n", text.p[at]) != NULL && text.p[at] != '\0') {
    at++;
  }
  return lt_str_sub(text, at, text.n);
}

/* Returns the number of bytes at the end of `text` that may begin `tag`. */
static size_t partial_tag_bytes(lt_str text, lt_str tag) {
  size_t n = text.n < tag.n ? text.n : tag.n - 1;
  while (n > 0 && !lt_str_ends(text, lt_str_sub(tag, 0, n))) {
    n--;
  }
  return n;
}

static void assembly_think_answer(lt_assembly *a, lt_str text) {
  text = a->think == LT_THINK_AFTER ? without_leading_space(text) : text;
  if (text.n > 0) {
    a->think = LT_THINK_NONE;
    lt_text_calls_take(a, text);
  }
}

/* Moves all held text to the thoughts. */
static void assembly_think_take(lt_assembly *a) {
  lt_str text = lt_buf_view(&a->held_text);
  size_t at = lt_str_find(text, END, 0);
  size_t n = at != SIZE_MAX ? at : text.n - partial_tag_bytes(text, END);
  lt_buf_add(&a->completion->reasoning, lt_str_sub(text, 0, n));
  if (at != SIZE_MAX) {
    a->think = LT_THINK_AFTER;
    assembly_think_answer(a, lt_str_sub(text, at + END.n, text.n));
    lt_buf_clear(&a->held_text);
  } else {
    lt_buf_consume(&a->held_text, n);
  }
}

/* Whether the end tag at `at` ends thoughts without a begin tag. A quoted tag is part of an answer about it. */
static bool assembly_think_ends_at(lt_str text, size_t at) {
  bool is_quoted = at > 0 && at < text.n && strchr("`'\"", text.p[at - 1]) != NULL;
  return at < text.n && !is_quoted && lt_str_find(lt_str_sub(text, 0, at), BEGIN, 0) == SIZE_MAX;
}

/* The whole text may be thoughts without a begin tag: the first end tag decides. `from`: it does not begin before. */
static void assembly_think_wait_for_end(lt_assembly *a, size_t from) {
  lt_str text = lt_buf_view(&a->held_text);
  size_t at = lt_str_find(text, END, from);
  if (at == SIZE_MAX) {
    return;
  }
  a->has_unopened = assembly_think_ends_at(text, at);
  if (a->has_unopened) {
    assembly_think_take(a);
  } else {
    a->think = LT_THINK_NONE;
    assembly_think_answer(a, text);
    lt_buf_clear(&a->held_text);
  }
}

/* Before the tag, the held text is white space, and possibly the tag or a part of it. */
static void assembly_think_begin(lt_assembly *a) {
  lt_str text = lt_buf_view(&a->held_text);
  lt_str rest = without_leading_space(text);
  if (lt_str_starts(rest, BEGIN)) {
    a->think = LT_THINK_WITHIN;
    lt_buf_consume(&a->held_text, text.n - rest.n + BEGIN.n);
    assembly_think_take(a);
  } else if (!lt_str_starts(BEGIN, rest) || text.n > LT_MODEL_LEAD_MAX_BYTES) {
    a->think = a->expects_unopened || a->request->on_text == NULL ? LT_THINK_UNOPENED : LT_THINK_NONE;
    if (a->think == LT_THINK_NONE) {
      assembly_think_answer(a, text);
      lt_buf_clear(&a->held_text);
    } else {
      assembly_think_wait_for_end(a, 0);
    }
  }
}

void lt_assembly_take_said(lt_assembly *a, lt_str text) {
  if (text.n == 0) {
    return;
  }
  if (a->think == LT_THINK_NONE || a->think == LT_THINK_AFTER) {
    assembly_think_answer(a, text);
    return;
  }
  size_t before = a->held_text.n;
  lt_buf_add(&a->held_text, text);
  if (a->held_text.status != LT_OK) {
    return;
  }
  if (a->think == LT_THINK_UNOPENED) {
    assembly_think_wait_for_end(a, before > END.n ? before - END.n : 0);
  } else {
    (a->think == LT_THINK_BEFORE ? assembly_think_begin : assembly_think_take)(a);
  }
}

/* Thoughts without an end tag stay thoughts, because the model was cut off before its answer. */
void lt_assembly_end_said(lt_assembly *a) {
  lt_str text = lt_buf_view(&a->held_text);
  if (a->think == LT_THINK_WITHIN) {
    lt_buf_add(&a->completion->reasoning, text);
  } else {
    assembly_think_answer(a, text);
  }
  lt_buf_clear(&a->held_text);
  lt_str shown = lt_buf_view(&a->completion->text);
  a->has_unopened =
      a->has_unopened || (a->completion->reasoning.n == 0 && assembly_think_ends_at(shown, lt_str_find(shown, END, 0)));
}
