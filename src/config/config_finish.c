#include "config/config_finish.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/time_zone.h"
#include "base/utf8.h"
#include "config/config_secrets.h"

/* --- Servers ------------------------------------------------------------------------------------------------------ */

/* Other clients have other names for the same transport. */
static const char *config_transport_of(const lt_config_server *server) {
  if (server->type == NULL) {
    return server->command == NULL && server->url != NULL ? "http" : "stdio";
  }
  bool is_http = strcmp(server->type, "streamable-http") == 0 || strcmp(server->type, "streamableHttp") == 0;
  return is_http ? "http" : server->type;
}

static bool config_is_server_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("-_/@:+", c) != NULL);
}

static bool config_is_server_name(lt_str name) {
  size_t i = 0;
  while (i < name.n && config_is_server_name_char(name.p[i])) {
    i++;
  }
  return i == name.n && name.n > 0;
}

/* The name with a "-" for each character that a server's name cannot have; no text without memory. */
static lt_str config_usable_server_name(const lt_config_reading *r, lt_str name) {
  char *usable = lt_arena_alloc(&r->config->arena, name.n + 1);
  size_t n = 0;
  for (size_t at = 0; usable != NULL && at < name.n; at = lt_utf8_ceil(name, at + 1)) {
    usable[n++] = (char)(config_is_server_name_char(name.p[at]) ? name.p[at] : '-');
  }
  if (usable == NULL) {
    return LT_STR_NULL;
  }
  usable[n] = '\0';
  return lt_str_from(usable, n);
}

#define SERVER_NAME_RULE "A-Z, a-z, 0-9 and -_/@:+ in its name"

/* A tool's id is the server's name, a dot, and the tool's name: with dots in both, a server "h" could offer a tool of
 * "h.a", and be allowed what a rule allows "h.a.*". So names have no dots, and no letters that look like others. The
 * file of another client keeps its names; Lathe writes them otherwise. */
static lt_status config_check_server_name(const lt_config_reading *r, const lt_yaml_node *node,
                                          const lt_config_place *place, lt_config_server *server) {
  lt_str name = place->key;
  lt_config_place_text where = lt_config_place_of(place);
  if (name.n > LT_MCP_SERVER_NAME_MAX_BYTES) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s has a name of over %d bytes", r->name, node->line, where.text,
                   LT_MCP_SERVER_NAME_MAX_BYTES);
  }
  if (config_is_server_name(name)) {
    return LT_OK;
  }
  lt_str usable = config_usable_server_name(r, name);
  if (usable.p == NULL) {
    return lt_config_no_memory(r);
  }
  if (!r->is_foreign) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s: a server has only " SERVER_NAME_RULE ": call it \"%.*s\"", r->name,
                   node->line, where.text, LT_STR_ARG(usable));
  }
  server->name = usable.p;
  return lt_config_warn(r, "%s:%u: %s is called \"%.*s\" here: a server has only " SERVER_NAME_RULE, r->name,
                        node->line, where.text, LT_STR_ARG(usable));
}

lt_status lt_config_finish_server(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                  void *record) {
  lt_config_server *server = record;
  bool has_type = server->type != NULL;
  if (!server->disabled) {
    LT_TRY(config_check_server_name(r, node, place, server));
  }
  server->type = config_transport_of(server);
  bool is_stdio = strcmp(server->type, "stdio") == 0;
  if (server->cwd == NULL && r->is_found) { /* npx and python -m run what lies in their folder */
    server->cwd = lt_arena_dup(&r->config->arena, lt_str_of(r->folder)).p;
    LT_TRY(server->cwd != NULL ? LT_OK : lt_config_no_memory(r));
  }
  const char *target = is_stdio ? server->command : server->url;
  if (server->disabled || server->fault != NULL || (target != NULL && target[0] != '\0')) {
    return LT_OK;
  }
  lt_config_place_text where = lt_config_place_of(place);
  if (is_stdio && !has_type && target == NULL) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs a \"command\" to start, or a \"url\" to connect to", r->name,
                   node->line, where.text);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs a \"%s\"%s", r->name, node->line, where.text,
                 is_stdio ? "command" : "url", target != NULL ? " that is not empty" : "");
}

/* --- Defaults and models ------------------------------------------------------------------------------------------ */

lt_status lt_config_finish_default_model(const lt_config_reading *r, const lt_yaml_node *node,
                                         const lt_config_place *place, void *record) {
  (void)node;
  (void)place;
  ((lt_config *)record)->defaults.model_file = r->name;
  return LT_OK;
}

lt_status lt_config_finish_default_mode(const lt_config_reading *r, const lt_yaml_node *node,
                                        const lt_config_place *place, void *record) {
  (void)node;
  (void)place;
  ((lt_config *)record)->defaults.mode_file = r->name;
  return LT_OK;
}

lt_status lt_config_finish_model(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                 void *record) {
  const lt_config_model *model = record, *models = model - place->index;
  for (size_t i = 0; i < place->index; i++) {
    if (strcmp(models[i].ref, model->ref) == 0) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: models[%zu] has the same ref as models[%zu]", r->name, node->line,
                     place->index, i);
    }
  }
  return LT_OK;
}

lt_status lt_config_finish_base_url(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                    void *record) {
  lt_str url = lt_str_of(((const lt_config_model *)record)->base_url);
  if (lt_str_starts(url, LT_STR("http://")) || lt_str_starts(url, LT_STR("https://"))) {
    return LT_OK;
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s is not an address that begins with http:// or https://", r->name,
                 node->line, lt_config_place_of(place).text);
}

/* The value may be the key itself by mistake: no message shows it. */
lt_status lt_config_finish_api_key_env(const lt_config_reading *r, const lt_yaml_node *node,
                                       const lt_config_place *place, void *record) {
  const char *name = ((const lt_config_model *)record)->api_key_env;
  if (name == NULL) {
    return LT_OK;
  }
  bool is_name = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
  if (!is_name || (name[0] >= '0' && name[0] <= '9')) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: %s is the name of an environment variable that holds the key, not the key itself", r->name,
                   node->line, lt_config_place_of(place).text);
  }
  const char *key = getenv(name);
  return key != NULL ? lt_config_secret_variable(r, lt_str_of(name), lt_str_of(key)) : LT_OK;
}

/* --- Modules, rules, budgets, plugins ----------------------------------------------------------------------------- */

lt_status lt_config_finish_module(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                  void *record) {
  lt_config_module *module = record;
  const lt_config_module *modules = module - place->index;
  for (size_t i = 0; i < place->index; i++) {
    if (strcmp(modules[i].name, module->name) == 0) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: modules[%zu] has the same name as modules[%zu]", r->name, node->line,
                     place->index, i);
    }
  }
  if (r->layer == LT_CONFIG_LAYER_PROJECT) {
    module->within = lt_arena_dup(&r->config->arena, lt_str_of(r->folder)).p;
    return module->within != NULL ? LT_OK : lt_config_no_memory(r);
  }
  return LT_OK;
}

lt_status lt_config_finish_rule(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                void *record) {
  (void)node;
  (void)place;
  ((lt_config_rule *)record)->layer = r->layer;
  return LT_OK;
}

lt_status lt_config_finish_budget(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                  void *record) {
  lt_config_budget *budget = record;
  budget->layer = r->layer;
  if (budget->calls > 0 || budget->per_minute > 0) {
    return LT_OK;
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs the key \"calls\" or \"perMinute\"", r->name, node->line,
                 lt_config_place_of(place).text);
}

lt_status lt_config_finish_plugin(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                  void *record) {
  const lt_config_plugin *plugin = record;
  bool has_path = plugin->path != NULL, has_name = plugin->name != NULL;
  if (has_path != has_name) {
    return LT_OK;
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s needs %s \"path\" (a shared object) or \"name\" (built in)%s", r->name,
                 node->line, lt_config_place_of(place).text, has_path ? "either" : "a", has_path ? ", not both" : "");
}

/* --- The store ---------------------------------------------------------------------------------------------------- */

/* The address of a database may hold a password: only what is plainly a path is shown. */
static lt_status config_wrong_store(const lt_config_reading *r, const lt_yaml_node *node, lt_str text) {
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

lt_status lt_config_finish_store(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                 void *record) {
  (void)place;
  lt_config *config = record;
  lt_str text = lt_str_of(config->store);
  lt_str path = lt_str_sub(text, strlen("sqlite:"), text.n);
  bool is_url = lt_str_starts(path, LT_STR("//")) && !lt_str_starts(path, LT_STR("///"));
  if (!lt_str_starts(text, LT_STR("sqlite:")) || path.n == 0 || is_url) {
    return config_wrong_store(r, node, text);
  }
  config->store = lt_str_eqc(path, ":memory:") ? path.p : lt_config_path(r, path.p);
  return config->store != NULL ? LT_OK : lt_config_no_memory(r);
}

bool lt_config_age(const char *text, int64_t *ret_days) {
  size_t digits = strspn(text, "0123456789");
  const char *unit = text + digits;
  if (strcmp(text, "never") == 0) {
    *ret_days = -1;
    return true;
  }
  if (digits == 0 || digits > 5 || (strcmp(unit, "") != 0 && strcmp(unit, "d") != 0)) {
    return false;
  }
  *ret_days = strtol(text, NULL, 10);
  return *ret_days >= 1 && *ret_days <= LT_RETENTION_MAX_DAYS;
}

/* All ages that were read so far: only this one can be wrong. */
lt_status lt_config_finish_age(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                               void *record) {
  const lt_config_retention *retention = &((const lt_config *)record)->retention;
  const char *const ages[] = {retention->calls, retention->conversations, retention->artifacts};
  int64_t days;
  for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++) {
    if (ages[i] != NULL && !lt_config_age(ages[i], &days)) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s is no age: write 90d, a number of days from 1, or never", r->name,
                     node->line, lt_config_place_of(place).text);
    }
  }
  return LT_OK;
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */

lt_status lt_config_finish_time_zone(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                                     void *record) {
  (void)place;
  lt_config *config = record;
  lt_time_zone zone;
  if (lt_time_zone_find(lt_str_of(config->time_zone), &zone)) {
    config->time_zone = lt_arena_dup(&r->config->arena, zone.name).p;
    return config->time_zone != NULL ? LT_OK : lt_config_no_memory(r);
  }
  return lt_fail(r->err, LT_E_CONFIG,
                 "%s:%u: sandbox.timeZone: there is no time zone \"%.64s\"; names are such as Europe/Berlin, "
                 "America/New_York and UTC",
                 r->name, node->line, config->time_zone);
}

/* --- Servers ------------------------------------------------------------------------------------------------------ */

/* What it means is io/address_range.h's to say; here is only what nobody could mean. */
lt_status lt_config_finish_proxy_from(const lt_config_reading *r, const lt_yaml_node *node,
                                      const lt_config_place *place, void *record) {
  const lt_config *config = record;
  for (const char *const *from = config->server.proxy.from; *from != NULL; from++) {
    if (strcmp(*from, "unix") != 0 && strspn(*from, "0123456789abcdefABCDEF.:/") != strlen(*from)) {
      return lt_fail(r->err, LT_E_CONFIG,
                     "%s:%u: %s: \"%.64s\" is no address: write numbers, such as 127.0.0.1 or 10.0.0.0/8, or unix",
                     r->name, node->line, lt_config_place_of(place).text, *from);
    }
  }
  return LT_OK;
}

/* A token (RFC 9110, section 5.6.2), and none that means something else. */
lt_status lt_config_finish_proxy_header(const lt_config_reading *r, const lt_yaml_node *node,
                                        const lt_config_place *place, void *record) {
  static const char *const taken[] = {"Authorization",      "Host",           "Origin", "Cookie",
                                      "Lathe-Proxy-Secret", "X-Forwarded-For"};
  const char *name = ((const lt_config *)record)->server.proxy.user_header;
  bool is_right =
      name == NULL || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(name);
  for (size_t i = 0; name != NULL && i < sizeof taken / sizeof taken[0]; i++) {
    is_right = is_right && !lt_str_eq_fold(lt_str_of(name), lt_str_of(taken[i]));
  }
  return is_right ? LT_OK
                  : lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s: a header of its own is wanted, such as X-Remote-User",
                            r->name, node->line, lt_config_place_of(place).text);
}

/* --- Traces ------------------------------------------------------------------------------------------------------- */

lt_status lt_config_finish_otlp_endpoint(const lt_config_reading *r, const lt_yaml_node *node,
                                         const lt_config_place *place, void *record) {
  (void)node;
  (void)place;
  ((lt_config *)record)->telemetry.endpoint_file = r->name;
  return LT_OK;
}

/* Whatever a header is called: a collector's names for keys are many ("x-honeycomb-team"). */
lt_status lt_config_finish_otlp_headers(const lt_config_reading *r, const lt_yaml_node *node,
                                        const lt_config_place *place, void *record) {
  lt_config_telemetry *telemetry = &((lt_config *)record)->telemetry;
  (void)node;
  (void)place;
  telemetry->headers_file = r->name;
  for (const char *const *header = telemetry->headers; *header != NULL; header++) {
    lt_str line = lt_str_of(*header);
    LT_TRY(lt_config_secret_value(r, lt_str_trim(lt_str_sub(line, lt_str_find(line, LT_STR(":"), 0) + 1, line.n))));
  }
  return LT_OK;
}
