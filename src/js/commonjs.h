/* Programs in Node's older form of a module: `module.exports = ...`, `exports.name = ...`, and the guard
 * `if (require.main === module)`.
 *
 * The two names get values in front of the first line, and what is exported becomes the program's value. Lines stay
 * where they are, and so do columns behind the first line. `require` itself stays undefined: there are no modules of
 * Node.
 *
 * Pure. For JavaScript, types already removed, and for TypeScript that keeps its types.
 */
#ifndef LT_JS_COMMONJS_H
#define LT_JS_COMMONJS_H

#include "base/buf.h"

typedef enum lt_commonjs_form {
  LT_COMMONJS_SCRIPT, /* the value is that of the last expression */
  LT_COMMONJS_MODULE, /* the value is the default export */
  LT_COMMONJS_TYPED,  /* a module that keeps its types */
} lt_commonjs_form;

typedef struct lt_commonjs {
  bool is_used;     /* the program names `module.exports`, `exports.x =` or `require.main`, and declares neither */
  bool has_exports; /* something is exported */
  bool calls_its_exports; /* the program itself calls a function that it exports by its name */
} lt_commonjs;

/* Reads the whole program. */
lt_commonjs lt_commonjs_read(lt_str source);

/* Appends the program with the names in front; `ret_prefix` is how many bytes stand before its first line. With
 * `gives_exports` what is exported is its value: a function alone (the export itself, `default`, `main` or the only
 * one) stands for its result when a runner calls it. */
void lt_commonjs_rewrite(lt_str source, lt_commonjs_form form, bool gives_exports, lt_buf *out, unsigned *ret_prefix);

/* Where TypeScript's `export =` stands; false: nowhere. Without types it is `module.exports =`; what keeps types and is
 * a module takes `export default` for it. */
bool lt_commonjs_find_export_equals(lt_str source, size_t *ret_start, size_t *ret_end);

#endif
