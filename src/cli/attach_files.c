#include "cli/attach_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void lt_attach_files_init(lt_attach_files *files) {
  *files = (lt_attach_files){0};
  lt_arena_init(&files->arena, 2 * LT_ATTACHMENTS_BYTES);
}

void lt_attach_files_release(lt_attach_files *files) {
  lt_arena_release(&files->arena);
  files->count = 0;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static lt_status attach_files_refuse_missing(const char *path, int why, lt_err *err) {
  struct stat about;
  bool is_link = why == ENOENT && lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
  return lt_fail(err, why == ENOENT ? LT_E_NOTFOUND : LT_E_IO, "cannot attach %s: %s", path,
                 is_link ? "it is a link, and what it names is not there" : strerror(why));
}

static lt_status attach_files_check(const char *path, const struct stat *about, lt_err *err) {
  if (S_ISDIR(about->st_mode)) {
    return lt_fail(err, LT_E_INVALID,
                   "cannot attach %s: it is a folder; attach its files, or give the model a tool "
                   "that reads folders",
                   path);
  } else if (!S_ISREG(about->st_mode)) {
    return lt_fail(err, LT_E_INVALID, "cannot attach %s: it is no file; save what it has to one", path);
  } else if (about->st_size > (off_t)LT_ATTACHMENTS_BYTES) {
    return lt_fail(err, LT_E_LIMIT,
                   "cannot attach %s: it has %lld bytes, and the attachments of a message may have "
                   "%lu; send a part, or give the model a tool that reads it",
                   path, (long long)about->st_size, (unsigned long)LT_ATTACHMENTS_BYTES);
  }
  return LT_OK;
}

/* Opening a pipe would wait for a writer, and a device may do anything: what it is, is asked before it is read. */
static lt_status attach_files_read(const char *path, lt_buf *out, lt_err *err) {
  struct stat about;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return attach_files_refuse_missing(path, errno, err);
  }
  lt_status status = fstat(fd, &about) == 0 ? attach_files_check(path, &about, err)
                                            : lt_fail(err, LT_E_IO, "cannot attach %s: %s", path, strerror(errno));
  if (status == LT_OK) {
    status = lt_file_read_fd(fd, path, out, err);
  }
  close(fd);
  return status;
}

lt_status lt_attach_files_add(lt_attach_files *files, const char *path, lt_err *err) {
  LT_AUTO_BUF(data, LT_ATTACHMENTS_BYTES);
  if (files->count == LT_ATTACHMENTS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "cannot attach %s: a message may have %d attachments; send several messages", path,
                   LT_ATTACHMENTS_MAX);
  }
  LT_TRY(attach_files_read(path, &data, err));
  lt_attachment *a = &files->list[files->count];
  a->name = lt_arena_dup(&files->arena, lt_str_of(path));
  a->data = lt_arena_dup(&files->arena, lt_buf_view(&data));
  if (a->name.p == NULL || a->data.p == NULL) {
    return lt_fail(err, LT_E_LIMIT, "cannot attach %s: the attachments of a message may have %lu bytes", path,
                   (unsigned long)LT_ATTACHMENTS_BYTES);
  }
  files->count++;
  return lt_agent_check_attachments(files->list, files->count, err);
}

/* --- Files that a message names ----------------------------------------------------------------------------------- */
static bool attach_files_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The path behind an @, and where the message goes on. */
static lt_str attach_files_path_at(lt_str message, size_t at, size_t *ret_end) {
  bool is_quoted = at < message.n && message.p[at] == '"';
  size_t from = is_quoted ? at + 1 : at, end = from;
  while (end < message.n && (is_quoted ? message.p[end] != '"' : !attach_files_is_space(message.p[end]))) {
    end++;
  }
  *ret_end = is_quoted && end < message.n ? end + 1 : end;
  return lt_str_sub(message, from, end);
}

/* The path as the system takes it: with the person's home folder for "~". NULL: it has a NUL, or there is no memory. */
static const char *attach_files_real_path(lt_attach_files *files, lt_str path) {
  const char *home = getenv("HOME");
  bool is_home = lt_str_starts(path, LT_STR("~/")) && home != NULL;
  if (memchr(path.p, '\0', path.n) != NULL) {
    return NULL;
  }
  return lt_arena_printf(&files->arena, "%s%.*s", is_home ? home : "", LT_STR_ARG(lt_str_sub(path, is_home, path.n))).p;
}

static bool attach_files_is_there(const char *path) {
  struct stat about;
  return path != NULL && lstat(path, &about) == 0;
}

/* "look at @notes.md, please": what no file's name ends in is left out. */
static const char *attach_files_find(lt_attach_files *files, lt_str path) {
  const char *found = attach_files_real_path(files, path);
  while (!attach_files_is_there(found) && path.n > 1 && strchr(".,;:!?)]}'\"", path.p[path.n - 1]) != NULL) {
    path.n--;
    found = attach_files_real_path(files, path);
  }
  return attach_files_is_there(found) ? found : NULL;
}

lt_status lt_attach_files_add_named(lt_attach_files *files, lt_str message, const lt_console *console, lt_err *err) {
  for (size_t at = 0; at + 1 < message.n; at++) {
    if (message.p[at] != '@' || (at > 0 && !attach_files_is_space(message.p[at - 1]))) {
      continue;
    }
    lt_str path = attach_files_path_at(message, at + 1, &at);
    const char *found = path.n > 0 ? attach_files_find(files, path) : NULL;
    if (found != NULL) {
      LT_TRY(lt_attach_files_add(files, found, err));
      lt_console_format(console, "attached %s (%s, %zu bytes)", found,
                        lt_agent_attachment_type(&files->list[files->count - 1]), files->list[files->count - 1].data.n);
    } else if (memchr(path.p, '/', path.n) != NULL) {
      lt_console_format(console, "no file %.*s: it is sent as text", LT_STR_ARG(lt_str_sub(path, 0, 200)));
    }
  }
  return LT_OK;
}
