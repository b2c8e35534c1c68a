#include "js/js_export.h"

#include "js/jslex.h"

static bool export_is_declaration(const lt_jslex *lx) {
  return lt_jslex_is_word(lx, "const") || lt_jslex_is_word(lx, "let") || lt_jslex_is_word(lx, "var");
}

/* `lx` is a copy at the word `export`. A type before the = may have brackets. */
static lt_str export_value(lt_jslex lx, const char *name) {
  bool is_found = lt_jslex_next(&lx) && export_is_declaration(&lx) && lt_jslex_next(&lx) && lt_jslex_is_word(&lx, name);
  while (is_found && lt_jslex_next(&lx) && !lt_jslex_is_punct(&lx, ';')) {
    if (lx.depth == 0 && lt_jslex_is_punct(&lx, '=')) {
      return lt_jslex_next(&lx) ? lt_str_from(lx.tok.text.p, (size_t)(lx.src.p + lx.src.n - lx.tok.text.p))
                                : LT_STR_NULL;
    }
  }
  return LT_STR_NULL;
}

lt_str lt_js_export_find(lt_str source, const char *name) {
  lt_jslex lx;
  lt_jslex_init(&lx, source);
  while (lt_jslex_next(&lx)) {
    if (lx.depth == 0 && lt_jslex_is_word(&lx, "export") && !lx.tok.after_dot) {
      lt_str value = export_value(lx, name);
      if (value.p != NULL) {
        return value;
      }
    }
  }
  return LT_STR_NULL;
}
