#include "agent/history/history_search.h"

#include "base/limits.h"
#include "base/utf8.h"

#define CUT "..."

typedef struct search_page {
  lt_history_search *search;
  lt_arena *arena;
  lt_json_writer *w;
  lt_json prompt;
} search_page;

/* --- One text ----------------------------------------------------------------------------------------------------- */
static bool search_may_begin(char a, char b) {
  return ((a ^ b) & ~0x20) == 0; /* the same letter, or not worth a closer look */
}

static size_t search_find(lt_str text, lt_str word) {
  for (size_t at = 0; word.n > 0 && word.n <= text.n && at <= text.n - word.n; at++) {
    if (search_may_begin(text.p[at], word.p[0]) && lt_str_eq_fold(lt_str_sub(text, at, at + word.n), word)) {
      return at;
    }
  }
  return SIZE_MAX;
}

/* Takes the next word of a query. False: there is none. */
static bool search_next_word(lt_str *rest, lt_str *ret_word) {
  *rest = lt_str_trim(*rest);
  size_t end = 0;
  while (end < rest->n && (unsigned char)rest->p[end] > ' ') {
    end++;
  }
  *ret_word = lt_str_sub(*rest, 0, end);
  *rest = lt_str_sub(*rest, end, rest->n);
  return end > 0;
}

/* Where a text has the query: all of it, or, when it has every word, the longest one. SIZE_MAX: it does not match. */
static size_t search_place_in(lt_str text, lt_str query) {
  size_t place = search_find(text, query), longest = 0;
  lt_str rest = query, word;
  if (place != SIZE_MAX) {
    return place;
  }
  while (search_next_word(&rest, &word)) {
    size_t at = search_find(text, word);
    if (at == SIZE_MAX) {
      return SIZE_MAX;
    }
    place = word.n > longest ? at : place;
    longest = word.n > longest ? word.n : longest;
  }
  return place;
}

/* A third of the excerpt is what stands before the match. */
static void search_put_excerpt(lt_json_writer *w, lt_str text, size_t place) {
  LT_AUTO_BUF(excerpt, LT_CONVERSATION_EXCERPT_BYTES + 2 * sizeof CUT);
  size_t before = LT_CONVERSATION_EXCERPT_BYTES / 3;
  size_t from = place > before ? lt_utf8_ceil(text, place - before) : 0;
  size_t to = lt_utf8_floor(text, from + LT_CONVERSATION_EXCERPT_BYTES);
  lt_buf_addc(&excerpt, from > 0 ? CUT : "");
  lt_buf_add(&excerpt, lt_str_sub(text, from, to));
  lt_buf_addc(&excerpt, to < text.n ? CUT : "");
  lt_json_put_str(w, lt_buf_view(&excerpt));
  w->buf->status = lt_status_first(w->buf->status, excerpt.status);
}

static void search_look_in(search_page *page, lt_str by, lt_str text) {
  lt_history_search *s = page->search;
  size_t place = s->found < s->max ? search_place_in(text, s->query) : SIZE_MAX;
  if (place == SIZE_MAX) {
    return;
  }
  s->found++;
  lt_json_begin_object(page->w);
  lt_json_key(page->w, "message");
  lt_json_put_int(page->w, s->number);
  lt_json_key(page->w, "at");
  lt_json_put_raw(page->w, lt_json_text(lt_json_get(page->prompt, "createdAt")));
  lt_json_put_pair(page->w, "by", by);
  lt_json_key(page->w, "text");
  search_put_excerpt(page->w, text, place);
  lt_json_end_object(page->w);
}

/* --- A page ------------------------------------------------------------------------------------------------------- */
/* The characters of a string; empty when it is none. */
static lt_str search_read(search_page *page, lt_json value) {
  lt_str text = LT_STR("");
  if (lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, page->arena, &text)) {
    page->w->buf->status = lt_status_first(page->w->buf->status, LT_E_NOMEM);
  }
  return text;
}

/* A value's characters, or its JSON. */
static lt_str search_text_of(search_page *page, lt_json value) {
  return lt_json_typeof(value) == LT_JSON_STRING ? search_read(page, value) : lt_json_text(value);
}

static void search_look_in_call(search_page *page, lt_json output) {
  lt_str tool = search_read(page, lt_json_get(output, "function"));
  lt_json result = lt_json_get(output, "result");
  lt_json answer = lt_json_get(result, "output");
  if (lt_str_eq(tool, page->search->own)) {
    return;
  }
  search_look_in(page, tool, search_text_of(page, lt_json_get(output, "input")));
  search_look_in(page, tool, search_text_of(page, lt_json_exists(answer) ? answer : lt_json_get(result, "error")));
}

static void search_look_in_prompt(search_page *page) {
  search_look_in(page, LT_STR("user"), search_read(page, lt_json_get(page->prompt, "input")));
  lt_json_iter it = lt_json_each(lt_json_get(page->prompt, "output"));
  while (lt_json_next(&it)) {
    lt_json type = lt_json_get(it.value, "type");
    if (lt_json_str_eq(type, LT_STR("text"))) {
      search_look_in(page, LT_STR("assistant"), search_read(page, lt_json_get(it.value, "content")));
    } else if (lt_json_str_eq(type, LT_STR("tool"))) {
      search_look_in_call(page, it.value);
    }
  }
}

static void search_go_back_to(search_page *page) {
  lt_str id = search_read(page, lt_json_get(page->prompt, "id"));
  size_t n = id.n <= LT_STORE_ID_BYTES ? id.n : 0;
  memcpy(page->search->before, n > 0 ? id.p : "", n);
  page->search->before[n] = '\0';
  page->search->number--;
}

lt_status lt_history_search_put(lt_history_search *search, lt_str prompts, lt_json_writer *w, size_t *ret_count,
                                lt_err *err) {
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  search_page page = {.search = search, .arena = &arena, .w = w};
  lt_json_doc doc;
  size_t n = 0;
  LT_TRY(lt_json_parse(&arena, prompts, &doc, err));
  lt_json root = lt_json_root(&doc);
  if (lt_json_typeof(root) != LT_JSON_ARRAY) {
    return lt_fail(err, LT_E_SYNTAX, "the conversation's history is no array");
  }
  *ret_count = lt_json_count(root);
  lt_json *found = lt_arena_zalloc(&arena, *ret_count + 1, sizeof *found);
  if (found == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to search the conversation");
  }
  for (lt_json_iter it = lt_json_each(root); lt_json_next(&it);) {
    found[n++] = it.value;
  }
  while (n > 0 && search->found < search->max) {
    page.prompt = found[--n];
    search_go_back_to(&page);
    search_look_in_prompt(&page);
  }
  return lt_buf_check(w->buf, err, "no memory to search the conversation");
}
