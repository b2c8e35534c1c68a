/* Traces: spans of what a session does, sent to an OpenTelemetry collector (docs/internals/tracing.md).
 *
 * A monitor of the session writes a span at the end of each prompt, question to a model, program and tool call; the way
 * in adds those of HTTP requests. Nothing here delays what it reports. Loop thread only.
 */
#ifndef LT_TELEMETRY_TELEMETRY_H
#define LT_TELEMETRY_TELEMETRY_H

#include "telemetry/telemetry_settings.h"
#include "tool/caller.h"
#include "tool/monitor.h"

typedef struct lt_telemetry lt_telemetry;

typedef struct lt_telemetry_options {
  lt_loop *loop;
  const lt_config *config;
  const lt_secrets *secrets;  /* masked in what spans say; may be NULL */
  lt_telemetry_warn_fn *warn; /* must not yield */
  void *warn_arg;
} lt_telemetry_options;

/* Reads configuration and environment. *ret_telemetry is NULL where no collector is named: then nothing is traced, and
 * every function here does nothing. Borrows the options. Errors: lt_telemetry_settings_read's, LT_E_NOMEM. Owns: the
 * caller, lt_telemetry_close. */
lt_status lt_telemetry_open(const lt_telemetry_options *options, lt_telemetry **ret_telemetry, lt_err *err);
/* Sends the last spans, for a moment at most. LT_YIELDS. NULL is allowed. */
void lt_telemetry_close(lt_telemetry *telemetry) LT_YIELDS;

/* Which traces are recorded; NULL for NULL. Borrows. */
const lt_sampler *lt_telemetry_sampler(const lt_telemetry *telemetry);
/* To be told of all that ends; NULL for NULL. Borrows. */
lt_monitor *lt_telemetry_monitor(lt_telemetry *telemetry);

/* A request that is answered over HTTP. */
typedef struct lt_telemetry_request {
  lt_trace_context trace, parent;
  lt_str method, path;
  const char *route; /* "/prompts/{id}"; NULL: none */
  int status;
  uint64_t begun_us, ended_us;
} lt_telemetry_request;

/* Begins its span, below the one that the headers name; both may be empty. Does nothing for a NULL telemetry. */
void lt_telemetry_begin_request(const lt_telemetry *telemetry, lt_str traceparent, lt_str tracestate,
                                lt_telemetry_request *request);
/* `request` has its status by now. */
void lt_telemetry_end_request(lt_telemetry *telemetry, lt_telemetry_request *request);

/* A request over MCP that is answered. Texts may be empty. */
typedef struct lt_telemetry_mcp {
  lt_trace_context trace, parent;
  lt_trace_context link;       /* the request over HTTP that brought it, where it is not the parent */
  lt_str method, tool, prompt; /* what it names, where that exists */
  lt_str id, session, version;
  bool is_http;
  bool is_cancelled;
  bool is_tool_error;
  int error_code; /* of JSON-RPC; 0: none */
  uint64_t begun_us, ended_us;
} lt_telemetry_mcp;

/* Begins its span, below the one that its `_meta` names (both texts may be empty), else below `around` (may be not
 * set). Borrows: the texts, the state of `around`. */
void lt_telemetry_begin_mcp(const lt_telemetry *telemetry, lt_str traceparent, lt_str tracestate,
                            const lt_trace_context *around, lt_telemetry_mcp *request);
/* `request` says by now what became of it. Does nothing for a NULL telemetry. */
void lt_telemetry_end_mcp(lt_telemetry *telemetry, lt_telemetry_mcp *request);

#endif
