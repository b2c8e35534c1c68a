/* The official JSON-Schema-Test-Suite, as Debian's libtest-json-schema-acceptance-perl brings it, or from the folder
 * that LT_JSON_SCHEMA_SUITE names (the one with draft2020-12 in it). Skipped where there is neither.
 *
 * What we do not pass is in the table below, with the reason; what is not needed there any more must be taken out. A
 * case that wants a value refused for what a schema elsewhere says is not listed: nothing is fetched.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "json/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char installed[] = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests";

/* Of a file of a draft: the cases of which group (all of it: NULL), and why. */
static const struct {
  const char *draft;
  const char *file;
  const char *group;
} known[] = {
    /* $vocabulary, in meta-schemas of one's own, turns keywords off: no tool has those. */
    {"draft2020-12", "vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"},
    {"draft2019-09", "vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"},
    /* format is an annotation, unless such a meta-schema says otherwise. */
    {"draft2020-12", "optional/format-assertion.json", NULL},
    /* So are contentMediaType and contentEncoding, from 2019-09 on by specification. */
    {"draft7", "optional/content.json", NULL},
    /* 1.0 is an integer in every draft but this one. */
    {"draft4", "optional/zeroTerminatedFloats.json", NULL},
};

typedef struct tally {
  const char *draft; /* as its folder is called */
  const char *uri;   /* for its schemas that do not say */
  unsigned passed;
  unsigned fetched; /* failed because nothing is fetched */
  unsigned known;
  unsigned failed;
} tally;

static char *read_file(const char *path, size_t *ret_n) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  assert_int_equal(fseek(f, 0, SEEK_END), 0);
  long n = ftell(f);
  assert_true(n >= 0);
  rewind(f);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)n, f), n);
  fclose(f);
  *ret_n = (size_t)n;
  return text;
}

static bool was_needed[COUNT(known)];

static bool is_known(const tally *t, const char *file, lt_json group) {
  for (size_t i = 0; i < COUNT(known); i++) {
    if (strcmp(known[i].draft, t->draft) == 0 && strcmp(known[i].file, file) == 0 &&
        (known[i].group == NULL || lt_json_str_eq(lt_json_get(group, "description"), lt_str_of(known[i].group)))) {
      was_needed[i] = true;
      return true;
    }
  }
  return false;
}

/* The suite's older schemas do not say which draft they are of. */
static lt_schema *compile(const tally *t, lt_json json, lt_err *err) {
  lt_schema *schema = NULL;
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  lt_str plain = lt_json_text(json);
  if (lt_json_typeof(json) == LT_JSON_OBJECT && !lt_json_exists(lt_json_get(json, "$schema"))) {
    lt_buf_printf(&text, "{\"$schema\":\"%s\"%s", t->uri, lt_json_count(json) > 0 ? "," : "");
    lt_buf_add(&text, lt_str_sub(plain, 1, plain.n));
  } else {
    lt_buf_add(&text, plain);
  }
  lt_schema_new(lt_buf_view(&text), &schema, err);
  lt_buf_release(&text);
  return schema;
}

static bool is_fetching(const lt_schema *schema, bool want) {
  return !want && schema != NULL && lt_str_find(lt_schema_notes(schema), LT_STR("is not fetched"), 0) != SIZE_MAX;
}

static void run_case(tally *t, const char *file, lt_json group, const lt_schema *schema, lt_json test) {
  lt_buf faults;
  lt_buf_init(&faults, LT_MIB);
  bool want = lt_json_bool(lt_json_get(test, "valid"), false);
  lt_status status = LT_E_SYNTAX;
  if (schema != NULL) {
    status = lt_schema_check(schema, lt_json_get(test, "data"), LT_STR("data"), &faults, NULL);
    assert_int_equal(status == LT_E_INVALID, faults.n > 0);
  }
  if (status == (want ? LT_OK : LT_E_INVALID)) {
    t->passed++;
  } else if (is_known(t, file, group)) {
    t->known++;
  } else if (is_fetching(schema, want)) {
    t->fetched++;
  } else {
    t->failed++;
    print_error("%s/%s: %.*s, %.*s: %s%.*s\n", t->draft, file,
                LT_STR_ARG(lt_json_text(lt_json_get(group, "description"))),
                LT_STR_ARG(lt_json_text(lt_json_get(test, "description"))), lt_status_text(status),
                LT_STR_ARG(lt_buf_view(&faults)));
  }
  lt_buf_release(&faults);
}

static void run_group(tally *t, const char *file, lt_json group) {
  lt_err err = LT_ERR_INIT;
  lt_schema *schema = compile(t, lt_json_get(group, "schema"), &err);
  if (schema == NULL) {
    print_error("%s/%s: %s\n", t->draft, file, lt_err_msg(&err));
  }
  lt_json_iter it = lt_json_each(lt_json_get(group, "tests"));
  while (lt_json_next(&it)) {
    run_case(t, file, group, schema, it.value);
  }
  lt_schema_free(schema);
}

static void run_file(tally *t, const char *folder, const char *file) {
  char path[2000];
  size_t n;
  lt_arena arena;
  lt_json_doc doc;
  snprintf(path, sizeof(path), "%s/%s", folder, file);
  char *text = read_file(path, &n);
  lt_arena_init(&arena, 64 * LT_MIB);
  assert_int_equal(lt_json_parse(&arena, (lt_str){text, n}, &doc, NULL), LT_OK);
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    run_group(t, file, it.value);
  }
  lt_arena_release(&arena);
  free(text);
}

/* The files of <folder>/<inside>. */
static void run_files(tally *t, const char *folder, const char *inside) {
  char path[1000];
  snprintf(path, sizeof(path), "%s/%s", folder, inside);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char file[600];
    snprintf(file, sizeof(file), "%s%s", inside, entry->d_name);
    if (lt_str_ends(lt_str_of(entry->d_name), LT_STR(".json"))) {
      run_file(t, folder, file);
    }
  }
  closedir(dir);
}

static void run_draft(tally *t, const char *suite) {
  char folder[800];
  snprintf(folder, sizeof(folder), "%s/%s", suite, t->draft);
  run_files(t, folder, "");
  run_files(t, folder, "optional/");
  print_message("%s: %u pass, %u need another document, %u known not to, %u fail\n", t->draft, t->passed, t->fetched,
                t->known, t->failed);
}

static void test_suite(void **state) {
  (void)state;
  tally drafts[] = {
      {.draft = "draft2020-12", .uri = "https://json-schema.org/draft/2020-12/schema"},
      {.draft = "draft2019-09", .uri = "https://json-schema.org/draft/2019-09/schema"},
      {.draft = "draft7", .uri = "http://json-schema.org/draft-07/schema#"},
      {.draft = "draft6", .uri = "http://json-schema.org/draft-06/schema#"},
      {.draft = "draft4", .uri = "http://json-schema.org/draft-04/schema#"},
  };
  const char *suite = getenv("LT_JSON_SCHEMA_SUITE");
  DIR *dir = opendir(suite != NULL ? suite : installed);
  if (dir == NULL) {
    assert_null(suite);
    print_message("no test suite here: install libtest-json-schema-acceptance-perl\n");
    skip();
  }
  closedir(dir);
  unsigned failed = 0;
  for (size_t i = 0; i < COUNT(drafts); i++) {
    run_draft(&drafts[i], suite != NULL ? suite : installed);
    failed += drafts[i].failed;
    assert_true(drafts[i].passed > 500);
  }
  for (size_t i = 0; i < COUNT(known) && suite == NULL; i++) {
    assert_true(was_needed[i]);
  }
  assert_int_equal(failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_suite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
