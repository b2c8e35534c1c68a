#include "gateway/gateway_listen.h"

#include <stdio.h>

#include "base/limits.h"
#include "gateway/gateway_http.h"
#include "gateway/gateway_message.h"
#include "gateway/gateway_state.h"
#include "io/http_guard.h"
#include "io/listen_address.h"

typedef struct gateway_listen {
  lt_gateway *gateway;
  const lt_config_http *config;
  lt_gateway_http *http;
  lt_http_server *server;
  lt_listen_address address;
} gateway_listen;

/* --- The address -------------------------------------------------------------------------------------------------- */
static lt_status gateway_listen_configure(const lt_config *config, const lt_gateway_listen_options *options,
                                          gateway_listen *l, lt_err *err) {
  LT_TRY(lt_listen_address_read(lt_str_of(options->address), LT_GATEWAY_PORT, &l->address, err));
  l->config = &config->server;
  for (const char *const *token = l->config->tokens; token != NULL && *token != NULL; token++) {
    if (strlen(*token) < LT_GATEWAY_TOKEN_MIN_BYTES) {
      return lt_fail(err, LT_E_CONFIG,
                     "server.tokens: a token has at least %d characters: make one with `openssl rand -hex 32`",
                     LT_GATEWAY_TOKEN_MIN_BYTES);
    }
  }
  if (!l->address.is_loopback && (l->config->tokens == NULL || l->config->tokens[0] == NULL)) {
    return lt_fail(err, LT_E_CONFIG,
                   "%s can be reached by others, who could run programs with your tools: set server.tokens in the "
                   "configuration, such as [\"${LATHE_TOKEN}\"], or listen at 127.0.0.1",
                   options->address);
  }
  return LT_OK;
}

lt_status lt_gateway_listen_check(const lt_config *config, const lt_gateway_listen_options *options, lt_err *err) {
  gateway_listen l = {.gateway = NULL};
  return gateway_listen_configure(config, options, &l, err);
}

/* --- Who may ask -------------------------------------------------------------------------------------------------- */
static bool gateway_listen_refuse(lt_http_answer *answer, int status, const char *why) {
  answer->status = status;
  answer->content_type = "application/json";
  lt_gateway_message_put_error(&answer->body, LT_STR_NULL, LT_GATEWAY_BUSY, why, LT_STR_NULL);
  return false;
}

/* Every token is compared, so that the time does not tell which one was nearly right. */
static bool gateway_listen_admits_token(const gateway_listen *l, lt_str token) {
  bool is_known = false;
  for (const char *const *known = l->config->tokens; *known != NULL; known++) {
    is_known |= lt_http_guard_is_same_secret(token, lt_str_of(*known));
  }
  return is_known;
}

static bool gateway_listen_on_admit(void *arg, const lt_http_call *call, lt_http_answer *answer) {
  const gateway_listen *l = arg;
  lt_str host = lt_http_call_header(call, "Host");
  if (!lt_listen_address_is_named(&l->address, host) && !lt_http_guard_admits_host(host, l->config->hosts)) {
    return gateway_listen_refuse(answer, 403, "Forbidden: this host is not in server.hosts of the configuration");
  }
  if (!lt_http_guard_admits_origin(lt_http_call_header(call, "Origin"), host, l->config->origins)) {
    return gateway_listen_refuse(answer, 403, "Forbidden: this origin is not in server.origins of the configuration");
  }
  if (l->config->tokens != NULL && l->config->tokens[0] != NULL &&
      !gateway_listen_admits_token(l, lt_http_guard_bearer(lt_http_call_header(call, "Authorization")))) {
    lt_http_answer_header(answer, "WWW-Authenticate", LT_STR("Bearer"));
    return gateway_listen_refuse(answer, 401, "Unauthorized: send one of server.tokens as Authorization: Bearer TOKEN");
  }
  if (!lt_str_eqc(call->path, "/mcp")) {
    return gateway_listen_refuse(answer, 404, "Not Found: the endpoint is /mcp");
  }
  return true;
}

/* --- Serving ------------------------------------------------------------------------------------------------------ */
static void gateway_listen_on_handle(void *arg, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS {
  gateway_listen *l = arg;
  lt_telemetry *telemetry = l->gateway->session->telemetry;
  lt_telemetry_request span = {.method = call->method, .path = call->path, .route = "/mcp"};
  lt_telemetry_begin_request(telemetry, lt_http_call_header(call, "traceparent"),
                             lt_http_call_header(call, "tracestate"), &span);
  lt_gateway_http_handle(l->http, call, LT_GATEWAY_USER, &span.trace, answer);
  span.status = answer->status;
  lt_telemetry_end_request(telemetry, &span);
}

static void gateway_listen_announce(const gateway_listen *l, const lt_gateway_listen_options *options) {
  char url[128];
  if (l->address.unix_path[0] != '\0') {
    snprintf(url, sizeof url, "unix:%s", l->address.unix_path);
  } else {
    snprintf(url, sizeof url, "http://%s:%u/mcp", l->address.name, lt_http_server_port(l->server));
  }
  options->on_listening(options->arg, url);
}

static void gateway_listen_wait(lt_session *session) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, session->loop);
  lt_cancel_add(&session->cancel, &node, &wait);
  while (session->cancel.why == LT_OK) {
    (void)lt_wait_on(&wait, UINT64_MAX);
  }
  lt_cancel_remove(&session->cancel, &node);
}

lt_status lt_gateway_listen_serve(lt_gateway *gateway, lt_session *session, const lt_gateway_listen_options *options,
                                  lt_err *err) {
  gateway_listen l = {.gateway = gateway};
  LT_TRY(gateway_listen_configure(&session->config, options, &l, err));
  LT_TRY(lt_gateway_http_open(gateway, &l.http, err));
  bool is_unix = l.address.unix_path[0] != '\0';
  const lt_http_server_options server = {.unix_path = is_unix ? l.address.unix_path : NULL,
                                         .unix_group = l.config->socket_group,
                                         .address = l.address.host,
                                         .port = l.address.port,
                                         .body_max = LT_MCP_LINE_MAX_BYTES,
                                         .bodies_max = LT_GATEWAY_BODIES_BYTES,
                                         .admit = gateway_listen_on_admit,
                                         .handle = gateway_listen_on_handle,
                                         .arg = &l};
  lt_status status = lt_http_server_open(session->loop, &server, &l.server, err);
  if (status == LT_OK) {
    gateway_listen_announce(&l, options);
    gateway_listen_wait(session);
    lt_gateway_finish(gateway);
    lt_gateway_http_finish(l.http);
  }
  lt_http_server_close(l.server);
  lt_gateway_http_free(l.http);
  return status;
}
