/* JSON for plugins that have no library for it: texts in, texts out, all of them the call's. */
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "json/json.h"
#include "plugin/host_impl.h"

static const lathe_text nothing = {"", 0};

static lathe_text keep(lathe_call *call, lt_str text) {
  lathe_text ret;
  return lt_call_keep(call, text, &ret) ? ret : nothing;
}

lathe_text lt_api_quote(lathe_call *call, lathe_text characters) {
  lt_buf out;
  lt_buf_init(&out, LT_PLUGIN_CALL_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_put_str(&w, lt_of_text(characters));
  lathe_text ret = keep(call, lt_buf_view(&out));
  lt_buf_release(&out);
  return ret;
}

lathe_text lt_api_characters(lathe_call *call, lathe_text json) {
  lt_arena scratch;
  lt_json_doc doc;
  lt_str characters;
  lathe_text ret = nothing;
  lt_arena_init(&scratch, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&scratch, lt_of_text(json), &doc, NULL) == LT_OK &&
      lt_json_str(lt_json_root(&doc), &scratch, &characters)) {
    ret = keep(call, characters);
  }
  lt_arena_release(&scratch);
  return ret;
}

static lt_json find_item(lt_json array, lt_str key) {
  uint32_t at = 0;
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] < '0' || key.p[i] > '9' || at > (UINT32_MAX - 9) / 10) {
      return (lt_json){NULL, 0};
    }
    at = at * 10 + (uint32_t)(key.p[i] - '0');
  }
  return key.n > 0 ? lt_json_at(array, at) : (lt_json){NULL, 0};
}

lathe_text lt_api_member(lathe_call *call, lathe_text json, const char *key) {
  lt_arena scratch;
  lt_json_doc doc;
  lt_str name = lt_plugin_text(key, LT_SCHEMA_MAX_BYTES);
  lathe_text ret = nothing;
  lt_arena_init(&scratch, LT_CALL_INDEX_MAX_BYTES);
  if (json.n > 0 && lt_json_parse(&scratch, lt_of_text(json), &doc, NULL) == LT_OK) {
    lt_json root = lt_json_root(&doc);
    bool is_array = lt_json_typeof(root) == LT_JSON_ARRAY;
    lt_json found = is_array ? find_item(root, name) : lt_json_get_str(root, name);
    ret = lt_json_exists(found) ? keep(call, lt_json_text(found)) : nothing;
  }
  lt_arena_release(&scratch);
  return ret;
}

lathe_text lt_api_format(lathe_call *call, const char *format, ...) {
  lt_buf out;
  lt_buf_init(&out, LT_PLUGIN_CALL_MAX_BYTES);
  va_list args;
  va_start(args, format);
  lt_host_vformat(&out, format, args);
  va_end(args);
  lathe_text ret = out.status == LT_OK ? keep(call, lt_buf_view(&out)) : nothing;
  lt_buf_release(&out);
  return ret;
}

/* In two goes: how long it is, then the text. */
void lt_host_vformat(lt_buf *out, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  char *at = n > 0 ? lt_buf_reserve(out, (size_t)n + 1) : NULL;
  if (at != NULL) {
    vsnprintf(at, (size_t)n + 1, format, again);
    lt_buf_commit(out, (size_t)n);
  }
  va_end(again);
}
