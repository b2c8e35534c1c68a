#include "app/sources.h"

#include <string.h>

#include "app/plugins.h"
#include "base/mem.h"
#include "io/fan_out.h"

#define PROGRESS_MS 1000 /* after this wait, the awaited sources are reported */

/* A source may be slow to start and to end, so both run on a separate fiber. */
typedef struct source_slot {
  lt_sources *all;
  const lt_source_type *type;
  const char *name;
  lt_source *source; /* NULL: disabled, or it could not be opened */
  lt_err why;        /* it could not be opened */
} source_slot;

struct lt_sources {
  lt_sources_options options;
  source_slot *slots; /* kind by kind, in the configuration's order */
  size_t count;
  lt_fan_out fan_out; /* fibers that wait for a source, or end one */
};

static void sources_on_source_warning(void *arg, lt_str message) {
  const lt_sources *all = arg;
  lt_report_line(all->options.report, LT_REPORT_WARNING, message);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static size_t sources_configured(const lt_config *config) {
  size_t type_count, count = 0;
  const lt_source_type *const *types = lt_source_types(&type_count);
  for (size_t i = 0; i < type_count; i++) {
    count += types[i]->count(config);
  }
  return count;
}

/* A server does not get the ids of a built-in plugin's tools, also where the plugin is disabled. */
static lt_status sources_check_name(const char *name, lt_err *err) {
  return !lt_plugins_has_namespace(lt_str_of(name))
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "the name belongs to a built-in plugin: give the server another name");
}

static void sources_open_source(lt_sources *all, const lt_source_type *type, size_t index) {
  const char *name = type->name(all->options.config, index);
  bool is_meant = all->options.only == NULL || strcmp(all->options.only, name) == 0;
  source_slot *slot = &all->slots[all->count++];
  const lt_source_options options = {
      .loop = all->options.loop,
      .door = all->options.door,
      .config = all->options.config,
      .secrets = all->options.secrets,
      .responder = all->options.responder,
      .on_warning = sources_on_source_warning,
      .arg = all,
      .start = is_meant ? all->options.start : LT_SOURCE_START_AT_CALL,
  };
  *slot = (source_slot){.all = all, .type = type, .name = name, .why = LT_ERR_INIT};
  if (sources_check_name(name, &slot->why) != LT_OK ||
      type->open(&options, index, &slot->source, &slot->why) != LT_OK) {
    slot->source = NULL;
    lt_report_warning(all->options.report, "%s \"%s\": %s", type->noun, name, lt_err_msg(&slot->why));
  }
}

lt_status lt_sources_open(const lt_sources_options *options, lt_sources **ret_sources, lt_err *err) {
  lt_sources *all = lt_mem_zalloc(1, sizeof *all);
  source_slot *slots = lt_mem_zalloc(sources_configured(options->config) + 1, sizeof *slots);
  if (all == NULL || slots == NULL) {
    lt_mem_free(all);
    lt_mem_free(slots);
    return lt_fail(err, LT_E_NOMEM, "out of memory while starting the servers");
  }
  *all = (lt_sources){.options = *options, .slots = slots};
  lt_fan_out_init(&all->fan_out, options->loop);
  size_t type_count;
  const lt_source_type *const *types = lt_source_types(&type_count);
  for (size_t i = 0; i < type_count && !options->is_empty; i++) {
    for (size_t index = 0; index < types[i]->count(options->config); index++) {
      sources_open_source(all, types[i], index);
    }
  }
  *ret_sources = all;
  return LT_OK;
}

size_t lt_sources_count(const lt_sources *all) {
  return all->count;
}

lt_mcp *lt_sources_mcp(const lt_sources *all, size_t i) {
  const lt_source *source = i < all->count ? all->slots[i].source : NULL;
  return source != NULL && source->type->client != NULL ? source->type->client(source) : NULL;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */
static void sources_await_source(void *arg) {
  const source_slot *slot = arg;
  const lt_sources_options *o = &slot->all->options;
  lt_err err = LT_ERR_INIT;
  if (slot->source == NULL) { /* closed already */
    return;
  }
  if (slot->source->type->await(slot->source, &err) != LT_OK && o->cancel->why == LT_OK) {
    lt_report_line(o->report, LT_REPORT_WARNING, lt_str_of(lt_err_msg(&err)));
  }
}

static void sources_report_progress(const lt_sources *all) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_buf_addc(&line, "starting ");
  for (size_t i = 0; i < all->count; i++) {
    const lt_source *source = all->slots[i].source;
    if (source != NULL && source->type->state != NULL && source->type->state(source) == LT_SOURCE_STARTING) {
      lt_buf_printf(&line, "%s ", source->name);
    }
  }
  lt_buf_addc(&line, "...");
  lt_report_line(all->options.report, LT_REPORT_PROGRESS, lt_buf_view(&line));
}

void lt_sources_await(lt_sources *all) {
  for (size_t i = 0; i < all->count; i++) {
    const lt_source *source = all->slots[i].source;
    if (source != NULL && source->type->await != NULL) {
      lt_fan_out_add(&all->fan_out, sources_await_source, &all->slots[i]);
    }
  }
  if (lt_fan_out_wait(&all->fan_out, all->options.cancel, PROGRESS_MS) == LT_E_TIMEOUT) {
    sources_report_progress(all);
    (void)lt_fan_out_wait(&all->fan_out, all->options.cancel, UINT64_MAX);
  }
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
typedef struct source_description {
  const source_slot *slot;
  lt_sources_row *row;
  lt_arena *arena;
  lt_err err;
} source_description;

static void sources_describe_source(void *arg) {
  source_description *d = arg;
  const source_slot *slot = d->slot;
  if (slot->source == NULL || slot->source->type->describe == NULL) {
    bool is_failed = slot->why.status != LT_OK;
    d->row->facts.state = is_failed ? "failed" : slot->source == NULL ? "disabled" : "running";
    d->row->facts.reason = lt_arena_dup(d->arena, lt_str_of(is_failed ? lt_err_msg(&slot->why) : ""));
    return;
  }
  (void)slot->source->type->describe(slot->source, d->arena, &d->row->facts, &d->err);
}

lt_status lt_sources_describe(lt_sources *all, lt_arena *arena, lt_sources_row **ret_rows, size_t *ret_count,
                              lt_err *err) {
  lt_sources_row *rows = lt_arena_zalloc(arena, all->count + 1, sizeof *rows);
  source_description *descriptions = lt_arena_zalloc(arena, all->count + 1, sizeof *descriptions);
  if (rows == NULL || descriptions == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to tell about the servers");
  }
  for (size_t i = 0; i < all->count; i++) {
    const source_slot *slot = &all->slots[i];
    rows[i] = (lt_sources_row){.noun = slot->type->noun, .name = slot->name, .facts = {.state = "", .transport = ""}};
    descriptions[i] = (source_description){.slot = slot, .row = &rows[i], .arena = arena, .err = LT_ERR_INIT};
    lt_fan_out_add(&all->fan_out, sources_describe_source, &descriptions[i]);
  }
  (void)lt_fan_out_wait(&all->fan_out, NULL, UINT64_MAX);
  for (size_t i = 0; i < all->count; i++) {
    if (descriptions[i].err.status != LT_OK) {
      return lt_err_copy(err, &descriptions[i].err);
    }
  }
  *ret_rows = rows;
  *ret_count = all->count;
  return LT_OK;
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
static void sources_close_source(void *arg) {
  source_slot *slot = arg;
  slot->source->type->close(slot->source);
  slot->source = NULL;
}

void lt_sources_close(lt_sources *all) {
  if (all == NULL) {
    return;
  }
  for (size_t i = 0; i < all->count; i++) {
    if (all->slots[i].source != NULL) {
      lt_fan_out_add(&all->fan_out, sources_close_source, &all->slots[i]);
    }
  }
  (void)lt_fan_out_wait(&all->fan_out, NULL, UINT64_MAX);
  lt_mem_free(all->slots);
  lt_mem_free(all);
}
