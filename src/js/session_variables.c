#include "js/session_variables.h"

#include "js/jslex.h"
#include "js/top_return.h"

typedef struct variable_rewrite {
  lt_str source;
  lt_jslex lx;
  lt_buf *out;
  size_t copied;  /* offset in the source */
  bool in_class;  /* a declared class has begun at the top level ... */
  bool is_opened; /* ... and so has its body */
} variable_rewrite;

static void variables_copy_to(variable_rewrite *r, size_t end) {
  lt_buf_add(r->out, lt_str_sub(r->source, r->copied, end));
  r->copied = end;
}

static size_t variables_offset(const variable_rewrite *r) {
  return (size_t)(r->lx.tok.text.p - r->source.p);
}

/* `tok` is a word at the top level: may a statement begin here? */
static bool variables_begins_statement(const lt_jslex *lx) {
  const lt_jstok *prev = &lx->prev;
  bool is_behind_end = prev->kind == LT_JSTOK_START || prev->punct == ';' || prev->punct == '}';
  return !lx->tok.after_dot && (is_behind_end || (lx->tok.newline_before && !prev->wants_operand));
}

/* `let` is an ordinary name in old programs. */
static bool variables_is_let(variable_rewrite *r) {
  lt_jslex next = r->lx;
  return lt_jslex_next(&next) && (next.tok.kind == LT_JSTOK_WORD || next.tok.punct == '[' || next.tok.punct == '{') &&
         !lt_jslex_is_word(&next, "in") && !lt_jslex_is_word(&next, "instanceof");
}

static void variables_put(variable_rewrite *r, const char *text, size_t replaced) {
  variables_copy_to(r, variables_offset(r));
  lt_buf_addc(r->out, text);
  r->copied += replaced;
}

static void variables_begin_class(variable_rewrite *r) {
  lt_jslex next = r->lx;
  if (!lt_jslex_next(&next) || next.tok.kind != LT_JSTOK_WORD) {
    return;
  }
  variables_copy_to(r, variables_offset(r));
  lt_buf_addc(r->out, "var ");
  lt_buf_add(r->out, next.tok.text);
  lt_buf_addc(r->out, "=");
  r->in_class = true;
  r->is_opened = false;
}

/* `tok` is the token behind the last one of the class, when it is closed. */
static void variables_follow_class(variable_rewrite *r) {
  if (!r->is_opened) {
    r->is_opened = lt_jslex_is_punct(&r->lx, '{') && r->lx.depth == 1;
  } else if (r->lx.depth == 0) {
    variables_copy_to(r, variables_offset(r) + r->lx.tok.text.n);
    lt_buf_addc(r->out, ";");
    r->in_class = false;
  }
}

static void variables_take_token(variable_rewrite *r) {
  const lt_jslex *lx = &r->lx;
  if (r->in_class) {
    variables_follow_class(r);
  } else if (lx->depth != 0 || lx->tok.kind != LT_JSTOK_WORD || !variables_begins_statement(lx)) {
    return;
  } else if (lt_jslex_is_word(lx, "const")) {
    variables_put(r, "var  ", LT_STR("const").n);
  } else if (lt_jslex_is_word(lx, "let") && variables_is_let(r)) {
    variables_put(r, "var", LT_STR("let").n);
  } else if (lt_jslex_is_word(lx, "class")) {
    variables_begin_class(r);
  }
}

/* The name of the function that `tok` declares; or empty. */
static lt_str variables_function_name(const variable_rewrite *r) {
  lt_jslex next = r->lx;
  if (next.depth != 0 || next.tok.kind != LT_JSTOK_WORD || !variables_begins_statement(&next)) {
    return LT_STR_NULL;
  }
  bool is_function = (!lt_jslex_is_word(&next, "async") || lt_jslex_next(&next)) && lt_jslex_is_word(&next, "function");
  if (!is_function || !lt_jslex_next(&next) || (lt_jslex_is_punct(&next, '*') && !lt_jslex_next(&next))) {
    return LT_STR_NULL;
  }
  return next.tok.kind == LT_JSTOK_WORD ? next.tok.text : LT_STR_NULL;
}

/* A block's functions exist from its beginning. */
static void variables_share_functions(lt_str source, lt_buf *out) {
  variable_rewrite r = {.source = source};
  lt_jslex_init(&r.lx, source);
  while (lt_jslex_next(&r.lx)) {
    lt_str name = variables_function_name(&r);
    if (name.n > 0) {
      lt_buf_addc(out, "globalThis.");
      lt_buf_add(out, name);
      lt_buf_addc(out, "=");
      lt_buf_add(out, name);
      lt_buf_addc(out, ";");
    }
  }
}

void lt_session_variables_rewrite(lt_str source, bool is_block, lt_buf *out, unsigned *ret_prefix) {
  variable_rewrite r = {.source = source, .out = out};
  size_t start = lt_top_return_find_start(source);
  variables_copy_to(&r, start);
  size_t before = out->n;
  if (is_block) {
    variables_share_functions(source, out);
  }
  *ret_prefix = start == 0 ? (unsigned)(out->n - before) : 0;
  lt_jslex_init(&r.lx, source);
  while (lt_jslex_next(&r.lx)) {
    variables_take_token(&r);
  }
  variables_copy_to(&r, source.n);
}
