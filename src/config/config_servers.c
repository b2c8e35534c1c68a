#include "base/limits.h"
#include "config/config_parts.h"

typedef lt_config_reading reading;

/* A string of a server that is switched off is not looked into: what it needs may well be missing. */
static lt_status take_text(const reading *r, const lt_yaml_node *node, bool raw, const char **ret) {
  if (!node) {
    return LT_OK;
  }
  if (raw) {
    *ret = node->text.p;
    return LT_OK;
  }
  return lt_config_expand(r, node, ret);
}

/* The same for what may hold credentials. */
static lt_status take_secret(const reading *r, const lt_yaml_node *node, bool raw, const char **ret) {
  return node && !raw ? lt_config_expand_secret(r, node, ret) : take_text(r, node, raw, ret);
}

static lt_status take_args(const reading *r, const lt_yaml_node *list, bool raw, const char *const **ret) {
  const char **args = lt_arena_zalloc(&r->config->arena, (list ? list->count : 0) + 1, sizeof *args);
  if (!args) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list ? list->kids : NULL; item; item = item->next) {
    LT_TRY(take_secret(r, item, raw, &args[n++]));
  }
  *ret = args;
  return LT_OK;
}

/* A mapping of names to texts as "name<between>value", NULL last. */
static lt_status take_pairs(const reading *r, const lt_yaml_node *map, bool raw, const char *between, size_t extra,
                            const char ***ret) {
  lt_arena *arena = &r->config->arena;
  const char **pairs = lt_arena_zalloc(arena, (map ? map->count : 0) + extra + 1, sizeof *pairs);
  if (!pairs) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = map ? map->kids : NULL; item; item = item->next) {
    const char *value = "";
    LT_TRY(take_secret(r, item, raw, &value));
    LT_TRY(raw ? LT_OK : lt_config_secret_entry(r, item->key->text, lt_str_of(value)));
    pairs[n] = lt_arena_printf(arena, "%s%s%s", item->key->text.p, between, value).p;
    if (!pairs[n++]) {
      return lt_config_no_memory(r);
    }
  }
  *ret = pairs;
  return LT_OK;
}

static lt_status take_env(const reading *r, const lt_yaml_node *map, bool raw, size_t extra, const char ***ret) {
  for (const lt_yaml_node *item = map ? map->kids : NULL; item; item = item->next) {
    if (lt_str_find(item->key->text, LT_STR("="), 0) != SIZE_MAX) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: an environment variable's name cannot contain \"=\"", r->name,
                     item->key->line);
    }
  }
  return take_pairs(r, map, raw, "=", extra, ret);
}

lt_status lt_config_env(const reading *r, const lt_yaml_node *map, size_t extra, const char ***ret) {
  return take_env(r, map, false, extra, ret);
}

static lt_status take_cwd(const reading *r, const lt_yaml_node *node, bool raw, const char **ret) {
  const char *cwd = NULL;
  LT_TRY(take_text(r, node, raw, &cwd));
  if (cwd) {
    cwd = lt_config_path(r, cwd);
    if (!cwd) {
      return lt_config_no_memory(r);
    }
  }
  *ret = cwd;
  return LT_OK;
}

/* What other clients call the same thing. */
static const char *server_type(const lt_yaml_node *node) {
  const lt_yaml_node *type = lt_config_given(node, "type");
  if (!type) {
    return !lt_config_given(node, "command") && lt_config_given(node, "url") ? "http" : "stdio";
  }
  bool http = lt_str_eqc(type->text, "streamable-http") || lt_str_eqc(type->text, "streamableHttp");
  return http ? "http" : type->text.p;
}

static lt_status check_start(const reading *r, const lt_yaml_node *node, const lt_config_server *server) {
  bool stdio = strcmp(server->type, "stdio") == 0;
  const char *value = stdio ? server->command : server->url;
  if (value && value[0]) {
    return LT_OK;
  }
  lt_yaml_clipped name = lt_yaml_clip(node->key->text);
  if (stdio && !lt_config_given(node, "type") && !value) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: mcpServers.%s needs a \"command\" to start, or a \"url\" to connect to",
                   r->name, node->line, name.text);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: mcpServers.%s needs a \"%s\"%s", r->name, node->line, name.text,
                 stdio ? "command" : "url", value ? " that is not empty" : "");
}

static lt_status take_server(const reading *r, const lt_yaml_node *node, lt_config_server *ret) {
  lt_config_server server = {.name = node->key->text.p, .type = server_type(node)};
  const lt_yaml_node *disabled = lt_config_given(node, "disabled");
  if (disabled) {
    lt_yaml_bool(disabled, &server.disabled);
  }
  lt_yaml_int(lt_yaml_get(node, "startTimeoutMs"), &server.start_timeout_ms);
  bool raw = server.disabled;
  LT_TRY(take_text(r, lt_config_given(node, "command"), raw, &server.command));
  LT_TRY(take_secret(r, lt_config_given(node, "url"), raw, &server.url));
  LT_TRY(take_args(r, lt_config_given(node, "args"), raw, &server.args));
  const char **env, **headers;
  LT_TRY(take_env(r, lt_config_given(node, "env"), raw, 0, &env));
  LT_TRY(take_pairs(r, lt_config_given(node, "headers"), raw, ": ", 0, &headers));
  server.env = env;
  server.headers = headers;
  LT_TRY(take_cwd(r, lt_config_given(node, "cwd"), raw, &server.cwd));
  if (!server.disabled) {
    LT_TRY(check_start(r, node, &server));
  }
  *ret = server;
  return LT_OK;
}

static lt_config_server *slot_for(lt_config_server *servers, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++) {
    if (strcmp(servers[i].name, name) == 0) {
      return &servers[i];
    }
  }
  return &servers[(*count)++];
}

lt_status lt_config_add_servers(const lt_config_reading *r, const lt_yaml_node *map) {
  lt_config *config = r->config;
  size_t count = config->server_count;
  if (count + map->count > LT_MCP_SERVERS_MAX) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: more than %d MCP servers", r->name, map->line, LT_MCP_SERVERS_MAX);
  }
  lt_config_server *servers = lt_arena_zalloc(&config->arena, count + map->count + 1, sizeof *servers);
  if (!servers) {
    return lt_config_no_memory(r);
  }
  if (count) {
    memcpy(servers, config->servers, count * sizeof *servers);
  }
  for (const lt_yaml_node *node = map->kids; node; node = node->next) {
    lt_config_server server;
    LT_TRY(take_server(r, node, &server));
    *slot_for(servers, &count, server.name) = server;
  }
  config->servers = servers;
  config->server_count = count;
  return LT_OK;
}
