#include "tool/whole_answer.h"

#include "base/arena.h"
#include "base/limits.h"

static void whole_answer_put_text(lt_json_writer *w, lt_json value, lt_arena *arena) {
  lt_str text = lt_json_text(value);
  if (lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, arena, &text)) {
    w->buf->status = LT_E_NOMEM;
  }
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "text");
  lt_json_key(w, "text");
  lt_json_put_str(w, text);
  lt_json_end_object(w);
}

void lt_whole_answer_put_value(lt_str value, bool has_output_schema, lt_buf *out) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(out);
  lt_status status = lt_json_parse(&arena, value, &doc, NULL);
  if (status != LT_OK) {
    out->status = status;
    return;
  }
  lt_json root = lt_json_root(&doc);
  lt_json_begin_object(&w);
  lt_json_key(&w, "content");
  lt_json_begin_array(&w);
  whole_answer_put_text(&w, root, &arena);
  lt_json_end_array(&w);
  if (has_output_schema && lt_json_typeof(root) == LT_JSON_OBJECT) {
    lt_json_key(&w, "structuredContent");
    lt_json_put_raw(&w, lt_json_text(root));
  }
  lt_json_end_object(&w);
}

bool lt_whole_answer_is(lt_json value) {
  return lt_json_typeof(lt_json_get(value, "content")) == LT_JSON_ARRAY;
}
