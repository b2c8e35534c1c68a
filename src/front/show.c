#include "front/show.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "codec/typegen_text.h"

#define LINE_MAX_BYTES  100  /* a shorter input stays on one line */
#define TEXT_MAX_BYTES  400  /* of one string */
#define SHOWN_MAX_BYTES 8192 /* a screen or two; what comes after is only counted */
#define ITEMS_MAX       20
#define DEPTH_MAX       8

typedef struct shower {
  lt_buf *out;
  size_t from; /* where in `out` it began */
  const char *indent;
  unsigned depth;
} shower;

/* The place at or before `max` that cuts neither a character nor an escape of a JSON string. */
static size_t cut_place(lt_str text, size_t max) {
  size_t at = 1;
  for (size_t next = 1; next <= max && next < text.n; at = next) {
    if (text.p[next] == '\\') {
      next += text.n - next > 1 && text.p[next + 1] == 'u' ? 6 : 2;
    } else {
      next = lt_utf8_ceil(text, next + 1);
    }
    if (next > max) {
      break;
    }
  }
  return at;
}

static void show_scalar(shower *s, lt_json v) {
  lt_str text = lt_json_text(v);
  if (text.n <= TEXT_MAX_BYTES) {
    lt_typegen_put_visible(s->out, text);
    return;
  }
  lt_typegen_put_visible(s->out, lt_str_sub(text, 0, cut_place(text, TEXT_MAX_BYTES)));
  lt_buf_printf(s->out, "...%s (cut: %zu bytes in all)", text.p[0] == '"' ? "\"" : "",
                text.n - (text.p[0] == '"' ? 2 : 0));
}

static void new_line(shower *s) {
  lt_buf_byte(s->out, '\n');
  lt_buf_addc(s->out, s->indent);
  for (unsigned i = 0; i < s->depth; i++) {
    lt_buf_addc(s->out, "  ");
  }
}

static bool is_full(const shower *s) {
  return s->out->status != LT_OK || s->out->n - s->from > SHOWN_MAX_BYTES;
}

static void show(shower *s, lt_json v);

static void show_kids(shower *s, lt_json v) {
  uint32_t count = lt_json_count(v), shown = 0;
  lt_json_iter it = lt_json_each(v);
  s->depth++;
  while (shown < ITEMS_MAX && !is_full(s) && lt_json_next(&it)) {
    lt_buf_addc(s->out, shown++ > 0 ? "," : "");
    new_line(s);
    if (lt_json_exists(it.key)) {
      show_scalar(s, it.key);
      lt_buf_addc(s->out, ": ");
    }
    show(s, it.value);
  }
  if (shown < count) {
    new_line(s);
    lt_buf_printf(s->out, "... and %u more", count - shown);
  }
  s->depth--;
  new_line(s);
}

static void show(shower *s, lt_json v) {
  lt_json_type type = lt_json_typeof(v);
  bool list = type == LT_JSON_ARRAY;
  if ((!list && type != LT_JSON_OBJECT) || lt_json_count(v) == 0) {
    show_scalar(s, v);
  } else if (s->depth >= DEPTH_MAX) {
    lt_buf_printf(s->out, "%s (%zu bytes)", list ? "[...]" : "{...}", lt_json_text(v).n);
  } else {
    lt_buf_byte(s->out, list ? '[' : '{');
    show_kids(s, v);
    lt_buf_byte(s->out, list ? ']' : '}');
  }
}

void lt_show_json(lt_buf *out, lt_str json, const char *indent) {
  lt_arena arena;
  lt_json_doc doc;
  lt_buf line;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  lt_buf_init(&line, LINE_MAX_BYTES);
  if (lt_json_parse(&arena, json, &doc, NULL) != LT_OK) { /* not JSON any more once a number was masked */
    lt_typegen_put_line(out, json, SHOWN_MAX_BYTES);
  } else {
    lt_json_compact(lt_json_root(&doc), &line);
    if (line.status == LT_OK) {
      lt_typegen_put_visible(out, lt_buf_view(&line));
    } else {
      shower s = {.out = out, .from = out->n, .indent = indent};
      show(&s, lt_json_root(&doc));
    }
  }
  lt_buf_release(&line);
  lt_arena_release(&arena);
}
