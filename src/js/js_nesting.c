#include "js/js_nesting.h"

enum { NESTING_OTHER, NESTING_HEAD, NESTING_FUNCTION };

lt_js_nesting lt_js_nesting_none(void) {
  lt_js_nesting nesting;
  nesting.depth = 0; /* the stack needs no clearing */
  nesting.functions = 0;
  nesting.type_depth = SIZE_MAX;
  nesting.head_closed = false;
  return nesting;
}

bool lt_js_nesting_expects_type(const lt_jstok *tok) {
  if (tok->kind == LT_JSTOK_WORD) {
    return lt_str_eqc(tok->text, "is") || lt_str_eqc(tok->text, "readonly") || lt_str_eqc(tok->text, "keyof");
  }
  return tok->kind == LT_JSTOK_ARROW ||
         (tok->kind == LT_JSTOK_PUNCT && tok->punct != '\0' && strchr(":|&?", tok->punct) != NULL);
}

/* Whether a parenthesis after this token is the head of a statement, so that a { after it opens a block. `await` is
 * that of `for await (...)`. */
static bool nesting_precedes_head(const lt_jstok *tok) {
  static const char *const words[] = {"if", "for", "while", "switch", "catch", "with", "await"};
  if (tok->kind != LT_JSTOK_WORD || tok->after_dot) {
    return false;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (lt_str_eqc(tok->text, words[i])) {
      return true;
    }
  }
  return false;
}

/* `tok` is a {. */
static bool nesting_opens_function(lt_js_nesting *n, const lt_jslex *lx) {
  if (n->type_depth != SIZE_MAX && lx->depth == n->type_depth + 1 && !lt_js_nesting_expects_type(&lx->prev)) {
    n->type_depth = SIZE_MAX;
    return true;
  }
  bool after_parameters = lx->prev.kind == LT_JSTOK_PUNCT && lx->prev.punct == ')' && !n->head_closed;
  return lx->prev.kind == LT_JSTOK_ARROW || after_parameters;
}

static void nesting_open(lt_js_nesting *n, const lt_jslex *lx) {
  uint8_t what = NESTING_OTHER;
  if (lt_jslex_is_punct(lx, '(') && nesting_precedes_head(&lx->prev)) {
    what = NESTING_HEAD;
  } else if (lx->depth > LT_JSSCAN_DEPTH || (lt_jslex_is_punct(lx, '{') && nesting_opens_function(n, lx))) {
    what = NESTING_FUNCTION;
    n->functions++;
  }
  if (lx->depth <= LT_JSSCAN_DEPTH) {
    n->open[lx->depth - 1] = what;
  }
}

static void nesting_close(lt_js_nesting *n, const lt_jslex *lx) {
  uint8_t what = lx->depth < LT_JSSCAN_DEPTH ? n->open[lx->depth] : NESTING_FUNCTION;
  n->head_closed = what == NESTING_HEAD;
  n->functions -= what == NESTING_FUNCTION;
  if (n->type_depth != SIZE_MAX && lx->depth < n->type_depth) {
    n->type_depth = SIZE_MAX;
  }
}

/* The `: Promise<void>` after a function's parameters begins here, or ends without a body. */
static void nesting_follow_type(lt_js_nesting *n, const lt_jslex *lx) {
  bool after_parameters = lx->prev.kind == LT_JSTOK_PUNCT && lx->prev.punct == ')' && !n->head_closed;
  if (lt_jslex_is_punct(lx, ':') && after_parameters) {
    n->type_depth = lx->depth;
  } else if (lx->depth == n->type_depth && (lt_jslex_is_punct(lx, ';') || lt_jslex_starts_new_line(lx))) {
    n->type_depth = SIZE_MAX;
  }
}

void lt_js_nesting_follow(lt_js_nesting *n, const lt_jslex *lx) {
  if (lx->depth > n->depth) {
    nesting_open(n, lx);
  } else if (lx->depth < n->depth) {
    nesting_close(n, lx);
  } else {
    nesting_follow_type(n, lx);
  }
  n->depth = lx->depth;
}

static bool nesting_is_key(const lt_jslex *lx) {
  size_t at = lx->at;
  bool newline = false;
  for (size_t n; (n = lt_jslex_space_at(lx->src, at, &newline)) > 0;) {
    at += n;
  }
  return at < lx->src.n && lx->src.p[at] == ':';
}

bool lt_js_nesting_is_top_return(const lt_js_nesting *n, const lt_jslex *lx) {
  bool after_comma = lx->prev.kind == LT_JSTOK_PUNCT && lx->prev.punct == ','; /* a method with that name */
  return n->functions == 0 && lt_jslex_is_word(lx, "return") && !lx->tok.after_dot && !after_comma &&
         !nesting_is_key(lx);
}
