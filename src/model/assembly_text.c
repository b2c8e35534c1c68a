/* The text of an answer, in whole characters, shown as it arrives. */
#include "model/assembly.h"

static void assembly_text_show(lt_assembly *a, lt_str text) {
  if (text.n == 0) {
    return;
  }
  lt_buf_add(&a->completion->text, text);
  if (a->request->on_text != NULL && a->completion->text.status == LT_OK) {
    a->shown = true;
    a->request->on_text(a->request->arg, text);
  }
}

static bool is_surrogate_half(lt_str s, unsigned char low, unsigned char high) {
  return s.n >= 3 && (unsigned char)s.p[0] == 0xED && (unsigned char)s.p[1] >= low && (unsigned char)s.p[1] <= high;
}

/* Joins two surrogates, which WTF-8 has as two sequences, into one character. */
static void assembly_text_show_joined(lt_assembly *a, const char *first, const char *second) {
  uint32_t high = ((uint32_t)(first[1] & 0x0F) << 6) | (uint32_t)(first[2] & 0x3F);
  uint32_t low = ((uint32_t)(second[1] & 0x0F) << 6) | (uint32_t)(second[2] & 0x3F);
  uint32_t c = 0x10000 + (high << 10) + low;
  char text[4] = {(char)(0xF0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3F)), (char)(0x80 | (c >> 6 & 0x3F)),
                  (char)(0x80 | (c & 0x3F))};
  assembly_text_show(a, lt_str_from(text, sizeof text));
}

static void assembly_text_show_held(lt_assembly *a) {
  size_t n = a->held_n;
  a->held_n = 0;
  assembly_text_show(a, lt_str_from(a->held, n));
}

size_t lt_assembly_half_bytes(lt_str text) {
  lt_str tail = lt_str_sub(text, text.n >= 3 ? text.n - 3 : text.n, text.n);
  return is_surrogate_half(tail, 0xA0, 0xAF) ? tail.n : 0;
}

/* Servers that cut their text by UTF-16 units send half characters: the first half waits for the second. */
void lt_assembly_take_text(lt_assembly *a, lt_str text) {
  if (text.n == 0) {
    return;
  }
  if (a->held_n > 0 && is_surrogate_half(text, 0xB0, 0xBF)) {
    a->held_n = 0;
    assembly_text_show_joined(a, a->held, text.p);
    text = lt_str_sub(text, 3, text.n);
  } else {
    assembly_text_show_held(a);
  }
  a->held_n = lt_assembly_half_bytes(text);
  text.n -= a->held_n;
  memcpy(a->held, text.p + text.n, a->held_n);
  assembly_text_show(a, text);
}

void lt_assembly_end_text(lt_assembly *a) {
  assembly_text_show_held(a);
}
