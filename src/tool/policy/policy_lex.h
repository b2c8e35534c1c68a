/* Splits conditions into tokens and records faults; internal to the compiler of conditions.
 */
#ifndef LT_TOOL_POLICY_POLICY_LEX_H
#define LT_TOOL_POLICY_POLICY_LEX_H

#include "base/arena.h"
#include "json/json.h"

typedef enum lt_policy_token_kind {
  LT_TOKEN_END,
  LT_TOKEN_WORD,
  LT_TOKEN_NUMBER,
  LT_TOKEN_STRING, /* with its quotes; checked when it is read */
  LT_TOKEN_SIGN,   /* any other token, known or unknown */
} lt_policy_token_kind;

typedef struct lt_policy_token {
  lt_policy_token_kind kind;
  lt_str text;
} lt_policy_token;

typedef struct lt_policy_parser {
  lt_arena *arena;
  lt_str text;
  lt_policy_token now;
  lt_policy_token before;
  lt_err *err;
  lt_status status; /* of the first fault */
  uint32_t depth;
  uint32_t nodes;
  uint32_t items; /* number of enclosing any() and all() */
} lt_policy_parser;

/* `text` is UTF-8. Afterwards the first token is current. */
void lt_policy_lex_begin(lt_policy_parser *p, lt_arena *arena, lt_str text, lt_err *err);
void lt_policy_lex_next(lt_policy_parser *p);
bool lt_policy_lex_is(const lt_policy_parser *p, const char *sign_or_word);
/* Consumes the current token if its text is equal. */
bool lt_policy_lex_accept(lt_policy_parser *p, const char *sign_or_word);

/* The same; else records that `what` was expected. */
bool lt_policy_lex_take(lt_policy_parser *p, const char *sign_or_word, const char *what);
/* Allocates a zeroed part of the condition. NULL: too many parts, or no memory; the fault is recorded. */
void *lt_policy_lex_new_part(lt_policy_parser *p, size_t size);

/* Record the first fault and return NULL. The fault is either "`what` was expected" at the current token, or a sentence
 * about the current token or (`before`) the previous one. */
void *lt_policy_lex_expected(lt_policy_parser *p, const char *what);
void *lt_policy_lex_refuse(lt_policy_parser *p, const lt_policy_token *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void *lt_policy_lex_no_memory(lt_policy_parser *p);
void *lt_policy_lex_over(lt_policy_parser *p, const char *what, size_t max);

/* The decoded value of a STRING or NUMBER token. False: the fault is recorded. */
bool lt_policy_lex_string(lt_policy_parser *p, const lt_policy_token *token, lt_str *ret);
bool lt_policy_lex_number(lt_policy_parser *p, const lt_policy_token *token, lt_str *ret);

#endif
