#include "cli/type_ahead.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "io/terminal.h"

#define LINES_MAX   16 /* that wait; what is typed beyond them is left out */
#define SHOWN_CHARS 60
#define CTRL_D      0x04

struct lt_type_ahead {
  lt_loop *loop;
  lt_console *console;
  lt_activity *activity;
  lt_terminal *terminal;
  lt_buf text; /* lines that wait, each with its end, and the unfinished one */
  size_t lines;
  bool is_on, is_reading;
  bool is_in_escape; /* inside the bytes of an arrow or another key */
  bool has_left;     /* Ctrl-D was typed; what follows it does not count */
  lt_cancel cancel;
  lt_wait ended;
};

/* --- Keys --------------------------------------------------------------------------------------------------------- */
/* Removes the last character of the unfinished line. */
static void type_ahead_erase(lt_type_ahead *a) {
  while (a->text.n > 0 && a->text.p[a->text.n - 1] != '\n') {
    bool is_whole = !lt_utf8_continues(a->text.p[a->text.n - 1]);
    lt_buf_cut(&a->text, a->text.n - 1);
    if (is_whole) {
      return;
    }
  }
}

static bool type_ahead_line_is_empty(const lt_type_ahead *a) {
  return a->text.n == 0 || a->text.p[a->text.n - 1] == '\n';
}

static void type_ahead_end_line(lt_type_ahead *a) {
  if (!type_ahead_line_is_empty(a)) {
    lt_buf_byte(&a->text, '\n');
    a->lines++;
  }
}

static void type_ahead_add_byte(lt_type_ahead *a, char c) {
  unsigned char byte = (unsigned char)c;
  if (a->is_in_escape) { /* ECMA-48: a sequence ends with a letter or "~" */
    a->is_in_escape = !((byte >= 'A' && byte <= 'Z' && byte != 'O') || (byte >= 'a' && byte <= 'z') || byte == '~');
  } else if (byte == 0x1b) {
    a->is_in_escape = true;
  } else if (byte == '\r' || byte == '\n') {
    type_ahead_end_line(a);
  } else if (byte == 0x7f || byte == '\b') {
    type_ahead_erase(a);
  } else if (byte == CTRL_D) {
    a->has_left = type_ahead_line_is_empty(a);
  } else if (byte >= 0x20 && a->lines < LINES_MAX && a->text.n + 1 < LT_INPUT_LINE_BYTES) {
    lt_buf_byte(&a->text, c);
  }
}

/* "2 messages are sent after this answer: ...", and what is being typed. */
static void type_ahead_show(const lt_type_ahead *a) {
  LT_AUTO_BUF(row, LT_INPUT_LINE_BYTES + LT_KIB);
  lt_str text = lt_buf_view(&a->text);
  size_t begin = text.n;
  while (begin > 0 && text.p[begin - 1] != '\n') {
    begin--;
  }
  if (a->lines > 0) {
    lt_buf_printf(&row, "%zu %s sent after this answer: ", a->lines, a->lines == 1 ? "message is" : "messages are");
    lt_buf_add(&row, lt_utf8_cut(lt_str_sub(text, 0, lt_str_find(text, LT_STR("\n"), 0)), SHOWN_CHARS));
  }
  if (begin < text.n) {
    lt_buf_addc(&row, a->lines > 0 ? "  > " : "> ");
    lt_buf_add(&row, lt_utf8_cut(lt_str_sub(text, begin, text.n), SHOWN_CHARS));
  }
  if (a->has_left) {
    lt_buf_addc(&row, a->lines > 0 ? "; then this ends (Ctrl-D)" : "ends after this answer (Ctrl-D)");
  }
  lt_activity_note(a->activity, lt_buf_view(&row));
}

static void type_ahead_on_fiber(void *arg) {
  lt_type_ahead *a = arg;
  LT_AUTO_BUF(typed, LT_INPUT_LINE_BYTES);
  while (lt_terminal_read_typed(a->terminal, &a->cancel, &typed, NULL) == LT_OK) {
    for (size_t i = 0; i < typed.n && !a->has_left; i++) {
      type_ahead_add_byte(a, typed.p[i]);
    }
    lt_buf_clear(&typed);
    type_ahead_show(a);
  }
  a->is_reading = false;
  lt_wait_wake(&a->ended, LT_OK);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void type_ahead_start(lt_type_ahead *a) {
  if (a->is_on && !a->is_reading && a->console->held == NULL) {
    lt_cancel_init(&a->cancel);
    lt_terminal_hide_typed(a->terminal);
    a->is_reading = lt_loop_spawn(a->loop, type_ahead_on_fiber, a, NULL) == LT_OK;
    if (!a->is_reading) {
      lt_terminal_show_typed(a->terminal);
    }
  }
}

static void type_ahead_stop(lt_type_ahead *a) {
  if (a->is_reading) {
    lt_terminal_show_typed(a->terminal);
    lt_cancel_fire(&a->cancel, LT_E_CANCELLED);
  }
}

static void type_ahead_on_question(void *arg, bool is_open) {
  lt_type_ahead *a = arg;
  if (is_open) {
    type_ahead_stop(a);
  } else {
    type_ahead_start(a);
  }
}

lt_type_ahead *lt_type_ahead_new(lt_loop *loop, lt_console *console, lt_activity *activity) {
  lt_type_ahead *a = activity != NULL ? lt_mem_zalloc(1, sizeof *a) : NULL;
  if (a == NULL || lt_terminal_open(loop, "/dev/tty", &a->terminal, NULL) != LT_OK) {
    lt_mem_free(a);
    return NULL;
  }
  a->loop = loop;
  a->console = console;
  a->activity = activity;
  lt_buf_init(&a->text, LT_INPUT_LINE_BYTES);
  lt_wait_init(&a->ended, loop);
  console->on_question = type_ahead_on_question;
  console->question_arg = a;
  return a;
}

void lt_type_ahead_free(lt_type_ahead *a) {
  if (a != NULL) {
    a->console->on_question = NULL;
    lt_terminal_close(a->terminal);
    lt_buf_release(&a->text);
    lt_mem_free(a);
  }
}

void lt_type_ahead_begin(lt_type_ahead *a) {
  if (a != NULL) {
    a->is_on = true;
    type_ahead_start(a);
    type_ahead_show(a);
  }
}

void lt_type_ahead_end(lt_type_ahead *a) {
  if (a == NULL) {
    return;
  }
  a->is_on = false;
  type_ahead_stop(a);
  while (a->is_reading) {
    lt_wait_on(&a->ended, UINT64_MAX);
  }
  lt_activity_note(a->activity, LT_STR(""));
}

bool lt_type_ahead_take(lt_type_ahead *a, lt_buf *out, bool *ret_is_whole) {
  if (a == NULL || a->text.n == 0) {
    return false;
  }
  size_t end = lt_str_find(lt_buf_view(&a->text), LT_STR("\n"), 0);
  *ret_is_whole = end != SIZE_MAX;
  end = *ret_is_whole ? end : a->text.n;
  lt_buf_add(out, lt_str_sub(lt_buf_view(&a->text), 0, end));
  lt_buf_consume(&a->text, *ret_is_whole ? end + 1 : end);
  a->lines -= *ret_is_whole ? 1 : 0;
  return true;
}

bool lt_type_ahead_has_left(const lt_type_ahead *a) {
  return a != NULL && a->has_left;
}
