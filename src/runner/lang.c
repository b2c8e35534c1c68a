#include "runner/lang.h"

#include <strings.h>

static const struct {
  const char *brief, *name;
} lang_names[] = {
    [LT_LANG_JAVASCRIPT] = {"js", "javascript"},
    [LT_LANG_TYPESCRIPT] = {"ts", "typescript"},
    [LT_LANG_PYTHON] = {"py", "python"},
};

bool lt_lang_find(const char *name, lt_lang *ret_lang) {
  for (size_t i = 0; i < sizeof lang_names / sizeof lang_names[0]; i++) {
    if (strcasecmp(name, lang_names[i].brief) == 0 || strcasecmp(name, lang_names[i].name) == 0) {
      *ret_lang = (lt_lang)i;
      return true;
    }
  }
  return false;
}

lt_str lt_lang_name(lt_lang lang) {
  return lt_str_of(lang_names[lang].name);
}
