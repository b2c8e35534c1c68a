#include "js/commonjs.h"

#include "js/jslex.h"
#include "js/top_return.h"

#define SCRIPT_HEAD "var module={exports:{}},exports=module.exports;"
#define TYPED_HEAD  "var module:any={exports:{}},exports:any=module.exports;"
#define VALUE_OF(parameters)                                                                      \
  "((" parameters                                                                                 \
  ")=>e===null||typeof e!=='object'?e:e.default!==undefined?e.default:typeof e.main==='function'" \
  "?e.main:(k=Object.keys(e)).length===1&&typeof e[k[0]]==='function'?e[k[0]]:e)(module.exports)"
#define SCRIPT_TAIL "\n;" VALUE_OF("e,k")
#define MODULE_TAIL "\nexport default " VALUE_OF("e,k") ";"
#define TYPED_TAIL  "\nexport default " VALUE_OF("e:any,k?:any") ";"

enum { EXPORTED_MAX = 16 };

typedef struct commonjs_reader {
  lt_commonjs found;
  bool is_declared; /* the program has a `module` or `exports` of its own */
  lt_str exported[EXPORTED_MAX];
  size_t count;
} commonjs_reader;

/* --- Patterns ----------------------------------------------------------------------------------------------------- */
static bool commonjs_is_free(const lt_jslex *lx, const char *word) {
  return lt_jslex_is_word(lx, word) && !lx->tok.after_dot;
}

/* Whether `.word` follows. `lx` is a copy. */
static bool commonjs_is_followed_by(lt_jslex lx, const char *word) {
  return lt_jslex_next(&lx) && lt_jslex_is_punct(&lx, '.') && lt_jslex_next(&lx) && lt_jslex_is_word(&lx, word);
}

/* Whether a single = follows. `lx` is a copy. */
static bool commonjs_is_assigned(lt_jslex lx, lt_jslex *ret_after) {
  if (!lt_jslex_next(&lx) || !lt_jslex_is_punct(&lx, '=') || !lt_jslex_next(&lx)) {
    return false;
  }
  *ret_after = lx;
  return !lt_jslex_is_punct(&lx, '=');
}

/* Whether `tok` is the `exports` of `exports.name =`. */
static bool commonjs_is_named_export(lt_jslex lx, lt_jslex *ret_after) {
  return commonjs_is_free(&lx, "exports") && lt_jslex_next(&lx) && lt_jslex_is_punct(&lx, '.') && lt_jslex_next(&lx) &&
         lx.tok.kind == LT_JSTOK_WORD && commonjs_is_assigned(lx, ret_after);
}

static bool commonjs_is_required_main(const lt_jslex *lx) {
  return commonjs_is_free(lx, "require") && commonjs_is_followed_by(*lx, "main");
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void commonjs_add_exported(commonjs_reader *r, lt_str name) {
  if (r->count < EXPORTED_MAX) {
    r->exported[r->count++] = name;
  }
}

/* `lx` is at the first token of what is exported: a name, or an object whose words are taken as names. */
static void commonjs_take_value(commonjs_reader *r, lt_jslex lx) {
  r->found.is_used = r->found.has_exports = true;
  bool is_keyword = lt_jslex_is_word(&lx, "async") || lt_jslex_is_word(&lx, "await") || lt_jslex_is_word(&lx, "new");
  if (lx.tok.kind == LT_JSTOK_WORD && !is_keyword) {
    commonjs_add_exported(r, lx.tok.text);
  }
  if (lt_jslex_is_punct(&lx, '{')) {
    for (size_t outside = lx.depth - 1; lt_jslex_next(&lx) && lx.depth > outside;) {
      if (lx.tok.kind == LT_JSTOK_WORD && lx.depth == outside + 1) {
        commonjs_add_exported(r, lx.tok.text);
      }
    }
  }
}

static bool commonjs_is_declaration(const lt_jstok *prev) {
  static const char *const words[] = {"const", "let", "var", "function", "class", "import", "namespace"};
  for (size_t i = 0; i < sizeof words / sizeof words[0] && prev->kind == LT_JSTOK_WORD; i++) {
    if (lt_str_eqc(prev->text, words[i])) {
      return true;
    }
  }
  return false;
}

static void commonjs_read_token(commonjs_reader *r, const lt_jslex *lx) {
  lt_jslex after;
  bool is_module = commonjs_is_free(lx, "module");
  if ((is_module || commonjs_is_free(lx, "exports")) && commonjs_is_declaration(&lx->prev)) {
    r->is_declared = true;
  }
  if (commonjs_is_required_main(lx)) {
    r->found.is_used = true;
  } else if (is_module && commonjs_is_followed_by(*lx, "exports")) {
    lt_jslex exports = *lx;
    lt_jslex_next(&exports);
    lt_jslex_next(&exports);
    r->found.is_used = r->found.has_exports = true;
    if (commonjs_is_assigned(exports, &after)) {
      commonjs_take_value(r, after);
    }
  } else if (commonjs_is_named_export(*lx, &after)) {
    commonjs_take_value(r, after);
  }
}

static bool commonjs_is_exported(const commonjs_reader *r, lt_str name) {
  for (size_t i = 0; i < r->count; i++) {
    if (lt_str_eq(r->exported[i], name)) {
      return true;
    }
  }
  return false;
}

/* Whether a function that is exported is called by the program, too. */
static bool commonjs_calls_exports(const commonjs_reader *r, lt_str source) {
  lt_jslex lx;
  lt_jslex_init(&lx, source);
  lt_str name = LT_STR_NULL;
  while (lt_jslex_next(&lx)) {
    if (name.n > 0 && lt_jslex_is_punct(&lx, '(') && commonjs_is_exported(r, name)) {
      return true;
    }
    bool is_free = lx.tok.kind == LT_JSTOK_WORD && !lx.tok.after_dot && !commonjs_is_declaration(&lx.prev);
    name = is_free && !lt_str_eqc(lx.tok.text, "function") ? lx.tok.text : LT_STR_NULL;
  }
  return false;
}

lt_commonjs lt_commonjs_read(lt_str source) {
  commonjs_reader r = {0};
  lt_jslex lx;
  if (lt_str_find(source, LT_STR("exports"), 0) == SIZE_MAX &&
      lt_str_find(source, LT_STR("require.main"), 0) == SIZE_MAX) {
    return r.found;
  }
  lt_jslex_init(&lx, source);
  while (lt_jslex_next(&lx)) {
    commonjs_read_token(&r, &lx);
  }
  if (r.is_declared || lx.unterminated) {
    return (lt_commonjs){0};
  }
  r.found.calls_its_exports = commonjs_calls_exports(&r, source);
  return r.found;
}

/* --- Rewriting ---------------------------------------------------------------------------------------------------- */
/* `require.main` becomes `module` and six spaces, so that the guard holds. */
static void commonjs_put_source(lt_str source, size_t from, lt_buf *out) {
  lt_jslex lx;
  size_t copied = from;
  lt_jslex_init(&lx, source);
  while (lt_jslex_next(&lx)) {
    size_t at = (size_t)(lx.tok.text.p - source.p);
    lt_str main_of = LT_STR("require.main");
    if (at >= from && commonjs_is_required_main(&lx) && lt_str_starts(lt_str_sub(source, at, source.n), main_of)) {
      lt_buf_add(out, lt_str_sub(source, copied, at));
      lt_buf_addc(out, "module      ");
      copied = at + main_of.n;
    }
  }
  lt_buf_add(out, lt_str_sub(source, copied, source.n));
}

void lt_commonjs_rewrite(lt_str source, lt_commonjs_form form, bool gives_exports, lt_buf *out, unsigned *ret_prefix) {
  static const char *const tails[] = {
      [LT_COMMONJS_SCRIPT] = SCRIPT_TAIL, [LT_COMMONJS_MODULE] = MODULE_TAIL, [LT_COMMONJS_TYPED] = TYPED_TAIL};
  size_t start = lt_top_return_find_start(source);
  lt_str head = form == LT_COMMONJS_TYPED ? LT_STR(TYPED_HEAD) : LT_STR(SCRIPT_HEAD);
  *ret_prefix = start == 0 ? (unsigned)head.n : 0;
  lt_buf_add(out, lt_str_sub(source, 0, start));
  lt_buf_addc(out, start > 0 ? ";" : "");
  lt_buf_add(out, head);
  commonjs_put_source(source, start, out);
  lt_buf_addc(out, gives_exports ? tails[form] : "");
}

bool lt_commonjs_find_export_equals(lt_str source, size_t *ret_start, size_t *ret_end) {
  lt_jslex lx;
  lt_jslex_init(&lx, source);
  while (lt_jslex_next(&lx)) {
    bool is_after_export = lx.depth == 0 && lx.prev.kind == LT_JSTOK_WORD && lt_str_eqc(lx.prev.text, "export");
    if (is_after_export && !lx.prev.after_dot && lt_jslex_is_punct(&lx, '=')) {
      *ret_start = (size_t)(lx.prev.text.p - source.p);
      *ret_end = lx.at;
      return true;
    }
  }
  return false;
}
