/* subscriptions/listen (2026-07-28): one request that stays open, beside which the server tells that its list has
 * changed. It is made again when it ends, because a proxy or the server may end it at any time. */
#include "base/limits.h"
#include "mcp/mcp_session_impl.h"

static bool mcp_listening_send(lt_mcp_session *s) {
  s->listening = (lt_mcp_request){0};
  if (lt_mcp_session_enter(s, &s->listening, NULL) != LT_OK) {
    return false;
  }
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_listen(&message, s->listening.id, &s->self);
  const lt_mcp_outgoing about = {.id = s->listening.id, .method = "subscriptions/listen"};
  if (lt_mcp_link_send(s->link, &message, &about, NULL) != LT_OK) {
    lt_mcp_requests_leave(&s->calls, &s->listening);
    return false;
  }
  return true;
}

/* Waits for the end of the request. True: it may be made again. */
static bool mcp_listening_wait_end(lt_mcp_session *s) LT_YIELDS {
  while (!s->listening.done && !s->ended) {
    lt_wait_on(&s->listening.wait, UINT64_MAX);
  }
  if (s->listening.done && s->listening.status == LT_OK) {
    lt_mcp_result_release(&s->listening.answer);
    s->listening.status = LT_E_CLOSED;
  }
  bool is_refused = s->listening.code != 0 || (s->listening.http_status >= 400 && s->listening.http_status <= 499);
  return !s->ended && !is_refused;
}

/* What has changed while nobody listened was not told: the list is read again. */
static void mcp_listening_on_fiber(void *arg) {
  lt_mcp_session *s = arg;
  uint64_t began_ms = lt_loop_now_ms(s->o.loop);
  int ends = 0;
  while (mcp_listening_wait_end(s) && ends < LT_MCP_RESUMES_MAX) {
    bool has_lasted = lt_loop_now_ms(s->o.loop) - began_ms > LT_MCP_RESUMES_MAX * LT_MCP_RETRY_MS;
    ends = has_lasted ? 1 : ends + 1;
    lt_wait_on(&s->listening_pause, LT_MCP_RETRY_MS);
    began_ms = lt_loop_now_ms(s->o.loop);
    if (s->ended || !mcp_listening_send(s)) {
      break;
    }
    s->changed = true;
    s->o.on_change(s->o.arg);
  }
  s->is_listening = false;
  lt_wait_wake(&s->listening_ended, LT_OK);
}

void lt_mcp_listening_begin(lt_mcp_session *s) {
  if (s->has_tools && s->has_tool_events && mcp_listening_send(s)) {
    s->is_listening = lt_loop_spawn(s->o.loop, mcp_listening_on_fiber, s, NULL) == LT_OK;
  }
}

void lt_mcp_listening_end(lt_mcp_session *s) {
  lt_wait_wake(&s->listening_pause, LT_OK);
  while (s->is_listening) {
    lt_wait_on(&s->listening_ended, UINT64_MAX);
  }
  if (s->listening.done && s->listening.status == LT_OK) {
    lt_mcp_result_release(&s->listening.answer);
  }
}
