#include "cli/activity.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "types/typegen_text.h"

#define DRAW_MS        120
#define PATIENCE_MS    500 /* nothing is drawn for what takes less */
#define NAME_CHARS     60
#define PROGRESS_CHARS 100
#define ROWS_MAX       6 /* drawn at once; the last one counts the other calls */

typedef struct activity_call {
  struct activity_call *next; /* began later */
  uint64_t number;
  uint64_t began_ms;
  char *tool;
  char *progress; /* NULL: the server has said nothing */
} activity_call;

struct lt_activity {
  lt_loop *loop;
  lt_console *console;
  lt_timer *timer;
  activity_call *calls;
  char *what; /* NULL: nothing */
  char *note; /* NULL: none */
  uint64_t began_ms;
  bool is_paused;
  unsigned rows; /* on the screen */
  unsigned frame;
};

typedef struct activity_window {
  unsigned rows, columns;
} activity_window;

/* --- Drawing ------------------------------------------------------------------------------------------------------ */
void lt_activity_erase(lt_activity *a) {
  while (a != NULL && a->rows > 0) {
    fputs(a->rows > 1 ? "\r\x1b[K\x1b[A" : "\r\x1b[K", stderr);
    a->rows--;
  }
}

static void activity_make_way(void *arg) {
  lt_activity_erase(arg);
}

static activity_window activity_measure_window(void) {
  struct winsize size;
  bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return (activity_window){.rows = is_known && size.ws_row > 0 ? size.ws_row : 24,
                           .columns = is_known && size.ws_col > 0 ? size.ws_col : 80};
}

static void activity_put_row(const lt_activity *a, const activity_call *call, lt_buf *line) {
  uint64_t ms = lt_loop_now_ms(a->loop) - (call != NULL ? call->began_ms : a->began_ms);
  lt_typegen_put_line(line, lt_str_of(call != NULL ? call->tool : a->what), NAME_CHARS);
  lt_buf_printf(line, " %llu.%llu s", (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
  if (call != NULL && call->progress != NULL) {
    lt_buf_addc(line, ": ");
    lt_typegen_put_line(line, lt_str_of(call->progress), PROGRESS_CHARS);
  }
}

/* No wider than the window: a wrapped line cannot be erased. No character is wider than its bytes. */
static void activity_draw_row(lt_activity *a, lt_str row, size_t columns) {
  bool has_colour = lt_console_has_colour(stderr);
  lt_str text = columns > 3 ? lt_utf8_cut(row, columns - 3) : LT_STR("");
  fprintf(stderr, "%s\r\x1b[K%s%c %.*s%s", a->rows > 0 ? "\n" : "", has_colour ? "\x1b[2m" : "", "|/-\\"[a->frame % 4],
          LT_STR_ARG(text), has_colour ? "\x1b[0m" : "");
  a->rows++;
}

/* A row for each call; at most half of the window. */
static void activity_draw(lt_activity *a) {
  const activity_window window = activity_measure_window();
  LT_AUTO_BUF(line, LT_MIB);
  const size_t most = window.rows / 2 < ROWS_MAX ? window.rows / 2 : ROWS_MAX;
  size_t count = 0, drawn = 0;
  for (const activity_call *call = a->calls; call != NULL; call = call->next) {
    count++;
  }
  lt_activity_erase(a);
  a->frame++;
  const activity_call *call = a->calls;
  const size_t rows = count <= most || most < 2 ? count : most - 1;
  do {
    lt_buf_clear(&line);
    activity_put_row(a, call, &line);
    if (most < 2 && count > 1) {
      lt_buf_printf(&line, ", %zu more", count - 1);
    }
    activity_draw_row(a, lt_buf_view(&line), window.columns);
    call = call != NULL ? call->next : NULL;
    drawn++;
  } while (call != NULL && drawn < rows && most > 1);
  if (count > drawn && most > 1) {
    lt_buf_clear(&line);
    lt_buf_printf(&line, "%zu more calls", count - drawn);
    activity_draw_row(a, lt_buf_view(&line), window.columns);
  }
  if (a->note != NULL && most > 1) {
    lt_buf_clear(&line);
    lt_typegen_put_line(&line, lt_str_of(a->note), window.columns);
    activity_draw_row(a, lt_buf_view(&line), window.columns);
  }
  fflush(stderr);
}

static bool activity_has_something(const lt_activity *a) {
  uint64_t began_ms = a->calls != NULL ? a->calls->began_ms : a->began_ms;
  return (a->calls != NULL || a->what != NULL) && lt_loop_now_ms(a->loop) - began_ms >= PATIENCE_MS;
}

static void activity_on_timer(void *arg) {
  lt_activity *a = arg;
  if (a->console->held == NULL && !a->is_paused && activity_has_something(a)) {
    activity_draw(a);
  } else {
    lt_activity_erase(a);
  }
  if (a->calls != NULL || a->what != NULL) {
    lt_timer_start(a->timer, DRAW_MS);
  }
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void activity_free_call(activity_call *call) {
  lt_mem_free(call->tool);
  lt_mem_free(call->progress);
  lt_mem_free(call);
}

static activity_call **activity_find_call(lt_activity *a, uint64_t number) {
  activity_call **at = &a->calls;
  while (*at != NULL && (*at)->number != number) {
    at = &(*at)->next;
  }
  return at;
}

static void activity_begin_call(lt_activity *a, activity_call **end, const lt_call_event *event) {
  activity_call *call = lt_mem_zalloc(1, sizeof *call);
  if (call == NULL) {
    return;
  }
  *call =
      (activity_call){.number = event->call, .began_ms = lt_loop_now_ms(a->loop), .tool = lt_mem_strdup(event->tool)};
  if (call->tool == NULL) {
    activity_free_call(call);
    return;
  }
  *end = call;
  lt_timer_start(a->timer, DRAW_MS);
}

static void activity_end_call(activity_call **at) {
  activity_call *call = *at;
  *at = call->next;
  activity_free_call(call);
}

/* "message (40 %)", "message (4)", "40 %": whatever the server says. */
static void activity_put_progress(const lt_call_event *event, lt_buf *out) {
  bool has_text = event->answer.n > 0;
  lt_buf_add(out, event->answer);
  if (event->progress_total > 0) {
    lt_buf_printf(out, has_text ? " (%.0f %%)" : "%.0f %%", 100 * event->progress / event->progress_total);
  } else if (!has_text) {
    lt_buf_printf(out, "%g", event->progress);
  }
}

static void activity_keep_progress(activity_call *call, const lt_call_event *event) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  activity_put_progress(event, &text);
  lt_mem_free(call->progress);
  call->progress = text.status == LT_OK ? lt_mem_strdup(lt_buf_view(&text)) : NULL;
}

/* Calls that were answered from a record have no number, and are not shown. */
void lt_activity_call(lt_activity *a, const lt_call_event *event) {
  if (a == NULL) {
    return;
  }
  activity_call **at = activity_find_call(a, event->call);
  if (*at == NULL && event->stage != LT_CALL_FINISHED && event->call != 0) {
    activity_begin_call(a, at, event);
  }
  if (*at != NULL && event->stage == LT_CALL_PROGRESS) {
    activity_keep_progress(*at, event);
  } else if (*at != NULL && event->stage == LT_CALL_FINISHED) {
    activity_end_call(at);
  }
}

static void activity_on_call(void *arg, const lt_call_event *event) {
  lt_activity_call(arg, event);
}

void lt_activity_follow(lt_activity *a, lt_caller *caller) {
  if (a != NULL) {
    caller->on_call = activity_on_call;
    caller->arg = a;
    caller->wants_progress = true;
  }
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static bool activity_may_draw(void) {
  const char *term = getenv("TERM");
  return isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

lt_activity *lt_activity_new(lt_loop *loop, lt_console *console) {
  lt_activity *a = activity_may_draw() ? lt_mem_zalloc(1, sizeof *a) : NULL;
  if (a == NULL || lt_timer_new(loop, activity_on_timer, a, &a->timer, NULL) != LT_OK) {
    lt_mem_free(a);
    return NULL;
  }
  a->loop = loop;
  a->console = console;
  console->make_way = activity_make_way;
  console->way_arg = a;
  return a;
}

void lt_activity_say(lt_activity *a, lt_str what, bool is_late) {
  if (a == NULL) {
    return;
  }
  lt_activity_erase(a);
  lt_mem_free(a->what);
  a->what = what.n > 0 ? lt_mem_strdup(what) : NULL;
  a->began_ms = lt_loop_now_ms(a->loop) - (is_late ? 2 * PATIENCE_MS : 0);
  if (a->what != NULL) {
    lt_timer_start(a->timer, is_late ? 0 : DRAW_MS);
  }
}

void lt_activity_update(lt_activity *a, lt_str what) {
  if (a != NULL && a->what != NULL) {
    lt_mem_free(a->what);
    a->what = lt_mem_strdup(what);
  }
}

void lt_activity_note(lt_activity *a, lt_str note) {
  if (a != NULL) {
    lt_mem_free(a->note);
    a->note = note.n > 0 ? lt_mem_strdup(note) : NULL;
  }
}

void lt_activity_pause(lt_activity *a, bool is_paused) {
  if (a != NULL) {
    a->is_paused = is_paused;
  }
}

void lt_activity_free(lt_activity *a) {
  if (a == NULL) {
    return;
  }
  lt_activity_erase(a);
  if (a->console->way_arg == a) {
    a->console->make_way = NULL;
    a->console->way_arg = NULL;
  }
  while (a->calls != NULL) {
    activity_end_call(&a->calls);
  }
  lt_timer_free(a->timer);
  lt_mem_free(a->what);
  lt_mem_free(a->note);
  lt_mem_free(a);
}
