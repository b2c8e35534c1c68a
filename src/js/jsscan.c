#include "js/jsscan.h"

#include "js/js_nesting.h"
#include "js/jslex.h"

/* The number of parentheses round a function that are looked through. Each costs another attempt. */
enum { WRAPPERS_MAX = 8 };

/* --- Import, export, await ---------------------------------------------------------------------------------------- */

/* Whether `tok`, at nesting depth 0, can begin a statement. */
static bool jsscan_starts_statement(const lt_jslex *lx) {
  if (lx->depth != 0 || lx->tok.after_dot) {
    return false;
  }
  const lt_jstok *prev = &lx->prev;
  return prev->kind == LT_JSTOK_START || lx->tok.newline_before ||
         (prev->kind == LT_JSTOK_PUNCT && (prev->punct == ';' || prev->punct == '}'));
}

/* `tok` follows the word `import` or `export` at the start of a statement. The next tokens decide whether this is an
 * import or export statement. */
static bool jsscan_continues_module_word(const lt_jslex *lx) {
  switch (lx->tok.kind) {
    case LT_JSTOK_WORD:
    case LT_JSTOK_STRING:
      return true;
    case LT_JSTOK_PUNCT:
      return lx->tok.punct == '{' || lx->tok.punct == '*';
    case LT_JSTOK_START:
    case LT_JSTOK_END:
    case LT_JSTOK_NUMBER:
    case LT_JSTOK_TEMPLATE:
    case LT_JSTOK_REGEX:
    case LT_JSTOK_ARROW:
    case LT_JSTOK_INCDEC:
    case LT_JSTOK_SPREAD:
      return false;
  }
  return false;
}

static void jsscan_note_word(lt_jsscan *scan, const lt_jslex *lx) {
  if (lt_jslex_is_word(lx, "await")) {
    scan->has_await |= !lx->tok.after_dot;
  } else if (lt_jslex_is_word(lx, "Promise")) {
    scan->uses_promises = true;
  } else if (lt_jslex_is_word(lx, "then")) {
    scan->uses_promises |= lx->tok.after_dot;
  }
}

/* `tok` is `main`: the tokens after it are `= async`, `= function` or `= ()`. */
static bool jsscan_is_given_function(const lt_jslex *lx) {
  lt_jslex ahead = *lx;
  if (!lt_jslex_next(&ahead) || !lt_jslex_is_punct(&ahead, '=') || !lt_jslex_next(&ahead)) {
    return false;
  }
  if (lt_jslex_is_punct(&ahead, '(')) {
    return lt_jslex_next(&ahead) && lt_jslex_is_punct(&ahead, ')');
  }
  return lt_jslex_is_word(&ahead, "async") || lt_jslex_is_word(&ahead, "function");
}

/* Finds `function main` or `const main = async ...` at the top level. A generator has a * in between and does not
 * count. */
static bool jsscan_declares_main(const lt_jslex *lx) {
  if (lx->depth != 0 || lx->prev.kind != LT_JSTOK_WORD) {
    return false;
  }
  if (lt_str_eqc(lx->prev.text, "function")) {
    return true;
  }
  bool is_variable = lt_str_eqc(lx->prev.text, "const") || lt_str_eqc(lx->prev.text, "let");
  return is_variable && jsscan_is_given_function(lx);
}

/* A string's characters as they are written; empty for a piece of a template that has substitutions. */
static lt_str jsscan_string_text(const lt_jslex *lx) {
  lt_str text = lx->tok.text;
  bool is_whole = text.n >= 2 && text.p[0] == text.p[text.n - 1] && text.p[0] != '}';
  return is_whole ? lt_str_sub(text, 1, text.n - 1) : LT_STR_NULL;
}

static void jsscan_visit_name(const lt_jsscan_visitor *visitor, const lt_jslex *lx) {
  if (lx->tok.kind == LT_JSTOK_WORD) {
    visitor->on_name(visitor->arg, lx->tok.text, false);
  } else if (lx->tok.kind == LT_JSTOK_STRING || lx->tok.kind == LT_JSTOK_TEMPLATE) {
    visitor->on_name(visitor->arg, jsscan_string_text(lx), true);
  }
}

static void jsscan_read_words(lt_jsscan *scan, lt_jslex *lx, const lt_jsscan_visitor *visitor) {
  bool import_before = false;
  bool export_before = false;
  size_t mains = 0, declared_mains = 0;
  lt_js_nesting nesting = lt_js_nesting_none();
  while (lt_jslex_next(lx)) {
    lt_js_nesting_follow(&nesting, lx);
    scan->has_return |= lt_js_nesting_is_top_return(&nesting, lx);
    if (import_before || export_before) {
      bool counts = jsscan_continues_module_word(lx);
      scan->has_import |= import_before && counts;
      scan->has_export |= export_before && counts;
      scan->has_default |= export_before && lt_jslex_is_word(lx, "default");
    }
    bool first = lx->tok.kind == LT_JSTOK_WORD && jsscan_starts_statement(lx);
    import_before = first && lt_jslex_is_word(lx, "import");
    export_before = first && lt_jslex_is_word(lx, "export");
    if (lt_jslex_is_word(lx, "main")) {
      mains++;
      declared_mains += mains == 1 && jsscan_declares_main(lx);
    }
    jsscan_note_word(scan, lx);
    if (visitor != NULL) {
      jsscan_visit_name(visitor, lx);
    }
  }
  bool is_whole = lx->depth == 0 && !lx->unterminated; /* otherwise the engine shows the place in the original text */
  scan->has_return &= is_whole;
  scan->has_idle_main = is_whole && mains == 1 && declared_mains == 1 && !scan->has_default;
  scan->unterminated = lx->unterminated;
}

/* --- Is the whole program one function? --------------------------------------------------------------------------- */

/* `tok` is an opening bracket. Goes to the token after the closing one. False: the bracket is not closed. */
static bool jsscan_skip_group(lt_jslex *lx) {
  size_t outside = lx->depth - 1;
  while (lt_jslex_next(lx)) {
    if (lx->depth == outside) {
      lt_jslex_next(lx);
      return true;
    }
  }
  return false;
}

static bool jsscan_opens_group(const lt_jslex *lx) {
  return lt_jslex_is_punct(lx, '(') || lt_jslex_is_punct(lx, '[') || lt_jslex_is_punct(lx, '{');
}

/* Reads one token of a type, or a bracketed part of it. Counts < and >. False: the type ends here. */
static bool jsscan_skip_type_part(lt_jslex *lx, size_t *angles) {
  if (lx->tok.kind == LT_JSTOK_END || lt_jslex_is_punct(lx, ';')) {
    return false;
  }
  if (jsscan_opens_group(lx)) {
    return jsscan_skip_group(lx);
  }
  if (lt_jslex_is_punct(lx, '<')) {
    (*angles)++;
  } else if (lt_jslex_is_punct(lx, '>') && *angles > 0) {
    (*angles)--;
  }
  lt_jslex_next(lx);
  return true;
}

/* Skips TypeScript's <T extends ...>, if present. */
static bool jsscan_skip_type_parameters(lt_jslex *lx) {
  if (!lt_jslex_is_punct(lx, '<')) {
    return true;
  }
  size_t angles = 0;
  do {
    if (!jsscan_skip_type_part(lx, &angles)) {
      return false;
    }
  } while (angles > 0);
  return true;
}

/* Skips TypeScript's ": Promise<void>" after the parameters, if present. It ends at => or at the body's {. */
static bool jsscan_skip_return_type(lt_jslex *lx, bool arrow) {
  if (!lt_jslex_is_punct(lx, ':')) {
    return true;
  }
  size_t angles = 0;
  lt_jslex_next(lx);
  for (;;) {
    bool at_body =
        arrow ? lx->tok.kind == LT_JSTOK_ARROW : lt_jslex_is_punct(lx, '{') && !lt_js_nesting_expects_type(&lx->prev);
    if (at_body && angles == 0) {
      return true;
    }
    if (!jsscan_skip_type_part(lx, &angles)) {
      return false;
    }
  }
}

static bool jsscan_skip_parameters(lt_jslex *lx, bool arrow) {
  return jsscan_skip_type_parameters(lx) && lt_jslex_is_punct(lx, '(') && jsscan_skip_group(lx) &&
         jsscan_skip_return_type(lx, arrow);
}

/* `tok` follows `function`. A generator does not count, because its call would run nothing. */
static bool jsscan_skip_function(lt_jslex *lx) {
  if (lx->tok.kind == LT_JSTOK_WORD) {
    lt_jslex_next(lx);
  }
  return jsscan_skip_parameters(lx, false) && lt_jslex_is_punct(lx, '{') && jsscan_skip_group(lx);
}

/* Skips an arrow's expression body. In parentheses a line break does not end it. */
static bool jsscan_skip_expression(lt_jslex *lx, bool wrapped) {
  bool any = false;
  while (lx->tok.kind != LT_JSTOK_END) {
    bool stops = lt_jslex_is_punct(lx, ';') || lt_jslex_is_punct(lx, ',') || lt_jslex_is_punct(lx, ')');
    if (stops || (any && !wrapped && lt_jslex_starts_new_line(lx))) {
      return any;
    }
    any = true;
    if (jsscan_opens_group(lx) || lx->depth > 0) { /* a bracket, or a template with ${ */
      if (!jsscan_skip_group(lx)) {
        return false;
      }
    } else {
      lt_jslex_next(lx);
    }
  }
  return any;
}

static bool jsscan_skip_arrow_body(lt_jslex *lx, bool wrapped) {
  if (lx->tok.kind != LT_JSTOK_ARROW) {
    return false;
  }
  lt_jslex_next(lx);
  return lt_jslex_is_punct(lx, '{') ? jsscan_skip_group(lx) : jsscan_skip_expression(lx, wrapped);
}

/* Skips the function that starts at `tok`. */
static bool jsscan_skip_function_here(lt_jslex *lx, bool wrapped, bool *ret_keyword) {
  if (lt_jslex_is_word(lx, "async")) {
    lt_jslex_next(lx);
    if (lx->tok.kind == LT_JSTOK_ARROW) { /* a parameter with that name */
      return jsscan_skip_arrow_body(lx, wrapped);
    }
  }
  if (lt_jslex_is_word(lx, "function")) {
    *ret_keyword = true;
    lt_jslex_next(lx);
    return jsscan_skip_function(lx);
  }
  if (lx->tok.kind == LT_JSTOK_WORD) {
    lt_jslex_next(lx);
    return jsscan_skip_arrow_body(lx, wrapped);
  }
  return jsscan_skip_parameters(lx, true) && jsscan_skip_arrow_body(lx, wrapped);
}

/* Only closing parentheses and semicolons may follow. */
static bool jsscan_ends_here(lt_jslex *lx, unsigned wrappers) {
  for (; wrappers > 0; wrappers--) {
    if (!lt_jslex_is_punct(lx, ')')) {
      return false;
    }
    lt_jslex_next(lx);
  }
  while (lt_jslex_is_punct(lx, ';')) {
    lt_jslex_next(lx);
  }
  return lx->tok.kind == LT_JSTOK_END;
}

/* Reads the program as a function. When it is none, tries the text inside its first parenthesis, and so on. */
static void jsscan_read_function(lt_jsscan *scan, lt_jslex *lx, lt_str source) {
  for (unsigned wrappers = 0; wrappers <= WRAPPERS_MAX; wrappers++) {
    bool keyword = false;
    lt_jslex_init(lx, source);
    if (!lt_jslex_next(lx)) {
      return;
    }
    bool inside = lt_jslex_is_punct(lx, '(');
    size_t after = lx->at;
    if (jsscan_skip_function_here(lx, wrappers > 0, &keyword) && jsscan_ends_here(lx, wrappers)) {
      scan->is_function = true;
      scan->is_declaration = keyword && wrappers == 0;
      return;
    }
    bool unbalanced = lx->tok.kind == LT_JSTOK_END && lx->depth > 0;
    if (!inside || unbalanced) {
      return;
    }
    source = lt_str_sub(source, after, source.n);
  }
}

lt_jsscan lt_jsscan_program(lt_str source) {
  return lt_jsscan_visit(source, NULL);
}

lt_jsscan lt_jsscan_visit(lt_str source, const lt_jsscan_visitor *visitor) {
  lt_jsscan scan = {0};
  lt_jslex lx;
  lt_jslex_init(&lx, source);
  jsscan_read_words(&scan, &lx, visitor);
  if (!scan.unterminated) {
    jsscan_read_function(&scan, &lx, source);
  }
  return scan;
}
