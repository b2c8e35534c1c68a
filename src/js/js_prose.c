#include "js/js_prose.h"

#include "js/jslex.h"

/* What speaks for each side. */
typedef struct prose_signs {
  size_t words;        /* tokens that are words */
  size_t pairs;        /* words or numbers side by side, as no program has them */
  size_t code;         /* =, ;, braces, arrows, calls */
  bool starts_as_code; /* with a call, a declaration or the head of a statement */
  bool is_label;       /* "Answer: 42": a label that labels no statement */
  bool has_other;      /* anything but words and what ends or joins sentences */
  lt_jstok first, last;
} prose_signs;

/* Words that another word may follow. */
static const char *const prose_before_word[] = {
    "const",   "let",       "var",      "function",  "class",     "async",     "await",      "return",   "throw",
    "new",     "typeof",    "void",     "delete",    "in",        "of",        "instanceof", "case",     "else",
    "do",      "yield",     "import",   "export",    "default",   "from",      "as",         "static",   "get",
    "set",     "extends",   "type",     "interface", "enum",      "namespace", "declare",    "abstract", "public",
    "private", "protected", "readonly", "keyof",     "satisfies", "infer",     "implements", "module",   "override",
    "asserts", "unique",    "break",    "continue",  "global",    "accessor",  "using",      NULL,
};
/* Words that may follow another word. */
static const char *const prose_after_word[] = {"of",   "in",      "instanceof", "as", "satisfies",
                                               "from", "extends", "implements", NULL};
/* Words with which a statement begins, where a parenthesis follows ... */
static const char *const prose_heads[] = {"if", "for", "while", "switch", NULL};
/* ... and without one. */
static const char *const prose_starts[] = {"const", "let",   "var",    "function", "class",
                                           "async", "await", "export", NULL};
/* Statements that can have a label. */
static const char *const prose_labelled[] = {"for", "while", "do", "if", "switch", NULL};
/* What one-word replies say. */
static const char *const prose_single[] = {"ok", "okay", "yes", "no", "done", "sorry", "hello", "hi", "thanks", NULL};

static bool prose_is_among(lt_str word, const char *const *words) {
  for (; *words != NULL; words++) {
    if (lt_str_eqc(word, *words)) {
      return true;
    }
  }
  return false;
}

static bool prose_is_letter(char c) {
  return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* An apostrophe between two letters (don't) would begin a string: no program has it. */
static lt_str prose_without_apostrophes(lt_str source, lt_buf *scratch) {
  size_t from = 0;
  for (size_t i = 1; i + 1 < source.n; i++) {
    if (source.p[i] == '\'' && prose_is_letter(source.p[i - 1]) && prose_is_letter(source.p[i + 1])) {
      lt_buf_add(scratch, lt_str_sub(source, from, i));
      from = i + 1;
    }
  }
  lt_buf_add(scratch, lt_str_sub(source, from, source.n));
  return lt_buf_view_or(scratch, source);
}

/* Sentences without spaces: the full stop, comma and marks of Chinese and Japanese are in no identifier. */
static bool prose_has_wide_mark(lt_str word) {
  static const char *const marks[] = {
      "\xE3\x80\x81", "\xE3\x80\x82", "\xEF\xBC\x8C", "\xEF\xBC\x81", "\xEF\xBC\x9F", "\xEF\xBC\x9A", NULL};
  for (size_t i = 0; i + 3 <= word.n; i++) {
    bool may_begin = word.p[i] == '\xE3' || word.p[i] == '\xEF';
    if (may_begin && prose_is_among(lt_str_sub(word, i, i + 3), marks)) {
      return true;
    }
  }
  return false;
}

static bool prose_is_word(const lt_jstok *tok) {
  return tok->kind == LT_JSTOK_WORD || tok->kind == LT_JSTOK_NUMBER;
}

static bool prose_is_pair(const lt_jslex *lx) {
  return prose_is_word(&lx->prev) && prose_is_word(&lx->tok) && !lx->tok.newline_before && !lx->prev.after_dot &&
         !prose_is_among(lx->prev.text, prose_before_word) && !prose_is_among(lx->tok.text, prose_after_word);
}

/* A parenthesis right behind a word: a call, or the head of a statement. */
static bool prose_is_call(const lt_jslex *lx) {
  return lt_jslex_is_punct(lx, '(') && lx->prev.kind == LT_JSTOK_WORD &&
         lx->prev.text.p + lx->prev.text.n == lx->tok.text.p;
}

static bool prose_is_code(const lt_jslex *lx) {
  return lx->tok.kind == LT_JSTOK_ARROW || lx->tok.kind == LT_JSTOK_SPREAD || prose_is_call(lx) ||
         (lx->tok.kind == LT_JSTOK_PUNCT && strchr("=;{}", lx->tok.punct) != NULL && lx->tok.punct != '\0');
}

/* A dash, a bracket or a star are in prose as often. */
static bool prose_is_mark(const lt_jslex *lx) {
  return lx->tok.kind == LT_JSTOK_PUNCT && lx->tok.punct != '\0' && strchr(".,!?:", lx->tok.punct) != NULL;
}

/* `at`: the token's zero-based number. `path`: so far there are only words with dots between them. */
static void prose_follow_start(prose_signs *s, const lt_jslex *lx, size_t at, bool *path) {
  if (at == 0) {
    s->first = lx->tok;
    s->starts_as_code = prose_is_among(lx->tok.text, prose_starts);
  } else if (at == 1 && prose_is_among(s->first.text, prose_heads)) {
    s->starts_as_code = lt_jslex_is_punct(lx, '(');
  } else if (at == 1 && lt_jslex_is_punct(lx, ':')) {
    s->is_label = s->first.kind == LT_JSTOK_WORD;
  } else if (at == 2 && s->is_label) {
    s->is_label = !prose_is_among(lx->tok.text, prose_labelled) && !lt_jslex_is_punct(lx, '{');
  }
  s->starts_as_code = s->starts_as_code || (*path && prose_is_call(lx));
  *path = *path && (lx->tok.kind == LT_JSTOK_WORD || lt_jslex_is_punct(lx, '.')) && !prose_is_pair(lx);
}

static prose_signs prose_read(lt_str source) {
  prose_signs s = {0};
  lt_jslex lx;
  bool path = true;
  lt_jslex_init(&lx, source);
  for (size_t at = 0; lt_jslex_next(&lx); at++) {
    bool is_word = lx.tok.kind == LT_JSTOK_WORD;
    s.words += is_word;
    s.pairs += prose_is_pair(&lx) + (is_word && prose_has_wide_mark(lx.tok.text) ? 2 : 0);
    s.code += prose_is_code(&lx);
    s.has_other = s.has_other || (!is_word && !prose_is_mark(&lx));
    prose_follow_start(&s, &lx, at, &path);
    s.last = lx.tok;
  }
  return s;
}

/* Words and the marks of sentences alone: it calls nothing and computes nothing. A single word may be a variable. */
static bool prose_is_short_sentence(const prose_signs *s) {
  bool ends = s->last.kind == LT_JSTOK_PUNCT && strchr(".!?", s->last.punct) != NULL && s->last.punct != '\0';
  char first = s->first.kind == LT_JSTOK_WORD ? s->first.text.p[0] : 'a';
  bool is_said =
      (first >= 'A' && first <= 'Z') || (unsigned char)first >= 0x80 || prose_is_among(s->first.text, prose_single);
  return s->words > 0 && !s->has_other && (ends || (s->words == 1 && is_said));
}

bool lt_js_prose_is(lt_str source, lt_buf *scratch) {
  prose_signs s = prose_read(prose_without_apostrophes(lt_str_trim(source), scratch));
  bool ends_as_code = s.last.kind == LT_JSTOK_PUNCT && strchr(";)}", s.last.punct) != NULL && s.last.punct != '\0';
  if (s.starts_as_code && ends_as_code) {
    return false;
  }
  return s.pairs > s.code || prose_is_short_sentence(&s) || (s.is_label && s.code == 0);
}
