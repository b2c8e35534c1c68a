/* The prompt's listing within a budget, the estimate of tokens, the lists for people and programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "text/tokens.h"
#include "types/typegen.h"

#define TOOLS_MAX 3000

/* --- Generated tools ---------------------------------------------------------------------------------------------- */
static uint32_t seed = 1;

static uint32_t any(uint32_t below) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % below;
}

/* How a generated set is: each number is a maximum. */
typedef struct shape {
  unsigned tools;
  unsigned namespaces;
  unsigned name_bytes;
  unsigned words; /* of a description */
  unsigned odd;   /* one in so many characters and names is an odd one; 0: none is */
} shape;

static const char *const odd_text[] = {
    "\xC3\xA4", "\xE5\x88\x9B", "\xF0\x9F\x9A\x80", "\xff", "\x1b[31m", "\"", "\\", "|",
    "**",       "\n",           "\xE2\x80\xAE",     "\x01"};

static void put_letters(lt_buf *out, unsigned n, unsigned odd) {
  for (unsigned i = 0; i < n; i++) {
    if (odd > 0 && any(odd) == 0) {
      lt_buf_addc(out, odd_text[any(sizeof odd_text / sizeof odd_text[0])]);
    } else {
      lt_buf_byte(out, "abcdefghijklmnopqrstuvwxyz_ABC-"[any(31)]);
    }
  }
}

static lt_str kept(lt_arena *arena, lt_buf *text) {
  lt_str copy = lt_arena_dup(arena, lt_buf_view(text));
  assert_true(copy.p != NULL || text->n == 0);
  lt_buf_clear(text);
  return copy;
}

static lt_str make_description(lt_arena *arena, const shape *s, lt_buf *text) {
  unsigned words = any(4) == 0 ? 0 : any(s->words + 1);
  for (unsigned i = 0; i < words; i++) {
    put_letters(text, 1 + any(9), s->odd);
    lt_buf_addc(text, any(9) == 0 ? ". " : " ");
  }
  return kept(arena, text);
}

static lt_typegen_tool make_tool(lt_arena *arena, const shape *s, unsigned number) {
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  lt_typegen_tool tool = {.ts_name = LT_STR("t"), .ts_type = LT_STR("T"), .input_schema = LT_STR("{}")};
  unsigned ns = number % s->namespaces;
  if (ns > 0 || s->odd == 0) {
    lt_buf_printf(&text, "n%u", ns);
    uint32_t before = seed;
    seed = ns * 7919; /* the same for all tools of it */
    put_letters(&text, any(s->name_bytes), s->odd);
    seed = before;
  }
  tool.ns = kept(arena, &text);
  lt_buf_add(&text, tool.ns);
  lt_buf_addc(&text, tool.ns.n > 0 ? "." : "");
  lt_buf_printf(&text, "t%u", number);
  put_letters(&text, any(s->name_bytes), s->odd);
  tool.id = kept(arena, &text);
  if (s->odd == 0 || any(s->odd) > 0) { /* as long as the id, as a rule */
    for (size_t i = 0; i < tool.id.n; i++) {
      lt_buf_byte(&text, (unsigned char)tool.id.p[i] < 0x80 && tool.id.p[i] >= 'a' ? tool.id.p[i] : '_');
    }
    tool.js_name = kept(arena, &text);
  }
  tool.description = make_description(arena, s, &text);
  lt_buf_release(&text);
  return tool;
}

static size_t make_tools(lt_arena *arena, const shape *s, lt_typegen_tool *tools) {
  for (unsigned i = 0; i < s->tools; i++) {
    tools[i] = make_tool(arena, s, i);
  }
  return s->tools;
}

/* --- The classic definitions -------------------------------------------------------------------------------------- */
static void put_wire_name(lt_json_writer *w, lt_str id) {
  char name[65];
  size_t n = 0;
  for (size_t i = 0; i < id.n && n < 64; i++) {
    bool first = ((unsigned char)id.p[i] & 0xC0) != 0x80;
    name[n] = '_';
    n += first;
  }
  lt_json_put_str(w, lt_str_from(name, n));
}

static void put_classic(lt_json_writer *w, const lt_typegen_tool *tool) {
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_str(w, LT_STR("function"));
  lt_json_key(w, "function");
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  put_wire_name(w, tool->id);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_key(w, "parameters");
  lt_json_put_raw(w, tool->input_schema);
  lt_json_end_object(w);
  lt_json_end_object(w);
}

static size_t classic_bytes(const lt_typegen_tool *tools, size_t count) {
  lt_buf out;
  lt_buf_init(&out, 256 * LT_MIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count; i++) {
    put_classic(&w, &tools[i]);
  }
  lt_json_end_array(&w);
  assert_int_equal(out.status, LT_OK);
  size_t n = out.n;
  lt_buf_release(&out);
  return n;
}

/* --- What holds of every listing ---------------------------------------------------------------------------------- */
static void list(const lt_typegen_tool *tools, size_t count, size_t budget, lt_buf *out) {
  lt_err err = LT_ERR_INIT;
  lt_buf_init(out, 64 * LT_MIB);
  assert_int_equal(lt_typegen_prompt_budget(tools, count, budget, out, &err), LT_OK);
}

static void check_budget(const lt_typegen_tool *tools, size_t count, size_t budget, size_t classic) {
  lt_buf out;
  list(tools, count, budget, &out);
  size_t tokens = lt_tokens_estimate(lt_buf_view(&out));
  size_t allowed = budget < LT_LISTING_TOKENS_MIN ? LT_LISTING_TOKENS_MIN : budget;
  if (out.n > classic || (budget > 0 && tokens > allowed) || (count > 0 && out.n == 0)) {
    fail_msg("%zu tools, budget %zu: %zu tokens, %zu bytes, classic %zu:\n%.400s", count, budget, tokens, out.n,
             classic, out.p);
  }
  if (out.n > 0) {
    assert_int_equal(out.p[out.n - 1], '\n');
    assert_null(memchr(out.p, '\x1b', out.n));
  }
  lt_buf_release(&out);
}

static void check_shape(const shape *s) {
  static lt_typegen_tool tools[TOOLS_MAX];
  static const size_t budgets[] = {0, 1, 64, 100, 400, 1000, 4000, 20000};
  lt_arena arena;
  lt_arena_init(&arena, 256 * LT_MIB);
  size_t count = make_tools(&arena, s, tools);
  size_t classic = classic_bytes(tools, count);
  for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
    check_budget(tools, count, budgets[i], classic);
  }
  lt_arena_release(&arena);
}

static void no_listing_is_longer_than_its_budget_or_the_classic_one(void **state) {
  (void)state;
  for (unsigned turn = 0; turn < 500; turn++) {
    seed = turn;
    shape s = {.tools = any(40), .namespaces = 1 + any(12), .name_bytes = 1 + any(turn % 3 == 0 ? 300 : 40)};
    s.words = turn % 4 == 0 ? 0 : any(60);
    s.odd = turn % 5 == 0 ? 0 : 1 + any(20);
    check_shape(&s);
  }
}

static void one_tool_that_says_nothing_is_listed_all_the_same(void **state) {
  (void)state;
  for (unsigned turn = 0; turn < 500; turn++) {
    seed = turn;
    shape s = {.tools = 1, .namespaces = 1, .name_bytes = 1 + any(200), .odd = any(3)};
    check_shape(&s);
  }
}

static void many_tools_and_many_namespaces_fit_too(void **state) {
  (void)state;
  static const shape shapes[] = {{1000, 1000, 12, 20, 0}, {3000, 1000, 30, 20, 30}, {3000, 1, 20, 20, 0},
                                 {2000, 3, 20, 0, 0},     {1000, 1000, 200, 0, 0},  {500, 10, 15, 300, 0}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    seed = 1;
    check_shape(&shapes[i]);
  }
}

/* --- What is told ------------------------------------------------------------------------------------------------- */
static void use_budget(const lt_typegen_tool *tools, size_t count, size_t budget, const char *want) {
  lt_buf out;
  list(tools, count, budget, &out);
  assert_string_equal(out.p, want);
  lt_buf_release(&out);
}

/* `tools` small ones in namespace `ns`. */
static void add_plain(lt_typegen_tool *tools, size_t *count, const char *ns, unsigned n, char (*names)[2][32]) {
  for (unsigned i = 0; i < n; i++, ++*count) {
    snprintf(names[*count][0], 32, "%s.get%u", ns, i);
    snprintf(names[*count][1], 32, "%sGet%u", ns, i);
    tools[*count] = (lt_typegen_tool){.id = lt_str_of(names[*count][0]),
                                      .ns = lt_str_of(ns),
                                      .js_name = lt_str_of(names[*count][1]),
                                      .description = LT_STR("Gets what was asked for by anybody at all, from the place "
                                                            "where it was left by somebody else a long time ago"),
                                      .input_schema = LT_STR("{}")};
  }
}

static void less_is_told_step_by_step(void **state) {
  (void)state;
  static char names[64][2][32];
  lt_typegen_tool tools[64];
  size_t count = 0;
  add_plain(tools, &count, "a", 2, names);
  use_budget(
      tools, count, 1000,
      "**a**: aGet0 (ID: a.get0) - Gets what was asked for by anybody at all, from the place where it was left by "
      "somebody else a long time ago | aGet1 (ID: a.get1) - Gets what was asked for by anybody at all, from the "
      "place where it was left by somebody else a long time ago\n");
  use_budget(
      tools, count, 70,
      "**a**: aGet0 (ID: a.get0) - Gets what was asked for by anybody at all, from the place where it was left b... | "
      "aGet1 (ID: a.get1) - Gets what was asked for by anybody at all, from the place where it was left b...\n");
  add_plain(tools, &count, "b", 5, names);
  use_budget(tools, count, 80,
             "7 tools: discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n"
             "**a**: aGet0 | aGet1\n**b**: bGet0 | bGet1 | bGet2 | bGet3 | bGet4\n");
  add_plain(tools, &count, "c", 40, names);
  use_budget(tools, count, 90,
             "47 tools: discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n"
             "**a**: aGet0 | aGet1\n**b**: bGet0 | bGet1 | bGet2 | bGet3 | bGet4\n**c**: 40 tools\n");
  use_budget(tools, count, 64,
             "47 tools: discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n"
             "**a**: aGet0 | aGet1\n**b**: 5 tools\n**c**: 40 tools\n");
}

static void of_too_many_namespaces_the_largest_are_told(void **state) {
  (void)state;
  enum { NAMESPACES = 1000 };
  static char ns[NAMESPACES][32];
  static lt_typegen_tool tools[NAMESPACES + 10];
  for (size_t i = 0; i < NAMESPACES + 10; i++) {
    size_t k = i < NAMESPACES ? i : 777; /* which has eleven */
    snprintf(ns[k], sizeof ns[k], "space%03zu", k);
    tools[i] = (lt_typegen_tool){
        .id = lt_str_of(ns[k]), .ns = lt_str_of(ns[k]), .js_name = LT_STR("name"), .input_schema = LT_STR("{}")};
  }
  use_budget(tools, NAMESPACES + 10, 64,
             "1010 tools: discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n"
             "**space000**: 1 tool\n**space001**: 1 tool\n**space777**: 11 tools\n... and 997 more namespaces\n");
}

static void the_order_of_tools_does_not_matter(void **state) {
  (void)state;
  static lt_typegen_tool tools[300];
  lt_arena arena;
  lt_arena_init(&arena, 64 * LT_MIB);
  seed = 5;
  shape s = {.tools = 300, .namespaces = 9, .name_bytes = 20, .words = 20};
  size_t count = make_tools(&arena, &s, tools);
  for (size_t budget = 0; budget < 9000; budget += 1500) {
    lt_buf want;
    list(tools, count, budget, &want);
    for (size_t i = count; i > 1; i--) {
      size_t k = any((uint32_t)i);
      lt_typegen_tool swap = tools[i - 1];
      tools[i - 1] = tools[k];
      tools[k] = swap;
    }
    use_budget(tools, count, budget, want.p);
    lt_buf_release(&want);
  }
  lt_arena_release(&arena);
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  static char names[64][2][32];
  lt_typegen_tool tools[64];
  size_t count = 0;
  add_plain(tools, &count, "a", 20, names);
  add_plain(tools, &count, "b", 30, names);
  long n = 0;
  for (bool failed = true; failed; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_mem_fail_at(n);
    lt_status status = lt_typegen_prompt_budget(tools, count, 200, &out, NULL);
    failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_buf_release(&out);
  }
  assert_true(n > 4);
}

/* --- Tokens ------------------------------------------------------------------------------------------------------- */
/* How many a tokenizer (o200k_base) counts. */
static void tokens_are_about_right(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t real;
  } texts[] = {
      {"Create a new branch in a GitHub repository", 9},
      {"**files**: filesReadTextFile (ID: files.read_text_file) - Read the complete contents of a file as text", 26},
      {"githubCreatePullRequestReview | githubCreateRepository | githubForkRepository", 13},
      {"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}", 19},
      {"export function loadConfig(path: string): Promise<Config>;", 12},
      {"1234567890 and 3.14159", 10},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    size_t got = lt_tokens_estimate(lt_str_of(texts[i].text));
    if (got * 10 < texts[i].real * 9 || got * 10 > texts[i].real * 15) {
      fail_msg("%zu, not about %zu: %s", got, texts[i].real, texts[i].text);
    }
  }
  assert_int_equal(lt_tokens_estimate(LT_STR_NULL), 0);
  assert_int_equal(lt_tokens_estimate(LT_STR("\xE5\x88\x9B\xE5\xBB\xBA")), 2);
  assert_int_equal(lt_tokens_estimate(LT_STR("\x80\xBF")), 0); /* stray bytes: whatever, but no harm */
}

static void lines_add_up(void **state) {
  (void)state;
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  size_t sum = 0;
  for (seed = 3; text.n < 20000;) {
    size_t from = text.n;
    put_letters(&text, any(80), 6);
    lt_buf_byte(&text, '\n');
    for (size_t i = from; i + 1 < text.n; i++) {
      text.p[i] = text.p[i] == '\n' ? ' ' : text.p[i];
    }
    sum += lt_tokens_estimate(lt_str_sub(lt_buf_view(&text), from, text.n));
  }
  /* Empty lines go together, so it may be a little less. */
  assert_in_range(lt_tokens_estimate(lt_buf_view(&text)), sum * 9 / 10, sum);
  lt_buf_release(&text);
}

/* --- Strangers' text ---------------------------------------------------------------------------------------------- */
static void lists_hold_nothing_that_a_terminal_obeys(void **state) {
  (void)state;
  lt_typegen_tool tool = {.id = LT_STR("a.\x1b[2J\x07x\xC2\x9B"),
                          .ns = LT_STR("a"),
                          .js_name = LT_STR("aX"),
                          .description = LT_STR("\n \x1b]0;title\x07Reads\x08 \xE2\x80\xAEit\x9b\t\n\nMore"),
                          .input_schema = LT_STR("{\"\xC2\x9B\":\"\x7f\xE2\x80\xAE\"}")};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_typegen_lines(&tool, 1, &out, NULL), LT_OK);
  assert_string_equal(out.p, "a.x  aX  Reads it\xEF\xBF\xBD\n");
  lt_buf_clear(&out);
  assert_int_equal(lt_typegen_json(&tool, 1, &out, NULL), LT_OK);
  for (size_t i = 0; i < out.n; i++) {
    assert_true((unsigned char)out.p[i] >= 0x20 && out.p[i] != 0x7f);
  }
  assert_null(strstr(out.p, "\xC2\x9B"));
  assert_non_null(strstr(out.p, "{\"\\u009b\":\"\\u007f\\u202e\"}"));
  lt_buf_release(&out);
}

static void long_descriptions_are_cut_for_people_and_whole_for_programs(void **state) {
  (void)state;
  static char text[50001];
  memset(text, 'x', sizeof text - 1);
  lt_typegen_tool tool = {.id = LT_STR("a.b"), .ns = LT_STR("a"), .description = lt_str_of(text)};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_typegen_lines(&tool, 1, &out, NULL), LT_OK);
  assert_int_equal(out.n, strlen("a.b  -  \n") + LT_TYPEGEN_LINE_MAX_CHARS);
  lt_buf_clear(&out);
  assert_int_equal(lt_typegen_prompt(&tool, 1, &out, NULL), LT_OK);
  assert_true(out.n < 300);
  lt_buf_clear(&out);
  assert_int_equal(lt_typegen_json(&tool, 1, &out, NULL), LT_OK);
  assert_non_null(strstr(out.p, text));
  lt_buf_release(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_listing_is_longer_than_its_budget_or_the_classic_one),
      cmocka_unit_test(one_tool_that_says_nothing_is_listed_all_the_same),
      cmocka_unit_test(many_tools_and_many_namespaces_fit_too),
      cmocka_unit_test(less_is_told_step_by_step),
      cmocka_unit_test(of_too_many_namespaces_the_largest_are_told),
      cmocka_unit_test(the_order_of_tools_does_not_matter),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(tokens_are_about_right),
      cmocka_unit_test(lines_add_up),
      cmocka_unit_test(lists_hold_nothing_that_a_terminal_obeys),
      cmocka_unit_test(long_descriptions_are_cut_for_people_and_whole_for_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
