/* The parts of jsscan that work on lines and words, not on tokens. */
#include "js/jslex.h"
#include "js/jsscan.h"

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* Reads the line at `*at` without its end (\n, \r\n, \r) and moves `*at` to the next line. False: there is no further
 * line. */
static bool jsscan_text_next_line(lt_str source, size_t *at, lt_str *ret_line) {
  if (*at >= source.n) {
    return false;
  }
  size_t end = *at;
  while (end < source.n && source.p[end] != '\n' && source.p[end] != '\r') {
    end++;
  }
  *ret_line = lt_str_sub(source, *at, end);
  if (end < source.n) {
    end += source.p[end] == '\r' && end + 1 < source.n && source.p[end + 1] == '\n' ? 2 : 1;
  }
  *at = end;
  return true;
}

lt_str lt_jsscan_line(lt_str source, unsigned line) {
  size_t at = 0;
  lt_str found;
  while (line > 0 && jsscan_text_next_line(source, &at, &found)) {
    if (--line == 0) {
      return found;
    }
  }
  return lt_str_sub(source, source.n, source.n);
}

/* --- Code fences -------------------------------------------------------------------------------------------------- */

typedef struct code_fence {
  char mark;    /* ` or ~; 0: no fence */
  size_t count; /* number of these characters */
  bool bare;    /* nothing follows, so it may close a block */
  lt_str info;  /* the first word after it, which names a language */
} code_fence;

static lt_str jsscan_text_first_word(lt_str s) {
  size_t end = 0;
  while (end < s.n && strchr(" \t,{", s.p[end]) == NULL) {
    end++;
  }
  return lt_str_sub(s, 0, end);
}

static code_fence jsscan_text_fence_of(lt_str line) {
  lt_str s = lt_str_trim(line);
  code_fence f = {0};
  if (s.n < 3 || (s.p[0] != '`' && s.p[0] != '~')) {
    return f;
  }
  while (f.count < s.n && s.p[f.count] == s.p[0]) {
    f.count++;
  }
  lt_str info = lt_str_sub(s, f.count, s.n);
  /* CommonMark 4.5: the info string after backticks has no backticks. So ```x``` on a line is inline code. */
  bool inline_code = s.p[0] == '`' && info.n > 0 && memchr(info.p, '`', info.n) != NULL;
  if (f.count >= 3 && !inline_code) {
    f.mark = s.p[0];
    f.bare = info.n == 0;
    f.info = jsscan_text_first_word(lt_str_trim(info));
  }
  return f;
}

static bool jsscan_text_fence_closes(code_fence open, code_fence f) {
  return f.mark == open.mark && f.bare && f.count >= open.count;
}

typedef struct fenced_block {
  code_fence open;
  lt_str before; /* the text before the opening fence */
  size_t start;  /* the code */
  size_t end;
  bool closed;
  size_t after; /* the text after the closing fence */
} fenced_block;

/* Finds the first fenced block at or after `at`. */
static bool jsscan_text_find_block(lt_str source, size_t at, fenced_block *ret) {
  lt_str line;
  size_t line_start = at;
  while (jsscan_text_next_line(source, &at, &line)) {
    code_fence open = jsscan_text_fence_of(line);
    if (open.mark == '\0') {
      line_start = at;
      continue;
    }
    *ret = (fenced_block){.open = open, .before = lt_str_sub(source, 0, line_start), .start = at, .end = source.n};
    ret->after = source.n;
    for (line_start = at; jsscan_text_next_line(source, &at, &line); line_start = at) {
      if (jsscan_text_fence_closes(open, jsscan_text_fence_of(line))) {
        ret->end = line_start;
        ret->closed = true;
        ret->after = at;
        break;
      }
    }
    return true;
  }
  return false;
}

static size_t jsscan_text_count_of(lt_str s, lt_str needle) {
  size_t n = 0;
  for (size_t at = lt_str_find(s, needle, 0); at != SIZE_MAX; at = lt_str_find(s, needle, at + needle.n)) {
    n++;
  }
  return n;
}

/* Whether the text ends inside a block comment or a Python docstring: then a fence there belongs to the program. */
static bool jsscan_text_ends_in_comment(lt_str s) {
  return jsscan_text_count_of(s, LT_STR("/*")) > jsscan_text_count_of(s, LT_STR("*/")) ||
         jsscan_text_count_of(s, LT_STR("\"\"\"")) % 2 == 1 || jsscan_text_count_of(s, LT_STR("'''")) % 2 == 1;
}

/* The code without the line end before the closing fence, and without a closing fence at the end of the last line. */
static lt_str jsscan_text_block_code(lt_str source, const fenced_block *b) {
  lt_str code = lt_str_sub(source, b->start, b->end);
  if (b->closed) {
    if (lt_str_ends(code, LT_STR("\r\n"))) {
      code.n -= 2;
    } else if (code.n > 0) {
      code.n--;
    }
    return code;
  }
  lt_str used = code;
  while (used.n > 0 && strchr(" \t\r\n", used.p[used.n - 1]) != NULL) {
    used.n--;
  }
  if (b->open.mark == '`' && lt_str_ends(used, LT_STR("```"))) {
    code.n = used.n - 3;
  }
  return code;
}

static unsigned jsscan_text_count_lines(lt_str s) {
  unsigned n = 0;
  size_t at = 0;
  lt_str line;
  while (jsscan_text_next_line(s, &at, &line)) {
    n++;
  }
  return n;
}

typedef enum fence_language { FENCE_OTHER, FENCE_BARE, FENCE_JS, FENCE_PYTHON } fence_language;

/* JavaScript and TypeScript are one: a program called JavaScript may have types. Blocks of another language show data,
 * commands or output. */
static fence_language jsscan_text_language_of(code_fence open) {
  static const struct {
    const char *word;
    fence_language language;
  } words[] = {
      {"js", FENCE_JS},         {"javascript", FENCE_JS}, {"mjs", FENCE_JS},         {"cjs", FENCE_JS},
      {"jsx", FENCE_JS},        {"node", FENCE_JS},       {"ts", FENCE_JS},          {"typescript", FENCE_JS},
      {"mts", FENCE_JS},        {"tsx", FENCE_JS},        {"deno", FENCE_JS},        {"py", FENCE_PYTHON},
      {"python", FENCE_PYTHON}, {"py3", FENCE_PYTHON},    {"python3", FENCE_PYTHON},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (lt_str_distance(open.info, lt_str_of(words[i].word), 0) == 0) {
      return words[i].language;
    }
  }
  return open.bare ? FENCE_BARE : FENCE_OTHER;
}

/* The language of the first block whose language is known; bare blocks are the program where there is no such block. */
static fence_language jsscan_text_program_language(lt_str source) {
  fenced_block b;
  fence_language found = FENCE_OTHER;
  for (size_t at = 0; jsscan_text_find_block(source, at, &b); at = b.after) {
    fence_language language = jsscan_text_language_of(b.open);
    if (language > FENCE_BARE) {
      return language;
    }
    found = language == FENCE_BARE ? language : found;
  }
  return found;
}

static void jsscan_text_put_empty_lines(lt_str text, lt_buf *out) {
  for (unsigned i = jsscan_text_count_lines(text); i > 0; i--) {
    lt_buf_byte(out, '\n');
  }
}

/* Writes the blocks in the program's language. False: there are none. */
static bool jsscan_text_join_blocks(lt_str source, lt_buf *out) {
  fenced_block b;
  fence_language language = jsscan_text_program_language(source);
  size_t copied = 0;
  if (language == FENCE_OTHER) {
    return false;
  }
  for (size_t at = 0; jsscan_text_find_block(source, at, &b); at = b.after) {
    if (jsscan_text_language_of(b.open) == language) {
      jsscan_text_put_empty_lines(lt_str_sub(source, copied, b.start), out);
      lt_buf_add(out, b.closed ? lt_str_sub(source, b.start, b.end) : jsscan_text_block_code(source, &b));
      copied = b.end;
    }
  }
  return out->status == LT_OK;
}

lt_str lt_jsscan_unfence(lt_str source, lt_buf *joined, unsigned *ret_lines_dropped) {
  *ret_lines_dropped = 0;
  fenced_block b;
  fenced_block other;
  if (!jsscan_text_find_block(source, 0, &b)) {
    return source;
  }
  bool at_top = lt_str_trim(b.before).n == 0;
  /* A line of ~~~ inside other text is more likely part of a program's string than Markdown. */
  if (!at_top && (b.open.mark == '~' || jsscan_text_ends_in_comment(b.before))) {
    return source;
  }
  if (jsscan_text_find_block(source, b.after, &other)) {
    return joined != NULL && jsscan_text_join_blocks(source, joined) ? lt_buf_view(joined) : source;
  }
  *ret_lines_dropped = jsscan_text_count_lines(lt_str_sub(source, 0, b.start));
  return jsscan_text_block_code(source, &b);
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

/* The number of bytes at `at` that belong to no word: a wide space as a whole, otherwise one byte. */
static size_t jsscan_text_gap_at(lt_str source, size_t at) {
  bool newline = false;
  size_t space = lt_jslex_space_at(source, at, &newline);
  if (space > 0) {
    return space;
  }
  return lt_jslex_is_word_byte(source.p[at]) ? 0 : 1;
}

void lt_jsscan_words(lt_str source, void (*fn)(void *arg, lt_str word), void *arg) {
  size_t at = 0;
  while (at < source.n) {
    size_t gap = jsscan_text_gap_at(source, at);
    if (gap > 0 || (source.p[at] >= '0' && source.p[at] <= '9')) {
      at += gap > 0 ? gap : 1; /* leading digits are dropped: 2fast gives fast */
      continue;
    }
    size_t start = at;
    while (at < source.n && jsscan_text_gap_at(source, at) == 0) {
      at++;
    }
    fn(arg, lt_str_sub(source, start, at));
  }
}
