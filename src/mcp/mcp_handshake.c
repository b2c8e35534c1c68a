/* Which protocol is spoken: the stateless one of 2026-07-28, or one with a handshake. */
#include <inttypes.h>

#include "base/limits.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_session_impl.h"

static const lt_mcp_outgoing discover_about = {.method = "server/discover"};

/* Only shown: a server without a name, or no memory for it, is no failure. */
static void mcp_handshake_keep_server_version(lt_mcp_session *s, lt_json info) {
  lt_str name = LT_STR_NULL, version = LT_STR_NULL;
  lt_json_str(lt_json_get(info, "name"), &s->arena, &name);
  lt_json_str(lt_json_get(info, "version"), &s->arena, &version);
  LT_AUTO_BUF(words, LT_KIB);
  lt_mcp_peer_text_add(&words, name, LT_MCP_HEAD, 100, s->o.server->secrets);
  lt_buf_addc(&words, name.n > 0 && version.n > 0 ? " " : "");
  lt_mcp_peer_text_add(&words, version, LT_MCP_HEAD, 40, s->o.server->secrets);
  s->server_version = lt_arena_dup(&s->arena, lt_buf_view(&words));
}

static lt_status mcp_handshake_keep(lt_mcp_session *s, lt_str version, lt_json result, lt_err *err) {
  lt_json capabilities = lt_json_get(result, "capabilities");
  /* "Both parties MUST [...] only use capabilities that were successfully negotiated" (Lifecycle, Operation) */
  lt_json tools = lt_json_get(capabilities, "tools");
  s->has_tools = lt_json_typeof(tools) == LT_JSON_OBJECT;
  s->has_tool_events = lt_json_bool(lt_json_get(tools, "listChanged"), false);
  s->has_logging = lt_json_typeof(lt_json_get(capabilities, "logging")) == LT_JSON_OBJECT;
  lt_json resources = lt_json_get(capabilities, "resources");
  s->features = (lt_mcp_features){
      .resources = lt_json_typeof(resources) == LT_JSON_OBJECT,
      .subscribe = lt_json_bool(lt_json_get(resources, "subscribe"), false),
      .prompts = lt_json_typeof(lt_json_get(capabilities, "prompts")) == LT_JSON_OBJECT,
      .completions = lt_json_typeof(lt_json_get(capabilities, "completions")) == LT_JSON_OBJECT,
  };
  lt_str instructions = LT_STR_NULL;
  lt_json_str(lt_json_get(result, "instructions"), &s->arena, &instructions);
  s->instructions = lt_arena_dup(&s->arena, instructions);
  s->version = lt_arena_dup(&s->arena, version);
  mcp_handshake_keep_server_version(s, lt_json_get(result, "serverInfo"));
  return s->version.p && s->instructions.p ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the handshake");
}

/* --- Without a handshake ------------------------------------------------------------------------------------------ */

static uint64_t mcp_handshake_probe_ms(lt_mcp_session *s, uint64_t deadline_ms) {
  uint64_t most_ms = lt_mcp_link_is_process(s->link) ? LT_MCP_PROBE_MS : LT_MCP_PROBE_HTTP_MS;
  uint64_t half_ms = lt_mcp_session_left_of(s, deadline_ms) / 2;
  return half_ms < most_ms ? half_ms : most_ms;
}

static lt_status mcp_handshake_send_discover(lt_mcp_session *s, lt_mcp_request *request, uint64_t deadline_ms,
                                             lt_err *err) LT_YIELDS {
  LT_TRY(lt_mcp_session_enter(s, request, err));
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_discover(&message, request->id, &s->self);
  const lt_mcp_question q = {.what = "server/discover",
                             .timeout_ms = mcp_handshake_probe_ms(s, deadline_ms),
                             .uncancellable = true,
                             .is_lasting = true};
  return lt_mcp_session_ask(s, request, &message, &discover_about, &q, err);
}

/* "a recognized modern JSON-RPC error [...] identifies a modern server: the client retries with a supported version"
 * (2026-07-28, Versioning) */
static bool mcp_handshake_is_modern_error(const lt_mcp_request *request) {
  return request->code == LT_MCP_UNSUPPORTED_VERSION || request->code == LT_MCP_MISSING_CAPABILITY ||
         request->code == LT_MCP_HEADER_MISMATCH;
}

/* Whether an answer means that the server cannot be used at all, whichever protocol is spoken. */
static bool mcp_handshake_is_hopeless(const lt_mcp_session *s, const lt_mcp_request *request) {
  bool has_answered = request->code != 0 || request->http_status != 0;
  bool is_refused = request->http_status == 401 || request->http_status == 403 || request->http_status == 429 ||
                    (request->http_status >= 300 && request->http_status <= 399);
  bool is_unreachable = !lt_mcp_link_is_process(s->link) && !has_answered && request->status != LT_E_PROTOCOL;
  return s->ended || is_refused || is_unreachable;
}

/* Tries the modern protocol. `ret_is_modern` false with LT_OK: the server speaks an older one, as far as we know. The
 * probe may still be answered then. */
static lt_status mcp_handshake_probe(lt_mcp_session *s, lt_mcp_request *probe, uint64_t deadline_ms,
                                     bool *ret_is_modern, lt_err *err) LT_YIELDS {
  *ret_is_modern = false;
  s->self.is_modern = true;
  lt_mcp_link_speak(s->link, LT_MCP_VERSION_MODERN, true);
  lt_status status = mcp_handshake_send_discover(s, probe, deadline_ms, err);
  if (status != LT_OK && probe->done && probe->code == LT_MCP_UNSUPPORTED_VERSION && probe->is_modern_elsewhere) {
    *probe = (lt_mcp_request){0};
    status = mcp_handshake_send_discover(s, probe, deadline_ms, err);
  }
  if (status == LT_OK) {
    *ret_is_modern = lt_mcp_version_in(lt_json_get(probe->answer.result, "supportedVersions"));
  } else if (s->ended) {
    s->is_hinted = lt_mcp_link_is_process(s->link); /* some servers exit when the first message is not initialize */
    s->hint.is_legacy = true;
    return status;
  } else if (status == LT_E_NOMEM || status == LT_E_LIMIT || (probe->done && mcp_handshake_is_hopeless(s, probe))) {
    return status;
  } else if (probe->done && mcp_handshake_is_modern_error(probe) && !probe->is_modern_elsewhere &&
             probe->code != LT_MCP_UNSUPPORTED_VERSION) {
    return status;
  }
  return LT_OK;
}

/* --- With a handshake --------------------------------------------------------------------------------------------- */

/* "If the client does not support the version in the server's response, it SHOULD disconnect." (Lifecycle, Version
 * Negotiation) */
static lt_status mcp_handshake_read_initialized(lt_mcp_session *s, lt_json result, lt_err *err) {
  lt_str version;
  if (!lt_json_str(lt_json_get(result, "protocolVersion"), &s->arena, &version)) {
    return lt_fail(err, LT_E_PROTOCOL, "the server's answer to initialize has no protocolVersion");
  }
  if (!lt_mcp_version_known(version)) {
    LT_AUTO_BUF(words, LT_KIB);
    lt_mcp_peer_text_add(&words, version, LT_MCP_HEAD, 40, s->o.server->secrets);
    return lt_fail(err, LT_E_PROTOCOL,
                   "the server speaks protocol version \"%.*s\"; known are " LT_MCP_VERSIONS_TEXT
                   ". Use a version of the server that speaks one of these",
                   LT_STR_ARG(lt_buf_view(&words)));
  }
  return mcp_handshake_keep(s, version, result, err);
}

static lt_status mcp_handshake_say_initialized(lt_mcp_session *s, lt_err *err) {
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_initialized(&message);
  const lt_mcp_outgoing about = {.method = "notifications/initialized"};
  return lt_mcp_link_send(s->link, &message, &about, err);
}

/* A silent server is the most common problem, so the message gives advice. */
static lt_status mcp_handshake_explain_silence(const lt_mcp_session *s, uint64_t waited_ms, lt_err *err) {
  if (!lt_mcp_link_is_process(s->link)) {
    return lt_fail(err, LT_E_TIMEOUT, "the server did not answer initialize within %" PRIu64 " ms", waited_ms);
  }
  LT_AUTO_BUF(text, 4 * LT_KIB);
  lt_mcp_session_add_noise(s, &text);
  lt_mcp_session_add_stderr(s, &text);
  lt_fail(err, LT_E_TIMEOUT,
          "the server did not answer initialize within %" PRIu64
          " ms. Check that \"%s\" starts an MCP server over stdin and stdout (some want an argument such as \"stdio\") "
          "and does not wait for something else, such as a download or a question%.*s",
          waited_ms, s->o.server->command, LT_STR_ARG(lt_buf_view(&text)));
  return LT_E_TIMEOUT;
}

/* Messages below the level would only cost. Nobody waits for the answer. */
void lt_mcp_session_set_log_level(lt_mcp_session *s) {
  lt_mcp_request request = {0};
  s->self.log_level = s->o.server->log_level;
  if (s->self.is_modern || !s->has_logging || lt_mcp_session_enter(s, &request, NULL) != LT_OK) {
    return;
  }
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_set_level(&message, request.id, s->self.log_level != NULL ? s->self.log_level : LT_MCP_LOG_LEVEL);
  const lt_mcp_outgoing about = {.id = request.id, .method = "logging/setLevel"};
  (void)lt_mcp_link_send(s->link, &message, &about, NULL);
  lt_mcp_requests_leave(&s->calls, &request);
}

/* "If it fails with HTTP status code 400 Bad Request, 404 Not Found, or 405 Method Not Allowed [...]: Issue a GET
 * request to the server URL, expecting that this will open an SSE stream" (2026-07-28, Streamable HTTP) */
static bool mcp_handshake_may_be_old(const lt_mcp_session *s, const lt_mcp_request *request) {
  int status = request->http_status;
  return !lt_mcp_link_is_process(s->link) && s->o.server->transport == LT_MCP_ANY_HTTP && !s->o.hint.is_old_transport &&
         (status == 400 || status == 404 || status == 405);
}

static lt_status mcp_handshake_initialize(lt_mcp_session *s, uint64_t begun_ms, uint64_t deadline_ms,
                                          lt_err *err) LT_YIELDS {
  lt_mcp_request request = {0};
  s->self.is_modern = false;
  lt_mcp_link_speak(s->link, "", false);
  LT_TRY(lt_mcp_session_enter(s, &request, err));
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_initialize(&message, request.id, &s->self);
  const lt_mcp_outgoing about = {.method = "initialize"};
  lt_mcp_question q = {
      .what = "initialize", .timeout_ms = lt_mcp_session_left_of(s, deadline_ms), .uncancellable = true};
  lt_status status = lt_mcp_session_ask(s, &request, &message, &about, &q, err);
  if (status == LT_E_TIMEOUT && !request.done) {
    return mcp_handshake_explain_silence(s, deadline_ms - begun_ms, err);
  }
  if (status != LT_OK && mcp_handshake_may_be_old(s, &request)) {
    s->is_hinted = true;
    s->hint = (lt_mcp_hint){.is_legacy = true, .is_old_transport = true};
  }
  LT_TRY(status);
  status = mcp_handshake_read_initialized(s, request.answer.result, err);
  lt_mcp_result_release(&request.answer);
  LT_TRY(status);
  char version[16] = "";
  memcpy(version, s->version.p, s->version.n < sizeof version ? s->version.n : sizeof version - 1);
  lt_mcp_link_speak(s->link, version, false);
  /* "After successful initialization, the client MUST send an `initialized` notification" (Lifecycle, Initialization)
   */
  LT_TRY(mcp_handshake_say_initialized(s, err));
  lt_mcp_session_set_log_level(s);
  lt_mcp_link_listen(s->link);
  return LT_OK;
}

/* --- Both --------------------------------------------------------------------------------------------------------- */

static lt_status mcp_handshake_greet(lt_mcp_session *s, lt_mcp_request *probe, uint64_t deadline_ms,
                                     lt_err *err) LT_YIELDS {
  uint64_t begun_ms = lt_loop_now_ms(s->o.loop);
  bool is_modern = false;
  if (!s->o.hint.is_legacy && s->o.server->transport != LT_MCP_OLD_SSE) {
    LT_TRY(mcp_handshake_probe(s, probe, deadline_ms, &is_modern, err));
  }
  if (!is_modern) {
    lt_status status = mcp_handshake_initialize(s, begun_ms, deadline_ms, err);
    /* A server that was slow to start may have answered the probe meanwhile, and refuse what it does not know. */
    bool is_late = status != LT_OK && !s->ended && probe->done && probe->status == LT_OK &&
                   lt_mcp_version_in(lt_json_get(probe->answer.result, "supportedVersions"));
    if (!is_late) {
      s->hint.is_legacy = s->hint.is_legacy || status == LT_OK;
      return status;
    }
    s->is_hinted = false;
    s->self.is_modern = true;
    lt_mcp_link_speak(s->link, LT_MCP_VERSION_MODERN, true);
  }
  LT_TRY(mcp_handshake_keep(s, LT_STR(LT_MCP_VERSION_MODERN), probe->answer.result, err));
  lt_mcp_listening_begin(s);
  return LT_OK;
}

lt_status lt_mcp_session_start(lt_mcp_session *s, uint64_t deadline_ms, lt_err *err) {
  lt_mcp_request probe = {0};
  lt_status status = mcp_handshake_greet(s, &probe, deadline_ms, err);
  if (probe.is_entered) {
    lt_mcp_requests_leave(&s->calls, &probe);
    (void)lt_mcp_link_drop(s->link, probe.id);
  } else if (probe.done && probe.status == LT_OK) {
    lt_mcp_result_release(&probe.answer);
  }
  return status;
}
