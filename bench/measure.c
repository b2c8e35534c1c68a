#include "bench/measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"

enum { CELL_BYTES = 64, LINE_BYTES = 1024, WHAT_WIDTH = 68 };

/* The columns after the first: what stands over them, and how wide they are. */
static const struct {
  const char *head;
  int width;
} columns[] = {{"min", 9}, {"median", 9}, {"p99", 9}, {"target", 19}, {"beside", 0}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static int markdown = -1;

/* --- Samples ------------------------------------------------------------------------------------------------------ */
void lt_measure_init(lt_measure *m) {
  *m = (lt_measure){0};
}

void lt_measure_release(lt_measure *m) {
  lt_mem_free(m->at);
  *m = (lt_measure){0};
}

void lt_measure_add(lt_measure *m, double value) {
  if (m->count == m->room) {
    m->room = m->room == 0 ? 256 : m->room * 2;
    m->at = lt_mem_realloc(m->at, m->room * sizeof *m->at);
    LT_CHECK(m->at != NULL);
  }
  m->at[m->count++] = value;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double lt_measure_quantile(lt_measure *m, double q) {
  if (m->count == 0) {
    return 0;
  }
  qsort(m->at, m->count, sizeof *m->at, by_value);
  size_t i = (size_t)(q * (double)m->count);
  return m->at[i < m->count ? i : m->count - 1];
}

double lt_measure_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */
static void put_scaled(char *cell, double value, const char *unit) {
  double size = value < 0 ? -value : value;
  int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  snprintf(cell, CELL_BYTES, "%.*f %s", digits, value, unit);
}

static void put_value(char *cell, lt_measure_unit unit, double value) {
  double size = value < 0 ? -value : value;
  if (unit == LT_MEASURE_COUNT) {
    snprintf(cell, CELL_BYTES, "%.*f", value < 99.95 ? 1 : 0, value);
  } else if (unit == LT_MEASURE_BYTES) {
    put_scaled(cell, value / (double)LT_KIB, "KiB");
  } else if (size < 999.5) {
    put_scaled(cell, value, "ns");
  } else if (size < 999.5e3) {
    put_scaled(cell, value / 1e3, "µs");
  } else if (size < 999.5e6) {
    put_scaled(cell, value / 1e6, "ms");
  } else {
    put_scaled(cell, value / 1e9, "s");
  }
}

/* Targets are round numbers: no zeros behind the point. */
static void put_target(char *cell, const lt_measure_line *line, double median) {
  static const struct {
    double least;
    const char *unit;
  } scales[] = {{1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  const char *verdict = median <= line->target ? "met" : "MISSED";
  if (line->target <= 0) {
    cell[0] = '\0';
  } else if (line->unit == LT_MEASURE_NS) {
    unsigned i = line->target >= 1e6 ? 0 : line->target >= 100 ? 1 : 2;
    snprintf(cell, CELL_BYTES, "≤ %g %s %s", line->target / scales[i].least, scales[i].unit, verdict);
  } else if (line->unit == LT_MEASURE_BYTES) {
    snprintf(cell, CELL_BYTES, "≤ %g KiB %s", line->target / (double)LT_KIB, verdict);
  } else {
    snprintf(cell, CELL_BYTES, "≤ %g %s", line->target, verdict);
  }
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
/* Columns a text takes on a terminal: characters, not bytes. */
static int width_of(const char *text) {
  int width = 0;
  for (; *text != '\0'; text++) {
    width += ((unsigned char)*text & 0xc0) != 0x80;
  }
  return width;
}

static void add_padded(lt_buf *line, const char *text, int width, bool right) {
  int pad = width - width_of(text);
  if (!right) {
    lt_buf_addc(line, text);
  }
  for (int i = 0; i < pad; i++) {
    lt_buf_byte(line, ' ');
  }
  if (right) {
    lt_buf_addc(line, text);
  }
}

static void put_out(lt_buf *line, int fd) {
  lt_buf_byte(line, '\n');
  for (size_t done = 0; done < line->n;) {
    ssize_t n = write(fd, line->p + done, line->n - done);
    if (n <= 0) {
      return; /* nobody reads it: no reason to fail */
    }
    done += (size_t)n;
  }
}

static void print_row(const char *what, const char *const cells[COLUMNS]) {
  lt_buf line;
  lt_buf_init(&line, LINE_BYTES);
  add_padded(&line, what, WHAT_WIDTH, false);
  for (unsigned i = 0; i < COLUMNS; i++) {
    bool numbers = i < 3;
    lt_buf_addc(&line, "  ");
    add_padded(&line, cells[i], columns[i].width, numbers);
  }
  while (line.n > 0 && line.p[line.n - 1] == ' ') {
    line.n--;
  }
  put_out(&line, STDOUT_FILENO);
  lt_buf_release(&line);
}

static void print_markdown(const char *what, const char *const cells[COLUMNS]) {
  if (markdown < 0) {
    return;
  }
  lt_buf line;
  lt_buf_init(&line, LINE_BYTES);
  lt_buf_printf(&line, "| %s |", what);
  for (unsigned i = 0; i < COLUMNS; i++) {
    lt_buf_printf(&line, " %s |", cells[i]);
  }
  put_out(&line, markdown);
  lt_buf_release(&line);
}

void lt_measure_print(const lt_measure_line *line) {
  char text[COLUMNS][CELL_BYTES] = {{0}};
  double median = lt_measure_median(line->samples);
  if (line->samples->count > 1) {
    put_value(text[0], line->unit, lt_measure_quantile(line->samples, 0));
    put_value(text[2], line->unit, lt_measure_quantile(line->samples, 0.99));
  }
  put_value(text[1], line->unit, median);
  put_target(text[3], line, median);
  if (line->peer != NULL && line->peer->count > 0) {
    snprintf(text[4], CELL_BYTES, "%.2f × %s", median / lt_measure_median(line->peer), line->peer_name);
  }
  const char *cells[COLUMNS];
  for (unsigned i = 0; i < COLUMNS; i++) {
    cells[i] = text[i];
  }
  print_row(line->what, cells);
  print_markdown(line->what, cells);
}

void lt_measure_print_ns(const char *what, lt_measure *samples, double target_ns) {
  lt_measure_print(&(lt_measure_line){.what = what, .samples = samples, .target = target_ns});
  lt_measure_release(samples);
}

void lt_measure_print_one(const char *what, lt_measure_unit unit, double value, double target) {
  lt_measure one = {.at = &value, .count = 1, .room = 1};
  lt_measure_print(&(lt_measure_line){.what = what, .samples = &one, .unit = unit, .target = target});
}

void lt_measure_skip(const char *what, const char *why_fmt, ...) {
  char why[LINE_BYTES / 2];
  va_list args;
  va_start(args, why_fmt);
  vsnprintf(why, sizeof why, why_fmt, args);
  va_end(args);
  lt_buf line;
  lt_buf_init(&line, LINE_BYTES);
  add_padded(&line, what, WHAT_WIDTH, false);
  lt_buf_printf(&line, "  not measured: %s", why);
  put_out(&line, STDOUT_FILENO);
  lt_buf_release(&line);
  const char *cells[COLUMNS] = {"", "not measured", "", "", why};
  print_markdown(what, cells);
}

void lt_measure_title(const char *title) {
  const char *cells[COLUMNS] = {"", "", "", "", ""};
  char strong[CELL_BYTES * 2];
  snprintf(strong, sizeof strong, "**%s**", title);
  lt_buf line;
  lt_buf_init(&line, LINE_BYTES);
  lt_buf_printf(&line, "\n%s", title);
  put_out(&line, STDOUT_FILENO);
  lt_buf_release(&line);
  print_markdown(strong, cells);
}

void lt_measure_begin(int markdown_fd) {
  markdown = markdown_fd;
  const char *heads[COLUMNS];
  const char *rules[COLUMNS] = {"--:", "--:", "--:", "---", "---"};
  for (unsigned i = 0; i < COLUMNS; i++) {
    heads[i] = columns[i].head;
  }
  print_row("", heads);
  print_markdown("", heads);
  print_markdown("---", rules);
}
