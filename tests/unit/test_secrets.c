/* Secrets: found however they are written, masked once, never let through for want of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "text/secret_name.h"
#include "text/secrets.h"

static lt_secrets *secrets_of(const char *const *values) {
  lt_secrets *s = lt_secrets_new();
  assert_non_null(s);
  for (; *values != NULL; values++) {
    assert_int_equal(lt_secrets_add(s, lt_str_of(*values)), LT_OK);
  }
  return s;
}

static void expect(const lt_secrets *s, const char *text, const char *masked) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_secrets_mask(s, lt_str_of(text), &out);
  assert_string_equal(out.p != NULL ? out.p : "", masked);
  assert_int_equal(lt_secrets_in(s, lt_str_of(text)), strcmp(text, masked) != 0);
  lt_buf_clear(&out);
  lt_buf_addc(&out, text);
  lt_secrets_mask_buf(s, &out);
  assert_string_equal(out.p != NULL ? out.p : "", masked);
  lt_buf_release(&out);
}

static void values_are_masked(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"hunter2!", "hunter2!-longer", "short", "", "sixsix", NULL});
  expect(s, "", "");
  expect(s, "nothing here, hunter2 neither", "nothing here, hunter2 neither");
  expect(s, "hunter2!", "***");
  expect(s, "<hunter2!><hunter2!hunter2!>", "<***><******>");
  expect(s, "hunter2!-longer and hunter2!-long.", "*** and ***-long.");
  expect(s, "hunthunter2!", "hunt***");
  expect(s, "short sixsix sixsi", "short *** sixsi");
  expect(NULL, "hunter2!", "hunter2!");
  lt_secrets_free(s);
  lt_secrets_free(NULL);
}

static void json_may_escape_as_it_likes(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"a/b+c=d", "q\"\\\n\xc3\xbc-x", "\xf0\x9f\x94\x91-key", NULL});
  expect(s, "a/b+c=d", "***");
  expect(s, "{\"k\":\"a\\/b+c=d\"}", "{\"k\":\"***\"}");
  expect(s, "\"a\\/b\\u002bc\\u003Dd\"", "\"***\"");
  expect(s, "\"\\u0061\\u002Fb\\u002bc=\\u0064!\"", "\"***!\"");
  expect(s, "raw q\"\\\n\xc3\xbc-x", "raw ***");
  expect(s, "\"q\\\"\\\\\\n\xc3\xbc-x\"", "\"***\"");
  expect(s, "\"q\\u0022\\u005c\\u000a\\u00FC-x\"", "\"***\"");
  expect(s, "\"\\ud83d\\udd11-key\"", "\"***\"");
  expect(s, "\"\xf0\x9f\x94\x91-key\"", "\"***\"");
  expect(s, "\"{\\\"k\\\":\\\"q\\\\\\\"\\\\\\\\\\\\n\xc3\xbc-x\\\"}\"",
         "\"{\\\"k\\\":\\\"***\\\"}\""); /* JSON in JSON */
  const char *near[] = {"a\\/b\\u002", "a\\", "\\ud83d\\u0041-key", "\\ud83d", "\\u00zz", "\\ud83d\\udd11", "\\"};
  for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
    expect(s, near[i], near[i]);
  }
  lt_secrets_free(s);
}

static void expect_json(const lt_secrets *s, const char *json, const char *masked) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_secrets_mask_json(s, lt_str_of(json), &out);
  assert_string_equal(out.p, masked);
  lt_buf_release(&out);
}

static void json_stays_json(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"1234567", "tok\"en-x", "false,\"b\"", NULL});
  expect_json(s, "{\"a\":1}", "{\"a\":1}");
  expect_json(s, "{\"a\":1234567,\"b\":[\"x1234567\",1234567]}", "{\"a\":\"***\",\"b\":[\"x***\",\"***\"]}");
  expect_json(s, "{\"1234567\":\"\\\\\",\"c\":1234567}", "{\"***\":\"\\\\\",\"c\":\"***\"}");
  expect_json(s, "[\"tok\\\"en-x\",1234567]", "[\"***\",\"***\"]");
  expect_json(s, "[91234567]", "\"[9***]\"");
  expect_json(s, "{\"a\":false,\"b\":1}", "\"{\\\"a\\\":***:1}\"");
  expect_json(s, "1234567", "\"***\"");
  lt_secrets_free(s);
}

static void a_cut_secret_is_one(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"0123456789abcdef", NULL});
  expect(s, "01234567", "***");
  expect(s, "x 0123456789abcde", "x ***");
  expect(s, "x \"0123456789abc...\" (cut)", "x \"***...\" (cut)");
  expect(s, "0123456", "0123456");
  expect(s, "0123456...", "0123456...");
  expect(s, "0123456789 and", "0123456789 and");
  lt_secrets_free(s);
}

static void other_forms_are_masked(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"a/b+c=d", "100% safe%21", NULL});
  expect(s, "a%2Fb%2bc%3dd", "***");
  expect(s, "%61%2f%62+c=%64!", "***!");
  expect(s, "100% safe%21", "***");
  expect(s, "100%25%20safe%2521", "***");
  expect(s, "<YS9iK2M9ZA==> YS9iK2M9ZA", "<***> ***");
  expect(s, "eDphL2IrYz1kIQ==", "eDp***IQ=="); /* x:...! */
  const char *near[] = {"%6", "%", "%zz", "a%2Fb%2", "100%25%20s", "100%"};
  for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
    expect(s, near[i], near[i]);
  }
  lt_secrets_free(s);
}

static void parts_are_masked(void **state) {
  (void)state;
  lt_secrets *s =
      secrets_of((const char *const[]){" key\r\n-----BEGIN X-----\nline-one\nlatest\nab\n", "Basic Ym9iOmJhc2ljLXB3",
                                       "db://bob:in-a-url@h?x=1&key=in-pair&max_key=100000", "node:latest",
                                       "https://t/?auth=$(command)", "bob:behind-it", NULL});
  expect(s, "line-one latest ab -----BEGIN X----- key", "*** latest ab -----BEGIN X----- key");
  expect(s, "Ym9iOmJhc2ljLXB3 bob:basic-pw basic-pw", "*** *** ***");
  expect(s, "bob in-a-url x=1 in-pair 100000", "bob *** x=1 *** 100000");
  expect(s, "node $(command) behind-it", "node $(command) ***");
  lt_secrets_free(s);
  s = lt_secrets_new();
  assert_int_equal(lt_secrets_add_url(s, LT_STR("https://h/v1?key=in-query&x=other-one")), LT_OK);
  assert_int_equal(lt_secrets_add_url(s, LT_STR("pw://a:b@c://@://:@=key=&key=;://u:@;key='")), LT_OK);
  expect(s, "https://h/v1?key=in-query&x=other-one", "https://h/v1?key=***&x=other-one");
  lt_secrets_free(s);
}

static void parts_that_fail_are_reported(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    lt_secrets *s = lt_secrets_new();
    lt_mem_fail_at(n);
    lt_status status = lt_secrets_add(s, LT_STR("Basic Ym9iOmJhc2ljLXB3\n{\"key\":\"db://u:p%20ssword@h\"}"));
    status = status == LT_OK ? lt_secrets_add(s, LT_STR("{\"key\":\"db://u:p%20ssword@h\"}")) : status;
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_secrets_free(s);
    if (!failed) {
      assert_true(n > 10);
      return;
    }
  }
}

static void every_cut_of_a_text_is_safe(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"a/b+c=d", "\xf0\x9f\x94\x91-key", NULL});
  lt_str text = LT_STR("\\u0061\\/b\\u002bc=d \\ud83d\\udd11-key %61%2Fb%2bc=%64");
  for (size_t from = 0; from < text.n; from++) {
    for (size_t to = from; to <= text.n; to++) {
      char *copy =
          lt_mem_strdup(lt_str_sub(text, from, to)); /* its own allocation: a sanitizer sees each step past it */
      lt_buf out;
      lt_buf_init(&out, LT_KIB);
      lt_secrets_mask(s, lt_str_from(copy, to - from), &out);
      assert_int_equal(out.status, LT_OK);
      lt_buf_release(&out);
      lt_mem_free(copy);
    }
  }
  lt_secrets_free(s);
}

/* The text in pieces, the first of `first` bytes, is masked as the whole text is. Nothing of a secret is handed on
 * before it is complete. */
static void expect_in_pieces(const lt_secrets *s, lt_str text, size_t first, size_t step) {
  lt_buf whole, out, held;
  lt_buf_init(&whole, LT_KIB);
  lt_buf_init(&out, LT_KIB);
  lt_buf_init(&held, LT_KIB);
  lt_secrets_mask(s, text, &whole);
  for (size_t at = 0, n = first; at < text.n; at += n, n = step) {
    lt_buf_add(&held, lt_str_sub(text, at, at + n));
    lt_buf_consume(&held, lt_secrets_mask_piece(s, lt_buf_view(&held), &out));
    assert_true(held.n <= 64);
    if (!lt_str_starts(lt_buf_view(&whole), lt_buf_view(&out))) {
      fail_msg("%.*s cut at %zu, then %zu: %.*s", LT_STR_ARG(text), first, step, LT_STR_ARG(lt_buf_view(&out)));
    }
  }
  lt_secrets_mask(s, lt_buf_view(&held), &out);
  assert_true(lt_str_eq(lt_buf_view(&out), lt_buf_view(&whole)));
  lt_buf_release(&whole);
  lt_buf_release(&out);
  lt_buf_release(&held);
}

static void pieces_are_masked_as_the_whole_text(void **state) {
  (void)state;
  lt_secrets *s = secrets_of((const char *const[]){"hunter2!", "hunter2!-longer", "a/b+c=d", "\xf0\x9f\x94\x91-key",
                                                   "a.long.secret.value", NULL});
  const char *texts[] = {
      "hunter2!",
      "it is hunter2! or hunter2!-longer, hunter2!-long, hunthunter2!hunter2 hunter",
      "\\u0061\\/b\\u002bc=d \\ud83d\\udd11-key %61%2Fb%2bc=%64 \\\\ \\u00 %",
      "{\"k\":\"\\ud83d\\udd11-key\"} aHVudGVyMiE= YTovYg==",
      "a.long.s... a.long.. a.long.secret.v a.long.secret.value... a.long.",
      "no secret, 100 % and \\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    lt_str text = lt_str_of(texts[i]);
    for (size_t first = 1; first <= text.n; first++) {
      expect_in_pieces(s, text, first, 1);
      expect_in_pieces(s, text, first, 3);
      expect_in_pieces(s, text, first, text.n);
    }
  }
  expect_in_pieces(NULL, LT_STR("nothing is held back"), 3, 2);
  lt_secrets_free(s);
}

static void there_is_a_limit(void **state) {
  (void)state;
  lt_secrets *s = lt_secrets_new();
  char value[32];
  lt_status status = LT_OK;
  int added = 0;
  for (; status == LT_OK && added <= LT_SECRETS_MAX; added++) {
    snprintf(value, sizeof value, "secret-%d", added);
    status = lt_secrets_add(s, lt_str_of(value));
  }
  assert_int_equal(status, LT_E_LIMIT);
  assert_true(added > LT_SECRETS_MAX / 16);                       /* each has several forms */
  assert_int_equal(lt_secrets_add(s, LT_STR("secret-7")), LT_OK); /* there already */
  lt_secrets_free(s);
}

static void without_memory_nothing_is_shown(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_KIB);
    lt_secrets *s = secrets_of((const char *const[]){"hunter2!", NULL});
    lt_buf_addc(&out, "it is hunter2!");
    lt_mem_fail_at(n);
    lt_secrets_mask_buf(s, &out);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_true(out.p == NULL || strstr(out.p, "hunter") == NULL);
    assert_int_equal(out.status, failed ? LT_E_NOMEM : LT_OK);
    lt_buf_release(&out);
    lt_secrets_free(s);
    if (!failed) {
      assert_true(n > 0);
      return;
    }
  }
}

static void names_sound_or_do_not(void **state) {
  (void)state;
  const char *yes[] = {"API_KEY",
                       "apiKey",
                       "X-Api-Key",
                       "GITHUB_TOKEN",
                       "githubToken",
                       "DB_PASSWORD",
                       "PASS",
                       "dbPasswd",
                       "Authorization",
                       "AUTH",
                       "Cookie",
                       "MY_SECRET",
                       "GITHUB_PAT",
                       "key",
                       "AWS_SECRET_ACCESS_KEY",
                       "private_key",
                       "Proxy-Authorization",
                       "CREDENTIALS"};
  const char *no[] = {"",        "KEYBOARD",   "MONKEY",  "GIT_AUTHOR_NAME", "AUTHORITY", "PATH", "BYPASS",
                      "PASSAGE", "COMPATIBLE", "PATTERN", "keyed",           "MODE",      "URL"};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
    if (!lt_secret_name_sounds(lt_str_of(yes[i]))) {
      fail_msg("%s", yes[i]);
    }
  }
  for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
    if (lt_secret_name_sounds(lt_str_of(no[i]))) {
      fail_msg("%s", no[i]);
    }
  }
}

static void a_set_grows_while_it_is_read(void **state) {
  (void)state;
  lt_secrets *s = lt_secrets_new();
  assert_int_equal(lt_secrets_add(s, LT_STR("first-secret-value")), LT_OK);
  for (unsigned i = 0; i < 3; i++) {
    char added[64];
    snprintf(added, sizeof added, "added-secret-value-%u", i);
    lt_secrets *grown = lt_secrets_copy(s);
    assert_non_null(grown);
    assert_int_equal(lt_secrets_add(grown, lt_str_of(added)), LT_OK);
    assert_false(lt_secrets_in(s, lt_str_of(added)));
    lt_secrets_replace(s, grown);
    assert_true(lt_secrets_in(s, lt_str_of(added)));
    assert_true(lt_secrets_in(s, LT_STR("first-secret-value")));
    assert_true(lt_secrets_in(s, LT_STR("added-secret-value-0")));
    lt_secrets *same = lt_secrets_copy(s);
    assert_non_null(same);
    assert_int_equal(lt_secrets_add(same, lt_str_of(added)), LT_OK);
    lt_secrets_replace(s, same); /* freed, as it has nothing new */
  }
  lt_buf out;
  lt_buf_init(&out, LT_KIB);
  lt_secrets_mask(s, LT_STR("a first-secret-value, an added-secret-value-2"), &out);
  lt_secrets_mask_json(s, LT_STR("[\"added-secret-value-1\"]"), &out);
  assert_true(lt_str_eqc(lt_buf_view(&out), "a ***, an ***[\"***\"]"));
  lt_buf_release(&out);
  lt_secrets *unused = lt_secrets_copy(s);
  lt_secrets_free(unused);
  assert_true(lt_secrets_in(s, LT_STR("first-secret-value")));
  lt_secrets_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_masked),
      cmocka_unit_test(json_may_escape_as_it_likes),
      cmocka_unit_test(json_stays_json),
      cmocka_unit_test(a_cut_secret_is_one),
      cmocka_unit_test(other_forms_are_masked),
      cmocka_unit_test(parts_are_masked),
      cmocka_unit_test(parts_that_fail_are_reported),
      cmocka_unit_test(every_cut_of_a_text_is_safe),
      cmocka_unit_test(pieces_are_masked_as_the_whole_text),
      cmocka_unit_test(there_is_a_limit),
      cmocka_unit_test(a_set_grows_while_it_is_read),
      cmocka_unit_test(without_memory_nothing_is_shown),
      cmocka_unit_test(names_sound_or_do_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
