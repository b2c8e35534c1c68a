/* The exit to the store: whatever is recorded has no secrets, and JSON stays JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/masked_records.h"

#define SECRET "s3cr3t-value-42"

typedef struct kept_records {
  lt_journal journal;
  lt_artifacts artifacts;
  char text[1000];
  size_t failures;
} kept_records;

static kept_records kept;

static void keep(lt_str text) {
  size_t n = strlen(kept.text);
  snprintf(kept.text + n, sizeof kept.text - n, "%.*s;", LT_STR_ARG(text));
}

static lt_status keep_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  (void)self, (void)err;
  keep(call->tool);
  keep(call->input);
  keep(call->edited_input);
  *ret_id = 7;
  return LT_OK;
}

static lt_status keep_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) {
  (void)self, (void)err, (void)status;
  assert_int_equal(id, 7);
  keep(answer);
  return LT_OK;
}

static void keep_note(lt_journal *self, lt_str run, const lt_note *note, void (*on_failure)(void *, const lt_err *),
                      void *arg) {
  (void)self, (void)run, (void)on_failure, (void)arg;
  keep(note->text);
}

static lt_status keep_artifact(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) {
  (void)self, (void)err;
  keep(artifact->type);
  keep(artifact->description);
  keep(artifact->mime_type);
  keep(artifact->data);
  lt_buf_addc(ret_id, "a1");
  return LT_OK;
}

static void on_failure(void *arg, const lt_err *err) {
  (void)arg, (void)err;
  kept.failures++;
}

/* Records in all ways. Without memory fewer records are kept, but none with a secret. */
static void record_all(const lt_secrets *secrets) {
  kept = (kept_records){.journal = {.begin = keep_begin, .finish = keep_finish, .note = keep_note},
                        .artifacts = {.put = keep_artifact}};
  lt_masked_journal masked;
  lt_masked_artifacts masked_artifacts;
  lt_journal *journal = lt_masked_records_journal(&masked, &kept.journal, secrets);
  lt_artifacts *artifacts = lt_masked_records_artifacts(&masked_artifacts, &kept.artifacts, secrets);
  const lt_journal_call call = {.tool = LT_STR("x " SECRET),
                                .input = LT_STR("{\"a\":\"" SECRET "\",\"n\":98765432}"),
                                .edited_input = LT_STR("[98765432]")};
  const lt_note note = {.text = LT_STR("{\"k\":98765432}")}, words = {.text = LT_STR("name\n" SECRET)};
  const lt_artifact artifact = {.type = LT_STR("t"),
                                .description = LT_STR("of " SECRET),
                                .mime_type = LT_STR("text/" SECRET),
                                .data = LT_STR("data " SECRET)};
  int64_t id;
  lt_buf ret_id;
  lt_buf_init(&ret_id, LT_KIB);
  (void)journal->begin(journal, &call, &id, NULL);
  (void)journal->finish(journal, 7, LT_OK, LT_STR("98765432"), NULL);
  (void)journal->finish(journal, 7, LT_E_TOOL, LT_STR("no " SECRET), NULL);
  journal->note(journal, LT_STR("r"), &note, on_failure, NULL);
  journal->note(journal, LT_STR("r"), &words, NULL, NULL);
  (void)artifacts->put(artifacts, &artifact, &ret_id, NULL);
  assert_null(journal->recall);
  lt_buf_release(&ret_id);
}

static void nothing_is_kept_with_a_secret(void **state) {
  (void)state;
  lt_secrets *secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(secrets, LT_STR(SECRET)), LT_OK);
  assert_int_equal(lt_secrets_add(secrets, LT_STR("98765432")), LT_OK);
  record_all(secrets);
  assert_string_equal(kept.text,
                      "x ***;{\"a\":\"***\",\"n\":\"***\"};[\"***\"];\"***\";no ***;{\"k\":\"***\"};name\n***;"
                      "t;of ***;text/***;data ***;");
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    record_all(secrets);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_null(strstr(kept.text, SECRET));
    assert_null(strstr(kept.text, "98765432"));
    if (!failed) {
      assert_true(n > 5);
      break;
    }
  }
  lt_secrets_free(secrets);
}

static void without_secrets_all_is_kept(void **state) {
  (void)state;
  record_all(NULL);
  assert_non_null(strstr(kept.text, "\"n\":98765432"));
  assert_int_equal(kept.failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_kept_with_a_secret),
      cmocka_unit_test(without_secrets_all_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
