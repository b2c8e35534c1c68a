/* The sources follow a configuration that was read again. */
#include <string.h>

#include "app/sources.h"
#include "app/sources_impl.h"
#include "base/limits.h"
#include "base/mem.h"

/* A source of the fresh configuration. */
typedef struct change_row {
  lt_source_slot *slot;   /* one that stays, or a new one */
  lt_source_slot *before; /* the slot of this name until now, which may be the same; NULL: none */
  size_t index;           /* in the fresh configuration, among those of its kind */
  bool is_new;
} change_row;

struct lt_sources_change {
  lt_source_slot **slots; /* room for those of the rows */
  change_row *rows;       /* kind by kind, in the configuration's order */
  size_t count;
};

/* --- Planning ----------------------------------------------------------------------------------------------------- */
static lt_source_slot *change_find_slot(const lt_sources *all, const lt_source_type *type, const char *name) {
  for (size_t i = 0; i < all->count; i++) {
    if (all->slots[i]->type == type && strcmp(all->slots[i]->name, name) == 0) {
      return all->slots[i];
    }
  }
  return NULL;
}

static lt_status change_add_row(lt_sources_change *change, lt_sources *all, const lt_source_type *type,
                                const lt_config *fresh, size_t index) {
  change_row *row = &change->rows[change->count];
  lt_source_slot *open = change_find_slot(all, type, type->name(fresh, index));
  bool is_new = open == NULL || type->differs(all->options.config, open->index, fresh, index);
  *row = (change_row){.slot = open, .before = open, .index = index, .is_new = is_new};
  if (is_new) {
    row->slot = lt_sources_slot_new(all, type, fresh, index);
  }
  change->count += row->slot != NULL;
  return row->slot != NULL ? LT_OK : LT_E_NOMEM;
}

static lt_status change_add_rows(lt_sources_change *change, lt_sources *all, const lt_config *fresh) {
  size_t type_count;
  const lt_source_type *const *types = lt_source_types(&type_count);
  for (size_t i = 0; i < type_count && !all->options.is_empty; i++) {
    for (size_t index = 0; index < types[i]->count(fresh); index++) {
      LT_TRY(change_add_row(change, all, types[i], fresh, index));
    }
  }
  return LT_OK;
}

static bool change_keeps(const lt_sources_change *change, const lt_source_slot *slot) {
  for (size_t i = 0; i < change->count; i++) {
    if (change->rows[i].slot == slot) {
      return true;
    }
  }
  return false;
}

static lt_status change_check_room(const lt_sources_change *change, const lt_sources *all, lt_err *err) {
  size_t gone = all->gone_count;
  for (size_t i = 0; i < all->count; i++) {
    gone += !change_keeps(change, all->slots[i]);
  }
  return gone <= LT_SOURCES_GONE_MAX
             ? LT_OK
             : lt_fail(err, LT_E_LIMIT,
                       "servers were removed or changed %d times, which is enough for one process: restart it",
                       LT_SOURCES_GONE_MAX);
}

lt_status lt_sources_change_plan(lt_sources *all, const lt_config *fresh, lt_sources_change **ret_change, lt_err *err) {
  size_t room = lt_sources_configured(fresh) + 1;
  lt_sources_change *change = lt_mem_zalloc(1, sizeof *change);
  if (change == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while comparing the servers");
  }
  change->slots = lt_mem_zalloc(room, sizeof *change->slots);
  change->rows = lt_mem_zalloc(room, sizeof *change->rows);
  lt_status status = LT_E_NOMEM;
  if (change->slots != NULL && change->rows != NULL) {
    status = change_add_rows(change, all, fresh);
  }
  if (status != LT_OK) {
    lt_fail(err, status, "out of memory while comparing the servers");
  } else {
    status = change_check_room(change, all, err);
  }
  if (status != LT_OK) {
    lt_sources_change_free(change);
    return status;
  }
  *ret_change = change;
  return LT_OK;
}

void lt_sources_change_free(lt_sources_change *change) {
  if (change == NULL) {
    return;
  }
  for (size_t i = 0; i < change->count; i++) {
    if (change->rows[i].is_new) {
      lt_sources_slot_free(change->rows[i].slot);
    }
  }
  lt_mem_free(change->slots);
  lt_mem_free(change->rows);
  lt_mem_free(change);
}

/* --- Carrying out ------------------------------------------------------------------------------------------------- */
static void change_note(const lt_source_slot *slot, const char *message) {
  const lt_report_fact facts[] = {{.name = slot->type->noun, .text = lt_str_of(slot->name)}, {.name = NULL}};
  lt_report_note(slot->all->options.report, LT_REPORT_INFO, message, facts);
}

static bool change_has_successor(const lt_sources_change *change, const lt_source_slot *slot) {
  for (size_t i = 0; i < change->count; i++) {
    if (change->rows[i].before == slot) {
      return true;
    }
  }
  return false;
}

/* Their names are free from then on. */
static void change_remove(const lt_sources *all, const lt_sources_change *change) {
  for (size_t i = 0; i < all->count; i++) {
    lt_source_slot *slot = all->slots[i];
    if (!change_has_successor(change, slot) && slot->source != NULL) {
      slot->type->leave(slot->source);
      change_note(slot, "tools removed");
    }
  }
}

static void change_open(lt_sources *all, const change_row *row) {
  lt_source_slot *slot = row->slot;
  lt_source *before = row->before != NULL ? row->before->source : NULL;
  lt_sources_slot_open(slot, before);
  if (slot->source != NULL) {
    change_note(slot, before != NULL ? "tools replaced" : "tools added");
  } else if (before != NULL) {
    change_note(slot, "tools removed");
  }
  if (slot->source != NULL && slot->type->await != NULL &&
      lt_fan_out_start(&all->background, lt_sources_slot_await, slot, NULL) != LT_OK) {
    lt_report_warning(all->options.report, "%s \"%s\": no memory to wait for its tools", slot->type->noun, slot->name);
  }
}

static void change_end_source(void *arg) {
  lt_source_slot *slot = arg;
  slot->type->close(slot->source, &slot->all->closing);
}

/* Without memory for a fiber, the source runs on without tools until all are closed. */
static void change_retire(lt_sources *all, lt_source_slot *slot) {
  slot->has_left = true;
  slot->next_gone = all->gone;
  all->gone = slot;
  all->gone_count++;
  if (slot->source != NULL) {
    slot->type->leave(slot->source);
    slot->is_ending = lt_fan_out_start(&all->background, change_end_source, slot, NULL) == LT_OK;
  }
}

static void change_take_slots(lt_sources *all, lt_sources_change *change) {
  lt_source_slot **slots = all->slots;
  size_t count = all->count;
  all->slots = change->slots;
  all->count = change->count;
  for (size_t i = 0; i < change->count; i++) {
    all->slots[i] = change->rows[i].slot;
    all->slots[i]->index = change->rows[i].index;
  }
  change->slots = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!change_keeps(change, slots[i])) {
      change_retire(all, slots[i]);
    }
  }
  lt_mem_free(slots);
}

static void change_tell(const lt_sources *all) {
  const lt_mcp_notice tools = {.kind = LT_MCP_NOTICE_TOOLS}, extras = {.kind = LT_MCP_NOTICE_EXTRAS};
  if (all->listener.on_notice != NULL) {
    all->listener.on_notice(all->listener.arg, &tools);
    all->listener.on_notice(all->listener.arg, &extras);
  }
}

void lt_sources_change_carry_out(lt_sources *all, lt_sources_change *change) {
  change_remove(all, change);
  for (size_t i = 0; i < change->count; i++) {
    if (change->rows[i].is_new) {
      change_open(all, &change->rows[i]);
      change->rows[i].is_new = false; /* the slot is not the change's any more */
    }
  }
  change_take_slots(all, change);
  change_tell(all);
  lt_sources_change_free(change);
}
