/* The time as a tool: `tools: {clock: true}` in the configuration gives programs `clock.now`. */
#include "base/clock.h"
#include "base/mem.h"
#include "json/json.h"
#include "source/source.h"

typedef struct clock_source {
  lt_source base; /* first */
  lt_door *door;
  lt_provider provider;
} clock_source;

static size_t clock_source_count(const lt_config *config) {
  return config->clock ? 1 : 0;
}

static const char *clock_source_name(const lt_config *config, size_t index) {
  (void)config;
  (void)index;
  return "clock";
}

static lt_status clock_now(lt_provider *provider, lt_str name, lt_str input, const lt_invoke_options *options,
                           lt_buf *answer, lt_err *err) {
  (void)provider;
  (void)name;
  (void)input;
  (void)options;
  (void)err;
  char stamp[LT_CLOCK_STAMP_BYTES];
  lt_json_writer w = lt_json_writer_on(answer);
  lt_clock_stamp(stamp);
  lt_json_put_cstr(&w, stamp);
  return answer->status;
}

static lt_status clock_source_open(const lt_source_options *options, size_t index, lt_source **ret_source,
                                   lt_err *err) {
  const lt_tool_spec now = {
      .name = LT_STR("now"),
      .description = LT_STR("The time, in UTC"),
      .input_schema = LT_STR("{\"type\":\"object\",\"properties\":{}}"),
      .output_schema = LT_STR("{\"type\":\"string\",\"format\":\"date-time\"}"),
  };
  clock_source *self = lt_mem_zalloc(1, sizeof *self);
  if (self == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  self->base = (lt_source){.type = &lt_clock_source, .name = clock_source_name(options->config, index)};
  self->door = options->door;
  self->provider = (lt_provider){.name = lt_str_of(self->base.name), .invoke = clock_now};
  lt_status status = lt_door_set_tools(self->door, &self->provider, &now, 1, err);
  if (status != LT_OK) {
    lt_mem_free(self);
    return status;
  }
  *ret_source = &self->base;
  return LT_OK;
}

static void clock_source_close(lt_source *source) {
  clock_source *self = (clock_source *)(void *)source;
  lt_door_remove(self->door, &self->provider);
  lt_mem_free(self);
}

const lt_source_type lt_clock_source = {
    .noun = "source",
    .count = clock_source_count,
    .name = clock_source_name,
    .open = clock_source_open,
    .close = clock_source_close,
};
