#include "json/schema_keywords.h"

static const struct {
  lt_str text;
  lt_schema_shape shape;
} keywords[LT_KW_COUNT] = {
#define KEYWORD(name, text, shape) [LT_KW_##name] = {{text, sizeof(text) - 1}, LT_SHAPE_##shape},
    LT_SCHEMA_KEYWORDS(KEYWORD)
#undef KEYWORD
};

lt_schema_shape lt_schema_keyword_shape(lt_schema_keyword keyword) {
  return keywords[keyword].shape;
}

/* LT_KW_COUNT: an unknown keyword. */
static unsigned schema_keywords_find(lt_json key) {
  lt_str text = lt_json_text(key);
  bool escaped = memchr(text.p, '\\', text.n) != NULL;
  unsigned i = 0;
  for (; i < LT_KW_COUNT; i++) {
    lt_str word = keywords[i].text;
    if (escaped ? lt_json_str_eq(key, word) : text.n == word.n + 2 && memcmp(text.p + 1, word.p, word.n) == 0) {
      break;
    }
  }
  return i;
}

void lt_schema_keys_read(lt_json json, bool ref_alone, lt_schema_keys *ret) {
  memset(ret, 0, sizeof(*ret));
  lt_json_iter it = lt_json_each(json);
  while (lt_json_next(&it)) {
    unsigned i = schema_keywords_find(it.key);
    if (i < LT_KW_COUNT) {
      ret->at[i] = it.value;
    }
  }
  if (ref_alone && lt_json_exists(ret->at[LT_KW_REF])) {
    lt_json ref = ret->at[LT_KW_REF];
    memset(ret, 0, sizeof(*ret));
    ret->at[LT_KW_REF] = ref;
  }
}
