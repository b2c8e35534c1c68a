#include "model/dialect.h"

#include <stdatomic.h>

#include "model/provider_error.h"

/* --- Remembered ---------------------------------------------------------------------------------------------------
 * One word per model: its hash with the quirks in the low bits. A model whose slot is in use replaces the other model:
 * a forgotten quirk costs one more request. */

#define QUIRK_BITS 16383ul

static _Atomic uint64_t learnt[LT_MODEL_QUIRKS_MAX];

static uint64_t dialect_hash_of(const lt_model *model) {
  uint64_t hash = lt_str_hash(model->base_url) * 31 + lt_str_hash(model->name);
  return (hash | (QUIRK_BITS + 1)) & ~QUIRK_BITS; /* never 0 */
}

static _Atomic uint64_t *dialect_place_of(uint64_t hash) {
  return &learnt[(hash >> 16) % LT_MODEL_QUIRKS_MAX];
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

/* --- Read from a 400 ---------------------------------------------------------------------------------------------- */

/* "max_tokens is too large": the other name of the parameter would not help */
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

/* DeepSeek: "The `reasoning_content` in the thinking mode must be passed back to the API", "Missing `reasoning_content`
 * field in the assistant message"; Kimi: "reasoning_content is missing in assistant tool call message". */
static unsigned dialect_reasoning_quirk_in(lt_str body) {
  bool is_missed = lt_provider_error_mentions(body, "passed back") || lt_provider_error_mentions(body, "missing");
  return is_missed ? LT_QUIRK_ALL_REASONING : LT_QUIRK_NO_REASONING;
}

/* Parameters that a request only has when its model is told so. */
static unsigned dialect_optional_quirk_in(lt_str body, const lt_model *model, unsigned quirks) {
  unsigned found = 0;
  bool is_thinking = lt_provider_error_mentions(body, "thinking");
  if (model->effort.n > 0 && is_thinking && (quirks & LT_QUIRK_OTHER_THINKING) == 0) {
    found |= LT_QUIRK_OTHER_THINKING;
  } else if (model->effort.n > 0 && (is_thinking || lt_provider_error_mentions(body, "effort"))) {
    found |= LT_QUIRK_NO_EFFORT;
  }
  if (model->temperature.n > 0 && lt_provider_error_mentions(body, "temperature") && !dialect_is_about_size(body)) {
    found |= LT_QUIRK_NO_TEMPERATURE;
  }
  return found;
}

unsigned lt_dialect_quirk_in(lt_str body, const lt_completion_request *request, unsigned quirks) {
  bool json = request->json;
  if (lt_provider_error_mentions(body, "reasoning_content")) {
    return dialect_reasoning_quirk_in(body) & ~quirks;
  }
  unsigned found = dialect_optional_quirk_in(body, request->model, quirks);
  if (lt_provider_error_mentions(body, "encrypted")) {
    found |= LT_QUIRK_NO_ENCRYPTED;
  }
  if (request->freeform != NULL && lt_provider_error_mentions(body, "custom")) {
    found |= LT_QUIRK_NO_FREEFORM;
  }
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

/* --- Images and documents ----------------------------------------------------------------------------------------- */
static bool dialect_mentions_any(lt_str body, const char *const *words) {
  for (; *words != NULL; words++) {
    if (lt_provider_error_mentions(body, *words)) {
      return true;
    }
  }
  return false;
}

/* "image exceeds 5 MB maximum", "Could not process image": another image would do. */
static bool dialect_is_about_one(lt_str body) {
  static const char *const words[] = {
      "exceed", "too large", "could not process", "invalid image", "corrupt", "dimension", "pixels", "decode", NULL};
  return dialect_mentions_any(body, words);
}

bool lt_dialect_is_about_media(lt_str body, unsigned *ret_quirk) {
  static const char *const images[] = {"image", "vision", "multimodal", "multi-modal", "modalit", "mmproj", NULL};
  static const char *const files[] = {"pdf", "document", "file", NULL};
  bool has_image = dialect_mentions_any(body, images), has_file = dialect_mentions_any(body, files);
  bool is_one = dialect_is_about_one(body);
  *ret_quirk = is_one ? 0 : has_image ? LT_QUIRK_NO_IMAGES : has_file ? LT_QUIRK_NO_FILES : 0;
  return has_image || has_file;
}

bool lt_model_takes_images(const lt_model *model) {
  return !model->no_images && (lt_dialect_quirks(model) & LT_QUIRK_NO_IMAGES) == 0;
}

bool lt_model_takes_files(const lt_model *model) {
  return !model->no_files && (lt_dialect_quirks(model) & LT_QUIRK_NO_FILES) == 0;
}

/* --- Reasoners ---------------------------------------------------------------------------------------------------- */

/* The name without a provider's name in front ("openai/gpt-5"). */
static lt_str dialect_bare_name(lt_str name) {
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] == '/') {
      return lt_str_sub(name, i, name.n);
    }
  }
  return name;
}

/* o1, o3-mini, o4-mini, gpt-5 and later ones. */
bool lt_dialect_is_reasoner(lt_str name) {
  name = dialect_bare_name(name);
  if (name.n >= 2 && name.p[0] == 'o' && name.p[1] >= '1' && name.p[1] <= '9') {
    return name.n == 2 || name.p[2] == '-';
  }
  return name.n >= 5 && lt_str_starts(name, LT_STR("gpt-")) && name.p[4] >= '5' && name.p[4] <= '9';
}

/* The number at `at`, and the offset of what follows it; -1: there is none. */
static int64_t dialect_read_number(lt_str s, size_t at, size_t *ret_end) {
  int64_t n = -1;
  for (; at < s.n && s.p[at] >= '0' && s.p[at] <= '9' && n < INT32_MAX; at++) {
    n = (n < 0 ? 0 : n) * 10 + (s.p[at] - '0');
  }
  *ret_end = at;
  return n;
}

/* claude-FAMILY-MAJOR[-MINOR][-DATE], with a point in place of the second hyphen at some providers. Older names have
 * the version before the family: claude-3-7-sonnet. */
bool lt_dialect_is_adaptive(lt_str name) {
  size_t claude = lt_str_find(name, LT_STR("claude-"), 0);
  size_t at = claude < name.n ? claude + 7 : name.n;
  size_t family = at;
  while (at < name.n && ((name.p[at] >= 'a' && name.p[at] <= 'z') || name.p[at] == '-')) {
    at++;
  }
  int64_t major = at > family ? dialect_read_number(name, at, &at) : -1;
  bool has_more = at < name.n && (name.p[at] == '-' || name.p[at] == '.');
  int64_t minor = has_more ? dialect_read_number(name, at + 1, &at) : -1;
  return major > 4 || (major == 4 && minor >= 6 && minor < 100);
}
