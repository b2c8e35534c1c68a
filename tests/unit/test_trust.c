/* The list of trusted files: what is kept, and what counts for nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/trust.h"
#include "base/mem.h"

#define HASH  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static char folder[] = "/tmp/lathe-test-trust-XXXXXX";
static char list[128];

static int enter(void **state) {
  (void)state;
  strcpy(folder + sizeof folder - sizeof "XXXXXX", "XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(list, sizeof list, "%s/lathe/trust", folder);
  return setenv("XDG_STATE_HOME", folder, 1);
}

static int leave(void **state) {
  (void)state;
  char path[160];
  static const char *const names[] = {"lathe/trust", "lathe/trust.lock", "lathe", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)!remove(path);
  }
  return 0;
}

static lt_config_trust trust_of(const char *path, const char *hash) {
  lt_trust trust;
  lt_err err = LT_ERR_INIT;
  const lt_config_file file = {.path = path, .hash = hash};
  if (lt_trust_read(&trust, &err) != LT_OK) {
    lt_trust_release(&trust);
    return LT_CONFIG_NOT_TRUSTED;
  }
  lt_config_trust verdict = lt_trust_of(&trust, &file);
  lt_trust_release(&trust);
  return verdict;
}

static void add(const char *path, const char *hash) {
  lt_err err = LT_ERR_INIT;
  const lt_config_file file = {.path = path, .hash = hash};
  if (lt_trust_add(&file, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
}

static void write_list(const char *text) {
  FILE *file = fopen(list, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void a_file_is_trusted_by_path_and_content(void **state) {
  (void)state;
  assert_int_equal(trust_of("/a", HASH), LT_CONFIG_NOT_TRUSTED);
  add("/a", HASH);
  add("/b", HASH);
  assert_int_equal(trust_of("/a", HASH), LT_CONFIG_TRUSTED);
  assert_int_equal(trust_of("/a", OTHER), LT_CONFIG_CHANGED);
  assert_int_equal(trust_of("/c", HASH), LT_CONFIG_NOT_TRUSTED);
  add("/a", OTHER);
  assert_int_equal(trust_of("/a", HASH), LT_CONFIG_CHANGED);
  assert_int_equal(lt_trust_revoke("/a", NULL), LT_OK);
  assert_int_equal(trust_of("/a", OTHER), LT_CONFIG_NOT_TRUSTED);
  assert_int_equal(trust_of("/b", HASH), LT_CONFIG_TRUSTED);
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_trust_revoke("/a", &err), LT_E_NOTFOUND);
}

/* A path cannot add a line, end one, or be read as another path. */
static void every_byte_of_a_path_is_kept(void **state) {
  (void)state;
  char path[4] = "/?";
  for (int byte = 1; byte < 256; byte++) {
    path[1] = (char)byte;
    add(path, HASH);
  }
  for (int byte = 1; byte < 256; byte++) {
    path[1] = (char)byte;
    assert_int_equal(trust_of(path, HASH), LT_CONFIG_TRUSTED);
  }
  add("/x\n" OTHER " /etc/y", HASH);
  assert_int_equal(trust_of("/etc/y", OTHER), LT_CONFIG_NOT_TRUSTED);
  assert_int_equal(trust_of("/%2Fetc", HASH), LT_CONFIG_NOT_TRUSTED);
}

static void a_damaged_line_trusts_nothing(void **state) {
  (void)state;
  add("/a", HASH);
  static const char *const bad[] = {
      "lathe trust 1\n" HASH " /a", /* its end is missing: the list was cut off */
      "lathe trust 1\n" HASH "  /a\n",   "lathe trust 1\n" HASH " a\n",
      "lathe trust 1\n" HASH " /a%\n",   "lathe trust 1\n" HASH " /a%0\n",
      "lathe trust 1\n" HASH " /a%00\n", "lathe trust 1\n" HASH " /%6g\n",
      "lathe trust 1\n" HASH "\n",       "lathe trust 1\n /a\n",
      "lathe trust 2\n" HASH " /a\n",    HASH " /a\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_list(bad[i]);
    assert_int_equal(trust_of("/a", HASH), LT_CONFIG_NOT_TRUSTED);
  }
  write_list("lathe trust 1\nnonsense\n" HASH " /a\n\n");
  assert_int_equal(trust_of("/a", HASH), LT_CONFIG_TRUSTED);
}

static void an_unsafe_list_is_an_error(void **state) {
  (void)state;
  lt_trust trust;
  lt_err err = LT_ERR_INIT;
  add("/a", HASH);
  assert_int_equal(chmod(list, 0620), 0);
  assert_int_equal(lt_trust_read(&trust, &err), LT_E_CONFIG);
  lt_trust_release(&trust);
  assert_int_equal(lt_trust_add(&(lt_config_file){.path = "/b", .hash = HASH}, &err), LT_E_CONFIG);
  assert_int_equal(remove(list), 0);
  assert_int_equal(mkfifo(list, 0600), 0); /* does not wait */
  assert_int_equal(lt_trust_read(&trust, &err), LT_E_CONFIG);
  lt_trust_release(&trust);
  setenv("XDG_STATE_HOME", "relative", 1);
  char *home = getenv("HOME");
  char *kept = home != NULL ? lt_mem_strdup(lt_str_of(home)) : NULL;
  unsetenv("HOME");
  assert_int_equal(lt_trust_read(&trust, &err), LT_OK); /* there is no place for it */
  assert_int_equal(trust.count, 0);
  assert_int_equal(lt_trust_add(&(lt_config_file){.path = "/b", .hash = HASH}, &err), LT_E_CONFIG);
  lt_trust_release(&trust);
  if (kept != NULL) {
    setenv("HOME", kept, 1);
    lt_mem_free(kept);
  }
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  add("/a", HASH);
  for (long n = 0;; n++) {
    lt_trust trust;
    lt_err err = LT_ERR_INIT;
    lt_mem_fail_at(n);
    lt_status status = lt_trust_add(&(lt_config_file){.path = "/b", .hash = OTHER}, &err);
    lt_status read = status == LT_OK ? lt_trust_read(&trust, &err) : LT_OK;
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      lt_trust_release(&trust);
    }
    assert_int_equal(trust_of("/a", HASH), LT_CONFIG_TRUSTED);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_int_equal(read, LT_OK);
      return;
    }
    assert_true(status != LT_OK || read != LT_OK);
  }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(a_file_is_trusted_by_path_and_content), IN_FOLDER(every_byte_of_a_path_is_kept),
      IN_FOLDER(a_damaged_line_trusts_nothing),         IN_FOLDER(an_unsafe_list_is_an_error),
      IN_FOLDER(every_failed_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
