#include "cli/input_edit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "io/line_input.h"
#include "io/terminal_program.h"
#include "json/json.h"

#define FILE_NAME "input.json"

/* --- The text ----------------------------------------------------------------------------------------------------- */
static lt_status input_edit_check(lt_str text, lt_buf *ret_text, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (lt_str_trim(text).n == 0) {
    return lt_fail(err, LT_E_INVALID, "the edited input is empty");
  }
  LT_TRY(lt_json_parse(&arena, text, &doc, err));
  if (lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_INVALID, "the edited input is no JSON object");
  }
  lt_buf_add(ret_text, lt_json_text(lt_json_root(&doc)));
  return lt_fail_if(err, ret_text->status, "the edited input is too long");
}

/* --- In an editor ------------------------------------------------------------------------------------------------- */
static const char *input_edit_variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *input_edit_editor(void) {
  const char *visual = input_edit_variable("VISUAL");
  return visual != NULL ? visual : input_edit_variable("EDITOR");
}

/* A folder of our own, so that an editor's copies are in it, too. */
static lt_status input_edit_make_folder(lt_buf *path, lt_err *err) {
  const char *runtime = input_edit_variable("XDG_RUNTIME_DIR"), *temporary = input_edit_variable("TMPDIR");
  lt_buf_printf(path, "%s/lathe-edit-XXXXXX", runtime != NULL ? runtime : temporary != NULL ? temporary : "/tmp");
  LT_TRY(lt_fail_if(err, path->status, "no memory for a file to edit"));
  return mkdtemp(path->p) != NULL
             ? LT_OK
             : lt_fail(err, LT_E_IO, "cannot make a folder for the input (%s): %s", path->p, strerror(errno));
}

static void input_edit_remove_folder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
    (void)unlinkat(dirfd(folder), entry->d_name, 0);
  }
  if (folder != NULL) {
    closedir(folder);
  }
  (void)rmdir(path);
}

static lt_status input_edit_write_file(const char *path, lt_str text, lt_err *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  bool is_written = file != NULL && fwrite(text.p, 1, text.n, file) == text.n && fputc('\n', file) != EOF;
  is_written = file != NULL && fclose(file) == 0 && is_written;
  return is_written ? LT_OK : lt_fail(err, LT_E_IO, "cannot write the input to %s: %s", path, strerror(errno));
}

static lt_status input_edit_read_file(const char *path, lt_buf *out, lt_err *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return lt_fail(err, LT_E_IO, "cannot read the edited input: %s", strerror(errno));
  }
  char bytes[4096];
  for (size_t n; out->status == LT_OK && (n = fread(bytes, 1, sizeof bytes, file)) > 0;) {
    lt_buf_add(out, lt_str_from(bytes, n));
  }
  fclose(file);
  return lt_fail_if(err, out->status, "the edited input is too long");
}

/* The variable may have options: a shell reads it, as git does it. */
static lt_status input_edit_run_editor(lt_loop *loop, const char *path, lt_cancel *cancel, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(command, LT_MIB);
  int code = 0;
  lt_buf_printf(&command, "%s \"$1\"", input_edit_editor());
  LT_TRY(lt_fail_if(err, command.status, "no memory to start an editor"));
  const char *const argv[] = {"/bin/sh", "-c", command.p, "sh", path, NULL};
  LT_TRY(lt_terminal_program_run(loop, argv, cancel, &code, err));
  return code == 0 ? LT_OK : lt_fail(err, LT_E_IO, "the editor ended with %d", code);
}

static lt_status input_edit_in_folder(lt_loop *loop, const char *folder, lt_str input, lt_cancel *cancel,
                                      lt_buf *ret_text, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(path, 4 * LT_KIB);
  LT_AUTO_BUF(text, 2 * LT_JSON_MAX_BYTES);
  lt_buf_printf(&path, "%s/" FILE_NAME, folder);
  LT_TRY(lt_fail_if(err, path.status, "no memory for a file to edit"));
  LT_TRY(input_edit_write_file(path.p, input, err));
  LT_TRY(input_edit_run_editor(loop, path.p, cancel, err));
  LT_TRY(input_edit_read_file(path.p, &text, err));
  return input_edit_check(lt_buf_view(&text), ret_text, err);
}

static lt_status input_edit_in_editor(lt_loop *loop, lt_str input, lt_cancel *cancel, lt_buf *ret_text,
                                      lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(folder, 4 * LT_KIB);
  LT_TRY(input_edit_make_folder(&folder, err));
  lt_status status = input_edit_in_folder(loop, folder.p, input, cancel, ret_text, err);
  input_edit_remove_folder(folder.p);
  return status;
}

/* --- In a line ---------------------------------------------------------------------------------------------------- */
static lt_status input_edit_in_line(lt_loop *loop, lt_str input, lt_cancel *cancel, lt_buf *ret_text,
                                    lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(line, LT_INPUT_LINE_BYTES);
  lt_line_input *editor = NULL;
  LT_TRY(lt_line_input_open(loop, NULL, &editor, err));
  LT_AUTO_BUF(offered, LT_INPUT_LINE_BYTES);
  lt_buf_add(&offered, input);
  lt_line_input_offer(editor, offered.status == LT_OK ? offered.p : "");
  lt_status status = lt_line_input_read(editor, "input: ", cancel, &line, err);
  lt_line_input_close(editor);
  LT_TRY(status);
  return input_edit_check(lt_buf_view(&line), ret_text, err);
}

lt_status lt_input_edit(lt_loop *loop, lt_str input, lt_cancel *cancel, lt_buf *ret_text, lt_err *err) {
  return input_edit_editor() != NULL ? input_edit_in_editor(loop, input, cancel, ret_text, err)
                                     : input_edit_in_line(loop, input, cancel, ret_text, err);
}
