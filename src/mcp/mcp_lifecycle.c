#include "base/clock.h"
#include "base/limits.h"
#include "mcp/mcp_client_impl.h"
#include "mcp/mcp_extras.h"

/* --- Start -------------------------------------------------------------------------------------------------------- */

static void mcp_lifecycle_on_change(void *arg) {
  lt_mcp *mcp = arg;
  if (mcp->session && lt_mcp_session_ended(mcp->session)) {
    lt_mcp_state_set(mcp, LT_MCP_STARTING); /* from now on calls wait for the next process */
  }
  lt_wait_wake(&mcp->event, LT_OK);
}

static void mcp_lifecycle_on_notice(void *arg, lt_mcp_notice *notice) {
  lt_mcp *mcp = arg;
  notice->mcp = mcp;
  if (mcp->listener.on_notice != NULL) {
    mcp->listener.on_notice(mcp->listener.arg, notice);
  }
}

/* Opens a session and finds out which protocol the server speaks: some want a fresh session for each attempt. */
static lt_status mcp_lifecycle_greet(lt_mcp *mcp, uint64_t deadline_ms, lt_err *err) LT_YIELDS {
  for (int tries = 1;; tries++) {
    lt_mcp_session_options options = {
        mcp->loop, &mcp->o, mcp->argv, mcp->hint, lt_mcp_client_warn, mcp_lifecycle_on_change, mcp_lifecycle_on_notice,
        mcp};
    LT_TRY(lt_mcp_session_open(&options, &mcp->session, err));
    lt_status status = lt_mcp_session_start(mcp->session, deadline_ms, err);
    bool is_hinted = lt_mcp_session_has_hint(mcp->session, &mcp->hint);
    if (status == LT_OK || !is_hinted || tries == 3 || mcp->closing) {
      return status;
    }
    lt_mcp_session *failed = mcp->session;
    mcp->session = NULL;
    lt_mcp_session_end(failed, err);
    lt_mcp_session_close(failed);
  }
}

/* Starts the process, makes the handshake, reads the first list. */
static lt_status mcp_lifecycle_start(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  uint64_t began_ms = lt_loop_now_ms(mcp->loop);
  uint64_t deadline_ms = began_ms + mcp->o.start_timeout_ms;
  lt_mcp_list list;
  LT_TRY(mcp_lifecycle_greet(mcp, deadline_ms, err));
  const lt_mcp_list_facts facts = {
      .protocol_version = lt_mcp_session_version(mcp->session),
      .server_version = lt_mcp_session_server_version(mcp->session),
      .instructions = lt_mcp_session_instructions(mcp->session),
  };
  LT_TRY(lt_mcp_tools_keep_facts(mcp, &facts, err));
  LT_TRY(lt_mcp_tools_read_first(mcp, deadline_ms, &list, err));
  mcp->list_start_ms = lt_loop_now_ms(mcp->loop) - began_ms;
  lt_mcp_tools_publish(mcp, &list);
  return LT_OK;
}

/* --- A session ---------------------------------------------------------------------------------------------------- */

/* When the server has had no call for too long; UINT64_MAX: never. */
static uint64_t mcp_lifecycle_idle_at(const lt_mcp *mcp) {
  return mcp->o.idle_timeout_ms > 0 ? mcp->used_ms + mcp->o.idle_timeout_ms : UINT64_MAX;
}

/* LT_YIELDS until something happens to the session, or it may be idle. True: it is idle. */
static bool mcp_lifecycle_wait_idle(lt_mcp *mcp) LT_YIELDS {
  uint64_t idle_at_ms =
      mcp->users > 0 ? lt_loop_now_ms(mcp->loop) + mcp->o.idle_timeout_ms : mcp_lifecycle_idle_at(mcp);
  lt_wait_on(&mcp->event, mcp->o.idle_timeout_ms > 0 ? lt_mcp_state_left_of(mcp, idle_at_ms) : UINT64_MAX);
  return mcp->users == 0 && lt_mcp_state_left_of(mcp, mcp_lifecycle_idle_at(mcp)) == 0;
}

/* A server that says with each list that the list has changed is asked now and then only. */
static void mcp_lifecycle_follow_extras(lt_mcp *mcp) LT_YIELDS {
  uint64_t left_ms = mcp->extras_ms > 0 ? lt_mcp_state_left_of(mcp, mcp->extras_ms + LT_MCP_RELIST_GAP_MS) : 0;
  if (left_ms > 0) {
    lt_wait_on(&mcp->event, left_ms);
    return;
  }
  lt_mcp_extras_read(mcp);
  mcp->extras_ms = lt_loop_now_ms(mcp->loop);
  lt_mcp_tools_save(mcp);
}

/* LT_YIELDS until the session has ended, or has had no call for too long (LT_OK). */
static lt_status mcp_lifecycle_serve(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  bool is_idle = false;
  mcp->used_ms = lt_loop_now_ms(mcp->loop);
  while (!lt_mcp_session_ended(mcp->session) && !is_idle) {
    uint64_t due_ms = mcp->listed_ms + LT_MCP_RELIST_GAP_MS;
    uint64_t now = lt_loop_now_ms(mcp->loop);
    if (!lt_mcp_session_changed(mcp->session) && lt_mcp_extras_are_due(mcp)) {
      mcp_lifecycle_follow_extras(mcp);
    } else if (!lt_mcp_session_changed(mcp->session)) {
      is_idle = mcp_lifecycle_wait_idle(mcp);
    } else if (now < due_ms) {
      lt_wait_on(&mcp->event, due_ms - now);
    } else {
      lt_mcp_tools_read_again(mcp);
    }
  }
  return lt_mcp_session_ended(mcp->session) ? lt_err_copy(err, lt_mcp_session_ended(mcp->session)) : LT_OK;
}

/* LT_OK: the server was not called for too long, and is stopped. Otherwise why it has ended. */
static lt_status mcp_lifecycle_run_session(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  lt_status status = mcp_lifecycle_start(mcp, err);
  if (status == LT_OK) {
    mcp->was_ready = true;
    mcp->down_count = 0;
    lt_mcp_state_set(mcp, LT_MCP_READY);
    lt_mcp_tools_save(mcp);
    status = mcp_lifecycle_serve(mcp, err);
  }
  lt_mcp_state_set(mcp, status == LT_OK ? LT_MCP_IDLE : LT_MCP_STARTING);
  lt_mcp_session *session = mcp->session;
  mcp->session = NULL;
  if (session) {
    lt_fail(&why, LT_E_CLOSED, "the server is stopped, as it was not called");
    lt_mcp_session_end(session, status == LT_OK ? &why : err);
    lt_mcp_session_close(session);
  }
  return status;
}

/* --- Between two sessions ----------------------------------------------------------------------------------------- */

/* LT_YIELDS while the server need not run. A list that is not fresh is renewed by a process that lives long enough. */
static void mcp_lifecycle_rest(lt_mcp *mcp) LT_YIELDS {
  uint64_t age_ms = lt_clock_wall_us() / 1000 - mcp->list_listed_ms;
  bool is_fresh = !mcp->is_list_of_file || age_ms < LT_MCP_LIST_FRESH_MS;
  uint64_t renew_at_ms = is_fresh ? UINT64_MAX : lt_loop_now_ms(mcp->loop) + LT_MCP_LIST_REFRESH_MS;
  while (mcp->state == LT_MCP_IDLE && !mcp->is_wanted && !mcp->closing && lt_mcp_state_left_of(mcp, renew_at_ms) > 0) {
    lt_wait_on(&mcp->event, lt_mcp_state_left_of(mcp, renew_at_ms));
  }
  mcp->is_wanted = false;
  lt_mcp_state_set(mcp, LT_MCP_STARTING);
}

/* After a crash the server is restarted, if it has been READY before. */
static bool mcp_lifecycle_may_restart(lt_mcp *mcp, lt_err *err) {
  if (!mcp->was_ready || err->status != LT_E_CLOSED) {
    return false;
  }
  uint64_t now = lt_loop_now_ms(mcp->loop);
  uint64_t *oldest = &mcp->restarts[mcp->restart_count % LT_MCP_RESTARTS_MAX];
  if (mcp->restart_count >= LT_MCP_RESTARTS_MAX && now - *oldest < LT_MCP_RESTART_WINDOW_MS) {
    lt_err_prefix(err, "ended %d times within %d s and is left down; the last time", LT_MCP_RESTARTS_MAX + 1,
                  LT_MCP_RESTART_WINDOW_MS / 1000);
    return false;
  }
  *oldest = now;
  mcp->restart_count++;
  return true;
}

/* Returns the number of recent restarts. */
static unsigned mcp_lifecycle_recent_restarts(const lt_mcp *mcp) {
  uint64_t now = lt_loop_now_ms(mcp->loop);
  unsigned recent = 0;
  for (size_t i = 0; i < LT_MCP_RESTARTS_MAX && i < mcp->restart_count; i++) {
    recent += now - mcp->restarts[i] < LT_MCP_RESTART_WINDOW_MS;
  }
  return recent;
}

static void mcp_lifecycle_back_off(lt_mcp *mcp, const lt_err *err) LT_YIELDS {
  unsigned nth = mcp_lifecycle_recent_restarts(mcp);
  LT_AUTO_BUF(text, 4 * LT_KIB);
  lt_buf_printf(&text, "starting it again (%u of %d within %d s): %s", nth, LT_MCP_RESTARTS_MAX,
                LT_MCP_RESTART_WINDOW_MS / 1000, lt_err_msg(err));
  lt_mcp_client_warn(mcp, lt_buf_view(&text));
  uint64_t until_ms = lt_loop_now_ms(mcp->loop) + (LT_MCP_RESTART_DELAY_MS << (nth > 0 ? nth - 1 : 0));
  while (!mcp->closing && lt_mcp_state_left_of(mcp, until_ms) > 0) {
    lt_wait_on(&mcp->event, lt_mcp_state_left_of(mcp, until_ms));
  }
}

/* One that crashes again and again rests for as long as its crashes are counted. */
static uint64_t mcp_lifecycle_retry_delay(const lt_mcp *mcp, lt_status why) {
  if (mcp->was_ready && why == LT_E_CLOSED) {
    return LT_MCP_RESTART_WINDOW_MS;
  }
  unsigned doublings = mcp->down_count < 16 ? mcp->down_count : 16;
  uint64_t delay_ms = (uint64_t)LT_MCP_DOWN_RETRY_MS << doublings;
  return delay_ms < LT_MCP_DOWN_RETRY_MAX_MS ? delay_ms : LT_MCP_DOWN_RETRY_MAX_MS;
}

/* LT_YIELDS until a call starts the server again (lt_mcp_retry), or the client is closing. */
static void mcp_lifecycle_stay_down(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  mcp->retry_at_ms = lt_loop_now_ms(mcp->loop) + mcp_lifecycle_retry_delay(mcp, err->status);
  mcp->down_count++;
  lt_mcp_client_add_name(mcp, err);
  mcp->why = *err;
  lt_mcp_state_set(mcp, LT_MCP_DOWN);
  while (mcp->state == LT_MCP_DOWN && !mcp->closing) {
    lt_wait_on(&mcp->event, UINT64_MAX);
  }
}

void lt_mcp_lifecycle_run(void *arg) {
  lt_mcp *mcp = arg;
  while (!mcp->closing) {
    LT_ERR_VAR(err);
    mcp_lifecycle_rest(mcp);
    if (mcp->closing) {
      break;
    }
    lt_status status = mcp_lifecycle_run_session(mcp, &err);
    if (status == LT_OK) {
      continue;
    }
    if (mcp->closing) {
      break;
    }
    if (!mcp_lifecycle_may_restart(mcp, &err)) {
      mcp_lifecycle_stay_down(mcp, &err);
      continue;
    }
    mcp_lifecycle_back_off(mcp, &err);
  }
  mcp->living = false;
  lt_wait_wake(&mcp->left, LT_OK);
}
