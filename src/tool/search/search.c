/* Search: BM25 over the catalog's index. A word of the query finds itself, its other forms, longer words that begin
 * with it and, last, a shorter word that it begins with. The nearer to the query's word, the more a word counts. */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/search/search_index.h"
#include "tool/search/stemmer.h"

#define SATURATION 1.2F /* BM25's k1: how soon further occurrences of a word stop counting more */

/* The factors for words that are found in place of the word itself. The last two are multiplied by the part of the
 * longer word that is the same. */
#define LIKE_FORM   0.7F /* files for file */
#define LIKE_LONGER 0.5F /* repository for repo */
#define LIKE_SHORT  0.4F /* repo for repository */

#define LONGER_MIN_BYTES 3 /* too many words begin with a shorter one */
#define SHORT_MIN_BYTES  4
#define SHORT_MIN_SHARE  0.4F /* of the word asked for */

#define LOG_TERMS 33 /* of the series of a logarithm: what is left out is below 2^-53 */

typedef struct search_term {
  char text[LT_WORD_MAX_BYTES];
  size_t n;
  bool joined; /* the words it is joined from are terms, too */
} search_term;

typedef struct search_query {
  search_term terms[LT_SEARCH_TERMS_MAX];
  size_t count;
  bool fillers; /* words like "the" count, as there are no others */
} search_query;

typedef struct search_hit {
  uint64_t score;
  uint32_t tool;
} search_hit;

/* The memory of one search; all lists are as long as the catalog. */
typedef struct search {
  const lt_search_index *index;
  size_t tools;
  float *found;      /* by tool: how much of the current term is in it */
  float *scores;     /* by tool */
  uint32_t *touched; /* the tools that have something of the current term */
  size_t touched_count;
} search;

/* --- The query ---------------------------------------------------------------------------------------------------- */
static lt_str search_term_text(const search_term *t) {
  return lt_str_from(t->text, t->n);
}

static bool search_add_term(void *arg, lt_str word, bool joined) {
  search_query *q = arg;
  if (!q->fillers && lt_stemmer_is_filler(word)) {
    return true;
  }
  for (size_t i = 0; i < q->count; i++) {
    if (lt_str_eq(search_term_text(&q->terms[i]), word)) {
      return true;
    }
  }
  search_term *t = &q->terms[q->count++];
  t->n = word.n;
  t->joined = joined;
  memcpy(t->text, word.p, word.n);
  return q->count < LT_SEARCH_TERMS_MAX;
}

static void search_read_query(lt_str query, search_query *q) {
  lt_str text = lt_str_sub(query, 0, LT_SEARCH_QUERY_MAX_BYTES);
  q->count = 0;
  q->fillers = false;
  lt_stemmer_each_word(text, search_add_term, q);
  if (q->count == 0) {
    q->fillers = true;
    lt_stemmer_each_word(text, search_add_term, q);
  }
}

/* --- One term ----------------------------------------------------------------------------------------------------- */
static void search_take_word(search *s, uint32_t number, float like) {
  const lt_index_word *word = &s->index->words[number];
  for (uint32_t i = 0; i < word->count; i++) {
    uint32_t tool = word->postings[i].tool;
    if (s->found[tool] == 0) {
      s->touched[s->touched_count++] = tool;
    }
    s->found[tool] += like * word->postings[i].weight;
  }
}

static float search_share(lt_str part, lt_str whole) {
  return (float)part.n / (float)whole.n;
}

/* Finds the word, its forms and longer words; of a word with an ending, also longer words of its stem. */
static void search_take_longer(search *s, lt_str text, lt_str stem) {
  lt_str begin = lt_str_starts(text, stem) ? stem : text;
  for (uint32_t i = lt_search_index_find(s->index, begin); i < s->index->count; i++) {
    const lt_index_word *word = &s->index->words[i];
    if (!lt_str_starts(word->text, begin)) {
      break;
    }
    if (lt_str_eq(word->text, text)) {
      search_take_word(s, i, 1.0F);
    } else if (lt_str_eq(word->stem, stem)) {
      search_take_word(s, i, LIKE_FORM);
    } else if (begin.n >= LONGER_MIN_BYTES) {
      search_take_word(s, i, LIKE_LONGER * search_share(begin, word->text));
    }
  }
}

/* Forms that begin differently: queries for query. */
static void search_take_forms(search *s, lt_str text, lt_str stem) {
  lt_str begin = lt_str_starts(text, stem) ? stem : text;
  for (uint32_t i = lt_search_index_find_stem(s->index, stem); i < s->index->count; i++) {
    uint32_t number = s->index->by_stem[i];
    if (!lt_str_eq(s->index->words[number].stem, stem)) {
      break;
    }
    if (!lt_str_starts(s->index->words[number].text, begin)) {
      search_take_word(s, number, LIKE_FORM);
    }
  }
}

static void search_take_shorter(search *s, lt_str text, lt_str stem) {
  for (size_t n = SHORT_MIN_BYTES; n < text.n; n++) {
    lt_str begin = lt_str_sub(text, 0, n);
    uint32_t i = lt_search_index_find(s->index, begin);
    if (i == s->index->count || search_share(begin, text) < SHORT_MIN_SHARE || lt_stemmer_is_filler(begin)) {
      continue;
    }
    const lt_index_word *word = &s->index->words[i];
    if (lt_str_eq(word->text, begin) && !lt_str_eq(word->stem, stem) && !lt_str_starts(begin, stem)) {
      search_take_word(s, i, LIKE_SHORT * search_share(begin, text));
    }
  }
}

/* The natural logarithm of a positive number, as exact as a double here: the only function that libm would be loaded
 * for, by every process at its start. ln(m * 2^e) = 2 artanh((m - 1) / (m + 1)) + e ln 2, where m is in [1/2, 1). */
static double search_log(double n) {
  int e;
  double m = frexp(n, &e), z = (m - 1) / (m + 1), power = z, sum = 0;
  for (int k = 1; k <= LOG_TERMS; k += 2) {
    sum += power / k;
    power *= z * z;
  }
  return 2 * sum + e * M_LN2;
}

/* A word in fewer tools has a greater weight. */
static float search_rarity(const search *s) {
  double with = (double)s->touched_count;
  return (float)search_log(1.0 + ((double)s->tools - with + 0.5) / (with + 0.5));
}

static void search_score_term(search *s, const search_term *t) {
  char buf[LT_WORD_MAX_BYTES];
  lt_str text = search_term_text(t);
  lt_str stem = lt_stemmer_stem(text, buf);
  s->touched_count = 0;
  search_take_longer(s, text, stem);
  search_take_forms(s, text, stem);
  if (!t->joined) {
    search_take_shorter(s, text, stem);
  }
  float rare = search_rarity(s);
  for (size_t i = 0; i < s->touched_count; i++) {
    uint32_t tool = s->touched[i];
    float found = s->found[tool];
    s->scores[tool] += rare * found * (SATURATION + 1) / (found + SATURATION);
    s->found[tool] = 0;
  }
}

/* --- The best results --------------------------------------------------------------------------------------------- */
static bool search_is_better(search_hit a, search_hit b) {
  return a.score != b.score ? a.score > b.score : a.tool < b.tool;
}

static int search_compare_hits(const void *a, const void *b) {
  const search_hit *x = a;
  const search_hit *y = b;
  return search_is_better(*y, *x) - search_is_better(*x, *y);
}

/* Restores the heap, worst on top, from `at` downwards. */
static void search_sink(search_hit *heap, size_t n, size_t at) {
  for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    child += child + 1 < n && search_is_better(heap[child], heap[child + 1]);
    if (!search_is_better(heap[at], heap[child])) {
      return;
    }
    search_hit swap = heap[at];
    heap[at] = heap[child];
    heap[child] = swap;
    at = child;
  }
}

/* Keeps the best `max` in a heap: thousands of tools may have a common word, and few are wanted. */
static size_t search_best_hits(const search *s, search_hit *heap, size_t max) {
  size_t n = 0;
  for (uint32_t tool = 0; tool < s->tools; tool++) {
    if (s->scores[tool] <= 0) {
      continue;
    }
    /* In millionths, so that a rounding error decides nothing: equal tools are in the order of ids. */
    search_hit h = {.score = (uint64_t)(s->scores[tool] * 1e6F) + 1, .tool = tool};
    if (n < max) {
      heap[n++] = h;
      for (size_t at = n / 2; n == max && at-- > 0;) {
        search_sink(heap, n, at);
      }
    } else if (search_is_better(h, heap[0])) {
      heap[0] = h;
      search_sink(heap, n, 0);
    }
  }
  qsort(heap, n, sizeof *heap, search_compare_hits);
  return n;
}

static size_t search_everything(const lt_catalog *catalog, uint32_t *ret_indices, size_t max) {
  size_t n = lt_catalog_count(catalog);
  n = n < max ? n : max;
  for (size_t i = 0; i < n; i++) {
    ret_indices[i] = (uint32_t)i;
  }
  return n;
}

static size_t search_rank(search *s, const search_query *q, search_hit *hits, uint32_t *ret_indices, size_t max) {
  for (size_t i = 0; i < q->count; i++) {
    search_score_term(s, &q->terms[i]);
  }
  size_t n = search_best_hits(s, hits, max);
  for (size_t i = 0; i < n; i++) {
    ret_indices[i] = hits[i].tool;
  }
  return n;
}

size_t lt_catalog_search(const lt_catalog *catalog, lt_str text, uint32_t *ret_indices, size_t max) {
  search_query q;
  search_read_query(text, &q);
  if (q.count == 0) { /* "*" asks for everything too */
    return search_everything(catalog, ret_indices, max);
  }
  search s = {.index = lt_catalog_index(catalog), .tools = lt_catalog_count(catalog)};
  if (s.index == NULL || s.tools == 0 || max == 0) {
    return 0;
  }
  max = max < s.tools ? max : s.tools;
  s.found = lt_mem_zalloc(s.tools, sizeof *s.found + sizeof *s.scores + sizeof *s.touched);
  search_hit *hits = lt_mem_alloc(max * sizeof *hits);
  size_t written = 0;
  if (s.found != NULL && hits != NULL) {
    s.scores = s.found + s.tools;
    s.touched = (uint32_t *)(s.scores + s.tools);
    written = search_rank(&s, &q, hits, ret_indices, max);
  }
  lt_mem_free(hits);
  lt_mem_free(s.found);
  return written;
}
