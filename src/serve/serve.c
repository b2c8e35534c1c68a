#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/agent_options.h"
#include "base/mem.h"
#include "serve/serve_events.h"
#include "serve/serve_routes.h"
#include "serve/serve_users.h"

/* --- The address -------------------------------------------------------------------------------------------------- */
static bool serve_is_loopback(lt_str host) {
  return host.n == 0 || lt_str_eqc(host, "127.0.0.1") || lt_str_eq_fold(host, LT_STR("localhost"));
}

/* "127.0.0.1:8420", "localhost:8420", ":8420" or "8420". */
static lt_status serve_read_port(const lt_config *config, const lt_serve_options *options, unsigned *ret_port,
                                 lt_err *err) {
  const char *text = options->listen != NULL ? options->listen : config->server.listen;
  const char *colon = text != NULL ? strrchr(text, ':') : NULL;
  char *end = NULL;
  *ret_port = LT_SERVE_PORT;
  if (text == NULL) {
    return LT_OK;
  }
  const char *digits = colon != NULL ? colon + 1 : text;
  unsigned long port = strtoul(digits, &end, 10);
  if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || port > UINT16_MAX) {
    return lt_fail(err, LT_E_CONFIG, "the address \"%.100s\" is not HOST:PORT, such as 127.0.0.1:%d", text,
                   LT_SERVE_PORT);
  }
  if (colon != NULL && !serve_is_loopback(lt_str_from(text, (size_t)(colon - text)))) {
    return lt_fail(
        err, LT_E_CONFIG,
        "the address \"%.100s\" is not 127.0.0.1: put a proxy with TLS in front, and its name in server.hosts", text);
  }
  *ret_port = (unsigned)port;
  return LT_OK;
}

lt_status lt_serve_check_listen(const lt_config *config, const lt_serve_options *options, lt_err *err) {
  unsigned port;
  return serve_read_port(config, options, &port, err);
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
  lt_serve_events_take(serve->events, user, event, data);
  if (serve->gateway != NULL) {
    lt_gateway_take_event(serve->gateway, user, event, data);
  }
  if (strcmp(event, "prompt.completed") == 0 && serve->closing.why == LT_OK) {
    serve_want_title(serve, user, data);
  }
}

/* --- Resuming ----------------------------------------------------------------------------------------------------- */
static void serve_resume_one(lt_serve *serve, lt_str user, lt_str prompt) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_agent_resume(serve->agent, user, prompt, &err);
  if (status != LT_OK && status != LT_E_CLOSED) {
    lt_report_warning(&serve->session->report, "the prompt %.*s is not resumed: %s", LT_STR_ARG(prompt),
                      lt_err_msg(&err));
  }
}

static lt_status serve_resume_of(lt_serve *serve, lt_str user, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str prompt;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_orphans_of(lt_serve_store(serve), user, LT_STR_NULL, &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it) && serve->closing.why == LT_OK;) {
    if (lt_json_str(lt_json_get(it.value, "id"), &arena, &prompt)) {
      serve_resume_one(serve, user, prompt);
    }
  }
  return LT_OK;
}

/* Each user once: a user may have several tokens. */
static void serve_resume_on_fiber(void *arg) {
  lt_serve *serve = arg;
  lt_err err = LT_ERR_INIT;
  LT_AUTO_ARENA(arena, LT_SERVE_TOKENS_BYTES);
  lt_status status = serve_resume_of(serve, LT_SERVE_LOCAL_USER, &err);
  lt_str user = LT_STR_NULL, last = LT_SERVE_LOCAL_USER;
  for (size_t i = 0; status == LT_OK && lt_serve_users_at(&serve->users, i, &user); i++) {
    user = lt_arena_dup(&arena, user); /* the list may be read again meanwhile */
    if (user.p != NULL && !lt_str_eq(user, last) && !lt_str_eq(user, LT_SERVE_LOCAL_USER)) {
      status = serve_resume_of(serve, user, &err);
      last = user;
    }
  }
  if (status != LT_OK) {
    lt_report_warning(&serve->session->report, "prompts of an earlier process are not resumed: %s", lt_err_msg(&err));
  }
  serve->has_resumed = true;
  serve->is_resuming = false;
  serve_end_background(serve);
}

static lt_status serve_resume(lt_serve *serve, lt_err *err) {
  serve_begin_background(serve);
  lt_status status = lt_loop_spawn(serve->session->loop, serve_resume_on_fiber, serve, err);
  serve->is_resuming = status == LT_OK;
  if (status != LT_OK) {
    serve_end_background(serve);
  }
  return status;
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
  options.arg = serve;
  return lt_agent_new(&options, &serve->agent, err);
}

static lt_status serve_listen(lt_serve *serve, const lt_serve_options *options, lt_err *err) {
  unsigned port;
  LT_TRY(serve_read_port(&serve->session->config, options, &port, err));
  const lt_http_server_options http = {.port = port,
                                       .body_max = LT_SERVE_BODY_BYTES,
                                       .bodies_max = LT_SERVE_BODIES_BYTES,
                                       .admit = lt_serve_routes_admit,
                                       .handle = lt_serve_routes_handle,
                                       .arg = serve};
  LT_TRY(lt_http_server_open(serve->session->loop, &http, &serve->server, err));
  snprintf(serve->url, sizeof serve->url, "http://127.0.0.1:%u", lt_http_server_port(serve->server));
  return LT_OK;
}

static lt_status serve_open_parts(lt_serve *serve, const lt_serve_options *options, lt_err *err) LT_YIELDS {
  lt_session *session = serve->session;
  LT_TRY(lt_models_fill(&session->config, &serve->models, err));
  LT_TRY(lt_modules_load(session, &serve->modules, err));
  LT_TRY(lt_http_new(session->loop, &serve->http, err));
  serve->journal = lt_store_journal_new(lt_toolbox_db(session->toolbox));
  if (serve->journal == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(serve_open_agent(serve, err));
  LT_TRY(lt_serve_events_open(serve, &serve->events, err));
  LT_TRY(lt_gateway_open(session, serve->agent, &serve->gateway, err));
  LT_TRY(lt_gateway_http_open(serve->gateway, &serve->mcp, err));
  LT_TRY(lt_serve_users_refresh(serve, err));
  LT_TRY(serve_listen(serve, options, err));
  return serve_resume(serve, err);
}

lt_status lt_serve_open(lt_session *session, const lt_serve_options *options, lt_serve **ret_serve, lt_err *err) {
  lt_serve *serve = lt_mem_zalloc(1, sizeof *serve);
  if (serve == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  serve->session = session;
  lt_cancel_init(&serve->closing);
  lt_wait_init(&serve->idle, session->loop);
  lt_status status = serve_open_parts(serve, options, err);
  if (status != LT_OK) {
    lt_serve_close(serve);
    return status;
  }
  *ret_serve = serve;
  return LT_OK;
}

const char *lt_serve_url(const lt_serve *serve) {
  return serve->url;
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
  lt_cancel_fire(&serve->closing, LT_E_CANCELLED);
  serve_finish_gateway(serve);
  lt_http_server_close(serve->server);
  lt_gateway_http_free(serve->mcp);
  while (serve->is_resuming) {
    lt_wait_on(&serve->idle, UINT64_MAX);
  }
  lt_agent_free(serve->agent);
  serve->agent = NULL;
  while (serve->background > 0) {
    lt_wait_on(&serve->idle, UINT64_MAX);
  }
  lt_gateway_close(serve->gateway);
  lt_serve_events_close(serve->events);
  lt_serve_users_release(&serve->users);
  lt_store_journal_free(serve->journal);
  lt_http_free(serve->http);
  lt_modules_release(&serve->modules);
  lt_mem_free(serve);
}
