/* MCP servers as a source of tools: `mcpServers` of the configuration. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/environ.h"
#include "base/mem.h"
#include "config/config_adopt.h"
#include "config/model_provider.h"
#include "io/process_memory.h"
#include "mcp/mcp_facts.h"
#include "source/elicitation_defaults.h"
#include "source/mcp_authorization.h"
#include "source/mcp_list_place.h"
#include "source/mcp_provider.h"
#include "source/source.h"

typedef struct mcp_source {
  lt_source base; /* first */
  char *name;
  lt_source_options options;
  lt_mcp_provider *provider;
  bool answers_with_defaults;
  lt_mcp_auth *auth; /* NULL: none is possible */
} mcp_source;

static mcp_source *mcp_source_of(lt_source *base) {
  return (mcp_source *)(void *)base;
}

/* --- The environment of a server ---------------------------------------------------------------------------------- */
static bool mcp_source_is_variable(lt_str name_and_equals, const char *name) {
  return lt_str_eqc(lt_str_sub(name_and_equals, 0, name_and_equals.n - 1), name);
}

/* Servers must not get the keys of models, nor what other servers' tokens depend on. */
static bool mcp_source_is_model_key(const lt_config *config, lt_str name_and_equals) {
  bool is_key = lt_model_provider_is_key(lt_str_sub(name_and_equals, 0, name_and_equals.n - 1));
  for (size_t i = 0; i < config->model_count && !is_key; i++) {
    const char *name = config->models[i].api_key_env;
    is_key = name != NULL && mcp_source_is_variable(name_and_equals, name);
  }
  return is_key || lt_mcp_authorization_is_secret(config, lt_str_sub(name_and_equals, 0, name_and_equals.n - 1));
}

static bool mcp_source_is_overridden(const lt_config_server *server, lt_str name_and_equals) {
  for (size_t i = 0; server->env[i] != NULL; i++) {
    if (lt_str_starts(lt_str_of(server->env[i]), name_and_equals)) {
      return true;
    }
  }
  return false;
}

static size_t mcp_source_variable_count(const char *const *env) {
  size_t count = 0;
  while (env[count] != NULL) {
    count++;
  }
  return count;
}

/* What a server gets of a host's environment: what programs need to find their files, and nothing of the host's own.
 * The configuration names the rest: `env`. */
static bool mcp_source_is_for_everybody(lt_str name_and_equals) {
  static const char *const names[] = {"HOME",  "LANG", "LC_ALL", "LOGNAME", "PATH",
                                      "SHELL", "TERM", "TMPDIR", "TZ",      "USER"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (mcp_source_is_variable(name_and_equals, names[i])) {
      return true;
    }
  }
  return false;
}

static bool mcp_source_inherits(const lt_source_options *options, const char *variable) {
  const char *equals = strchr(variable, '=');
  if (equals == NULL) {
    return !options->is_embedded;
  }
  lt_str name = lt_str_from(variable, (size_t)(equals - variable) + 1);
  return options->is_embedded ? mcp_source_is_for_everybody(name) : !mcp_source_is_model_key(options->config, name);
}

/* What is inherited of the process's environment: Lathe's without the models' keys, or a little of a host's. Then the
 * variables of the server's configuration, which take precedence. NULL: no memory. The caller frees the array. */
static const char **mcp_source_make_environment(const lt_source_options *options, const lt_config_server *server) {
  char **variables = lt_environ_view();
  size_t inherited = mcp_source_variable_count((const char *const *)variables),
         added = mcp_source_variable_count(server->env);
  const char **env = lt_mem_zalloc(inherited + added + 1, sizeof *env);
  if (env == NULL) {
    return NULL;
  }
  size_t n = 0;
  for (size_t i = 0; i < inherited; i++) {
    const char *equals = strchr(variables[i], '=');
    lt_str name =
        equals != NULL ? lt_str_from(variables[i], (size_t)(equals - variables[i]) + 1) : lt_str_of(variables[i]);
    if (mcp_source_inherits(options, variables[i]) && !mcp_source_is_overridden(server, name)) {
      env[n++] = variables[i];
    }
  }
  memcpy(env + n, server->env, added * sizeof *env);
  return env;
}

/* --- A source ----------------------------------------------------------------------------------------------------- */
static size_t mcp_source_count(const lt_config *config) {
  return config->server_count;
}

static const char *mcp_source_name(const lt_config *config, size_t index) {
  return config->servers[index].name;
}

static bool mcp_source_differs(const lt_config *config, size_t index, const lt_config *other, size_t other_index) {
  return lt_config_servers_differ(&config->servers[index], &other->servers[other_index]);
}

static void mcp_source_on_server_warning(void *arg, lt_mcp *mcp, lt_str message) {
  (void)mcp;
  const mcp_source *self = arg;
  self->options.on_warning(self->options.arg, message);
}

static lt_status mcp_source_check_roots(const lt_config_server *server, lt_err *err) {
  for (size_t i = 0; server->roots[i] != NULL; i++) {
    if (server->roots[i][0] != '/') {
      return lt_fail(err, LT_E_CONFIG, "its roots are absolute paths: write ${PWD} for the current folder");
    }
  }
  return LT_OK;
}

/* --- What the server asks ----------------------------------------------------------------------------------------- */
static lt_mcp_offers mcp_source_responder_offers(const mcp_source *self) {
  lt_responder *responder = self->options.responder;
  return responder != NULL ? responder->offers(responder, lt_str_of(self->base.name))
                           : (lt_mcp_offers){.has_forms = false};
}

static lt_mcp_offers mcp_source_offers(void *arg) {
  const mcp_source *self = arg;
  lt_mcp_offers offers = mcp_source_responder_offers(self);
  offers.has_forms = offers.has_forms || self->answers_with_defaults;
  return offers;
}

/* Defaults come before a person: the configuration says that they do. */
static lt_status mcp_source_on_server_ask(void *arg, const lt_mcp_ask *ask, lt_buf *ret_result, lt_err *err) LT_YIELDS {
  mcp_source *self = arg;
  lt_responder *responder = self->options.responder;
  bool is_elicitation = ask->kind == LT_MCP_ASK_ELICITATION;
  bool has_defaults = is_elicitation && self->answers_with_defaults &&
                      (lt_elicitation_defaults_suffice(ask->params) || !mcp_source_responder_offers(self).has_forms);
  if (has_defaults) {
    lt_elicitation_defaults_put(ask->params, ret_result);
    return LT_OK;
  }
  if (responder == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Method not found");
  }
  const lt_server_question question = {.kind = ask->kind,
                                       .server = lt_str_of(self->base.name),
                                       .run = lt_mcp_provider_run_of(self->provider, ask),
                                       .params = ask->params,
                                       .key = ask->key,
                                       .cancel = ask->cancel};
  return responder->answer(responder, &question, ret_result, err);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static lt_status mcp_source_open_provider(mcp_source *self, const lt_config_server *server, lt_err *err) {
  const lt_source_options *o = &self->options;
  LT_AUTO_BUF(list_file, PATH_MAX);
  bool has_list_file = !o->is_embedded && lt_mcp_list_place(server, &list_file, NULL) == LT_OK;
  const char **env = mcp_source_make_environment(o, server);
  if (env == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  bool is_process = strcmp(server->type, "stdio") == 0;
  const lt_mcp_options options = {
      .name = lt_str_of(server->name),
      .url = is_process ? NULL : server->url,
      .transport = strcmp(server->type, "sse") == 0 ? LT_MCP_OLD_SSE : LT_MCP_ANY_HTTP,
      .headers = server->headers,
      .auth = self->auth,
      .roots = server->roots[0] != NULL ? server->roots : NULL,
      .offers = mcp_source_offers,
      .on_ask = mcp_source_on_server_ask,
      .command = server->command,
      .args = server->args,
      .env = env,
      .cwd = server->cwd,
      .helper = o->helper,
      .start_timeout_ms = (uint64_t)server->start_timeout_ms,
      .idle_timeout_ms = (uint64_t)server->idle_timeout_ms,
      .list_file = has_list_file ? list_file.p : NULL,
      .starts_at_once = o->start == LT_SOURCE_START_AT_ONCE ||
                        (o->start == LT_SOURCE_START_AS_CONFIGURED && server->start == LT_CONFIG_START_ALWAYS),
      .waits_for_call = o->start == LT_SOURCE_START_AT_CALL,
      .secrets = o->secrets,
      .on_warning = mcp_source_on_server_warning,
      .arg = self,
  };
  const lt_mcp_provider *before = o->before != NULL ? mcp_source_of(o->before)->provider : NULL;
  lt_status status = lt_mcp_provider_open(o->loop, o->door, &options, before, &self->provider, err);
  lt_mem_free(env);
  return status;
}

static void mcp_source_free(lt_source *source) {
  mcp_source *self = mcp_source_of(source);
  lt_mcp_provider_free(self->provider);
  lt_mem_free(self->name);
  lt_mem_free(self);
}

static lt_status mcp_source_open(const lt_source_options *options, size_t index, lt_source **ret_source, lt_err *err) {
  const lt_config_server *server = &options->config->servers[index];
  *ret_source = NULL;
  if (server->disabled) {
    return LT_OK;
  }
  if (server->fault != NULL) {
    return lt_fail(err, LT_E_CONFIG, "%s", server->fault);
  }
  if (strcmp(server->type, "stdio") != 0) {
    LT_TRY(lt_mcp_authorization_check_url(server, err));
  }
  LT_TRY(mcp_source_check_roots(server, err));
  mcp_source *self = lt_mem_zalloc(1, sizeof *self);
  char *name = lt_mem_strdup(lt_str_of(server->name));
  if (self == NULL || name == NULL) {
    lt_mem_free(self);
    lt_mem_free(name);
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  self->base = (lt_source){.type = &lt_mcp_source, .name = name};
  self->name = name;
  self->options = *options;
  self->answers_with_defaults = server->answer_with_defaults;
  lt_status status = options->is_embedded ? LT_OK : lt_mcp_authorization_open(options->loop, server, &self->auth, err);
  if (status == LT_OK) {
    status = mcp_source_open_provider(self, server, err);
  }
  if (status != LT_OK) {
    lt_mcp_auth_free(self->auth);
    mcp_source_free(&self->base);
    return status;
  }
  *ret_source = &self->base;
  return LT_OK;
}

static lt_status mcp_source_await(lt_source *source, lt_err *err) LT_YIELDS {
  return lt_mcp_provider_await(mcp_source_of(source)->provider, err);
}

static lt_source_state mcp_source_state(const lt_source *source) {
  switch (lt_mcp_state_of(lt_mcp_provider_client(((const mcp_source *)(const void *)source)->provider))) {
    case LT_MCP_STARTING:
      return LT_SOURCE_STARTING;
    case LT_MCP_IDLE:
    case LT_MCP_READY:
      return LT_SOURCE_READY;
    case LT_MCP_DOWN:
    case LT_MCP_CLOSED:
      break;
  }
  return LT_SOURCE_DOWN;
}

/* --- What is known ------------------------------------------------------------------------------------------------ */
/* A server that has failed counts as failed also while it is tried again. */
static const char *mcp_source_state_text(lt_mcp_state state, const lt_mcp_facts *facts) {
  if (facts->why.n > 0) {
    return facts->is_refused ? "needs login" : "failed";
  }
  switch (state) {
    case LT_MCP_READY:
      return "running";
    case LT_MCP_IDLE:
    case LT_MCP_STARTING:
      return "not started";
    case LT_MCP_DOWN:
    case LT_MCP_CLOSED:
      break;
  }
  return "failed";
}

typedef struct mcp_source_memory {
  int pid;
  uint64_t bytes;
} mcp_source_memory;

static void mcp_source_read_memory(void *arg) {
  mcp_source_memory *memory = arg;
  memory->bytes = lt_process_memory_of_tree(memory->pid);
}

/* A server that does not answer any more is told without a time. */
static lt_status mcp_source_measure(const mcp_source *self, lt_source_facts *ret, lt_err *err) LT_YIELDS {
  lt_mcp *mcp = lt_mcp_provider_client(self->provider);
  mcp_source_memory memory = {.pid = lt_mcp_facts_pid(mcp)};
  (void)lt_mcp_facts_measure(mcp, &ret->answer_us, NULL);
  if (memory.pid != 0) {
    LT_TRY(lt_loop_offload(self->options.loop, mcp_source_read_memory, &memory, err));
  }
  ret->memory_bytes = memory.bytes;
  return LT_OK;
}

static lt_status mcp_source_describe(lt_source *source, lt_arena *arena, lt_source_facts *ret, lt_err *err) LT_YIELDS {
  const mcp_source *self = mcp_source_of(source);
  const lt_mcp *mcp = lt_mcp_provider_client(self->provider);
  lt_mcp_facts facts = lt_mcp_facts_of(mcp);
  lt_mcp_state state = lt_mcp_state_of(mcp);
  *ret = (lt_source_facts){
      .state = mcp_source_state_text(state, &facts),
      .transport = facts.transport,
      .reason = lt_arena_dup(arena, facts.why),
      .version = lt_arena_dup(arena, facts.server_version),
      .protocol = lt_arena_dup(arena, lt_mcp_protocol_version(mcp)),
      .start_ms = facts.start_ms,
      .listed_ms = facts.listed_ms,
      .tool_count = facts.tool_count,
  };
  if (ret->reason.p == NULL || ret->version.p == NULL || ret->protocol.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to tell about a server");
  }
  return state == LT_MCP_READY ? mcp_source_measure(self, ret, err) : LT_OK;
}

static lt_mcp *mcp_source_client(const lt_source *source) {
  return lt_mcp_provider_client(((const mcp_source *)(const void *)source)->provider);
}

static void mcp_source_leave(lt_source *source) {
  lt_mcp_provider_leave(mcp_source_of(source)->provider);
}

static void mcp_source_close(lt_source *source, lt_cancel *hurry) LT_YIELDS {
  mcp_source *self = mcp_source_of(source);
  lt_mcp_provider_end(self->provider, hurry);
  lt_mcp_auth_free(self->auth);
  self->auth = NULL;
}

const lt_source_type lt_mcp_source = {
    .noun = "server",
    .count = mcp_source_count,
    .name = mcp_source_name,
    .differs = mcp_source_differs,
    .open = mcp_source_open,
    .await = mcp_source_await,
    .state = mcp_source_state,
    .client = mcp_source_client,
    .describe = mcp_source_describe,
    .leave = mcp_source_leave,
    .close = mcp_source_close,
    .free = mcp_source_free,
};
