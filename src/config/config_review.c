#include "config/config_review.h"

#include "base/limits.h"
#include "json/json_text.h"
#include "text/plain.h"

/* --- Harmless values ---------------------------------------------------------------------------------------------- */
static bool review_is_harmless(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below);

static bool review_is_map_harmless(const lt_config_key *key, const lt_yaml_node *map, const lt_config *below) {
  if (map->type != LT_YAML_MAP) {
    return false;
  }
  for (const lt_yaml_node *value = map->kids; value != NULL; value = value->next) {
    if (!review_is_harmless(lt_config_key_find(key, value->key->text), value, below)) {
      return false;
    }
  }
  return true;
}

static bool review_are_records_harmless(const lt_config_key *key, const lt_yaml_node *records, const lt_config *below) {
  for (const lt_yaml_node *record = records->kids; record != NULL; record = record->next) {
    if (!review_is_map_harmless(key, record, below)) {
      return false;
    }
  }
  return records->type == (key->kind == LT_CONFIG_NAMED ? LT_YAML_MAP : LT_YAML_LIST);
}

/* A section with a member of its own has an effect also when it is empty. */
static bool review_is_harmless(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  if (key == NULL) {
    return false;
  }
  if (key->kind == LT_CONFIG_SECTION) {
    bool is_empty = node->type == LT_YAML_NULL;
    return key->at == LT_CONFIG_NOWHERE && (is_empty || review_is_map_harmless(key, node, below));
  }
  if (node->type == LT_YAML_NULL) {
    return true;
  }
  if (key->kind == LT_CONFIG_RECORDS || key->kind == LT_CONFIG_NAMED) {
    return review_are_records_harmless(key, node, below);
  }
  return key->is_harmless != NULL && key->is_harmless(key, node, below);
}

/* --- Text of the file --------------------------------------------------------------------------------------------- */

static bool review_is_plain(uint32_t cp, unsigned *marks) {
  bool escapes = lt_plain_needs_escape(cp, marks);
  return cp >= 0x20 && cp != 0x2028 && cp != 0x2029 && cp != 0xFFFD && !escapes;
}

static bool review_needs_quotes(lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == ' ' || text.p[i] == '"' || text.p[i] == '\\') {
      return true;
    }
  }
  return text.n == 0;
}

void lt_config_review_text(lt_str text, lt_buf *out) {
  bool has_quotes = review_needs_quotes(text);
  unsigned marks = 0;
  lt_buf_addc(out, has_quotes ? "\"" : "");
  for (size_t i = 0; i < text.n;) {
    uint32_t cp = 0xFFFD;
    size_t n = lt_json_read_char(text.p + i, text.p + text.n, &cp);
    if (n == 0 || !review_is_plain(cp, &marks)) {
      lt_buf_printf(out, "\\u{%X}", n > 0 ? (unsigned)cp : (unsigned)(unsigned char)text.p[i]);
    } else {
      lt_buf_addc(out, cp == '"' || cp == '\\' ? "\\" : "");
      lt_buf_add(out, lt_str_from(text.p + i, n));
    }
    i += n > 0 ? n : 1;
  }
  lt_buf_addc(out, has_quotes ? "\"" : "");
}

/* --- Environment variables ---------------------------------------------------------------------------------------- */

typedef struct config_review {
  const lt_config *below;
  lt_buf *out;
  lt_buf variables; /* " A B": each once */
} config_review;

static void review_add_variable(config_review *review, lt_str name) {
  LT_AUTO_BUF(word, LT_CONFIG_MAX_BYTES);
  lt_buf_byte(&word, ' ');
  lt_config_review_text(name, &word);
  if (word.status != LT_OK) {
    review->out->status = word.status;
    return;
  }
  lt_str all = lt_buf_view(&review->variables);
  for (size_t at = 0; (at = lt_str_find(all, lt_buf_view(&word), at)) != SIZE_MAX; at++) {
    if (at + word.n == all.n || all.p[at + word.n] == ' ') {
      return;
    }
  }
  lt_buf_add(&review->variables, lt_buf_view(&word));
}

/* What stands in ${NAME} and ${NAME:-default}. */
static void review_add_references(config_review *review, lt_str text) {
  for (size_t at = 0; (at = lt_str_find(text, LT_STR("${"), at)) != SIZE_MAX; at += 2) {
    size_t end = lt_str_find(text, LT_STR("}"), at), minus = lt_str_find(text, LT_STR(":-"), at);
    bool is_escaped = at > 0 && text.p[at - 1] == '$';
    if (end != SIZE_MAX && !is_escaped) {
      review_add_variable(review, lt_str_sub(text, at + 2, minus < end ? minus : end));
    }
  }
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* The path of a value, from the top of the file; in the frames of the walk. */
typedef struct review_place {
  const struct review_place *up;
  lt_str name;  /* of a member, or ... */
  size_t index; /* ... of an item, when name.p is NULL */
} review_place;

static void review_put_place(config_review *review, const review_place *place) {
  if (place->up != NULL) {
    review_put_place(review, place->up);
  }
  if (place->name.p == NULL) {
    lt_buf_printf(review->out, "[%zu]", place->index);
    return;
  }
  lt_buf_addc(review->out, place->up != NULL ? "." : "");
  lt_config_review_text(place->name, review->out);
}

static void review_put_scalar(config_review *review, const lt_yaml_node *node, bool is_variable) {
  lt_buf_byte(review->out, ' ');
  lt_config_review_text(node->text, review->out);
  review_add_references(review, node->text);
  if (is_variable && node->text.n > 0) {
    review_add_variable(review, node->text);
  }
}

static bool review_has_only_scalars(const lt_yaml_node *list) {
  for (const lt_yaml_node *item = list->kids; item != NULL; item = item->next) {
    if (item->type != LT_YAML_SCALAR) {
      return false;
    }
  }
  return list->type == LT_YAML_LIST;
}

static void review_put_line(config_review *review, const lt_yaml_node *node, const review_place *place,
                            bool is_variable) {
  lt_buf_addc(review->out, "    ");
  review_put_place(review, place);
  lt_buf_byte(review->out, ':');
  if (node->type == LT_YAML_SCALAR) {
    bool truth;
    review_put_scalar(review, node, is_variable && !lt_yaml_bool(node, &truth));
  }
  for (const lt_yaml_node *item = node->kids; item != NULL; item = item->next) {
    review_put_scalar(review, item, is_variable);
  }
  lt_buf_byte(review->out, '\n');
}

/* A line for each value, at any depth. */
static void review_put_lines(config_review *review, const lt_yaml_node *node, const review_place *place,
                             bool is_variable) {
  if (node->kids == NULL || review_has_only_scalars(node)) {
    review_put_line(review, node, place, is_variable);
    return;
  }
  review_place inside = {.up = place};
  for (const lt_yaml_node *kid = node->kids; kid != NULL; kid = kid->next, inside.index++) {
    inside.name = kid->key != NULL ? kid->key->text : LT_STR_NULL;
    review_put_lines(review, kid, &inside, is_variable);
  }
}

static void review_put_value(config_review *review, const lt_config_key *key, const lt_yaml_node *node,
                             const review_place *place);

static void review_put_members(config_review *review, const lt_config_key *parent, const lt_yaml_node *map,
                               const review_place *place) {
  review_place inside = {.up = place};
  for (const lt_yaml_node *kid = map->kids; kid != NULL; kid = kid->next) {
    inside.name = kid->key->text;
    review_put_value(review, lt_config_key_find(parent, kid->key->text), kid, &inside);
  }
}

static void review_put_records(config_review *review, const lt_config_key *key, const lt_yaml_node *records,
                               const review_place *place) {
  review_place inside = {.up = place};
  for (const lt_yaml_node *kid = records->kids; kid != NULL; kid = kid->next, inside.index++) {
    inside.name = kid->key != NULL ? kid->key->text : LT_STR_NULL;
    if (kid->type == LT_YAML_MAP && kid->kids != NULL) {
      review_put_members(review, key, kid, &inside);
    } else {
      review_put_lines(review, kid, &inside, false);
    }
  }
}

/* At most LT_CONFIG_DEPTH_MAX deep. */
static void review_put_value(config_review *review, const lt_config_key *key, const lt_yaml_node *node,
                             const review_place *place) {
  bool has_records = key != NULL && (key->kind == LT_CONFIG_RECORDS || key->kind == LT_CONFIG_NAMED);
  if (has_records && node->kids != NULL) {
    review_put_records(review, key, node, place);
  } else if (key != NULL && key->kind == LT_CONFIG_SECTION && node->type == LT_YAML_MAP && node->kids != NULL) {
    review_put_members(review, key, node, place);
  } else {
    review_put_lines(review, node, place, key != NULL && (key->flags & LT_CONFIG_VARIABLE) != 0);
  }
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static void review_put_variables(config_review *review) {
  if (review->variables.n > 0) {
    lt_buf_addc(review->out, "  read these environment variables:");
    lt_buf_add(review->out, lt_buf_view(&review->variables));
    lt_buf_byte(review->out, '\n');
  }
  if (review->variables.status != LT_OK && review->out->status == LT_OK) {
    review->out->status = review->variables.status;
  }
}

void lt_config_review(const lt_yaml_node *root, const lt_config *below, lt_buf *out) {
  config_review review = {.below = below, .out = out};
  lt_buf_init(&review.variables, LT_CONFIG_MAX_BYTES);
  for (const lt_yaml_node *node = root->kids; node != NULL; node = node->next) {
    const lt_config_key *key = node->key != NULL ? lt_config_key_find(NULL, node->key->text) : NULL;
    if (node->key != NULL && !review_is_harmless(key, node, below)) {
      review_place place = {.name = node->key->text};
      lt_buf_printf(out, "  %s:\n", key != NULL && key->wants != NULL ? key->wants : "set");
      review_put_value(&review, key, node, &place);
    }
  }
  review_put_variables(&review);
  lt_buf_release(&review.variables);
}

void lt_config_review_keys(const lt_yaml_node *root, const lt_config *below, lt_buf *out) {
  for (const lt_yaml_node *node = root->kids; node != NULL; node = node->next) {
    if (node->key != NULL && !review_is_harmless(lt_config_key_find(NULL, node->key->text), node, below)) {
      lt_buf_addc(out, out->n > 0 ? ", " : "");
      lt_config_review_text(node->key->text, out);
    }
  }
}
