#include "base/clock.h"
#include "base/limits.h"
#include "mcp/mcp_client_impl.h"
#include "mcp/mcp_extras.h"

/* --- What is known ------------------------------------------------------------------------------------------------ */

static lt_status mcp_tools_keep(lt_buf *to, lt_str text, lt_err *err) {
  lt_buf_clear(to);
  lt_buf_add(to, text);
  return lt_buf_check(to, err, "no memory for the handshake");
}

lt_status lt_mcp_tools_keep_facts(lt_mcp *mcp, const lt_mcp_list_facts *facts, lt_err *err) {
  LT_TRY(mcp_tools_keep(&mcp->version, facts->protocol_version, err));
  LT_TRY(mcp_tools_keep(&mcp->server_version, facts->server_version, err));
  return mcp_tools_keep(&mcp->instructions, facts->instructions, err);
}

void lt_mcp_tools_publish(lt_mcp *mcp, lt_mcp_list *list) {
  bool is_known = mcp->list_listed_ms > 0;
  mcp->list_listed_ms = lt_clock_wall_us() / 1000;
  mcp->is_list_of_file = false;
  if (is_known && lt_mcp_list_equal(&mcp->list, list)) {
    lt_mcp_list_release(list);
    return;
  }
  lt_mcp_list old = mcp->list;
  mcp->list = *list;
  if (mcp->o.on_tools) {
    mcp->o.on_tools(mcp->o.arg, mcp);
  }
  if (mcp->listener.on_notice != NULL) {
    const lt_mcp_notice notice = {.mcp = mcp, .kind = LT_MCP_NOTICE_TOOLS};
    mcp->listener.on_notice(mcp->listener.arg, &notice);
  }
  lt_mcp_list_release(&old); /* the old strings were valid until on_tools */
}

const lt_mcp_tool *lt_mcp_tools(const lt_mcp *mcp, size_t *ret_count) {
  *ret_count = mcp->list.count;
  return mcp->list.tools;
}

lt_str lt_mcp_protocol_version(const lt_mcp *mcp) {
  return lt_buf_view(&mcp->version);
}

lt_str lt_mcp_instructions(const lt_mcp *mcp) {
  return lt_buf_view(&mcp->instructions);
}

/* --- Its file ----------------------------------------------------------------------------------------------------- */

static void mcp_tools_write_file(void *arg) {
  const lt_mcp *mcp = arg;
  const lt_mcp_list_facts facts = {
      .protocol_version = lt_buf_view(&mcp->version),
      .server_version = lt_buf_view(&mcp->server_version),
      .instructions = lt_buf_view(&mcp->instructions),
      .extras = lt_buf_view(&mcp->extras),
      .listed_ms = mcp->list_listed_ms,
      .start_ms = mcp->list_start_ms,
  };
  (void)lt_mcp_list_cache_write(mcp->o.list_file, &mcp->list, &facts, mcp->o.secrets, NULL); /* it only saves time */
}

/* For the next process. Only lt_mcp_lifecycle_run() changes the list, and it waits here. */
void lt_mcp_tools_save(lt_mcp *mcp) {
  if (mcp->o.list_file != NULL) {
    (void)lt_loop_offload(mcp->loop, mcp_tools_write_file, mcp, NULL);
  }
}

/* The list of the last time, where there is one and it is not too old. A clock that was set makes any list too old. */
void lt_mcp_tools_load(lt_mcp *mcp) {
  lt_mcp_list list;
  lt_mcp_list_facts facts = {0};
  lt_mcp_list_init(&list);
  uint64_t now_ms = lt_clock_wall_us() / 1000;
  if (lt_mcp_list_cache_read(mcp->o.list_file, &list, &facts, NULL) != LT_OK || facts.listed_ms == 0 ||
      facts.listed_ms > now_ms || now_ms - facts.listed_ms > LT_MCP_LIST_KNOWN_MS ||
      lt_mcp_tools_keep_facts(mcp, &facts, NULL) != LT_OK) {
    lt_mcp_list_release(&list);
    return;
  }
  lt_mcp_extras_load(mcp, facts.extras);
  lt_mcp_tools_publish(mcp, &list);
  mcp->list_listed_ms = facts.listed_ms;
  mcp->list_start_ms = facts.start_ms;
  mcp->is_list_of_file = true;
  mcp->state = LT_MCP_IDLE;
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */

static lt_status mcp_tools_read(lt_mcp *mcp, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) LT_YIELDS {
  lt_mcp_list_init(list);
  lt_status status = lt_mcp_session_list(mcp->session, deadline_ms, list, err);
  mcp->listed_ms = lt_loop_now_ms(mcp->loop);
  if (status != LT_OK) {
    lt_mcp_list_release(list);
  }
  return status;
}

/* Some servers add tools after `initialized` and send list_changed while the first list is being read. */
lt_status lt_mcp_tools_read_first(lt_mcp *mcp, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) {
  LT_TRY(mcp_tools_read(mcp, deadline_ms, list, err));
  if (!lt_mcp_session_changed(mcp->session)) {
    return LT_OK;
  }
  lt_mcp_list_release(list);
  return mcp_tools_read(mcp, deadline_ms, list, err);
}

void lt_mcp_tools_read_again(lt_mcp *mcp) {
  lt_mcp_list list;
  LT_ERR_VAR(err);
  uint64_t deadline_ms = lt_loop_now_ms(mcp->loop) + mcp->o.call_timeout_ms;
  if (mcp_tools_read(mcp, deadline_ms, &list, &err) == LT_OK) {
    lt_mcp_tools_publish(mcp, &list);
    lt_mcp_tools_save(mcp);
  } else if (!lt_mcp_session_ended(mcp->session)) {
    lt_err_prefix(&err, "its tools have changed, but listing them failed; the old list stays");
    lt_mcp_client_warn(mcp, lt_str_of(lt_err_msg(&err)));
  }
}
