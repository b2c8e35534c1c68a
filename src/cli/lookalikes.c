#include "cli/lookalikes.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/json_text.h"
#include "text/scripts.h"
#include "types/typegen_text.h"

#define NOTES_MAX      5
#define WORD_MAX_BYTES 100

typedef struct lookalike_notes {
  lt_buf *out;
  lt_arena *arena;
  size_t count;
} lookalike_notes;

/* Characters beyond ASCII by their numbers: two words that look alike have different ones. */
static void lookalikes_put_escaped(lt_buf *out, lt_str word) {
  for (size_t at = 0; at < word.n;) {
    uint32_t cp = 0xFFFD;
    unsigned n = lt_json_read_char(word.p + at, word.p + word.n, &cp);
    if (cp < 0x80) {
      lt_buf_byte(out, word.p[at]);
    } else {
      lt_buf_printf(out, "<U+%04X>", (unsigned)cp);
    }
    at += n > 0 ? n : 1;
  }
}

static void lookalikes_note(lookalike_notes *notes, const lt_scripts_find *find) {
  lt_str word = lt_utf8_cut(find->word, WORD_MAX_BYTES);
  if (notes->count++ >= NOTES_MAX) {
    return;
  }
  lt_buf_addc(notes->out, "  note: ");
  lt_typegen_put_string(notes->out, word);
  if (find->second != NULL) {
    lt_buf_printf(notes->out, " mixes %s and %s letters: ", find->first, find->second);
    lookalikes_put_escaped(notes->out, word);
    lt_buf_byte(notes->out, '\n');
  } else {
    lt_buf_addc(notes->out, " is an encoded international name: it may be shown elsewhere with other letters\n");
  }
}

static void lookalikes_in_string(lookalike_notes *notes, lt_json v) {
  lt_str text;
  if (!lt_json_str(v, notes->arena, &text)) {
    return;
  }
  lt_scripts_find find;
  for (size_t at = 0; lt_scripts_next(text, &at, &find);) {
    lookalikes_note(notes, &find);
  }
}

static void lookalikes_in_value(lookalike_notes *notes, lt_json v) {
  lt_json_type type = lt_json_typeof(v);
  if (type == LT_JSON_STRING) {
    lookalikes_in_string(notes, v);
  }
  if (type == LT_JSON_ARRAY || type == LT_JSON_OBJECT) {
    for (lt_json_iter it = lt_json_each(v); lt_json_next(&it);) {
      lookalikes_in_string(notes, it.key);
      lookalikes_in_value(notes, it.value);
    }
  }
}

/* Most input has neither letters beyond ASCII, nor an encoded name. */
static bool lookalikes_may_be_in(lt_str json) {
  bool found = lt_str_find(json, LT_STR("xn--"), 0) != SIZE_MAX || lt_str_find(json, LT_STR("\\u"), 0) != SIZE_MAX;
  for (size_t i = 0; i < json.n && !found; i++) {
    found = (unsigned char)json.p[i] >= 0x80;
  }
  return found;
}

void lt_lookalikes_add(lt_buf *out, lt_str json) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES + 2 * LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  if (json.n > LT_QUESTION_SCAN_BYTES || !lookalikes_may_be_in(json) ||
      lt_json_parse(&arena, json, &doc, NULL) != LT_OK) {
    return;
  }
  lookalike_notes notes = {.out = out, .arena = &arena};
  lookalikes_in_value(&notes, lt_json_root(&doc));
  if (notes.count > NOTES_MAX) {
    lt_buf_printf(out, "  note: %zu more such words\n", notes.count - NOTES_MAX);
  }
}
