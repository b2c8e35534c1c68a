/* Building the index: one long list notes every tool's words, tool by tool. Sorted by word, a range of the list is a
 * word's postings. */
#include "tool/search/search_index.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "tool/search/stemmer.h"

/* The fields of a tool, the weight of a word in each (BM25F's weights), and the effect of the field's length (BM25F's
 * b). */
typedef enum search_field { IN_NAME, IN_NS, IN_LEAD, IN_TEXT, IN_PARAMETER, IN_PARAMETER_TEXT, FIELDS } search_field;
static const float weights[FIELDS] = {4.0F, 1.5F, 2.0F, 1.0F, 1.5F, 0.5F};
static const float length_matters[FIELDS] = {0.5F, 0.0F, 0.2F, 0.5F, 0.5F, 0.6F};

#define FIELD_BITS 3
#define LEAD_WORDS 12 /* the first words of a description say what the tool does; the rest says how to use it */
#define NO_WORD    UINT32_MAX

typedef struct search_occurrence {
  uint32_t word;
  uint32_t tool_and_field;
} search_occurrence;

typedef struct search_index_builder {
  lt_arena *arena;      /* the index's */
  lt_arena scratch;     /* one schema at a time */
  lt_index_word *words; /* in the order they came */
  uint32_t word_count;
  uint32_t word_room;
  uint32_t *slots; /* of a hash table: index + 1, or 0 */
  uint32_t slot_count;
  search_occurrence *list;
  uint32_t count;
  uint32_t room;
  uint32_t *lengths; /* tools x FIELDS: words */
  float mean[FIELDS];
  /* the tool at hand */
  uint32_t tool;
  uint32_t field;
  uint32_t quota; /* words that the tool may still add, in this field or a later one */
  bool only_joined;
  size_t schema_left; /* bytes of schemas that may still be read, of all tools */
  bool failed;        /* no memory */
} search_index_builder;

/* --- The list of words -------------------------------------------------------------------------------------------- */
/* A list with twice the room. NULL without memory: the list stays as it was. */
static void *search_index_grown(void *list, uint32_t *room, size_t size) {
  uint32_t more = *room > 0 ? *room * 2 : 1024;
  void *larger = lt_mem_realloc(list, more * size);
  *room = larger != NULL ? more : *room;
  return larger;
}

static bool search_index_room_for_word(search_index_builder *b) {
  if (b->word_count < b->word_room) {
    return true;
  }
  lt_index_word *words = search_index_grown(b->words, &b->word_room, sizeof *words);
  b->words = words != NULL ? words : b->words;
  return words != NULL;
}

static bool search_index_room_for_occurrence(search_index_builder *b) {
  if (b->count < b->room) {
    return true;
  }
  search_occurrence *list = search_index_grown(b->list, &b->room, sizeof *list);
  b->list = list != NULL ? list : b->list;
  return list != NULL;
}

static uint32_t *search_index_slot_of(const search_index_builder *b, lt_str word) {
  uint32_t at = (uint32_t)lt_str_hash(word) & (b->slot_count - 1);
  while (b->slots[at] != 0 && !lt_str_eq(b->words[b->slots[at] - 1].text, word)) {
    at = (at + 1) & (b->slot_count - 1);
  }
  return &b->slots[at];
}

/* Makes twice the slots, at least twice as many as words. */
static bool search_index_rehash(search_index_builder *b) {
  uint32_t *old = b->slots;
  uint32_t wider = b->slot_count > 0 ? b->slot_count * 2 : 4096;
  uint32_t *slots = lt_mem_zalloc(wider, sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  b->slots = slots;
  b->slot_count = wider;
  for (uint32_t i = 0; i < b->word_count; i++) {
    *search_index_slot_of(b, b->words[i].text) = i + 1;
  }
  lt_mem_free(old);
  return true;
}

static bool search_index_set_stem(search_index_builder *b, lt_index_word *word) {
  char buf[LT_WORD_MAX_BYTES];
  lt_str stem = lt_stemmer_stem(word->text, buf);
  word->stem = lt_str_starts(word->text, stem) ? lt_str_sub(word->text, 0, stem.n) : lt_arena_dup(b->arena, stem);
  return word->stem.p != NULL;
}

/* The number of a word, new or known; NO_WORD without memory. */
static uint32_t search_index_number_of(search_index_builder *b, lt_str text) {
  if (b->word_count * 2 >= b->slot_count && !search_index_rehash(b)) {
    return NO_WORD;
  }
  uint32_t *slot = search_index_slot_of(b, text);
  if (*slot != 0) {
    return *slot - 1;
  }
  if (!search_index_room_for_word(b)) {
    return NO_WORD;
  }
  lt_index_word word = {.text = lt_arena_dup(b->arena, text)};
  if (word.text.p == NULL || !search_index_set_stem(b, &word)) {
    return NO_WORD;
  }
  b->words[b->word_count++] = word;
  *slot = b->word_count;
  return *slot - 1;
}

/* --- A tool's words ----------------------------------------------------------------------------------------------- */
static bool search_index_add_word(void *arg, lt_str text, bool joined) {
  search_index_builder *b = arg;
  if (b->only_joined && !joined) {
    return true;
  }
  if (b->quota == 0) {
    return false;
  }
  uint32_t word = search_index_number_of(b, text);
  if (word == NO_WORD || !search_index_room_for_occurrence(b)) {
    b->failed = true;
    return false;
  }
  uint32_t *length = &b->lengths[(size_t)b->tool * FIELDS + b->field];
  if (b->field == IN_LEAD && *length == LEAD_WORDS) {
    b->field = IN_TEXT;
    length++;
  }
  b->list[b->count++] = (search_occurrence){.word = word, .tool_and_field = b->tool << FIELD_BITS | b->field};
  b->quota--;
  ++*length;
  return true;
}

static void search_index_add_text(search_index_builder *b, search_field where, lt_str text) {
  b->field = where;
  lt_stemmer_each_word(text, search_index_add_word, b);
}

static void search_index_add_string(search_index_builder *b, search_field where, lt_json v) {
  lt_str text;
  if (lt_json_typeof(v) == LT_JSON_STRING && lt_json_str(v, &b->scratch, &text)) {
    search_index_add_text(b, where, text);
  }
}

static void search_index_add_schema(search_index_builder *b, lt_json schema, unsigned depth);

static void search_index_add_properties(search_index_builder *b, lt_json properties, unsigned depth) {
  lt_json_iter it = lt_json_each(properties);
  while (b->quota > 0 && lt_json_next(&it)) {
    lt_str name;
    if (lt_json_exists(it.key) && lt_json_str(it.key, &b->scratch, &name)) {
      search_index_add_text(b, IN_PARAMETER, name);
      search_index_add_schema(b, it.value, depth + 1);
    }
  }
}

/* Adds names, descriptions and enum values, at any depth of the schema. */
static void search_index_add_schema(search_index_builder *b, lt_json schema, unsigned depth) {
  lt_json_iter it = lt_json_each(schema);
  while (depth < LT_SEARCH_DEPTH_MAX && b->quota > 0 && lt_json_next(&it)) {
    lt_str key = lt_json_exists(it.key) ? lt_json_text(it.key) : LT_STR_NULL;
    if (lt_str_eqc(key, "\"properties\"")) {
      search_index_add_properties(b, it.value, depth);
    } else if (lt_str_eqc(key, "\"description\"") || lt_str_eqc(key, "\"const\"")) {
      search_index_add_string(b, IN_PARAMETER_TEXT, it.value);
    } else if (lt_str_eqc(key, "\"enum\"")) {
      lt_json_iter choice = lt_json_each(it.value);
      while (lt_json_next(&choice)) {
        search_index_add_string(b, IN_PARAMETER_TEXT, choice.value);
      }
    } else {
      search_index_add_schema(b, it.value, depth + 1);
    }
  }
}

static void search_index_add_json(search_index_builder *b, lt_str text,
                                  void (*add)(search_index_builder *b, lt_json root)) {
  lt_json_doc doc;
  if (text.n == 0 || text.n > b->schema_left) {
    return;
  }
  b->schema_left -= text.n;
  if (lt_json_parse(&b->scratch, text, &doc, NULL) == LT_OK) { /* a broken schema adds no names */
    add(b, lt_json_root(&doc));
  }
  lt_arena_release(&b->scratch);
}

static void search_index_add_input(search_index_builder *b, lt_json root) {
  search_index_add_schema(b, root, 0);
}

static void search_index_add_title(search_index_builder *b, lt_json root) {
  search_index_add_string(b, IN_TEXT, lt_json_get(root, "title"));
}

/* A description gets half of a tool's words: a long one must not crowd out the parameters. */
static void search_index_add_tool(search_index_builder *b, const lt_tool *tool, uint32_t share) {
  b->quota = share;
  search_index_add_text(b, IN_NAME, tool->name);
  search_index_add_text(b, IN_NS, tool->ns);
  b->only_joined = true; /* an id or a JavaScript name, pasted as a whole */
  search_index_add_text(b, IN_NAME, tool->id);
  b->only_joined = false;
  uint32_t rest = b->quota / 2;
  b->quota -= rest;
  search_index_add_text(b, IN_LEAD, tool->description);
  b->quota += rest;
  search_index_add_json(b, tool->annotations, search_index_add_title);
  search_index_add_json(b, tool->input_schema, search_index_add_input);
}

/* --- Postings ----------------------------------------------------------------------------------------------------- */
static void search_index_measure_lengths(search_index_builder *b, size_t tools) {
  for (unsigned f = 0; f < FIELDS; f++) {
    double sum = 0;
    for (size_t i = 0; i < tools; i++) {
      sum += b->lengths[i * FIELDS + f];
    }
    b->mean[f] = sum > 0 ? (float)(sum / (double)tools) : 1.0F;
  }
}

static float search_index_weight_of(const search_index_builder *b, uint32_t tool_and_field) {
  uint32_t tool = tool_and_field >> FIELD_BITS;
  uint32_t f = tool_and_field & ((1U << FIELD_BITS) - 1);
  float length = (float)b->lengths[(size_t)tool * FIELDS + f];
  return weights[f] / (1.0F - length_matters[f] + length_matters[f] * length / b->mean[f]);
}

/* Stable, so that each word's tools stay in order. Leaves each word's number of occurrences in its `count`. */
static search_occurrence *search_index_sort_by_word(search_index_builder *b) {
  search_occurrence *sorted = lt_mem_alloc((b->count + 1) * sizeof *sorted);
  uint32_t *next = lt_mem_zalloc(b->word_count + 1, sizeof *next);
  if (sorted != NULL && next != NULL) {
    for (uint32_t i = 0; i < b->count; i++) {
      b->words[b->list[i].word].count++;
    }
    for (uint32_t i = 0, sum = 0; i < b->word_count; i++) {
      next[i] = sum;
      sum += b->words[i].count;
    }
    for (uint32_t i = 0; i < b->count; i++) {
      sorted[next[b->list[i].word]++] = b->list[i];
    }
  } else {
    lt_mem_free(sorted);
    sorted = NULL;
  }
  lt_mem_free(next);
  return sorted;
}

/* Makes the postings of a word of its occurrences, one per tool; returns their number. */
static uint32_t search_index_post(const search_index_builder *b, const search_occurrence *from, uint32_t n,
                                  lt_posting *postings) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t tool = from[i].tool_and_field >> FIELD_BITS;
    if (count == 0 || postings[count - 1].tool != tool) {
      postings[count++] = (lt_posting){.tool = tool};
    }
    postings[count - 1].weight += search_index_weight_of(b, from[i].tool_and_field);
  }
  return count;
}

static bool search_index_make_postings(search_index_builder *b) {
  search_occurrence *sorted = search_index_sort_by_word(b);
  lt_posting *all = lt_arena_alloc(b->arena, (b->count + 1) * sizeof *all);
  for (uint32_t i = 0, at = 0, used = 0; sorted != NULL && all != NULL && i < b->word_count; i++) {
    lt_index_word *word = &b->words[i];
    uint32_t n = word->count;
    word->postings = all + used;
    word->count = search_index_post(b, sorted + at, n, all + used);
    used += word->count;
    at += n;
  }
  bool made = sorted != NULL && all != NULL;
  lt_mem_free(sorted);
  return made;
}

/* --- The index ---------------------------------------------------------------------------------------------------- */
static int search_index_compare_words(const void *a, const void *b) {
  return lt_str_cmp(((const lt_index_word *)a)->text, ((const lt_index_word *)b)->text);
}

static int search_index_compare_stems(const void *a, const void *b, void *arg) {
  const lt_index_word *words = arg;
  uint32_t x = *(const uint32_t *)a;
  uint32_t y = *(const uint32_t *)b;
  int order = lt_str_cmp(words[x].stem, words[y].stem);
  return order != 0 ? order : (x > y) - (x < y);
}

static bool search_index_make_order(const search_index_builder *b, lt_search_index *index) {
  lt_index_word *words = lt_arena_alloc(b->arena, (b->word_count + 1) * sizeof *words);
  uint32_t *by_stem = lt_arena_alloc(b->arena, (b->word_count + 1) * sizeof *by_stem);
  if (words == NULL || by_stem == NULL) {
    return false;
  }
  if (b->word_count > 0) {
    memcpy(words, b->words, b->word_count * sizeof *words);
  }
  qsort(words, b->word_count, sizeof *words, search_index_compare_words);
  for (uint32_t i = 0; i < b->word_count; i++) {
    by_stem[i] = i;
  }
  qsort_r(by_stem, b->word_count, sizeof *by_stem, search_index_compare_stems, words);
  index->words = words;
  index->by_stem = by_stem;
  index->count = b->word_count;
  return true;
}

static bool search_index_build(search_index_builder *b, const lt_tool *tools, size_t count, lt_search_index *index) {
  b->lengths = lt_mem_zalloc(count + 1, FIELDS * sizeof *b->lengths);
  if (b->lengths == NULL) {
    return false;
  }
  size_t share = LT_SEARCH_WORDS_MAX / (count + 1);
  uint32_t words = (uint32_t)(share < LT_SEARCH_TOOL_WORDS_MAX ? share : LT_SEARCH_TOOL_WORDS_MAX);
  for (b->tool = 0; b->tool < count && !b->failed; b->tool++) {
    search_index_add_tool(b, &tools[b->tool], words);
  }
  search_index_measure_lengths(b, count);
  return !b->failed && search_index_make_postings(b) && search_index_make_order(b, index);
}

lt_search_index *lt_search_index_new(const lt_tool *tools, size_t count) {
  lt_search_index *index = lt_mem_zalloc(1, sizeof *index);
  if (index == NULL) {
    return NULL;
  }
  lt_arena_init(&index->arena, LT_SEARCH_MEMORY_BYTES);
  search_index_builder b = {.arena = &index->arena, .schema_left = LT_SEARCH_SCHEMAS_MAX_BYTES};
  lt_arena_init(&b.scratch, LT_SEARCH_MEMORY_BYTES);
  bool built = search_index_build(&b, tools, count, index);
  lt_arena_release(&b.scratch);
  lt_mem_free(b.lengths);
  lt_mem_free(b.list);
  lt_mem_free(b.slots);
  lt_mem_free(b.words);
  if (!built) {
    lt_search_index_free(index);
    return NULL;
  }
  return index;
}

void lt_search_index_free(lt_search_index *index) {
  if (index != NULL) {
    lt_arena_release(&index->arena);
    lt_mem_free(index);
  }
}

static lt_str search_index_key_at(const lt_search_index *index, bool stems, uint32_t i) {
  return stems ? index->words[index->by_stem[i]].stem : index->words[i].text;
}

static uint32_t search_index_lower_bound(const lt_search_index *index, bool stems, lt_str key) {
  uint32_t from = 0;
  uint32_t to = index->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (lt_str_cmp(search_index_key_at(index, stems, middle), key) < 0) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

uint32_t lt_search_index_find(const lt_search_index *index, lt_str text) {
  return search_index_lower_bound(index, false, text);
}

uint32_t lt_search_index_find_stem(const lt_search_index *index, lt_str stem) {
  return search_index_lower_bound(index, true, stem);
}
