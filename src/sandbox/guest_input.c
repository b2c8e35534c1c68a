#include "sandbox/guest_input.h"

#include <string.h>

#include "sandbox/qjs_abi.h"

#define PROPERTIES_MAX 32

#define INSTANCE(guest) ((Z_qjs_instance_t *)(guest)->box->instance)

/* quickjs.h: JSPropertyEnum, JSPropertyDescriptor, and where they and their list are put for the engine. */
typedef struct input_name {
  uint32_t is_enumerable;
  uint32_t atom;
} input_name;

typedef struct input_property {
  uint32_t flags;
  uint32_t unused;
  lt_js value, getter, setter;
} input_property;

enum { AT_LIST = LT_SCRATCH_ARGS, AT_COUNT = AT_LIST + 4, AT_PROPERTY = AT_COUNT + 4 };
_Static_assert(AT_PROPERTY + sizeof(input_property) <= LT_SCRATCH_NAMES, "fits into the scratch memory");

static bool input_read(const lt_guest *guest, uint32_t at, void *to, size_t n) {
  lt_str bytes = lt_guest_view(guest, at, (uint32_t)n);
  if (bytes.n != n) {
    return false;
  }
  memcpy(to, bytes.p, n);
  return true;
}

/* Is there a quote, a backslash, a control character or ED among these eight bytes? Each term has the top bit of some
 * byte set exactly when one of its characters is there.
 */
static bool input_is_special(const char *eight) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t x;
  memcpy(&x, eight, sizeof x);
  uint64_t quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\'), half = x ^ (ones * 0xed);
  uint64_t found = ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
                   ((half - ones) & ~half);
  return (found & (ones * 0x80)) != 0;
}

/* Nothing to be escaped, and no half of a surrogate pair, which WTF-8 has as ED A0 to ED BF. */
static bool input_is_plain(lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    if (text.n - i >= 8 && !input_is_special(text.p + i)) {
      i += 7;
      continue;
    }
    unsigned char c = (unsigned char)text.p[i];
    bool is_half = c == 0xed && i + 1 < text.n && (unsigned char)text.p[i + 1] >= 0xa0;
    if (c < 0x20 || c == '"' || c == '\\' || is_half) {
      return false;
    }
  }
  return true;
}

/* The text in quotes, and the character before and behind it, unless that is NUL. */
static void input_put_quoted(char before, lt_str text, char behind, lt_buf *out) {
  char *to = lt_buf_reserve(out, text.n + 4), *end = to;
  if (to == NULL) {
    return;
  }
  *end = before;
  end += before != '\0';
  *end++ = '"';
  memcpy(end, text.n > 0 ? text.p : "", text.n);
  end += text.n;
  *end++ = '"';
  *end = behind;
  end += behind != '\0';
  lt_buf_commit(out, (size_t)(end - to));
}

/* Use it only inside LT_BOX_ENTER. `at`: a C string of the engine's, which is freed. */
static bool input_put_string(lt_guest *guest, char before, uint32_t at, char behind, lt_buf *out) {
  uint32_t n = 0;
  bool has_text = at != 0 && input_read(guest, guest->scratch + LT_SCRATCH_LEN, &n, sizeof n);
  lt_str text = has_text ? lt_guest_view(guest, at, n) : LT_STR_NULL;
  bool is_plain = has_text && text.n == n && input_is_plain(text);
  if (is_plain) {
    input_put_quoted(before, text, behind, out);
  }
  if (at != 0) {
    Z_qjsZ_JS_FreeCString(INSTANCE(guest), guest->context, at);
  }
  return is_plain;
}

/* Use it only inside LT_BOX_ENTER. */
static bool input_put_value(lt_guest *guest, lt_js value, lt_buf *out) {
  switch (LT_JS_TAG(value)) {
    case LT_TAG_INT:
      lt_buf_int(out, (int32_t)(uint32_t)value);
      return true;
    case LT_TAG_BOOL:
      lt_buf_addc(out, (uint32_t)value != 0 ? "true" : "false");
      return true;
    case LT_TAG_NULL:
      lt_buf_addc(out, "null");
      return true;
    case LT_TAG_STRING:
    case LT_TAG_ROPE: {
      uint32_t length = guest->scratch + LT_SCRATCH_LEN;
      uint32_t at = Z_qjsZ_JS_ToCStringLen2(INSTANCE(guest), guest->context, length, value, 0);
      return input_put_string(guest, '\0', at, '\0', out);
    }
    default:
      return false;
  }
}

/* Use it only inside LT_BOX_ENTER. The property is looked at before it is read: reading an accessor would call it. */
static bool input_put_property(lt_guest *guest, lt_js object, uint32_t atom, char before, lt_buf *out) {
  Z_qjs_instance_t *q = INSTANCE(guest);
  uint32_t at = guest->scratch + AT_PROPERTY;
  input_property property;
  if (Z_qjsZ_JS_GetOwnProperty(q, guest->context, at, object, atom) != 1 ||
      !input_read(guest, at, &property, sizeof property) || (property.flags & QJS_PROP_KINDS) != 0) {
    return false;
  }
  uint32_t name = Z_qjsZ_JS_AtomToCStringLen(q, guest->context, guest->scratch + LT_SCRATCH_LEN, atom);
  bool is_flat = input_put_string(guest, before, name, ':', out) && input_put_value(guest, property.value, out);
  if (LT_JS_TAG(property.value) < 0) { /* else it counts no references */
    Z_qjsZ_JS_FreeValue(q, guest->context, property.value);
  }
  return is_flat;
}

/* Use it only inside LT_BOX_ENTER. */
static bool input_put_properties(lt_guest *guest, lt_js object, uint32_t list, uint32_t count, lt_buf *out) {
  bool is_flat = count <= PROPERTIES_MAX;
  if (count == 0) {
    lt_buf_byte(out, '{');
  }
  for (uint32_t i = 0; i < count && is_flat; i++) {
    input_name name;
    is_flat = input_read(guest, list + i * (uint32_t)sizeof name, &name, sizeof name) &&
              input_put_property(guest, object, name.atom, i == 0 ? '{' : ',', out);
  }
  lt_buf_byte(out, '}');
  return is_flat;
}

/* Use it only inside LT_BOX_ENTER. Objects say themselves what they are in JSON by a toJSON, which may be a getter. */
static bool input_has_to_json(lt_guest *guest, lt_js object) {
  Z_qjs_instance_t *q = INSTANCE(guest);
  lt_js found = Z_qjsZ_JS_GetProperty(q, guest->context, object, guest->box->image->head.to_json);
  if (lt_js_is_exception(found)) {
    (void)Z_qjsZ_JS_GetException(q, guest->context); /* JSON.stringify will throw it again */
  }
  return !lt_js_is_undefined(found);
}

/* Use it only inside LT_BOX_ENTER. */
static bool input_put_object(lt_guest *guest, lt_js object, lt_buf *out) {
  Z_qjs_instance_t *q = INSTANCE(guest);
  uint32_t at_list = guest->scratch + AT_LIST, at_count = guest->scratch + AT_COUNT, list = 0, count = 0;
  if (Z_qjsZ_JS_GetClassID(q, object) != QJS_CLASS_OBJECT || input_has_to_json(guest, object) ||
      Z_qjsZ_JS_GetOwnPropertyNames(q, guest->context, at_list, at_count, object, QJS_NAMES_ENUMERABLE) != 0) {
    return false;
  }
  bool has_list = input_read(guest, at_list, &list, sizeof list) && input_read(guest, at_count, &count, sizeof count);
  bool is_flat = has_list && input_put_properties(guest, object, list, count, out);
  Z_qjsZ_JS_FreePropertyEnum(q, guest->context, list, count);
  return is_flat;
}

bool lt_guest_flat_input(lt_guest *guest, lt_js value, lt_buf *out) {
  volatile bool is_flat = false;
  if (lt_js_is_object(value)) {
    /* LT_YIELDS: a toJSON may be a getter of the program's */
    LT_BOX_ENTER(guest->box, is_flat = input_put_object(guest, value, out));
  }
  return is_flat && lt_guest_alive(guest) && out->status == LT_OK;
}

lt_js lt_guest_stringify(lt_guest *guest, lt_js value) {
  volatile lt_js text = LT_JS_EXCEPTION;
  /* LT_YIELDS: toJSON and getters are the program's code */
  LT_BOX_ENTER(guest->box, text = Z_qjsZ_JS_JSONStringify(INSTANCE(guest), guest->context, value, LT_JS_UNDEFINED,
                                                          LT_JS_UNDEFINED));
  return text;
}
