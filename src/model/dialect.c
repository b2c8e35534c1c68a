#include "model/dialect.h"

#include <stdatomic.h>

#include "model/provider_error.h"

/* --- Remembered ---------------------------------------------------------------------------------------------------
 * One word per model: its hash with the quirks in the low bits. A model that falls on another one's place takes it
 * over: what is forgotten costs one more request. */

#define QUIRK_BITS 15ul

static _Atomic uint64_t learnt[LT_MODEL_QUIRKS_MAX];

static uint64_t dialect_hash_of(const lt_model *model) {
  uint64_t hash = lt_str_hash(model->base_url) * 31 + lt_str_hash(model->name);
  return (hash | (QUIRK_BITS + 1)) & ~QUIRK_BITS; /* never 0 */
}

static _Atomic uint64_t *dialect_place_of(uint64_t hash) {
  return &learnt[(hash >> 8) % LT_MODEL_QUIRKS_MAX];
}

unsigned lt_dialect_quirks(const lt_model *model) {
  uint64_t hash = dialect_hash_of(model);
  uint64_t entry = atomic_load_explicit(dialect_place_of(hash), memory_order_relaxed);
  return (entry & ~QUIRK_BITS) == hash ? (unsigned)(entry & QUIRK_BITS) : 0;
}

void lt_dialect_learn(const lt_model *model, unsigned quirks) {
  uint64_t hash = dialect_hash_of(model);
  atomic_store_explicit(dialect_place_of(hash), hash | (quirks & QUIRK_BITS), memory_order_relaxed);
}

/* --- Told by a 400 ------------------------------------------------------------------------------------------------ */

/* "max_tokens is too large": the other name would not help. */
static bool dialect_is_about_size(lt_str body) {
  static const char *const sizes[] = {"too large", "at most",      "exceed", "maximum",
                                      "less than", "greater than", "range"};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (lt_provider_error_mentions(body, sizes[i])) {
      return true;
    }
  }
  return false;
}

/* "'stream' does not support true with this model" */
static bool dialect_is_about_stream(lt_str body) {
  return lt_provider_error_mentions(body, "'stream' does not support") ||
         lt_provider_error_mentions(body, "does not support stream") ||
         lt_provider_error_mentions(body, "streaming is not supported");
}

unsigned lt_dialect_quirk_in(lt_str body, bool json, unsigned quirks) {
  unsigned found = 0;
  if (lt_provider_error_mentions(body, "stream_options")) {
    found |= LT_QUIRK_NO_STREAM_OPTIONS;
  } else if (dialect_is_about_stream(body)) {
    found |= LT_QUIRK_NO_STREAM;
  }
  if (json && lt_provider_error_mentions(body, "response_format")) {
    found |= LT_QUIRK_NO_FORMAT;
  }
  if ((lt_provider_error_mentions(body, "max_tokens") || lt_provider_error_mentions(body, "max_completion_tokens")) &&
      !dialect_is_about_size(body)) {
    found |= LT_QUIRK_OTHER_LIMIT;
  }
  return found & ~quirks;
}

/* --- The request -------------------------------------------------------------------------------------------------- */

/* o1, o3-mini, o4-mini, gpt-5 and what follows it, with or without a provider before it ("openai/gpt-5"). */
bool lt_dialect_is_reasoner(lt_str name) {
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] == '/') {
      name = lt_str_sub(name, i, name.n);
      break;
    }
  }
  if (name.n >= 2 && name.p[0] == 'o' && name.p[1] >= '1' && name.p[1] <= '9') {
    return name.n == 2 || name.p[2] == '-';
  }
  return name.n >= 5 && lt_str_starts(name, LT_STR("gpt-")) && name.p[4] >= '5' && name.p[4] <= '9';
}

static int64_t dialect_token_limit(const lt_completion_request *request) {
  if (request->max_tokens > 0) {
    return request->max_tokens;
  }
  return request->model->max_tokens > 0 ? request->model->max_tokens : LT_MODEL_MAX_TOKENS;
}

static void dialect_put_limit(lt_json_writer *w, const lt_completion_request *request, unsigned quirks) {
  bool reasoner = lt_dialect_is_reasoner(request->model->name);
  bool other = (quirks & LT_QUIRK_OTHER_LIMIT) != 0;
  lt_json_key(w, reasoner != other ? "max_completion_tokens" : "max_tokens");
  lt_json_put_int(w, dialect_token_limit(request));
}

static void dialect_put_flag(lt_json_writer *w, const char *object, const char *key) {
  lt_json_key(w, object);
  lt_json_begin_object(w);
  lt_json_key(w, key);
  lt_json_put_bool(w, true);
  lt_json_end_object(w);
}

static void dialect_put_format(lt_json_writer *w) {
  lt_json_key(w, "response_format");
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "json_object");
  lt_json_end_object(w);
}

void lt_model_write_request(const lt_completion_request *request, unsigned quirks, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "model");
  lt_json_put_str(&w, request->model->name);
  lt_json_key(&w, "messages");
  lt_json_put_raw(&w, request->messages);
  if (request->tools.n > 0) {
    lt_json_key(&w, "tools");
    lt_json_put_raw(&w, request->tools);
  }
  dialect_put_limit(&w, request, quirks);
  if (request->json && (quirks & LT_QUIRK_NO_FORMAT) == 0) {
    dialect_put_format(&w);
  }
  lt_json_key(&w, "stream");
  lt_json_put_bool(&w, (quirks & LT_QUIRK_NO_STREAM) == 0);
  if ((quirks & (LT_QUIRK_NO_STREAM_OPTIONS | LT_QUIRK_NO_STREAM)) == 0) {
    dialect_put_flag(&w, "stream_options", "include_usage");
  }
  lt_json_end_object(&w);
}

void lt_model_write_url(lt_str base_url, lt_buf *out) {
  lt_str url = lt_str_trim(base_url);
  size_t query_at = lt_str_find(url, LT_STR("?"), 0);
  lt_str path = lt_str_sub(url, 0, query_at);
  lt_str query = lt_str_sub(url, query_at, url.n);
  while (lt_str_ends(path, LT_STR("/"))) {
    path.n--;
  }
  lt_buf_add(out, path);
  if (!lt_str_ends(path, LT_STR("/chat/completions"))) {
    lt_buf_addc(out, "/chat/completions");
  }
  lt_buf_add(out, query);
}
