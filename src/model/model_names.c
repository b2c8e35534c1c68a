#include "model/model_names.h"

#include <stdio.h>

#include "base/limits.h"

static lt_status model_names_fetch(lt_http *http, const lt_http_request *request, lt_buf *body) LT_YIELDS {
  lt_http_stream *stream = NULL;
  lt_str piece = LT_STR_NULL;
  LT_TRY(lt_http_open(http, request, &stream, NULL));
  lt_status status = lt_http_status(stream) == 200 ? LT_OK : LT_E_NOTFOUND;
  do {
    status = status == LT_OK ? lt_http_read(stream, &piece, NULL) : status;
    lt_buf_add(body, piece);
    status = lt_status_first(status, body->status);
  } while (status == LT_OK && piece.n > 0);
  lt_http_close(stream);
  return status;
}

/* The letters and digits before the first other character: "claude" of "claude-sonnet-5". */
static lt_str model_names_family(lt_str name) {
  size_t n = 0;
  while (n < name.n && ((name.p[n] | 0x20) >= 'a' && (name.p[n] | 0x20) <= 'z')) {
    n++;
  }
  return lt_str_sub(name, 0, n > 0 ? n : name.n);
}

/* Appends names that are, or are not, of the wanted family, until enough are shown. */
static void model_names_put_some(lt_buf *out, lt_arena *arena, lt_json list, lt_str family, bool is_family,
                                 size_t *shown) {
  for (lt_json_iter it = lt_json_each(list); lt_json_next(&it) && *shown < LT_MODEL_NAMES_SHOWN;) {
    lt_str name;
    bool has_name = lt_json_str(lt_json_get(it.value, "id"), arena, &name) && name.n > 0 && name.n <= 100;
    if (has_name && (family.n > 0 && lt_str_find(name, family, 0) != SIZE_MAX) == is_family) {
      lt_buf_addc(out, *shown > 0 ? ", " : "; it has: ");
      lt_buf_add(out, name);
      (*shown)++;
    }
  }
}

static void model_names_put_list(lt_buf *out, lt_str body, lt_str wanted) {
  lt_json_doc doc;
  size_t shown = 0;
  LT_AUTO_ARENA(arena, LT_MODEL_MEMORY_BYTES);
  if (lt_json_parse(&arena, body, &doc, NULL) != LT_OK) {
    return;
  }
  lt_json data = lt_json_get(lt_json_root(&doc), "data");
  lt_json list = lt_json_typeof(data) == LT_JSON_ARRAY ? data : lt_json_get(lt_json_root(&doc), "models");
  if (lt_json_typeof(list) == LT_JSON_ARRAY) {
    lt_str family = model_names_family(wanted);
    model_names_put_some(out, &arena, list, family, true, &shown);
    model_names_put_some(out, &arena, list, family, false, &shown);
    if (shown > 0 && lt_json_count(list) > shown) {
      lt_buf_printf(out, " and %zu more", lt_json_count(list) - shown);
    }
  }
}

/* The address of requests ends in the wire's path. */
static void model_names_put_url(const lt_completion_wire *wire, lt_str base_url, lt_buf *out) {
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  lt_completion_wire_put_url(wire, base_url, &url);
  size_t at = lt_str_find(lt_buf_view(&url), lt_str_of(wire->path), 0);
  lt_buf_add(out, lt_str_sub(lt_buf_view(&url), 0, at));
  lt_buf_addc(out, "/models");
}

void lt_model_names_put(lt_http *http, const lt_completion_request *request, const lt_completion_wire *wire,
                        const lt_http_header *headers, size_t header_count, lt_err *err) {
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(body, LT_MODEL_NAMES_BYTES);
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  model_names_put_url(wire, request->model->base_url, &url);
  const lt_http_request ask = {.url = lt_buf_view(&url),
                               .headers = headers,
                               .header_count = header_count,
                               .connect_timeout_ms = LT_MODEL_NAMES_MS,
                               .first_byte_ms = LT_MODEL_NAMES_MS,
                               .idle_ms = LT_MODEL_NAMES_MS,
                               .cancel = request->cancel};
  if (model_names_fetch(http, &ask, &body) != LT_OK) {
    return;
  }
  model_names_put_list(&names, lt_buf_view(&body), request->model->name);
  lt_err before = *err;
  if (names.n > 0 && names.status == LT_OK) {
    lt_fail(err, before.status, "%s%.*s", before.msg, LT_STR_ARG(lt_buf_view(&names)));
  }
}
