#include "config/yaml.h"

#include <yaml.h>

#include "base/buf.h"
#include "base/limits.h"
#include "json/json_text.h"

#define TAG_STANDARD "tag:yaml.org,2002:"

typedef struct yaml_anchor {
  const char *name;
  lt_yaml_node *node;
} yaml_anchor;

typedef struct yaml_reader {
  yaml_parser_t yaml;
  lt_arena *arena;
  lt_str text;
  const char *name;
  uint32_t total; /* nodes so far, what aliases stand for included */
  unsigned depth;
  unsigned anchor_count;
  yaml_anchor anchors[LT_CONFIG_ANCHORS_MAX];
  lt_err *err;
} yaml_reader;

static lt_status yaml_read_node(yaml_reader *r, yaml_event_t *event, lt_yaml_node **ret);

static lt_status yaml_no_memory(yaml_reader *r) {
  return lt_fail(r->err, LT_E_NOMEM, "%s: out of memory while reading it", r->name);
}

static uint32_t yaml_line_of_offset(lt_str text, size_t offset) {
  uint32_t line = 1;
  for (size_t i = 0; i < offset && i < text.n; i++) {
    line += text.p[i] == '\n';
  }
  return line;
}

static uint32_t yaml_event_line(const yaml_event_t *event) {
  return (uint32_t)event->start_mark.line + 1;
}

/* --- Checks of the bytes before libyaml parses them --------------------------------------------------------------- */

/* The length of the UTF-8 character at `p`, 0 when it is none (RFC 3629: shortest form, no surrogates). */
static unsigned yaml_utf8_length(const char *p, const char *end) {
  uint32_t code = 0;
  unsigned length = lt_json_read_char(p, end, &code);
  return code >= 0xd800 && code <= 0xdfff ? 0 : length;
}

static lt_status yaml_check_bytes(yaml_reader *r) {
  if (r->text.n > LT_CONFIG_MAX_BYTES) {
    return lt_fail(r->err, LT_E_LIMIT, "%s: larger than a configuration may be (%lu MiB)", r->name,
                   LT_CONFIG_MAX_BYTES / LT_MIB);
  }
  const char *p = r->text.p;
  for (size_t i = 0; i < r->text.n;) {
    unsigned length = yaml_utf8_length(p + i, p + r->text.n);
    if (length == 0 || p[i] == '\0') {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s (byte 0x%02x); save the file as UTF-8 text", r->name,
                     yaml_line_of_offset(r->text, i), length > 0 ? "a NUL byte" : "not UTF-8", (unsigned char)p[i]);
    }
    i += length;
  }
  return LT_OK;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* Whether the line (counted from 1) is indented with a tab, the usual cause of libyaml's unclear messages. */
static bool yaml_is_indented_with_tab(lt_str text, size_t line) {
  size_t at = 0;
  for (size_t n = 1; n < line && at < text.n; at++) {
    n += text.p[at] == '\n';
  }
  while (at < text.n && text.p[at] == ' ') {
    at++;
  }
  return at < text.n && text.p[at] == '\t';
}

static lt_status yaml_failed(yaml_reader *r) {
  const yaml_parser_t *y = &r->yaml;
  if (y->error == YAML_MEMORY_ERROR) {
    return yaml_no_memory(r);
  }
  const char *problem = y->problem ? y->problem : "cannot be read";
  if (y->error == YAML_READER_ERROR) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s", r->name, yaml_line_of_offset(r->text, y->problem_offset), problem);
  }
  size_t line = y->problem_mark.line + 1;
  if (yaml_is_indented_with_tab(r->text, line)) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%zu: a tab cannot indent YAML: use spaces", r->name, line);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%zu:%zu: not valid YAML: %s%s%s%s", r->name, line, y->problem_mark.column + 1,
                 problem, y->context ? " (" : "", y->context ? y->context : "", y->context ? ")" : "");
}

static lt_status yaml_next_event(yaml_reader *r, yaml_event_t *ret_event) {
  return yaml_parser_parse(&r->yaml, ret_event) ? LT_OK : yaml_failed(r);
}

static bool yaml_is_standard_tag(const char *tag) {
  static const char *const names[] = {"str", "int", "float", "bool", "null", "seq", "map", NULL};
  if (strncmp(tag, TAG_STANDARD, sizeof TAG_STANDARD - 1) != 0) {
    return false;
  }
  for (const char *const *name = names; *name; name++) {
    if (strcmp(tag + sizeof TAG_STANDARD - 1, *name) == 0) {
      return true;
    }
  }
  return false;
}

static lt_status yaml_check_tag(yaml_reader *r, const yaml_event_t *event, const yaml_char_t *tag,
                                bool *ret_is_string) {
  const char *t = (const char *)tag;
  *ret_is_string = t && (strcmp(t, "!") == 0 || strcmp(t, TAG_STANDARD "str") == 0);
  if (!t || *ret_is_string || yaml_is_standard_tag(t)) {
    return LT_OK;
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: the tag %s means nothing here: remove it", r->name,
                 yaml_event_line(event), lt_yaml_clip(lt_str_of(t)).text);
}

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static lt_status yaml_count_nodes(yaml_reader *r, uint32_t line, uint32_t more) {
  if (more > LT_CONFIG_NODES_MAX - r->total) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: more than %d values, what aliases (*name) repeat included", r->name,
                   line, LT_CONFIG_NODES_MAX);
  }
  r->total += more;
  return LT_OK;
}

static lt_status yaml_new_node(yaml_reader *r, const yaml_event_t *event, lt_yaml_type type, lt_yaml_node **ret) {
  LT_TRY(yaml_count_nodes(r, yaml_event_line(event), 1));
  lt_yaml_node *node = lt_arena_zalloc(r->arena, 1, sizeof *node);
  if (!node) {
    return yaml_no_memory(r);
  }
  node->type = type;
  node->line = yaml_event_line(event);
  node->size = 1;
  *ret = node;
  return LT_OK;
}

static lt_status yaml_remember_anchor(yaml_reader *r, const yaml_event_t *event, const yaml_char_t *name,
                                      lt_yaml_node *node) {
  if (!name) {
    return LT_OK;
  }
  if (r->anchor_count == LT_CONFIG_ANCHORS_MAX) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: more than %d anchors (&name)", r->name, yaml_event_line(event),
                   LT_CONFIG_ANCHORS_MAX);
  }
  lt_str kept = lt_arena_dup(r->arena, lt_str_of((const char *)name));
  if (!kept.p) {
    return yaml_no_memory(r);
  }
  r->anchors[r->anchor_count++] = (yaml_anchor){kept.p, node};
  return LT_OK;
}

/* An anchor is known once its node is complete, so an alias can never stand for something around it. */
static lt_status yaml_read_alias(yaml_reader *r, const yaml_event_t *event, lt_yaml_node **ret) {
  const char *name = (const char *)event->data.alias.anchor;
  for (unsigned i = r->anchor_count; i-- > 0;) {
    lt_yaml_node *target = r->anchors[i].node;
    if (strcmp(r->anchors[i].name, name) == 0) {
      LT_TRY(yaml_new_node(r, event, target->type, ret));
      LT_TRY(yaml_count_nodes(r, yaml_event_line(event), target->size - 1));
      uint32_t line = (*ret)->line;
      **ret = *target;
      (*ret)->line = line;
      (*ret)->key = (*ret)->next = NULL;
      return LT_OK;
    }
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: the alias *%s has no complete anchor &%s before it", r->name,
                 yaml_event_line(event), lt_yaml_clip(lt_str_of(name)).text, lt_yaml_clip(lt_str_of(name)).text);
}

static bool yaml_is_null_word(lt_str s) {
  return s.n == 0 || lt_str_eqc(s, "~") || lt_str_eqc(s, "null") || lt_str_eqc(s, "Null") || lt_str_eqc(s, "NULL");
}

static lt_status yaml_read_scalar(yaml_reader *r, const yaml_event_t *event, lt_yaml_node **ret) {
  lt_str text = lt_str_from(event->data.scalar.value, event->data.scalar.length);
  bool is_string;
  lt_yaml_node *node = NULL;
  LT_TRY(yaml_check_tag(r, event, event->data.scalar.tag, &is_string));
  if (text.n && memchr(text.p, 0, text.n)) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a NUL character (\\0) cannot be part of a value", r->name,
                   yaml_event_line(event));
  }
  LT_TRY(yaml_new_node(r, event, LT_YAML_SCALAR, &node));
  node->quoted = is_string || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text = lt_arena_dup(r->arena, text);
  if (!node->text.p) {
    return yaml_no_memory(r);
  }
  if (!node->quoted && yaml_is_null_word(text)) {
    node->type = LT_YAML_NULL;
  }
  LT_TRY(yaml_remember_anchor(r, event, event->data.scalar.anchor, node));
  *ret = node;
  return LT_OK;
}

static lt_status yaml_enter(yaml_reader *r, const yaml_event_t *event) {
  if (++r->depth > LT_CONFIG_DEPTH_MAX) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: nested deeper than %d levels", r->name, yaml_event_line(event),
                   LT_CONFIG_DEPTH_MAX);
  }
  return LT_OK;
}

static void yaml_append(lt_yaml_node *parent, lt_yaml_node ***tail, lt_yaml_node *kid) {
  **tail = kid;
  *tail = &kid->next;
  parent->count++;
  parent->size += kid->size;
}

/* The next value inside a list or map; NULL at its end. */
static lt_status yaml_next_kid(yaml_reader *r, lt_yaml_node **ret) {
  yaml_event_t event;
  LT_TRY(yaml_next_event(r, &event));
  lt_status status = LT_OK;
  *ret = NULL;
  if (event.type != YAML_SEQUENCE_END_EVENT && event.type != YAML_MAPPING_END_EVENT) {
    status = yaml_read_node(r, &event, ret);
  }
  yaml_event_delete(&event);
  return status;
}

static lt_status yaml_read_list(yaml_reader *r, const yaml_event_t *event, lt_yaml_node **ret) {
  bool is_string;
  lt_yaml_node *list = NULL, *kid;
  LT_TRY(yaml_check_tag(r, event, event->data.sequence_start.tag, &is_string));
  LT_TRY(yaml_enter(r, event));
  LT_TRY(yaml_new_node(r, event, LT_YAML_LIST, &list));
  lt_yaml_node **tail = &list->kids;
  for (;;) {
    LT_TRY(yaml_next_kid(r, &kid));
    if (!kid) {
      break;
    }
    yaml_append(list, &tail, kid);
  }
  r->depth--;
  LT_TRY(yaml_remember_anchor(r, event, event->data.sequence_start.anchor, list));
  *ret = list;
  return LT_OK;
}

static int yaml_by_key(const void *a, const void *b) {
  const lt_yaml_node *x = *(lt_yaml_node *const *)a, *y = *(lt_yaml_node *const *)b;
  int order = lt_str_cmp(x->key->text, y->key->text);
  return order ? order : (x->key->line > y->key->line) - (x->key->line < y->key->line);
}

/* Sorted, because a list of 50,000 keys must not take 50,000 squared. */
static lt_status yaml_check_unique(yaml_reader *r, const lt_yaml_node *map) {
  if (map->count < 2) {
    return LT_OK;
  }
  lt_yaml_node **sorted = lt_arena_zalloc(r->arena, map->count, sizeof *sorted);
  if (!sorted) {
    return yaml_no_memory(r);
  }
  size_t n = 0;
  for (lt_yaml_node *kid = map->kids; kid; kid = kid->next) {
    sorted[n++] = kid;
  }
  qsort(sorted, n, sizeof *sorted, yaml_by_key);
  for (size_t i = 1; i < n; i++) {
    const lt_yaml_node *first = sorted[i - 1]->key, *again = sorted[i]->key;
    if (lt_str_eq(first->text, again->text)) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: the key \"%s\" is given twice (first on line %u)", r->name,
                     again->line, lt_yaml_clip(again->text).text, first->line);
    }
  }
  return LT_OK;
}

static lt_status yaml_check_key(yaml_reader *r, const lt_yaml_node *key) {
  if (key->type == LT_YAML_LIST || key->type == LT_YAML_MAP) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a key must be a name, not %s", r->name, key->line,
                   lt_yaml_describe(key));
  }
  if (!key->quoted && lt_str_eqc(key->text, "<<")) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: merge keys (<<) are not supported: write the keys out", r->name,
                   key->line);
  }
  return LT_OK;
}

static lt_status yaml_read_map(yaml_reader *r, const yaml_event_t *event, lt_yaml_node **ret) {
  bool is_string;
  lt_yaml_node *map = NULL, *key, *value;
  LT_TRY(yaml_check_tag(r, event, event->data.mapping_start.tag, &is_string));
  LT_TRY(yaml_enter(r, event));
  LT_TRY(yaml_new_node(r, event, LT_YAML_MAP, &map));
  lt_yaml_node **tail = &map->kids;
  for (;;) {
    LT_TRY(yaml_next_kid(r, &key));
    if (!key) {
      break;
    }
    LT_TRY(yaml_check_key(r, key));
    LT_TRY(yaml_next_kid(r, &value));
    LT_CHECK(value); /* libyaml gives every key a value */
    value->key = key;
    yaml_append(map, &tail, value);
  }
  r->depth--;
  LT_TRY(yaml_check_unique(r, map));
  LT_TRY(yaml_remember_anchor(r, event, event->data.mapping_start.anchor, map));
  *ret = map;
  return LT_OK;
}

static lt_status yaml_read_node(yaml_reader *r, yaml_event_t *event, lt_yaml_node **ret) {
  switch ((int)event->type) {
    case YAML_ALIAS_EVENT:
      return yaml_read_alias(r, event, ret);
    case YAML_SCALAR_EVENT:
      return yaml_read_scalar(r, event, ret);
    case YAML_SEQUENCE_START_EVENT:
      return yaml_read_list(r, event, ret);
    case YAML_MAPPING_START_EVENT:
      return yaml_read_map(r, event, ret);
    default:
      return lt_fail(r->err, LT_E_INTERNAL, "%s:%u: unexpected YAML event %d", r->name, yaml_event_line(event),
                     event->type);
  }
}

/* --- The document ------------------------------------------------------------------------------------------------- */

/* One event of the stream: the first document's value is kept, a second document is an error. */
static lt_status yaml_read_document_part(yaml_reader *r, yaml_event_t *event, lt_yaml_node **root, bool *done) {
  switch ((int)event->type) {
    case YAML_STREAM_END_EVENT:
      *done = true;
      return LT_OK;
    case YAML_DOCUMENT_START_EVENT:
      if (*root) {
        return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a second document (---) starts here: a configuration has one",
                       r->name, yaml_event_line(event));
      }
      return LT_OK;
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
      return LT_OK;
    default:
      return yaml_read_node(r, event, root);
  }
}

static lt_status yaml_read_stream(yaml_reader *r, lt_yaml_node **ret_root) {
  lt_yaml_node *root = NULL;
  for (bool done = false; !done;) {
    yaml_event_t event;
    LT_TRY(yaml_next_event(r, &event));
    lt_status status = yaml_read_document_part(r, &event, &root, &done);
    yaml_event_delete(&event);
    LT_TRY(status);
  }
  if (!root) {
    root = lt_arena_zalloc(r->arena, 1, sizeof *root); /* LT_YAML_NULL */
    if (!root) {
      return yaml_no_memory(r);
    }
    root->line = 1;
    root->size = 1;
  }
  *ret_root = root;
  return LT_OK;
}

lt_status lt_yaml_parse(lt_arena *arena, lt_str text, const char *name, lt_yaml_node **ret_root, lt_err *err) {
  yaml_reader r = {.arena = arena, .text = text, .name = name, .err = err};
  LT_TRY(yaml_check_bytes(&r));
  if (!yaml_parser_initialize(&r.yaml)) {
    return yaml_no_memory(&r);
  }
  yaml_parser_set_encoding(&r.yaml, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.yaml, (const unsigned char *)(text.p ? text.p : ""), text.n);
  lt_status status = yaml_read_stream(&r, ret_root);
  yaml_parser_delete(&r.yaml);
  return status;
}
