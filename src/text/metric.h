/* Metrics: counters and histograms with labels, and their text for Prometheus (text format 0.0.4).
 *
 * A metric has a fixed number of series, one for each combination of label values that was seen. Further values of the
 * first label are summed under "other", so that names that others choose cannot grow the text without end. Counting
 * takes no lock, and allocates only when a combination comes for the first time. One thread.
 */
#ifndef LT_TEXT_METRIC_H
#define LT_TEXT_METRIC_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define LT_METRIC_LABELS  2
#define LT_METRIC_BUCKETS 14

typedef enum lt_metric_type { LT_METRIC_COUNTER, LT_METRIC_GAUGE, LT_METRIC_HISTOGRAM } lt_metric_type;

/* What a metric is. A constant. */
typedef struct lt_metric_kind {
  const char *name; /* with its unit: "lathe_tool_call_duration_seconds", "lathe_prompts_total" */
  const char *help; /* one line */
  lt_metric_type type;
  const char *labels[LT_METRIC_LABELS]; /* names; NULL: fewer */
  unsigned series_max;                  /* without those of "other" */
} lt_metric_kind;

typedef struct lt_metric {
  const lt_metric_kind *kind;
  struct lt_metric_series *series; /* a hash table with open addresses */
  unsigned size, used;             /* `size` is a power of two */
} lt_metric;

/* `kind` must outlive the metric. Errors: LT_E_NOMEM. Owns: the caller, lt_metric_release. */
lt_status lt_metric_init(lt_metric *metric, const lt_metric_kind *kind, lt_err *err);
void lt_metric_release(lt_metric *metric); /* a zero struct is allowed */
/* Adds to a counter. Values of labels that the metric does not have are ignored. Where there is no memory, nothing is
 * counted. */
void lt_metric_add(lt_metric *metric, lt_str first, lt_str second, double n);
/* Adds a duration to a histogram of seconds. */
void lt_metric_observe(lt_metric *metric, lt_str first, lt_str second, uint64_t us);
/* Appends the metric's help, type and series. */
void lt_metric_put(const lt_metric *metric, lt_buf *out);

/* For a value that is known when it is asked for: appends help and type, then each sample. `value` is that of the
 * kind's first label; ignored when it has none. */
void lt_metric_put_head(const lt_metric_kind *kind, lt_buf *out);
void lt_metric_put_value(const lt_metric_kind *kind, const char *value, double n, lt_buf *out);

#endif
