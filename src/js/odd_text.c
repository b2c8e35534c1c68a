#include "js/odd_text.h"

#include <stddef.h>

static const struct {
  const char *character; /* UTF-8 */
  const char *advice;
} odd_characters[] = {
    {"\u201c", "a typographic quote: write \" or '"},
    {"\u201d", "a typographic quote: write \" or '"},
    {"\u201e", "a typographic quote: write \" or '"},
    {"\u2018", "a typographic quote: write \" or '"},
    {"\u2019", "a typographic quote: write \" or '"},
    {"\u201a", "a typographic quote: write \" or '"},
    {"\u00ab", "a typographic quote: write \" or '"},
    {"\u00bb", "a typographic quote: write \" or '"},
    {"\u00b4", "an accent: write ' or `"},
    {"\u2010", "a typographic dash: write -"},
    {"\u2011", "a typographic dash: write -"},
    {"\u2012", "a typographic dash: write -"},
    {"\u2013", "a typographic dash: write -"},
    {"\u2014", "a typographic dash: write -"},
    {"\u2212", "a minus sign of mathematics: write -"},
    {"\u00d7", "a multiplication sign: write *"},
    {"\u00f7", "a division sign: write /"},
    {"\u2026", "an ellipsis of one character: write ..."},
    {"\u2260", "a sign of mathematics: write !="},
    {"\u2264", "a sign of mathematics: write <="},
    {"\u2265", "a sign of mathematics: write >="},
    {"\u2192", "an arrow of one character: write =>"},
    {"\u21d2", "an arrow of one character: write =>"},
    {"\uff08", "a wide bracket: write ("},
    {"\uff09", "a wide bracket: write )"},
    {"\uff0c", "a wide comma: write ,"},
    {"\uff1a", "a wide colon: write :"},
    {"\uff1b", "a wide semicolon: write ;"},
    {"\u00a0", "a non-breaking space (U+00A0): write a plain one"},
    {"\u200b", "a character without a width (U+200B): remove it"},
    {"\u200c", "a character without a width (U+200C): remove it"},
    {"\u200d", "a character without a width (U+200D): remove it"},
    {"\u2060", "a character without a width (U+2060): remove it"},
    {"\ufeff", "a character without a width (U+FEFF): remove it"},
    {"\u00ad", "a soft hyphen (U+00AD): remove it"},
};

const char *lt_odd_text_advise(lt_str text) {
  for (size_t i = 0; i < sizeof odd_characters / sizeof odd_characters[0]; i++) {
    if (lt_str_starts(text, lt_str_of(odd_characters[i].character))) {
      return odd_characters[i].advice;
    }
  }
  return NULL;
}
