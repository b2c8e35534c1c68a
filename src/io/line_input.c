#include "io/line_input.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#include "base/file.h"
#include "base/mem.h"
#include "io/edit_open.h"
#include "io/loop_handles.h"
#include "io/read_ready.h"
#include "io/terminal.h"

struct lt_line_input {
  lt_loop *loop;
  const lt_edit *edit; /* NULL: there is no libedit ... */
  lt_terminal *plain;  /* ... and lines come from here */
  uv_poll_t *poll;
  FILE *in, *out;
  EditLine *el;
  History *history;
  char *history_path; /* NULL: nothing is kept */
  const char *prompt;
  lt_cancel *cancel; /* the cancel of the current read */
  lt_status failed;  /* why the current read ended without a line */
  bool had_text;
  bool marks_pastes;                  /* the terminal can be asked to mark pasted text */
  void (*change_paste)(lt_buf *text); /* NULL: pasted text is taken as it is */
  void (*complete)(void *arg, lt_line_completion *completion) LT_YIELDS; /* NULL: Tab does nothing */
  void *complete_arg;
};

/* Bracketed paste: on request, a terminal puts these marks around pasted text. */
#define PASTE_ON    "\x1b[?2004h"
#define PASTE_OFF   "\x1b[?2004l"
#define PASTE_BEGIN "\x1b[200~"
#define PASTE_END   "\x1b[201~"

/* --- Characters --------------------------------------------------------------------------------------------------- */
static void line_input_on_readable(uv_poll_t *handle, int status, int events) {
  (void)status, (void)events; /* every event is handled by reading */
  uv_poll_stop(handle);
  lt_wait_wake(handle->data, LT_OK);
}

static lt_status line_input_await_readable(lt_line_input *input) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, input->loop);
  input->poll->data = &wait;
  uv_poll_start(input->poll, UV_READABLE | UV_DISCONNECT, line_input_on_readable);
  lt_cancel_add(input->cancel, &node, &wait);
  lt_status status = lt_wait_on(&wait, UINT64_MAX);
  lt_cancel_remove(input->cancel, &node);
  uv_poll_stop(input->poll);
  return status;
}

/* Returns 1: a byte; 0: the end; -1: `failed` says what happened. */
static int line_input_read_byte(lt_line_input *input, char *ret) LT_YIELDS {
  for (;;) {
    lt_status status = line_input_await_readable(input);
    if (status != LT_OK) {
      input->failed = status;
      return -1;
    }
    ssize_t n = lt_read_ready(fileno(input->in), ret, 1);
    if (n == 1) {
      return 1;
    }
    if (n != LT_READ_LATER) {
      input->failed = LT_E_CLOSED;
      return n == LT_READ_END ? 0 : -1;
    }
  }
}

/* libedit calls it for each character, on the reader's fiber. Malformed bytes are skipped. */
static int line_input_read_character(EditLine *el, wchar_t *ret) LT_YIELDS {
  void *data = NULL;
  mbstate_t state;
  memset(&state, 0, sizeof state);
  const lt_edit *edit;
  if (lt_edit_open(&edit, NULL) != LT_OK || edit->el_get(el, EL_CLIENTDATA, &data) != 0) {
    return -1;
  }
  for (;;) {
    char byte;
    int got = line_input_read_byte(data, &byte);
    if (got != 1) {
      return got;
    }
    size_t n = mbrtowc(ret, &byte, 1, &state);
    if (n == 0 || n == 1) {
      return 1;
    }
    if (n == (size_t)-1) {
      memset(&state, 0, sizeof state);
    }
  }
}

static char *line_input_prompt_of(EditLine *el) {
  void *data = NULL;
  const lt_edit *edit;
  if (lt_edit_open(&edit, NULL) != LT_OK || edit->el_get(el, EL_CLIENTDATA, &data) != 0) {
    static char nothing[] = "";
    return nothing;
  }
  return (char *)(uintptr_t)((lt_line_input *)data)->prompt;
}

/* --- Pasted text -------------------------------------------------------------------------------------------------- */
/* Reads a paste up to its end mark. Text beyond the longest line is skipped. */
static lt_status line_input_read_paste(lt_line_input *input, lt_buf *out) LT_YIELDS {
  const size_t mark = sizeof PASTE_END - 1;
  char last[sizeof PASTE_END - 1] = "";
  for (;;) {
    char byte;
    if (line_input_read_byte(input, &byte) != 1) {
      return input->failed;
    }
    memmove(last, last + 1, mark - 1);
    last[mark - 1] = byte;
    lt_buf_byte(out, byte);
    if (memcmp(last, PASTE_END, mark) == 0) {
      out->n = out->status == LT_OK ? out->n - mark : out->n;
      return LT_OK;
    }
  }
}

/* Line breaks and tabs are kept; other control characters are dropped. */
static void line_input_clean_paste(lt_buf *text) {
  size_t n = 0;
  for (size_t i = 0; i < text->n; i++) {
    unsigned char c = (unsigned char)text->p[i];
    if (c == '\r') {
      text->p[n++] = '\n';
    } else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f)) {
      text->p[n++] = (char)c;
    }
  }
  text->n = n;
}

/* Whose line it is; NULL: libedit does not say. */
static lt_line_input *line_input_of(EditLine *el) {
  void *data = NULL;
  const lt_edit *edit;
  return lt_edit_open(&edit, NULL) == LT_OK && edit->el_get(el, EL_CLIENTDATA, &data) == 0 ? data : NULL;
}

/* libedit calls it at the start mark of a paste, on the reader's fiber. A line break in the paste does not end the
 * line. */
static unsigned char line_input_take_paste(EditLine *el, int ch) LT_YIELDS {
  (void)ch;
  lt_line_input *input = line_input_of(el);
  if (input == NULL) {
    return CC_ERROR;
  }
  LT_AUTO_BUF(text, LT_INPUT_LINE_BYTES);
  unsigned char result = CC_ERROR;
  if (line_input_read_paste(input, &text) != LT_OK) {
    result = CC_EOF;
  } else if (text.n > 0 && text.status == LT_OK) {
    line_input_clean_paste(&text);
    if (input->change_paste != NULL) {
      input->change_paste(&text);
    }
    lt_buf_byte(&text, '\0');
    bool whole = text.status == LT_OK && input->edit->el_insertstr(el, text.p) == 0;
    result = whole ? CC_REFRESH : CC_ERROR;
  }
  return result;
}

static void line_input_heed_pastes(lt_line_input *input) {
  const char *term = getenv("TERM");
  input->marks_pastes = term != NULL && strcmp(term, "dumb") != 0;
  /* The wide variant is used because el_set leaks copies of the names. */
  input->edit->el_wset(input->el, EL_ADDFN, L"lathe-paste", L"Take pasted text as it is", line_input_take_paste);
  input->edit->el_set(input->el, EL_BIND, "\\e[200~", "lathe-paste", NULL);
}

static void line_input_ask_for_marks(lt_line_input *input, const char *on_or_off) {
  if (input->marks_pastes) {
    fputs(on_or_off, input->out);
    fflush(input->out);
  }
}

/* --- Completion --------------------------------------------------------------------------------------------------- */
static size_t line_input_columns(const lt_line_input *input) {
  struct winsize size;
  return ioctl(fileno(input->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static unsigned char line_input_show_candidates(lt_line_input *input, const lt_line_completion *completion) {
  LT_AUTO_BUF(table, 4 * LT_COMPLETIONS_BYTES);
  if (completion->count == 0) {
    return CC_ERROR;
  }
  lt_line_completion_put(completion, line_input_columns(input), &table);
  fprintf(input->out, "\n%.*s", LT_STR_ARG(lt_buf_view(&table)));
  fflush(input->out);
  return CC_REDISPLAY;
}

static unsigned char line_input_insert(const lt_line_input *input, lt_str text) {
  LT_AUTO_BUF(rest, LT_COMPLETIONS_BYTES);
  lt_buf_add(&rest, text);
  lt_buf_byte(&rest, '\0');
  return rest.status == LT_OK && input->edit->el_insertstr(input->el, rest.p) == 0 ? CC_REFRESH : CC_ERROR;
}

/* libedit calls it at a Tab, on the reader's fiber. The line is copied, because libedit has one buffer for it. */
static unsigned char line_input_take_tab(EditLine *el, int ch) LT_YIELDS {
  (void)ch;
  lt_line_input *input = line_input_of(el);
  if (input == NULL) {
    return CC_ERROR;
  }
  const LineInfo *info = input->edit->el_line(el);
  LT_AUTO_BUF(line, LT_INPUT_LINE_BYTES);
  lt_buf_add(&line, lt_str_from(info->buffer, (size_t)(info->cursor - info->buffer)));
  if (lt_str_trim(lt_buf_view(&line)).n == 0) {
    return line_input_insert(input, LT_STR("  "));
  }
  lt_line_completion *completion = lt_mem_alloc(sizeof *completion);
  if (completion == NULL) {
    return CC_ERROR;
  }
  lt_line_completion_init(completion, lt_buf_view(&line));
  input->complete(input->complete_arg, completion);
  lt_str rest = lt_line_completion_rest(completion);
  unsigned char result = rest.n > 0              ? line_input_insert(input, rest)
                         : completion->count > 1 ? line_input_show_candidates(input, completion)
                                                 : CC_ERROR;
  lt_line_completion_release(completion);
  lt_mem_free(completion);
  return result;
}

void lt_line_input_change_pastes_by(lt_line_input *input, void (*change)(lt_buf *text)) {
  input->change_paste = change;
}

void lt_line_input_complete_by(lt_line_input *input,
                               void (*complete)(void *arg, lt_line_completion *completion) LT_YIELDS, void *arg) {
  input->complete = complete;
  input->complete_arg = arg;
  if (input->el != NULL) {
    input->edit->el_wset(input->el, EL_ADDFN, L"lathe-complete", L"Complete the word", line_input_take_tab);
    input->edit->el_set(input->el, EL_BIND, "^I", "lathe-complete", NULL);
  }
}

/* --- History ------------------------------------------------------------------------------------------------------ */
static void line_input_enter(lt_line_input *input, lt_str line) {
  char text[LT_INPUT_LINE_KEPT_BYTES + 1];
  HistEvent event;
  if (line.n == 0 || line.n > LT_INPUT_LINE_KEPT_BYTES || memchr(line.p, 0, line.n) != NULL) {
    return;
  }
  memcpy(text, line.p, line.n);
  text[line.n] = '\0';
  input->edit->history(input->history, &event, H_ENTER, text);
}

/* The file has one part that is read and three older ones before it is cut: so it is seldom written. */
#define HISTORY_FILE_BYTES (4 * LT_INPUT_HISTORY_BYTES)

/* Reads the last lines of the file. Older lines are ignored, and removed from a file that has become long. */
static void line_input_load_history(lt_line_input *input) {
  static char bytes[LT_INPUT_HISTORY_BYTES];
  int fd = open(input->history_path, O_RDONLY | O_CLOEXEC);
  off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
  off_t from = size > (off_t)sizeof bytes ? size - (off_t)sizeof bytes : 0;
  ssize_t n = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, from);
  lt_str text = lt_str_from(bytes, n > 0 ? (size_t)n : 0);
  size_t at = from > 0 ? lt_str_find(text, LT_STR("\n"), 0) + 1 : 0;
  if (size > (off_t)HISTORY_FILE_BYTES) {
    (void)lt_file_replace(input->history_path, lt_str_sub(text, at, text.n), NULL, NULL);
  }
  while (at < text.n) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    line_input_enter(input, lt_str_sub(text, at, end));
    at = end < text.n ? end + 1 : text.n;
  }
  if (fd >= 0) {
    close(fd);
  }
}

/* Appends the line, so that two processes do not lose each other's lines. */
void lt_line_input_keep(lt_line_input *input, lt_str line) {
  if (input->edit == NULL || memchr(line.p, '\n', line.n) != NULL) {
    return;
  }
  line_input_enter(input, line);
  int fd = input->history_path == NULL
               ? -1
               : open(input->history_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) {
    const struct iovec parts[] = {{.iov_base = (void *)(uintptr_t)line.p, .iov_len = line.n},
                                  {.iov_base = (char[]){'\n'}, .iov_len = 1}};
    (void)!writev(fd, parts, 2); /* a line that cannot be stored is no failure */
    close(fd);
  }
}

void lt_line_input_offer(lt_line_input *input, const char *text) {
  if (input->el != NULL) {
    input->edit->el_push(input->el, text);
  }
}

void lt_line_input_resized(lt_line_input *input) {
  if (input->el != NULL) {
    input->edit->el_resize(input->el);
  }
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
/* Sets the locale. Without it, letters beyond ASCII are shown as escapes. */
static void line_input_use_utf8(void) {
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
    setlocale(LC_CTYPE, "C.UTF-8");
  }
}

static bool line_input_open_files(lt_line_input *input) {
  int in = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  int out = in < 0 ? -1 : open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC);
  input->in = in < 0 ? NULL : fdopen(in, "r");
  input->out = out < 0 ? NULL : fdopen(out, "w");
  return input->in != NULL && input->out != NULL;
}

static void line_input_set_up(lt_line_input *input) {
  const lt_edit *edit = input->edit;
  HistEvent event;
  edit->el_set(input->el, EL_CLIENTDATA, input);
  edit->el_set(input->el, EL_GETCFN, line_input_read_character);
  edit->el_set(input->el, EL_PROMPT, line_input_prompt_of);
  edit->el_set(input->el, EL_EDITOR, "emacs");
  edit->el_set(input->el, EL_SIGNAL, 0); /* the loop has the signals */
  edit->el_set(input->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  line_input_heed_pastes(input);
  edit->history(input->history, &event, H_SETSIZE, LT_INPUT_HISTORY_MAX);
  edit->history(input->history, &event, H_SETUNIQUE, 1);
  edit->el_set(input->el, EL_HIST, edit->history, input->history);
  if (input->history_path != NULL) {
    line_input_load_history(input);
  }
}

static lt_status line_input_open_editor(lt_line_input *input, lt_err *err) {
  line_input_use_utf8();
  if (!line_input_open_files(input)) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no terminal");
  }
  input->history = input->edit->history_init();
  input->el = input->edit->el_init_fd("lathe", input->in, input->out, input->out, fileno(input->in), fileno(input->out),
                                      fileno(input->out));
  input->poll = lt_mem_zalloc(1, sizeof *input->poll);
  if (input->history == NULL || input->el == NULL || input->poll == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a line's editing");
  }
  if (uv_poll_init(lt_loop_uv(input->loop), input->poll, fileno(input->in)) != 0) {
    lt_mem_free(input->poll);
    input->poll = NULL;
    return lt_fail(err, LT_E_NOTFOUND, "the terminal cannot be read");
  }
  lt_loop_add_object(input->loop);
  line_input_set_up(input);
  return LT_OK;
}

lt_status lt_line_input_open(lt_loop *loop, const char *history_path, lt_line_input **ret_input, lt_err *err) {
  lt_line_input *input = lt_mem_zalloc(1, sizeof *input);
  if (input == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a line's editing");
  }
  input->loop = loop;
  lt_status status = LT_OK;
  if (history_path != NULL) {
    input->history_path = lt_mem_strdup(lt_str_of(history_path));
    status = input->history_path != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a line's editing");
  }
  if (status == LT_OK && lt_edit_open(&input->edit, NULL) == LT_OK) {
    status = line_input_open_editor(input, err);
  } else if (status == LT_OK) {
    input->edit = NULL;
    status = lt_terminal_open(loop, "/dev/tty", &input->plain, err);
  }
  if (status != LT_OK) {
    lt_line_input_close(input);
    return status;
  }
  *ret_input = input;
  return LT_OK;
}

static void line_input_on_closed(uv_handle_t *handle) {
  lt_mem_free(handle);
}

void lt_line_input_close(lt_line_input *input) {
  if (input == NULL) {
    return;
  }
  lt_terminal_close(input->plain);
  if (input->poll != NULL) {
    lt_loop_remove_object(input->loop);
    uv_close((uv_handle_t *)input->poll, line_input_on_closed);
  }
  if (input->el != NULL) {
    input->edit->el_end(input->el);
  }
  if (input->history != NULL) {
    input->edit->history_end(input->history);
  }
  if (input->in != NULL) {
    fclose(input->in);
  }
  if (input->out != NULL) {
    fclose(input->out);
  }
  lt_mem_free(input->history_path);
  lt_mem_free(input);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static lt_status line_input_read_plain(lt_line_input *input, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS {
  lt_terminal_write(input->plain, lt_str_of(input->prompt));
  lt_status status = lt_terminal_read_line(input->plain, cancel, out, err);
  if (status != LT_OK) {
    lt_terminal_write(input->plain, LT_STR("\n"));
  }
  return status;
}

lt_status lt_line_input_read(lt_line_input *input, const char *prompt, lt_cancel *cancel, lt_buf *out, lt_err *err) {
  input->prompt = prompt;
  input->had_text = false;
  if (input->edit == NULL) {
    return line_input_read_plain(input, cancel, out, err);
  }
  int count = 0;
  input->cancel = cancel;
  input->failed = LT_OK;
  input->edit->el_set(input->el, EL_PREP_TERM, 1); /* before the prompt: Ctrl-D that answers it must not be lost */
  line_input_ask_for_marks(input, PASTE_ON);
  const char *line = input->edit->el_gets(input->el, &count);
  line_input_ask_for_marks(input, PASTE_OFF);
  if (line == NULL || count <= 0 || input->failed != LT_OK) {
    lt_status why = input->failed != LT_OK ? input->failed : LT_E_CLOSED;
    const LineInfo *about = input->edit->el_line(input->el);
    input->had_text = about != NULL && about->lastchar > about->buffer;
    input->edit->el_reset(input->el);
    fputs("\n", input->out);
    fflush(input->out);
    return lt_fail(err, why, "%s while waiting for a line", lt_status_text(why));
  }
  lt_str text = lt_str_from(line, (size_t)count);
  lt_buf_add(out, lt_str_ends(text, LT_STR("\n")) ? lt_str_sub(text, 0, text.n - 1) : text);
  return lt_buf_check(out, err, "the line is too long");
}

bool lt_line_input_had_text(const lt_line_input *input) {
  return input->had_text;
}
