/* https://prometheus.io/docs/instrumenting/exposition_formats/ ("Text-based format", version 0.0.4) */
#include "text/metric.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"

/* Upper bounds of durations, in seconds: a tool in the same process takes one millisecond, a long prompt minutes. */
static const double metric_bounds[LT_METRIC_BUCKETS] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                        0.25,  0.5,    1,     2.5,  10,    60,   300};

/* One combination of label values. */
typedef struct lt_metric_series {
  char *values; /* one behind the other; NULL: the place is free */
  size_t value_bytes[LT_METRIC_LABELS];
  double sum;
  uint64_t count;
  uint64_t buckets[LT_METRIC_BUCKETS]; /* not cumulative */
} lt_metric_series;

/* The places for "other" and all values of the second label. */
enum { METRIC_OTHERS = 32 };

lt_status lt_metric_init(lt_metric *metric, const lt_metric_kind *kind, lt_err *err) {
  unsigned size = 4;
  while (size < 2 * (kind->series_max + METRIC_OTHERS)) {
    size *= 2;
  }
  *metric = (lt_metric){.kind = kind, .series = lt_mem_zalloc(size, sizeof *metric->series), .size = size};
  return metric->series != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for metrics");
}

void lt_metric_release(lt_metric *metric) {
  for (unsigned i = 0; i < metric->size && metric->series != NULL; i++) {
    lt_mem_free(metric->series[i].values);
  }
  lt_mem_free(metric->series);
  *metric = (lt_metric){.size = 0};
}

/* --- Counting ----------------------------------------------------------------------------------------------------- */
static lt_str metric_value(const lt_metric_series *series, unsigned label) {
  return lt_str_from(series->values + (label > 0 ? series->value_bytes[0] : 0), series->value_bytes[label]);
}

static bool metric_is_of(const lt_metric_series *series, lt_str first, lt_str second) {
  return lt_str_eq(metric_value(series, 0), first) && lt_str_eq(metric_value(series, 1), second);
}

/* The series of these values, or the free place where it belongs. There is always a free place. */
static lt_metric_series *metric_place(const lt_metric *metric, lt_str first, lt_str second) {
  unsigned at = (unsigned)(31 * lt_str_hash(first) + lt_str_hash(second)) & (metric->size - 1);
  while (metric->series[at].values != NULL && !metric_is_of(&metric->series[at], first, second)) {
    at = (at + 1) & (metric->size - 1);
  }
  return &metric->series[at];
}

static lt_metric_series *metric_take_place(lt_metric *metric, lt_metric_series *place, lt_str first, lt_str second) {
  char *values = lt_mem_alloc(first.n + second.n + 1);
  if (values == NULL) {
    return NULL;
  }
  memcpy(values, first.p != NULL ? first.p : "", first.n);
  memcpy(values + first.n, second.p != NULL ? second.p : "", second.n);
  *place = (lt_metric_series){.values = values, .value_bytes = {first.n, second.n}};
  metric->used++;
  return place;
}

/* NULL: no memory, or no place even for "other". */
static lt_metric_series *metric_find(lt_metric *metric, lt_str first, lt_str second) {
  const lt_metric_kind *kind = metric->kind;
  first = kind->labels[0] != NULL ? lt_str_sub(first, 0, LT_METRIC_VALUE_BYTES) : LT_STR("");
  second = kind->labels[1] != NULL ? lt_str_sub(second, 0, LT_METRIC_VALUE_BYTES) : LT_STR("");
  lt_metric_series *place = metric_place(metric, first, second);
  if (place->values != NULL) {
    return place;
  }
  if (metric->used >= kind->series_max) {
    first = LT_STR("other");
    place = metric_place(metric, first, second);
  }
  if (place->values != NULL) {
    return place;
  }
  return metric->used < kind->series_max + METRIC_OTHERS ? metric_take_place(metric, place, first, second) : NULL;
}

void lt_metric_add(lt_metric *metric, lt_str first, lt_str second, double n) {
  lt_metric_series *series = metric_find(metric, first, second);
  if (series != NULL) {
    series->sum += n;
  }
}

void lt_metric_observe(lt_metric *metric, lt_str first, lt_str second, uint64_t us) {
  lt_metric_series *series = metric_find(metric, first, second);
  double seconds = (double)us / 1e6;
  if (series == NULL) {
    return;
  }
  series->sum += seconds;
  series->count++;
  for (unsigned i = 0; i < LT_METRIC_BUCKETS; i++) {
    if (seconds <= metric_bounds[i]) {
      series->buckets[i]++;
      break;
    }
  }
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
/* "label_value can be any sequence of UTF-8 characters, but the backslash, double-quote, and line feed characters have
 * to be escaped." Other control characters are written as U+FFFD: people read this text at terminals. */
static void metric_put_escaped(lt_buf *out, lt_str value) {
  LT_AUTO_BUF(text, 4 * LT_METRIC_VALUE_BYTES);
  lt_json_mend_utf8(&text, value);
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (c == '\\' || c == '"') {
      lt_buf_byte(out, '\\');
      lt_buf_byte(out, c);
    } else if (c == '\n') {
      lt_buf_addc(out, "\\n");
    } else if ((unsigned char)c < ' ' || c == 0x7f) {
      lt_buf_addc(out, "\xef\xbf\xbd");
    } else if ((unsigned char)c == 0xed && i + 2 < text.n && (unsigned char)text.p[i + 1] >= 0xa0) {
      lt_buf_addc(out, "\xef\xbf\xbd"); /* half a surrogate pair, which WTF-8 has and UTF-8 has not */
      i += 2;
    } else {
      lt_buf_byte(out, c);
    }
  }
}

static void metric_put_label(lt_buf *out, const char *before, const char *name, lt_str value) {
  lt_buf_addc(out, before);
  lt_buf_addc(out, name);
  lt_buf_addc(out, "=\"");
  metric_put_escaped(out, value);
  lt_buf_byte(out, '"');
}

/* `bound`: the value of the label "le" of a bucket; NULL: it is none. */
static void metric_put_sample(const lt_metric_kind *kind, const lt_metric_series *series, const char *suffix,
                              const char *bound, double n, lt_buf *out) {
  const char *before = "{";
  lt_buf_addc(out, kind->name);
  lt_buf_addc(out, suffix);
  for (unsigned i = 0; i < LT_METRIC_LABELS && kind->labels[i] != NULL; i++) {
    metric_put_label(out, before, kind->labels[i], metric_value(series, i));
    before = ",";
  }
  if (bound != NULL) {
    metric_put_label(out, before, "le", lt_str_of(bound));
    before = ",";
  }
  lt_buf_printf(out, "%s %.15g\n", before[0] == ',' ? "}" : "", n);
}

static void metric_put_histogram(const lt_metric_kind *kind, const lt_metric_series *series, lt_buf *out) {
  uint64_t count = 0;
  char bound[32];
  for (unsigned i = 0; i < LT_METRIC_BUCKETS; i++) {
    count += series->buckets[i];
    snprintf(bound, sizeof bound, "%g", metric_bounds[i]);
    metric_put_sample(kind, series, "_bucket", bound, (double)count, out);
  }
  metric_put_sample(kind, series, "_bucket", "+Inf", (double)series->count, out);
  metric_put_sample(kind, series, "_sum", NULL, series->sum, out);
  metric_put_sample(kind, series, "_count", NULL, (double)series->count, out);
}

void lt_metric_put_head(const lt_metric_kind *kind, lt_buf *out) {
  static const char *const types[] = {
      [LT_METRIC_COUNTER] = "counter", [LT_METRIC_GAUGE] = "gauge", [LT_METRIC_HISTOGRAM] = "histogram"};
  lt_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", kind->name, kind->help, kind->name, types[kind->type]);
}

void lt_metric_put_value(const lt_metric_kind *kind, const char *value, double n, lt_buf *out) {
  lt_buf_addc(out, kind->name);
  if (kind->labels[0] != NULL) {
    metric_put_label(out, "{", kind->labels[0], lt_str_of(value));
    lt_buf_byte(out, '}');
  }
  lt_buf_printf(out, " %.15g\n", n);
}

void lt_metric_put(const lt_metric *metric, lt_buf *out) {
  lt_metric_put_head(metric->kind, out);
  for (unsigned i = 0; i < metric->size; i++) {
    const lt_metric_series *series = &metric->series[i];
    if (series->values != NULL && metric->kind->type == LT_METRIC_HISTOGRAM) {
      metric_put_histogram(metric->kind, series, out);
    } else if (series->values != NULL) {
      metric_put_sample(metric->kind, series, "", NULL, series->sum, out);
    }
  }
}
