#include "front/session.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "front/command.h"

#define PROGRESS_MS 1000 /* longer than this, and a person is told what is waited for */

static void warn(lt_str text) {
  fprintf(stderr, "warning: %.*s\n", LT_STR_ARG(text));
}

static void on_warning(void *arg, lt_mcp *mcp, lt_str message) {
  (void)arg, (void)mcp;
  warn(message);
}

/* --- Servers ---------------------------------------------------------------------------------- */
extern char **environ;

/* Our environment with the configuration's additions; the later of two equal names is the one that counts. */
static const char **environment_of(const lt_config_server *config) {
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
    bool replaced = false;
    for (size_t k = 0; k < theirs; k++) {
      replaced |= lt_str_starts(lt_str_of(config->env[k]), name);
    }
    if (!replaced) {
      env[n++] = environ[i];
    }
  }
  for (size_t k = 0; env != NULL && k < theirs; k++) {
    env[n++] = config->env[k];
  }
  return env;
}

static lt_mcp_provider *open_server(lt_session *s, const lt_config_server *config) {
  if (strcmp(config->type, "stdio") != 0) {
    fprintf(stderr, "warning: server \"%s\": type \"%s\" cannot be used yet, only stdio\n", config->name, config->type);
    return NULL;
  }
  const char **env = environment_of(config);
  lt_mcp_options options = {
      .name = lt_str_of(config->name),
      .command = config->command,
      .args = config->args,
      .env = env,
      .cwd = config->cwd,
      .helper = "/proc/self/exe",
      .on_warning = on_warning,
      .arg = s,
  };
  lt_err err = LT_ERR_INIT;
  lt_mcp_provider *provider = NULL;
  if (env == NULL || lt_mcp_provider_open(s->loop, s->door, &options, &provider, &err) != LT_OK) {
    fprintf(stderr, "warning: server \"%s\": %s\n", config->name, env == NULL ? "out of memory" : lt_err_msg(&err));
  }
  lt_mem_free(env);
  return provider;
}

static void open_servers(lt_session *s) {
  for (size_t i = 0; i < s->config.server_count; i++) {
    if (!s->config.servers[i].disabled) {
      s->servers[i] = open_server(s, &s->config.servers[i]);
    }
    s->server_count = i + 1;
  }
}

/* --- Side by side: each may take its time to start and to end --------------------------------- */
typedef struct each {
  lt_session *session;
  size_t index;
  void (*act)(lt_session *session, size_t index) LT_YIELDS;
} each;

static void act_on_one(void *arg) {
  each *e = arg;
  lt_session *s = e->session;
  e->act(s, e->index);
  if (--s->acting == 0) {
    lt_wait_wake(&s->acted, LT_OK);
  }
}

/* Starts `act` for every server on a fiber of its own; session->acting says how many are still at it. `list` lives as
 * long. */
static void act_on_all(lt_session *s, each *list, void (*act)(lt_session *session, size_t index)) {
  for (size_t i = 0; i < s->server_count; i++) {
    if (s->servers[i] == NULL) {
      continue;
    }
    list[i] = (each){.session = s, .index = i, .act = act};
    s->acting++;
    if (lt_loop_spawn(s->loop, act_on_one, &list[i], NULL) != LT_OK) {
      act_on_one(&list[i]);
    }
  }
}

static void await_one(lt_session *s, size_t index) {
  lt_err err = LT_ERR_INIT;
  if (lt_mcp_wait_ready(lt_mcp_provider_client(s->servers[index]), &err) != LT_OK && s->cancel.why == LT_OK) {
    warn(lt_str_of(lt_err_msg(&err)));
  }
}

static void close_one(lt_session *s, size_t index) {
  lt_mcp_provider_close(s->servers[index]);
  s->servers[index] = NULL;
}

/* A word to the person who waits. */
static void show_progress(const lt_session *s) {
  if (!isatty(STDERR_FILENO)) {
    return;
  }
  fprintf(stderr, "starting");
  for (size_t i = 0; i < s->server_count; i++) {
    if (s->servers[i] != NULL && lt_mcp_state_of(lt_mcp_provider_client(s->servers[i])) == LT_MCP_STARTING) {
      fprintf(stderr, " %s", s->config.servers[i].name);
    }
  }
  fprintf(stderr, " ...\n");
}

/* Until every server is ready or down, or somebody lost patience. */
static void await_servers(lt_session *s, each *list) {
  lt_cancel_node node;
  act_on_all(s, list, await_one);
  lt_cancel_add(&s->cancel, &node, &s->acted);
  uint64_t patience = PROGRESS_MS;
  while (s->acting > 0 && s->cancel.why == LT_OK) {
    if (lt_wait_on(&s->acted, patience) == LT_E_TIMEOUT) {
      show_progress(s);
      patience = UINT64_MAX;
    }
  }
  lt_cancel_remove(&s->cancel, &node);
}

/* Also ends who still waits for one of them. */
static void close_servers(lt_session *s, each *list) {
  act_on_all(s, list, close_one);
  while (s->acting > 0) {
    lt_wait_on(&s->acted, UINT64_MAX);
  }
}

/* --- The session ------------------------------------------------------------------------------ */
static void on_signal(void *arg, int signum) {
  (void)signum;
  lt_cancel_fire(&((lt_session *)arg)->cancel, LT_E_CANCELLED);
}

static void on_fiber(void *arg) {
  lt_session *s = arg;
  s->servers = lt_mem_zalloc(s->config.server_count + 1, sizeof *s->servers);
  each *awaiting = lt_mem_zalloc(s->config.server_count + 1, sizeof *awaiting);
  each *closing = lt_mem_zalloc(s->config.server_count + 1, sizeof *closing);
  if (s->servers != NULL && awaiting != NULL && closing != NULL) {
    open_servers(s);
    await_servers(s, awaiting);
    s->exit_code = s->cancel.why == LT_OK ? s->work(s, s->arg) : LT_EXIT_INTERRUPTED;
    close_servers(s, closing);
  } else {
    warn(LT_STR("out of memory"));
    s->exit_code = LT_EXIT_FAILED;
  }
  lt_mem_free(s->servers);
  lt_mem_free(awaiting);
  lt_mem_free(closing);
}

static int run_session(lt_session *s) {
  lt_err err = LT_ERR_INIT;
  lt_cancel_init(&s->cancel);
  lt_status status = lt_loop_new(&s->loop, &err);
  if (status == LT_OK) {
    status = lt_door_new(s->loop, NULL, &s->door, &err);
  }
  if (status == LT_OK) {
    lt_wait_init(&s->acted, s->loop);
    lt_loop_on_signal(s->loop, SIGINT, on_signal, s, NULL);
    lt_loop_on_signal(s->loop, SIGTERM, on_signal, s, NULL);
    status = lt_loop_spawn(s->loop, on_fiber, s, &err);
  }
  if (status == LT_OK) {
    lt_loop_run(s->loop);
  } else {
    fprintf(stderr, "lathe: %s\n", lt_err_msg(&err));
    s->exit_code = LT_EXIT_FAILED;
  }
  lt_door_free(s->door);
  lt_loop_free(s->loop);
  return s->exit_code;
}

int lt_session_main(const lt_config_sources *sources, int (*work)(lt_session *session, void *arg), void *arg) {
  lt_session s = {.work = work, .arg = arg};
  lt_err err = LT_ERR_INIT;
  int code = LT_EXIT_CONFIG;
  if (lt_config_load(sources, &s.config, &err) != LT_OK) {
    fprintf(stderr, "lathe: %s\n", lt_err_msg(&err));
  } else {
    for (size_t i = 0; s.config.warnings[i] != NULL; i++) {
      warn(lt_str_of(s.config.warnings[i]));
    }
    code = run_session(&s);
  }
  lt_config_release(&s.config);
  return code;
}
