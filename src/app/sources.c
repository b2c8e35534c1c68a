#include "app/sources.h"

#include <string.h>

#include "app/plugins.h"
#include "app/sources_impl.h"
#include "base/mem.h"

#define PROGRESS_MS 1000 /* after this wait, the awaited sources are reported */

static void sources_on_source_warning(void *arg, lt_str message) {
  const lt_sources *all = arg;
  lt_report_line(all->options.report, LT_REPORT_WARNING, message);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
size_t lt_sources_configured(const lt_config *config) {
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

static lt_mcp *sources_client_of(const lt_source_slot *slot) {
  const lt_source *source = slot->source;
  return source != NULL && source->type->client != NULL ? source->type->client(source) : NULL;
}

static void sources_tune_client(const lt_source_slot *slot) {
  const lt_sources *all = slot->all;
  lt_mcp *mcp = sources_client_of(slot);
  if (mcp != NULL && all->log_level != NULL) {
    lt_mcp_set_log_level(mcp, all->log_level);
  }
  if (mcp != NULL && all->listener.on_notice != NULL) {
    lt_mcp_listen(mcp, &all->listener);
    lt_mcp_want_extras(mcp, false);
  }
}

lt_source_slot *lt_sources_slot_new(lt_sources *all, const lt_source_type *type, const lt_config *config,
                                    size_t index) {
  lt_source_slot *slot = lt_mem_zalloc(1, sizeof *slot);
  char *name = lt_mem_strdup(lt_str_of(type->name(config, index)));
  if (slot == NULL || name == NULL) {
    lt_mem_free(slot);
    lt_mem_free(name);
    return NULL;
  }
  *slot = (lt_source_slot){.all = all, .type = type, .name = name, .index = index, .why = LT_ERR_INIT};
  return slot;
}

void lt_sources_slot_free(lt_source_slot *slot) {
  if (slot != NULL) {
    if (slot->source != NULL) {
      slot->type->free(slot->source);
    }
    lt_mem_free(slot->name);
    lt_mem_free(slot);
  }
}

void lt_sources_slot_open(lt_source_slot *slot, lt_source *before) {
  lt_sources *all = slot->all;
  bool is_meant = all->options.only == NULL || strcmp(all->options.only, slot->name) == 0;
  const lt_source_options options = {
      .loop = all->options.loop,
      .door = all->options.door,
      .config = all->options.config,
      .secrets = all->options.secrets,
      .responder = all->options.responder,
      .on_warning = sources_on_source_warning,
      .arg = all,
      .is_embedded = all->options.is_embedded,
      .helper = all->options.helper,
      .start = is_meant ? all->options.start : LT_SOURCE_START_AT_CALL,
      .before = before,
  };
  if (sources_check_name(slot->name, &slot->why) != LT_OK ||
      slot->type->open(&options, slot->index, &slot->source, &slot->why) != LT_OK) {
    slot->source = NULL;
    lt_report_warning(all->options.report, "%s \"%s\": %s", slot->type->noun, slot->name, lt_err_msg(&slot->why));
  }
  sources_tune_client(slot);
}

static lt_status sources_make_slots(lt_sources *all) {
  const lt_config *config = all->options.config;
  size_t type_count;
  const lt_source_type *const *types = lt_source_types(&type_count);
  for (size_t i = 0; i < type_count && !all->options.is_empty; i++) {
    for (size_t index = 0; index < types[i]->count(config); index++) {
      all->slots[all->count] = lt_sources_slot_new(all, types[i], config, index);
      if (all->slots[all->count] == NULL) {
        return LT_E_NOMEM;
      }
      all->count++;
    }
  }
  return LT_OK;
}

static void sources_free(lt_sources *all) {
  for (size_t i = 0; i < all->count; i++) {
    lt_sources_slot_free(all->slots[i]);
  }
  while (all->gone != NULL) {
    lt_source_slot *slot = all->gone;
    all->gone = slot->next_gone;
    lt_sources_slot_free(slot);
  }
  lt_mem_free(all->slots);
  lt_mem_free(all);
}

lt_status lt_sources_open(const lt_sources_options *options, lt_sources **ret_sources, lt_err *err) {
  lt_sources *all = lt_mem_zalloc(1, sizeof *all);
  lt_source_slot **slots = lt_mem_zalloc(lt_sources_configured(options->config) + 1, sizeof *slots);
  if (all == NULL || slots == NULL) {
    lt_mem_free(all);
    lt_mem_free(slots);
    return lt_fail(err, LT_E_NOMEM, "out of memory while starting the servers");
  }
  *all = (lt_sources){.options = *options, .slots = slots};
  lt_fan_out_init(&all->fan_out, options->loop);
  lt_fan_out_init(&all->background, options->loop);
  lt_cancel_init(&all->closing);
  if (sources_make_slots(all) != LT_OK) {
    sources_free(all);
    return lt_fail(err, LT_E_NOMEM, "out of memory while starting the servers");
  }
  for (size_t i = 0; i < all->count; i++) {
    lt_sources_slot_open(all->slots[i], NULL);
  }
  *ret_sources = all;
  return LT_OK;
}

size_t lt_sources_count(const lt_sources *all) {
  return all->count;
}

lt_mcp *lt_sources_mcp(const lt_sources *all, size_t i) {
  return i < all->count ? sources_client_of(all->slots[i]) : NULL;
}

/* --- What servers tell -------------------------------------------------------------------------------------------- */
static void sources_listen_to(const lt_source_slot *slot) {
  lt_mcp *mcp = sources_client_of(slot);
  if (mcp != NULL) {
    lt_mcp_listen(mcp, &slot->all->listener);
  }
}

void lt_sources_listen(lt_sources *all, const lt_mcp_listener *listener) {
  all->listener = *listener;
  for (size_t i = 0; i < all->count; i++) {
    sources_listen_to(all->slots[i]);
    sources_tune_client(all->slots[i]);
  }
  for (const lt_source_slot *slot = all->gone; slot != NULL; slot = slot->next_gone) {
    sources_listen_to(slot);
  }
}

void lt_sources_set_log_level(lt_sources *all, const char *level) {
  all->log_level = level;
  for (size_t i = 0; i < all->count; i++) {
    sources_tune_client(all->slots[i]);
  }
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */
void lt_sources_slot_await(void *arg) {
  const lt_source_slot *slot = arg;
  const lt_sources_options *o = &slot->all->options;
  LT_ERR_VAR(err);
  if (slot->has_left) { /* before this fiber ran */
    return;
  }
  if (slot->type->await(slot->source, &err) != LT_OK && o->cancel->why == LT_OK && !slot->has_left) {
    lt_report_line(o->report, LT_REPORT_WARNING, lt_str_of(lt_err_msg(&err)));
  }
}

static void sources_report_progress(const lt_sources *all) {
  LT_AUTO_BUF(line, LT_MIB);
  lt_buf_addc(&line, "starting ");
  for (size_t i = 0; i < all->count; i++) {
    const lt_source *source = all->slots[i]->source;
    if (source != NULL && source->type->state != NULL && source->type->state(source) == LT_SOURCE_STARTING) {
      lt_buf_printf(&line, "%s ", source->name);
    }
  }
  lt_buf_addc(&line, "...");
  lt_report_line(all->options.report, LT_REPORT_PROGRESS, lt_buf_view(&line));
}

void lt_sources_await(lt_sources *all) {
  for (size_t i = 0; i < all->count; i++) {
    const lt_source *source = all->slots[i]->source;
    if (source != NULL && source->type->await != NULL) {
      lt_fan_out_add(&all->fan_out, lt_sources_slot_await, all->slots[i]);
    }
  }
  if (lt_fan_out_wait(&all->fan_out, all->options.cancel, PROGRESS_MS) == LT_E_TIMEOUT) {
    sources_report_progress(all);
    (void)lt_fan_out_wait(&all->fan_out, all->options.cancel, UINT64_MAX);
  }
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
typedef struct source_description {
  const lt_source_slot *slot;
  lt_sources_row *row;
  lt_arena *arena;
  lt_err err;
} source_description;

static void sources_describe_source(void *arg) {
  source_description *d = arg;
  const lt_source_slot *slot = d->slot;
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
    const lt_source_slot *slot = all->slots[i];
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
  lt_source_slot *slot = arg;
  slot->type->close(slot->source, NULL);
}

static void sources_close_slot(lt_sources *all, lt_source_slot *slot) LT_YIELDS {
  slot->has_left = true;
  if (slot->source != NULL && !slot->is_ending) {
    slot->is_ending = true;
    lt_fan_out_add(&all->fan_out, sources_close_source, slot);
  }
}

void lt_sources_close(lt_sources *all) {
  if (all == NULL) {
    return;
  }
  lt_cancel_fire(&all->closing, LT_E_CANCELLED);
  for (size_t i = 0; i < all->count; i++) {
    sources_close_slot(all, all->slots[i]);
  }
  for (lt_source_slot *slot = all->gone; slot != NULL; slot = slot->next_gone) {
    sources_close_slot(all, slot);
  }
  (void)lt_fan_out_wait(&all->fan_out, NULL, UINT64_MAX);
  (void)lt_fan_out_wait(&all->background, NULL, UINT64_MAX);
  sources_free(all);
}
