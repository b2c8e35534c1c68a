/* Takes the types off a TypeScript program by writing spaces over them.
 *
 * What is left is JavaScript, each byte where it was written, so that lines and columns of errors stay. Enums and
 * parameter properties are written as JavaScript, on the lines that they had. This is a parser of the whole language,
 * and a strict one where types begin and end: when it meets something else that is no type and no JavaScript (a
 * namespace, a decorator, an enum whose values are computed), something that TypeScript drops by rules of its own (an
 * unused import), or something that it does not understand, it leaves the program to the type stripper in the sandbox
 * (sandbox/engine.h), whose rules and messages these are (docs/internals/type-erasure.md).
 *
 * It checks no more JavaScript than it needs to find the types: the engine reports what is wrong with the rest.
 *
 * Pure. Borrows the source. Linear time and bounded depth: what takes more is left to the type stripper, too.
 */
#ifndef LT_JS_TSERASE_H
#define LT_JS_TSERASE_H

#include "base/buf.h"
#include "base/str.h"

typedef enum lt_tserase_end {
  LT_TSERASE_UNSURE,  /* for the type stripper; nothing was written. Also when there is no memory */
  LT_TSERASE_NOTHING, /* there are no types in it; nothing was written */
  LT_TSERASE_ERASED,  /* `out` has as many bytes as the source */
  LT_TSERASE_WRITTEN, /* the same lines, but there is more on some of them */
} lt_tserase_end;

/* Appends the program without its types. `out` must have room for the source, and should have room for
 * LT_TSERASE_INSERTED_MAX_BYTES more. */
lt_tserase_end lt_tserase_program(lt_str source, lt_buf *out);

#endif
