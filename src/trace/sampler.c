#include "trace/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static bool sampler_read_ratio(lt_str text, double *ret) {
  char copy[32], *end;
  if (text.n == 0) {
    *ret = 1; /* "If unset, the default is 1.0" */
    return true;
  }
  if (text.n >= sizeof copy || strchr("0123456789.", text.p[0]) == NULL) {
    return false;
  }
  memcpy(copy, text.p, text.n);
  copy[text.n] = '\0';
  *ret = strtod(copy, &end);
  return *end == '\0' && *ret >= 0 && *ret <= 1;
}

bool lt_sampler_read(lt_str name, lt_str argument, lt_sampler *ret_sampler) {
  lt_sampler sampler = {.ratio = 1};
  lt_str parent_based = LT_STR("parentbased_");
  *ret_sampler = (lt_sampler){.is_parent_based = true, .ratio = 1};
  if (name.n == 0) {
    return true;
  }
  if (lt_str_starts(name, parent_based)) {
    sampler.is_parent_based = true;
    name = lt_str_sub(name, parent_based.n, name.n);
  }
  if (lt_str_eqc(name, "always_off")) {
    sampler.ratio = 0;
  } else if (lt_str_eqc(name, "traceidratio")) {
    if (!sampler_read_ratio(argument, &sampler.ratio)) {
      return false;
    }
  } else if (!lt_str_eqc(name, "always_on")) {
    return false;
  }
  *ret_sampler = sampler;
  return true;
}

bool lt_sampler_takes(const lt_sampler *sampler, const lt_trace_context *parent, const uint8_t *trace_id) {
  if (sampler->is_parent_based && lt_trace_context_is_set(parent)) {
    return parent->is_sampled;
  }
  if (sampler->ratio >= 1) {
    return true;
  }
  uint64_t number = 0; /* of the id's right half: W3C wants randomness there (level 2, "Random Trace ID Flag") */
  for (size_t i = LT_TRACE_ID_BYTES / 2; i < LT_TRACE_ID_BYTES; i++) {
    number = number << 8 | trace_id[i];
  }
  return (double)(number >> 11) < sampler->ratio * 9007199254740992.0; /* 2^53 */
}

lt_trace_context lt_sampler_begin(const lt_sampler *sampler, const lt_trace_context *parent) {
  lt_trace_context begun = {.is_sampled = false};
  if (sampler == NULL) {
    return begun;
  }
  if (lt_trace_context_is_set(parent)) {
    begun = lt_trace_context_child(parent);
  } else if (!lt_random_fill(begun.trace_id, LT_TRACE_ID_BYTES)) {
    return (lt_trace_context){.is_sampled = false};
  }
  begun.is_sampled = lt_sampler_takes(sampler, parent, begun.trace_id);
  return begun;
}
