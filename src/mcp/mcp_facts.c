#include "mcp/mcp_facts.h"

#include "base/limits.h"
#include "mcp/mcp_client_impl.h"

static const char *mcp_facts_transport(const lt_mcp *mcp) {
  if (mcp->o.url == NULL) {
    return "stdio";
  }
  return mcp->o.transport == LT_MCP_OLD_SSE || mcp->hint.is_old_transport ? "sse" : "http";
}

lt_mcp_facts lt_mcp_facts_of(const lt_mcp *mcp) {
  bool has_failed = mcp->state == LT_MCP_DOWN || (mcp->state == LT_MCP_STARTING && mcp->down_count > 0);
  return (lt_mcp_facts){
      .transport = mcp_facts_transport(mcp),
      .server_version = lt_buf_view(&mcp->server_version),
      .listed_ms = mcp->list_listed_ms,
      .start_ms = mcp->list_start_ms,
      .tool_count = mcp->list.count,
      .why = has_failed ? lt_str_of(mcp->why.msg) : LT_STR_NULL,
      .is_refused = has_failed && mcp->o.url != NULL && mcp->why.status == LT_E_DENIED,
  };
}

int lt_mcp_facts_pid(const lt_mcp *mcp) {
  return mcp->session != NULL ? lt_mcp_session_pid(mcp->session) : 0;
}

/* The session may end meanwhile, and is freed by mcp_lifecycle.c only after its requests were answered. */
lt_status lt_mcp_facts_measure(lt_mcp *mcp, uint64_t *ret_us, lt_err *err) {
  if (mcp->state != LT_MCP_READY) {
    return lt_fail(err, LT_E_CLOSED, "the server does not run");
  }
  lt_mcp_state_add_user(mcp);
  uint64_t deadline_ms = lt_loop_now_ms(mcp->loop) + LT_MCP_MEASURE_TIMEOUT_MS;
  lt_status status = lt_mcp_session_measure(mcp->session, deadline_ms, ret_us, err);
  lt_mcp_state_remove_user(mcp);
  return status;
}
