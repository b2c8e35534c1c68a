/* A lenient lexer for JavaScript and TypeScript. jsscan.h is built on it.
 *
 * Private to js/. It never fails: broken source gives odd tokens, never an endless loop. Every byte is examined a
 * bounded number of times. Borrows the source.
 */
#ifndef LT_JS_JSLEX_H
#define LT_JS_JSLEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/str.h"

typedef enum lt_jstok_kind {
  LT_JSTOK_START = 0, /* before the first token */
  LT_JSTOK_END,
  LT_JSTOK_WORD, /* identifiers and keywords */
  LT_JSTOK_NUMBER,
  LT_JSTOK_STRING,
  LT_JSTOK_TEMPLATE, /* one stretch of a template's text, from ` or } to ${ or ` */
  LT_JSTOK_REGEX,
  LT_JSTOK_ARROW,  /* => */
  LT_JSTOK_INCDEC, /* ++ and -- */
  LT_JSTOK_SPREAD, /* ... */
  LT_JSTOK_PUNCT,  /* any other single character; "?." is one token whose punct is '.' */
} lt_jstok_kind;

typedef struct lt_jstok {
  lt_jstok_kind kind;
  lt_str text;
  char punct;          /* for PUNCT, else 0 */
  bool newline_before; /* a line break between the token before and this one */
  bool after_dot;      /* a property name: the token before is . or ?. */
  bool wants_operand;  /* an expression may start after it, so that a / would be a regular expression */
} lt_jstok;

typedef struct lt_jslex {
  lt_str src;
  size_t at;                     /* offset where the search for the next token begins */
  lt_jstok prev;                 /* the token before `tok` */
  lt_jstok tok;                  /* the current token */
  size_t depth;                  /* open brackets and ${ after `tok` */
  bool unterminated;             /* a string, template or comment did not end */
  size_t no_regex_before;        /* no regular expression begins before this offset: do not search again */
  uint8_t open[LT_JSSCAN_DEPTH]; /* kinds of the open brackets; those beyond the array are only counted */
} lt_jslex;

/* Starts before the first token of `src`. A #! line is skipped as a comment. */
void lt_jslex_init(lt_jslex *lx, lt_str src);
/* Reads the next token into `tok`; false (and LT_JSTOK_END) at the end. */
bool lt_jslex_next(lt_jslex *lx);

static inline bool lt_jslex_is_punct(const lt_jslex *lx, char c) {
  return lx->tok.kind == LT_JSTOK_PUNCT && lx->tok.punct == c;
}

static inline bool lt_jslex_is_word(const lt_jslex *lx, const char *word) {
  return lx->tok.kind == LT_JSTOK_WORD && lt_str_eqc(lx->tok.text, word);
}

/* Whether a line break before `tok` ends the statement before it (ECMA-262, 12.10, automatic semicolon insertion;
 * roughly). */
bool lt_jslex_starts_new_line(const lt_jslex *lx);

/* The bytes of white space (Unicode's too) at `at`, or 0; `*ret_newline` becomes true for a line terminator. */
size_t lt_jslex_space_at(lt_str src, size_t at, bool *ret_newline);
/* Whether a byte can be part of a word; every byte of a non-ASCII character counts. */
bool lt_jslex_is_word_byte(char c);

#endif
