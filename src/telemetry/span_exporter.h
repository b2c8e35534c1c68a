/* Sends spans to a collector, in batches, from a fiber of its own. Who hands a span over never waits: when too many
 * wait to be sent, the new one is dropped and counted. Loop thread only.
 */
#ifndef LT_TELEMETRY_SPAN_EXPORTER_H
#define LT_TELEMETRY_SPAN_EXPORTER_H

#include "telemetry/telemetry_settings.h"

typedef struct lt_span_exporter lt_span_exporter;

/* Opens no connection. Borrows the settings. Errors: LT_E_NOMEM. Owns: the caller, lt_span_exporter_close. */
lt_status lt_span_exporter_open(lt_loop *loop, const lt_telemetry_settings *settings, lt_telemetry_warn_fn *warn,
                                void *warn_arg, lt_span_exporter **ret_exporter, lt_err *err);
/* Sends what waits, for LT_TRACE_FLUSH_MS at most, and says how many spans were lost. NULL is allowed. LT_YIELDS. */
void lt_span_exporter_close(lt_span_exporter *exporter) LT_YIELDS;

/* Queues a span, JSON text of OTLP; copies it. Does not yield. */
void lt_span_exporter_put(lt_span_exporter *exporter, lt_str span);

#endif
