/* Removing what a program has left: as an ordinary user, whom rights that the program took from itself can stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/loop.h"
#include "jail/jail.h"
#include "runner/python/python_folder_move.h"
#include "runner/python/python_open_files.h"
#include "runner/remove_folder.h"

#define ORDINARY_UID 65533
#define DEEP         2000

static char base[] = "/tmp/lathe-tree-XXXXXX";
static lt_loop *loop;

static void make_folder(const char *path) {
  assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  close(fd);
}

/* Folders in folders that nobody may enter, or write to. */
static void make_locked(void) {
  make_folder("locked");
  make_folder("locked/a");
  make_folder("locked/a/b");
  make_folder("locked/a/b/c");
  make_file("locked/a/b/c/f");
  make_file("locked/a/f");
  assert_int_equal(chmod("locked/a/b/c", 0555), 0);
  assert_int_equal(chmod("locked/a/b", 0500), 0);
  assert_int_equal(chmod("locked/a", 0), 0);
  assert_int_equal(chmod("locked", 0), 0);
}

/* Names that the removing itself uses, in the way of it. */
static void make_in_the_way(void) {
  make_folder("way");
  for (int i = 0; i < 40; i++) {
    char name[64];
    snprintf(name, sizeof name, "way/.removed-%d", i);
    make_folder(name);
    snprintf(name, sizeof name, "way/.removed-%d/d", i);
    make_folder(name);
    snprintf(name, sizeof name, "way/.removed-%d/d/f", i);
    make_file(name);
  }
}

static void make_deep(void) {
  int start = open(".", O_RDONLY | O_DIRECTORY);
  make_folder("deep");
  assert_int_equal(chdir("deep"), 0);
  for (int i = 0; i < DEEP; i++) {
    make_folder("d");
    assert_int_equal(chdir("d"), 0);
  }
  make_file("f");
  assert_int_equal(fchdir(start), 0);
  close(start);
}

static void make_links(void) {
  make_folder("links");
  make_folder("kept");
  make_file("kept/f");
  assert_int_equal(symlink("../kept", "links/to"), 0);
  assert_int_equal(symlink("kept", "link"), 0);
}

static void on_fiber(void *arg) {
  (void)arg;
  static const char *const gone[] = {"locked", "way", "deep", "links"};
  for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
    lt_remove_folder(loop, gone[i]);
  }
  lt_remove_folder(loop, "link");
  lt_remove_folder(loop, "nothing");
}

static void test_all_of_it_goes(void **state) {
  (void)state;
  bool was_root = geteuid() == 0;
  assert_non_null(mkdtemp(base));
  assert_int_equal(was_root ? chown(base, ORDINARY_UID, ORDINARY_UID) : 0, 0);
  assert_int_equal(chdir(base), 0);
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  assert_int_equal(was_root ? seteuid(ORDINARY_UID) : 0, 0);
  make_locked();
  make_in_the_way();
  make_deep();
  make_links();
  assert_int_equal(lt_loop_spawn(loop, on_fiber, NULL, NULL), LT_OK);
  lt_loop_run(loop);
  assert_int_equal(access("kept/f", F_OK), 0);
  assert_int_equal(unlink("kept/f"), 0);
  assert_int_equal(rmdir("kept"), 0);
  assert_int_equal(unlink("link"), 0);
  assert_int_equal(was_root ? seteuid(0) : 0, 0);
  assert_int_equal(rmdir(base), 0); /* nothing else is left */
  lt_loop_free(loop);
}

/* Where a folder of ours was somebody else may have made one since. */
static void test_others_folders_are_not_held(void **state) {
  (void)state;
  char folder[] = "/tmp/lathe-held-XXXXXX", inside[64];
  assert_int_equal(lt_python_folder_move_lock(LT_STR("/etc/1")), -1);
  assert_non_null(mkdtemp(folder));
  snprintf(inside, sizeof inside, "%s/1", folder);
  if (geteuid() == 0) {
    assert_int_equal(lt_python_folder_move_lock(lt_str_of(inside)), -1);
    assert_int_equal(chown(folder, LT_JAIL_UID, LT_JAIL_UID), 0);
  }
  int fd = lt_python_folder_move_lock(lt_str_of(inside));
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_of_it_goes),
                                     cmocka_unit_test(test_others_folders_are_not_held)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
