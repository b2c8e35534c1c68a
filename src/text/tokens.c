#include "text/tokens.h"

/* What a token holds of each kind of text. */
#define WORD_BYTES 8 /* the most of a word in one token; of a longer word each has ... */
#define PART_BYTES 5 /* ... so much */
#define DIGITS     3
#define SIGNS      2 /* punctuation runs together: `":{"` */

typedef enum token_kind { SIGN, SPACE, BREAK, SMALL, CAPITAL, DIGIT, TWO_BYTES, MORE_BYTES } token_kind;

/* What is not listed is SIGN. */
__extension__ static const unsigned char kinds[256] = {
    ['\t'] = SPACE,
    [' '] = SPACE,
    ['\n'] = BREAK,
    ['\r'] = BREAK,
    ['0' ... '9'] = DIGIT,
    ['A' ... 'Z'] = CAPITAL,
    ['a' ... 'z'] = SMALL,
    [0x80 ... 0xDF] = TWO_BYTES,
    [0xE0 ... 0xFF] = MORE_BYTES,
};

static inline token_kind tokens_kind_of(unsigned char c) {
  return (token_kind)kinds[c];
}

static size_t tokens_run_length(lt_str text, size_t at, token_kind is) {
  size_t n = 1;
  while (at + n < text.n && tokens_kind_of((unsigned char)text.p[at + n]) == is) {
    n++;
  }
  return n;
}

/* Continuation bytes count as TWO_BYTES by their value: a character's bytes are taken together. */
static size_t tokens_wide_length(lt_str text, size_t at) {
  size_t n = 1;
  while (at + n < text.n && (unsigned char)text.p[at + n] >= 0x80) {
    n++;
  }
  return n;
}

static size_t tokens_of_wide(lt_str run) {
  size_t halves = 0; /* of tokens */
  for (size_t i = 0; i < run.n; i++) {
    unsigned char c = (unsigned char)run.p[i];
    if (c >= 0xC0) {
      halves += c < 0xE0 ? 1 : c < 0xF0 ? 2 : 5;
    }
  }
  return (halves + 1) / 2;
}

static size_t tokens_pieces(size_t n, size_t each) {
  return (n + each - 1) / each;
}

/* A word: capitals, then small letters, as `Get` or `HTTP` or `path`. Returns its length. */
static size_t tokens_word_length(lt_str text, size_t at) {
  size_t n = tokens_kind_of((unsigned char)text.p[at]) == CAPITAL ? tokens_run_length(text, at, CAPITAL) : 0;
  if (at + n < text.n && tokens_kind_of((unsigned char)text.p[at + n]) == SMALL) {
    n += tokens_run_length(text, at + n, SMALL);
  }
  return n;
}

/* What joins the parts of a name goes with the part after it: `_get`, `.path`. */
static bool tokens_joins(lt_str text, size_t at) {
  char c = text.p[at];
  return (c == '_' || c == '.' || c == '-') && at + 1 < text.n &&
         tokens_kind_of((unsigned char)text.p[at + 1]) == SMALL;
}

static size_t tokens_of_signs(lt_str text, size_t at, size_t n) {
  return n == 1 && tokens_joins(text, at) ? 0 : tokens_pieces(n, SIGNS);
}

size_t lt_tokens_estimate(lt_str text) {
  size_t tokens = 0;
  for (size_t at = 0, n = 0; at < text.n; at += n) {
    token_kind is = tokens_kind_of((unsigned char)text.p[at]);
    switch (is) {
      case SMALL:
      case CAPITAL:
        n = tokens_word_length(text, at);
        tokens += n <= WORD_BYTES ? 1 : tokens_pieces(n, PART_BYTES);
        break;
      case DIGIT:
        n = tokens_run_length(text, at, is);
        tokens += tokens_pieces(n, DIGITS);
        break;
      case SIGN:
        n = tokens_run_length(text, at, is);
        tokens += tokens_of_signs(text, at, n);
        break;
      case SPACE: /* one belongs to the word after it, but not to a number */
        n = tokens_run_length(text, at, is);
        tokens += n > 1 || (at + n < text.n && tokens_kind_of((unsigned char)text.p[at + n]) == DIGIT);
        break;
      case BREAK:
        n = tokens_run_length(text, at, is);
        tokens++;
        break;
      case TWO_BYTES:
      case MORE_BYTES:
        n = tokens_wide_length(text, at);
        tokens += tokens_of_wide(lt_str_sub(text, at, at + n));
        break;
    }
  }
  return tokens;
}
