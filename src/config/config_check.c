#include <stdio.h>

#include "base/limits.h"
#include "config/config_parts.h"

typedef enum kind {
  ANYTHING, /* what it must look like comes with the part that reads it */
  ANY_TEXT, /* any scalar, as it is written */
  NUMBER,
  TRUTH,
  CHOICE, /* one of a few words */
  LIST,   /* of `item` */
  NAMES,  /* a mapping of any names to `item` */
  KEYS,   /* a mapping of known keys */
  TEXT_OR_KEYS,
  TRUTH_OR_LIST,
} kind;

typedef struct shape shape;

typedef struct known_key {
  const char *name; /* NULL ends a table */
  const shape *is;
  bool required;
} known_key;

struct shape {
  kind kind;
  const shape *item;
  const known_key *keys;
  const char *const *choices; /* NULL last */
  int64_t min, max;
  bool lenient; /* KEYS: an unknown one is only a warning */
};

/* --- The known keys (docs/guide/configuration.md) ----------------------------------------------------------------- */

#define SHAPE static const shape
#define TABLE static const known_key
#define TABLE_END \
  { NULL, NULL, false }

SHAPE anything = {.kind = ANYTHING};
SHAPE text = {.kind = ANY_TEXT};
SHAPE truth = {.kind = TRUTH};
SHAPE texts = {.kind = LIST, .item = &text};
SHAPE text_by_name = {.kind = NAMES, .item = &text};
SHAPE positive = {.kind = NUMBER, .min = 1, .max = INT64_MAX};
SHAPE positive_by_name = {.kind = NAMES, .item = &positive};

static const char *const server_types[] = {"stdio", "http", "sse", "streamable-http", "streamableHttp", NULL};
SHAPE server_type = {.kind = CHOICE, .choices = server_types};
SHAPE start_timeout_ms = {.kind = NUMBER, .min = 1, .max = LT_RUN_TIMEOUT_MAX_MS};
TABLE mcp_server_keys[] = {{"type", &server_type, false},
                           {"command", &text, false},
                           {"args", &texts, false},
                           {"env", &text_by_name, false},
                           {"cwd", &text, false},
                           {"url", &text, false},
                           {"headers", &text_by_name, false},
                           {"disabled", &truth, false},
                           {"startTimeoutMs", &start_timeout_ms, false},
                           TABLE_END};
SHAPE mcp_server = {.kind = KEYS, .keys = mcp_server_keys, .lenient = true};
SHAPE mcp_servers = {.kind = NAMES, .item = &mcp_server};

TABLE defaults_keys[] = {{"model", &text, false},
                         {"mode", &text, false},
                         {"codeMode", &truth, false},
                         {"maxRounds", &positive_by_name, false},
                         TABLE_END};
SHAPE defaults = {.kind = KEYS, .keys = defaults_keys};

TABLE model_keys[] = {{"ref", &text, true},
                      {"model", &text, false},
                      {"baseUrl", &text, false},
                      {"apiKeyEnv", &text, false},
                      {"maxTokens", &positive, false},
                      {"codeMode", &truth, false},
                      TABLE_END};
SHAPE model = {.kind = KEYS, .keys = model_keys};
SHAPE models = {.kind = LIST, .item = &model};

TABLE module_keys[] = {{"name", &text, true}, {"path", &text, true}, TABLE_END};
SHAPE module = {.kind = KEYS, .keys = module_keys};
SHAPE modules = {.kind = LIST, .item = &module};

static const char *const actions[] = {"allow", "ask", "deny", NULL};
SHAPE action = {.kind = CHOICE, .choices = actions};
TABLE rule_keys[] = {
    {"match", &text, true}, {"action", &action, true}, {"when", &text, false}, {"reason", &text, false}, TABLE_END};
SHAPE rule = {.kind = KEYS, .keys = rule_keys};
SHAPE policy = {.kind = LIST, .item = &rule};
TABLE budget_keys[] = {{"match", &text, true}, {"calls", &positive, false}, {"perMinute", &positive, false}, TABLE_END};
SHAPE budget = {.kind = KEYS, .keys = budget_keys};
SHAPE budgets = {.kind = LIST, .item = &budget};
TABLE tools_keys[] = {
    {"policy", &policy, false}, {"budgets", &budgets, false}, {"listingTokens", &positive, false}, TABLE_END};
SHAPE tools = {.kind = KEYS, .keys = tools_keys};

static const char *const built_in[] = {"artifact", "interpreter", "plan", "python", NULL};
SHAPE built_in_name = {.kind = CHOICE, .choices = built_in};
SHAPE plugin_config = {.kind = NAMES, .item = &anything};
TABLE plugin_keys[] = {{"path", &text, false},
                       {"name", &built_in_name, false},
                       {"config", &plugin_config, false},
                       {"disabled", &truth, false},
                       TABLE_END};
SHAPE plugin = {.kind = TEXT_OR_KEYS, .keys = plugin_keys};
SHAPE plugins = {.kind = LIST, .item = &plugin};

SHAPE timeout_ms = {.kind = NUMBER, .min = 1, .max = LT_RUN_TIMEOUT_MAX_MS};
SHAPE memory_mb = {.kind = NUMBER, .min = LT_RUN_MEMORY_MIN_BYTES / LT_MIB, .max = LT_RUN_MEMORY_MAX_BYTES / LT_MIB};
SHAPE output_bytes = {.kind = NUMBER, .min = 0, .max = LT_RUN_RESULT_MAX_BYTES};
TABLE sandbox_keys[] = {{"timeoutMs", &timeout_ms, false},
                        {"memoryMb", &memory_mb, false},
                        {"maxOutputBytes", &output_bytes, false},
                        {"requireWalls", &truth, false},
                        TABLE_END};
SHAPE sandbox = {.kind = KEYS, .keys = sandbox_keys};

SHAPE passthrough = {.kind = TRUTH_OR_LIST, .item = &text};
TABLE python_keys[] = {{"path", &text, false},
                       {"workspace", &text, false},
                       {"env", &text_by_name, false},
                       {"envPassthrough", &passthrough, false},
                       TABLE_END};
SHAPE python = {.kind = KEYS, .keys = python_keys};

TABLE deno_keys[] = {{"path", &text, false}, TABLE_END};
SHAPE deno = {.kind = KEYS, .keys = deno_keys};

static const char *const engines[] = {"quickjs", "deno", NULL};
SHAPE engine = {.kind = CHOICE, .choices = engines};
TABLE typescript_keys[] = {{"path", &text, false}, {"check", &truth, false}, {"runner", &engine, false}, TABLE_END};
SHAPE typescript = {.kind = KEYS, .keys = typescript_keys};

SHAPE plan_count = {.kind = NUMBER, .min = 1, .max = 1000};
TABLE plan_keys[] = {{"maxSteps", &plan_count, false}, {"concurrency", &plan_count, false}, TABLE_END};
SHAPE plan = {.kind = KEYS, .keys = plan_keys};

TABLE server_keys[] = {{"listen", &text, false},
                       {"hosts", &texts, false},
                       {"tokens", &anything, false},
                       {"limits", &anything, false},
                       TABLE_END};
SHAPE server = {.kind = KEYS, .keys = server_keys};

TABLE own_keys[] = {{"mcpServers", &mcp_servers, false},
                    {"defaults", &defaults, false},
                    {"models", &models, false},
                    {"modules", &modules, false},
                    {"tools", &tools, false},
                    {"plugins", &plugins, false},
                    {"sandbox", &sandbox, false},
                    {"python", &python, false},
                    {"deno", &deno, false},
                    {"typescript", &typescript, false},
                    {"plan", &plan, false},
                    {"store", &text, false},
                    {"server", &server, false},
                    TABLE_END};
SHAPE own_file = {.kind = KEYS, .keys = own_keys};

TABLE foreign_keys[] = {{"mcpServers", &mcp_servers, true}, TABLE_END};
SHAPE foreign_file = {.kind = KEYS, .keys = foreign_keys, .lenient = true};

/* --- Where a message points --------------------------------------------------------------------------------------- */

/* The way from the file's top down to a value. */
typedef struct place {
  const struct place *up; /* NULL: the file itself */
  lt_str key;             /* a member's key, or ... */
  uint32_t index;         /* ... an item's number, when key.p is NULL */
} place;

typedef struct place_text {
  char text[256];
} place_text;

static void write_place(const place *at, place_text *out) {
  if (!at->up) {
    return;
  }
  write_place(at->up, out);
  size_t n = strlen(out->text);
  char *end = out->text + n;
  size_t room = sizeof out->text - n;
  if (at->key.p) {
    snprintf(end, room, "%s%s", n ? "." : "", lt_yaml_clip(at->key).text);
  } else {
    snprintf(end, room, "[%u]", at->index);
  }
}

/* Such as tools.policy[0].action. */
static place_text place_of(const place *at) {
  place_text out = {{0}};
  write_place(at, &out);
  if (!out.text[0]) {
    snprintf(out.text, sizeof out.text, "the configuration");
  }
  return out;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

typedef lt_config_reading reading;

static lt_status check(const reading *r, const lt_yaml_node *node, const shape *is, const place *at);

static lt_status wrong(const reading *r, const lt_yaml_node *node, const place *at, const char *expected) {
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s must be %s, not %s", r->name, node->line, place_of(at).text, expected,
                 lt_yaml_describe(node));
}

/* For values that are no secrets: shows what was written. */
static lt_status wrong_text(const reading *r, const lt_yaml_node *node, const place *at, const char *expected) {
  if (node->type != LT_YAML_SCALAR) {
    return wrong(r, node, at, expected);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s must be %s, not \"%s\"", r->name, node->line, place_of(at).text,
                 expected, lt_yaml_clip(node->text).text);
}

static const known_key *find_key(const known_key *keys, lt_str name) {
  for (; keys->name; keys++) {
    if (lt_str_eqc(name, keys->name)) {
      return keys;
    }
  }
  return NULL;
}

/* The nearest known key when it is near enough to be meant, else NULL. */
static const char *nearest_key(const known_key *keys, lt_str name) {
  unsigned best = name.n < 4 ? 2 : 4; /* one edit in a short name, three in a longer one */
  const char *nearest = NULL;
  for (; keys->name; keys++) {
    unsigned distance = lt_str_distance(name, lt_str_of(keys->name), best - 1);
    if (distance < best) {
      best = distance;
      nearest = keys->name;
    }
  }
  return nearest;
}

/* " (did you mean "x"?)", or the list of what there is. */
static void write_hint(const known_key *keys, lt_str name, char *out, size_t size) {
  const char *nearest = nearest_key(keys, name);
  if (nearest) {
    snprintf(out, size, " (did you mean \"%s\"?)", nearest);
    return;
  }
  size_t n = (size_t)snprintf(out, size, " (known here:");
  for (; keys->name && n < size; keys++) {
    n += (size_t)snprintf(out + n, size - n, " %s%s", keys->name, keys[1].name ? "," : ")");
  }
}

static lt_status unknown_key(const reading *r, const lt_yaml_node *value, const shape *is, const place *at) {
  char hint[512];
  const char *in = at->up ? " in " : "";
  place_text where = at->up ? place_of(at) : (place_text){{0}};
  write_hint(is->keys, value->key->text, hint, sizeof hint);
  if (is->lenient) {
    return lt_config_warn(r, "%s:%u: the unknown key \"%s\"%s%s is ignored%s", r->name, value->key->line,
                          lt_yaml_clip(value->key->text).text, in, where.text,
                          nearest_key(is->keys, value->key->text) ? hint : "");
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: unknown key \"%s\"%s%s%s", r->name, value->key->line,
                 lt_yaml_clip(value->key->text).text, in, where.text, hint);
}

static lt_status check_required(const reading *r, const lt_yaml_node *map, const shape *is, const place *at) {
  for (const known_key *key = is->keys; key->name; key++) {
    const lt_yaml_node *value = key->required ? lt_yaml_get(map, key->name) : NULL;
    if (key->required && (!value || value->type == LT_YAML_NULL)) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs the key \"%s\"", r->name, map->line, place_of(at).text,
                     key->name);
    }
  }
  return LT_OK;
}

static lt_status check_keys(const reading *r, const lt_yaml_node *map, const shape *is, const place *at) {
  for (const lt_yaml_node *value = map->kids; value; value = value->next) {
    const known_key *key = find_key(is->keys, value->key->text);
    place inside = {at, value->key->text, 0};
    if (!key) {
      LT_TRY(unknown_key(r, value, is, at));
    } else if (value->type != LT_YAML_NULL) { /* a key with nothing behind it is a key that is not given */
      LT_TRY(check(r, value, key->is, &inside));
    }
  }
  return check_required(r, map, is, at);
}

static lt_status check_names(const reading *r, const lt_yaml_node *map, const shape *is, const place *at) {
  for (const lt_yaml_node *value = map->kids; value; value = value->next) {
    place inside = {at, value->key->text, 0};
    if (value->key->text.n == 0) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a name in %s is empty", r->name, value->key->line, place_of(at).text);
    }
    LT_TRY(check(r, value, is->item, &inside));
  }
  return LT_OK;
}

static lt_status check_list(const reading *r, const lt_yaml_node *list, const shape *is, const place *at) {
  uint32_t index = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next) {
    place inside = {at, LT_STR_NULL, index++};
    LT_TRY(check(r, item, is->item, &inside));
  }
  return LT_OK;
}

static lt_status check_number(const reading *r, const lt_yaml_node *node, const shape *is, const place *at) {
  int64_t value;
  if (!lt_yaml_int(node, &value)) {
    return wrong_text(r, node, at, "a whole number");
  }
  if (value < is->min || value > is->max) {
    char range[80];
    if (is->max == INT64_MAX) {
      snprintf(range, sizeof range, "%lld or more", (long long)is->min);
    } else {
      snprintf(range, sizeof range, "from %lld to %lld", (long long)is->min, (long long)is->max);
    }
    return wrong_text(r, node, at, range);
  }
  return LT_OK;
}

static lt_status check_choice(const reading *r, const lt_yaml_node *node, const shape *is, const place *at) {
  char expected[160] = "";
  size_t n = 0;
  for (const char *const *choice = is->choices; *choice; choice++) {
    if (node->type == LT_YAML_SCALAR && lt_str_eqc(node->text, *choice)) {
      return LT_OK;
    }
    n += (size_t)snprintf(expected + n, sizeof expected - n, "%s\"%s\"", n ? (choice[1] ? ", " : " or ") : "", *choice);
  }
  return wrong_text(r, node, at, expected);
}

static lt_status check(const reading *r, const lt_yaml_node *node, const shape *is, const place *at) {
  bool yes;
  switch (is->kind) {
    case ANYTHING:
      return LT_OK;
    case ANY_TEXT:
      return node->type == LT_YAML_SCALAR ? LT_OK : wrong(r, node, at, "a string");
    case NUMBER:
      return check_number(r, node, is, at);
    case TRUTH:
      return lt_yaml_bool(node, &yes) ? LT_OK : wrong_text(r, node, at, "true or false");
    case CHOICE:
      return check_choice(r, node, is, at);
    case LIST:
      return node->type == LT_YAML_LIST ? check_list(r, node, is, at) : wrong(r, node, at, "a list");
    case NAMES:
      return node->type == LT_YAML_MAP ? check_names(r, node, is, at) : wrong(r, node, at, "a mapping");
    case TEXT_OR_KEYS:
      if (node->type == LT_YAML_SCALAR) {
        return LT_OK;
      }
      return node->type == LT_YAML_MAP ? check_keys(r, node, is, at) : wrong(r, node, at, "a path or a mapping");
    case TRUTH_OR_LIST:
      if (lt_yaml_bool(node, &yes)) {
        return LT_OK;
      }
      return node->type == LT_YAML_LIST ? check_list(r, node, is, at) : wrong(r, node, at, "true, false or a list");
    case KEYS:
      return node->type == LT_YAML_MAP ? check_keys(r, node, is, at) : wrong(r, node, at, "a mapping");
  }
  return LT_OK;
}

lt_status lt_config_check(const lt_config_reading *r, const lt_yaml_node *root) {
  static const place top = {NULL, {NULL, 0}, 0};
  if (root->type == LT_YAML_NULL && !r->foreign) {
    return LT_OK; /* an empty file: the defaults */
  }
  return check(r, root, r->foreign ? &foreign_file : &own_file, &top);
}
