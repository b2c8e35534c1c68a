#include "trace/trace_context.h"

#include <string.h>

#include "base/limits.h"
#include "base/random.h"

static bool trace_has_bit(const uint8_t *bytes, size_t n) {
  uint8_t all = 0;
  for (size_t i = 0; i < n; i++) {
    all |= bytes[i];
  }
  return all != 0;
}

bool lt_trace_context_is_set(const lt_trace_context *context) {
  return context != NULL && trace_has_bit(context->trace_id, LT_TRACE_ID_BYTES);
}

bool lt_trace_context_has_span(const lt_trace_context *context) {
  return lt_trace_context_is_set(context) && trace_has_bit(context->span_id, LT_SPAN_ID_BYTES);
}

bool lt_trace_context_is_recorded(const lt_trace_context *context) {
  return lt_trace_context_has_span(context) && context->is_sampled;
}

/* --- traceparent -------------------------------------------------------------------------------------------------- */
/* "HEXDIGLC: lowercase hex character". -1: it is none. */
static int trace_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text has two digits for each byte. */
static bool trace_read_bytes(const char *text, uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    int high = trace_digit(text[2 * i]), low = trace_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    bytes[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

/* "Version 255 is invalid." Of a higher version than 00, "vendors MUST parse [...] these fields at the same positions",
 * and what follows begins with a dash. */
static bool trace_is_well_formed(lt_str parent) {
  if (parent.n < LT_TRACE_PARENT_LENGTH || parent.p[2] != '-' || parent.p[35] != '-' || parent.p[52] != '-') {
    return false;
  }
  bool is_first_version = parent.p[0] == '0' && parent.p[1] == '0';
  bool is_invalid_version = parent.p[0] == 'f' && parent.p[1] == 'f';
  return !is_invalid_version &&
         (parent.n == LT_TRACE_PARENT_LENGTH || (!is_first_version && parent.p[LT_TRACE_PARENT_LENGTH] == '-'));
}

/* --- tracestate --------------------------------------------------------------------------------------------------- */
static bool trace_is_key_char(char c, bool is_first) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         (!is_first && (c == '_' || c == '-' || c == '*' || c == '/' || c == '@'));
}

/* key=value. "value: printable ASCII without comma and equals sign"; blanks around a member do not count. */
static bool trace_is_member(lt_str member) {
  size_t equals = lt_str_find(member, LT_STR("="), 0);
  if (equals == SIZE_MAX || equals == 0 || equals > 256 || member.n - equals - 1 == 0 || member.n - equals - 1 > 256) {
    return false;
  }
  for (size_t i = 0; i < member.n; i++) {
    char c = member.p[i];
    bool is_fine = i < equals ? trace_is_key_char(c, i == 0) : i == equals || (c >= ' ' && c <= '~' && c != '=');
    if (!is_fine) {
      return false;
    }
  }
  return true;
}

static bool trace_is_state(lt_str state) {
  size_t members = 0;
  if (state.n > LT_TRACE_STATE_BYTES) {
    return false;
  }
  for (size_t at = 0; at < state.n;) {
    size_t end = lt_str_find(state, LT_STR(","), at);
    lt_str member = lt_str_trim(lt_str_sub(state, at, end));
    if (member.n > 0 && (!trace_is_member(member) || ++members > LT_TRACE_STATE_MEMBERS_MAX)) {
      return false;
    }
    at = end == SIZE_MAX ? state.n : end + 1;
  }
  /* lt_str_trim takes line ends for blanks. */
  return lt_str_find(state, LT_STR("\n"), 0) == SIZE_MAX && lt_str_find(state, LT_STR("\r"), 0) == SIZE_MAX;
}

bool lt_trace_context_read(lt_str parent, lt_str state, lt_trace_context *ret_context) {
  uint8_t version, flags;
  lt_trace_context context = {.is_remote = true};
  *ret_context = (lt_trace_context){.is_sampled = false};
  if (!trace_is_well_formed(parent) || !trace_read_bytes(parent.p, &version, 1) ||
      !trace_read_bytes(parent.p + 3, context.trace_id, LT_TRACE_ID_BYTES) ||
      !trace_read_bytes(parent.p + 36, context.span_id, LT_SPAN_ID_BYTES) ||
      !trace_read_bytes(parent.p + 53, &flags, 1) || !lt_trace_context_has_span(&context)) {
    return false;
  }
  context.is_sampled = (flags & 1) != 0;
  context.state = trace_is_state(state) ? lt_str_trim(state) : LT_STR_NULL;
  *ret_context = context;
  return true;
}

static char *trace_put_bytes(char *out, const uint8_t *bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    *out++ = digits[bytes[i] >> 4];
    *out++ = digits[bytes[i] & 15];
  }
  return out;
}

void lt_trace_context_print(const lt_trace_context *context, char ret_parent[LT_TRACE_PARENT_LENGTH + 1]) {
  memcpy(ret_parent, "00-", 3);
  char *at = trace_put_bytes(ret_parent + 3, context->trace_id, LT_TRACE_ID_BYTES);
  *at++ = '-';
  at = trace_put_bytes(at, context->span_id, LT_SPAN_ID_BYTES);
  memcpy(at, context->is_sampled ? "-01" : "-00", 4);
}

lt_trace_context lt_trace_context_child(const lt_trace_context *parent) {
  if (!lt_trace_context_is_set(parent)) {
    return (lt_trace_context){.is_sampled = false};
  }
  lt_trace_context child = *parent;
  child.is_remote = false;
  bool has_random = lt_random_fill(child.span_id, LT_SPAN_ID_BYTES) && trace_has_bit(child.span_id, LT_SPAN_ID_BYTES);
  return has_random ? child : (lt_trace_context){.is_sampled = false};
}
