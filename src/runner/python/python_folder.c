/* Folders for programs: they are made here, and removed when a killed process of Lathe has left them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "jail/jail.h"
#include "runner/python/python_folder.h"
#include "runner/python/python_state.h"
#include "runner/remove_folder.h"

#define BASE_PREFIX "lathe-python-"

/* Gives the folder to the user that programs run as. */
static bool python_folder_chown(const char *path) {
  return geteuid() != 0 || lchown(path, LT_JAIL_UID, LT_JAIL_UID) == 0;
}

static const char *python_folder_temporary(void) {
  const char *tmp = getenv("TMPDIR");
  return tmp != NULL && tmp[0] == '/' ? tmp : "/tmp";
}

/* Locks a folder as long as this process lives. -1: it is locked already, or missing. */
static int python_folder_lock(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

/* Removes a folder that a killed process of Lathe has left. New folders stay, because a starting process makes its
 * folder before it can lock it. */
static void python_folder_remove_abandoned(lt_loop *loop, const char *name) LT_YIELDS {
  char path[LT_PROC_PATH_MAX_BYTES];
  struct stat st;
  int n = snprintf(path, sizeof path, "%s/%s", python_folder_temporary(), name);
  uid_t owner = geteuid() == 0 ? LT_JAIL_UID : geteuid();
  if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != owner ||
      time(NULL) - st.st_mtime < LT_PYTHON_LEFT_S) {
    return;
  }
  int fd = python_folder_lock(path);
  if (fd >= 0) {
    lt_remove_folder(loop, path);
    close(fd);
  }
}

static void python_folder_remove_all_abandoned(lt_loop *loop) LT_YIELDS {
  DIR *dir = opendir(python_folder_temporary());
  for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    if (strncmp(e->d_name, BASE_PREFIX, sizeof BASE_PREFIX - 1) == 0) {
      python_folder_remove_abandoned(loop, e->d_name);
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
}

lt_status lt_python_folder_make_base(lt_python *p, lt_err *err) {
  if (p->base_folder != NULL) {
    return LT_OK;
  }
  python_folder_remove_all_abandoned(p->loop);
  LT_AUTO_BUF(path, LT_PROC_PATH_MAX_BYTES);
  lt_buf_addc(&path, python_folder_temporary());
  lt_buf_addc(&path, "/" BASE_PREFIX "XXXXXX");
  char *base = lt_buf_take(&path, NULL);
  if (base == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a folder's name");
  }
  if (mkdtemp(base) == NULL || !python_folder_chown(base)) {
    lt_status status = lt_fail(err, LT_E_IO,
                               "cannot make a folder for Python programs (%s): %s; set TMPDIR to a folder that is "
                               "writable",
                               base, strerror(errno));
    lt_mem_free(base);
    return status;
  }
  p->base_folder = base;
  p->base_lock = python_folder_lock(base);
  return LT_OK;
}

lt_status lt_python_folder_make(lt_python *p, uint32_t id, char **ret_path, lt_err *err) {
  LT_AUTO_BUF(path, LT_PROC_PATH_MAX_BYTES);
  lt_buf_printf(&path, "%s/%u", p->base_folder, id);
  char *folder = lt_buf_take(&path, NULL);
  if (folder == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a folder's name");
  }
  if (mkdir(folder, 0700) != 0 || !python_folder_chown(folder)) {
    lt_status status =
        lt_fail(err, LT_E_IO, "cannot make a folder for a Python program (%s): %s", folder, strerror(errno));
    lt_mem_free(folder);
    return status;
  }
  *ret_path = folder;
  return LT_OK;
}

static bool python_folder_is_writable_for(const struct stat *st, uid_t uid, gid_t gid) {
  unsigned shift = st->st_uid == uid ? 6 : st->st_gid == gid ? 3 : 0;
  return ((st->st_mode >> shift) & 3) == 3;
}

lt_status lt_python_folder_check(const lt_python *p, lt_err *err) {
  struct stat st;
  if (p->workspace == NULL) {
    return LT_OK;
  }
  if (stat(p->workspace, &st) != 0) {
    return lt_fail(err, LT_E_CONFIG, "python.workspace: %s: %s; make the folder, or leave the setting out",
                   p->workspace, strerror(errno));
  }
  if (!S_ISDIR(st.st_mode)) {
    return lt_fail(err, LT_E_CONFIG, "python.workspace: %s is no folder", p->workspace);
  }
  if (geteuid() != 0 && access(p->workspace, R_OK | W_OK | X_OK) != 0) {
    return lt_fail(err, LT_E_CONFIG, "python.workspace: %s is not writable: %s", p->workspace, strerror(errno));
  }
  if (geteuid() == 0 && !python_folder_is_writable_for(&st, LT_JAIL_UID, LT_JAIL_UID)) {
    return lt_fail(err, LT_E_CONFIG,
                   "python.workspace: %s is not writable for the user that programs run as when Lathe is started by "
                   "root (uid %d): chown it, or start Lathe as another user",
                   p->workspace, LT_JAIL_UID);
  }
  return LT_OK;
}
