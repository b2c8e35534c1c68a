#include "model/completion_wire.h"

#include "base/limits.h"
#include "model/provider_error.h"

#define COMPLETION_WIRE_ROW(name) &lt_##name##_wire,
static const lt_completion_wire *const completion_wires[] = {LT_COMPLETION_WIRES(COMPLETION_WIRE_ROW)};
#define COMPLETION_WIRE_COUNT (sizeof completion_wires / sizeof completion_wires[0])

const char *const lt_model_apis[] = {"chat", "responses", "messages", NULL};

lt_str lt_completion_wire_str(lt_json value, lt_arena *arena, lt_buf *out) {
  lt_str text = LT_STR_NULL;
  if (lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, arena, &text)) {
    out->status = LT_E_NOMEM;
  }
  return text;
}

/* --- Efforts ------------------------------------------------------------------------------------------------------ */
/* The words of models[].reasoningEffort. */
static const char *const completion_wire_efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max", NULL};
static const int64_t completion_wire_effort_tokens[] = {0, 1024, 2048, 8192, 16384, 32768, 32768};

int64_t lt_completion_wire_reasoning_tokens(lt_str effort) {
  for (size_t i = 0; completion_wire_efforts[i] != NULL; i++) {
    if (lt_str_eqc(effort, completion_wire_efforts[i])) {
      return completion_wire_effort_tokens[i];
    }
  }
  return 0;
}

int64_t lt_completion_wire_token_limit(const lt_completion_request *request) {
  int64_t own = request->max_tokens > 0          ? request->max_tokens
                : request->model->max_tokens > 0 ? request->model->max_tokens
                                                 : LT_MODEL_MAX_TOKENS;
  int64_t reasoning = lt_completion_wire_reasoning_tokens(request->model->effort);
  return own < LT_MODEL_TOKENS_MAX ? own + reasoning : own;
}

/* --- Addresses ---------------------------------------------------------------------------------------------------- */
/* The URL without its query and the slashes at its end. */
static lt_str completion_wire_path_of(lt_str base_url, lt_str *ret_query) {
  lt_str url = lt_str_trim(base_url);
  size_t query_at = lt_str_find(url, LT_STR("?"), 0);
  lt_str path = lt_str_sub(url, 0, query_at);
  *ret_query = lt_str_sub(url, query_at, url.n);
  while (lt_str_ends(path, LT_STR("/"))) {
    path.n--;
  }
  return path;
}

const lt_completion_wire *lt_completion_wire_of(const lt_model *model) {
  lt_str query;
  lt_str path = completion_wire_path_of(model->base_url, &query);
  lt_str host = lt_provider_error_host(model->base_url);
  const lt_completion_wire *by_path = NULL, *by_host = NULL;
  for (size_t i = 0; i < COMPLETION_WIRE_COUNT; i++) {
    const lt_completion_wire *wire = completion_wires[i];
    if (lt_str_eqc(model->api, wire->name)) {
      return wire;
    }
    by_path = lt_str_ends(path, lt_str_of(wire->path)) ? wire : by_path;
    by_host = wire->host != NULL && lt_str_eqc(host, wire->host) ? wire : by_host;
  }
  return by_path != NULL ? by_path : by_host != NULL ? by_host : completion_wires[0];
}

void lt_completion_wire_put_url(const lt_completion_wire *wire, lt_str base_url, lt_buf *out) {
  lt_str query;
  lt_str path = completion_wire_path_of(base_url, &query);
  bool has_path = lt_str_ends(path, lt_str_of(wire->path));
  bool has_version = wire->version == NULL || lt_str_ends(path, lt_str_of(wire->version));
  lt_buf_add(out, path);
  lt_buf_addc(out, has_path || has_version ? "" : wire->version);
  lt_buf_addc(out, has_path ? "" : wire->path);
  lt_buf_add(out, query);
}

/* --- What is kept ------------------------------------------------------------------------------------------------- */
bool lt_model_may_keep(const lt_model *model, lt_str kept) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MODEL_MEMORY_BYTES);
  return kept.n > 0 && lt_json_parse(&arena, kept, &doc, NULL) == LT_OK &&
         lt_json_str_eq(lt_json_get(lt_json_root(&doc), "api"), lt_str_of(lt_completion_wire_of(model)->name));
}
