#include "runner/remove_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nested folders are moved up to the root until none is left, so depth costs no descriptor and no stack frame. */
typedef struct folder_removal {
  int root;
  unsigned long moved;
} folder_removal;

static bool is_dot_entry(const char *name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int removal_open(int at, const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(at, name, flags);
  if (fd < 0 && errno == EACCES) { /* the program removed the permissions */
    (void)fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW);
    fd = openat(at, name, flags);
  }
  return fd;
}

/* Moving a folder changes its "..", which needs write permission. */
static bool removal_move(const folder_removal *r, int folder, const char *name, const char *moved) {
  return renameat(folder, name, r->root, moved) == 0 ||
         (errno == EACCES && fchmodat(folder, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 &&
          renameat(folder, name, r->root, moved) == 0);
}

/* Moves it to an unused name: the program may have used any name. */
static bool removal_move_up(folder_removal *r, int folder, const char *name) {
  bool done, taken;
  do {
    char moved[40];
    snprintf(moved, sizeof moved, ".removed-%lu", r->moved++);
    done = removal_move(r, folder, name, moved);
    taken = !done && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
  } while (taken);
  return done;
}

/* Removes an entry that is not a folder, or moves a folder up. False: neither worked. */
static bool removal_take_out(folder_removal *r, int folder, const char *name) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
    return true;
  }
  return unlinkat(folder, name, AT_REMOVEDIR) == 0 || (folder != r->root && removal_move_up(r, folder, name));
}

/* Removes the contents of a folder. False: some entry stays. */
static bool removal_empty(folder_removal *r, int fd) {
  bool all = true;
  DIR *dir = fdopendir(fd);
  if (dir == NULL) {
    close(fd);
    return false;
  }
  (void)fchmod(fd, 0700);
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    all = (is_dot_entry(e->d_name) || removal_take_out(r, fd, e->d_name)) && all;
  }
  closedir(dir);
  return all;
}

/* One round over the root: removes files, empties folders and removes them. True: something was removed. */
static bool removal_round(folder_removal *r) {
  bool progress = false;
  int copy = openat(r->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
  if (dir == NULL) {
    return false;
  }
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (is_dot_entry(e->d_name)) {
      continue;
    }
    if (unlinkat(r->root, e->d_name, 0) == 0) {
      progress = true;
      continue;
    }
    int fd = removal_open(r->root, e->d_name);
    if (fd >= 0) {
      removal_empty(r, fd);
    }
    progress = unlinkat(r->root, e->d_name, AT_REMOVEDIR) == 0 || progress;
  }
  closedir(dir);
  return progress;
}

static void on_remove_folder(void *arg) {
  const char *path = arg;
  folder_removal r = {.root = removal_open(AT_FDCWD, path)};
  if (r.root < 0) {
    return;
  }
  (void)fchmod(r.root, 0700);
  while (rmdir(path) != 0 && removal_round(&r)) {
  }
  close(r.root);
}

void lt_remove_folder(lt_loop *loop, const char *path) {
  if (rmdir(path) == 0 || errno == ENOENT) {
    return;
  }
  union {
    const char *in;
    void *out;
  } arg = {.in = path};
  if (lt_loop_offload(loop, on_remove_folder, arg.out, NULL) != LT_OK) {
    on_remove_folder(arg.out);
  }
}
