#include "json/member_text.h"

#include "json/json_text.h"

enum {
  MEMBER_BEFORE,     /* the object's brace */
  MEMBER_NEXT,       /* a key, a comma or the end */
  MEMBER_KEY,        /* within a key */
  MEMBER_COLON,      /* behind a key */
  MEMBER_VALUE,      /* behind the colon */
  MEMBER_STRING,     /* within a string value of the object */
  MEMBER_NESTED,     /* within an object or array, in none of its strings */
  MEMBER_NESTED_STR, /* within such a string */
  MEMBER_SCALAR,     /* within a number or word */
  MEMBER_OVER        /* the member or the object has ended, or it is no JSON */
};

void lt_member_text_init(lt_member_text *m, const char *key) {
  *m = (lt_member_text){.key = key, .state = MEMBER_BEFORE};
}

/* --- Characters --------------------------------------------------------------------------------------------------- */
static void member_text_put_bytes(lt_member_text *m, lt_str bytes, lt_buf *out) {
  if (m->state == MEMBER_STRING && m->is_text) {
    lt_buf_add(out, bytes);
  }
  for (size_t i = 0; m->state == MEMBER_KEY && i < bytes.n && m->matched != SIZE_MAX; i++) {
    bool is_same = m->key[m->matched] == bytes.p[i] && bytes.p[i] != '\0';
    m->matched = is_same ? m->matched + 1 : SIZE_MAX;
  }
}

static void member_text_put_code_point(lt_member_text *m, uint32_t cp, lt_buf *out) {
  char bytes[4];
  member_text_put_bytes(m, lt_str_from(bytes, lt_json_write_char(bytes, cp)), out);
}

static void member_text_put_half(lt_member_text *m, lt_buf *out) {
  uint32_t high = m->high;
  m->high = 0;
  if (high != 0) {
    member_text_put_code_point(m, high, out);
  }
}

/* Two halves of a character, in whatever notation, are one (json_value.c). */
static void member_text_take_code_point(lt_member_text *m, uint32_t cp, lt_buf *out) {
  if (m->high != 0 && lt_json_is_low(cp)) {
    cp = lt_json_join(m->high, cp);
    m->high = 0;
  }
  member_text_put_half(m, out);
  if (lt_json_is_high(cp)) {
    m->high = cp;
  } else {
    member_text_put_code_point(m, cp, out);
  }
}

static void member_text_end_string(lt_member_text *m, lt_buf *out) {
  member_text_put_half(m, out);
  switch (m->state) {
    case MEMBER_KEY:
      m->is_text = m->matched != SIZE_MAX && m->key[m->matched] == '\0';
      m->state = MEMBER_COLON;
      break;
    case MEMBER_STRING:
      m->state = m->is_text ? MEMBER_OVER : MEMBER_NEXT;
      break;
    default:
      m->state = MEMBER_NESTED;
      break;
  }
}

static void member_text_take_escaped(lt_member_text *m, char c, lt_buf *out) {
  static const char names[] = "\"\\/bfnrt", chars[] = "\"\\/\b\f\n\r\t";
  const char *name = c != '\0' ? strchr(names, c) : NULL;
  int digit = lt_json_hex_value(c);
  if (m->escape == 1 && c == 'u') {
    m->escape = 2;
    m->unit = 0;
  } else if (m->escape == 1 && name != NULL) {
    m->escape = 0;
    member_text_take_code_point(m, (unsigned char)chars[name - names], out);
  } else if (m->escape > 1 && digit >= 0) {
    m->unit = m->unit << 4 | (uint32_t)digit;
    m->escape = m->escape < 5 ? m->escape + 1 : 0;
    if (m->escape == 0) {
      member_text_take_code_point(m, m->unit, out);
    }
  } else {
    m->state = MEMBER_OVER;
  }
}

/* The bytes that a character with this first byte has; 0: no character begins so. */
static unsigned member_text_bytes_of(char first) {
  unsigned char c = (unsigned char)first;
  return c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
}

static void member_text_take_byte(lt_member_text *m, char c, lt_buf *out) {
  uint32_t cp = 0;
  m->partial[m->partial_n++] = c;
  unsigned bytes = member_text_bytes_of(m->partial[0]);
  if (bytes > m->partial_n) {
    return;
  }
  bool is_whole = bytes > 0 && lt_json_read_char(m->partial, m->partial + m->partial_n, &cp) == m->partial_n;
  m->partial_n = 0;
  if (is_whole) {
    member_text_take_code_point(m, cp, out);
  } else {
    m->state = MEMBER_OVER;
  }
}

static void member_text_take_in_string(lt_member_text *m, char c, lt_buf *out) {
  if (m->escape > 0) {
    member_text_take_escaped(m, c, out);
  } else if (m->partial_n > 0) {
    member_text_take_byte(m, c, out);
  } else if (c == '"') {
    member_text_end_string(m, out);
  } else if (c == '\\') {
    m->escape = 1;
  } else if ((unsigned char)c < 0x20) {
    m->state = MEMBER_OVER;
  } else {
    member_text_take_byte(m, c, out);
  }
}

/* --- Around the strings ------------------------------------------------------------------------------------------- */
static void member_text_begin_value(lt_member_text *m, char c) {
  if (c == '"') {
    m->state = MEMBER_STRING;
  } else if (m->is_text) { /* not a string */
    m->state = MEMBER_OVER;
  } else {
    m->depth = c == '{' || c == '[';
    m->state = m->depth > 0 ? MEMBER_NESTED : MEMBER_SCALAR;
  }
}

static void member_text_take_nested(lt_member_text *m, char c) {
  if (c == '"') {
    m->state = MEMBER_NESTED_STR;
  } else if (c == '{' || c == '[') {
    m->depth++;
  } else if (c == '}' || c == ']') {
    m->depth--;
    m->state = m->depth > 0 ? MEMBER_NESTED : MEMBER_NEXT;
  }
}

static void member_text_begin_key(lt_member_text *m) {
  m->state = MEMBER_KEY;
  m->matched = 0;
}

static void member_text_take_between(lt_member_text *m, char c) {
  if (lt_json_is_space(c)) {
    return;
  }
  switch (m->state) {
    case MEMBER_BEFORE:
      m->state = c == '{' ? MEMBER_NEXT : MEMBER_OVER;
      break;
    case MEMBER_COLON:
      m->state = c == ':' ? MEMBER_VALUE : MEMBER_OVER;
      break;
    case MEMBER_VALUE:
      member_text_begin_value(m, c);
      break;
    case MEMBER_NESTED:
      member_text_take_nested(m, c);
      break;
    case MEMBER_SCALAR:
      m->state = c == ',' ? MEMBER_NEXT : c == '}' ? MEMBER_OVER : MEMBER_SCALAR;
      break;
    default: /* MEMBER_NEXT */
      if (c == '"') {
        member_text_begin_key(m);
      } else if (c != ',') {
        m->state = MEMBER_OVER;
      }
      break;
  }
}

static bool member_text_is_in_string(const lt_member_text *m) {
  return m->state == MEMBER_KEY || m->state == MEMBER_STRING || m->state == MEMBER_NESTED_STR;
}

/* Takes the plain bytes of a string at once; returns their number. */
static size_t member_text_take_plain(lt_member_text *m, lt_str rest, lt_buf *out) {
  if (!member_text_is_in_string(m) || m->escape > 0 || m->partial_n > 0) {
    return 0;
  }
  size_t n = (size_t)(lt_json_plain_end(rest.p, rest.p + rest.n) - rest.p);
  if (n > 0) {
    member_text_put_half(m, out);
    member_text_put_bytes(m, lt_str_sub(rest, 0, n), out);
  }
  return n;
}

void lt_member_text_add(lt_member_text *m, lt_str piece, lt_buf *out) {
  for (size_t at = 0; at < piece.n && m->state != MEMBER_OVER;) {
    size_t plain = member_text_take_plain(m, lt_str_sub(piece, at, piece.n), out);
    at += plain;
    if (plain > 0) {
      continue;
    }
    if (member_text_is_in_string(m)) {
      member_text_take_in_string(m, piece.p[at++], out);
    } else {
      member_text_take_between(m, piece.p[at++]);
    }
  }
}
