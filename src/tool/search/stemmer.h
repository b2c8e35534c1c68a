/* Text cut into words, as search compares them; internal to tool/.
 *
 * A word is a run of letters and digits of any script, in lower case (ASCII, Latin, Greek, Cyrillic), at most
 * LT_WORD_MAX_BYTES of it. Names are cut at their humps: readFile, read_file, read-file and read.file all are "read",
 * "file" and, joined, "readfile". Chinese, Japanese and Korean text, which has no spaces or endings of its own sort, is
 * cut into pairs of characters.
 */
#ifndef LT_TOOL_SEARCH_STEMMER_H
#define LT_TOOL_SEARCH_STEMMER_H

#include <stdbool.h>

#include "base/str.h"

#define LT_WORD_MAX_BYTES 64 /* longer ones are not words; what is compared of them */

/* Is given each word in turn; `joined` where it is several together. False: no more, please. Borrows: during the call.
 */
typedef bool (*lt_word_fn)(void *arg, lt_str word, bool joined);

void lt_stemmer_each_word(lt_str text, lt_word_fn fn, void *arg);

/* What a word has in common with its other forms: files, filing, filed -> fil; repositories -> repository. Written to
 * `stem`; returned as a view of it. Only English endings; a word of another script is its own stem. */
lt_str lt_stemmer_stem(lt_str word, char stem[LT_WORD_MAX_BYTES]);

/* the, of, with ...: words that say nothing of what is looked for. */
bool lt_stemmer_is_filler(lt_str word);

#endif
