/* A light reading of JavaScript (and TypeScript) source: enough to prepare a program for the engine, no more.
 *
 * It tells comments, strings, template literals (with their ${...} parts, nested), regular expressions, words and
 * punctuation apart, so that what stands in a comment or string never counts. It never fails: on broken source it says
 * what it can, and the engine reports the error. It is not a parser and changes nothing.
 *
 * Pure. Borrows the source. Linear time, bounded memory: a fixed nesting stack, deeper template nesting is read as
 * text.
 */
#ifndef LT_JS_JSSCAN_H
#define LT_JS_JSSCAN_H

#include <stdbool.h>

#include "base/str.h"

typedef struct lt_jsscan {
  bool has_await;      /* the token `await` occurs */
  bool has_import;     /* a static import *statement* at the top level: `import x from`, `import {`, `import "..."`;
                          not import(...), not import.meta, not a property `.import` or key `import:` */
  bool has_export;     /* an export *statement* at the top level */
  bool uses_promises;  /* the identifier `Promise` or a `.then` (also `?.then`) among the tokens */
  bool is_function;    /* the whole program is one function: `async () => ...`, `(a) => ...`, `x => ...`,
                          `function () {...}`, `async function main() {...}`, also in parentheses or with a `;` after */
  bool is_declaration; /* with is_function: it starts with `function` / `async function` and is not in parentheses,
                          so that as a statement it would have no value */
  bool unterminated;   /* a string, template or comment does not end */
} lt_jsscan;

/* Reads the whole program. */
lt_jsscan lt_jsscan_program(lt_str source);

/* The program without the code fences a model put round it: "```js\n...\n```" (any info word, ~~~ too, white space
 * around, the closing fence may be missing) gives what is between them. Prose before or after a single fenced block is
 * dropped only when the whole is not fenced otherwise and exactly one block is there. Anything else comes back as it
 * is. `ret_lines_dropped` is how many lines were dropped before the program, so that line numbers can be given in terms
 * of what was written. */
lt_str lt_jsscan_unfence(lt_str source, unsigned *ret_lines_dropped);

/* Calls `fn` for every distinct-looking word ([A-Za-z_$][A-Za-z0-9_$]* and non-ASCII letters) anywhere in the source,
 * strings and comments included: a cheap superset of the names the program may use. Words may repeat. */
void lt_jsscan_words(lt_str source, void (*fn)(void *arg, lt_str word), void *arg);

/* The 1-based line `line` of the source without its line end, or empty. */
lt_str lt_jsscan_line(lt_str source, unsigned line);

#endif
