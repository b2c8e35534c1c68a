/* A plugin's file. */
#include "plugin/shared_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

/* dlopen maps and reads what the headers promise. When the file is cut off, or is still being written, that causes a
 * signal that ends the process. True also for a file that is no shared object, because dlopen has a message for that.
 */
static bool shared_object_is_whole(int fd) {
  ElfW(Ehdr) header;
  ElfW(Phdr) part;
  struct stat st;
  if (fstat(fd, &st) != 0 || pread(fd, &header, sizeof header, 0) != sizeof header ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof part) {
    return true;
  }
  for (unsigned i = 0; i < header.e_phnum; i++) {
    off_t at = (off_t)(header.e_phoff + i * sizeof part);
    if (pread(fd, &part, sizeof part, at) != sizeof part ||
        (part.p_type == PT_LOAD &&
         (part.p_offset > (size_t)st.st_size || part.p_filesz > (size_t)st.st_size - part.p_offset))) {
      return false;
    }
  }
  return true;
}

static lt_status shared_object_check_whole(const char *path, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool is_whole = fd < 0 || shared_object_is_whole(fd);
  if (fd >= 0) {
    close(fd);
  }
  return is_whole ? LT_OK : lt_fail(err, LT_E_INVALID, "it cannot be loaded: the file is cut off: build it again");
}

/* dlopen searches other folders for a name without a slash. */
static lt_status shared_object_load(const char *path, void **ret_library, lt_err *err) {
  char with_slash[LT_PROC_PATH_MAX_BYTES];
  int n = snprintf(with_slash, sizeof with_slash, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
  if (n < 0 || (size_t)n >= sizeof with_slash) {
    return lt_fail(err, LT_E_INVALID, "its path is too long");
  }
  if (access(with_slash, F_OK) != 0) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no such file: build it, or correct its path in the configuration");
  }
  LT_TRY(shared_object_check_whole(with_slash, err));
  void *library = dlopen(with_slash, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *why = dlerror();
    return lt_fail(err, LT_E_INVALID, "it cannot be loaded: %s", why != NULL ? why : "no reason given");
  }
  *ret_library = library;
  return LT_OK;
}

static lt_status shared_object_find_entry(void *library, lathe_plugin_entry_fn **ret_entry, lt_err *err) {
  void *symbol = dlsym(library, "lathe_plugin_entry");
  if (symbol == NULL) {
    return lt_fail(err, LT_E_INVALID, "it is no Lathe plugin: it exports no function lathe_plugin_entry");
  }
  memcpy(ret_entry, &symbol, sizeof symbol); /* POSIX allows this; ISO C has no cast for it */
  return LT_OK;
}

lt_status lt_shared_object_open(const char *path, void **ret_library, lathe_plugin_entry_fn **ret_entry, lt_err *err) {
  void *library = NULL;
  LT_TRY(shared_object_load(path, &library, err));
  lt_status status = shared_object_find_entry(library, ret_entry, err);
  if (status != LT_OK) {
    dlclose(library);
    return status;
  }
  *ret_library = library;
  return LT_OK;
}

void lt_shared_object_close(void *library) {
  if (library != NULL) {
    dlclose(library);
  }
}
