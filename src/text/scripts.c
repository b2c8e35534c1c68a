#include "text/scripts.h"

#include "json/json_text.h"

/* Scripts with letters that look like those of another one (UTS #39). Han, kana and Hangul look like none of them. */
typedef struct script_range {
  uint32_t from, to;
  const char *name;
} script_range;

/* Sorted. */
static const script_range scripts_ranges[] = {
    {'A', 'Z', "Latin"},
    {'a', 'z', "Latin"},
    {0xAA, 0xAA, "Latin"},
    {0xBA, 0xBA, "Latin"},
    {0xC0, 0x24F, "Latin"},
    {0x250, 0x2AF, "phonetic"},
    {0x370, 0x3FF, "Greek"},
    {0x400, 0x52F, "Cyrillic"},
    {0x531, 0x58F, "Armenian"},
    {0x5D0, 0x5F2, "Hebrew"},
    {0x620, 0x64A, "Arabic"},
    {0x66E, 0x6D3, "Arabic"},
    {0x10A0, 0x10FF, "Georgian"},
    {0x13A0, 0x13FF, "Cherokee"},
    {0x1400, 0x167F, "Canadian"},
    {0x1C80, 0x1C8F, "Cyrillic"},
    {0x1D00, 0x1D7F, "phonetic"},
    {0x1E00, 0x1EFF, "Latin"},
    {0x1F00, 0x1FFF, "Greek"},
    {0x2100, 0x214F, "letterlike"},
    {0x2160, 0x2188, "Roman numeral"},
    {0x2C60, 0x2C7F, "Latin"},
    {0x2C80, 0x2CFF, "Coptic"},
    {0x2DE0, 0x2DFF, "Cyrillic"},
    {0xA4D0, 0xA4FF, "Lisu"},
    {0xA640, 0xA69F, "Cyrillic"},
    {0xA720, 0xA7FF, "Latin"},
    {0xAB70, 0xABBF, "Cherokee"},
    {0xFB00, 0xFB06, "ligature"},
    {0xFF21, 0xFF5A, "fullwidth"},
    {0x1D400, 0x1D7FF, "mathematical"},
};

/* NULL: no letter, or one of a script that is not compared. */
static const char *scripts_of(uint32_t cp) {
  for (size_t i = 0; i < sizeof scripts_ranges / sizeof scripts_ranges[0] && cp >= scripts_ranges[i].from; i++) {
    if (cp <= scripts_ranges[i].to) {
      return scripts_ranges[i].name;
    }
  }
  return NULL;
}

static bool scripts_ends_word(uint32_t cp, bool is_host) {
  return cp <= ' ' ||
         (cp < 0x80 && strchr(is_host ? "/?#@\"'<>(),;\\" : "/?#@\"'<>(),;\\.-_:=&+*|[]{}!$%^~`", (int)cp) != NULL);
}

typedef struct script_word {
  lt_str text;
  size_t at;
  bool is_host;
  const char *first, *second;
} script_word;

static uint32_t scripts_read_char(const script_word *word, size_t *ret_n) {
  uint32_t cp = 0xFFFD;
  unsigned n = lt_json_read_char(word->text.p + word->at, word->text.p + word->text.n, &cp);
  *ret_n = n > 0 ? n : 1;
  return n > 0 ? cp : 0xFFFD;
}

/* Reads up to the word's end. */
static void scripts_read_word(script_word *word) {
  while (word->at < word->text.n) {
    size_t n;
    uint32_t cp = scripts_read_char(word, &n);
    if (scripts_ends_word(cp, word->is_host)) {
      return;
    }
    const char *script = scripts_of(cp);
    if (script != NULL && word->first == NULL) {
      word->first = script;
    } else if (script != NULL && word->second == NULL && strcmp(script, word->first) != 0) {
      word->second = script;
    }
    word->at += n;
  }
}

static bool scripts_begins_host(lt_str text, size_t at) {
  return (at >= 3 && memcmp(text.p + at - 3, "://", 3) == 0) || (at >= 1 && text.p[at - 1] == '@');
}

bool lt_scripts_next(lt_str text, size_t *at, lt_scripts_find *ret_find) {
  while (*at < text.n) {
    bool is_encoded = lt_str_starts(lt_str_sub(text, *at, text.n), LT_STR("xn--"));
    script_word word = {.text = text, .at = *at, .is_host = is_encoded || scripts_begins_host(text, *at)};
    scripts_read_word(&word);
    lt_str found = lt_str_sub(text, *at, word.at);
    *at = word.at > *at ? word.at : *at + 1;
    if (word.second != NULL || is_encoded || (word.is_host && lt_str_find(found, LT_STR(".xn--"), 0) != SIZE_MAX)) {
      *ret_find = (lt_scripts_find){.word = found, .first = word.first, .second = word.second};
      return true;
    }
  }
  return false;
}
