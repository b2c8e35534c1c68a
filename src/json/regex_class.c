/* Classes of characters. */
#include <stdlib.h>

#include "base/limits.h"
#include "json/regex_class.h"

#define LAST_ASCII     0x7Fu
#define LAST_CHARACTER 0x10FFFFu

/* --- Sets --------------------------------------------------------------------------------------------------------- */

static int regex_class_compare_ranges(const void *a, const void *b) {
  uint32_t x = ((const lt_regex_range *)a)->from;
  uint32_t y = ((const lt_regex_range *)b)->from;
  return x < y ? -1 : x > y;
}

/* Sorts the ranges and joins those that touch. */
static void regex_class_join(lt_regex_set *set) {
  if (set->count == 0) {
    return;
  }
  qsort(set->ranges, set->count, sizeof(*set->ranges), regex_class_compare_ranges);
  uint32_t n = 1;
  for (uint32_t i = 1; i < set->count; i++) {
    lt_regex_range *last = &set->ranges[n - 1];
    if (set->ranges[i].from > last->to + 1) {
      set->ranges[n++] = set->ranges[i];
    } else if (set->ranges[i].to > last->to) {
      last->to = set->ranges[i].to;
    }
  }
  set->count = n;
}

/* Makes room for one more range. Overlapping ranges are joined first, before the list grows. */
static bool regex_class_make_room(lt_regex_set *set) {
  regex_class_join(set);
  if (set->count < set->cap / 2) {
    return true;
  }
  uint32_t cap = set->cap == 0 ? 16 : set->cap * 2;
  if (cap > LT_REGEX_RANGES_MAX) {
    set->status = LT_E_LIMIT;
    return false;
  }
  lt_regex_range *ranges = lt_arena_alloc(set->scratch, cap * sizeof(*ranges));
  if (ranges == NULL) {
    set->status = LT_E_NOMEM;
    return false;
  }
  if (set->count > 0) {
    memcpy(ranges, set->ranges, set->count * sizeof(*ranges));
  }
  set->ranges = ranges;
  set->cap = cap;
  return true;
}

void lt_regex_set_add(lt_regex_set *set, uint32_t from, uint32_t to) {
  if (set->status == LT_OK && (set->count < set->cap || regex_class_make_room(set))) {
    set->ranges[set->count++] = (lt_regex_range){from, to};
  }
}

/* Adds what the joined `ranges` leave out to `set`. */
static void regex_class_add_rest(lt_regex_set *set, const lt_regex_range *ranges, uint32_t count) {
  uint32_t from = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (ranges[i].from > from) {
      lt_regex_set_add(set, from, ranges[i].from - 1);
    }
    from = ranges[i].to + 1;
  }
  if (from <= LAST_CHARACTER) {
    lt_regex_set_add(set, from, LAST_CHARACTER);
  }
}

static void regex_class_add_all(lt_regex_set *set, const lt_regex_range *ranges, uint32_t count, bool negated) {
  if (negated) {
    regex_class_add_rest(set, ranges, count);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    lt_regex_set_add(set, ranges[i].from, ranges[i].to);
  }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ECMA-262, CharacterClassEscape: digits and word characters are ASCII; white space is WhiteSpace and LineTerminator,
 * that is Unicode's Zs among others. */
bool lt_regex_set_add_escape(lt_regex_set *set, char name) {
  static const lt_regex_range digits[] = {{'0', '9'}};
  static const lt_regex_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  static const lt_regex_range spaces[] = {{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                          {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                          {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  bool negated = name >= 'A' && name <= 'Z';
  switch (name | 0x20) {
    case 'd':
      regex_class_add_all(set, digits, COUNT(digits), negated);
      return true;
    case 'w':
      regex_class_add_all(set, words, COUNT(words), negated);
      return true;
    case 's':
      regex_class_add_all(set, spaces, COUNT(spaces), negated);
      return true;
    default:
      return false;
  }
}

/* --- Unicode properties ------------------------------------------------------------------------------------------- */

typedef struct regex_property {
  const char *names; /* separated by spaces */
  lt_str ascii;      /* its ASCII members: pairs of the first and the last one */
} regex_property;

#define MEMBER_RANGES_MAX 9

/* The classes that patterns use. */
static const regex_property properties[] = {
    {" L Letter Alphabetic Alpha Script=Latin sc=Latin Script=Latn sc=Latn ", {"AZaz", 4}},
    {" LC Cased_Letter Cased ID_Start IDS XID_Start XIDS ", {"AZaz", 4}},
    {" ID_Continue IDC XID_Continue XIDC ", {"AZaz09__", 8}},
    {" Lu Uppercase_Letter Uppercase Upper ", {"AZ", 2}},
    {" Ll Lowercase_Letter Lowercase Lower ", {"az", 2}},
    {" Lt Titlecase_Letter Lm Modifier_Letter Lo Other_Letter ", {"", 0}},
    {" M Mark Combining_Mark Mn Nonspacing_Mark Mc Spacing_Mark Me Enclosing_Mark ", {"", 0}},
    {" N Number Nd Decimal_Number digit ", {"09", 2}},
    {" Nl Letter_Number No Other_Number ", {"", 0}},
    {" P Punctuation punct ", {"!#%*,/:;?@[]__{{}}", 18}},
    {" Pc Connector_Punctuation ", {"__", 2}},
    {" Pd Dash_Punctuation ", {"--", 2}},
    {" Ps Open_Punctuation ", {"(([[{{", 6}},
    {" Pe Close_Punctuation ", {"))]]}}", 6}},
    {" S Symbol ", {"$$++<>^^``||~~", 14}},
    {" Sc Currency_Symbol ", {"$$", 2}},
    {" Sm Math_Symbol ", {"++<>||~~", 8}},
    {" So Other_Symbol ", {"", 0}},
    {" Z Separator Zs Space_Separator ", {"  ", 2}},
    {" Zl Line_Separator Zp Paragraph_Separator ", {"", 0}},
    {" White_Space space ", {"\x09\x0D  ", 4}},
    {" C Other Cc Control cntrl ", {"\0\x1F\x7F\x7F", 4}},
    {" Cf Format Cs Surrogate Co Private_Use Cn Unassigned ", {"", 0}},
    {" Emoji Emoji_Component EComp ", {"09##**", 6}},
    {" Emoji_Presentation EPres Extended_Pictographic ExtPict Emoji_Modifier EMod ", {"", 0}},
    {" Script=Greek sc=Greek Script=Cyrillic sc=Cyrillic Script=Han sc=Han Script=Hiragana sc=Hiragana Script=Katakana"
     " sc=Katakana Script=Arabic sc=Arabic Script=Hebrew sc=Hebrew Script=Hangul sc=Hangul Script=Thai sc=Thai"
     " Script=Devanagari sc=Devanagari Ideographic ",
     {"", 0}},
};

static const regex_property *regex_class_find_property(lt_str name) {
  for (size_t i = 0; i < COUNT(properties); i++) {
    lt_str names = lt_str_of(properties[i].names);
    size_t at = lt_str_find(names, name, 0);
    while (at != SIZE_MAX) {
      if (names.p[at - 1] == ' ' && names.p[at + name.n] == ' ') {
        return &properties[i];
      }
      at = lt_str_find(names, name, at + 1);
    }
  }
  return NULL;
}

static bool regex_class_add_simple_property(lt_regex_set *set, lt_str name, bool negated) {
  if (lt_str_eqc(name, "Any")) {
    regex_class_add_all(set, NULL, 0, !negated);
    return true;
  }
  if (lt_str_eqc(name, "ASCII")) {
    regex_class_add_all(set, &(lt_regex_range){0, LAST_ASCII}, 1, negated);
    return true;
  }
  if (lt_str_eqc(name, "ASCII_Hex_Digit") || lt_str_eqc(name, "AHex")) {
    static const lt_regex_range hex[] = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
    regex_class_add_all(set, hex, COUNT(hex), negated);
    return true;
  }
  return false;
}

bool lt_regex_set_add_property(lt_regex_set *set, lt_str name, bool negated) {
  static const char *const prefixes[] = {"gc=", "General_Category="};
  for (size_t i = 0; i < COUNT(prefixes); i++) {
    if (lt_str_starts(name, lt_str_of(prefixes[i]))) {
      name = lt_str_sub(name, strlen(prefixes[i]), name.n);
    }
  }
  if (name.n == 0 || lt_str_find(name, LT_STR(" "), 0) != SIZE_MAX) {
    return false;
  }
  if (regex_class_add_simple_property(set, name, negated)) {
    return true;
  }
  const regex_property *known = regex_class_find_property(name);
  if (known == NULL) {
    return false;
  }
  lt_regex_range members[MEMBER_RANGES_MAX];
  uint32_t count = (uint32_t)known->ascii.n / 2;
  for (uint32_t i = 0; i < count; i++) {
    members[i] = (lt_regex_range){(uint32_t)known->ascii.p[2 * i], (uint32_t)known->ascii.p[2 * i + 1]};
  }
  qsort(members, count, sizeof(*members), regex_class_compare_ranges);
  regex_class_add_all(set, members, count, negated);
  set->any_other = true;
  return true;
}

/* --- Finished classes --------------------------------------------------------------------------------------------- */

void lt_regex_set_fold(lt_regex_set *set) {
  bool has[26] = {false};
  for (uint32_t i = 0; i < set->count; i++) {
    for (uint32_t c = 0; c < 26; c++) {
      lt_regex_range r = set->ranges[i];
      has[c] |= (r.from <= 'A' + c && 'A' + c <= r.to) || (r.from <= 'a' + c && 'a' + c <= r.to);
    }
  }
  for (uint32_t c = 0; c < 26; c++) {
    if (has[c]) {
      lt_regex_set_add(set, 'A' + c, 'A' + c);
      lt_regex_set_add(set, 'a' + c, 'a' + c);
    }
  }
}

static void regex_class_set_ascii(lt_regex_class *class, lt_regex_range range) {
  for (uint32_t c = range.from; c <= range.to && c <= LAST_ASCII; c++) {
    class->ascii[c >> 6] |= UINT64_C(1) << (c & 63);
  }
}

lt_status lt_regex_set_finish(lt_regex_set *set, bool negated, lt_arena *arena, const lt_regex_class **ret) {
  lt_regex_set all = {.scratch = set->scratch, .any_other = set->any_other, .status = set->status};
  regex_class_join(set);
  regex_class_add_all(&all, set->ranges, set->count, negated);
  if (all.status != LT_OK) {
    return all.status;
  }
  uint32_t ascii = 0;
  while (ascii < all.count && all.ranges[ascii].to <= LAST_ASCII) {
    ascii++;
  }
  lt_regex_class *class = lt_arena_zalloc(arena, 1, sizeof(*class));
  lt_regex_range *others = lt_arena_alloc(arena, (all.count - ascii) * sizeof(*others));
  if (class == NULL || others == NULL) {
    return LT_E_NOMEM;
  }
  for (uint32_t i = 0; i < all.count; i++) {
    regex_class_set_ascii(class, all.ranges[i]);
    if (i >= ascii) {
      others[i - ascii] = all.ranges[i];
    }
  }
  class->ranges = others;
  class->count = all.count - ascii;
  class->any_other = all.any_other;
  *ret = class;
  return LT_OK;
}

bool lt_regex_class_has(const lt_regex_class *class, uint32_t c) {
  if (c <= LAST_ASCII) {
    return class->ascii[c >> 6] >> (c & 63) & 1;
  }
  uint32_t low = 0;
  uint32_t high = class->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (class->ranges[middle].to < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return class->any_other || (low < class->count && class->ranges[low].from <= c);
}
