#include "js/js_call_start.h"

#include "js/jslex.h"

/* An open bracket. */
typedef struct call_bracket {
  size_t before; /* where the expression before it begins */
  lt_str name;   /* the word before it */
  bool is_call;
  bool is_body; /* of a function or a block */
} call_bracket;

typedef struct call_finder {
  lt_jslex lx;
  call_bracket open[LT_JSSCAN_DEPTH];
  size_t depth; /* that the stack has; deeper brackets are left out */
  size_t chain; /* where the expression that ends with `tok` begins: `a` in a.b().c */
} call_finder;

static size_t call_offset(const call_finder *f, const lt_jstok *tok) {
  return (size_t)(tok->text.p - f->lx.src.p);
}

/* Whether `prev` ends an expression that can be called. */
static bool call_is_callable(const lt_jstok *prev) {
  static const char *const words[] = {"if",       "for",    "while", "switch", "catch", "with",
                                      "function", "return", "await", "of",     "in",    "typeof"};
  for (size_t i = 0; i < sizeof words / sizeof words[0] && prev->kind == LT_JSTOK_WORD && !prev->after_dot; i++) {
    if (lt_str_eqc(prev->text, words[i])) {
      return false;
    }
  }
  return prev->kind == LT_JSTOK_WORD || prev->punct == ')' || prev->punct == ']';
}

static void call_open(call_finder *f) {
  const lt_jstok *prev = &f->lx.prev;
  bool is_call = lt_jslex_is_punct(&f->lx, '(') && call_is_callable(prev);
  size_t name_at = is_call && prev->kind == LT_JSTOK_WORD ? call_offset(f, prev) : f->chain;
  lt_str between = lt_str_sub(f->lx.src, f->chain, name_at);
  f->open[f->depth++] = (call_bracket){
      .before = lt_str_find(between, LT_STR("\n"), 0) == SIZE_MAX ? f->chain : name_at,
      .name = prev->kind == LT_JSTOK_WORD ? prev->text : LT_STR_NULL,
      .is_call = is_call,
      .is_body = lt_jslex_is_punct(&f->lx, '{') && (prev->kind == LT_JSTOK_ARROW || prev->punct == ')'),
  };
}

/* Reads one token. False: the end. */
static bool call_next_token(call_finder *f) {
  size_t before = f->lx.depth;
  if (!lt_jslex_next(&f->lx)) {
    return false;
  }
  if (f->lx.depth > before && f->depth < LT_JSSCAN_DEPTH) {
    call_open(f);
  } else if (f->lx.depth < before && f->depth > f->lx.depth) {
    f->chain = f->open[--f->depth].before;
  } else if (f->lx.tok.kind != LT_JSTOK_PUNCT && !f->lx.tok.after_dot) {
    f->chain = call_offset(f, &f->lx.tok);
  }
  return true;
}

/* Reads up to the token at `at`. */
static void call_read_to(call_finder *f, lt_str source, size_t at) {
  lt_jslex_init(&f->lx, source);
  f->depth = 0;
  f->chain = 0;
  while (call_next_token(f) && f->lx.at <= at) {
  }
}

static bool call_is_word(lt_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (!lt_jslex_is_word_byte(s.p[i])) {
      return false;
    }
  }
  return s.n > 0;
}

/* Whether `tok` is the name of a function that is called there. */
static bool call_is_at_callee(const call_finder *f, lt_str callee) {
  lt_jslex ahead = f->lx;
  return ahead.tok.kind == LT_JSTOK_WORD && (callee.n == 0 || lt_str_eq(ahead.tok.text, callee)) &&
         lt_jslex_next(&ahead) && lt_jslex_is_punct(&ahead, '(');
}

size_t lt_js_call_start_of_callee(lt_str source, size_t at, lt_str callee) {
  call_finder f;
  call_read_to(&f, source, at);
  callee = call_is_word(callee) ? callee : LT_STR_NULL;
  if (call_is_at_callee(&f, callee)) {
    return at;
  }
  for (size_t i = f.depth; i-- > 0 && !f.open[i].is_body;) {
    if (f.open[i].is_call && (callee.n == 0 || lt_str_eq(f.open[i].name, callee))) {
      return f.open[i].before;
    }
  }
  return at;
}

size_t lt_js_call_start_before_property(lt_str source, size_t at, lt_str property) {
  call_finder f;
  call_read_to(&f, source, at);
  size_t inside = f.depth;
  call_bracket open[LT_JSSCAN_DEPTH];
  memcpy(open, f.open, inside * sizeof open[0]);
  while (inside > 0 && !open[inside - 1].is_body) {
    if (!call_next_token(&f)) {
      return at;
    }
    if (f.depth >= inside) {
      continue;
    }
    lt_jslex ahead = f.lx;
    inside = f.depth;
    bool is_read = lt_jslex_next(&ahead) && lt_jslex_is_punct(&ahead, '.') && lt_jslex_next(&ahead) &&
                   lt_str_eq(ahead.tok.text, property);
    if (open[inside].is_call && is_read) {
      return open[inside].before;
    }
  }
  return at;
}

size_t lt_js_call_start_of_iterated(lt_str source, size_t at) {
  call_finder f;
  call_read_to(&f, source, at);
  bool is_exact = f.lx.prev.kind == LT_JSTOK_SPREAD || (f.lx.prev.kind == LT_JSTOK_WORD && f.lx.prev.wants_operand);
  size_t start = at;
  for (size_t i = f.depth; i-- > 0 && !f.open[i].is_body && !is_exact;) {
    start = f.open[i].is_call ? f.open[i].before : start;
  }
  return start;
}
