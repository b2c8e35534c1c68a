#include "app/instructions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app/trust.h"
#include "base/clock.h"
#include "base/limits.h"
#include "config/config_read.h"

/* The second where a folder has no first. */
static const char *const instructions_names[] = {"AGENTS.md", "CLAUDE.md"};

bool lt_instructions_is_file(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  return strcmp(name, instructions_names[0]) == 0 || strcmp(name, instructions_names[1]) == 0;
}

lt_status lt_instructions_inspect(const char *path, lt_arena *arena, lt_config_file *ret_file, lt_str *ret_text,
                                  lt_err *err) {
  lt_config_identity identity;
  LT_AUTO_BUF(text, LT_INSTRUCTIONS_FILE_BYTES + 1);
  lt_status status = lt_config_read(path, true, &text, &identity, err);
  if (status == LT_E_LIMIT || text.n > LT_INSTRUCTIONS_FILE_BYTES) {
    return lt_fail(err, LT_E_LIMIT,
                   "%s: instructions may have %lu KiB: shorten the file, or write instructions.files: "
                   "false in the configuration",
                   path, LT_INSTRUCTIONS_FILE_BYTES / LT_KIB);
  }
  LT_TRY(status);
  lt_sha256_hex hash = lt_sha256(lt_buf_view(&text));
  *ret_text = lt_arena_dup_buf(arena, &text);
  *ret_file = (lt_config_file){
      .name = path, .path = lt_config_absolute_path(arena, path), .hash = lt_arena_dup(arena, lt_str_of(hash.text)).p};
  bool has_all = ret_text->p != NULL && ret_file->path != NULL && ret_file->hash != NULL;
  return has_all ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory while reading instructions");
}

/* --- The text ----------------------------------------------------------------------------------------------------- */
typedef struct instructions_writer {
  const lt_report *report;
  bool has_trust; /* the list has been read: not before there is a file to look for */
  lt_trust trust;
  lt_arena arena;
  lt_buf *out;
} instructions_writer;

static void instructions_put_text(lt_buf *out, const char *path, lt_str text) {
  lt_str trimmed = lt_str_trim(text);
  if (trimmed.n == 0) {
    return;
  }
  lt_buf_addc(out, out->n > 0 ? "\n\n" : "");
  if (path != NULL) {
    lt_buf_printf(out, "Instructions of %s:\n", path);
  }
  lt_buf_add(out, trimmed);
}

/* Today's, in UTC: the day is all that a cache survives. */
static void instructions_put_about(const lt_config *config, lt_buf *out) {
  char stamp[LT_CLOCK_STAMP_BYTES], folder[PATH_MAX];
  struct utsname system;
  LT_AUTO_BUF(about, 2 * PATH_MAX);
  if (config->instructions.has_date) {
    lt_clock_stamp(stamp);
    lt_buf_printf(&about, "Date: %.10s\n", stamp);
  }
  if (config->instructions.has_folder && getcwd(folder, sizeof folder) != NULL) {
    lt_buf_printf(&about, "Folder: %s\n", folder);
  }
  if (config->instructions.has_system && uname(&system) == 0) {
    lt_buf_printf(&about, "System: %s %s, %s\n", system.sysname, system.release, system.machine);
  }
  instructions_put_text(out, NULL, lt_buf_view(&about));
}

/* --- Files -------------------------------------------------------------------------------------------------------- */
static lt_status instructions_put_file(instructions_writer *w, const char *path, lt_err *err) {
  lt_config_file file;
  lt_str text;
  LT_TRY(lt_instructions_inspect(path, &w->arena, &file, &text, err));
  if (!w->has_trust) {
    w->has_trust = true;
    LT_TRY(lt_trust_read(&w->trust, err));
  }
  lt_config_trust trust = lt_trust_of(&w->trust, &file);
  if (trust == LT_CONFIG_TRUSTED) {
    instructions_put_text(w->out, file.path, text);
  } else {
    lt_report_warning(w->report, "%s is not for the model: %s. Read it, then: lathe trust %s", file.path,
                      trust == LT_CONFIG_CHANGED ? "it has changed since you trusted it" : "you have not trusted it",
                      file.path);
  }
  return LT_OK;
}

/* A file that cannot be used is a warning: it is the folder's, and the person did not ask for it. One that is too long
 * would be half an instruction. */
static lt_status instructions_put_folder(instructions_writer *w, const char *folder, lt_err *err) {
  for (size_t i = 0; i < sizeof instructions_names / sizeof instructions_names[0]; i++) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", instructions_names[i]);
    if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0) {
      continue;
    }
    lt_status status = instructions_put_file(w, path, err);
    if (status == LT_E_CONFIG || status == LT_E_LIMIT) {
      lt_report_warning(w->report, "%s", lt_err_msg(err));
      *err = LT_ERR_INIT;
    }
    return status == LT_E_NOMEM ? status : LT_OK;
  }
  return LT_OK;
}

/* The outermost folder first: what is nearer is read later, and counts more. */
static lt_status instructions_put_folders(instructions_writer *w, lt_err *err) {
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == NULL || folder[0] != '/') {
    return LT_OK;
  }
  size_t length = strlen(folder);
  for (size_t at = 0; at <= length; at++) {
    if (at == 0 || folder[at] == '/' || folder[at] == '\0') {
      char one[PATH_MAX];
      memcpy(one, folder, at);
      one[at] = '\0';
      bool is_again = at == length && length == 1; /* the folder is the root */
      LT_TRY(is_again ? LT_OK : instructions_put_folder(w, at == 0 ? "/" : one, err));
    }
  }
  return LT_OK;
}

static lt_status instructions_put_files(const lt_report *report, lt_buf *out, lt_err *err) {
  instructions_writer w = {.report = report, .out = out};
  lt_arena_init(&w.arena, LT_CONFIG_MEMORY_BYTES);
  lt_status status = instructions_put_folders(&w, err);
  if (w.has_trust) {
    lt_trust_release(&w.trust);
  }
  lt_arena_release(&w.arena);
  return status;
}

lt_status lt_instructions_put(const lt_config *config, lt_str system, const lt_report *report, lt_buf *out,
                              lt_err *err) {
  const char *text = config->instructions.text;
  instructions_put_text(out, NULL, lt_str_of(text != NULL ? text : ""));
  if (config->instructions.has_files) {
    LT_TRY(instructions_put_files(report, out, err));
  }
  instructions_put_text(out, NULL, system);
  instructions_put_about(config, out);
  if (out->status == LT_E_LIMIT || out->n > LT_INSTRUCTIONS_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "all instructions together have more than %lu KiB: shorten them",
                   LT_INSTRUCTIONS_BYTES / LT_KIB);
  }
  return lt_buf_check(out, err, "out of memory while reading instructions");
}
