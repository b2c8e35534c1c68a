/* The private folder of an instance of Deno: the program's files, Deno's cache, the bridge's socket. */
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

#define PREFIX            "lathe-deno-"
#define ABANDONED_SECONDS 60

/* Whether the path can be used in Deno's arguments, where commas separate, in a socket's short address, and in file
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

void lt_deno_folder_bridge_path(const lt_deno *deno, const lt_deno_instance *instance, char *ret_path, size_t size) {
  bool walls = !deno->without_walls;
  snprintf(ret_path, size, "%s/%s", walls ? "" : instance->folder, walls ? "lathe-bridge" : "bridge");
}

void lt_deno_folder_chown(const lt_deno_instance *instance, const char *name) {
  char path[sizeof instance->folder + 64];
  snprintf(path, sizeof path, "%s/%s", instance->folder, name);
  if (geteuid() == 0 && lchown(path, LT_JAIL_UID, LT_JAIL_UID) != 0) {
    return; /* the program's own error will show it */
  }
}

static bool deno_folder_make_below(const lt_deno_instance *instance, const char *name) {
  char path[sizeof instance->folder + 64];
  snprintf(path, sizeof path, "%s/%s", instance->folder, name);
  bool made = mkdir(path, 0700) == 0;
  lt_deno_folder_chown(instance, name);
  return made;
}

/* Deno's cache must not outlive the run: it would connect one run to the next. Folders with the names of Deno's
 * databases make Deno keep these databases in memory, which saves a dozen waits for the disk. */
static bool deno_folder_make_cache(const lt_deno_instance *instance) {
  static const char *const names[] = {"deno", "deno/dep_analysis_cache_v2", "deno/node_analysis_cache_v2"};
  bool made = true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    made = made && deno_folder_make_below(instance, names[i]);
  }
  return made;
}

static const char *deno_folder_base(void) {
  const char *tmp = getenv("TMPDIR");
  return tmp != NULL && deno_folder_is_plain(tmp) ? tmp : "/tmp";
}

lt_status lt_deno_folder_make(lt_deno_instance *instance, lt_err *err) {
  const char *tmp = deno_folder_base();
  snprintf(instance->folder, sizeof instance->folder, "%s/" PREFIX "XXXXXX", tmp);
  bool made = mkdtemp(instance->folder) != NULL;
  if (made) {
    instance->lock = open(instance->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)flock(instance->lock, LOCK_EX | LOCK_NB);
    lt_deno_folder_chown(instance, ".");
  }
  if (made && deno_folder_make_cache(instance)) {
    return LT_OK;
  }
  int why = errno;
  instance->folder[0] = made ? instance->folder[0] : '\0';
  return lt_fail(err, LT_E_IO, "cannot make a folder for the program in %s: %s; set TMPDIR to another one", tmp,
                 strerror(why));
}

lt_status lt_deno_folder_write(const lt_deno_instance *instance, const char *name, lt_str bytes, lt_err *err) {
  char path[sizeof instance->folder + 64];
  snprintf(path, sizeof path, "%s/%s", instance->folder, name);
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
                   instance->folder, strerror(why));
  }
  lt_deno_folder_chown(instance, name);
  return LT_OK;
}

/* --- Removal ------------------------------------------------------------------------------------------------------ */

/* The folder can contain more than the files of Lathe: Deno's cache, and files of the program. */
void lt_deno_folder_remove(lt_loop *loop, lt_deno_instance *instance) {
  if (instance->folder[0] != '\0') {
    lt_remove_folder(loop, instance->folder);
  }
  if (instance->lock >= 0) {
    close(instance->lock);
  }
  instance->lock = -1;
}

/* A folder of Lathe that no process has locked. New folders do not count, because their process is about to lock them.
 */
static bool deno_folder_is_abandoned(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && (st.st_uid == geteuid() || (geteuid() == 0 && st.st_uid == LT_JAIL_UID)) &&
         time(NULL) - st.st_mtime > ABANDONED_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void lt_deno_folder_remove_abandoned(lt_loop *loop) {
  DIR *dir = opendir(deno_folder_base());
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    char path[LT_PROC_PATH_MAX_BYTES];
    if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0) {
      continue;
    }
    snprintf(path, sizeof path, "%s/%s", deno_folder_base(), e->d_name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && deno_folder_is_abandoned(fd)) {
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
