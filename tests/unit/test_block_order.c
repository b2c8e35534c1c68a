/* What programs change of an image lies together: a program gets few pages of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"

/* Pages of the image that a box has for itself. */
static unsigned count_pages(lt_box *box) {
  lt_box_pages pages = {.has_begun = false};
  ptrdiff_t start = box->image->head.start, end = box->image->head.size;
  unsigned found = 0;
  while (lt_box_next_pages(box, &pages)) {
    for (size_t i = 0; i < pages.count; i++) {
      ptrdiff_t at = pages.from + pages.owned[i] * (ptrdiff_t)LT_IMAGE_PAGE;
      found += at >= start && at < end;
    }
  }
  return found;
}

/* In a box that has no pages from other programs. */
static unsigned pages_of(const char *code) {
  lt_box *box = NULL;
  fake_host host;
  lt_engine_result result;
  fake_host_init(&host);
  lt_engine_result_init(&result);
  assert_int_equal(lt_box_new(&engine_image, &box, NULL), LT_OK);
  fake_run(&host, box, &(lt_program){.code = lt_str_of(code), .file = LT_STR("program.js")}, &result);
  assert_int_not_equal(result.ending, LT_END_ERROR);
  unsigned pages = count_pages(box);
  lt_box_free(box);
  lt_engine_result_release(&result);
  fake_host_clear(&host);
  return pages;
}

/* As the engine lays its blocks out, the first would have 35 pages, and the others 55 to 60. */
static void small_programs_change_few_pages(void **state) {
  static const struct {
    const char *code;
    unsigned most;
  } cases[] = {
      {"1 + 2", 15},
      {"console.log('hello', {a: [1, 2]}); 'x'", 30},
      {"const squares = [3, 1, 2].sort().map((n) => n * n), o = {a: squares, b: 't'}; JSON.stringify(o)", 30},
      {"const r = 'a,b'.split(',').map((x) => x.toUpperCase()).join('-'), m = new Map([[1, 2]]);\n"
       "/b(c)/.exec('abcd')[1] + r + m.get(1)",
       30},
  };
  (void)state;
  if (engine_image.page_map < 0) {
    skip(); /* the system does not tell */
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unsigned pages = pages_of(cases[i].code);
    if (pages == 0 || pages > cases[i].most) {
      fail_msg("%u pages instead of %u at most: are usual_programs.js usual?\n%s", pages, cases[i].most, cases[i].code);
    }
  }
}

/* The blocks of each size are used up, freed and used again. */
static void blocks_of_all_sizes(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "let sum = 0;\n"
      "for (let round = 0; round < 3; round++) {\n"
      "  const kept = [];\n"
      "  for (let n = 0; n < 600; n++) {\n"
      "    for (let i = 0; i < 20; i++) kept.push(('x'.repeat(n) + i).slice(1));\n"
      "    kept.push({[`key${n}`]: new Array(n % 60).fill(n)});\n"
      "    if (n % 7 === 0) kept.splice(0, kept.length / 2);\n"
      "  }\n"
      "  for (const it of kept) sum += typeof it === 'string' ? it.length : Object.values(it)[0].length;\n"
      "}\n"
      "sum",
      "394152");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_programs_change_few_pages),
      cmocka_unit_test(blocks_of_all_sizes),
  };
  return cmocka_run_group_tests(tests, engine_open, engine_close);
}
