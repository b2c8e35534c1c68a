#include "text/markdown_inline.h"

#include "json/json_text.h"
#include "text/plain.h"

/* Flags of a byte. */
enum { IS_HIDDEN = 1, IS_CODE = 2, IS_LINK = 4, IS_ADDRESS = 8, HAS_GAP = 16 /* a space is written before it */ };

#define LINK_ADDRESS_BYTES 1024 /* a longer one is shown as it is written */

/* --- Characters --------------------------------------------------------------------------------------------------- */
static bool markdown_is_space(char c) {
  return c == '\0' || c == ' ' || c == '\t';
}

/* ASCII punctuation (CommonMark 0.31, 2.1). Other scripts' counts as letters. */
static bool markdown_is_punctuation(char c) {
  return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
}

/* Whether a run of marks may begin and end emphasis, by the characters around it (CommonMark 0.31, 6.2). */
static void markdown_flanks(char mark, char before, char after, bool *ret_begins, bool *ret_ends) {
  bool left = !markdown_is_space(after) &&
              (!markdown_is_punctuation(after) || markdown_is_space(before) || markdown_is_punctuation(before));
  bool right = !markdown_is_space(before) &&
               (!markdown_is_punctuation(before) || markdown_is_space(after) || markdown_is_punctuation(after));
  bool is_word_mark = mark == '_';
  *ret_begins = left && (!is_word_mark || !right || markdown_is_punctuation(before));
  *ret_ends = right && (!is_word_mark || !left || markdown_is_punctuation(after));
}

static char piece_char(const lt_markdown_piece *p, size_t at) {
  return at < p->text.n ? p->text.p[at] : '\0';
}

static void piece_flag(lt_markdown_piece *p, size_t from, size_t to, uint8_t flag) {
  for (size_t i = from; i < to; i++) {
    p->flags[i] |= flag;
  }
}

static size_t piece_run(const lt_markdown_piece *p, size_t at) {
  size_t end = at;
  while (end < p->text.n && p->text.p[end] == p->text.p[at]) {
    end++;
  }
  return end - at;
}

/* --- Code --------------------------------------------------------------------------------------------------------- */
/* The offset of the next run of exactly `length` backticks, or SIZE_MAX. */
static size_t piece_find_code_end(lt_markdown_piece *p, size_t at, size_t length) {
  if (length >= 64 || (p->no_code_end >> length & 1) != 0) {
    return SIZE_MAX;
  }
  while (at < p->text.n) {
    size_t run = p->text.p[at] == '`' ? piece_run(p, at) : 0;
    if (run == length) {
      return at;
    }
    at += run > 0 ? run : 1;
  }
  p->no_code_end |= UINT64_C(1) << length;
  return SIZE_MAX;
}

/* Returns where to read on. One space at both ends of the code is not part of it. */
static size_t piece_read_code(lt_markdown_piece *p, size_t at) {
  size_t length = piece_run(p, at), from = at + length, to = piece_find_code_end(p, from, length);
  if (to == SIZE_MAX) {
    return from;
  }
  bool is_padded = to > from + 2 && p->text.p[from] == ' ' && p->text.p[to - 1] == ' ';
  piece_flag(p, from, to, IS_CODE);
  piece_flag(p, at, from + is_padded, IS_HIDDEN);
  piece_flag(p, to - is_padded, to + length, IS_HIDDEN);
  return to + length;
}

/* --- Links -------------------------------------------------------------------------------------------------------- */
/* The end of an address that begins at `at`, at a space or the closing parenthesis. */
static size_t piece_address_end(const lt_markdown_piece *p, size_t at) {
  size_t end = at;
  for (unsigned depth = 0; end < p->text.n && end - at <= LINK_ADDRESS_BYTES && p->text.p[end] != ' '; end++) {
    if (p->text.p[end] == ')' && depth == 0) {
      break;
    }
    depth += p->text.p[end] == '(' ? 1 : 0;
    depth -= p->text.p[end] == ')' ? 1 : 0;
  }
  return end;
}

/* The offset of the parenthesis that ends a link, behind its address and a title; SIZE_MAX: this is no link. */
static size_t piece_link_end(lt_markdown_piece *p, size_t at) {
  bool has_title = piece_char(p, at) == ' ' && (piece_char(p, at + 1) == '"' || piece_char(p, at + 1) == '\'');
  if (has_title) {
    char quote = p->text.p[at + 1];
    at += 2;
    while (at < p->text.n && p->text.p[at] != quote) {
      at++;
    }
    p->no_link_end = p->no_link_end || at >= p->text.n;
    at++;
  }
  return piece_char(p, at) == ')' ? at : SIZE_MAX;
}

/* `at` is at a ] with a [ before it. Returns where to read on: behind the link, or behind the bracket. */
static size_t piece_read_link(lt_markdown_piece *p, size_t at) {
  size_t begin = p->brackets[--p->bracket_count], address = at + 2;
  if (piece_char(p, at + 1) != '(' || p->no_link_end) {
    return at + 1;
  }
  size_t address_end = piece_address_end(p, address);
  size_t end = address_end > address ? piece_link_end(p, address_end) : SIZE_MAX;
  if (end == SIZE_MAX) {
    p->no_link_end = p->no_link_end || address_end >= p->text.n;
    return at + 1;
  }
  lt_str text = lt_str_sub(lt_buf_view(&p->text), begin + 1, at);
  bool is_said_twice = lt_str_eq(text, lt_str_sub(lt_buf_view(&p->text), address, address_end));
  bool is_image = begin > 0 && p->text.p[begin - 1] == '!';
  piece_flag(p, begin - is_image, begin + 1, IS_HIDDEN);
  piece_flag(p, begin + 1, at, IS_LINK);
  piece_flag(p, at, is_said_twice ? end + 1 : at + 1, IS_HIDDEN);
  piece_flag(p, at + 1, end + 1, IS_ADDRESS);
  piece_flag(p, address_end, end, IS_HIDDEN);
  p->flags[at + 1] |= text.n > 0 ? HAS_GAP : 0;
  return end + 1;
}

/* "<https://...>". Returns where to read on. */
static size_t piece_read_autolink(lt_markdown_piece *p, size_t at) {
  lt_str rest = lt_str_sub(lt_buf_view(&p->text), at + 1, p->text.n);
  size_t end = at + 1;
  if (!lt_str_starts(rest, LT_STR("http://")) && !lt_str_starts(rest, LT_STR("https://"))) {
    return at + 1;
  }
  while (end < p->text.n && end - at <= LINK_ADDRESS_BYTES && p->text.p[end] != '>' && p->text.p[end] != ' ') {
    end++;
  }
  if (piece_char(p, end) != '>') {
    return at + 1;
  }
  p->flags[at] |= IS_HIDDEN;
  piece_flag(p, at + 1, end, IS_LINK);
  p->flags[end] |= IS_HIDDEN;
  return end + 1;
}

/* --- Emphasis ----------------------------------------------------------------------------------------------------- */
static lt_markdown_mark *piece_find_mark(lt_markdown_piece *p, char c, size_t least) {
  for (size_t i = p->mark_count; i > 0; i--) {
    if (p->marks[i - 1].c == c && p->marks[i - 1].count >= least) {
      p->mark_count = i; /* what was begun in between is not ended in it */
      return &p->marks[i - 1];
    }
  }
  return NULL;
}

/* Ends emphasis with marks from `at` on, of which there are `count`. Returns how many are left. */
static size_t piece_end_emphasis(lt_markdown_piece *p, char c, size_t at, size_t count) {
  const size_t least = c == '~' ? 2 : 1;
  while (count >= least) {
    lt_markdown_mark *mark = piece_find_mark(p, c, least);
    if (mark == NULL) {
      break;
    }
    size_t used = mark->count >= 2 && count >= 2 ? 2 : 1;
    int8_t *counts = c == '~' ? p->strike : used == 2 ? p->bold : p->italic;
    piece_flag(p, mark->end - used, mark->end, IS_HIDDEN);
    piece_flag(p, at, at + used, IS_HIDDEN);
    counts[mark->end]++;
    counts[at]--;
    mark->end -= used;
    mark->count -= used;
    p->mark_count -= mark->count == 0 ? 1 : 0;
    at += used;
    count -= used;
  }
  return count;
}

/* Returns where to read on. */
static size_t piece_read_marks(lt_markdown_piece *p, size_t at) {
  char c = p->text.p[at];
  size_t length = piece_run(p, at), left = length;
  bool begins, ends;
  markdown_flanks(c, at > 0 ? p->text.p[at - 1] : '\0', piece_char(p, at + length), &begins, &ends);
  if (ends) {
    left = piece_end_emphasis(p, c, at, length);
  }
  if (begins && left > 0 && p->mark_count < LT_MARKDOWN_NESTED) {
    p->marks[p->mark_count++] = (lt_markdown_mark){.c = c, .end = at + length, .count = left};
  }
  return at + length;
}

/* --- A piece ------------------------------------------------------------------------------------------------------ */
static size_t piece_read(lt_markdown_piece *p, size_t at) {
  char c = p->text.p[at];
  if (c == '\\' && markdown_is_punctuation(piece_char(p, at + 1))) {
    p->flags[at] |= IS_HIDDEN;
    return at + 2;
  }
  if (c == '[') {
    if (p->bracket_count < LT_MARKDOWN_NESTED) {
      p->brackets[p->bracket_count++] = at;
    }
    return at + 1;
  }
  if (c == ']' && p->bracket_count > 0) {
    return piece_read_link(p, at);
  }
  return c == '`'                           ? piece_read_code(p, at)
         : c == '<'                         ? piece_read_autolink(p, at)
         : c == '*' || c == '_' || c == '~' ? piece_read_marks(p, at)
                                            : at + 1;
}

static unsigned piece_style(uint8_t flags, unsigned style) {
  style |= (flags & IS_CODE) != 0 ? LT_STYLE_CYAN : 0;
  style |= (flags & IS_LINK) != 0 ? LT_STYLE_UNDERLINE : 0;
  style |= (flags & IS_ADDRESS) != 0 ? LT_STYLE_DIM : 0;
  return style;
}

static size_t piece_make_glyphs(const lt_markdown_piece *p, unsigned style, lt_glyph *glyphs, size_t max) {
  size_t count = 0, next;
  int bold = 0, italic = 0, strike = 0;
  for (size_t at = 0; at < p->text.n && count + 1 < max; at = next) {
    uint32_t cp = 0;
    unsigned bytes = lt_json_read_char(p->text.p + at, p->text.p + p->text.n, &cp);
    next = at + (bytes > 0 ? bytes : 1);
    bold += p->bold[at];
    italic += p->italic[at];
    strike += p->strike[at];
    unsigned own = piece_style(p->flags[at], style) | (bold > 0 ? LT_STYLE_BOLD : 0) |
                   (italic > 0 ? LT_STYLE_ITALIC : 0) | (strike > 0 ? LT_STYLE_STRIKE : 0);
    if ((p->flags[at] & IS_HIDDEN) != 0 || bytes == 0) {
      continue;
    }
    if ((p->flags[at] & HAS_GAP) != 0) {
      glyphs[count++] = lt_glyph_of(' ', style);
    }
    glyphs[count++] = lt_glyph_of(cp, own);
  }
  return count;
}

size_t lt_markdown_inline(lt_markdown_piece *p, lt_str text, unsigned style, lt_glyph *glyphs, size_t max) {
  lt_buf_clear(&p->text);
  p->text.max = 4 * LT_MARKDOWN_SPAN_BYTES; /* a malformed byte becomes three */
  lt_plain_add_line(&p->text, lt_str_sub(text, 0, LT_MARKDOWN_SPAN_BYTES));
  lt_buf_cut(&p->text, lt_utf8_floor(lt_buf_view(&p->text), LT_MARKDOWN_SPAN_BYTES));
  size_t n = p->text.n;
  memset(p->flags, 0, n + 1);
  memset(p->bold, 0, n + 1);
  memset(p->italic, 0, n + 1);
  memset(p->strike, 0, n + 1);
  p->mark_count = p->bracket_count = 0;
  p->no_code_end = 0;
  p->no_link_end = false;
  for (size_t at = 0; at < n;) {
    at = piece_read(p, at);
  }
  return piece_make_glyphs(p, style, glyphs, max);
}

/* --- Cutting a line into pieces ----------------------------------------------------------------------------------- */
static void scan_end_marks(lt_markdown_scan *s, char after) {
  unsigned *open = &s->open[s->run == '*' ? 0 : s->run == '_' ? 1 : 2];
  size_t length = s->run == '~' && s->run_length < 2 ? 0 : s->run_length;
  bool begins, ends;
  markdown_flanks(s->run, s->before_run, after, &begins, &ends);
  if (ends && *open > 0) {
    *open -= length < *open ? (unsigned)length : *open;
  } else if (begins) {
    *open += (unsigned)length;
  }
}

/* `after` follows the run that was read. */
static void scan_end_run(lt_markdown_scan *s, char after) {
  if (s->run == '`') {
    s->code = s->code == 0 ? s->run_length : s->code == s->run_length ? 0 : s->code;
  } else if (s->run == ']' && after == '(') {
    s->parens = 1;
  } else if (s->run == '*' || s->run == '_' || s->run == '~') {
    scan_end_marks(s, after);
  }
  s->run = '\0';
}

static bool scan_is_run(const lt_markdown_scan *s, char c) {
  return c == '`' || (s->code == 0 && s->parens == 0 && (c == '*' || c == '_' || c == '~'));
}

bool lt_markdown_scan_byte(lt_markdown_scan *s, char c) {
  char last = s->last;
  bool is_escaped = s->run == '\\' && markdown_is_punctuation(c);
  bool was_bracket = s->run == ']';
  s->last = c;
  if (s->run == c && (c == '`' || c == '*' || c == '_' || c == '~')) {
    s->run_length++;
    return false;
  }
  scan_end_run(s, c);
  if (is_escaped || (was_bracket && s->parens > 0)) {
    return false;
  }
  if (scan_is_run(s, c) || (c == '\\' && s->code == 0)) {
    s->run = c;
    s->before_run = last;
    s->run_length = 1;
  } else if (s->code > 0) {
    return false;
  } else if (s->parens > 0) {
    s->parens += c == '(' ? 1u : 0u;
    s->parens -= c == ')' ? 1u : 0u;
  } else if (c == '[') {
    s->brackets++;
  } else if (c == ']' && s->brackets > 0) {
    s->brackets--;
    s->run = c;
  }
  return c == ' ' && s->brackets == 0 && s->parens == 0 && s->open[0] + s->open[1] + s->open[2] == 0;
}
