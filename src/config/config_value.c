#include "config/config_value.h"

#include <stdio.h>

#include "base/limits.h"
#include "config/config_expand.h"
#include "config/config_json.h"
#include "config/config_secrets.h"
#include "json/json.h"

/* --- Texts -------------------------------------------------------------------------------------------------------- */

static lt_status config_expand_text(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                    const lt_config_place *place, const char **ret) {
  if (node->type == LT_YAML_NULL && (key->flags & LT_CONFIG_NOT_NULL) != 0) {
    *ret = "";
    return LT_OK;
  }
  if (node->type != LT_YAML_SCALAR) {
    return lt_config_wrong(r, node, place, "a string");
  }
  if (r->is_disabled) {
    *ret = node->text.p;
    return LT_OK;
  }
  bool is_secret = (key->flags & LT_CONFIG_SECRET) != 0;
  return is_secret ? lt_config_expand_secret(r, node, ret) : lt_config_expand(r, node, ret);
}

static lt_status config_take_text(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                  const lt_config_place *place, const char **ret) {
  const char *text = NULL;
  LT_TRY(config_expand_text(r, key, node, place, &text));
  if (!r->is_disabled && lt_str_trim(lt_str_of(text)).n == 0) {
    if ((key->flags & LT_CONFIG_EMPTY_IS_NONE) != 0) {
      return LT_OK;
    }
    if (key->empty_advice != NULL) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s is empty: %s", r->name, node->line, lt_config_place_of(place).text,
                     key->empty_advice);
    }
  }
  bool is_program_path = (key->flags & LT_CONFIG_PROGRAM) != 0 && strchr(text, '/') != NULL;
  if ((key->flags & LT_CONFIG_FILE_PATH) != 0 || is_program_path) {
    text = lt_config_path(r, text);
  }
  *ret = text;
  return text != NULL ? LT_OK : lt_config_no_memory(r);
}

/* Returns the index of the word in `choices`. */
static lt_status config_take_choice(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                    const lt_config_place *place, int *ret) {
  char expected[160] = "";
  size_t n = 0;
  for (int i = 0; key->choices[i] != NULL; i++) {
    if (node->type == LT_YAML_SCALAR && lt_str_eqc(node->text, key->choices[i])) {
      *ret = i;
      return LT_OK;
    }
    const char *comma = key->choices[i + 1] != NULL ? ", " : " or ";
    n += (size_t)snprintf(expected + n, sizeof expected - n, "%s\"%s\"", i > 0 ? comma : "", key->choices[i]);
  }
  return lt_config_wrong_text(r, node, place, expected);
}

/* --- Numbers and truths ------------------------------------------------------------------------------------------- */

static lt_status config_take_number(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                    const lt_config_place *place, int64_t *ret) {
  int64_t value;
  if (!lt_yaml_int(node, &value)) {
    return lt_config_wrong_text(r, node, place, "a whole number");
  }
  if (value < key->min || value > key->max) {
    char range[80];
    if (key->max == INT64_MAX) {
      snprintf(range, sizeof range, "%lld or more", (long long)key->min);
    } else {
      snprintf(range, sizeof range, "from %lld to %lld", (long long)key->min, (long long)key->max);
    }
    return lt_config_wrong_text(r, node, place, range);
  }
  *ret = value;
  return LT_OK;
}

/* Written out, because a price of 0.15 has no exact binary form. */
static lt_status config_take_decimal(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                     const char **ret) {
  lt_str text = node->type == LT_YAML_SCALAR ? node->text : LT_STR_NULL;
  bool is_number =
      text.n > 0 && text.n <= 32 && text.p[0] >= '0' && text.p[0] <= '9' && lt_json_check(text, NULL) == LT_OK;
  if (!is_number) {
    return lt_config_wrong_text(r, node, place, "a number of 0 or more, such as 0.15");
  }
  *ret = text.p;
  return LT_OK;
}

static lt_status config_take_truth(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                   bool *ret) {
  return lt_yaml_bool(node, ret) ? LT_OK : lt_config_wrong_text(r, node, place, "true or false");
}

/* --- Lists and mappings ------------------------------------------------------------------------------------------- */

lt_status lt_config_check_name(const lt_config_reading *r, const lt_yaml_node *member, const lt_config_place *place) {
  if (member->key->text.n == 0) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a name in %s is empty", r->name, member->key->line,
                   lt_config_place_of(place).text);
  }
  return LT_OK;
}

static lt_status config_take_texts(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *list,
                                   const lt_config_place *place, const char *const **ret) {
  if (list->type != LT_YAML_LIST) {
    return lt_config_wrong(r, list, place, "a list");
  }
  const char **texts = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *texts);
  if (texts == NULL) {
    return lt_config_no_memory(r);
  }
  lt_config_place inside = {.up = place};
  for (const lt_yaml_node *item = list->kids; item != NULL; item = item->next, inside.index++) {
    LT_TRY(config_expand_text(r, key, item, &inside, &texts[inside.index]));
  }
  *ret = texts;
  return LT_OK;
}

/* A variable's name ends where "=" begins. */
static lt_status config_check_variable(const lt_config_reading *r, const lt_yaml_node *member) {
  if (lt_str_find(member->key->text, LT_STR("="), 0) != SIZE_MAX) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: an environment variable's name cannot contain \"=\"", r->name,
                   member->key->line);
  }
  return LT_OK;
}

/* Reads a mapping as "name<between>value" texts, NULL last. */
static lt_status config_take_pairs(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *map,
                                   const lt_config_place *place, const char *between, const char *const **ret) {
  if (map->type != LT_YAML_MAP) {
    return lt_config_wrong(r, map, place, "a mapping");
  }
  const char **pairs = lt_arena_zalloc(&r->config->arena, map->count + 1, sizeof *pairs);
  if (pairs == NULL) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *member = map->kids; member != NULL; member = member->next) {
    lt_config_place inside = {.up = place, .key = member->key->text};
    const char *value = NULL;
    LT_TRY(lt_config_check_name(r, member, place));
    LT_TRY(key->kind == LT_CONFIG_ENV ? config_check_variable(r, member) : LT_OK);
    LT_TRY(config_expand_text(r, key, member, &inside, &value));
    LT_TRY(r->is_disabled ? LT_OK : lt_config_secret_entry(r, member->key->text, lt_str_of(value)));
    pairs[n] = lt_arena_printf(&r->config->arena, "%s%s%s", member->key->text.p, between, value).p;
    if (pairs[n++] == NULL) {
      return lt_config_no_memory(r);
    }
  }
  *ret = pairs;
  return LT_OK;
}

/* The entry of that name, or the place behind the last one. */
static size_t config_count_at(const lt_config_count *counts, size_t n, lt_str name) {
  size_t i = 0;
  while (i < n && !lt_str_eqc(name, counts[i].name)) {
    i++;
  }
  return i;
}

/* An entry replaces the one of that name in another file. */
static lt_status config_take_counts(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *map,
                                    const lt_config_place *place, char *record) {
  if (map->type != LT_YAML_MAP) {
    return lt_config_wrong(r, map, place, "a mapping");
  }
  const lt_config_count *old = *(const lt_config_count **)(record + key->at);
  size_t n = *(size_t *)(record + key->count_at);
  lt_config_count *counts = lt_arena_zalloc(&r->config->arena, n + map->count + 1, sizeof *counts);
  if (counts == NULL) {
    return lt_config_no_memory(r);
  }
  if (n > 0) {
    memcpy(counts, old, n * sizeof *counts);
  }
  for (const lt_yaml_node *member = map->kids; member != NULL; member = member->next) {
    lt_config_place inside = {.up = place, .key = member->key->text};
    size_t at = config_count_at(counts, n, member->key->text);
    LT_TRY(lt_config_check_name(r, member, place));
    LT_TRY(config_take_number(r, key, member, &inside, &counts[at].value));
    counts[at] = (lt_config_count){member->key->text.p, counts[at].value, r->name, member->line};
    n += at == n;
  }
  *(const lt_config_count **)(record + key->at) = counts;
  *(size_t *)(record + key->count_at) = n;
  return LT_OK;
}

static lt_status config_take_passthrough(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                                         const lt_config_place *place, lt_config_passthrough *ret) {
  static const char *const none[] = {NULL};
  *ret = (lt_config_passthrough){.names = none};
  if (lt_yaml_bool(node, &ret->all)) {
    return LT_OK;
  }
  if (node->type != LT_YAML_LIST) {
    return lt_config_wrong(r, node, place, "true, false or a list");
  }
  return config_take_texts(r, key, node, place, &ret->names);
}

static lt_status config_take_json(const lt_config_reading *r, const lt_yaml_node *map, const lt_config_place *place,
                                  const char **ret) {
  if (map->type != LT_YAML_MAP) {
    return lt_config_wrong(r, map, place, "a mapping");
  }
  for (const lt_yaml_node *member = map->kids; member != NULL; member = member->next) {
    LT_TRY(lt_config_check_name(r, member, place));
  }
  if (r->is_disabled) {
    return LT_OK;
  }
  lt_str json;
  LT_TRY(lt_config_json(r, map, &json));
  *ret = json.p;
  return LT_OK;
}

/* --- A value of any kind ------------------------------------------------------------------------------------------ */

lt_status lt_config_take_value(const lt_config_reading *r, const lt_config_key *key, const lt_yaml_node *node,
                               const lt_config_place *place, char *record) {
  bool truth = false;
  int index = 0;
  if (key->at == LT_CONFIG_NOWHERE) { /* a section without a member */
    return LT_OK;
  }
  void *member = record + key->at;
  switch (key->kind) {
    case LT_CONFIG_TEXT:
      LT_TRY(key->choices != NULL ? config_take_choice(r, key, node, place, &index) : LT_OK);
      return config_take_text(r, key, node, place, member);
    case LT_CONFIG_NUMBER:
      return config_take_number(r, key, node, place, member);
    case LT_CONFIG_DECIMAL:
      return config_take_decimal(r, node, place, member);
    case LT_CONFIG_TRUTH:
      return config_take_truth(r, node, place, member);
    case LT_CONFIG_MAYBE:
      LT_TRY(config_take_truth(r, node, place, &truth));
      *(int *)member = truth;
      return LT_OK;
    case LT_CONFIG_CHOICE:
      return config_take_choice(r, key, node, place, member);
    case LT_CONFIG_TEXTS:
      return config_take_texts(r, key, node, place, member);
    case LT_CONFIG_ENV:
      return config_take_pairs(r, key, node, place, "=", member);
    case LT_CONFIG_HEADERS:
      return config_take_pairs(r, key, node, place, ": ", member);
    case LT_CONFIG_COUNTS:
      return config_take_counts(r, key, node, place, record);
    case LT_CONFIG_PASSTHROUGH:
      return config_take_passthrough(r, key, node, place, member);
    case LT_CONFIG_JSON:
      return config_take_json(r, node, place, member);
    case LT_CONFIG_SECTION:
    case LT_CONFIG_RECORDS:
    case LT_CONFIG_NAMED:
      break;
  }
  return LT_OK;
}
