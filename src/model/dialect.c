#include "model/dialect.h"

#include <stdatomic.h>

#include "model/provider_error.h"

/* --- Remembered ---------------------------------------------------------------------------------------------------
 * One word per model: its hash with the quirks in the low bits. A model whose slot is in use replaces the other model:
 * a forgotten quirk costs one more request. */

#define QUIRK_BITS 31ul

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

/* --- Reasoners ---------------------------------------------------------------------------------------------------- */

/* o1, o3-mini, o4-mini, gpt-5 and later ones, also with a provider's name in front ("openai/gpt-5"). */
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
