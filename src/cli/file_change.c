#include "cli/file_change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/text_block.h"
#include "text/line_diff.h"

#define BACKUP      ".lathe-backup"
#define BACKUPS_MAX 99

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* Opens a regular file; another one (a pipe) would keep us waiting. */
static lt_status file_change_open_file(const char *path, int *ret_fd, struct stat *ret_stat, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return lt_fail(err, errno == ENOENT || errno == ENOTDIR ? LT_E_NOTFOUND : LT_E_CONFIG, "%s: cannot be read: %s",
                   path, strerror(errno));
  }
  if (fstat(fd, ret_stat) != 0 || !S_ISREG(ret_stat->st_mode)) {
    close(fd);
    return lt_fail(err, LT_E_CONFIG, "%s: %s", path,
                   S_ISDIR(ret_stat->st_mode) ? "it is a folder" : "it is no regular file");
  }
  *ret_fd = fd;
  return LT_OK;
}

static lt_status file_change_read(const char *path, lt_buf *out, struct stat *ret_stat, lt_err *err) {
  int fd = -1;
  LT_TRY(file_change_open_file(path, &fd, ret_stat, err));
  lt_status status = lt_file_read_fd(fd, path, out, err);
  close(fd);
  return status;
}

/* A missing file is to be made, but not through a link to nowhere. */
static lt_status file_change_begin_new(lt_file_change *change, lt_err *err) {
  struct stat st;
  if (lstat(change->path.p, &st) == 0) {
    return lt_fail(err, LT_E_CONFIG, "%s: it is a link to a file that does not exist", change->path.p);
  }
  lt_buf_add(&change->target, lt_buf_view(&change->path));
  change->mode = 0600;
  return lt_buf_check(&change->target, err, "out of memory");
}

lt_status lt_file_change_open(const char *path, lt_file_change *ret, lt_err *err) {
  char real[PATH_MAX];
  struct stat st = {0};
  *ret = (lt_file_change){.exists = false};
  lt_buf_init(&ret->path, PATH_MAX);
  lt_buf_init(&ret->target, PATH_MAX);
  lt_buf_init(&ret->backup, PATH_MAX);
  lt_buf_init(&ret->old, LT_CLIENT_FILE_BYTES);
  lt_buf_init(&ret->text, LT_CLIENT_FILE_BYTES);
  lt_buf_addc(&ret->path, path);
  LT_TRY(lt_buf_check(&ret->path, err, "the path is too long"));
  LT_ERR_VAR(why);
  if (file_change_read(path, &ret->old, &st, &why) == LT_E_NOTFOUND) {
    return file_change_begin_new(ret, err);
  }
  LT_TRY(lt_err_copy(err, &why));
  ret->exists = true;
  ret->mode = st.st_mode & 07777;
  lt_buf_addc(&ret->target, realpath(path, real) != NULL ? real : path);
  return lt_buf_check(&ret->target, err, "out of memory");
}

void lt_file_change_release(lt_file_change *change) {
  lt_buf_release(&change->path);
  lt_buf_release(&change->target);
  lt_buf_release(&change->backup);
  lt_buf_release(&change->old);
  lt_buf_release(&change->text);
}

bool lt_file_change_is_any(const lt_file_change *change) {
  return !lt_str_eq(lt_buf_view(&change->old), lt_buf_view(&change->text));
}

lt_status lt_file_change_check(const lt_file_change *change, lt_err *err) {
  struct stat st;
  if (!change->exists || stat(change->target.p, &st) != 0) {
    return LT_OK;
  }
  if ((st.st_mode & 0222) == 0) {
    return lt_fail(err, LT_E_CONFIG, "%s is read-only: nothing was written (chmod u+w allows it)", change->path.p);
  }
  if (st.st_uid != geteuid()) {
    return lt_fail(err, LT_E_CONFIG, "%s belongs to another user: run this as that user; nothing was written",
                   change->path.p);
  }
  return LT_OK;
}

/* --- Showing ------------------------------------------------------------------------------------------------------ */

static void file_change_on_step(void *arg, const lt_line_diff_step *step) {
  static const char marks[] = {[LT_DIFF_SAME] = ' ', [LT_DIFF_REMOVED] = '-', [LT_DIFF_ADDED] = '+'};
  if (step->mark == LT_DIFF_REMOVED || step->mark == LT_DIFF_ADDED) {
    (void)lt_text_block_line(arg, LT_STR("  "), marks[step->mark], step->line, true);
  }
}

void lt_file_change_show(const lt_file_change *change, const lt_secrets *secrets, lt_buf *out) {
  LT_AUTO_BUF(before, LT_CLIENT_FILE_BYTES * 2UL);
  LT_AUTO_BUF(after, LT_CLIENT_FILE_BYTES * 2UL);
  lt_secrets_mask(secrets, lt_buf_view(&change->old), &before);
  lt_secrets_mask(secrets, lt_buf_view(&change->text), &after);
  lt_buf_add(out, lt_buf_view(&change->path));
  lt_buf_addc(out, change->exists ? "" : " (a new file)");
  if (before.status != LT_OK || after.status != LT_OK ||
      lt_line_diff(lt_buf_view(&before), lt_buf_view(&after), 0, file_change_on_step, out, NULL) != LT_OK) {
    lt_buf_addc(out, "\n  (it is too long to show its changes)");
  }
  lt_buf_byte(out, '\n');
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static lt_status file_change_is_unchanged(const lt_file_change *change, lt_err *err) {
  LT_AUTO_BUF(now, LT_CLIENT_FILE_BYTES);
  struct stat st;
  LT_ERR_VAR(why);
  lt_status status = file_change_read(change->target.p, &now, &st, &why);
  if (status == LT_E_NOTFOUND && !change->exists) {
    return LT_OK;
  }
  LT_TRY(lt_err_copy(err, &why));
  return change->exists && lt_str_eq(lt_buf_view(&now), lt_buf_view(&change->old))
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "%s has changed meanwhile: nothing was written, run the command again",
                       change->path.p);
}

/* The first name that is free, or that has this text already. */
static lt_status file_change_back_up(lt_file_change *change, lt_err *err) {
  const lt_file_replace_options options = {.mode = change->mode, .is_synced = true};
  for (int i = 1; i <= BACKUPS_MAX; i++) {
    LT_AUTO_BUF(other, LT_CLIENT_FILE_BYTES);
    struct stat st;
    lt_buf_clear(&change->backup);
    lt_buf_printf(&change->backup, i == 1 ? "%s" BACKUP : "%s" BACKUP ".%d", change->target.p, i);
    LT_TRY(lt_buf_check(&change->backup, err, "the path is too long"));
    lt_status status = file_change_read(change->backup.p, &other, &st, NULL);
    if (status == LT_E_NOTFOUND) {
      return lt_file_replace(change->backup.p, lt_buf_view(&change->old), &options, err);
    }
    if (status == LT_OK && lt_str_eq(lt_buf_view(&other), lt_buf_view(&change->old))) {
      return LT_OK;
    }
  }
  return lt_fail(err, LT_E_IO, "%s has %d backups already: delete some of %s" BACKUP "*", change->path.p, BACKUPS_MAX,
                 change->target.p);
}

lt_status lt_file_change_write(lt_file_change *change, lt_err *err) {
  const lt_file_replace_options options = {.mode = change->mode, .is_synced = true};
  LT_TRY(lt_file_change_check(change, err));
  LT_TRY(file_change_is_unchanged(change, err));
  if (change->exists) {
    LT_TRY(file_change_back_up(change, err));
  } else {
    lt_file_make_folders(change->target.p);
  }
  return lt_file_replace(change->target.p, lt_buf_view(&change->text), &options, err);
}
