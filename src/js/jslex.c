#include "js/jslex.h"

/* The kind of an open bracket. It decides what the closing bracket ends and what may follow. */
enum {
  OPEN_PAREN = 1,
  OPEN_HEAD_PAREN, /* of if (...) or while (...): a statement follows, so a / starts a regular expression */
  OPEN_BRACKET,
  OPEN_BRACE, /* an object literal, as far as can be known */
  OPEN_BLOCK,
  OPEN_TEMPLATE, /* ${ */
};

static bool jslex_is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool lt_jslex_is_word_byte(char c) {
  unsigned char u = (unsigned char)c;
  return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || jslex_is_digit(c) || u == '_' || u == '$' || u >= 0x80;
}

static char jslex_peek(const lt_jslex *lx, size_t ahead) {
  return lx->at + ahead < lx->src.n ? lx->src.p[lx->at + ahead] : '\0';
}

static bool jslex_starts_at(const lt_jslex *lx, lt_str s) {
  return lx->src.n - lx->at >= s.n && memcmp(lx->src.p + lx->at, s.p, s.n) == 0;
}

/* --- White space and comments ------------------------------------------------------------------------------------- */

/* Spaces beyond ASCII: models and web pages use U+00A0 and U+FEFF in code. */
static size_t jslex_wide_space(const unsigned char *p, size_t n, bool *ret_newline) {
  if (n >= 2 && p[0] == 0xC2 && p[1] == 0xA0) {
    return 2;
  }
  if (n < 3) {
    return 0;
  }
  if (p[0] == 0xE2 && p[1] == 0x80) {
    if (p[2] == 0xA8 || p[2] == 0xA9) {
      *ret_newline = true; /* LINE SEPARATOR, PARAGRAPH SEPARATOR */
      return 3;
    }
    return (p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xAF ? 3 : 0;
  }
  bool one = (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) || (p[0] == 0xE2 && p[1] == 0x81 && p[2] == 0x9F) ||
             (p[0] == 0xE3 && p[1] == 0x80 && p[2] == 0x80) || (p[0] == 0xE1 && p[1] == 0x9A && p[2] == 0x80);
  return one ? 3 : 0;
}

size_t lt_jslex_space_at(lt_str src, size_t at, bool *ret_newline) {
  if (at >= src.n) {
    return 0;
  }
  switch (src.p[at]) {
    case '\n':
    case '\r':
      *ret_newline = true;
      return 1;
    case ' ':
    case '\t':
    case '\v':
    case '\f':
      return 1;
    default:
      break;
  }
  const unsigned char *p = (const unsigned char *)src.p + at;
  return *p < 0x80 ? 0 : jslex_wide_space(p, src.n - at, ret_newline);
}

static void jslex_skip_line(lt_jslex *lx) {
  while (lx->at < lx->src.n && lx->src.p[lx->at] != '\n' && lx->src.p[lx->at] != '\r') {
    lx->at++;
  }
}

static void jslex_skip_block_comment(lt_jslex *lx, bool *ret_newline) {
  lx->at += 2;
  while (lx->at < lx->src.n) {
    if (jslex_starts_at(lx, LT_STR("*/"))) {
      lx->at += 2;
      return;
    }
    if (lx->src.p[lx->at] == '\n' || lx->src.p[lx->at] == '\r') {
      *ret_newline = true;
    }
    lx->at++;
  }
  lx->unterminated = true;
}

/* Skips white space and comments. True: they had a line break. */
static bool jslex_skip_blank(lt_jslex *lx) {
  bool newline = false;
  for (;;) {
    size_t n = lt_jslex_space_at(lx->src, lx->at, &newline);
    if (n > 0) {
      lx->at += n;
    } else if (jslex_starts_at(lx, LT_STR("//"))) {
      jslex_skip_line(lx);
    } else if (jslex_starts_at(lx, LT_STR("/*"))) {
      jslex_skip_block_comment(lx, &newline);
    } else {
      return newline;
    }
  }
}

/* --- Literals ----------------------------------------------------------------------------------------------------- */

static void jslex_read_word(lt_jslex *lx) {
  bool newline = false;
  while (lx->at < lx->src.n) {
    char c = lx->src.p[lx->at];
    if (c != '\\' && !lt_jslex_is_word_byte(c)) {
      return;
    }
    if ((unsigned char)c >= 0x80 && lt_jslex_space_at(lx->src, lx->at, &newline) > 0) {
      return;
    }
    lx->at++;
  }
}

static void jslex_read_number(lt_jslex *lx) {
  jslex_read_word(lx);
  if (jslex_peek(lx, 0) == '.' && jslex_peek(lx, 1) != '.') {
    lx->at++;
    jslex_read_word(lx);
  }
}

/* A string that is not closed on its line is unterminated. The next line is read as code. */
static void jslex_read_string(lt_jslex *lx, char quote) {
  lx->at++;
  while (lx->at < lx->src.n) {
    char c = lx->src.p[lx->at];
    if (c == '\n' || c == '\r') {
      break;
    }
    lx->at++;
    if (c == quote) {
      return;
    }
    if (c == '\\' && lx->at < lx->src.n) {
      lx->at += jslex_starts_at(lx, LT_STR("\r\n")) ? 2 : 1;
    }
  }
  lx->unterminated = true;
}

static bool jslex_push(lt_jslex *lx, uint8_t what) {
  bool fits = lx->depth < LT_JSSCAN_DEPTH;
  if (fits) {
    lx->open[lx->depth] = what;
  }
  lx->depth++;
  return fits;
}

/* Reads on from the byte after ` or }. When the stack is full, ${ counts as text. */
static void jslex_read_template(lt_jslex *lx) {
  lx->tok.kind = LT_JSTOK_TEMPLATE;
  lx->at++;
  while (lx->at < lx->src.n) {
    char c = lx->src.p[lx->at++];
    if (c == '`') {
      return;
    }
    if (c == '\\' && lx->at < lx->src.n) {
      lx->at++;
    } else if (c == '$' && jslex_peek(lx, 0) == '{' && lx->depth < LT_JSSCAN_DEPTH) {
      lx->at++;
      jslex_push(lx, OPEN_TEMPLATE);
      lx->tok.wants_operand = true;
      return;
    }
  }
  lx->unterminated = true;
}

/* The end of the regular expression that starts at `at`, without flags; 0 when the line ends first. */
static size_t jslex_regex_end(const lt_jslex *lx, size_t *ret_line_end) {
  bool in_class = false;
  size_t i = lx->at + 1;
  for (; i < lx->src.n && lx->src.p[i] != '\n' && lx->src.p[i] != '\r'; i++) {
    char c = lx->src.p[i];
    if (c == '\\') {
      i++;
    } else if (c == '[') {
      in_class = true;
    } else if (c == ']') {
      in_class = false;
    } else if (c == '/' && !in_class) {
      return i + 1;
    }
  }
  *ret_line_end = i;
  return 0;
}

static bool jslex_read_regex(lt_jslex *lx) {
  if (!lx->prev.wants_operand || lx->at < lx->no_regex_before) {
    return false;
  }
  size_t end = jslex_regex_end(lx, &lx->no_regex_before);
  if (end == 0) {
    return false;
  }
  lx->at = end;
  jslex_read_word(lx);
  lx->tok.kind = LT_JSTOK_REGEX;
  return true;
}

/* --- Words and punctuation ---------------------------------------------------------------------------------------- */

static bool jslex_word_in(lt_str word, const char *const *list) {
  for (; word.n > 0 && *list != NULL; list++) {
    if (word.p[0] == **list && lt_str_eqc(word, *list)) {
      return true;
    }
  }
  return false;
}

static bool jslex_is_operator_word(lt_str word) {
  static const char *const words[] = {"return", "typeof", "instanceof", "in",      "of", "new",
                                      "delete", "void",   "throw",      "case",    "do", "else",
                                      "await",  "yield",  "default",    "extends", NULL};
  return word.n <= 10 && jslex_word_in(word, words);
}

static bool jslex_is_head_word(const lt_jstok *tok) {
  static const char *const words[] = {"if", "while", "for", "with", NULL};
  return tok->kind == LT_JSTOK_WORD && !tok->after_dot && tok->text.n <= 5 && jslex_word_in(tok->text, words);
}

/* Whether a { after `prev` opens a block (or a function's body) rather than an object literal. */
static bool jslex_opens_block(const lt_jstok *prev, bool newline) {
  static const char *const words[] = {"else", "do", "try", "finally", NULL};
  if (prev->kind == LT_JSTOK_START || prev->kind == LT_JSTOK_ARROW || (newline && !prev->wants_operand)) {
    return true;
  }
  if (prev->kind == LT_JSTOK_WORD) {
    return !prev->after_dot && jslex_word_in(prev->text, words);
  }
  return prev->kind == LT_JSTOK_PUNCT && prev->punct != '\0' && strchr(";{})", prev->punct) != NULL;
}

static void jslex_open_bracket(lt_jslex *lx, char c) {
  uint8_t what = OPEN_BRACKET;
  if (c == '(') {
    what = jslex_is_head_word(&lx->prev) ? OPEN_HEAD_PAREN : OPEN_PAREN;
  } else if (c == '{') {
    what = jslex_opens_block(&lx->prev, lx->tok.newline_before) ? OPEN_BLOCK : OPEN_BRACE;
  }
  jslex_push(lx, what);
  lx->tok.wants_operand = true;
}

static bool jslex_closes(char c, uint8_t what) {
  switch (c) {
    case ')':
      return what == OPEN_PAREN || what == OPEN_HEAD_PAREN;
    case ']':
      return what == OPEN_BRACKET;
    default:
      return what == OPEN_BRACE || what == OPEN_BLOCK;
  }
}

/* A closing bracket without an opening one is skipped: the engine will report it. */
static void jslex_close_bracket(lt_jslex *lx, char c) {
  lx->tok.wants_operand = false;
  if (lx->depth > LT_JSSCAN_DEPTH) {
    lx->depth--;
    return;
  }
  uint8_t what = lx->depth > 0 ? lx->open[lx->depth - 1] : 0;
  if (jslex_closes(c, what)) {
    lx->depth--;
    lx->tok.wants_operand = what == OPEN_HEAD_PAREN || what == OPEN_BLOCK;
  }
}

/* TypeScript's `value!`: this operator follows its operand, unlike JavaScript's `!value`. */
static bool jslex_is_postfix_bang(const lt_jslex *lx) {
  return lx->prev.kind != LT_JSTOK_START && !lx->prev.wants_operand && !lx->tok.newline_before &&
         jslex_peek(lx, 0) != '=';
}

static bool jslex_read_long_punct(lt_jslex *lx) {
  static const struct {
    lt_str text;
    lt_jstok_kind kind;
    bool wants_operand;
  } table[] = {
      {{"=>", 2}, LT_JSTOK_ARROW, true},
      {{"++", 2}, LT_JSTOK_INCDEC, false},
      {{"--", 2}, LT_JSTOK_INCDEC, false},
      {{"...", 3}, LT_JSTOK_SPREAD, true},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    if (jslex_starts_at(lx, table[i].text)) {
      lx->at += table[i].text.n;
      lx->tok.kind = table[i].kind;
      lx->tok.wants_operand = table[i].wants_operand;
      return true;
    }
  }
  return false;
}

static void jslex_read_punct(lt_jslex *lx, char c) {
  if (jslex_read_long_punct(lx)) {
    return;
  }
  lx->tok.kind = LT_JSTOK_PUNCT;
  lx->tok.punct = c;
  lx->tok.wants_operand = true;
  if (c == '?' && jslex_peek(lx, 1) == '.' && !jslex_is_digit(jslex_peek(lx, 2))) {
    lx->tok.punct = '.';
    lx->at++;
  }
  lx->at++;
  if (c == '(' || c == '[' || c == '{') {
    jslex_open_bracket(lx, c);
  } else if (c == ')' || c == ']' || c == '}') {
    jslex_close_bracket(lx, c);
  } else if (c == '!' && jslex_is_postfix_bang(lx)) {
    lx->tok.wants_operand = false;
  }
}

/* --- The reader --------------------------------------------------------------------------------------------------- */

void lt_jslex_init(lt_jslex *lx, lt_str src) {
  lx->src = src;
  lx->at = 0;
  lx->prev = (lt_jstok){0};
  lx->tok = (lt_jstok){.kind = LT_JSTOK_START, .wants_operand = true};
  lx->depth = 0;
  lx->unterminated = false;
  lx->no_regex_before = 0;
  if (jslex_starts_at(lx, LT_STR("\xEF\xBB\xBF"))) {
    lx->at = 3;
  }
  if (jslex_starts_at(lx, LT_STR("#!"))) {
    jslex_skip_line(lx);
  }
}

static void jslex_read_token(lt_jslex *lx, char c) {
  if (jslex_is_digit(c) || (c == '.' && jslex_is_digit(jslex_peek(lx, 1)))) {
    lx->tok.kind = LT_JSTOK_NUMBER;
    jslex_read_number(lx);
  } else if (c == '\\' || lt_jslex_is_word_byte(c)) {
    lx->tok.kind = LT_JSTOK_WORD;
    jslex_read_word(lx);
  } else if (c == '"' || c == '\'') {
    lx->tok.kind = LT_JSTOK_STRING;
    jslex_read_string(lx, c);
  } else if (c == '`') {
    jslex_read_template(lx);
  } else if (c == '}' && lx->depth > 0 && lx->depth <= LT_JSSCAN_DEPTH && lx->open[lx->depth - 1] == OPEN_TEMPLATE) {
    lx->depth--;
    jslex_read_template(lx);
  } else if (c != '/' || !jslex_read_regex(lx)) {
    jslex_read_punct(lx, c);
  }
}

bool lt_jslex_next(lt_jslex *lx) {
  if (lx->tok.kind == LT_JSTOK_END) {
    return false;
  }
  lx->prev = lx->tok;
  lx->tok = (lt_jstok){.kind = LT_JSTOK_END, .newline_before = jslex_skip_blank(lx)};
  if (lx->at >= lx->src.n) {
    return false;
  }
  size_t start = lx->at;
  lx->tok.after_dot = lx->prev.kind == LT_JSTOK_PUNCT && lx->prev.punct == '.';
  jslex_read_token(lx, lx->src.p[start]);
  lx->tok.text = lt_str_sub(lx->src, start, lx->at);
  if (lx->tok.kind == LT_JSTOK_WORD) {
    lx->tok.wants_operand = !lx->tok.after_dot && jslex_is_operator_word(lx->tok.text);
  }
  return true;
}

/* The } of a function's body ends an expression, although an operand may follow. */
static bool jslex_continues_line(const lt_jslex *lx) {
  bool closes = lx->prev.kind == LT_JSTOK_PUNCT && lx->prev.punct == '}';
  return !lx->tok.newline_before || (lx->prev.wants_operand && !closes);
}

bool lt_jslex_starts_new_line(const lt_jslex *lx) {
  if (jslex_continues_line(lx)) {
    return false;
  }
  switch (lx->tok.kind) {
    case LT_JSTOK_WORD:
      return !lt_jslex_is_word(lx, "in") && !lt_jslex_is_word(lx, "instanceof") && !lt_jslex_is_word(lx, "as") &&
             !lt_jslex_is_word(lx, "satisfies");
    case LT_JSTOK_PUNCT:
      return lx->tok.punct == '{' || lx->tok.punct == '!' || lx->tok.punct == '~' || lx->tok.punct == '@';
    case LT_JSTOK_NUMBER:
    case LT_JSTOK_STRING:
    case LT_JSTOK_INCDEC:
    case LT_JSTOK_SPREAD:
      return true;
    case LT_JSTOK_START:
    case LT_JSTOK_END:
    case LT_JSTOK_TEMPLATE:
    case LT_JSTOK_REGEX:
    case LT_JSTOK_ARROW:
      return false;
  }
  return false;
}
