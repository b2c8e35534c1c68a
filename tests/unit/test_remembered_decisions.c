/* Decisions that hold for later calls: which calls they fit, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/remembered_decisions.h"

static void remember(lt_remembered_decisions *memory, const char *tool, const char *input, bool is_approved,
                     lt_remember how) {
  const lt_decision decision = {
      .is_approved = is_approved, .reason = LT_STR("so"), .input = LT_STR("{\"e\":1}"), .remember = how};
  lt_remembered_decisions_add(memory, lt_str_of(tool), lt_str_of(input), &decision);
}

/* 'y', 'n', or '?': a person is asked. */
static char find(const lt_remembered_decisions *memory, const char *tool, const char *input) {
  lt_decision found;
  bool known = lt_remembered_decisions_find(memory, lt_str_of(tool), lt_str_of(input), &found);
  return !known ? '?' : found.is_approved ? 'y' : 'n';
}

static void test_nothing_is_remembered_unless_asked_to(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  remember(&memory, "a.b", "{}", true, LT_REMEMBER_NOTHING);
  assert_int_equal(find(&memory, "a.b", "{}"), '?');
  lt_remembered_decisions_release(&memory);
}

/* Equal arguments are equal values: not equal bytes, and nothing that only looks alike. */
static void test_a_call_is_its_arguments(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  remember(&memory, "a.b", "{\"x\":[1,{\"y\":\"\\u0041\"}],\"z\":null}", true, LT_REMEMBER_CALL);
  const char *const same[] = {"{ \"z\": null, \"x\": [1, {\"y\": \"A\"}] }"};
  const char *const others[] = {
      "{}",
      "{\"x\":[1,{\"y\":\"A\"}]}",
      "{\"x\":[1,{\"y\":\"a\"}],\"z\":null}",
      "{\"x\":[1,{\"y\":\"A\"}],\"z\":null,\"w\":1}",
      "{\"x\":[{\"y\":\"A\"},1],\"z\":null}",
      "{\"x\":[1,{\"y\":\"A\"}],\"x\":[2],\"z\":null}",
      "{\"x\":[1,{\"y\":\"A\"}],\"z\":false}",
      "not JSON",
  };
  assert_int_equal(find(&memory, "a.b", same[0]), 'y');
  assert_int_equal(find(&memory, "a.c", same[0]), '?');
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_int_equal(find(&memory, "a.b", others[i]), '?');
  }
  lt_remembered_decisions_release(&memory);
}

/* {"x":1,"x":1} has as many members as {"x":1,"y":9}, and each of them is there. */
static void test_a_repeated_key_hides_nothing(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  remember(&memory, "a.b", "{\"x\":1,\"x\":1}", true, LT_REMEMBER_CALL);
  assert_int_equal(find(&memory, "a.b", "{\"x\":1,\"y\":9}"), '?');
  remember(&memory, "a.b", "{\"x\":1,\"y\":9}", true, LT_REMEMBER_CALL);
  assert_int_equal(find(&memory, "a.b", "{\"y\":9,\"y\":9}"), '?');
  lt_remembered_decisions_release(&memory);
}

static void test_an_edit_holds_for_equal_arguments_only(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  lt_decision found;
  remember(&memory, "a.b", "{\"x\":1}", true, LT_REMEMBER_CALL);
  assert_true(lt_remembered_decisions_find(&memory, LT_STR("a.b"), LT_STR("{\"x\":1}"), &found));
  assert_true(lt_str_eqc(found.input, "{\"e\":1}"));
  remember(&memory, "a.b", "{\"x\":1}", true, LT_REMEMBER_TOOL);
  assert_true(lt_remembered_decisions_find(&memory, LT_STR("a.b"), LT_STR("{\"x\":1}"), &found));
  assert_int_equal(found.input.n, 0);
  lt_remembered_decisions_release(&memory);
}

static void test_the_newest_counts(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  remember(&memory, "a.b", "{}", true, LT_REMEMBER_SESSION);
  remember(&memory, "a.b", "{\"x\":1}", false, LT_REMEMBER_CALL);
  assert_int_equal(find(&memory, "a.b", "{\"x\":1}"), 'n');
  assert_int_equal(find(&memory, "a.b", "{\"x\":2}"), 'y');
  remember(&memory, "a.b", "{}", false, LT_REMEMBER_TOOL);
  assert_int_equal(find(&memory, "a.b", "{\"x\":2}"), 'n');
  lt_remembered_decisions_release(&memory);
}

static void test_deep_inputs_are_asked_about(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  char left[402] = "", right[403] = "";
  memset(left, '[', 200);
  memset(left + 200, ']', 200);
  memcpy(right + 1, left, 400);
  right[0] = ' ';
  remember(&memory, "a.b", left, true, LT_REMEMBER_CALL);
  assert_int_equal(find(&memory, "a.b", left), 'y');
  assert_int_equal(find(&memory, "a.b", right), '?');
  lt_remembered_decisions_release(&memory);
}

static void test_the_memory_has_an_end(void **state) {
  (void)state;
  lt_remembered_decisions memory = {0};
  char tool[32];
  for (size_t i = 0; i < LT_REMEMBERED_MAX + 10; i++) {
    snprintf(tool, sizeof tool, "t.%zu", i);
    remember(&memory, tool, "{}", true, LT_REMEMBER_TOOL);
  }
  assert_int_equal(memory.count, LT_REMEMBERED_MAX);
  assert_int_equal(find(&memory, "t.1", "{}"), 'y');
  assert_int_equal(find(&memory, tool, "{}"), '?');
  lt_remembered_decisions_release(&memory);
}

static void test_without_memory_a_person_is_asked(void **state) {
  (void)state;
  for (long n = 0; n < 8; n++) {
    lt_remembered_decisions memory = {0};
    lt_mem_fail_at(n);
    remember(&memory, "a.b", "{}", true, LT_REMEMBER_CALL);
    lt_mem_fail_at(-1);
    char found = find(&memory, "a.b", "{}");
    assert_true(found == '?' || found == 'y');
    lt_remembered_decisions_release(&memory);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_remembered_unless_asked_to),
      cmocka_unit_test(test_a_call_is_its_arguments),
      cmocka_unit_test(test_a_repeated_key_hides_nothing),
      cmocka_unit_test(test_an_edit_holds_for_equal_arguments_only),
      cmocka_unit_test(test_the_newest_counts),
      cmocka_unit_test(test_deep_inputs_are_asked_about),
      cmocka_unit_test(test_the_memory_has_an_end),
      cmocka_unit_test(test_without_memory_a_person_is_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
