/* What a program holds of files that have no name any more: open ones, and mapped ones. No walk of its folder sees
 * those, and their room is taken all the same.
 *
 * Its threads share one table of descriptors (the walls refuse the others), and descriptors cannot be put into a
 * message to itself; so its table and its mappings are all that can keep such a file. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "jail/jail.h"
#include "runner/python/python_open_files.h"

#define BLOCK_BYTES  512 /* st_blocks' unit */
#define PROC_PATH    64
#define GONE         " (deleted)"
#define GONE_BYTES   (sizeof GONE - 1)
#define MAPPED_FIELD 4 /* of a line of /proc/PID/maps: the inode; the path is behind it */

typedef struct holder {
  const char *folder; /* as the kernel tells it */
  ino_t seen[LT_PYTHON_FILES_MAX];
  unsigned seen_count;
  uint64_t bytes;
} holder;

/* False: it has been counted. */
static bool python_open_files_is_new(holder *h, ino_t inode) {
  for (unsigned i = 0; i < h->seen_count; i++) {
    if (h->seen[i] == inode) {
      return false;
    }
  }
  if (h->seen_count < LT_PYTHON_FILES_MAX) {
    h->seen[h->seen_count++] = inode;
  }
  return true;
}

static DIR *python_open_files_open_list(pid_t pid, const char *task, const char *list) {
  char path[PROC_PATH];
  snprintf(path, sizeof path, "/proc/%d/task/%.16s/%s", (int)pid, task, list);
  return opendir(path);
}

/* The descriptors of one thread, which are everybody's; false: it has none, as a thread that has ended. */
static bool python_open_files_count_open(holder *h, pid_t pid, const char *task) {
  DIR *dir = python_open_files_open_list(pid, task, "fd");
  bool any = false;
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    struct stat st;
    any = any || e->d_name[0] != '.';
    if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
        python_open_files_is_new(h, st.st_ino)) {
      h->bytes += (uint64_t)st.st_blocks * BLOCK_BYTES;
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return any;
}

/* How long a file is that is only mapped is not told to everybody: it counts as the longest there may be. Who keeps
 * the descriptor, as Python's mmap does, has had it counted as what it is. */
static void python_open_files_count_line(holder *h, const char *line) {
  const char *inode = line;
  for (unsigned field = 0; field < MAPPED_FIELD && inode != NULL; field++) {
    inode = strchr(inode, ' ');
    inode = inode != NULL ? inode + 1 : NULL;
  }
  const char *path = inode != NULL ? strchr(inode, '/') : NULL;
  size_t n = strlen(h->folder);
  size_t all = path != NULL ? strlen(path) : 0; /* the kernel's text: no path has a line's end or a zero in it */
  if (all <= n + GONE_BYTES || strncmp(path, h->folder, n) != 0 || path[n] != '/' ||
      strcmp(path + all - GONE_BYTES, GONE) != 0) {
    return;
  }
  if (python_open_files_is_new(h, (ino_t)strtoull(inode, NULL, 10))) {
    h->bytes += LT_PYTHON_FILE_BYTES;
  }
}

/* All of a file whose size is not known beforehand. False: it is longer than there is room. */
static bool python_open_files_read_all(const char *path, lt_buf *text) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = 0;
  do {
    char *to = fd >= 0 ? lt_buf_reserve(text, LT_PYTHON_PIECE_BYTES) : NULL;
    n = to != NULL ? read(fd, to, LT_PYTHON_PIECE_BYTES) : -1;
    lt_buf_commit(text, n > 0 ? (size_t)n : 0);
  } while (n > 0);
  if (fd >= 0) {
    close(fd);
  }
  return text->status == LT_OK;
}

/* False: it has none, as a thread that has ended. */
static bool python_open_files_count_mapped(holder *h, pid_t pid, const char *task) {
  char path[PROC_PATH];
  LT_AUTO_BUF(text, LT_PYTHON_MAPS_BYTES);
  snprintf(path, sizeof path, "/proc/%d/task/%.16s/maps", (int)pid, task);
  if (!python_open_files_read_all(path, &text)) {
    h->bytes += LT_PYTHON_DISK_BYTES; /* no program has that many by accident */
  }
  bool any = text.n > 0;
  for (char *line = text.p, *end; any && (end = memchr(line, '\n', text.n - (size_t)(line - text.p))) != NULL;
       line = end + 1) {
    *end = '\0';
    python_open_files_count_line(h, line);
  }
  return any;
}

static void python_open_files_count_process(holder *h, pid_t pid) {
  DIR *tasks = python_open_files_open_list(pid, "..", "task");
  bool opened = false, mapped = false;
  for (struct dirent *e = tasks != NULL ? readdir(tasks) : NULL; e != NULL && !(opened && mapped); e = readdir(tasks)) {
    if (e->d_name[0] != '.') {
      opened =
          opened || python_open_files_count_open(h, pid, e->d_name); /* first: of these it is known how long they are */
      mapped = mapped || python_open_files_count_mapped(h, pid, e->d_name);
    }
  }
  if (tasks != NULL) {
    closedir(tasks);
  }
}

uint64_t lt_python_held(pid_t pid, const char *folder) {
  char resolved[PATH_MAX];
  holder h = {.folder = realpath(folder, resolved)};
  if (pid <= 0 || h.folder == NULL) {
    return 0;
  }
  /* Only its own user is shown these; root may lack the right to look at others (CAP_SYS_PTRACE). This thread's
   * alone, and the C library's functions do no more than the calls. */
  bool as_nobody = geteuid() == 0;
  if (as_nobody) {
    setfsgid(LT_JAIL_UID);
    setfsuid(LT_JAIL_UID);
  }
  python_open_files_count_process(&h, pid);
  if (as_nobody) {
    setfsuid(0);
    setfsgid(getegid());
  }
  return h.bytes;
}
