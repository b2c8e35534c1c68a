#include "tool/search/stemmer.h"

#include "json/json_text.h"

/* --- Characters --------------------------------------------------------------------------------------------------- */
typedef enum stemmer_char_kind { SEPARATOR, JOINER, UPPER, LOWER, IDEOGRAPH } stemmer_char_kind;

static bool stemmer_between(uint32_t cp, uint32_t from, uint32_t to) {
  return cp >= from && cp <= to;
}

static stemmer_char_kind stemmer_kind_of_ascii(uint32_t cp) {
  if (stemmer_between(cp, 'A', 'Z')) {
    return UPPER;
  }
  if (stemmer_between(cp, 'a', 'z') || stemmer_between(cp, '0', '9')) {
    return LOWER;
  }
  return cp == '_' || cp == '-' || cp == '.' ? JOINER : SEPARATOR;
}

/* Only ASCII capitals split names: other capitals are rare in names. */
static stemmer_char_kind stemmer_kind_of(uint32_t cp) {
  if (cp < 0x80) {
    return stemmer_kind_of_ascii(cp);
  }
  if (cp < 0xC0 || cp == 0xD7 || cp == 0xF7 || stemmer_between(cp, 0x2000, 0x2BFF) ||
      stemmer_between(cp, 0x3000, 0x303F) || stemmer_between(cp, 0xFE00, 0xFF0F) ||
      stemmer_between(cp, 0xFF1A, 0xFF20) || cp == 0xFFFD || stemmer_between(cp, 0x1F000, 0x1FAFF)) {
    return SEPARATOR; /* punctuation, signs, emoji */
  }
  if (stemmer_between(cp, 0x3040, 0x30FF) || stemmer_between(cp, 0x3400, 0x9FFF) ||
      stemmer_between(cp, 0xAC00, 0xD7AF) || stemmer_between(cp, 0xF900, 0xFAFF) ||
      stemmer_between(cp, 0x20000, 0x3FFFF)) {
    return IDEOGRAPH;
  }
  return LOWER;
}

static uint32_t stemmer_fold(uint32_t cp) {
  if (stemmer_between(cp, 'A', 'Z') || stemmer_between(cp, 0xC0, 0xDE) || stemmer_between(cp, 0x391, 0x3A9) ||
      stemmer_between(cp, 0x410, 0x42F)) {
    return cp + 0x20;
  }
  if (stemmer_between(cp, 0x400, 0x40F)) {
    return cp + 0x50;
  }
  /* Latin Extended-A: capitals and small letters in turn, with a few breaks */
  if (stemmer_between(cp, 0x100, 0x137) || stemmer_between(cp, 0x14A, 0x177)) {
    return cp | 1;
  }
  if (stemmer_between(cp, 0x139, 0x148) || stemmer_between(cp, 0x179, 0x17E)) {
    return cp + (cp & 1);
  }
  return cp;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */
typedef struct stemmer_word_buf {
  char p[LT_WORD_MAX_BYTES];
  size_t n;
  bool cut;
} stemmer_word_buf;

typedef struct stemmer_splitter {
  lt_word_fn fn;
  void *arg;
  const char *p;
  const char *end;
  stemmer_word_buf word;
  stemmer_word_buf joined; /* the words since the last separator */
  unsigned parts;          /* how many those are */
  uint32_t ideograph;      /* the one before, or 0 */
  bool paired;             /* the previous one has been given with its neighbour */
  stemmer_char_kind before;
  bool enough;
} stemmer_splitter;

static void stemmer_put_char(stemmer_word_buf *w, uint32_t cp) {
  char bytes[4];
  unsigned n = lt_json_write_char(bytes, cp);
  if (w->cut || w->n + n > sizeof w->p) {
    w->cut = true;
    return;
  }
  memcpy(w->p + w->n, bytes, n);
  w->n += n;
}

static void stemmer_give_word(stemmer_splitter *s, stemmer_word_buf *w, bool joined) {
  if (w->n > 0 && !s->enough) {
    s->enough = !s->fn(s->arg, lt_str_from(w->p, w->n), joined);
  }
  w->n = 0;
  w->cut = false;
}

static void stemmer_end_word(stemmer_splitter *s) {
  s->parts += s->word.n > 0;
  stemmer_give_word(s, &s->word, false);
}

static void stemmer_end_name(stemmer_splitter *s) {
  stemmer_end_word(s);
  if (s->parts < 2 || s->joined.cut) {
    s->joined.n = 0;
    s->joined.cut = false;
  }
  stemmer_give_word(s, &s->joined, true);
  s->parts = 0;
}

static void stemmer_end_ideographs(stemmer_splitter *s) {
  if (s->ideograph != 0 && !s->paired) {
    stemmer_put_char(&s->word, s->ideograph);
    stemmer_give_word(s, &s->word, false);
  }
  s->ideograph = 0;
  s->paired = false;
}

static void stemmer_add_ideograph(stemmer_splitter *s, uint32_t cp) {
  if (s->ideograph == 0) {
    stemmer_end_name(s);
  } else {
    stemmer_put_char(&s->word, s->ideograph);
    stemmer_put_char(&s->word, cp);
    stemmer_give_word(s, &s->word, false);
    s->paired = true;
  }
  s->ideograph = cp;
}

static char stemmer_ascii_at(const stemmer_splitter *s, size_t ahead) {
  return (size_t)(s->end - s->p) > ahead ? s->p[ahead] : '\0';
}

static bool stemmer_is_small(char c) {
  return c >= 'a' && c <= 'z';
}

/* Whether a new word begins with the capital just read: the N of getName, the R of HTTPResponse; not the D of IDs. */
static bool stemmer_is_hump(const stemmer_splitter *s) {
  if (s->before != UPPER) {
    return true;
  }
  bool plural = stemmer_ascii_at(s, 0) == 's' && stemmer_kind_of((unsigned char)stemmer_ascii_at(s, 1)) != LOWER;
  return stemmer_is_small(stemmer_ascii_at(s, 0)) && !plural;
}

static uint32_t stemmer_next_char(stemmer_splitter *s) {
  uint32_t cp = 0;
  unsigned n = lt_json_read_char(s->p, s->end, &cp);
  s->p += n > 0 ? n : 1;
  return n > 0 ? cp : 0xFFFD;
}

static void stemmer_add_char(stemmer_splitter *s, uint32_t cp) {
  stemmer_char_kind is = stemmer_kind_of(cp);
  if (is == IDEOGRAPH) {
    stemmer_add_ideograph(s, cp);
  } else {
    stemmer_end_ideographs(s);
    if (is == SEPARATOR) {
      stemmer_end_name(s);
    } else if (is == JOINER || (is == UPPER && stemmer_is_hump(s))) {
      stemmer_end_word(s);
    }
    if (is == UPPER || is == LOWER) {
      stemmer_put_char(&s->word, stemmer_fold(cp));
      stemmer_put_char(&s->joined, stemmer_fold(cp));
    }
  }
  s->before = is;
}

void lt_stemmer_each_word(lt_str text, lt_word_fn fn, void *arg) {
  const char *p = text.p != NULL ? text.p : "";
  stemmer_splitter s = {.fn = fn, .arg = arg, .p = p, .end = p + text.n};
  while (s.p < s.end && !s.enough) {
    stemmer_add_char(&s, stemmer_next_char(&s));
  }
  stemmer_end_ideographs(&s);
  stemmer_end_name(&s);
}

/* --- Stems -------------------------------------------------------------------------------------------------------- */
static bool stemmer_ends(const char *w, size_t n, const char *ending) {
  size_t k = strlen(ending);
  return n >= k && memcmp(w + n - k, ending, k) == 0;
}

static bool stemmer_has_vowel(const char *w, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr("aeiouy", w[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static size_t stemmer_without_plural(char *w, size_t n) {
  if (n < 3 || w[n - 1] != 's' || strchr("sui", w[n - 2]) != NULL) {
    return n;
  }
  if (n > 4 && stemmer_ends(w, n, "ies")) {
    w[n - 3] = 'y';
    return n - 2;
  }
  bool es = stemmer_ends(w, n, "sses") || stemmer_ends(w, n, "xes") || stemmer_ends(w, n, "ches") ||
            stemmer_ends(w, n, "shes");
  return n - (es ? 2 : 1);
}

/* created, creating, creation -> creat; copied -> copy; committing -> commit */
static size_t stemmer_without_ending(char *w, size_t n) {
  if (n > 4 && stemmer_ends(w, n, "ied")) {
    w[n - 3] = 'y';
    return n - 2;
  }
  if (n >= 8 && (stemmer_ends(w, n, "tion") || stemmer_ends(w, n, "sion"))) {
    return n - 3;
  }
  size_t ending = stemmer_ends(w, n, "ing") ? 3 : stemmer_ends(w, n, "ed") && !stemmer_ends(w, n, "eed") ? 2 : 0;
  if (ending == 0 || n < ending + 3 || !stemmer_has_vowel(w, n - ending)) {
    return n;
  }
  n -= ending;
  bool doubled = w[n - 1] == w[n - 2] && strchr("aeiouylsz", w[n - 1]) == NULL;
  return n - doubled;
}

lt_str lt_stemmer_stem(lt_str word, char stem[LT_WORD_MAX_BYTES]) {
  size_t n = word.n < LT_WORD_MAX_BYTES ? word.n : LT_WORD_MAX_BYTES;
  bool ascii = true;
  for (size_t i = 0; i < n; i++) {
    stem[i] = word.p[i];
    ascii = ascii && stemmer_is_small(word.p[i]);
  }
  if (ascii && n > 0) {
    n = stemmer_without_ending(stem, stemmer_without_plural(stem, n));
    n -= n > 3 && stem[n - 1] == 'e';
  }
  return lt_str_from(stem, n);
}

bool lt_stemmer_is_filler(lt_str word) {
  static const char *const fillers[] = {"a",    "an",    "and",  "any",    "are",  "as",    "at",   "be",  "by",
                                        "can",  "do",    "does", "for",    "from", "has",   "have", "how", "i",
                                        "if",   "in",    "into", "is",     "it",   "its",   "me",   "my",  "of",
                                        "on",   "or",    "our",  "please", "s",    "some",  "that", "the", "their",
                                        "them", "there", "this", "to",     "tool", "tools", "want", "was", "we",
                                        "were", "what",  "when", "which",  "will", "with",  "you",  "your"};
  for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++) {
    if (lt_str_eqc(word, fillers[i])) {
      return true;
    }
  }
  return false;
}
