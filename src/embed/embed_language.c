#include "embed/embed_language.h"

#include <strings.h>

static const struct {
  const char *name;
  lt_lang lang;
} embed_languages[] = {{"js", LT_LANG_JAVASCRIPT}, {"javascript", LT_LANG_JAVASCRIPT},
                       {"ts", LT_LANG_TYPESCRIPT}, {"typescript", LT_LANG_TYPESCRIPT},
                       {"python", LT_LANG_PYTHON}, {"py", LT_LANG_PYTHON}};

lt_status lt_embed_language_find(const char *name, lt_lang *ret_lang, lt_err *err) {
  *ret_lang = LT_LANG_JAVASCRIPT;
  for (size_t i = 0; name != NULL && i < sizeof embed_languages / sizeof embed_languages[0]; i++) {
    if (strcasecmp(embed_languages[i].name, name) == 0) {
      *ret_lang = embed_languages[i].lang;
      return LT_OK;
    }
  }
  return name == NULL ? LT_OK
                      : lt_fail(err, LT_E_INVALID, "there is no language \"%.40s\": it is js, ts or python", name);
}
