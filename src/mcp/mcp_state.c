#include "mcp/mcp_client_impl.h"
#include "mcp/mcp_extras.h"

struct lt_mcp_waiter {
  lt_mcp_waiter *prev, *next;
  lt_wait wait;
};

static void mcp_state_wake_waiters(lt_mcp *mcp) {
  for (lt_mcp_waiter *w = mcp->waiters; w; w = w->next) {
    lt_wait_wake(&w->wait, LT_OK);
  }
}

void lt_mcp_state_set(lt_mcp *mcp, lt_mcp_state state) {
  if (mcp->state != LT_MCP_CLOSED) {
    mcp->state = state;
  }
  if (state != LT_MCP_STARTING && state != LT_MCP_IDLE) {
    mcp_state_wake_waiters(mcp);
    lt_mcp_extras_wake(mcp);
  }
}

static void mcp_state_enlist(lt_mcp *mcp, lt_mcp_waiter *w) {
  lt_wait_init(&w->wait, mcp->loop);
  w->prev = NULL;
  w->next = mcp->waiters;
  if (w->next) {
    w->next->prev = w;
  }
  mcp->waiters = w;
}

static void mcp_state_delist(lt_mcp *mcp, lt_mcp_waiter *w) {
  *(w->prev ? &w->prev->next : &mcp->waiters) = w->next;
  if (w->next) {
    w->next->prev = w->prev;
  }
}

uint64_t lt_mcp_state_left_of(const lt_mcp *mcp, uint64_t deadline_ms) {
  if (deadline_ms == UINT64_MAX) {
    return UINT64_MAX;
  }
  uint64_t now = lt_loop_now_ms(mcp->loop);
  return deadline_ms > now ? deadline_ms - now : 0;
}

static bool mcp_state_has_to_start(const lt_mcp *mcp) {
  return mcp->state == LT_MCP_STARTING || mcp->state == LT_MCP_IDLE;
}

bool lt_mcp_may_retry(const lt_mcp *mcp) {
  return mcp->state == LT_MCP_DOWN && !mcp->closing && lt_mcp_state_left_of(mcp, mcp->retry_at_ms) == 0;
}

void lt_mcp_retry(lt_mcp *mcp) {
  if (lt_mcp_may_retry(mcp)) {
    lt_mcp_state_set(mcp, LT_MCP_STARTING);
    lt_wait_wake(&mcp->event, LT_OK);
  }
}

lt_status lt_mcp_state_wait_started(lt_mcp *mcp, uint64_t deadline_ms, lt_cancel *cancel) {
  lt_mcp_retry(mcp);
  if (!mcp_state_has_to_start(mcp)) {
    return LT_OK;
  }
  if (mcp->state == LT_MCP_IDLE) {
    mcp->is_wanted = true;
    lt_wait_wake(&mcp->event, LT_OK);
  }
  lt_mcp_waiter w;
  lt_cancel_node node;
  mcp_state_enlist(mcp, &w);
  lt_cancel_add(cancel, &node, &w.wait);
  lt_status status = LT_OK;
  while (status == LT_OK && mcp_state_has_to_start(mcp)) {
    status = lt_wait_on(&w.wait, lt_mcp_state_left_of(mcp, deadline_ms));
  }
  lt_cancel_remove(cancel, &node);
  mcp_state_delist(mcp, &w);
  return mcp_state_has_to_start(mcp) ? status : LT_OK;
}

uint64_t lt_mcp_state_deadline_of(const lt_mcp *mcp, uint64_t timeout_ms) {
  uint64_t limit_ms = timeout_ms ? timeout_ms : mcp->o.call_timeout_ms;
  uint64_t now = lt_loop_now_ms(mcp->loop);
  return limit_ms > UINT64_MAX - now ? UINT64_MAX : now + limit_ms;
}

void lt_mcp_state_add_user(lt_mcp *mcp) {
  mcp->users++;
}

void lt_mcp_state_remove_user(lt_mcp *mcp) {
  mcp->users--;
  mcp->used_ms = lt_loop_now_ms(mcp->loop);
  if (mcp->closing) {
    lt_wait_wake(&mcp->left, LT_OK);
  }
}

void lt_mcp_wake(lt_mcp *mcp, uint64_t timeout_ms, lt_cancel *cancel) {
  lt_mcp_state_add_user(mcp);
  (void)lt_mcp_state_wait_started(mcp, lt_mcp_state_deadline_of(mcp, timeout_ms), cancel);
  lt_mcp_state_remove_user(mcp);
}

lt_status lt_mcp_wait_ready(lt_mcp *mcp, lt_err *err) {
  if (mcp->is_list_of_file || mcp->state == LT_MCP_IDLE) {
    return LT_OK;
  }
  if (mcp->state == LT_MCP_DOWN) { /* who asks for the tools does not start it again */
    return lt_err_copy(err, &mcp->why);
  }
  lt_mcp_state_add_user(mcp);
  lt_mcp_state_wait_started(mcp, UINT64_MAX, NULL);
  lt_status status = mcp->state == LT_MCP_READY ? LT_OK : lt_err_copy(err, &mcp->why);
  lt_mcp_state_remove_user(mcp);
  return status;
}

lt_mcp_state lt_mcp_state_of(const lt_mcp *mcp) {
  return mcp->state;
}

lt_str lt_mcp_reason(const lt_mcp *mcp) {
  return mcp->state == LT_MCP_DOWN ? lt_str_of(mcp->why.msg) : LT_STR_NULL;
}
