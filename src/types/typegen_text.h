/* Peers' text made fit for comments, docstrings, prompts and terminals; string literals. */
#ifndef LT_TYPES_TYPEGEN_TEXT_H
#define LT_TYPES_TYPEGEN_TEXT_H

#include "base/buf.h"
#include "base/str.h"

/* Appends `text` without control characters, terminal escapes and invisible direction marks, broken characters as
 * U+FFFD, lines without spaces at their ends, no two empty lines in a row, at most about `max_bytes`. */
void lt_typegen_put_text(lt_buf *out, lt_str text, size_t max_bytes);

/* The same on one line, runs of white space as one space, cut after `max_chars` characters ("..." included). */
void lt_typegen_put_line(lt_buf *out, lt_str text, size_t max_chars);

/* The first sentence of it, without its full stop; "|", which separates tools in the listing, as "/". */
void lt_typegen_put_sentence(lt_buf *out, lt_str text, size_t max_chars);

/* A string literal that JavaScript, TypeScript and Python read alike; nothing invisible in it. */
void lt_typegen_put_string(lt_buf *out, lt_str s);

/* JSON text with escapes in place of what would be invisible or steer a terminal; such characters can only be in its
 * strings. */
void lt_typegen_put_visible(lt_buf *out, lt_str json);

/* [A-Za-z_$][A-Za-z0-9_$]* */
bool lt_typegen_is_identifier(lt_str s);

#endif
