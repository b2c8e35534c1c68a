/* Registries: created, freed, searched. */
#include "plugin/registry.h"

#include "base/limits.h"
#include "base/mem.h"

lt_registry *lt_registry_new(void) {
  lt_registry *r = lt_mem_zalloc(1, sizeof *r);
  if (r != NULL) {
    lt_arena_init(&r->arena, LT_PLUGIN_CALL_MAX_BYTES);
    r->last_tool = &r->tools;
    r->last_function = &r->functions;
    r->last_module = &r->modules;
    r->last_item = &r->items;
    r->last_mode = &r->modes;
  }
  return r;
}

void lt_registry_free(lt_registry *list) {
  while (list != NULL) {
    lt_registry *r = list;
    list = r->next;
    lt_arena_release(&r->arena);
    lt_mem_free(r);
  }
}

const lt_plugin_tool *lt_registry_find_tool(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_tool *tool = r->tools; tool != NULL; tool = tool->next) {
      if (lt_str_eq(tool->spec.name, name)) {
        return tool;
      }
    }
  }
  return NULL;
}

bool lt_registry_has_function(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_function *f = r->functions; f != NULL; f = f->next) {
      if (lt_str_eq(f->name, name)) {
        return true;
      }
    }
  }
  return false;
}

bool lt_registry_has_module(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_module *m = r->modules; m != NULL; m = m->next) {
      if (lt_str_eq(m->name, name)) {
        return true;
      }
    }
  }
  return false;
}

const lt_plugin_mode *lt_registry_find_mode(const lt_registry *list, lt_str id) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_mode *mode = r->modes; mode != NULL; mode = mode->next) {
      if (lt_str_eq(mode->mode.id, id)) {
        return mode;
      }
    }
  }
  return NULL;
}
