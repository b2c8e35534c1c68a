#include "tool/search/stemmer.h"

#include "json/json_text.h"

/* --- Characters --------------------------------------------------------------------------------------------------- */
typedef enum kind { SEPARATOR, JOINER, UPPER, LOWER, IDEOGRAPH } kind;

static bool between(uint32_t cp, uint32_t from, uint32_t to) {
  return cp >= from && cp <= to;
}

static kind kind_of_ascii(uint32_t cp) {
  if (between(cp, 'A', 'Z')) {
    return UPPER;
  }
  if (between(cp, 'a', 'z') || between(cp, '0', '9')) {
    return LOWER;
  }
  return cp == '_' || cp == '-' || cp == '.' ? JOINER : SEPARATOR;
}

/* Capitals beyond ASCII do not make humps: names are hardly ever written so. */
static kind kind_of(uint32_t cp) {
  if (cp < 0x80) {
    return kind_of_ascii(cp);
  }
  if (cp < 0xC0 || cp == 0xD7 || cp == 0xF7 || between(cp, 0x2000, 0x2BFF) || between(cp, 0x3000, 0x303F) ||
      between(cp, 0xFE00, 0xFF0F) || between(cp, 0xFF1A, 0xFF20) || cp == 0xFFFD || between(cp, 0x1F000, 0x1FAFF)) {
    return SEPARATOR; /* punctuation, signs, emoji */
  }
  if (between(cp, 0x3040, 0x30FF) || between(cp, 0x3400, 0x9FFF) || between(cp, 0xAC00, 0xD7AF) ||
      between(cp, 0xF900, 0xFAFF) || between(cp, 0x20000, 0x3FFFF)) {
    return IDEOGRAPH;
  }
  return LOWER;
}

static uint32_t fold(uint32_t cp) {
  if (between(cp, 'A', 'Z') || between(cp, 0xC0, 0xDE) || between(cp, 0x391, 0x3A9) || between(cp, 0x410, 0x42F)) {
    return cp + 0x20;
  }
  if (between(cp, 0x400, 0x40F)) {
    return cp + 0x50;
  }
  /* Latin Extended-A: capitals and small letters in turn, with a few breaks */
  if (between(cp, 0x100, 0x137) || between(cp, 0x14A, 0x177)) {
    return cp | 1;
  }
  if (between(cp, 0x139, 0x148) || between(cp, 0x179, 0x17E)) {
    return cp + (cp & 1);
  }
  return cp;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */
typedef struct word_buf {
  char p[LT_WORD_MAX_BYTES];
  size_t n;
  bool cut;
} word_buf;

typedef struct splitter {
  lt_word_fn fn;
  void *arg;
  const char *p;
  const char *end;
  word_buf word;
  word_buf joined;    /* the words since the last separator */
  unsigned parts;     /* how many those are */
  uint32_t ideograph; /* the one before, or 0 */
  bool paired;        /* it has been given with its neighbour */
  kind before;
  bool enough;
} splitter;

static void put(word_buf *w, uint32_t cp) {
  char bytes[4];
  unsigned n = lt_json_write_char(bytes, cp);
  if (w->cut || w->n + n > sizeof w->p) {
    w->cut = true;
    return;
  }
  memcpy(w->p + w->n, bytes, n);
  w->n += n;
}

static void give(splitter *s, word_buf *w, bool joined) {
  if (w->n > 0 && !s->enough) {
    s->enough = !s->fn(s->arg, lt_str_from(w->p, w->n), joined);
  }
  w->n = 0;
  w->cut = false;
}

static void end_word(splitter *s) {
  s->parts += s->word.n > 0;
  give(s, &s->word, false);
}

static void end_name(splitter *s) {
  end_word(s);
  if (s->parts < 2 || s->joined.cut) {
    s->joined.n = 0;
    s->joined.cut = false;
  }
  give(s, &s->joined, true);
  s->parts = 0;
}

static void end_ideographs(splitter *s) {
  if (s->ideograph != 0 && !s->paired) {
    put(&s->word, s->ideograph);
    give(s, &s->word, false);
  }
  s->ideograph = 0;
  s->paired = false;
}

static void add_ideograph(splitter *s, uint32_t cp) {
  if (s->ideograph == 0) {
    end_name(s);
  } else {
    put(&s->word, s->ideograph);
    put(&s->word, cp);
    give(s, &s->word, false);
    s->paired = true;
  }
  s->ideograph = cp;
}

static char ascii_at(const splitter *s, size_t ahead) {
  return (size_t)(s->end - s->p) > ahead ? s->p[ahead] : '\0';
}

static bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

/* Whether a new word begins with the capital just read: the N of getName, the R of HTTPResponse; not the D of IDs. */
static bool is_hump(const splitter *s) {
  if (s->before != UPPER) {
    return true;
  }
  bool plural = ascii_at(s, 0) == 's' && kind_of((unsigned char)ascii_at(s, 1)) != LOWER;
  return is_small(ascii_at(s, 0)) && !plural;
}

static uint32_t next_char(splitter *s) {
  uint32_t cp = 0;
  unsigned n = lt_json_read_char(s->p, s->end, &cp);
  s->p += n > 0 ? n : 1;
  return n > 0 ? cp : 0xFFFD;
}

static void add_char(splitter *s, uint32_t cp) {
  kind is = kind_of(cp);
  if (is == IDEOGRAPH) {
    add_ideograph(s, cp);
  } else {
    end_ideographs(s);
    if (is == SEPARATOR) {
      end_name(s);
    } else if (is == JOINER || (is == UPPER && is_hump(s))) {
      end_word(s);
    }
    if (is == UPPER || is == LOWER) {
      put(&s->word, fold(cp));
      put(&s->joined, fold(cp));
    }
  }
  s->before = is;
}

void lt_stemmer_each_word(lt_str text, lt_word_fn fn, void *arg) {
  const char *p = text.p != NULL ? text.p : "";
  splitter s = {.fn = fn, .arg = arg, .p = p, .end = p + text.n};
  while (s.p < s.end && !s.enough) {
    add_char(&s, next_char(&s));
  }
  end_ideographs(&s);
  end_name(&s);
}

/* --- Stems -------------------------------------------------------------------------------------------------------- */
static bool ends(const char *w, size_t n, const char *ending) {
  size_t k = strlen(ending);
  return n >= k && memcmp(w + n - k, ending, k) == 0;
}

static bool has_vowel(const char *w, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr("aeiouy", w[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static size_t without_plural(char *w, size_t n) {
  if (n < 3 || w[n - 1] != 's' || strchr("sui", w[n - 2]) != NULL) {
    return n;
  }
  if (n > 4 && ends(w, n, "ies")) {
    w[n - 3] = 'y';
    return n - 2;
  }
  bool es = ends(w, n, "sses") || ends(w, n, "xes") || ends(w, n, "ches") || ends(w, n, "shes");
  return n - (es ? 2 : 1);
}

/* created, creating, creation -> creat; copied -> copy; committing -> commit */
static size_t without_ending(char *w, size_t n) {
  if (n > 4 && ends(w, n, "ied")) {
    w[n - 3] = 'y';
    return n - 2;
  }
  if (n >= 8 && (ends(w, n, "tion") || ends(w, n, "sion"))) {
    return n - 3;
  }
  size_t ending = ends(w, n, "ing") ? 3 : ends(w, n, "ed") && !ends(w, n, "eed") ? 2 : 0;
  if (ending == 0 || n < ending + 3 || !has_vowel(w, n - ending)) {
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
    ascii = ascii && is_small(word.p[i]);
  }
  if (ascii && n > 0) {
    n = without_ending(stem, without_plural(stem, n));
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
