/* Text cut into words, as search compares them; internal to tool/.
 *
 * A word is a run of letters and digits of any script, in lower case (ASCII, Latin, Greek, Cyrillic), at most
 * LT_WORD_MAX_BYTES of it. Names are cut at their humps: readFile, read_file, read-file and read.file all are "read",
 * "file" and, joined, "readfile". Chinese, Japanese and Korean text, which has no spaces and no endings, is
 * cut into pairs of characters.
 */
#ifndef LT_TOOL_SEARCH_STEMMER_H
#define LT_TOOL_SEARCH_STEMMER_H

#include <stdbool.h>

#include "base/str.h"

#define LT_WORD_MAX_BYTES 64 /* the first bytes are compared; longer words are hardly words */

/* Gets each word in turn; `joined`: several words together. False ends it. Borrows: during the call. */
typedef bool (*lt_word_fn)(void *arg, lt_str word, bool joined);

void lt_stemmer_each_word(lt_str text, lt_word_fn fn, void *arg);

/* The part that a word shares with its other forms: files, filing, filed -> fil; repositories -> repository. Written
 * to `stem`, and returned as a view of it. Only English endings are known; a word of another script is its own stem. */
lt_str lt_stemmer_stem(lt_str word, char stem[LT_WORD_MAX_BYTES]);

/* Whether a word says nothing of what is looked for: the, of, with ... */
bool lt_stemmer_is_filler(lt_str word);

#endif
