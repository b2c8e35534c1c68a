/* A light scan of JavaScript and TypeScript source: it finds what is needed to prepare a program for the engine.
 *
 * It tells comments, strings, template literals (with their ${...} parts, nested), regular expressions, words and
 * punctuation apart, so that text in comments and strings never counts. It never fails: broken source gives a best
 * guess, and the engine reports the error. It is not a parser, and it does not change the source.
 *
 * Pure. Borrows the source. Linear time, bounded memory: the nesting stack is fixed, and templates nested deeper are
 * read as text.
 */
#ifndef LT_JS_JSSCAN_H
#define LT_JS_JSSCAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct lt_jsscan {
  bool has_await;   /* the token `await` occurs */
  bool has_import;  /* a static import *statement* at the top level: `import x from`, `import {`, `import "..."`;
                       not import(...), not import.meta, not a property `.import` or key `import:` */
  bool has_export;  /* an export *statement* at the top level */
  bool has_default; /* one of them is `export default` */
  bool has_return;  /* a `return` *statement* outside any function (top_return.h); never in a program that is cut off */
  bool has_idle_main;  /* a function `main` is declared at the top level, nothing else names it, and there is no default
                          export: the program waits to be called, as a script's main function */
  bool uses_promises;  /* the identifier `Promise` or a `.then` (also `?.then`) among the tokens */
  bool is_function;    /* the whole program is one function: `async () => ...`, `(a) => ...`, `x => ...`,
                          `function () {...}`, `async function main() {...}`, also in parentheses or with a `;` after */
  bool is_declaration; /* with is_function: it starts with `function` / `async function` and is not in parentheses,
                          so as a statement it would have no value */
  bool unterminated;   /* a string, template or comment does not end */
} lt_jsscan;

/* Reads the whole program. */
lt_jsscan lt_jsscan_program(lt_str source);

/* Hears of the names that a program may use: every word among the tokens (identifiers, keywords, property names), and
 * every string's text as it is written, because `object["name"]` and `import "name"` name something too. Comments do
 * not count. Names may repeat. */
typedef struct lt_jsscan_visitor {
  void (*on_name)(void *arg, lt_str name, bool is_string); /* borrows the name from the source */
  void *arg;
} lt_jsscan_visitor;

/* The same as lt_jsscan_program, and the visitor hears of the names in the order of the text. `visitor` may be NULL. */
lt_jsscan lt_jsscan_visit(lt_str source, const lt_jsscan_visitor *visitor);

/* The program without the Markdown code fences that a model put around it: "```js\n...\n```" (any info word, ~~~ too,
 * white space around, the closing fence may be missing) gives the text between them. Prose before and after a fenced
 * block is dropped. Of several blocks, those in the language of the first one with a known language are one program:
 * JavaScript (TypeScript is the same) or Python, by any of their names. Where no block has such a name, those without
 * an info word are the program. It is written to `joined`, with empty lines for all other lines. `joined` may be NULL:
 * such a source is returned unchanged, as any other source is. `ret_lines_dropped` is the number of lines dropped
 * before the program, so that line numbers can refer to the original text. */
lt_str lt_jsscan_unfence(lt_str source, lt_buf *joined, unsigned *ret_lines_dropped);

/* Calls `fn` for every word ([A-Za-z_$][A-Za-z0-9_$]* and non-ASCII letters) anywhere in the source, strings and
 * comments included: a cheap superset of the names that the program uses. Words may repeat. */
void lt_jsscan_words(lt_str source, void (*fn)(void *arg, lt_str word), void *arg);

/* The 1-based line `line` of the source without its line end, or empty. */
lt_str lt_jsscan_line(lt_str source, unsigned line);

#endif
