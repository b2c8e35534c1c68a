/* The characters of one string member of a JSON object whose text is still arriving, such as a program in the arguments
 * of a call that a model is writing. The pieces may be cut anywhere, also within a character or an escape. Only the
 * object's own member counts, not one inside its values; of repeated members the first.
 *
 * What is handed on are whole characters, as lt_json_str has them. Text that is no JSON ends it: nothing more is handed
 * on. It needs no memory of its own. Nothing here suspends.
 */
#ifndef LT_JSON_MEMBER_TEXT_H
#define LT_JSON_MEMBER_TEXT_H

#include "json/json.h"

typedef struct lt_member_text {
  const char *key;
  int state;       /* member_text.c */
  uint32_t depth;  /* of the value that is passed over */
  bool is_text;    /* the open string is the member */
  size_t matched;  /* bytes of the open key that are those of `key`; SIZE_MAX: it is another one */
  char partial[4]; /* a character, as far as it has arrived */
  unsigned partial_n;
  int escape;    /* within an escape: 1 after the backslash, 2 to 5 before each digit; 0: not within one */
  uint32_t unit; /* of the escape, so far */
  uint32_t high; /* the first half of a character; 0: none */
} lt_member_text;

/* Borrows: the key, plain ASCII, as long as it is used. */
void lt_member_text_init(lt_member_text *member, const char *key);
/* Appends the member's characters that have become known with this piece. */
void lt_member_text_add(lt_member_text *member, lt_str piece, lt_buf *out);

#endif
