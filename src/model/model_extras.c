#include "model/model_extras.h"

#include "base/limits.h"
#include "json/json.h"

/* --- Headers ------------------------------------------------------------------------------------------------------ */
static bool model_extras_is_same_name(lt_str a, lt_str b) {
  bool is_same = a.n == b.n;
  for (size_t i = 0; i < a.n && is_same; i++) {
    is_same = (a.p[i] | 0x20) == (b.p[i] | 0x20);
  }
  return is_same;
}

static size_t model_extras_put_header(lt_http_header *headers, size_t count, lt_http_header header) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!model_extras_is_same_name(headers[i].name, header.name)) {
      headers[kept++] = headers[i];
    }
  }
  headers[kept++] = header;
  return kept;
}

size_t lt_model_extras_add_headers(const lt_model *model, lt_http_header *headers, size_t count) {
  for (size_t i = 0; model->headers != NULL && model->headers[i] != NULL && i < LT_MODEL_HEADERS_MAX; i++) {
    lt_str line = lt_str_of(model->headers[i]);
    size_t colon = lt_str_find(line, LT_STR(":"), 0);
    if (colon != SIZE_MAX) {
      lt_http_header header = {lt_str_sub(line, 0, colon), lt_str_trim(lt_str_sub(line, colon + 1, line.n))};
      count = model_extras_put_header(headers, count, header);
    }
  }
  return count;
}

/* --- The body ----------------------------------------------------------------------------------------------------- */
static void model_extras_put_members(lt_json_writer *w, lt_arena *arena, lt_json from, lt_json unless_in) {
  for (lt_json_iter it = lt_json_each(from); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str(it.key, arena, &key)) {
      w->buf->status = LT_E_NOMEM;
    } else if (!lt_json_exists(lt_json_get_str(unless_in, key)) && lt_json_typeof(it.value) != LT_JSON_NULL) {
      lt_json_key_str(w, key);
      lt_json_put_raw(w, lt_json_text(it.value));
    }
  }
}

lt_status lt_model_extras_put_body(const lt_model *model, lt_str body, lt_buf *out, lt_err *err) {
  lt_json_doc own, extra;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  LT_TRY(lt_json_parse(&arena, body, &own, err));
  if (lt_json_parse(&arena, model->body, &extra, NULL) != LT_OK ||
      lt_json_typeof(lt_json_root(&extra)) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_CONFIG, "models[].body of \"%.*s\" is no mapping", LT_STR_ARG(model->ref));
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  model_extras_put_members(&w, &arena, lt_json_root(&own), lt_json_root(&extra));
  model_extras_put_members(&w, &arena, lt_json_root(&extra), (lt_json){0});
  lt_json_end_object(&w);
  return LT_OK;
}
