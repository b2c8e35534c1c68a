#include "text/plain.h"

#include "json/json_text.h"

#define ESC 0x1B
#define BEL 0x07

typedef struct plain_range {
  uint32_t from, to;
} plain_range;

/* Sorted. Default-ignorable code points (Unicode 15, DerivedCoreProperties), letters without ink, direction marks. */
static const plain_range plain_invisible[] = {
    {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},       {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x202A, 0x202E},     {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},     {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x13430, 0x13455}, {0x1BCA0, 0x1BCA3},   {0x1D159, 0x1D159},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0xFFFFE, 0xFFFFF}, {0x10FFFE, 0x10FFFF},
};

/* Sorted. They have room but no ink, or ink that only a font of its own knows. */
static const plain_range plain_blank_or_private[] = {
    {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},    {0x205F, 0x205F},
    {0x2800, 0x2800}, {0x3000, 0x3000}, {0xE000, 0xF8FF}, {0xFFFC, 0xFFFC}, {0xF0000, 0x10FFFD},
};

/* Sorted. Marks that are put on the letter before them. */
static const plain_range plain_marks[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},     {0x64B, 0x65F}, {0x670, 0x670},
    {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0xE31, 0xE31},   {0xE34, 0xE3A},     {0xE47, 0xE4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}, {0x1D165, 0x1D169},
};

/* Sorted. East Asian Wide and Fullwidth (UAX #11), by blocks. */
static const plain_range plain_wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},   {0x25FD, 0x25FE},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},
    {0x26EA, 0x26EA},   {0x26F2, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274E},   {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B55},   {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A}, {0x1F200, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0},
    {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool plain_is_among(uint32_t cp, const plain_range *ranges, size_t n) {
  size_t from = 0;
  while (n > 0) {
    size_t half = n / 2;
    if (cp > ranges[from + half].to) {
      from += half + 1;
      n -= half + 1;
    } else if (cp < ranges[from + half].from) {
      n = half;
    } else {
      return true;
    }
  }
  return false;
}

#define IS_AMONG(cp, ranges) plain_is_among(cp, ranges, sizeof(ranges) / sizeof(ranges)[0])
#define MARKS_MAX            2 /* on one letter: Vietnamese and Thai need two */

/* Whether a character has no width or no ink, steers the direction of text, is a control or no character at all.
 * Includes joiners and variation selectors. Blanks (U+00A0, U+2800) do not count. */
static bool plain_is_invisible(uint32_t cp) {
  return cp >= 0x7F && IS_AMONG(cp, plain_invisible);
}

/* Counts the marks on a letter. True: `cp` is one too many. */
static bool plain_is_mark_too_many(uint32_t cp, unsigned *marks) {
  bool is_mark = cp >= 0x300 && IS_AMONG(cp, plain_marks);
  *marks = is_mark ? *marks + 1 : 0;
  return *marks > MARKS_MAX;
}

bool lt_plain_needs_escape(uint32_t cp, unsigned *marks) {
  return plain_is_mark_too_many(cp, marks) || plain_is_invisible(cp) ||
         (cp >= 0xA0 && IS_AMONG(cp, plain_blank_or_private));
}

/* Whether ordinary text needs an invisible character: a joiner behind a letter of a script that joins, or behind an
 * emoji; a selector behind a character that has two looks. */
static bool plain_acts_on_text(uint32_t cp, uint32_t before) {
  bool is_sign = before == 0xA9 || before == 0xAE;
  bool is_keycap = before == '#' || before == '*' || (before >= '0' && before <= '9');
  bool is_joiner = cp == 0x200C || cp == 0x200D, is_selector = cp == 0xFE0E || cp == 0xFE0F;
  bool was_joiner = before == 0x200C || before == 0x200D;
  return (is_joiner && (is_sign || (before >= 0x600 && !was_joiner))) ||
         (is_selector && (is_sign || is_keycap || (before >= 0x2000 && !plain_is_invisible(before))));
}

static bool plain_in_range(const char *p, const char *end, char from, char to) {
  return p < end && *p >= from && *p <= to;
}

/* After ESC: a control sequence (ECMA-48, 5.4), a control string (5.6, up to its end or the line's), or two bytes. */
static const char *plain_skip_escape(const char *p, const char *end) {
  if (p >= end) {
    return end;
  }
  char kind = *p;
  if (kind == '[') {
    p++;
    while (plain_in_range(p, end, 0x20, 0x3F)) {
      p++;
    }
    return p + plain_in_range(p, end, 0x40, 0x7E);
  }
  if (strchr("]PX^_", kind) != NULL && kind != '\0') {
    while (p < end && *p != BEL && *p != ESC && *p != '\n') {
      p++;
    }
    return p;
  }
  while (plain_in_range(p, end, 0x20, 0x2F)) {
    p++;
  }
  return p + plain_in_range(p, end, 0x30, 0x7E);
}

static uint32_t plain_read_char(const char **p, const char *end) {
  uint32_t cp = 0;
  unsigned n = lt_json_read_char(*p, end, &cp);
  if (n == 0 || lt_json_is_surrogate(cp)) {
    cp = 0xFFFD;
  }
  *p += n > 0 ? n : 1;
  return cp;
}

lt_plain_reader lt_plain_reader_of(lt_str text) {
  const char *p = text.n > 0 ? text.p : ""; /* NULL + 0 is undefined */
  return (lt_plain_reader){.p = p, .end = p + text.n};
}

/* What a character becomes; 0: nothing. */
static uint32_t plain_shown_char(lt_plain_reader *r, uint32_t cp) {
  if (cp == '\n' || cp == 0x2028 || cp == 0x2029 || (cp == '\r' && !plain_in_range(r->p, r->end, '\n', '\n'))) {
    return '\n';
  }
  if (cp == '\v' || cp == '\f' || cp == 0xA0 || cp == 0x2800) {
    return ' ';
  }
  bool is_mark_too_many = plain_is_mark_too_many(cp, &r->marks);
  bool is_shown =
      cp == '\t' || (cp >= 0x20 && !is_mark_too_many && (!plain_is_invisible(cp) || plain_acts_on_text(cp, r->before)));
  return is_shown ? cp : 0;
}

bool lt_plain_next(lt_plain_reader *r, uint32_t *ret_cp) {
  while (r->p < r->end) {
    uint32_t cp = plain_read_char(&r->p, r->end);
    if (cp == ESC) {
      r->p = plain_skip_escape(r->p, r->end);
      continue;
    }
    uint32_t shown = plain_shown_char(r, cp);
    if (shown != 0) {
      r->before = shown;
      *ret_cp = shown;
      return true;
    }
  }
  return false;
}

/* One past the characters from `p` on that are as they should be: most text is nothing else. */
static const char *plain_ascii_end(const char *p, const char *end) {
  while (p < end && *p >= 0x20 && *p < 0x7F) {
    p++;
  }
  return p;
}

static void plain_add(lt_buf *out, lt_str text, bool in_one_line) {
  lt_plain_reader r = lt_plain_reader_of(text);
  uint32_t cp;
  while (out->status == LT_OK && lt_plain_next(&r, &cp)) {
    char bytes[4];
    bool blank = in_one_line && (cp == '\n' || cp == '\t');
    lt_buf_add(out, lt_str_from(bytes, lt_json_write_char(bytes, blank ? ' ' : cp)));
    const char *from = r.p;
    r.p = plain_ascii_end(r.p, r.end);
    if (r.p > from) {
      r.before = (unsigned char)r.p[-1];
      r.marks = 0;
      lt_buf_add(out, lt_str_from(from, (size_t)(r.p - from)));
    }
  }
}

void lt_plain_add(lt_buf *out, lt_str text) {
  plain_add(out, text, false);
}

void lt_plain_add_line(lt_buf *out, lt_str text) {
  plain_add(out, text, true);
}

unsigned lt_plain_columns(uint32_t cp) {
  if (cp == '\t') {
    return 2;
  }
  if (cp < 0x300) {
    return 1;
  }
  bool has_none = IS_AMONG(cp, plain_marks) || plain_is_invisible(cp);
  return has_none ? 0 : IS_AMONG(cp, plain_wide) ? 2 : 1;
}
