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
  uint64_t began_ms;
  bool is_drawn;
  unsigned frame;
};

/* --- Drawing ------------------------------------------------------------------------------------------------------ */
static void activity_erase(void *arg) {
  lt_activity *a = arg;
  if (a->is_drawn) {
    fputs("\r\x1b[K", stderr);
    a->is_drawn = false;
  }
}

static size_t activity_window_width(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void activity_put_text(const lt_activity *a, lt_buf *line) {
  const activity_call *call = a->calls;
  uint64_t ms = lt_loop_now_ms(a->loop) - (call != NULL ? call->began_ms : a->began_ms);
  size_t more = 0;
  for (const activity_call *other = call != NULL ? call->next : NULL; other != NULL; other = other->next) {
    more++;
  }
  lt_typegen_put_line(line, lt_str_of(call != NULL ? call->tool : a->what), NAME_CHARS);
  lt_buf_printf(line, " %llu.%llu s", (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
  if (more > 0) {
    lt_buf_printf(line, ", %zu more", more);
  }
  if (call != NULL && call->progress != NULL) {
    lt_buf_addc(line, ": ");
    lt_typegen_put_line(line, lt_str_of(call->progress), PROGRESS_CHARS);
  }
}

/* No wider than the window: a wrapped line cannot be erased. No character is wider than its bytes. */
static void activity_draw(lt_activity *a) {
  size_t width = activity_window_width();
  LT_AUTO_BUF(line, LT_KIB);
  activity_put_text(a, &line);
  lt_str text = width > 3 ? lt_utf8_cut(lt_buf_view(&line), width - 3) : LT_STR("");
  bool has_colour = lt_console_has_colour(stderr);
  fprintf(stderr, "\r\x1b[K%s%c %.*s%s", has_colour ? "\x1b[2m" : "", "|/-\\"[a->frame++ % 4], LT_STR_ARG(text),
          has_colour ? "\x1b[0m" : "");
  a->is_drawn = true;
}

/* Calls that were answered from a record have no number, and are not shown. */
static bool activity_has_something(const lt_activity *a) {
  uint64_t began_ms = a->calls != NULL ? a->calls->began_ms : a->began_ms;
  return (a->calls != NULL || a->what != NULL) && lt_loop_now_ms(a->loop) - began_ms >= PATIENCE_MS;
}

static void activity_on_timer(void *arg) {
  lt_activity *a = arg;
  if (a->console->held == NULL && activity_has_something(a)) {
    activity_draw(a);
  } else {
    activity_erase(a);
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

static void activity_on_call(void *arg, const lt_call_event *event) {
  lt_activity *a = arg;
  activity_call **at = activity_find_call(a, event->call);
  if (*at == NULL && event->stage != LT_CALL_FINISHED) {
    activity_begin_call(a, at, event);
  }
  if (*at != NULL && event->stage == LT_CALL_PROGRESS) {
    activity_keep_progress(*at, event);
  } else if (*at != NULL && event->stage == LT_CALL_FINISHED) {
    activity_end_call(at);
  }
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
  console->make_way = activity_erase;
  console->way_arg = a;
  return a;
}

void lt_activity_say(lt_activity *a, lt_str what, bool is_late) {
  if (a == NULL) {
    return;
  }
  activity_erase(a);
  lt_mem_free(a->what);
  a->what = what.n > 0 ? lt_mem_strdup(what) : NULL;
  a->began_ms = lt_loop_now_ms(a->loop) - (is_late ? 2 * PATIENCE_MS : 0);
  if (a->what != NULL) {
    lt_timer_start(a->timer, is_late ? 0 : DRAW_MS);
  }
}

void lt_activity_free(lt_activity *a) {
  if (a == NULL) {
    return;
  }
  activity_erase(a);
  if (a->console->way_arg == a) {
    a->console->make_way = NULL;
    a->console->way_arg = NULL;
  }
  while (a->calls != NULL) {
    activity_end_call(&a->calls);
  }
  lt_timer_free(a->timer);
  lt_mem_free(a->what);
  lt_mem_free(a);
}
