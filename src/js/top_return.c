#include "js/top_return.h"

#include "js/js_nesting.h"
#include "js/jslex.h"

/* In a script it is as long as the word `return`, so that the columns after it do not change. */
#define SCRIPT_OPEN "{(    "
#define MODULE_OPEN "{$lathe_value=("
#define CLOSE       ");break $lathe}"

#define SCRIPT_HEAD "$lathe:{"
#define MODULE_HEAD ";let $lathe_value;$lathe:{"
#define SCRIPT_TAIL "\n}"
#define MODULE_TAIL "\n}export default $lathe_value;"

typedef struct return_rewrite {
  lt_str source;
  lt_jslex lx;
  lt_js_nesting nesting;
  lt_buf *out;
  size_t copied; /* offset in the source */
  bool is_module;
} return_rewrite;

static size_t return_offset(const return_rewrite *r, lt_str text) {
  return (size_t)(text.p - r->source.p);
}

static void return_copy_to(return_rewrite *r, size_t end) {
  lt_buf_add(r->out, lt_str_sub(r->source, r->copied, end));
  r->copied = end;
}

static bool return_next_token(return_rewrite *r) {
  bool any = lt_jslex_next(&r->lx);
  lt_js_nesting_follow(&r->nesting, &r->lx);
  return any;
}

/* --- One return --------------------------------------------------------------------------------------------------- */
static bool return_ends_before_token(const return_rewrite *r, size_t depth, bool is_first) {
  const lt_jslex *lx = &r->lx;
  if (lx->tok.kind == LT_JSTOK_END || lx->depth < depth || (lx->depth == depth && lt_jslex_is_punct(lx, ';'))) {
    return true;
  }
  if (is_first) { /* only a space may separate `return` from its expression (ECMA-262, 12.10.1) */
    return lx->tok.newline_before;
  }
  bool is_outside = lx->depth == depth || (lt_jslex_is_punct(lx, '{') && lx->depth == depth + 1);
  return is_outside && lt_jslex_starts_new_line(lx);
}

/* `tok` is the word. Afterwards `tok` is the first token after the statement. */
static void return_rewrite_statement(return_rewrite *r) {
  size_t depth = r->lx.depth, end = return_offset(r, r->lx.tok.text);
  return_copy_to(r, end);
  r->copied = end = end + LT_STR("return").n;
  bool is_first = true;
  return_next_token(r);
  for (; !return_ends_before_token(r, depth, is_first); return_next_token(r)) {
    end = return_offset(r, r->lx.tok.text) + r->lx.tok.text.n;
    is_first = false;
  }
  lt_buf_addc(r->out, r->is_module ? MODULE_OPEN : SCRIPT_OPEN);
  if (is_first) {
    lt_buf_addc(r->out, "void 0");
  }
  return_copy_to(r, end);
  lt_buf_addc(r->out, CLOSE);
  if (lt_jslex_is_punct(&r->lx, ';')) { /* a semicolon would separate an `else` from its `if` */
    r->copied = return_offset(r, r->lx.tok.text) + 1;
    return_next_token(r);
  }
}

/* --- The program -------------------------------------------------------------------------------------------------- */

/* The end of the last import statement, which is that of its module's name. 0: there is none. */
static size_t return_find_imports_end(lt_str source) {
  lt_jslex lx;
  size_t end = 0;
  bool in_import = false;
  lt_jslex_init(&lx, source);
  while (lt_jslex_next(&lx)) {
    bool starts = lx.prev.kind == LT_JSTOK_START || lx.tok.newline_before || lx.prev.punct == ';';
    if (lx.depth == 0 && starts) {
      in_import = lt_jslex_is_word(&lx, "import");
    }
    if (lx.depth == 0 && in_import && lx.tok.kind == LT_JSTOK_STRING) {
      end = lx.at;
      in_import = false;
    }
  }
  return end;
}

size_t lt_top_return_find_start(lt_str source) {
  size_t newline = lt_str_find(source, LT_STR("\n"), 0);
  size_t line = lt_str_starts(source, LT_STR("#!")) && newline != SIZE_MAX ? newline + 1 : 0;
  size_t imports = return_find_imports_end(source);
  return imports > line ? imports : line;
}

static void return_begin(return_rewrite *r, unsigned *ret_prefix) {
  size_t start = lt_top_return_find_start(r->source);
  lt_str head = r->is_module ? LT_STR(MODULE_HEAD) : LT_STR(SCRIPT_HEAD);
  *ret_prefix = start == 0 ? (unsigned)head.n : 0;
  return_copy_to(r, start);
  lt_buf_add(r->out, head);
}

void lt_top_return_rewrite(lt_str source, bool is_module, lt_buf *out, unsigned *ret_prefix) {
  return_rewrite r = {.source = source, .out = out, .is_module = is_module};
  r.nesting = lt_js_nesting_none();
  lt_jslex_init(&r.lx, source);
  return_begin(&r, ret_prefix);
  bool any = return_next_token(&r);
  while (any) {
    if (lt_js_nesting_is_top_return(&r.nesting, &r.lx)) {
      return_rewrite_statement(&r);
      any = r.lx.tok.kind != LT_JSTOK_END;
    } else {
      any = return_next_token(&r);
    }
  }
  return_copy_to(&r, source.n);
  lt_buf_addc(out, is_module ? MODULE_TAIL : SCRIPT_TAIL);
}
