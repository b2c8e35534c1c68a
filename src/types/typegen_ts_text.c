/* TypeScript text: indentation, parentheses, comments. */
#include "types/typegen_schema.h"
#include "types/typegen_text.h"
#include "types/typegen_ts.h"

bool lt_typegen_ts_is_over(const lt_typegen_ts_context *g) {
  return g->status != LT_OK || g->out->status != LT_OK || g->out->n - g->begin > LT_TYPEGEN_TYPE_MAX_BYTES;
}

void lt_typegen_ts_put(lt_typegen_ts_context *g, const char *text) {
  lt_buf_addc(g->out, text);
}

void lt_typegen_ts_put_indent(lt_typegen_ts_context *g) {
  for (unsigned i = 0; i < g->indent; i++) {
    lt_typegen_ts_put(g, "  ");
  }
}

/* Puts parentheses round the text after the first `start` bytes. */
void lt_typegen_ts_wrap(lt_typegen_ts_context *g, size_t start) {
  lt_buf *out = g->out;
  if (lt_buf_reserve(out, 2) != NULL) {
    memmove(out->p + start + 1, out->p + start, out->n - start);
    out->p[start] = '(';
    lt_buf_commit(out, 1);
    lt_buf_byte(out, ')');
  }
}

/* --- Comments ----------------------------------------------------------------------------------------------------- */

/* "*" and "/" must not be side by side, also not at the beginning of the text. */
static void ts_text_put_comment_text(lt_buf *out, lt_str s) {
  bool star = out->n > 0 && out->p != NULL && out->p[out->n - 1] == '*';
  lt_buf_addc(out, star && lt_str_starts(s, LT_STR("/")) ? " " : "");
  size_t at = 0;
  for (size_t end; (end = lt_str_find(s, LT_STR("*/"), at)) != SIZE_MAX; at = end + 1) {
    lt_buf_add(out, lt_str_sub(s, at, end + 1));
    lt_buf_byte(out, ' ');
  }
  lt_buf_add(out, lt_str_sub(s, at, s.n));
}

/* Writes `doc`, which is clean, as a line or a block before the next declaration. */
void lt_typegen_ts_put_jsdoc(lt_typegen_ts_context *g, lt_str doc) {
  if (doc.n == 0) {
    return;
  }
  lt_typegen_ts_put_indent(g);
  bool block = memchr(doc.p, '\n', doc.n) != NULL;
  lt_typegen_ts_put(g, block ? "/**\n" : "/** ");
  size_t end;
  for (size_t at = 0; block && at <= doc.n; at = end + 1) {
    end = lt_str_find(doc, LT_STR("\n"), at);
    end = end == SIZE_MAX ? doc.n : end;
    lt_typegen_ts_put_indent(g);
    lt_typegen_ts_put(g, end > at ? " * " : " *");
    ts_text_put_comment_text(g->out, lt_str_sub(doc, at, end));
    lt_typegen_ts_put(g, "\n");
  }
  if (block) {
    lt_typegen_ts_put_indent(g);
  } else {
    ts_text_put_comment_text(g->out, doc);
  }
  lt_typegen_ts_put(g, " */\n");
}

/* Writes the description and the facts. The facts are on one line, together with a short description: separate lines
 * would cost a tenth more of a model's tokens, and TypeScript's parser also finds a tag after a space. */
void lt_typegen_ts_put_doc(lt_typegen_ts_context *g, lt_json schema) {
  lt_str description = LT_STR_NULL;
  lt_json text = lt_typegen_key(schema, LT_KEY_DESCRIPTION);
  if (lt_json_typeof(text) == LT_JSON_STRING && !lt_json_str(text, g->arena, &description)) {
    g->status = LT_E_NOMEM;
    return;
  }
  lt_buf_clear(&g->doc);
  lt_typegen_put_text(&g->doc, description, LT_TYPEGEN_DOC_MAX_BYTES);
  size_t end = g->doc.n;
  bool block = end > 0 && memchr(g->doc.p, '\n', end) != NULL;
  lt_status status = lt_typegen_put_facts(&g->doc, schema, g->arena, true);
  if (block && g->doc.n > end) {
    g->doc.p[end] = '\n';
  }
  lt_str doc = lt_buf_view(&g->doc);
  if (status != LT_OK || g->doc.status != LT_OK) {
    g->status = LT_E_NOMEM;
    return;
  }
  lt_typegen_ts_put_jsdoc(g, end == 0 && doc.n > 0 ? lt_str_sub(doc, 1, doc.n) : doc);
}

/* `why` is a text of ours or clean; `what` comes from a peer. */
void lt_typegen_ts_put_any(lt_typegen_ts_context *g, const char *why, lt_str what) {
  lt_typegen_ts_put(g, "any /* ");
  lt_typegen_ts_put(g, why);
  if (what.n > 0) {
    lt_buf_clear(&g->doc);
    lt_typegen_put_line(&g->doc, what, 100);
    g->status = g->doc.status != LT_OK ? g->doc.status : g->status;
    lt_typegen_ts_put(g, " ");
    ts_text_put_comment_text(g->out, lt_buf_view(&g->doc));
  }
  lt_typegen_ts_put(g, " */");
}
