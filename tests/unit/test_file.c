/* Replacing a file: whole or not at all, and nothing left beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/limits.h"

#define NOBODY 65534

static char folder[] = "/tmp/lathe-test-file-XXXXXX";
static char file[64];

static int enter(void **state) {
  (void)state;
  strcpy(folder + sizeof folder - sizeof "XXXXXX", "XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/file", folder);
  return 0;
}

static int leave(void **state) {
  (void)state;
  static const char *const names[] = {"/file", "/other", "/a/b/file", "/a/b", "/a", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[80];
    snprintf(path, sizeof path, "%s%s", folder, names[i]);
    (void)!remove(path);
  }
  return access(folder, F_OK) == 0; /* something was left in it */
}

static void replace(const char *path, const char *text, mode_t mode) {
  const lt_file_replace_options options = {.mode = mode, .is_synced = true};
  assert_int_equal(lt_file_replace(path, lt_str_of(text), mode ? &options : NULL, NULL), LT_OK);
}

static void has(const char *path, const char *text, mode_t mode) {
  struct stat st;
  LT_AUTO_BUF(found, LT_MIB);
  assert_int_equal(lt_file_read(path, &found, NULL), LT_OK);
  assert_true(lt_str_eqc(lt_buf_view(&found), text));
  assert_int_equal(lstat(path, &st), 0);
  assert_int_equal(st.st_mode, S_IFREG | mode);
}

static size_t count_files(void) {
  size_t count = 0;
  DIR *all = opendir(folder);
  assert_non_null(all);
  for (const struct dirent *entry; (entry = readdir(all)) != NULL;) {
    count += entry->d_name[0] != '.';
  }
  closedir(all);
  return count;
}

static void content_and_mode_are_new(void **state) {
  (void)state;
  mode_t umask_of_test = umask(0);
  replace(file, "first", 0);
  has(file, "first", 0600);
  umask(077);
  replace(file, "second, and longer", 0644);
  has(file, "second, and longer", 0644);
  replace(file, "", 0);
  has(file, "", 0600);
  umask(umask_of_test);
  assert_int_equal(count_files(), 1);
}

static void a_link_is_replaced_and_its_target_kept(void **state) {
  (void)state;
  char other[80];
  snprintf(other, sizeof other, "%s/other", folder);
  replace(other, "somebody else's", 0);
  assert_int_equal(symlink(other, file), 0);
  replace(file, "ours", 0);
  has(file, "ours", 0600);
  has(other, "somebody else's", 0600);
}

static void folders_are_made_for_this_user_only(void **state) {
  (void)state;
  char path[80];
  struct stat st;
  lt_err err = LT_ERR_INIT;
  snprintf(path, sizeof path, "%s/a/b/file", folder);
  assert_int_equal(lt_file_replace(path, LT_STR("x"), NULL, &err), LT_E_IO);
  assert_non_null(strstr(err.msg, path));
  assert_non_null(strstr(err.msg, "No such file or directory"));
  mode_t umask_of_test = umask(0);
  lt_file_make_folders(path);
  lt_file_make_folders(path);
  umask(umask_of_test);
  replace(path, "x", 0);
  has(path, "x", 0600);
  *strrchr(path, '/') = '\0';
  assert_true(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
}

/* Runs a check in a process of its own, which may lose rights. */
static void in_child(int (*check)(void)) {
  int status = -1;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    _exit(check());
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

static int fails_with(const char *words) {
  lt_err err = LT_ERR_INIT;
  char text[20000];
  memset(text, 'x', sizeof text);
  lt_status status = lt_file_replace(file, lt_str_from(text, sizeof text), NULL, &err);
  bool is_right = status == LT_E_IO && strstr(err.msg, file) != NULL && strstr(err.msg, words) != NULL;
  return is_right ? 0 : fprintf(stderr, "%d: %s\n", status, err.msg) > 0;
}

static int fails_without_permission(void) {
  if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
    return 2;
  }
  return fails_with("Permission denied");
}

static void a_folder_that_cannot_be_written_keeps_the_old_file(void **state) {
  (void)state;
  replace(file, "old", 0);
  assert_int_equal(chmod(folder, 0555), 0);
  in_child(fails_without_permission);
  assert_int_equal(chmod(folder, 0700), 0);
  has(file, "old", 0600);
  assert_int_equal(count_files(), 1);
}

/* The write stops in the middle, as on a disk that gets full. */
static int fails_with_limited_size(void) {
  const struct rlimit limit = {8192, 8192};
  signal(SIGXFSZ, SIG_IGN);
  return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? fails_with("File too large") : 2;
}

static void a_write_that_fails_half_way_keeps_the_old_file(void **state) {
  (void)state;
  replace(file, "old", 0);
  in_child(fails_with_limited_size);
  has(file, "old", 0600);
  assert_int_equal(count_files(), 1);
}

static int replaces_often(void) {
  for (int i = 0; i < 200; i++) {
    char text[4097] = "";
    memset(text, 'a' + i % 26, (size_t)(i % 2 ? 4096 : 1000));
    if (lt_file_replace(file, lt_str_of(text), NULL, NULL) != LT_OK) {
      return 1;
    }
  }
  return 0;
}

static bool is_whole(lt_str text) {
  size_t same = 0;
  while (same < text.n && text.p[same] == text.p[0]) {
    same++;
  }
  return same == text.n && (text.n == 1000 || text.n == 4096);
}

static void several_writers_and_a_reader_at_once(void **state) {
  (void)state;
  assert_int_equal(replaces_often(), 0);
  for (int i = 0; i < 2; i++) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      _exit(replaces_often());
    }
  }
  for (int ended = 0; ended < 2;) {
    LT_AUTO_BUF(text, LT_MIB);
    int status = 0;
    assert_int_equal(lt_file_read(file, &text, NULL), LT_OK);
    assert_true(is_whole(lt_buf_view(&text)));
    ended += waitpid(-1, &status, WNOHANG) > 0;
    assert_int_equal(status, 0);
  }
  assert_int_equal(count_files(), 1);
}

static void a_name_that_is_too_long_is_an_error(void **state) {
  (void)state;
  char path[5000];
  memset(path, '/', sizeof path);
  path[sizeof path - 1] = '\0';
  assert_int_equal(lt_file_replace(path, LT_STR("x"), NULL, NULL), LT_E_IO);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(content_and_mode_are_new),
      IN_FOLDER(a_link_is_replaced_and_its_target_kept),
      IN_FOLDER(folders_are_made_for_this_user_only),
      IN_FOLDER(a_folder_that_cannot_be_written_keeps_the_old_file),
      IN_FOLDER(a_write_that_fails_half_way_keeps_the_old_file),
      IN_FOLDER(several_writers_and_a_reader_at_once),
      IN_FOLDER(a_name_that_is_too_long_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
