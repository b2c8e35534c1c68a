/* JSON for plugins that have no library for it. */
#include "plugin/plugin_json.h"

#include <stdio.h>

#include "base/limits.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"

static const lathe_text plugin_json_nothing = {"", 0};

static lathe_text plugin_json_copy(lathe_call *call, lt_str text) {
  lathe_text ret;
  return lt_plugin_call_copy_text(call, text, &ret) ? ret : plugin_json_nothing;
}

lathe_text lt_plugin_json_quote(lathe_call *call, lathe_text characters) {
  LT_AUTO_BUF(out, LT_PLUGIN_CALL_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_put_str(&w, lt_abi_to_str(characters));
  return plugin_json_copy(call, lt_buf_view(&out));
}

lathe_text lt_plugin_json_characters(lathe_call *call, lathe_text json) {
  LT_AUTO_ARENA(scratch, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_str characters;
  bool is_string = lt_json_parse(&scratch, lt_abi_to_str(json), &doc, NULL) == LT_OK &&
                   lt_json_str(lt_json_root(&doc), &scratch, &characters);
  return is_string ? plugin_json_copy(call, characters) : plugin_json_nothing;
}

static lt_json plugin_json_find_item(lt_json array, lt_str key) {
  uint32_t at = 0;
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] < '0' || key.p[i] > '9' || at > (UINT32_MAX - 9) / 10) {
      return (lt_json){NULL, 0};
    }
    at = at * 10 + (uint32_t)(key.p[i] - '0');
  }
  return key.n > 0 ? lt_json_at(array, at) : (lt_json){NULL, 0};
}

lathe_text lt_plugin_json_member(lathe_call *call, lathe_text json, const char *key) {
  LT_AUTO_ARENA(scratch, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_str name = lt_abi_view_text(key, LT_SCHEMA_MAX_BYTES);
  if (json.n == 0 || lt_json_parse(&scratch, lt_abi_to_str(json), &doc, NULL) != LT_OK) {
    return plugin_json_nothing;
  }
  lt_json root = lt_json_root(&doc);
  bool is_array = lt_json_typeof(root) == LT_JSON_ARRAY;
  lt_json found = is_array ? plugin_json_find_item(root, name) : lt_json_get_str(root, name);
  return lt_json_exists(found) ? plugin_json_copy(call, lt_json_text(found)) : plugin_json_nothing;
}

lathe_text lt_plugin_json_format(lathe_call *call, const char *format, ...) {
  LT_AUTO_BUF(out, LT_PLUGIN_CALL_MAX_BYTES);
  va_list args;
  va_start(args, format);
  lt_plugin_json_vformat(&out, format, args);
  va_end(args);
  return out.status == LT_OK ? plugin_json_copy(call, lt_buf_view(&out)) : plugin_json_nothing;
}

/* Formats twice: once for the length, once for the text. */
void lt_plugin_json_vformat(lt_buf *out, const char *format, va_list args) {
  va_list second;
  va_copy(second, args);
  int n = vsnprintf(NULL, 0, format, args);
  char *at = n > 0 ? lt_buf_reserve(out, (size_t)n + 1) : NULL;
  if (at != NULL) {
    vsnprintf(at, (size_t)n + 1, format, second);
    lt_buf_commit(out, (size_t)n);
  }
  va_end(second);
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
typedef struct plugin_json_text {
  lt_str json;
  lt_err err;
} plugin_json_text;

static void plugin_json_check_text(void *arg) {
  plugin_json_text *text = arg;
  (void)lt_json_check(text->json, &text->err);
}

lt_status lt_plugin_json_check(const lathe_call *call, lt_str json, lt_err *err) {
  plugin_json_text text = {.json = json, .err = LT_ERR_INIT};
  if (json.n > LT_CALL_INLINE_BYTES && lt_plugin_on_loop(call->plugin)) {
    LT_TRY(lt_loop_offload(call->plugin->host->options.loop, plugin_json_check_text, &text, err));
  } else {
    plugin_json_check_text(&text);
  }
  return lt_err_copy(err, &text.err);
}
