#include "js/unfinished.h"

#include <string.h>

#include "js/jslex.h"

/* What is awaited outside of all brackets. */
typedef struct unfinished_scan {
  lt_jslex lx;
  size_t depth;     /* before the current token */
  bool wants_body;  /* after `function` or `class`, until its { */
  bool wants_catch; /* after `try`, until its catch or finally */
  size_t dos;       /* `do` without its `while` */
  bool ends_do;     /* the last head was the `while` of a `do` */
  bool is_broken;
} unfinished_scan;

static bool unfinished_is_word_in(lt_str word, const char *const *words) {
  for (; *words != NULL; words++) {
    if (lt_str_eqc(word, *words)) {
      return true;
    }
  }
  return false;
}

static void unfinished_take_word(unfinished_scan *s) {
  static const char *const with_body[] = {"function", "class", NULL};
  static const char *const after_try[] = {"catch", "finally", NULL};
  lt_str word = s->lx.tok.text;
  if (s->lx.tok.after_dot || s->lx.depth > 0) {
    return;
  }
  s->wants_body = s->wants_body || unfinished_is_word_in(word, with_body);
  s->wants_catch = (s->wants_catch || lt_str_eqc(word, "try")) && !unfinished_is_word_in(word, after_try);
  if (lt_str_eqc(word, "do")) {
    s->dos++;
  } else if (lt_str_eqc(word, "while")) {
    s->ends_do = s->dos > 0;
    s->dos -= s->ends_do;
  } else if (lt_str_eqc(word, "if") || lt_str_eqc(word, "for")) {
    s->ends_do = false;
  }
}

static void unfinished_take_punct(unfinished_scan *s) {
  char c = s->lx.tok.punct;
  if (c == '{' && s->depth == 0) {
    s->wants_body = false;
  } else if (c == ';' && s->depth == 0) {
    s->wants_body = s->wants_catch = false;
  } else if (c == ')' || c == ']' || c == '}') {
    s->is_broken = s->is_broken || s->lx.depth == s->depth; /* it closes nothing */
  }
}

/* The rest of a string that goes on behind a \ at the line's end comes with the next line. */
static void unfinished_take_string(unfinished_scan *s, bool was_terminated) {
  bool is_cut = was_terminated && s->lx.unterminated;
  bool goes_on = s->lx.at >= s->lx.src.n && lt_str_ends(s->lx.tok.text, LT_STR("\\"));
  s->is_broken = s->is_broken || (is_cut && !goes_on);
}

static void unfinished_read(unfinished_scan *s) {
  bool was_terminated = true;
  while (lt_jslex_next(&s->lx)) {
    if (s->lx.tok.kind == LT_JSTOK_WORD) {
      unfinished_take_word(s);
    } else if (s->lx.tok.kind == LT_JSTOK_PUNCT) {
      unfinished_take_punct(s);
    } else if (s->lx.tok.kind == LT_JSTOK_STRING) {
      unfinished_take_string(s, was_terminated);
    }
    was_terminated = !s->lx.unterminated;
    s->depth = s->lx.depth;
  }
}

/* Whether something has to follow the last token. */
static bool unfinished_wants_more(const unfinished_scan *s) {
  static const char *const words[] = {"typeof", "instanceof", "in",      "new",   "delete", "void", "do",
                                      "else",   "await",      "extends", "const", "let",    "var",  "try",
                                      "import", "export",     "default", "case",  NULL};
  const lt_jstok *last = &s->lx.prev;
  switch (last->kind) {
    case LT_JSTOK_ARROW:
    case LT_JSTOK_SPREAD:
      return true;
    case LT_JSTOK_WORD:
      return !last->after_dot && unfinished_is_word_in(last->text, words);
    case LT_JSTOK_PUNCT:
      if (last->punct == ')') { /* of `if (...)`, without a statement */
        return last->wants_operand && !s->ends_do;
      }
      return last->punct != '\0' && strchr("=+-*/%&|^~?:,.<>!", last->punct) != NULL &&
             (last->punct != '!' || last->wants_operand);
    case LT_JSTOK_START:
    case LT_JSTOK_END:
    case LT_JSTOK_NUMBER:
    case LT_JSTOK_STRING:
    case LT_JSTOK_TEMPLATE:
    case LT_JSTOK_REGEX:
    case LT_JSTOK_INCDEC:
      break;
  }
  return false;
}

bool lt_unfinished_program(lt_str source) {
  unfinished_scan s = {0};
  lt_jslex_init(&s.lx, source);
  unfinished_read(&s);
  if (s.is_broken) {
    return false;
  }
  return s.lx.unterminated || s.lx.depth > 0 || s.wants_body || s.wants_catch || s.dos > 0 || unfinished_wants_more(&s);
}
