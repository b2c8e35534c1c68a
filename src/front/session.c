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
  (void)arg;
  fprintf(stderr, "warning: server \"%.*s\": %.*s\n", LT_STR_ARG(lt_mcp_name(mcp)), LT_STR_ARG(message));
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
  s->servers = lt_mem_zalloc(s->config.server_count + 1, sizeof *s->servers);
  for (size_t i = 0; s->servers != NULL && i < s->config.server_count; i++) {
    if (!s->config.servers[i].disabled) {
      s->servers[i] = open_server(s, &s->config.servers[i]);
    }
    s->server_count = i + 1;
  }
}

/* --- Waiting for them, with a word to the person who waits ------------------------------------ */
typedef struct progress {
  lt_session *session;
  lt_timer *timer;
  bool shown;
} progress;

static void show_progress(void *arg) {
  progress *p = arg;
  if (!isatty(STDERR_FILENO)) {
    return;
  }
  fprintf(stderr, "starting");
  for (size_t i = 0; i < p->session->server_count; i++) {
    lt_mcp_provider *provider = p->session->servers[i];
    if (provider != NULL && lt_mcp_state_of(lt_mcp_provider_client(provider)) == LT_MCP_STARTING) {
      fprintf(stderr, " %s", p->session->config.servers[i].name);
    }
  }
  fprintf(stderr, " ...\n");
}

static void wait_for_servers(lt_session *s) {
  progress p = {.session = s};
  if (lt_timer_new(s->loop, show_progress, &p, &p.timer, NULL) == LT_OK) {
    lt_timer_start(p.timer, PROGRESS_MS);
  }
  for (size_t i = 0; i < s->server_count; i++) {
    lt_err err = LT_ERR_INIT;
    if (s->servers[i] != NULL && lt_mcp_wait_ready(lt_mcp_provider_client(s->servers[i]), &err) != LT_OK) {
      fprintf(stderr, "warning: %s\n", lt_err_msg(&err));
    }
  }
  lt_timer_free(p.timer);
}

/* All at once: each may take its time to end. */
typedef struct closing {
  lt_mcp_provider *provider;
  size_t *left;
  lt_wait *wait;
} closing;

static void close_one(void *arg) {
  closing *c = arg;
  lt_mcp_provider_close(c->provider);
  if (--*c->left == 0) {
    lt_wait_wake(c->wait, LT_OK);
  }
}

static void close_servers(lt_session *s) {
  closing *list = lt_mem_zalloc(s->server_count + 1, sizeof *list);
  lt_wait wait;
  size_t left = 0;
  lt_wait_init(&wait, s->loop);
  for (size_t i = 0; i < s->server_count; i++) {
    if (s->servers[i] == NULL) {
      continue;
    }
    bool spawned = false;
    if (list != NULL) {
      list[i] = (closing){.provider = s->servers[i], .left = &left, .wait = &wait};
      left++;
      spawned = lt_loop_spawn(s->loop, close_one, &list[i], NULL) == LT_OK;
      left -= spawned ? 0 : 1;
    }
    if (!spawned) {
      lt_mcp_provider_close(s->servers[i]);
    }
  }
  while (left > 0) {
    lt_wait_on(&wait, UINT64_MAX);
  }
  lt_mem_free(list);
  lt_mem_free(s->servers);
}

/* --- The session ------------------------------------------------------------------------------ */
static void on_signal(void *arg, int signum) {
  (void)signum;
  lt_cancel_fire(&((lt_session *)arg)->cancel, LT_E_CANCELLED);
}

static void on_fiber(void *arg) {
  lt_session *s = arg;
  open_servers(s);
  wait_for_servers(s);
  s->exit_code = s->work(s, s->arg);
  close_servers(s);
}

static int run_session(lt_session *s) {
  lt_err err = LT_ERR_INIT;
  lt_cancel_init(&s->cancel);
  lt_status status = lt_loop_new(&s->loop, &err);
  if (status == LT_OK) {
    status = lt_door_new(s->loop, &s->door, &err);
  }
  if (status == LT_OK) {
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
