#include "app/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "store/store.h"

#define FIRST_LINE "lathe trust 1\n"

/* --- Paths -------------------------------------------------------------------------------------------------------- */

/* The list is beside the default database. */
static lt_status trust_path(const char *name, lt_buf *out, lt_err *err) {
  lt_status status = lt_store_default_path(out, err);
  if (status != LT_OK && status != LT_E_CONFIG) {
    return status;
  }
  if (status == LT_E_CONFIG) {
    return lt_fail(err, LT_E_CONFIG, "there is no place for the list of trusted files: set $HOME or $XDG_STATE_HOME");
  }
  while (out->n > 0 && out->p[out->n - 1] != '/') {
    out->n--;
  }
  lt_buf_addc(out, name);
  return lt_buf_check(out, err, "out of memory");
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static bool trust_is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("/._-+,@", c) != NULL);
}

static void trust_put_line(lt_buf *out, const char *path, const char *hash) {
  lt_buf_printf(out, "%s ", hash);
  for (; *path != '\0'; path++) {
    if (trust_is_plain(*path)) {
      lt_buf_byte(out, *path);
    } else {
      lt_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
    }
  }
  lt_buf_byte(out, '\n');
}

static int trust_hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* False: no path is written so. */
static bool trust_read_path(lt_str text, char *ret_path) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (c == '%') {
      int high = i + 2 < text.n ? trust_hex_digit(text.p[i + 1]) : -1;
      int low = high >= 0 ? trust_hex_digit(text.p[i + 2]) : -1;
      if (low < 0 || high * 16 + low == 0) {
        return false;
      }
      c = (char)(high * 16 + low);
      i += 2;
    } else if (!trust_is_plain(c)) {
      return false;
    }
    ret_path[n++] = c;
  }
  ret_path[n] = '\0';
  return n > 0 && ret_path[0] == '/';
}

/* A line that is damaged is skipped: its file is not trusted. */
static lt_status trust_read_line(lt_trust *trust, lt_trust_entry *entry, lt_str line) {
  char *path = lt_arena_alloc(&trust->arena, line.n + 1);
  if (path == NULL) {
    return LT_E_NOMEM;
  }
  bool has_hash = line.n > LT_SHA256_HEX_CHARS && line.p[LT_SHA256_HEX_CHARS] == ' ' &&
                  strspn(line.p, "0123456789abcdef") == LT_SHA256_HEX_CHARS;
  if (has_hash && trust_read_path(lt_str_sub(line, LT_SHA256_HEX_CHARS + 1, line.n), path)) {
    memcpy(entry->hash.text, line.p, LT_SHA256_HEX_CHARS);
    entry->path = path;
    trust->count++;
  }
  return LT_OK;
}

static lt_status trust_read_lines(lt_trust *trust, lt_str text) {
  size_t lines = 0;
  for (size_t i = 0; i < text.n; i++) {
    lines += text.p[i] == '\n';
  }
  lt_trust_entry *entries = lt_arena_zalloc(&trust->arena, lines + 1, sizeof *entries);
  if (entries == NULL) {
    return LT_E_NOMEM;
  }
  trust->entries = entries;
  for (size_t at = 0, end; (end = lt_str_find(text, LT_STR("\n"), at)) != SIZE_MAX; at = end + 1) {
    LT_TRY(trust_read_line(trust, &entries[trust->count], lt_str_sub(text, at, end)));
  }
  return LT_OK;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* Whoever may write the list may run commands as this person. */
static lt_status trust_check_safe(int fd, const char *path, lt_err *err) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    return lt_fail(err, LT_E_CONFIG, "%s: the list of trusted files is no regular file: remove it", path);
  }
  if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return lt_fail(err, LT_E_CONFIG,
                   "%s: the list of trusted files belongs to somebody else, or others may write it: chmod 600, or "
                   "remove it",
                   path);
  }
  return LT_OK;
}

static lt_status trust_read_text(const char *path, lt_buf *out, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    bool is_missing = errno == ENOENT || errno == ENOTDIR;
    return is_missing ? LT_OK : lt_fail(err, LT_E_CONFIG, "%s: cannot be read: %s", path, strerror(errno));
  }
  lt_status status = trust_check_safe(fd, path, err);
  status = status == LT_OK ? lt_file_read_fd(fd, path, out, err) : status;
  close(fd);
  return status;
}

static lt_status trust_read_at(const char *path, lt_trust *ret_trust, lt_err *err) {
  LT_AUTO_BUF(text, LT_TRUST_BYTES);
  LT_TRY(trust_read_text(path, &text, err));
  lt_str all = lt_buf_view(&text);
  if (all.n == 0) {
    return LT_OK;
  }
  if (!lt_str_starts(all, LT_STR(FIRST_LINE))) {
    return lt_fail(err, LT_E_CONFIG, "%s: not a list of trusted files that this version knows: remove it", path);
  }
  lt_status status = trust_read_lines(ret_trust, lt_str_sub(all, strlen(FIRST_LINE), all.n));
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s: out of memory while reading it", path);
}

lt_status lt_trust_read(lt_trust *ret_trust, lt_err *err) {
  LT_AUTO_BUF(path, PATH_MAX);
  *ret_trust = (lt_trust){0};
  lt_arena_init(&ret_trust->arena, LT_CONFIG_MEMORY_BYTES);
  LT_ERR_VAR(why);
  lt_status status = trust_path("trust", &path, &why);
  if (status == LT_E_CONFIG) { /* there is no place for it */
    return LT_OK;
  }
  LT_TRY(lt_err_copy(err, &why));
  return trust_read_at(path.p, ret_trust, err);
}

void lt_trust_release(lt_trust *trust) {
  lt_arena_release(&trust->arena);
  *trust = (lt_trust){0};
}

lt_config_trust lt_trust_of(const lt_trust *trust, const lt_config_file *file) {
  for (size_t i = 0; i < trust->count; i++) {
    if (strcmp(trust->entries[i].path, file->path) == 0) {
      return strcmp(trust->entries[i].hash.text, file->hash) == 0 ? LT_CONFIG_TRUSTED : LT_CONFIG_CHANGED;
    }
  }
  return LT_CONFIG_NOT_TRUSTED;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* The list without the path, and with the new entry if there is one. */
static lt_status trust_change(const char *list, const char *path, const char *hash, lt_err *err) {
  lt_trust trust = {0};
  bool is_known = false;
  LT_AUTO_BUF(text, LT_TRUST_BYTES);
  lt_arena_init(&trust.arena, LT_CONFIG_MEMORY_BYTES);
  lt_status status = trust_read_at(list, &trust, err);
  lt_buf_addc(&text, FIRST_LINE);
  for (size_t i = 0; i < trust.count; i++) {
    bool is_same = strcmp(trust.entries[i].path, path) == 0;
    is_known = is_known || is_same;
    if (!is_same) {
      trust_put_line(&text, trust.entries[i].path, trust.entries[i].hash.text);
    }
  }
  lt_trust_release(&trust);
  LT_TRY(status);
  if (hash != NULL) {
    trust_put_line(&text, path, hash);
  } else if (!is_known) {
    return lt_fail(err, LT_E_NOTFOUND, "%s is not on the list of trusted files", path);
  }
  LT_TRY(lt_buf_check(&text, err, "the list of trusted files is full: lathe trust --revoke what is not needed"));
  static const lt_file_replace_options options = {.is_synced = true};
  return lt_file_replace(list, lt_buf_view(&text), &options, err);
}

static lt_status trust_change_locked(const char *path, const char *hash, lt_err *err) {
  LT_AUTO_BUF(list, PATH_MAX);
  LT_AUTO_BUF(lock, PATH_MAX);
  LT_TRY(trust_path("trust", &list, err));
  LT_TRY(trust_path("trust.lock", &lock, err));
  lt_file_make_folders(list.p);
  int fd = open(lock.p, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) {
    lt_status status = lt_fail(err, LT_E_IO, "%s: cannot be written: %s", lock.p, strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return status;
  }
  lt_status status = trust_change(list.p, path, hash, err);
  close(fd); /* and the lock with it */
  return status;
}

lt_status lt_trust_add(const lt_config_file *file, lt_err *err) {
  return trust_change_locked(file->path, file->hash, err);
}

lt_status lt_trust_revoke(const char *path, lt_err *err) {
  return trust_change_locked(path, NULL, err);
}
