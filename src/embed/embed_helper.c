#include "embed/embed_helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lathe.h"

#define HELPER_LEVELS 2 /* PREFIX/lib, and PREFIX/lib/x86_64-linux-gnu */

/* The file that this code is in. */
static bool embed_helper_find_own(char ret_file[PATH_MAX]) {
  Dl_info info;
  struct link_map *object = NULL;
  if (dladdr1((const void *)(uintptr_t)lathe_version, &info, (void **)&object, RTLD_DL_LINKMAP) == 0) {
    return false;
  }
  bool is_program = object->l_name[0] == '\0';
  return realpath(is_program ? "/proc/self/exe" : object->l_name, ret_file) != NULL;
}

static bool embed_helper_trusts(const struct stat *own, const struct stat *file) {
  return file->st_uid == 0 || file->st_uid == own->st_uid || file->st_uid == geteuid();
}

/* Anybody may write to a folder above the library, such as /tmp: so the owner counts, of a link as well, which could
 * lead to a shell. */
static bool embed_helper_is_at(const struct stat *own, lt_str folder, const char *below, lt_buf *path) {
  struct stat link, file;
  lt_buf_clear(path);
  lt_buf_add(path, folder);
  lt_buf_addc(path, below);
  lt_buf_byte(path, '\0');
  return path->status == LT_OK && access(path->p, X_OK) == 0 && lstat(path->p, &link) == 0 &&
         stat(path->p, &file) == 0 && S_ISREG(file.st_mode) && embed_helper_trusts(own, &link) &&
         embed_helper_trusts(own, &file);
}

static lt_str embed_helper_above(lt_str path) {
  while (path.n > 0 && path.p[path.n - 1] != '/') {
    path.n--;
  }
  return lt_str_sub(path, 0, path.n > 0 ? path.n - 1 : 0);
}

static void embed_helper_look(const char *file, const struct stat *own, lt_buf *path) {
  lt_str beside = embed_helper_above(lt_str_of(file)), folder = beside;
  bool is_found = embed_helper_is_at(own, beside, "/lathe-exec", path);
  for (int i = 0; i < HELPER_LEVELS && !is_found; i++) {
    folder = embed_helper_above(folder);
    is_found = embed_helper_is_at(own, folder, "/libexec/lathe/lathe-exec", path);
  }
  if (!is_found) {
    (void)embed_helper_is_at(own, beside, "/lathe-exec", path);
  }
}

static lt_status embed_helper_check_named(const char *named, lt_err *err) {
  struct stat file;
  const char *why = NULL;
  if (named != NULL && named[0] != '/') {
    why = "give its full path";
  } else if (named != NULL && (stat(named, &file) != 0 || access(named, X_OK) != 0)) {
    why = strerror(errno);
  } else if (named != NULL && !S_ISREG(file.st_mode)) {
    why = "it is not a program";
  }
  return why == NULL ? LT_OK : lt_fail(err, LT_E_INVALID, "the helper \"%s\": %s", named, why);
}

lt_status lt_embed_helper_find(const char *named, char **ret_path, lt_err *err) {
  char file[PATH_MAX];
  struct stat own;
  LT_AUTO_BUF(path, PATH_MAX + 64);
  LT_TRY(embed_helper_check_named(named, err));
  if (named != NULL) {
    lt_buf_addc(&path, named);
    lt_buf_byte(&path, '\0');
  } else if (embed_helper_find_own(file) && stat(file, &own) == 0) {
    embed_helper_look(file, &own, &path);
  } else {
    lt_buf_addc(&path, "lathe-exec");
    lt_buf_byte(&path, '\0');
  }
  LT_TRY(lt_buf_check(&path, err, "no memory for the path of lathe-exec"));
  *ret_path = lt_buf_take(&path, NULL);
  return LT_OK;
}
