/* The sections `tools`, `plugins` and `store`. */
#include "base/limits.h"
#include "config/config_parts.h"

typedef lt_config_reading reading;

/* --- tools -------------------------------------------------------------------------------------------------------- */

/* Empty for a key that is not there. */
static lt_status take_str(const reading *r, const lt_yaml_node *map, const char *key, lt_str *ret) {
  const lt_yaml_node *node = lt_config_given(map, key);
  const char *text = "";
  if (node) {
    LT_TRY(lt_config_expand(r, node, &text));
  }
  *ret = lt_str_of(text);
  return LT_OK;
}

/* A glob that is empty matches nothing, which nobody means. */
static lt_status take_match(const reading *r, const lt_yaml_node *item, const char *list, size_t n, lt_str *ret) {
  LT_TRY(take_str(r, item, "match", ret));
  if (ret->n == 0) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: tools.%s[%zu].match is empty: write a tool's id, or \"*\" for all",
                   r->name, item->line, list, n);
  }
  return LT_OK;
}

/* A condition that is there and empty, perhaps by a variable that is unset, would make a rule hold always. */
static lt_status take_condition(const reading *r, const lt_yaml_node *item, size_t n, lt_str *ret) {
  const lt_yaml_node *node = lt_yaml_get(item, "when");
  LT_TRY(take_str(r, item, "when", ret));
  if (node && lt_str_trim(*ret).n == 0) {
    return lt_fail(
        r->err, LT_E_CONFIG,
        "%s:%u: tools.policy[%zu].when is empty: write a condition, or leave \"when\" out to match every call", r->name,
        node->line, n);
  }
  return LT_OK;
}

static lt_action action_of(const lt_yaml_node *node) {
  return lt_str_eqc(node->text, "allow") ? LT_ACTION_ALLOW
         : lt_str_eqc(node->text, "ask") ? LT_ACTION_ASK
                                         : LT_ACTION_DENY;
}

static lt_status take_rules(const reading *r, const lt_yaml_node *list) {
  lt_policy_rule *rules = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *rules);
  if (!rules) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next, n++) {
    LT_TRY(take_match(r, item, "policy", n, &rules[n].match));
    LT_TRY(take_condition(r, item, n, &rules[n].when));
    LT_TRY(take_str(r, item, "reason", &rules[n].reason));
    rules[n].action = action_of(lt_yaml_get(item, "action"));
  }
  r->config->rules = rules;
  r->config->rule_count = n;
  return LT_OK;
}

static lt_status take_budgets(const reading *r, const lt_yaml_node *list) {
  lt_policy_budget *budgets = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *budgets);
  if (!budgets) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next, n++) {
    LT_TRY(take_match(r, item, "budgets", n, &budgets[n].match));
    bool calls = lt_yaml_int(lt_yaml_get(item, "calls"), &budgets[n].calls);
    bool rate = lt_yaml_int(lt_yaml_get(item, "perMinute"), &budgets[n].per_minute);
    if (!calls && !rate) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: tools.budgets[%zu] needs the key \"calls\" or \"perMinute\"", r->name,
                     item->line, n);
    }
  }
  r->config->budgets = budgets;
  r->config->budget_count = n;
  return LT_OK;
}

lt_status lt_config_take_tools(const reading *r, const lt_yaml_node *tools) {
  const lt_yaml_node *policy = lt_config_given(tools, "policy");
  const lt_yaml_node *budgets = lt_config_given(tools, "budgets");
  if (policy) {
    LT_TRY(take_rules(r, policy));
  }
  if (budgets) {
    LT_TRY(take_budgets(r, budgets));
  }
  lt_yaml_int(lt_yaml_get(tools, "listingTokens"), &r->config->listing_tokens);
  return LT_OK;
}

/* --- plugins ------------------------------------------------------------------------------------------------------ */

static lt_status take_plugin_config(const reading *r, const lt_yaml_node *node, const char **ret) {
  lt_buf json;
  lt_buf_init(&json, LT_CONFIG_MAX_BYTES);
  lt_status status = lt_config_json(r, node, &json);
  if (status == LT_OK && json.status == LT_E_LIMIT) {
    status = lt_fail(r->err, LT_E_LIMIT, "%s:%u: a plugin's config is larger than %lu MiB", r->name, node->line,
                     LT_CONFIG_MAX_BYTES / LT_MIB);
  }
  if (status == LT_OK) {
    lt_str kept = json.status == LT_OK ? lt_arena_dup(&r->config->arena, lt_buf_view(&json)) : LT_STR_NULL;
    status = kept.p ? LT_OK : lt_config_no_memory(r);
    *ret = kept.p;
  }
  lt_buf_release(&json);
  return status;
}

/* `path` is NULL where `node` is. */
static lt_status take_path(const reading *r, const lt_yaml_node *node, const char **ret) {
  const char *path = NULL;
  if (node) {
    LT_TRY(lt_config_expand(r, node, &path));
    if (!path[0]) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a plugin's path is empty", r->name, node->line);
    }
    path = lt_config_path(r, path);
    if (!path) {
      return lt_config_no_memory(r);
    }
  }
  *ret = path;
  return LT_OK;
}

static lt_status take_plugin(const reading *r, const lt_yaml_node *item, size_t n, lt_config_plugin *ret) {
  *ret = (lt_config_plugin){.config = ""};
  if (item->type == LT_YAML_SCALAR) {
    return take_path(r, item, &ret->path);
  }
  const lt_yaml_node *path = lt_config_given(item, "path");
  const lt_yaml_node *name = lt_config_given(item, "name");
  const lt_yaml_node *config = lt_config_given(item, "config");
  if (!path == !name) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: plugins[%zu] needs %s \"path\" (a shared object) or \"name\" (built in)%s", r->name,
                   item->line, n, path ? "either" : "a", path ? ", not both" : "");
  }
  ret->name = name ? name->text.p : NULL;
  lt_yaml_bool(lt_yaml_get(item, "disabled"), &ret->disabled);
  if (ret->disabled) { /* what it needs may well be missing */
    ret->path = path ? path->text.p : NULL;
    return LT_OK;
  }
  LT_TRY(take_path(r, path, &ret->path));
  return config ? take_plugin_config(r, config, &ret->config) : LT_OK;
}

lt_status lt_config_take_plugins(const reading *r, const lt_yaml_node *list) {
  if (!list) {
    return LT_OK;
  }
  if (list->count > LT_PLUGINS_MAX) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: more than %d plugins", r->name, list->line, LT_PLUGINS_MAX);
  }
  lt_config_plugin *plugins = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *plugins);
  if (!plugins) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next, n++) {
    LT_TRY(take_plugin(r, item, n, &plugins[n]));
  }
  r->config->plugins = plugins;
  r->config->plugin_count = n;
  return LT_OK;
}

/* --- store -------------------------------------------------------------------------------------------------------- */

/* A database's address may hold a password: only what is plainly a path is shown. */
static lt_status wrong_store(const reading *r, const lt_yaml_node *node, lt_str text) {
  if (lt_str_starts(text, LT_STR("postgres:")) || lt_str_starts(text, LT_STR("postgresql:"))) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: store: postgresql:// is not built yet: use sqlite:PATH", r->name,
                   node->line);
  }
  if (text.n == 0 || lt_str_find(text, LT_STR(":"), 0) != SIZE_MAX) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: store must be sqlite:PATH, or sqlite::memory: to keep nothing", r->name,
                   node->line);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: store must say what it is: write sqlite:%s", r->name, node->line,
                 lt_yaml_clip(text).text);
}

lt_status lt_config_take_store(const reading *r, const lt_yaml_node *node) {
  if (!node) {
    return LT_OK;
  }
  const char *expanded = NULL;
  LT_TRY(lt_config_expand(r, node, &expanded));
  lt_str text = lt_str_of(expanded);
  lt_str path = lt_str_sub(text, strlen("sqlite:"), text.n);
  bool url = lt_str_starts(path, LT_STR("//")) && !lt_str_starts(path, LT_STR("///"));
  if (!lt_str_starts(text, LT_STR("sqlite:")) || path.n == 0 || url) {
    return wrong_store(r, node, text);
  }
  r->config->store = lt_str_eqc(path, ":memory:") ? path.p : lt_config_path(r, path.p);
  return r->config->store ? LT_OK : lt_config_no_memory(r);
}

bool lt_config_may_add_modes(const lt_config *config) {
  for (size_t i = 0; i < config->plugin_count; i++) {
    if (config->plugins[i].path && !config->plugins[i].disabled) {
      return true;
    }
  }
  return false;
}
