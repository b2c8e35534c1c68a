/* Moves the files that a program wrote before Lathe was interrupted into the folder that the program works in now. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/jail.h"
#include "runner/python/python_folder_move.h"

/* The path is from an earlier process. It can belong to another user now. */
static bool python_folder_move_is_ours(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && st.st_uid == (geteuid() == 0 ? LT_JAIL_UID : geteuid());
}

int lt_python_folder_move_lock(lt_str folder) {
  char path[LT_PROC_PATH_MAX_BYTES];
  size_t n = folder.n;
  while (n > 0 && folder.p[n - 1] != '/') {
    n--;
  }
  if (n < 2 || n > sizeof path) {
    return -1;
  }
  memcpy(path, folder.p, n - 1);
  path[n - 1] = '\0';
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && (!python_folder_move_is_ours(fd) || flock(fd, LOCK_SH | LOCK_NB) != 0)) {
    close(fd);
    fd = -1;
  }
  return fd;
}

typedef struct folder_move {
  int parent;
  const char *from; /* a name in `parent` */
  const char *to;
} folder_move;

static void python_folder_move_entries(DIR *dir, int from, int to) {
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
      (void)renameat(from, e->d_name, to, e->d_name); /* an entry that cannot be moved stays, and so does the folder */
    }
  }
}

static void python_folder_move_all(void *arg) {
  const folder_move *m = arg;
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int from = openat(m->parent, m->from, flags), to = open(m->to, flags);
  DIR *dir = from >= 0 && to >= 0 ? fdopendir(from) : NULL;
  if (dir != NULL) {
    python_folder_move_entries(dir, from, to);
    closedir(dir);
  } else if (from >= 0) {
    close(from);
  }
  if (to >= 0) {
    close(to);
  }
  (void)unlinkat(m->parent, m->from, AT_REMOVEDIR);
}

void lt_python_folder_move(lt_loop *loop, int parent, const char *from, const char *to) {
  const char *slash = strrchr(from, '/');
  folder_move m = {.parent = parent, .from = slash != NULL ? slash + 1 : from, .to = to};
  if (strcmp(m.from, ".") == 0 || strcmp(m.from, "..") == 0) {
    return;
  }
  if (lt_loop_offload(loop, python_folder_move_all, &m, NULL) != LT_OK) {
    python_folder_move_all(&m);
  }
}
