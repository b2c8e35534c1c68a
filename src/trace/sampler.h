/* Decides which traces are recorded, as OTEL_TRACES_SAMPLER says. Pure. */
#ifndef LT_TRACE_SAMPLER_H
#define LT_TRACE_SAMPLER_H

#include "trace/trace_context.h"

typedef struct lt_sampler {
  bool is_parent_based; /* a trace that another process has begun is recorded when that process records it */
  double ratio;         /* of the other traces, from 0 to 1 */
} lt_sampler;

/* The names of the specification; `argument` is the ratio's text, and counts for "traceidratio" only. Empty: the
 * default. False: the name is unknown, or the ratio is none; then the sampler is the default, "parentbased_always_on".
 */
bool lt_sampler_read(lt_str name, lt_str argument, lt_sampler *ret_sampler);

/* The context of new work: a new span in the trace of `parent`, or, when `parent` is not set or NULL, a new trace
 * without a span. `sampler` may be NULL: the context is not set. */
lt_trace_context lt_sampler_begin(const lt_sampler *sampler, const lt_trace_context *parent);
/* Whether a trace of this id is recorded. `parent` may be NULL. */
bool lt_sampler_takes(const lt_sampler *sampler, const lt_trace_context *parent, const uint8_t *trace_id);

#endif
