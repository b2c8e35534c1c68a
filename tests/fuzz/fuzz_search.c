/* Any bytes as the words of a tool and as a query: the first half is a description, the second a query; all of it is a
 * schema and a name. */
#include <stdlib.h>

#include "base/limits.h"
#include "tool/catalog.h"
#include "tool/search/stemmer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool check_word(void *arg, lt_str word, bool joined) {
  (void)arg;
  (void)joined;
  char stem[LT_WORD_MAX_BYTES];
  if (word.n == 0 || word.n > LT_WORD_MAX_BYTES || lt_stemmer_stem(word, stem).n > word.n) {
    abort();
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 64 * LT_KIB) {
    return 0;
  }
  lt_str text = lt_str_from(data, size);
  lt_str description = lt_str_sub(text, 0, size / 2);
  lt_stemmer_each_word(text, check_word, NULL);
  const lt_tool_spec specs[] = {{.name = LT_STR("one"), .description = description, .input_schema = text},
                                {.name = text, .description = description}};
  const lt_catalog_source source = {.ns = LT_STR("s"), .tools = specs, .count = 2};
  lt_catalog *catalog = NULL;
  uint32_t found[2];
  if (lt_catalog_new(&source, 1, &catalog, NULL) != LT_OK ||
      lt_catalog_search(catalog, lt_str_sub(text, size / 2, size), found, 2) > 2 ||
      lt_catalog_search(catalog, LT_STR("one"), found, 2) == 0) {
    abort();
  }
  lt_catalog_unref(catalog);
  return 0;
}
