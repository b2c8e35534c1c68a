#include "text/code_words.h"

#include "json/json_text.h"
#include "text/styled_text.h"

#define STYLE_KEYWORD LT_STYLE_MAGENTA
#define STYLE_STRING  LT_STYLE_GREEN
#define STYLE_NUMBER  LT_STYLE_YELLOW
#define STYLE_COMMENT LT_STYLE_DIM

/* What begins something that may go on over lines, and what ends it. */
typedef struct code_span {
  const char *begin, *end;
  unsigned style;
} code_span;

struct lt_code_language {
  const char *names;        /* of fences, each between spaces */
  const char *keywords;     /* likewise */
  const char *line_comment; /* NULL: it has none */
  const char *quotes;       /* characters that begin and end a string in one line */
  code_span spans[3];       /* looked for before quotes */
  bool needs_space;         /* a comment begins at a line's beginning or after a space ("$#", "a#b") */
};

#define C_LIKE_COMMENT \
  { "/*", "*/", STYLE_COMMENT }

static const lt_code_language code_languages[] = {
    {.names = " js javascript mjs cjs jsx ts typescript tsx mts node ",
     .keywords = " abstract any as async await boolean break case catch class const continue declare default delete do "
                 "else enum export extends false finally for from function get if implements import in instanceof "
                 "interface keyof let new null number of private protected public readonly return set static string "
                 "super switch this throw true try type typeof undefined unknown var void while yield ",
     .line_comment = "//",
     .quotes = "\"'",
     .spans = {C_LIKE_COMMENT, {"`", "`", STYLE_STRING}}},
    {.names = " py python python3 pycon ",
     .keywords = " False None True and as assert async await break class continue def del elif else except finally for "
                 "from global if import in is lambda match nonlocal not or pass raise return self try while with "
                 "yield ",
     .line_comment = "#",
     .quotes = "\"'",
     .spans = {{"\"\"\"", "\"\"\"", STYLE_STRING}, {"'''", "'''", STYLE_STRING}}},
    {.names = " json jsonc json5 jsonl ndjson ",
     .keywords = " true false null ",
     .line_comment = "//",
     .quotes = "\"",
     .spans = {C_LIKE_COMMENT}},
    {.names = " sh bash zsh shell console shell-session fish ksh ",
     .keywords = " case cd do done echo elif else esac eval exec exit export false fi for function if in local return "
                 "set shift source sudo then trap true unset until while ",
     .line_comment = "#",
     .quotes = "\"'",
     .needs_space = true},
    {.names = " yaml yml toml ini dockerfile make makefile ",
     .keywords = " true false null yes no ",
     .line_comment = "#",
     .quotes = "\"'",
     .needs_space = true},
    {.names = " c h cpp c++ cc hpp java go rust rs cs csharp swift kotlin kt php scala dart zig ",
     .keywords = " auto bool break case catch char class const continue default defer do double else enum extern false "
                 "final float fn for func go goto if impl import in inline int interface let long match mut namespace "
                 "new nil null nullptr package pub private protected public range return self short signed sizeof "
                 "static struct super switch template this throw trait true try type typedef union unsigned use using "
                 "val var virtual void volatile where while ",
     .line_comment = "//",
     .quotes = "\"'",
     .spans = {C_LIKE_COMMENT}},
    {.names = " sql sqlite postgres postgresql mysql ",
     .keywords =
         " all and as asc by case create delete desc distinct drop else end exists from group having in inner "
         "insert into is join left like limit not null on or order outer primary select set table then union "
         "update values when where with ALL AND AS ASC BY CASE CREATE DELETE DESC DISTINCT DROP ELSE END EXISTS "
         "FROM GROUP HAVING IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY "
         "SELECT SET TABLE THEN UNION UPDATE VALUES WHEN WHERE WITH ",
     .line_comment = "--",
     .quotes = "\"'",
     .spans = {C_LIKE_COMMENT}},
};

/* --- Words -------------------------------------------------------------------------------------------------------- */
#define WORD_MAX 32 /* no name or keyword is longer */

static bool code_is_listed(const char *list, lt_str word) {
  char wanted[WORD_MAX + 3];
  if (word.n == 0 || word.n > WORD_MAX || memchr(word.p, 0, word.n) != NULL) {
    return false;
  }
  wanted[0] = ' ';
  memcpy(wanted + 1, word.p, word.n);
  wanted[word.n + 1] = ' ';
  wanted[word.n + 2] = '\0';
  return strstr(list, wanted) != NULL;
}

const lt_code_language *lt_code_language_of(lt_str name) {
  char lower[WORD_MAX];
  if (name.n > WORD_MAX) {
    return NULL;
  }
  for (size_t i = 0; i < name.n; i++) {
    lower[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20) : name.p[i];
  }
  for (size_t i = 0; i < sizeof code_languages / sizeof code_languages[0]; i++) {
    if (code_is_listed(code_languages[i].names, lt_str_from(lower, name.n))) {
      return &code_languages[i];
    }
  }
  return NULL;
}

static bool code_is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

static bool code_starts(lt_str line, size_t at, const char *text) {
  return text != NULL && lt_str_starts(lt_str_sub(line, at, line.n), lt_str_of(text));
}

/* --- A line ------------------------------------------------------------------------------------------------------- */
/* The end of what is open, from `at` on; a backslash takes the next character's meaning in a string. */
static size_t code_find_end(lt_code_reader *r, lt_str line, size_t at) {
  bool has_escapes = r->open_style == STYLE_STRING;
  while (at < line.n) {
    if (has_escapes && line.p[at] == '\\') {
      at += 2;
    } else if (code_starts(line, at, r->open)) {
      at += strlen(r->open);
      r->open = NULL;
      return at;
    } else {
      at++;
    }
  }
  return line.n;
}

static size_t code_string_end(lt_str line, size_t at) {
  char quote = line.p[at++];
  while (at < line.n && line.p[at] != quote) {
    at += line.p[at] == '\\' ? 2 : 1;
  }
  return at < line.n ? at + 1 : line.n;
}

static const code_span *code_span_at(const lt_code_language *language, lt_str line, size_t at) {
  const size_t count = sizeof language->spans / sizeof language->spans[0];
  for (size_t i = 0; i < count && language->spans[i].begin != NULL; i++) {
    if (code_starts(line, at, language->spans[i].begin)) {
      return &language->spans[i];
    }
  }
  return NULL;
}

static size_t code_word_end(lt_str line, size_t at) {
  while (at < line.n && code_is_word_byte(line.p[at])) {
    at++;
  }
  return at;
}

static bool code_is_comment(const lt_code_language *language, lt_str line, size_t at) {
  bool is_separate = at == 0 || line.p[at - 1] == ' ' || line.p[at - 1] == '\t';
  return code_starts(line, at, language->line_comment) && (is_separate || !language->needs_space);
}

/* The end of the token at `at`, and its style. */
static size_t code_read_token(lt_code_reader *r, lt_str line, size_t at, unsigned *ret_style) {
  const lt_code_language *language = r->language;
  const code_span *span = code_span_at(language, line, at);
  char c = line.p[at];
  *ret_style = 0;
  if (span != NULL) {
    r->open = span->end;
    r->open_style = *ret_style = span->style;
    return code_find_end(r, line, at + strlen(span->begin));
  }
  if (code_is_comment(language, line, at)) {
    *ret_style = STYLE_COMMENT;
    return line.n;
  }
  if (c != '\0' && strchr(language->quotes, c) != NULL) {
    *ret_style = STYLE_STRING;
    return code_string_end(line, at);
  }
  if (code_is_word_byte(c)) {
    size_t end = code_word_end(line, at);
    bool is_keyword = code_is_listed(language->keywords, lt_str_sub(line, at, end));
    *ret_style = lt_json_is_digit(c) ? STYLE_NUMBER : is_keyword ? STYLE_KEYWORD : 0;
    return end;
  }
  return at + 1;
}

void lt_code_put_line(lt_code_reader *r, lt_str line, unsigned style, lt_buf *out) {
  size_t at = 0, plain = 0; /* what has no style of its own begins at `plain` */
  while (r->language != NULL && at < line.n) {
    unsigned own = r->open_style;
    size_t end = r->open != NULL ? code_find_end(r, line, at) : code_read_token(r, line, at, &own);
    if (own != 0) {
      lt_styled_put(out, lt_str_sub(line, plain, at), style);
      lt_styled_put(out, lt_str_sub(line, at, end), style | own);
      plain = end;
    }
    at = end;
  }
  lt_styled_put(out, lt_str_sub(line, plain, line.n), style);
}
