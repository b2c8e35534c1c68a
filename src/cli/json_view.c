#include "cli/json_view.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"
#include "types/typegen_text.h"
#include "cli/text_block.h"

#define LINE_MAX_BYTES  100  /* a shorter input stays on one line */
#define TEXT_MAX_BYTES  400  /* a longer string is cut in the middle ... */
#define TEXT_END_BYTES  200  /* ... and this much of its end stays */
#define SHOWN_MAX_BYTES 8192 /* one or two screens; later items are only counted */
#define ITEMS_MAX       20
#define DEPTH_MAX       8

typedef struct json_view {
  lt_buf *out;
  size_t from; /* offset in `out` where it began */
  const char *indent;
  unsigned depth;
  bool whole; /* do not cut */
  bool hides; /* something was cut */
  bool is_after_block;
} json_view;

/* The position after the character or escape at `at` in a JSON string. */
static size_t json_view_text_behind(lt_str text, size_t at) {
  if (text.p[at] == '\\') {
    at += text.n - at > 1 && text.p[at + 1] == 'u' ? 6 : 2;
    return at < text.n ? at : text.n;
  }
  return lt_utf8_ceil(text, at + 1);
}

/* The last position <= `max` that splits neither a character nor an escape. */
static size_t json_view_text_place_before(lt_str text, size_t max) {
  size_t at = 1;
  for (size_t next = json_view_text_behind(text, at); next <= max; next = json_view_text_behind(text, at)) {
    at = next;
  }
  return at;
}

/* The first such position >= `min`. */
static size_t json_view_text_place_after(lt_str text, size_t min) {
  size_t at = 1;
  while (at < min) {
    at = json_view_text_behind(text, at);
  }
  return at;
}

/* Keeps beginning and end: the end of a command is often its important part. */
static void json_view_scalar(json_view *s, lt_json v) {
  lt_str text = lt_json_text(v);
  if (s->whole || text.n <= TEXT_MAX_BYTES) {
    lt_typegen_put_visible(s->out, text);
    return;
  }
  const char *quote = text.p[0] == '"' ? "\"" : "";
  size_t first = json_view_text_place_before(text, TEXT_MAX_BYTES - TEXT_END_BYTES);
  size_t second = json_view_text_place_after(text, text.n - TEXT_END_BYTES);
  lt_typegen_put_visible(s->out, lt_str_sub(text, 0, first));
  lt_buf_printf(s->out, "%s ... %zu bytes hidden ... %s", quote, second - first, quote);
  lt_typegen_put_visible(s->out, lt_str_sub(text, second, text.n));
  s->hides = true;
}

static void json_view_line(json_view *s) {
  lt_buf_byte(s->out, '\n');
  lt_buf_addc(s->out, s->indent);
  for (unsigned i = 0; i < s->depth; i++) {
    lt_buf_addc(s->out, "  ");
  }
}

/* --- Texts of several lines --------------------------------------------------------------------------------------- */
/* "\\n" in a JSON string is no line break, "\n" is one. */
static bool json_view_has_lines(lt_json v) {
  lt_str text = lt_json_text(v);
  size_t at = lt_json_typeof(v) == LT_JSON_STRING ? lt_str_find(text, LT_STR("\\"), 0) : SIZE_MAX;
  while (at != SIZE_MAX && text.p[at + 1] != 'n') {
    at = lt_str_find(text, LT_STR("\\"), at + 2);
  }
  return at != SIZE_MAX;
}

/* A member's lines stand below its name. There is no comma behind them, as it would be one of the text's. */
static void json_view_block(json_view *s, lt_json v) {
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_str text;
  if (!lt_json_str(v, &arena, &text)) {
    lt_typegen_put_visible(s->out, lt_json_text(v));
    return;
  }
  LT_AUTO_BUF(margin, LT_KIB);
  lt_buf_addc(&margin, s->indent);
  for (unsigned i = 0; i <= s->depth; i++) {
    lt_buf_addc(&margin, "  ");
  }
  bool is_whole = lt_text_block_add(s->out, lt_buf_view(&margin), text, s->whole);
  s->hides = s->hides || !is_whole;
  s->is_after_block = true;
}

/* Whether a value within has several lines. */
static bool json_view_is_any_with_lines(lt_json v) {
  lt_json_type type = lt_json_typeof(v);
  if (type != LT_JSON_ARRAY && type != LT_JSON_OBJECT) {
    return json_view_has_lines(v);
  }
  bool found = false;
  for (lt_json_iter it = lt_json_each(v); !found && lt_json_next(&it);) {
    found = json_view_is_any_with_lines(it.value);
  }
  return found;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */
static bool json_view_is_full(const json_view *s) {
  return s->out->status != LT_OK || (!s->whole && s->out->n - s->from > SHOWN_MAX_BYTES);
}

static void json_view_value(json_view *s, lt_json v);

static void json_view_kids(json_view *s, lt_json v) {
  uint32_t count = lt_json_count(v), shown = 0;
  lt_json_iter it = lt_json_each(v);
  s->depth++;
  while ((s->whole || shown < ITEMS_MAX) && !json_view_is_full(s) && lt_json_next(&it)) {
    lt_buf_addc(s->out, shown++ > 0 && !s->is_after_block ? "," : "");
    s->is_after_block = false;
    json_view_line(s);
    if (lt_json_exists(it.key)) {
      json_view_scalar(s, it.key);
      lt_buf_addc(s->out, ": ");
    }
    json_view_value(s, it.value);
  }
  if (shown < count) {
    json_view_line(s);
    lt_buf_printf(s->out, "... and %u more", count - shown);
    s->hides = true;
  }
  s->is_after_block = false;
  s->depth--;
  json_view_line(s);
}

static void json_view_value(json_view *s, lt_json v) {
  lt_json_type type = lt_json_typeof(v);
  bool list = type == LT_JSON_ARRAY;
  if (json_view_has_lines(v)) {
    json_view_block(s, v);
  } else if ((!list && type != LT_JSON_OBJECT) || lt_json_count(v) == 0) {
    json_view_scalar(s, v);
  } else if (s->depth >= DEPTH_MAX && s->whole) {
    json_view_scalar(s, v);
  } else if (s->depth >= DEPTH_MAX) {
    s->hides = true;
    lt_buf_printf(s->out, "%s (%zu bytes)", list ? "[...]" : "{...}", lt_json_text(v).n);
  } else {
    lt_buf_byte(s->out, list ? '[' : '{');
    json_view_kids(s, v);
    lt_buf_byte(s->out, list ? ']' : '}');
  }
}

/* The text is no JSON after a number was masked, or it is too large to be parsed. */
static bool json_view_text(lt_buf *out, lt_str text, bool whole) {
  lt_str shown = whole ? text : lt_utf8_cut(text, SHOWN_MAX_BYTES);
  lt_typegen_put_visible(out, shown);
  if (shown.n < text.n) {
    lt_buf_printf(out, " ... %zu bytes hidden", text.n - shown.n);
  }
  return shown.n == text.n;
}

bool lt_json_view_add(lt_buf *out, lt_str json, const char *indent, bool whole) {
  lt_json_doc doc;
  bool complete = true;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(line, LINE_MAX_BYTES);
  if (lt_json_parse(&arena, json, &doc, NULL) != LT_OK) {
    complete = json_view_text(out, json, whole);
  } else {
    lt_json_compact(lt_json_root(&doc), &line);
    if (line.status == LT_OK && !json_view_is_any_with_lines(lt_json_root(&doc))) {
      lt_typegen_put_visible(out, lt_buf_view(&line));
    } else {
      json_view s = {.out = out, .from = out->n, .indent = indent, .whole = whole};
      json_view_value(&s, lt_json_root(&doc));
      complete = !s.hides;
    }
  }
  return complete && out->status == LT_OK;
}
