/* How traces are sent: the section `telemetry` of the configuration, and the variables of OpenTelemetry's specification
 * for what it leaves open. Text only; nothing here is sent.
 */
#ifndef LT_TELEMETRY_TELEMETRY_SETTINGS_H
#define LT_TELEMETRY_TELEMETRY_SETTINGS_H

#include "base/arena.h"
#include "config/config.h"
#include "io/http.h"
#include "trace/sampler.h"

typedef struct lt_telemetry_settings {
  lt_str url; /* of the collector, for traces; empty: nothing is traced */
  const lt_http_header *headers;
  size_t header_count;
  lt_str resource; /* the attributes of this process: a JSON array */
  lt_sampler sampler;
  bool has_content;    /* spans say what was asked and answered */
  uint64_t timeout_ms; /* of one request */
  uint64_t delay_ms;   /* for so long spans are collected */
} lt_telemetry_settings;

/* Receives what is wrong with a variable, which is then ignored; one line without secrets. */
typedef void lt_telemetry_warn_fn(void *arg, lt_str line);

/* Everything is in the arena, or belongs to the configuration. Errors: LT_E_NOMEM, LT_E_CONFIG (the address is none).
 */
lt_status lt_telemetry_settings_read(const lt_config *config, lt_arena *arena, lt_telemetry_warn_fn *warn, void *arg,
                                     lt_telemetry_settings *ret_settings, lt_err *err);

#endif
