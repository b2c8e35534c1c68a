/* Splits text into words for search; internal to tool/.
 *
 * A word is a run of letters and digits of any script, in lower case (ASCII, Latin, Greek, Cyrillic), at most
 * LT_WORD_MAX_BYTES long. Names are split at capitals and separators: readFile, read_file, read-file and read.file all
 * give "read", "file" and, joined, "readfile". Chinese, Japanese and Korean text, without spaces and endings, is split
 * into pairs of characters.
 */
#ifndef LT_TOOL_SEARCH_STEMMER_H
#define LT_TOOL_SEARCH_STEMMER_H

#include <stdbool.h>

#include "base/str.h"

#define LT_WORD_MAX_BYTES 64 /* longer words are compared by their first bytes */

/* Receives each word in turn; `joined`: several words joined. False stops the iteration. Borrows: during the call. */
typedef bool (*lt_word_fn)(void *arg, lt_str word, bool joined);

void lt_stemmer_each_word(lt_str text, lt_word_fn fn, void *arg);

/* The stem, which a word shares with its other forms: files, filing, filed -> fil; repositories -> repository. Written
 * to `stem`, and returned as a view of it. Only English endings are known; a word of another script is its own stem. */
lt_str lt_stemmer_stem(lt_str word, char stem[LT_WORD_MAX_BYTES]);

/* Whether a word has no meaning for a search: the, of, with ... */
bool lt_stemmer_is_filler(lt_str word);

#endif
