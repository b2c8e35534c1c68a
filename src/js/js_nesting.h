/* Follows the brackets of a program, token by token: is a token inside a function?
 *
 * Private to js/. A guess from the tokens, as the lexer's: a { after the ) of `if (...)` opens a block, after any other
 * ) a function's body.
 */
#ifndef LT_JS_JS_NESTING_H
#define LT_JS_JS_NESTING_H

#include "js/jslex.h"

typedef struct lt_js_nesting {
  uint8_t open[LT_JSSCAN_DEPTH]; /* what the open brackets are */
  size_t depth;                  /* as the lexer's, after the last token */
  size_t functions;              /* open bodies of functions, and brackets that are nested too deep */
  size_t type_depth;             /* the depth of the return type that is being read (TypeScript); SIZE_MAX: none */
  bool head_closed;              /* the last ) closed the head of a statement, such as `if (...)` */
} lt_js_nesting;

/* Before the first token. */
lt_js_nesting lt_js_nesting_none(void);
/* `tok` is the next token. */
void lt_js_nesting_follow(lt_js_nesting *nesting, const lt_jslex *lx);
/* Whether `tok` is the word `return` of a statement outside any function. */
bool lt_js_nesting_is_top_return(const lt_js_nesting *nesting, const lt_jslex *lx);

/* Whether after this token a type must follow, so that a { opens an object type, not a function's body. */
bool lt_js_nesting_expects_type(const lt_jstok *tok);

#endif
