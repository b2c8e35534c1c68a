/* A private folder: the program, what Deno keeps, the bridge's socket. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jail/jail.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_state.h"
#include "runner/remove_folder.h"

#define PREFIX       "lathe-deno-"
#define LEFT_SECONDS 60

/* The path stands in arguments of Deno's where a comma separates, in a socket's address, which is short, and in file
 * URLs. */
static bool deno_folder_is_plain(const char *path) {
  size_t n = strlen(path);
  for (size_t i = 0; i < n; i++) {
    char c = path[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' ||
                 c == '_' || c == '-';
    if (!plain) {
      return false;
    }
  }
  return n > 0 && n < 60 && path[0] == '/';
}

void lt_deno_bridge_path(const lt_deno *deno, const lt_deno_room *room, char *ret_path, size_t size) {
  bool walls = !deno->without_walls;
  snprintf(ret_path, size, "%s/%s", walls ? "" : room->folder, walls ? "lathe-bridge" : "bridge");
}

void lt_deno_hand_over(const lt_deno_room *room, const char *name) {
  char path[sizeof room->folder + 64];
  snprintf(path, sizeof path, "%s/%s", room->folder, name);
  if (geteuid() == 0 && lchown(path, LT_JAIL_UID, LT_JAIL_UID) != 0) {
    return; /* then the program says that it may not */
  }
}

static bool deno_folder_make_below(const lt_deno_room *room, const char *name) {
  char path[sizeof room->folder + 64];
  snprintf(path, sizeof path, "%s/%s", room->folder, name);
  bool made = mkdir(path, 0700) == 0;
  lt_deno_hand_over(room, name);
  return made;
}

/* What Deno keeps between runs must not be kept: it would be a way from one to the other. Where its databases would be
 * there are folders: so it has them in memory, which spares it a dozen waits for the disk. */
static bool deno_folder_make_cache(const lt_deno_room *room) {
  static const char *const names[] = {"deno", "deno/dep_analysis_cache_v2", "deno/node_analysis_cache_v2"};
  bool made = true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    made = made && deno_folder_make_below(room, names[i]);
  }
  return made;
}

static const char *deno_folder_base(void) {
  const char *tmp = getenv("TMPDIR");
  return tmp != NULL && deno_folder_is_plain(tmp) ? tmp : "/tmp";
}

lt_status lt_deno_make_folder(lt_deno_room *room, lt_err *err) {
  const char *tmp = deno_folder_base();
  snprintf(room->folder, sizeof room->folder, "%s/" PREFIX "XXXXXX", tmp);
  bool made = mkdtemp(room->folder) != NULL;
  if (made) {
    room->lock = open(room->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)flock(room->lock, LOCK_EX | LOCK_NB);
    lt_deno_hand_over(room, ".");
  }
  if (made && deno_folder_make_cache(room)) {
    return LT_OK;
  }
  int why = errno;
  room->folder[0] = made ? room->folder[0] : '\0';
  return lt_fail(err, LT_E_IO, "cannot make a folder for the program in %s: %s; set TMPDIR to another one", tmp,
                 strerror(why));
}

lt_status lt_deno_write_file(const lt_deno_room *room, const char *name, lt_str bytes, lt_err *err) {
  char path[sizeof room->folder + 64];
  snprintf(path, sizeof path, "%s/%s", room->folder, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  size_t at = 0;
  while (fd >= 0 && at < bytes.n) {
    ssize_t n = write(fd, bytes.p + at, bytes.n - at);
    if (n < 0 && errno != EINTR) {
      break;
    }
    at += n > 0 ? (size_t)n : 0;
  }
  int why = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (fd < 0 || at < bytes.n) {
    return lt_fail(err, LT_E_IO, "cannot write the program's files to %s: %s; set TMPDIR to another folder",
                   room->folder, strerror(why));
  }
  lt_deno_hand_over(room, name);
  return LT_OK;
}

/* --- Removing ----------------------------------------------------------------------------------------------------- */
/* A program can have made files: it may replace the bridge's socket by a folder, and its caches are on the disk. */
void lt_deno_remove_folder(lt_loop *loop, lt_deno_room *room) {
  if (room->folder[0] != '\0') {
    lt_remove_folder(loop, room->folder);
  }
  if (room->lock >= 0) {
    close(room->lock);
  }
  room->lock = -1;
}

/* Not one that somebody is about to lock. */
static bool deno_folder_is_left(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && (st.st_uid == geteuid() || (geteuid() == 0 && st.st_uid == LT_JAIL_UID)) &&
         time(NULL) - st.st_mtime > LEFT_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void lt_deno_sweep(lt_loop *loop) {
  DIR *dir = opendir(deno_folder_base());
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    char path[LT_PROC_PATH_MAX_BYTES];
    if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0) {
      continue;
    }
    snprintf(path, sizeof path, "%s/%s", deno_folder_base(), e->d_name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && deno_folder_is_left(fd)) {
      lt_remove_folder(loop, path);
    }
    if (fd >= 0) {
      close(fd);
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
}
