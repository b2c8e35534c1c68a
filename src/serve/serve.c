#include "serve/serve.h"

#include <stdio.h>
#include <string.h>

#include "app/agent_options.h"
#include "base/mem.h"
#include "serve/serve_events.h"
#include "serve/serve_limits.h"
#include "serve/serve_log.h"
#include "serve/serve_metrics.h"
#include "serve/serve_proxy.h"
#include "serve/serve_reload.h"
#include "serve/serve_resume.h"
#include "serve/serve_routes.h"
#include "serve/serve_users.h"

/* --- The address -------------------------------------------------------------------------------------------------- */
static lt_status serve_read_address(const lt_config *config, const lt_serve_options *options,
                                    lt_listen_address *ret_address, lt_err *err) {
  char standard[8];
  snprintf(standard, sizeof standard, "%d", LT_SERVE_PORT);
  const char *text = options->listen != NULL ? options->listen : config->server.listen;
  lt_status status = lt_listen_address_read(lt_str_of(text != NULL ? text : standard), LT_SERVE_PORT, ret_address, err);
  return status == LT_E_INVALID ? lt_fail(err, LT_E_CONFIG, "%s", lt_err_msg(err)) : status;
}

lt_status lt_serve_check_listen(const lt_config *config, const lt_serve_options *options, lt_err *err) {
  lt_listen_address address;
  return serve_read_address(config, options, &address, err);
}

lt_status lt_serve_check_proxy(const lt_config *config, lt_err *err) {
  lt_serve_proxy proxy;
  return lt_serve_proxy_read(config, &proxy, err);
}

/* --- Work that belongs to no request ------------------------------------------------------------------------------ */
static void serve_begin_background(lt_serve *serve) {
  serve->background++;
}

static void serve_end_background(lt_serve *serve) {
  serve->background--;
  lt_wait_wake(&serve->idle, LT_OK);
}

typedef struct serve_title {
  lt_serve *serve;
  lt_str user;
  char prompt[LT_STORE_ID_BYTES + 1];
  char bytes[];
} serve_title;

/* A program without a model says nothing that wants a title. */
static void serve_make_title(const serve_title *title) LT_YIELDS {
  lt_json_doc doc;
  lt_str conversation = LT_STR_NULL;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(prompt, LT_PROMPT_MEMORY_BYTES);
  bool is_read = lt_store_prompt_get(lt_serve_store(title->serve), title->user, lt_str_of(title->prompt), &prompt,
                                     NULL) == LT_OK &&
                 lt_json_parse(&arena, lt_buf_view(&prompt), &doc, NULL) == LT_OK;
  if (is_read && !lt_json_str_eq(lt_json_get(lt_json_root(&doc), "mode"), LT_STR("program")) &&
      lt_json_str(lt_json_get(lt_json_root(&doc), "conversationId"), &arena, &conversation) &&
      title->serve->closing.why == LT_OK) {
    lt_agent_title(title->serve->agent, title->user, conversation);
  }
}

static void serve_title_on_fiber(void *arg) {
  serve_title *title = arg;
  serve_make_title(title);
  serve_end_background(title->serve);
  lt_mem_free(title);
}

static void serve_want_title(lt_serve *serve, lt_str user, lt_str data) {
  lt_json_doc doc;
  lt_str prompt = LT_STR_NULL;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  serve_title *title = lt_mem_zalloc(1, sizeof *title + user.n);
  if (title == NULL || lt_json_parse(&arena, data, &doc, NULL) != LT_OK ||
      !lt_json_str(lt_json_get(lt_json_root(&doc), "promptId"), &arena, &prompt)) {
    lt_mem_free(title);
    return;
  }
  title->serve = serve;
  memcpy(title->bytes, user.p, user.n);
  title->user = lt_str_from(title->bytes, user.n);
  snprintf(title->prompt, sizeof title->prompt, "%.*s", LT_STR_ARG(prompt));
  serve_begin_background(serve);
  if (lt_loop_spawn(serve->session->loop, serve_title_on_fiber, title, NULL) != LT_OK) {
    serve_end_background(serve);
    lt_mem_free(title);
  }
}

static void serve_on_event(void *arg, lt_str user, const char *event, lt_str data) {
  lt_serve *serve = arg;
  bool is_stored = lt_serve_events_take(serve->events, user, event, data);
  if (serve->gateway != NULL) {
    lt_gateway_take_event(serve->gateway, user, event, data);
  }
  if (is_stored && strcmp(event, "prompt.completed") == 0 && serve->closing.why == LT_OK) {
    serve_want_title(serve, user, data);
  }
}

static void serve_on_call(void *arg, lt_str run, const lt_call_event *event) {
  const lt_serve *serve = arg;
  if (serve->gateway != NULL) {
    lt_gateway_take_call(serve->gateway, run, event);
  }
}

/* --- The monitor -------------------------------------------------------------------------------------------------- */
static void serve_on_prompt(void *arg, const lt_monitor_prompt *prompt) {
  const lt_serve *serve = arg;
  lt_serve_metrics_take_prompt(serve->metrics, prompt);
  lt_serve_log_prompt(serve, prompt);
}

static void serve_on_question(void *arg, const lt_monitor_question *question) {
  const lt_serve *serve = arg;
  lt_serve_metrics_take_question(serve->metrics, question);
}

static void serve_on_program(void *arg, const lt_monitor_program *program) {
  lt_serve_metrics_take_program(((const lt_serve *)arg)->metrics, program);
}

static void serve_on_any_call(void *arg, const lt_call_event *event) {
  lt_serve_metrics_take_call(((const lt_serve *)arg)->metrics, event);
}

static void serve_set_monitor(lt_serve *serve) {
  lt_monitor *monitor = &serve->session->monitor;
  monitor->on_prompt = serve_on_prompt;
  monitor->on_question = serve_on_question;
  monitor->on_program = serve_on_program;
  monitor->on_call = serve_on_any_call;
  monitor->arg = serve;
}

static void serve_clear_monitor(lt_serve *serve) {
  const lt_monitor *monitor = &serve->session->monitor;
  serve->session->monitor = (lt_monitor){.next = monitor->next, .numbered = monitor->numbered};
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static lt_status serve_open_agent(lt_serve *serve, lt_err *err) {
  lt_session *session = serve->session;
  lt_agent_options options = lt_agent_options_of(session, &serve->models, &serve->modules);
  options.http = serve->http;
  options.journal = lt_masked_records_journal(&serve->masked_journal, serve->journal, session->secrets);
  options.policy = lt_toolbox_policy(session->toolbox);
  options.model_modes = serve->models.modes;
  options.default_mode = serve->models.default_mode;
  options.leave_open = true;
  options.on_event = serve_on_event;
  options.on_call = serve_on_call;
  options.arg = serve;
  return lt_agent_new(&options, &serve->agent, err);
}

static lt_status serve_check_reach(const lt_serve *serve, lt_err *err) {
  return serve->address.is_loopback || serve->users.count > 0 || serve->proxy.user_header != NULL
             ? LT_OK
             : lt_fail(err, LT_E_CONFIG,
                       "%s can be reached by others, who could run programs with your tools: make a token for each of "
                       "them first (`lathe serve token add USER`), or listen at 127.0.0.1",
                       serve->address.name);
}

static lt_status serve_listen(lt_serve *serve, lt_err *err) {
  LT_TRY(serve_check_reach(serve, err));
  const lt_config_http *c = &serve->session->config.server;
  bool is_unix = serve->address.unix_path[0] != '\0';
  const lt_http_server_options http = {.unix_path = is_unix ? serve->address.unix_path : NULL,
                                       .unix_group = c->socket_group,
                                       .address = serve->address.host,
                                       .port = serve->address.port,
                                       .body_max = (size_t)c->limits.body_bytes,
                                       .bodies_max = LT_SERVE_BODIES_BYTES,
                                       .head_max = (size_t)c->limits.header_bytes,
                                       .idle_ms = (uint64_t)c->limits.idle_ms,
                                       .connections_max = lt_serve_limits_connections(serve),
                                       .connections_of = lt_serve_limits_connections_of,
                                       .admit = lt_serve_routes_admit,
                                       .handle = lt_serve_routes_handle,
                                       .arg = serve};
  LT_TRY(lt_http_server_open(serve->session->loop, &http, &serve->server, err));
  if (is_unix) {
    snprintf(serve->url, sizeof serve->url, "unix:%s", serve->address.unix_path);
  } else {
    snprintf(serve->url, sizeof serve->url, "http://%s:%u", serve->address.name, lt_http_server_port(serve->server));
  }
  return LT_OK;
}

static lt_status serve_open_parts(lt_serve *serve, const lt_serve_options *options, lt_err *err) LT_YIELDS {
  lt_session *session = serve->session;
  LT_TRY(serve_read_address(&session->config, options, &serve->address, err));
  LT_TRY(lt_serve_routes_open(serve, err));
  LT_TRY(lt_serve_proxy_read(&session->config, &serve->proxy, err));
  LT_TRY(lt_models_fill(&session->config, &serve->models, err));
  LT_TRY(lt_modules_load(session, &serve->modules, err));
  LT_TRY(lt_http_new(session->loop, &serve->http, err));
  serve->journal = lt_store_journal_new(lt_toolbox_db(session->toolbox));
  if (serve->journal == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(lt_serve_metrics_new(&serve->metrics, err));
  serve_set_monitor(serve);
  LT_TRY(serve_open_agent(serve, err));
  LT_TRY(lt_serve_events_open(serve, &serve->events, err));
  LT_TRY(lt_gateway_open(session, serve->agent, &serve->gateway, err));
  LT_TRY(lt_gateway_http_open(serve->gateway, &serve->mcp, err));
  LT_TRY(lt_serve_limits_open(serve, err));
  LT_TRY(lt_serve_users_open(serve, err));
  LT_TRY(serve_listen(serve, err));
  return lt_serve_resume_start(serve, err);
}

lt_status lt_serve_open(lt_session *session, const lt_serve_options *options, lt_serve **ret_serve, lt_err *err) {
  lt_serve *serve = lt_mem_zalloc(1, sizeof *serve);
  if (serve == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  serve->session = session;
  serve->page_folder = options->page;
  lt_cancel_init(&serve->closing);
  lt_wait_init(&serve->idle, session->loop);
  lt_status status = serve_open_parts(serve, options, err);
  if (status != LT_OK) {
    lt_serve_close(serve);
    return status;
  }
  serve->is_open = true;
  lt_serve_log_begin(serve);
  *ret_serve = serve;
  return LT_OK;
}

/* --- Finishing ---------------------------------------------------------------------------------------------------- */
void lt_serve_finish(lt_serve *serve, lt_cancel *hurry) {
  size_t busy = lt_agent_busy(serve->agent);
  serve->is_finishing = true;
  if (busy > 0) {
    lt_serve_log_wait(serve, busy);
  }
  lt_agent_drain(serve->agent, (uint64_t)serve->session->config.server.grace_ms, hurry);
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
/* Requests of MCP are answered while the server is there: a program that waits says how to go on. */
static void serve_finish_gateway(lt_serve *serve) LT_YIELDS {
  if (serve->mcp != NULL) {
    lt_gateway_finish(serve->gateway);
    lt_gateway_http_finish(serve->mcp);
  }
}

/* The server first: no request finds parts that are gone. The agent's last events are stored before the end. */
void lt_serve_close(lt_serve *serve) {
  if (serve == NULL) {
    return;
  }
  if (serve->is_open) {
    lt_serve_log_end(serve);
  }
  lt_cancel_fire(&serve->closing, LT_E_CANCELLED);
  serve_finish_gateway(serve);
  lt_http_server_close(serve->server);
  lt_gateway_http_free(serve->mcp);
  lt_serve_resume_stop(serve);
  lt_agent_free(serve->agent);
  serve->agent = NULL;
  while (serve->background > 0) {
    lt_wait_on(&serve->idle, UINT64_MAX);
  }
  lt_gateway_close(serve->gateway);
  lt_serve_events_close(serve->events);
  serve_clear_monitor(serve);
  lt_serve_metrics_free(serve->metrics);
  lt_serve_users_close(serve);
  lt_serve_routes_close(serve);
  lt_serve_limits_close(serve->limits);
  lt_store_journal_free(serve->journal);
  lt_http_free(serve->http);
  lt_modules_release(&serve->modules);
  lt_serve_reload_release(serve);
  lt_mem_free(serve);
}
