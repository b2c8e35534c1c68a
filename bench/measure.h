/* Measuring: samples, and the lines of the one table that `make bench` prints.
 *
 * A line has the smallest, the middle and the 99th percentile of its samples, the target we set ourselves where
 * there is one, and a ratio where the same was measured of somebody else. What is too short for the clock is measured
 * in batches; the line says how large they are.
 */
#ifndef LT_BENCH_MEASURE_H
#define LT_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lt_measure_unit { LT_MEASURE_NS, LT_MEASURE_BYTES, LT_MEASURE_COUNT } lt_measure_unit;

typedef struct lt_measure {
  double *at;
  size_t count;
  size_t room;
} lt_measure;

/* Nothing is allocated before the first sample. */
void lt_measure_init(lt_measure *m);
void lt_measure_release(lt_measure *m);
void lt_measure_add(lt_measure *m, double value);
/* The value below which the share `q` (0 to 1) of the samples lie; 0 for no samples. Sorts them. */
double lt_measure_quantile(lt_measure *m, double q);
static inline double lt_measure_median(lt_measure *m) {
  return lt_measure_quantile(m, 0.5);
}

/* Nanoseconds, CLOCK_MONOTONIC. */
double lt_measure_now(void);

/* Somebody else's samples beside ours. */
typedef struct lt_measure_line {
  const char *what;
  lt_measure *samples;
  lt_measure_unit unit;
  double target;    /* 0: none */
  lt_measure *peer; /* the ratio of the medians, ours to the peer's, is shown; NULL: none */
  const char *peer_name;
} lt_measure_line;

void lt_measure_print(const lt_measure_line *line);
/* Short for samples of time without a peer; releases them. */
void lt_measure_print_ns(const char *what, lt_measure *samples, double target_ns);
/* One figure that was not sampled. */
void lt_measure_print_one(const char *what, lt_measure_unit unit, double value, double target);
/* A line that could not be measured, and why. */
void lt_measure_skip(const char *what, const char *why_fmt, ...) __attribute__((format(printf, 2, 3)));

/* The table's head, and a heading inside it. Lines also go to `markdown_fd` as a markdown table; -1: they do not. */
void lt_measure_begin(int markdown_fd);
void lt_measure_title(const char *title);

#endif
