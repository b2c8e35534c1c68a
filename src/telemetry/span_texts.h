/* What spans are called, and what their attributes say: the semantic conventions of OpenTelemetry for GenAI, MCP and
 * HTTP, of what a monitor is told. Writes text; sends nothing. Internal to telemetry/.
 */
#ifndef LT_TELEMETRY_SPAN_TEXTS_H
#define LT_TELEMETRY_SPAN_TEXTS_H

#include "base/buf.h"
#include "telemetry/telemetry.h"
#include "tool/monitor.h"

typedef struct lt_span_style {
  bool has_content;
  int64_t offset_us; /* from lt_clock_monotonic_us to the time since 1970 */
  const lt_secrets *secrets;
} lt_span_style;

/* Each appends a span. A failure sticks in the buffer's status. */
void lt_span_texts_put_prompt(lt_buf *out, const lt_monitor_prompt *prompt, const lt_span_style *style);
void lt_span_texts_put_question(lt_buf *out, const lt_monitor_question *question, const lt_span_style *style);
void lt_span_texts_put_program(lt_buf *out, const lt_monitor_program *program, const lt_span_style *style);
void lt_span_texts_put_call(lt_buf *out, const lt_call_event *event, const lt_span_style *style);
void lt_span_texts_put_request(lt_buf *out, const lt_telemetry_request *request, const lt_span_style *style);
void lt_span_texts_put_mcp(lt_buf *out, const lt_telemetry_mcp *request, const lt_span_style *style);

#endif
