#include "config/config_take.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/nearest.h"
#include "config/config_keys.h"
#include "config/config_value.h"

/* --- Unknown and missing keys ------------------------------------------------------------------------------------- */

/* Only the servers of another client's file count. */
static bool config_is_known(const lt_config_reading *r, const lt_config_key *parent, const lt_config_key *key) {
  return parent != NULL || !r->is_foreign || strcmp(key->path, "mcpServers") == 0;
}

/* The nearest known key within a distance: one edit in a short name, three in a longer one. */
static const char *config_nearest_key(const lt_config_reading *r, const lt_config_key *parent, lt_str name) {
  lt_nearest nearest = lt_nearest_to(name, name.n < 4 ? 1 : 3);
  for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
    if (config_is_known(r, parent, key)) {
      lt_nearest_offer(&nearest, lt_str_of(lt_config_key_name(key)));
    }
  }
  return nearest.name.p;
}

typedef struct config_hint {
  char text[512];
} config_hint;

/* " (known here: a, b)" */
static config_hint config_list_keys(const lt_config_key *parent) {
  config_hint hint = {" (known here:"};
  size_t n = strlen(hint.text);
  const lt_config_key *key = lt_config_key_inside(parent, NULL);
  while (key != NULL && n < sizeof hint.text) {
    const lt_config_key *next = lt_config_key_inside(parent, key);
    n += (size_t)snprintf(hint.text + n, sizeof hint.text - n, " %s%s", lt_config_key_name(key), next ? "," : ")");
    key = next;
  }
  return hint;
}

static lt_status config_unknown_key(const lt_config_reading *r, const lt_config_key *parent, const lt_yaml_node *value,
                                    const lt_config_place *place) {
  const char *nearest = config_nearest_key(r, parent, value->key->text);
  bool is_open = parent != NULL ? (parent->flags & LT_CONFIG_OPEN) != 0 : r->is_foreign;
  const char *in = place->up != NULL ? " in " : "";
  lt_config_place_text where = place->up != NULL ? lt_config_place_of(place) : (lt_config_place_text){{0}};
  config_hint hint = {{0}};
  if (nearest != NULL) {
    snprintf(hint.text, sizeof hint.text, " (did you mean \"%s\"?)", nearest);
  } else if (!is_open) {
    hint = config_list_keys(parent);
  }
  lt_yaml_clipped name = lt_yaml_clip(value->key->text);
  if (is_open) {
    return lt_config_warn(r, "%s:%u: the unknown key \"%s\"%s%s is ignored%s", r->name, value->key->line, name.text, in,
                          where.text, hint.text);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: unknown key \"%s\"%s%s%s", r->name, value->key->line, name.text, in,
                 where.text, hint.text);
}

static bool config_is_required(const lt_config_reading *r, const lt_config_key *key) {
  return (key->flags & LT_CONFIG_REQUIRED) != 0 || (r->is_foreign && strcmp(key->path, "mcpServers") == 0);
}

static lt_status config_check_required(const lt_config_reading *r, const lt_config_key *parent, const lt_yaml_node *map,
                                       const lt_config_place *place) {
  for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
    if (config_is_required(r, key) && lt_yaml_given(map, lt_config_key_name(key)) == NULL) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs the key \"%s\"", r->name, map->line,
                     lt_config_place_of(place).text, lt_config_key_name(key));
    }
  }
  return LT_OK;
}

/* --- Sections and records ----------------------------------------------------------------------------------------- */

static lt_status config_take_key(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                 const lt_config_place *place, char *record);

/* The members of a mapping. `parent` NULL: of the file. */
static lt_status config_take_inside(const lt_config_reading *r, const lt_config_key *parent, const lt_yaml_node *map,
                                    const lt_config_place *place, char *record) {
  for (const lt_yaml_node *value = map->kids; value != NULL; value = value->next) {
    const lt_config_key *key = lt_config_key_find(parent, value->key->text);
    lt_config_place inside = {.up = place, .key = value->key->text};
    if (key == NULL || !config_is_known(r, parent, key)) {
      LT_TRY(config_unknown_key(r, parent, value, place));
    } else {
      LT_TRY(config_take_key(r, key, value, &inside, record));
    }
  }
  return config_check_required(r, parent, map, place);
}

static bool config_is_disabled(const lt_config_key *key, const lt_yaml_node *map) {
  bool is_disabled = false;
  lt_yaml_bool(lt_yaml_get(map, "disabled"), &is_disabled);
  return is_disabled && lt_config_key_find(key, LT_STR("disabled")) != NULL;
}

static lt_status config_take_record(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                    const lt_config_place *place, char *record) {
  lt_config_key_set_standards(key, record);
  if (key->short_for != NULL && node->type == LT_YAML_SCALAR) {
    return config_take_key(r, lt_config_key_find(key, lt_str_of(key->short_for)), node, place, record);
  }
  if (node->type != LT_YAML_MAP) {
    return lt_config_wrong(r, node, place, key->short_for != NULL ? "a path or a mapping" : "a mapping");
  }
  lt_config_reading inner = *r;
  inner.is_disabled = config_is_disabled(key, node);
  inner.fault = key->fault_at != 0 ? (const char **)(void *)(record + key->fault_at) : r->fault;
  LT_TRY(config_take_inside(&inner, key, node, place, record));
  return key->finish != NULL ? key->finish(&inner, node, place, record) : LT_OK;
}

/* Makes room for the existing records and `more`. */
static lt_status config_grow_records(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                     size_t count, const char *old, char **ret) {
  if (key->max > 0 && count + node->count > (size_t)key->max) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: more than %lld %s", r->name, node->line, (long long)key->max, key->path);
  }
  char *records = lt_arena_zalloc(&r->config->arena, count + node->count + 1, key->record_bytes);
  if (records == NULL) {
    return lt_config_no_memory(r);
  }
  if (count > 0) {
    memcpy(records, old, count * key->record_bytes);
  }
  *ret = records;
  return LT_OK;
}

/* What makes two records the same thing, such as the `ref` of a model or the path of a plugin; NULL: they differ. */
static const char *config_common_name(const lt_config_key *key, const char *one, const char *other) {
  for (size_t i = 0; key->names != NULL && key->names[i] != NULL; i++) {
    size_t at = lt_config_key_find(key, lt_str_of(key->names[i]))->at;
    const char *a, *b;
    memcpy(&a, one + at, sizeof a);
    memcpy(&b, other + at, sizeof b);
    if (a != NULL && b != NULL && strcmp(a, b) == 0) {
      return a;
    }
  }
  return NULL;
}

/* The records at `from` and behind replace those of other files before them. Returns the new count. */
static size_t config_replace_records(const lt_config_reading *r, const lt_config_key *key, char *records, size_t from,
                                     size_t count) {
  size_t bytes = key->record_bytes;
  for (size_t i = from; i-- > 0;) {
    const char *name = NULL;
    for (size_t k = from; k < count && name == NULL; k++) {
      name = config_common_name(key, records + i * bytes, records + k * bytes);
    }
    if (name != NULL) {
      (void)lt_config_warn(r, "%s: %s: \"%s\" replaces the one of another file", r->name, key->path,
                           lt_yaml_clip(lt_str_of(name)).text);
      memmove(records + i * bytes, records + (i + 1) * bytes, (count - i - 1) * bytes);
      count--;
      from--;
    }
  }
  return count;
}

/* Records of this file follow those of the files before. */
static lt_status config_take_records(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *list,
                                     const lt_config_place *place, char *record) {
  const char *old;
  size_t n;
  memcpy(&old, record + key->at, sizeof old);
  memcpy(&n, record + key->count_at, sizeof n);
  if (list->type != LT_YAML_LIST) {
    return lt_config_wrong(r, list, place, "a list");
  }
  char *records;
  LT_TRY(config_grow_records(r, key, list, n, old, &records));
  lt_config_place inside = {.up = place};
  for (const lt_yaml_node *item = list->kids; item != NULL; item = item->next, inside.index++) {
    LT_TRY(config_take_record(r, key, item, &inside, records + (n + inside.index) * key->record_bytes));
  }
  n = config_replace_records(r, key, records, n, n + inside.index);
  memcpy(record + key->at, &records, sizeof records);
  memcpy(record + key->count_at, &n, sizeof n);
  return LT_OK;
}

/* The record of that name, or the place after the last one. */
static size_t config_index_of(const char *records, size_t count, size_t record_bytes, const char *name) {
  size_t i = 0;
  while (i < count && strcmp(*(const char *const *)(const void *)(records + i * record_bytes), name) != 0) {
    i++;
  }
  return i;
}

/* An existing record with that name is replaced as a whole. */
static lt_status config_take_named(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *map,
                                   const lt_config_place *place, char *record) {
  const char *old;
  size_t n;
  memcpy(&old, record + key->at, sizeof old);
  memcpy(&n, record + key->count_at, sizeof n);
  if (map->type != LT_YAML_MAP) {
    return lt_config_wrong(r, map, place, "a mapping");
  }
  char *records;
  LT_TRY(config_grow_records(r, key, map, n, old, &records));
  for (const lt_yaml_node *node = map->kids; node != NULL; node = node->next) {
    lt_config_place inside = {.up = place, .key = node->key->text};
    LT_TRY(lt_config_check_name(r, node, place));
    size_t index = config_index_of(records, n, key->record_bytes, node->key->text.p);
    char *slot = records + index * key->record_bytes;
    if (index < n && !r->is_foreign) {
      LT_TRY(lt_config_warn(r, "%s: %s: \"%s\" replaces the one of another file", r->name, key->path,
                            lt_yaml_clip(node->key->text).text));
    }
    memset(slot, 0, key->record_bytes);
    *(const char **)(void *)slot = node->key->text.p;
    LT_TRY(config_take_record(r, key, node, &inside, slot));
    n += index == n;
  }
  memcpy(record + key->at, &records, sizeof records);
  memcpy(record + key->count_at, &n, sizeof n);
  return LT_OK;
}

static lt_status config_take_section(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                     const lt_config_place *place, char *record) {
  if (key->at != LT_CONFIG_NOWHERE) {
    *(bool *)(record + key->at) = true;
  }
  if (node->type == LT_YAML_NULL) {
    return LT_OK;
  }
  if (key->short_for != NULL && node->type == LT_YAML_SCALAR) {
    return config_take_key(r, lt_config_key_find(key, lt_str_of(key->short_for)), node, place, record);
  }
  if (node->type != LT_YAML_MAP) {
    return lt_config_wrong(r, node, place, key->short_for != NULL ? "a text or a mapping" : "a mapping");
  }
  LT_TRY(config_take_inside(r, key, node, place, record));
  return key->finish != NULL ? key->finish(r, node, place, record) : LT_OK;
}

/* A key without a value counts as missing; an empty section counts as given. */
static lt_status config_take_key(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                 const lt_config_place *place, char *record) {
  if (key->kind == LT_CONFIG_SECTION) {
    return config_take_section(r, key, node, place, record);
  }
  if (node->type == LT_YAML_NULL && (key->flags & LT_CONFIG_NOT_NULL) == 0) {
    return LT_OK;
  }
  if (key->kind == LT_CONFIG_RECORDS) {
    return config_take_records(r, key, node, place, record);
  }
  if (key->kind == LT_CONFIG_NAMED) {
    return config_take_named(r, key, node, place, record);
  }
  LT_TRY(lt_config_take_value(r, key, node, place, record));
  return key->finish != NULL && !r->is_disabled ? key->finish(r, node, place, record) : LT_OK;
}

lt_status lt_config_take(const lt_config_reading *r, const lt_yaml_node *root) {
  static const lt_config_place top = {0};
  if (root->type == LT_YAML_NULL && !r->is_foreign) {
    return LT_OK; /* an empty file: the defaults */
  }
  if (root->type != LT_YAML_MAP) {
    return lt_config_wrong(r, root, &top, "a mapping");
  }
  return config_take_inside(r, NULL, root, &top, (char *)r->config);
}
