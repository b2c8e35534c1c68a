#include "telemetry/telemetry_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/random.h"
#include "text/pair_list.h"
#include "trace/otlp.h"
#include "trace/server_address.h"

typedef struct settings_reading {
  const lt_config *config;
  lt_arena *arena;
  lt_telemetry_warn_fn *warn;
  void *warn_arg;
  lt_telemetry_settings *settings;
} settings_reading;

/* "The SDK MUST interpret an empty value of an environment variable the same way as when the variable is unset." */
static lt_str settings_variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL ? lt_str_trim(lt_str_of(value)) : LT_STR_NULL;
}

/* A variable for traces alone takes precedence. */
static lt_str settings_variable_of(const char *for_traces, const char *for_all) {
  lt_str value = settings_variable(for_traces);
  return value.n > 0 ? value : settings_variable(for_all);
}

static void settings_warn(const settings_reading *r, const char *variable, const char *what) {
  char line[LT_ERR_MSG_MAX];
  snprintf(line, sizeof line, "traces: %s %s", variable, what);
  r->warn(r->warn_arg, lt_str_of(line));
}

/* --- Lists of variables ------------------------------------------------------------------------------------------- */
/* False: there is no memory. */
typedef bool settings_take_fn(void *arg, lt_str key, lt_str value);

/* Calls `take` for each pair. */
static bool settings_each(lt_arena *arena, lt_str list, settings_take_fn *take, void *arg) {
  lt_str key, written;
  while (lt_pair_list_next(&list, &key, &written)) {
    LT_AUTO_BUF(value, LT_TRACE_RESOURCE_BYTES);
    lt_pair_list_decode(written, &value);
    lt_str kept = lt_arena_dup_buf(arena, &value);
    if (kept.p == NULL || !take(arg, key, kept)) {
      return false;
    }
  }
  return true;
}

/* --- The collector ------------------------------------------------------------------------------------------------ */
/* "If the endpoint is a base URL: v1/traces relative to it." */
static lt_str settings_below(lt_arena *arena, lt_str base) {
  bool has_slash = lt_str_ends(base, LT_STR("/"));
  return lt_arena_printf(arena, "%.*s%sv1/traces", LT_STR_ARG(base), has_slash ? "" : "/");
}

static lt_status settings_read_url(const settings_reading *r, lt_err *err) {
  const lt_config_telemetry *telemetry = &r->config->telemetry;
  lt_str for_traces = settings_variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), host;
  lt_str for_all = settings_variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  unsigned port;
  lt_str url = telemetry->endpoint != NULL ? settings_below(r->arena, lt_str_of(telemetry->endpoint))
               : for_traces.n > 0          ? for_traces
               : for_all.n > 0             ? settings_below(r->arena, for_all)
                                           : LT_STR_NULL;
  bool is_off = lt_str_eq_fold(settings_variable("OTEL_SDK_DISABLED"), LT_STR("true")) ||
                lt_str_eqc(settings_variable("OTEL_TRACES_EXPORTER"), "none");
  bool is_named = telemetry->endpoint != NULL || for_traces.n > 0 || for_all.n > 0;
  if (is_off || !is_named) {
    return LT_OK;
  }
  if (url.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the settings of traces");
  }
  if (!lt_server_address_read(url, &host, &port)) {
    return lt_fail(err, LT_E_CONFIG, "%s is no address of a collector: write one such as http://127.0.0.1:4318",
                   telemetry->endpoint != NULL ? "telemetry.otlp.endpoint"
                   : for_traces.n > 0          ? "$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
                                               : "$OTEL_EXPORTER_OTLP_ENDPOINT");
  }
  r->settings->url = url;
  return LT_OK;
}

static void settings_check_protocol(const settings_reading *r) {
  lt_str protocol = settings_variable_of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol.n > 0 && !lt_str_eqc(protocol, "http/json")) {
    settings_warn(r, "OTEL_EXPORTER_OTLP_PROTOCOL", "is ignored: only http/json is spoken (port 4318 as a rule)");
  }
}

typedef struct settings_headers {
  lt_http_header *list;
  size_t count;
} settings_headers;

static bool settings_take_header(void *arg, lt_str name, lt_str value) {
  settings_headers *h = arg;
  if (h->count < LT_TRACE_HEADERS_MAX) {
    h->list[h->count++] = (lt_http_header){name, value};
  }
  return true;
}

/* "Name: value" */
static void settings_take_configured(settings_headers *h, const char *const *configured) {
  for (size_t i = 0; configured != NULL && configured[i] != NULL; i++) {
    lt_str line = lt_str_of(configured[i]);
    size_t colon = lt_str_find(line, LT_STR(":"), 0);
    (void)settings_take_header(h, lt_str_sub(line, 0, colon), lt_str_trim(lt_str_sub(line, colon + 1, line.n)));
  }
}

static bool settings_read_headers(const settings_reading *r) {
  const lt_config_telemetry *telemetry = &r->config->telemetry;
  settings_headers h = {.list = lt_arena_zalloc(r->arena, LT_TRACE_HEADERS_MAX + 2, sizeof *h.list)};
  if (h.list == NULL) {
    return false;
  }
  h.list[h.count++] = (lt_http_header){LT_STR("Content-Type"), LT_STR("application/json")};
  h.list[h.count++] = (lt_http_header){LT_STR("User-Agent"), LT_STR("lathe/" LT_VERSION)};
  /* Headers of variables are for the address of variables: no other one gets a secret of theirs. */
  if (telemetry->endpoint != NULL) {
    settings_take_configured(&h, telemetry->headers);
  } else if (!settings_each(r->arena,
                            settings_variable_of("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"),
                            settings_take_header, &h)) {
    return false;
  }
  r->settings->headers = h.list;
  r->settings->header_count = h.count;
  return true;
}

/* --- Who sends ---------------------------------------------------------------------------------------------------- */
typedef struct settings_resource {
  lt_json_writer w;
  lt_str service_name;
} settings_resource;

static bool settings_take_attribute(void *arg, lt_str key, lt_str value) {
  settings_resource *resource = arg;
  if (lt_str_eqc(key, "service.name")) {
    resource->service_name = value;
  } else if (!lt_str_eqc(key, "service.instance.id") && !lt_str_eqc(key, "process.pid")) {
    lt_otlp_put_resource_text(&resource->w, key, value);
  }
  return true;
}

static bool settings_read_resource(const settings_reading *r) {
  char instance[33];
  LT_AUTO_BUF(text, LT_TRACE_RESOURCE_BYTES);
  settings_resource resource = {.w = lt_json_writer_on(&text), .service_name = LT_STR("lathe")};
  lt_str attributes = settings_variable("OTEL_RESOURCE_ATTRIBUTES"), name = settings_variable("OTEL_SERVICE_NAME");
  lt_json_begin_array(&resource.w);
  if (!settings_each(r->arena, attributes, settings_take_attribute, &resource)) {
    return false;
  }
  lt_otlp_put_resource_text(&resource.w, LT_STR("service.name"), name.n > 0 ? name : resource.service_name);
  if (lt_str_find(attributes, LT_STR("service.version="), 0) == SIZE_MAX) {
    lt_otlp_put_resource_text(&resource.w, LT_STR("service.version"), LT_STR(LT_VERSION));
  }
  if (lt_random_hex(instance, sizeof instance - 1)) {
    lt_otlp_put_resource_text(&resource.w, LT_STR("service.instance.id"), lt_str_of(instance));
  }
  lt_otlp_put_resource_int(&resource.w, "process.pid", getpid());
  lt_otlp_put_resource_text(&resource.w, LT_STR("telemetry.sdk.name"), LT_STR("lathe"));
  lt_otlp_put_resource_text(&resource.w, LT_STR("telemetry.sdk.language"), LT_STR("c"));
  lt_otlp_put_resource_text(&resource.w, LT_STR("telemetry.sdk.version"), LT_STR(LT_VERSION));
  lt_json_end_array(&resource.w);
  if (text.status == LT_E_LIMIT) {
    settings_warn(r, "OTEL_RESOURCE_ATTRIBUTES", "is ignored: it is too long");
    r->settings->resource = LT_STR("[]");
    return true;
  }
  r->settings->resource = lt_arena_dup_buf(r->arena, &text);
  return r->settings->resource.p != NULL;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */
static uint64_t settings_number(const settings_reading *r, const char *variable, lt_str text, uint64_t max,
                                uint64_t standard) {
  uint64_t n = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9' || n > max) {
      settings_warn(r, variable, "is ignored: it is no number of milliseconds");
      return standard;
    }
    n = n * 10 + (uint64_t)(text.p[i] - '0');
  }
  return text.n == 0 ? standard : n < max ? n : max;
}

lt_status lt_telemetry_settings_read(const lt_config *config, lt_arena *arena, lt_telemetry_warn_fn *warn, void *arg,
                                     lt_telemetry_settings *ret_settings, lt_err *err) {
  lt_telemetry_settings *s = ret_settings;
  const settings_reading r = {.config = config, .arena = arena, .warn = warn, .warn_arg = arg, .settings = s};
  *s = (lt_telemetry_settings){.url = LT_STR_NULL};
  LT_TRY(settings_read_url(&r, err));
  if (s->url.n == 0) {
    return LT_OK;
  }
  settings_check_protocol(&r);
  if (!lt_sampler_read(settings_variable("OTEL_TRACES_SAMPLER"), settings_variable("OTEL_TRACES_SAMPLER_ARG"),
                       &s->sampler)) {
    settings_warn(&r, "OTEL_TRACES_SAMPLER", "is ignored: the name or its argument is unknown; all traces are sent");
  }
  lt_str content = settings_variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
  s->has_content = config->telemetry.has_content || lt_str_eq_fold(content, LT_STR("true")) ||
                   lt_str_eq_fold(content, LT_STR("SPAN_ONLY")) || lt_str_eq_fold(content, LT_STR("SPAN_AND_EVENT"));
  s->timeout_ms =
      settings_number(&r, "OTEL_EXPORTER_OTLP_TIMEOUT",
                      settings_variable_of("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"),
                      LT_TRACE_TIMEOUT_MAX_MS, LT_TRACE_TIMEOUT_MS);
  s->delay_ms = settings_number(&r, "OTEL_BSP_SCHEDULE_DELAY", settings_variable("OTEL_BSP_SCHEDULE_DELAY"),
                                LT_TRACE_TIMEOUT_MAX_MS, LT_TRACE_DELAY_MS);
  return settings_read_headers(&r) && settings_read_resource(&r)
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for the settings of traces");
}
