/* Finding tools by what somebody remembers of them: suggestions for a wrong name, and search.
 *
 * Both look at every tool: a listing of thousands takes milliseconds, and is asked for rarely. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "codec/json.h"
#include "tool/catalog.h"

static char fold(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- Suggestions ----------------------------------------------------------------------------------------------------
 */
#define NOT_NEAR UINT_MAX
/* Less is nearer. Any typing error is nearer than any name that goes on, and that nearer than one that ends alike. */
#define SCORE_PER_EDIT 1000
#define SCORE_PREFIX   10000
#define SCORE_INSIDE   20000
#define SCORE_ALIKE    30000
#define PART_MIN_BYTES 3   /* shorter parts are everywhere */
#define PART_MAX_BYTES 256 /* longer names are not worth the time to look through */

static size_t common_prefix(lt_str a, lt_str b) {
  size_t n = min_size(a.n, b.n);
  size_t i = 0;
  while (i < n && fold(a.p[i]) == fold(b.p[i])) {
    i++;
  }
  return i;
}

static bool contains(lt_str s, lt_str part) {
  for (size_t i = 0; part.n <= s.n && i <= s.n - part.n; i++) {
    if (common_prefix(lt_str_sub(s, i, s.n), part) == part.n) {
      return true;
    }
  }
  return false;
}

/* How many typing errors are believable: one in three characters, five at most. */
static unsigned edits_allowed(lt_str wanted) {
  return (unsigned)min_size(5, wanted.n < 3 ? 1 : wanted.n / 3);
}

static unsigned nearness(lt_str wanted, lt_str name) {
  if (name.n == 0) {
    return NOT_NEAR;
  }
  unsigned allowed = edits_allowed(wanted);
  unsigned edits = lt_str_distance(wanted, name, allowed);
  if (edits <= allowed) {
    return edits * SCORE_PER_EDIT;
  }
  lt_str shorter = wanted.n < name.n ? wanted : name;
  lt_str longer = wanted.n < name.n ? name : wanted;
  unsigned gap = (unsigned)min_size(longer.n - shorter.n, SCORE_PER_EDIT);
  if (shorter.n < PART_MIN_BYTES || longer.n > PART_MAX_BYTES) {
    return NOT_NEAR;
  }
  size_t prefix = common_prefix(shorter, longer);
  if (prefix == shorter.n) {
    return SCORE_PREFIX + gap;
  }
  if (contains(longer, shorter)) {
    return SCORE_INSIDE + gap;
  }
  return prefix > PART_MIN_BYTES && prefix * 2 > longer.n
             ? SCORE_ALIKE + (unsigned)min_size(longer.n - prefix, SCORE_PER_EDIT)
             : NOT_NEAR;
}

/* The tool's name that is nearest; an id wins over an equally near other name. */
static unsigned nearest_name(const lt_tool *tool, lt_str wanted, lt_str *ret_name) {
  const lt_str names[] = {tool->id, tool->js_name, tool->ts_name};
  unsigned best = NOT_NEAR;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    unsigned score = nearness(wanted, names[i]);
    if (score < best) {
      best = score;
      *ret_name = names[i];
    }
  }
  return best;
}

size_t lt_catalog_suggest(const lt_catalog *catalog, lt_str name, lt_str ret[]) {
  unsigned scores[LT_TOOL_SUGGESTIONS];
  size_t found = 0;
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_str near = LT_STR_NULL;
    unsigned score = nearest_name(lt_catalog_at(catalog, i), name, &near);
    if (score == NOT_NEAR || (found == LT_TOOL_SUGGESTIONS && score >= scores[found - 1])) {
      continue;
    }
    size_t at = found < LT_TOOL_SUGGESTIONS ? found++ : found - 1;
    for (; at > 0 && scores[at - 1] > score; at--) {
      scores[at] = scores[at - 1];
      ret[at] = ret[at - 1];
    }
    scores[at] = score;
    ret[at] = near;
  }
  /* Names that only begin alike are for want of better ones: all tools of one server do. */
  while (found > 1 && scores[found - 1] >= SCORE_ALIKE && scores[0] < SCORE_ALIKE) {
    found--;
  }
  return found;
}

/* --- Search ---------------------------------------------------------------------------------------------------------
 */
/* Weights of a word by where it stands, and the two constants of BM25: how soon repeating a word stops helping. Length
 * is not held against a tool: a long description is no fault. */
#define WEIGHT_ID        4.0
#define WEIGHT_PROPERTY  1.5
#define WEIGHT_TEXT      1.0
#define WEIGHT_BEGINNING 0.5 /* of a word that only begins with the term */
#define SATURATION       1.2

typedef struct search {
  const lt_catalog *catalog;
  lt_str terms[LT_SEARCH_TERMS_MAX];
  size_t term_count;
  double *found;  /* tools x terms: how much of the term is in the tool */
  double *scores; /* tools */
  lt_arena arena; /* one schema at a time */
} search;

typedef void (*word_fn)(void *arg, lt_str word);

static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Bytes of any script but ASCII count as letters. */
static bool in_word(char c) {
  return is_upper(c) || is_lower_or_digit(c) || (unsigned char)c >= 0x80;
}

/* Whether a hump begins at `at`: the N of getName, the R of HTTPResponse. */
static bool is_hump(lt_str word, size_t at) {
  if (!is_upper(word.p[at])) {
    return false;
  }
  return !is_upper(word.p[at - 1]) || (at + 1 < word.n && is_lower_or_digit(word.p[at + 1]));
}

/* Gives the humps of a word, and the word as a whole where there are several. */
static void each_hump(lt_str word, word_fn fn, void *arg) {
  size_t from = 0;
  for (size_t at = 1; at < word.n; at++) {
    if (is_hump(word, at)) {
      fn(arg, lt_str_sub(word, from, at));
      from = at;
    }
  }
  fn(arg, lt_str_sub(word, from, word.n));
  if (from > 0) {
    fn(arg, word);
  }
}

static void each_word(lt_str s, word_fn fn, void *arg) {
  for (size_t at = 0; at < s.n;) {
    if (!in_word(s.p[at])) {
      at++;
      continue;
    }
    size_t from = at;
    while (at < s.n && in_word(s.p[at])) {
      at++;
    }
    each_hump(lt_str_sub(s, from, at), fn, arg);
  }
}

static void add_term(void *arg, lt_str word) {
  search *s = arg;
  for (size_t i = 0; i < s->term_count; i++) {
    if (s->terms[i].n == word.n && common_prefix(s->terms[i], word) == word.n) {
      return;
    }
  }
  if (s->term_count < LT_SEARCH_TERMS_MAX) {
    s->terms[s->term_count++] = word;
  }
}

typedef struct counting {
  const search *s;
  double *found; /* of this tool, by term */
  double weight;
} counting;

static void count_word(void *arg, lt_str word) {
  const counting *c = arg;
  for (size_t i = 0; i < c->s->term_count; i++) {
    lt_str term = c->s->terms[i];
    if (term.n > word.n || common_prefix(term, word) != term.n) {
      continue;
    }
    if (term.n == word.n) {
      c->found[i] += c->weight;
    } else if (term.n >= PART_MIN_BYTES) {
      c->found[i] += c->weight * WEIGHT_BEGINNING;
    }
  }
}

static void count_properties(search *s, lt_str schema, counting *c) {
  lt_json_doc doc;
  if (lt_json_parse(&s->arena, schema, &doc, NULL) != LT_OK) {
    return; /* a broken schema has no names to find it by */
  }
  lt_json_iter it = lt_json_each(lt_json_get(lt_json_root(&doc), "properties"));
  while (lt_json_next(&it)) {
    lt_str key;
    if (lt_json_exists(it.key) && lt_json_str(it.key, &s->arena, &key)) {
      each_word(key, count_word, c);
    }
  }
}

static void count_tool(search *s, size_t i) {
  const lt_tool *tool = lt_catalog_at(s->catalog, i);
  counting c = {.s = s, .found = &s->found[i * s->term_count], .weight = WEIGHT_ID};
  each_word(tool->id, count_word, &c);
  c.weight = WEIGHT_TEXT;
  each_word(tool->description, count_word, &c);
  c.weight = WEIGHT_PROPERTY;
  count_properties(s, tool->input_schema, &c);
  lt_arena_release(&s->arena);
}

/* The rarer a term among the tools, the more it says. */
static double rarity(const search *s, size_t term) {
  size_t n = lt_catalog_count(s->catalog);
  size_t with = 0;
  for (size_t i = 0; i < n; i++) {
    with += s->found[i * s->term_count + term] > 0;
  }
  return log(1.0 + ((double)n - (double)with + 0.5) / ((double)with + 0.5));
}

static void score_all(search *s) {
  size_t n = lt_catalog_count(s->catalog);
  for (size_t i = 0; i < n; i++) {
    count_tool(s, i);
  }
  for (size_t term = 0; term < s->term_count; term++) {
    double rare = rarity(s, term);
    for (size_t i = 0; i < n; i++) {
      double found = s->found[i * s->term_count + term];
      s->scores[i] += rare * found * (SATURATION + 1) / (found + SATURATION);
    }
  }
}

typedef struct hit {
  double score;
  uint32_t index;
} hit;

static int compare_hits(const void *a, const void *b) {
  const hit *x = a;
  const hit *y = b;
  if (x->score != y->score) {
    return x->score < y->score ? 1 : -1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

static size_t best_hits(const search *s, hit *hits, uint32_t *ret_indices, size_t max) {
  size_t n = 0;
  for (size_t i = 0; i < lt_catalog_count(s->catalog); i++) {
    if (s->scores[i] > 0) {
      hits[n++] = (hit){.score = s->scores[i], .index = (uint32_t)i};
    }
  }
  qsort(hits, n, sizeof *hits, compare_hits);
  for (size_t i = 0; i < n && i < max; i++) {
    ret_indices[i] = hits[i].index;
  }
  return min_size(n, max);
}

static size_t everything(const lt_catalog *catalog, uint32_t *ret_indices, size_t max) {
  size_t n = min_size(lt_catalog_count(catalog), max);
  for (size_t i = 0; i < n; i++) {
    ret_indices[i] = (uint32_t)i;
  }
  return n;
}

size_t lt_catalog_search(const lt_catalog *catalog, lt_str query, uint32_t *ret_indices, size_t max) {
  search s = {.catalog = catalog};
  each_word(query, add_term, &s);
  if (s.term_count == 0) { /* "*" asks for everything too */
    return everything(catalog, ret_indices, max);
  }
  size_t n = lt_catalog_count(catalog);
  size_t written = 0;
  lt_arena_init(&s.arena, LT_CATALOG_MAX_BYTES);
  s.found = lt_mem_zalloc(n * s.term_count, sizeof *s.found);
  s.scores = lt_mem_zalloc(n, sizeof *s.scores);
  hit *hits = lt_mem_zalloc(n, sizeof *hits);
  if (s.found != NULL && s.scores != NULL && hits != NULL) {
    score_all(&s);
    written = best_hits(&s, hits, ret_indices, max);
  }
  lt_mem_free(hits);
  lt_mem_free(s.scores);
  lt_mem_free(s.found);
  return written;
}
