/* Counts deleted files that a process still holds open or mapped. They take disk space, and a walk of the folder does
 * not see them.
 *
 * All threads of a program share one table of descriptors: the walls refuse a table of a thread's own, and descriptors
 * in messages. So only the table and the mappings can hold a deleted file. */
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

#define BLOCK_BYTES   512 /* the unit of st_blocks */
#define PROC_PATH     64
#define DELETED       " (deleted)"
#define DELETED_BYTES (sizeof DELETED - 1)
#define MAPPED_FIELD  4 /* of a line of /proc/PID/maps: the inode, which the path follows */

typedef struct held_files {
  const char *folder; /* in the kernel's notation */
  ino_t seen[LT_PYTHON_FILES_MAX];
  unsigned seen_count;
  uint64_t bytes;
} held_files;

/* False: the file has been counted already. */
static bool python_open_files_is_new(held_files *h, ino_t inode) {
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

/* Counts the descriptors of one thread, which all threads share. False: there are none, as the thread has ended. */
static bool python_open_files_count_open(held_files *h, pid_t pid, const char *task) {
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

/* Counts a line of `maps`. The size of a file that is only mapped cannot be seen, so it counts as the longest possible
 * file. When the program also keeps the descriptor, as Python's mmap does, the real size has been counted before. */
static void python_open_files_count_line(held_files *h, const char *line) {
  const char *inode = line;
  for (unsigned field = 0; field < MAPPED_FIELD && inode != NULL; field++) {
    inode = strchr(inode, ' ');
    inode = inode != NULL ? inode + 1 : NULL;
  }
  const char *path = inode != NULL ? strchr(inode, '/') : NULL;
  size_t n = strlen(h->folder);
  size_t all = path != NULL ? strlen(path) : 0; /* the kernel escapes line ends in paths */
  if (all <= n + DELETED_BYTES || strncmp(path, h->folder, n) != 0 || path[n] != '/' ||
      strcmp(path + all - DELETED_BYTES, DELETED) != 0) {
    return;
  }
  if (python_open_files_is_new(h, (ino_t)strtoull(inode, NULL, 10))) {
    h->bytes += LT_PYTHON_FILE_BYTES;
  }
}

/* Reads a whole file whose size is not known. False: it is longer than the buffer's ceiling. */
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

/* Counts the mappings of one thread. False: there are none, as the thread has ended. */
static bool python_open_files_count_mapped(held_files *h, pid_t pid, const char *task) {
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

static void python_open_files_count_process(held_files *h, pid_t pid) {
  DIR *tasks = python_open_files_open_list(pid, "..", "task");
  bool opened = false, mapped = false;
  for (struct dirent *e = tasks != NULL ? readdir(tasks) : NULL; e != NULL && !(opened && mapped); e = readdir(tasks)) {
    if (e->d_name[0] != '.') {
      opened = opened || python_open_files_count_open(h, pid, e->d_name); /* first, because it tells their sizes */
      mapped = mapped || python_open_files_count_mapped(h, pid, e->d_name);
    }
  }
  if (tasks != NULL) {
    closedir(tasks);
  }
}

uint64_t lt_python_open_files_bytes(pid_t pid, const char *folder) {
  char resolved[PATH_MAX];
  held_files h = {.folder = realpath(folder, resolved)};
  if (pid <= 0 || h.folder == NULL) {
    return 0;
  }
  /* The kernel shows these files to the process's own user; root may lack CAP_SYS_PTRACE. setfsuid changes only this
   * thread: the C library's functions are the bare system calls. */
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
