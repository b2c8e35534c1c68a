#include "app/servers.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "source/mcp_provider.h"

#define PROGRESS_MS 1000 /* longer than this, and a person is told what is waited for */

/* Each may take its time to start and to end: a fiber of its own for both. */
typedef struct server {
  lt_servers *all;
  const lt_config_server *config;
  lt_mcp_provider *provider; /* NULL where it could not be opened */
  void (*act)(struct server *server) LT_YIELDS;
} server;

struct lt_servers {
  lt_servers_options o;
  server *list; /* in the configuration's order */
  size_t count;
  size_t acting; /* fibers at work on servers */
  lt_wait acted; /* woken when the last of them is done */
};

static void on_warning(void *arg, lt_mcp *mcp, lt_str message) {
  (void)mcp;
  lt_console_warning(arg, message);
}

static bool is_named(lt_str name_and_equals, const char *name) {
  return lt_str_eqc(lt_str_sub(name_and_equals, 0, name_and_equals.n - 1), name);
}

/* The keys of our models are nobody else's business. */
static bool is_model_key(const lt_config *config, lt_str name_and_equals) {
  bool it = is_named(name_and_equals, "OPENAI_API_KEY");
  for (size_t i = 0; i < config->model_count && !it; i++) {
    it = config->models[i].api_key_env != NULL && is_named(name_and_equals, config->models[i].api_key_env);
  }
  return it;
}

/* Our environment, but for the models' keys, with the configuration's additions; the later of two equal names is the
 * one that counts. */
static const char **environment_of(const lt_config *all, const lt_config_server *config) {
  size_t ours = 0, theirs = 0;
  while (environ[ours] != NULL) {
    ours++;
  }
  while (config->env[theirs] != NULL) {
    theirs++;
  }
  const char **env = lt_mem_zalloc(ours + theirs + 1, sizeof *env);
  size_t n = 0;
  for (size_t i = 0; env != NULL && i < ours; i++) {
    const char *equals = strchr(environ[i], '=');
    lt_str name = equals != NULL ? lt_str_from(environ[i], (size_t)(equals - environ[i]) + 1) : lt_str_of(environ[i]);
    bool left_out = equals != NULL && is_model_key(all, name);
    for (size_t k = 0; k < theirs; k++) {
      left_out |= lt_str_starts(lt_str_of(config->env[k]), name);
    }
    if (!left_out) {
      env[n++] = environ[i];
    }
  }
  for (size_t k = 0; env != NULL && k < theirs; k++) {
    env[n++] = config->env[k];
  }
  return env;
}

static void open_one(server *s) {
  const lt_servers_options *o = &s->all->o;
  if (strcmp(s->config->type, "stdio") != 0) {
    lt_console_format(o->say, "warning: server \"%s\": type \"%s\" cannot be used yet, only stdio", s->config->name,
                      s->config->type);
    return;
  }
  const char **env = environment_of(o->config, s->config);
  lt_mcp_options options = {
      .name = lt_str_of(s->config->name),
      .command = s->config->command,
      .args = s->config->args,
      .env = env,
      .cwd = s->config->cwd,
      .helper = "/proc/self/exe",
      .start_timeout_ms = (uint64_t)s->config->start_timeout_ms,
      .secrets = o->secrets,
      .on_warning = on_warning,
      .arg = o->say,
  };
  lt_err err = LT_ERR_INIT;
  if (env == NULL || lt_mcp_provider_open(o->loop, o->door, &options, &s->provider, &err) != LT_OK) {
    lt_console_format(o->say, "warning: server \"%s\": %s", s->config->name,
                      env == NULL ? "out of memory" : lt_err_msg(&err));
  }
  lt_mem_free(env);
}

/* --- Side by side ------------------------------------------------------------------------------------------------- */
static void act_on_one(void *arg) LT_YIELDS {
  server *s = arg;
  s->act(s);
  if (--s->all->acting == 0) {
    lt_wait_wake(&s->all->acted, LT_OK);
  }
}

static void act_on_all(lt_servers *all, void (*act)(server *server) LT_YIELDS) LT_YIELDS {
  for (size_t i = 0; i < all->count; i++) {
    if (all->list[i].provider == NULL) {
      continue;
    }
    all->list[i].act = act;
    all->acting++;
    if (lt_loop_spawn(all->o.loop, act_on_one, &all->list[i], NULL) != LT_OK) {
      act_on_one(&all->list[i]);
    }
  }
}

static void await_one(server *s) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  const lt_servers_options *o = &s->all->o;
  if (lt_mcp_wait_ready(lt_mcp_provider_client(s->provider), &err) != LT_OK && o->cancel->why == LT_OK) {
    lt_console_warning(o->say, lt_str_of(lt_err_msg(&err)));
  }
}

static void close_one(server *s) LT_YIELDS {
  lt_mcp_provider_close(s->provider);
  s->provider = NULL;
}

/* A word to the person who waits. */
static void show_progress(const lt_servers *all) {
  if (!isatty(STDERR_FILENO)) {
    return;
  }
  lt_buf line;
  lt_buf_init(&line, LT_MIB);
  for (size_t i = 0; i < all->count; i++) {
    const server *s = &all->list[i];
    if (s->provider != NULL && lt_mcp_state_of(lt_mcp_provider_client(s->provider)) == LT_MCP_STARTING) {
      lt_buf_printf(&line, "%s ", s->config->name);
    }
  }
  lt_buf_addc(&line, "...");
  lt_console_line(all->o.say, "starting ", lt_buf_view(&line));
  lt_buf_release(&line);
}

/* Until every server is ready or down, or somebody lost patience. */
void lt_servers_await(lt_servers *all) {
  lt_cancel *cancel = all->o.cancel;
  lt_cancel_node node;
  act_on_all(all, await_one);
  lt_cancel_add(cancel, &node, &all->acted);
  uint64_t patience = PROGRESS_MS;
  while (all->acting > 0 && cancel->why == LT_OK) {
    if (lt_wait_on(&all->acted, patience) == LT_E_TIMEOUT) {
      show_progress(all);
      patience = UINT64_MAX;
    }
  }
  lt_cancel_remove(cancel, &node);
}

lt_status lt_servers_open(const lt_servers_options *options, lt_servers **ret_servers, lt_err *err) {
  const lt_config *config = options->config;
  lt_servers *all = lt_mem_zalloc(1, sizeof *all);
  server *list = lt_mem_zalloc(config->server_count + 1, sizeof *list);
  if (all == NULL || list == NULL) {
    lt_mem_free(all);
    lt_mem_free(list);
    return lt_fail(err, LT_E_NOMEM, "out of memory while starting the servers");
  }
  *all = (lt_servers){.o = *options, .list = list, .count = config->server_count};
  lt_wait_init(&all->acted, options->loop);
  for (size_t i = 0; i < all->count; i++) {
    list[i] = (server){.all = all, .config = &config->servers[i]};
    if (!config->servers[i].disabled) {
      open_one(&list[i]);
    }
  }
  *ret_servers = all;
  return LT_OK;
}

void lt_servers_close(lt_servers *all) {
  if (all == NULL) {
    return;
  }
  act_on_all(all, close_one);
  while (all->acting > 0) {
    lt_wait_on(&all->acted, UINT64_MAX);
  }
  lt_mem_free(all->list);
  lt_mem_free(all);
}
