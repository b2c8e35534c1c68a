#include "mcp/mcp_client.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_list_cache.h"
#include "mcp/mcp_session.h"

typedef struct mcp_waiter {
  struct mcp_waiter *prev, *next;
  lt_wait wait;
} mcp_waiter;

struct lt_mcp {
  lt_loop *loop;
  lt_arena arena; /* copies of the options */
  lt_mcp_options o;
  const char **argv;
  lt_mcp_hint hint; /* what earlier sessions have learned */
  lt_mcp_state state;
  lt_err why;              /* DOWN, CLOSED: the reason */
  lt_mcp_session *session; /* the current process, or NULL; only mcp_client_live() opens and closes it */
  lt_mcp_list list;
  lt_buf version;
  lt_buf server_version;
  lt_buf instructions;
  uint64_t list_listed_ms; /* wall clock; 0: the list is not known */
  uint64_t list_start_ms;  /* how long the server took to give it */
  bool is_list_of_file;    /* the list is of the last time */
  bool is_wanted;          /* IDLE: it is to be started */
  bool was_ready;
  bool closing;
  bool living;  /* mcp_client_live() runs */
  size_t users; /* number of fibers inside lt_mcp_call and lt_mcp_wait_ready */
  mcp_waiter *waiters;
  lt_wait event; /* mcp_client_live() waits here */
  lt_wait left;  /* lt_mcp_close waits here */
  uint64_t listed_ms;
  uint64_t used_ms;                       /* when the last call ended */
  uint64_t restarts[LT_MCP_RESTARTS_MAX]; /* times of the last restarts */
  size_t restart_count;
};

/* --- Messages ----------------------------------------------------------------------------------------------------- */

static void mcp_client_on_warning(void *arg, lt_str message) {
  lt_mcp *mcp = arg;
  if (!mcp->o.on_warning) {
    return;
  }
  LT_AUTO_BUF(text, 8 * LT_KIB);
  lt_buf_addc(&text, "MCP server \"");
  lt_buf_add(&text, mcp->o.name);
  lt_buf_addc(&text, "\": ");
  lt_buf_add(&text, message);
  if (text.status == LT_OK) {
    mcp->o.on_warning(mcp->o.arg, mcp, lt_buf_view(&text));
  }
}

static lt_status mcp_client_name_it(const lt_mcp *mcp, lt_err *err) {
  return err ? lt_err_prefix(err, "MCP server \"%.*s\"", LT_STR_ARG(mcp->o.name)) : LT_OK;
}

/* --- Waiting for a server ----------------------------------------------------------------------------------------- */

static void mcp_client_wake_waiters(lt_mcp *mcp) {
  for (mcp_waiter *w = mcp->waiters; w; w = w->next) {
    lt_wait_wake(&w->wait, LT_OK);
  }
}

static void mcp_client_set_state(lt_mcp *mcp, lt_mcp_state state) {
  if (mcp->state != LT_MCP_CLOSED) {
    mcp->state = state;
  }
  if (state != LT_MCP_STARTING && state != LT_MCP_IDLE) {
    mcp_client_wake_waiters(mcp);
  }
}

static void mcp_client_enlist(lt_mcp *mcp, mcp_waiter *w) {
  lt_wait_init(&w->wait, mcp->loop);
  w->prev = NULL;
  w->next = mcp->waiters;
  if (w->next) {
    w->next->prev = w;
  }
  mcp->waiters = w;
}

static void mcp_client_delist(lt_mcp *mcp, mcp_waiter *w) {
  *(w->prev ? &w->prev->next : &mcp->waiters) = w->next;
  if (w->next) {
    w->next->prev = w->prev;
  }
}

static uint64_t mcp_client_left_of(const lt_mcp *mcp, uint64_t deadline_ms) {
  if (deadline_ms == UINT64_MAX) {
    return UINT64_MAX;
  }
  uint64_t now = lt_loop_now_ms(mcp->loop);
  return deadline_ms > now ? deadline_ms - now : 0;
}

static bool mcp_client_has_to_start(const lt_mcp *mcp) {
  return mcp->state == LT_MCP_STARTING || mcp->state == LT_MCP_IDLE;
}

/* LT_YIELDS until the server has started. LT_OK also when it is down. */
static lt_status mcp_client_wait_started(lt_mcp *mcp, uint64_t deadline_ms, lt_cancel *cancel) LT_YIELDS {
  if (!mcp_client_has_to_start(mcp)) {
    return LT_OK;
  }
  if (mcp->state == LT_MCP_IDLE) {
    mcp->is_wanted = true;
    lt_wait_wake(&mcp->event, LT_OK);
  }
  mcp_waiter w;
  lt_cancel_node node;
  mcp_client_enlist(mcp, &w);
  lt_cancel_add(cancel, &node, &w.wait);
  lt_status status = LT_OK;
  while (status == LT_OK && mcp_client_has_to_start(mcp)) {
    status = lt_wait_on(&w.wait, mcp_client_left_of(mcp, deadline_ms));
  }
  lt_cancel_remove(cancel, &node);
  mcp_client_delist(mcp, &w);
  return mcp_client_has_to_start(mcp) ? status : LT_OK;
}

static uint64_t mcp_client_deadline(const lt_mcp *mcp, uint64_t timeout_ms) {
  uint64_t limit_ms = timeout_ms ? timeout_ms : mcp->o.call_timeout_ms;
  uint64_t now = lt_loop_now_ms(mcp->loop);
  return limit_ms > UINT64_MAX - now ? UINT64_MAX : now + limit_ms;
}

static void mcp_client_enter(lt_mcp *mcp) {
  mcp->users++;
}

static void mcp_client_leave(lt_mcp *mcp) {
  mcp->users--;
  mcp->used_ms = lt_loop_now_ms(mcp->loop);
  if (mcp->closing) {
    lt_wait_wake(&mcp->left, LT_OK);
  }
}

void lt_mcp_wake(lt_mcp *mcp, uint64_t timeout_ms, lt_cancel *cancel) {
  mcp_client_enter(mcp);
  (void)mcp_client_wait_started(mcp, mcp_client_deadline(mcp, timeout_ms), cancel);
  mcp_client_leave(mcp);
}

lt_status lt_mcp_wait_ready(lt_mcp *mcp, lt_err *err) {
  if (mcp->is_list_of_file || mcp->state == LT_MCP_IDLE) {
    return LT_OK;
  }
  mcp_client_enter(mcp);
  mcp_client_wait_started(mcp, UINT64_MAX, NULL);
  lt_status status = mcp->state == LT_MCP_READY ? LT_OK : lt_err_copy(err, &mcp->why);
  mcp_client_leave(mcp);
  return status;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Calls to a server that is down fail with LT_E_CLOSED, for every reason. */
static lt_status mcp_client_refuse(const lt_mcp *mcp, lt_err *err) {
  return lt_fail(err, LT_E_CLOSED, "%s", mcp->why.msg);
}

static lt_status mcp_client_fail_waiting(lt_mcp *mcp, lt_status why, lt_err *err) {
  lt_fail(err, why,
          why == LT_E_CANCELLED ? "the call was cancelled before the server was ready"
                                : "the server was not ready in time for the call");
  mcp_client_name_it(mcp, err);
  return why;
}

static lt_str mcp_client_schema_of(const lt_mcp *mcp, lt_str tool) {
  for (size_t i = 0; mcp->o.url != NULL && i < mcp->list.count; i++) {
    if (lt_str_eq(mcp->list.tools[i].name, tool)) {
      return mcp->list.tools[i].input_schema;
    }
  }
  return LT_STR_NULL;
}

/* A call that met a lost session is made once more in a new one: the server has not carried it out. */
static lt_status mcp_client_ask(lt_mcp *mcp, lt_mcp_session_request *request, uint64_t deadline_ms,
                                lt_mcp_result *ret_result, lt_err *err) LT_YIELDS {
  for (bool is_again = false;; is_again = true) {
    LT_AUTO_BUF(schema, LT_MCP_LIST_MAX_BYTES); /* a new list may come during the call */
    lt_buf_add(&schema, mcp_client_schema_of(mcp, request->tool));
    request->input_schema = lt_buf_view(&schema);
    request->timeout_ms = mcp_client_left_of(mcp, deadline_ms);
    lt_status status = lt_mcp_session_call(mcp->session, request, ret_result, err);
    if (status != LT_E_CLOSED || !request->is_unheard || is_again) {
      return status;
    }
    if (mcp_client_wait_started(mcp, deadline_ms, request->options->cancel) != LT_OK || mcp->state != LT_MCP_READY) {
      return status;
    }
  }
}

static lt_status mcp_client_call(lt_mcp *mcp, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                                 lt_mcp_result *ret_result, lt_err *err) LT_YIELDS {
  uint64_t deadline_ms = mcp_client_deadline(mcp, options->timeout_ms);
  lt_status status = mcp_client_wait_started(mcp, deadline_ms, options->cancel);
  if (status != LT_OK) {
    return mcp_client_fail_waiting(mcp, status, err);
  }
  if (mcp->state != LT_MCP_READY) {
    return mcp_client_refuse(mcp, err);
  }
  lt_mcp_session_request request = {.tool = tool, .arguments = arguments, .options = options};
  status = mcp_client_ask(mcp, &request, deadline_ms, ret_result, err);
  if (status != LT_OK) {
    mcp_client_name_it(mcp, err);
  }
  return status;
}

lt_status lt_mcp_call(lt_mcp *mcp, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) {
  static const lt_mcp_call_options none = {0};
  mcp_client_enter(mcp);
  lt_status status = mcp_client_call(mcp, tool, arguments, options ? options : &none, ret_result, err);
  if (status == LT_OK) {
    ret_result->result.doc = &ret_result->doc;
  }
  mcp_client_leave(mcp);
  return status;
}

/* --- The list of tools -------------------------------------------------------------------------------------------- */

static lt_status mcp_client_keep(lt_buf *to, lt_str text, lt_err *err) {
  lt_buf_clear(to);
  lt_buf_add(to, text);
  return lt_buf_check(to, err, "no memory for the handshake");
}

static lt_status mcp_client_keep_facts(lt_mcp *mcp, const lt_mcp_list_facts *facts, lt_err *err) {
  LT_TRY(mcp_client_keep(&mcp->version, facts->protocol_version, err));
  LT_TRY(mcp_client_keep(&mcp->server_version, facts->server_version, err));
  return mcp_client_keep(&mcp->instructions, facts->instructions, err);
}

static void mcp_client_publish(lt_mcp *mcp, lt_mcp_list *list) {
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
  lt_mcp_list_release(&old); /* the old strings were valid until on_tools */
}

static void mcp_client_write_list_file(void *arg) {
  const lt_mcp *mcp = arg;
  const lt_mcp_list_facts facts = {
      .protocol_version = lt_buf_view(&mcp->version),
      .server_version = lt_buf_view(&mcp->server_version),
      .instructions = lt_buf_view(&mcp->instructions),
      .listed_ms = mcp->list_listed_ms,
      .start_ms = mcp->list_start_ms,
  };
  (void)lt_mcp_list_cache_write(mcp->o.list_file, &mcp->list, &facts, mcp->o.secrets, NULL); /* it only saves time */
}

/* For the next process. Only mcp_client_live() changes the list, and it waits here. LT_YIELDS. */
static void mcp_client_save_list(lt_mcp *mcp) LT_YIELDS {
  if (mcp->o.list_file != NULL) {
    (void)lt_loop_offload(mcp->loop, mcp_client_write_list_file, mcp, NULL);
  }
}

/* The list of the last time, where there is one and it is not too old. A clock that was set makes any list too old. */
static void mcp_client_load_list(lt_mcp *mcp) {
  lt_mcp_list list;
  lt_mcp_list_facts facts = {0};
  lt_mcp_list_init(&list);
  uint64_t now_ms = lt_clock_wall_us() / 1000;
  if (lt_mcp_list_cache_read(mcp->o.list_file, &list, &facts, NULL) != LT_OK || facts.listed_ms == 0 ||
      facts.listed_ms > now_ms || now_ms - facts.listed_ms > LT_MCP_LIST_KNOWN_MS ||
      mcp_client_keep_facts(mcp, &facts, NULL) != LT_OK) {
    lt_mcp_list_release(&list);
    return;
  }
  mcp_client_publish(mcp, &list);
  mcp->list_listed_ms = facts.listed_ms;
  mcp->list_start_ms = facts.start_ms;
  mcp->is_list_of_file = true;
  mcp->state = LT_MCP_IDLE;
}

static lt_status mcp_client_read_list(lt_mcp *mcp, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) LT_YIELDS {
  lt_mcp_list_init(list);
  lt_status status = lt_mcp_session_list(mcp->session, deadline_ms, list, err);
  mcp->listed_ms = lt_loop_now_ms(mcp->loop);
  if (status != LT_OK) {
    lt_mcp_list_release(list);
  }
  return status;
}

/* Some servers add tools after `initialized` and send list_changed while the first list is being read. */
static lt_status mcp_client_first_list(lt_mcp *mcp, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) LT_YIELDS {
  LT_TRY(mcp_client_read_list(mcp, deadline_ms, list, err));
  if (!lt_mcp_session_changed(mcp->session)) {
    return LT_OK;
  }
  lt_mcp_list_release(list);
  return mcp_client_read_list(mcp, deadline_ms, list, err);
}

static void mcp_client_relist(lt_mcp *mcp) LT_YIELDS {
  lt_mcp_list list;
  lt_err err = LT_ERR_INIT;
  uint64_t deadline_ms = lt_loop_now_ms(mcp->loop) + mcp->o.call_timeout_ms;
  if (mcp_client_read_list(mcp, deadline_ms, &list, &err) == LT_OK) {
    mcp_client_publish(mcp, &list);
    mcp_client_save_list(mcp);
  } else if (!lt_mcp_session_ended(mcp->session)) {
    lt_err_prefix(&err, "its tools have changed, but listing them failed; the old list stays");
    mcp_client_on_warning(mcp, lt_str_of(lt_err_msg(&err)));
  }
}

/* --- Start, crash and restart ------------------------------------------------------------------------------------- */

static void mcp_client_on_change(void *arg) {
  lt_mcp *mcp = arg;
  if (mcp->session && lt_mcp_session_ended(mcp->session)) {
    mcp_client_set_state(mcp, LT_MCP_STARTING); /* from now on calls wait for the next process */
  }
  lt_wait_wake(&mcp->event, LT_OK);
}

/* Opens a session and finds out which protocol the server speaks: some want a fresh session for each attempt. */
static lt_status mcp_client_greet(lt_mcp *mcp, uint64_t deadline_ms, lt_err *err) LT_YIELDS {
  for (int tries = 1;; tries++) {
    lt_mcp_session_options options = {
        mcp->loop, &mcp->o, mcp->argv, mcp->hint, mcp_client_on_warning, mcp_client_on_change, mcp};
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
static lt_status mcp_client_start(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  uint64_t began_ms = lt_loop_now_ms(mcp->loop);
  uint64_t deadline_ms = began_ms + mcp->o.start_timeout_ms;
  lt_mcp_list list;
  LT_TRY(mcp_client_greet(mcp, deadline_ms, err));
  const lt_mcp_list_facts facts = {
      .protocol_version = lt_mcp_session_version(mcp->session),
      .server_version = lt_mcp_session_server_version(mcp->session),
      .instructions = lt_mcp_session_instructions(mcp->session),
  };
  LT_TRY(mcp_client_keep_facts(mcp, &facts, err));
  LT_TRY(mcp_client_first_list(mcp, deadline_ms, &list, err));
  mcp->list_start_ms = lt_loop_now_ms(mcp->loop) - began_ms;
  mcp_client_publish(mcp, &list);
  return LT_OK;
}

/* When the server has had no call for too long; UINT64_MAX: never. */
static uint64_t mcp_client_idle_at(const lt_mcp *mcp) {
  return mcp->o.idle_timeout_ms > 0 ? mcp->used_ms + mcp->o.idle_timeout_ms : UINT64_MAX;
}

/* LT_YIELDS until something happens to the session, or it may be idle. True: it is idle. */
static bool mcp_client_wait_idle(lt_mcp *mcp) LT_YIELDS {
  uint64_t idle_at_ms = mcp->users > 0 ? lt_loop_now_ms(mcp->loop) + mcp->o.idle_timeout_ms : mcp_client_idle_at(mcp);
  lt_wait_on(&mcp->event, mcp->o.idle_timeout_ms > 0 ? mcp_client_left_of(mcp, idle_at_ms) : UINT64_MAX);
  return mcp->users == 0 && mcp_client_left_of(mcp, mcp_client_idle_at(mcp)) == 0;
}

/* LT_YIELDS until the session has ended, or has had no call for too long (LT_OK). */
static lt_status mcp_client_serve(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  bool is_idle = false;
  mcp->used_ms = lt_loop_now_ms(mcp->loop);
  while (!lt_mcp_session_ended(mcp->session) && !is_idle) {
    uint64_t due_ms = mcp->listed_ms + LT_MCP_RELIST_GAP_MS;
    uint64_t now = lt_loop_now_ms(mcp->loop);
    if (!lt_mcp_session_changed(mcp->session)) {
      is_idle = mcp_client_wait_idle(mcp);
    } else if (now < due_ms) {
      lt_wait_on(&mcp->event, due_ms - now);
    } else {
      mcp_client_relist(mcp);
    }
  }
  return lt_mcp_session_ended(mcp->session) ? lt_err_copy(err, lt_mcp_session_ended(mcp->session)) : LT_OK;
}

/* LT_OK: the server was not called for too long, and is stopped. Otherwise why it has ended. */
static lt_status mcp_client_run_session(lt_mcp *mcp, lt_err *err) LT_YIELDS {
  lt_err why = LT_ERR_INIT;
  lt_status status = mcp_client_start(mcp, err);
  if (status == LT_OK) {
    mcp->was_ready = true;
    mcp_client_set_state(mcp, LT_MCP_READY);
    mcp_client_save_list(mcp);
    status = mcp_client_serve(mcp, err);
  }
  mcp_client_set_state(mcp, status == LT_OK ? LT_MCP_IDLE : LT_MCP_STARTING);
  lt_mcp_session *session = mcp->session;
  mcp->session = NULL;
  if (session) {
    lt_fail(&why, LT_E_CLOSED, "the server is stopped, as it was not called");
    lt_mcp_session_end(session, status == LT_OK ? &why : err);
    lt_mcp_session_close(session);
  }
  return status;
}

/* LT_YIELDS while the server need not run. A list that is not fresh is renewed by a process that lives long enough. */
static void mcp_client_rest(lt_mcp *mcp) LT_YIELDS {
  uint64_t age_ms = lt_clock_wall_us() / 1000 - mcp->list_listed_ms;
  bool is_fresh = !mcp->is_list_of_file || age_ms < LT_MCP_LIST_FRESH_MS;
  uint64_t renew_at_ms = is_fresh ? UINT64_MAX : lt_loop_now_ms(mcp->loop) + LT_MCP_LIST_REFRESH_MS;
  while (mcp->state == LT_MCP_IDLE && !mcp->is_wanted && !mcp->closing && mcp_client_left_of(mcp, renew_at_ms) > 0) {
    lt_wait_on(&mcp->event, mcp_client_left_of(mcp, renew_at_ms));
  }
  mcp->is_wanted = false;
  mcp_client_set_state(mcp, LT_MCP_STARTING);
}

/* After a crash the server is restarted, if it has been READY before. */
static bool mcp_client_may_restart(lt_mcp *mcp, lt_err *err) {
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
static unsigned mcp_client_recent_restarts(const lt_mcp *mcp) {
  uint64_t now = lt_loop_now_ms(mcp->loop);
  unsigned recent = 0;
  for (size_t i = 0; i < LT_MCP_RESTARTS_MAX && i < mcp->restart_count; i++) {
    recent += now - mcp->restarts[i] < LT_MCP_RESTART_WINDOW_MS;
  }
  return recent;
}

static void mcp_client_back_off(lt_mcp *mcp, const lt_err *err) LT_YIELDS {
  unsigned nth = mcp_client_recent_restarts(mcp);
  LT_AUTO_BUF(text, 4 * LT_KIB);
  lt_buf_printf(&text, "starting it again (%u of %d within %d s): %s", nth, LT_MCP_RESTARTS_MAX,
                LT_MCP_RESTART_WINDOW_MS / 1000, lt_err_msg(err));
  mcp_client_on_warning(mcp, lt_buf_view(&text));
  uint64_t until_ms = lt_loop_now_ms(mcp->loop) + (LT_MCP_RESTART_DELAY_MS << (nth > 0 ? nth - 1 : 0));
  while (!mcp->closing && mcp_client_left_of(mcp, until_ms) > 0) {
    lt_wait_on(&mcp->event, mcp_client_left_of(mcp, until_ms));
  }
}

static void mcp_client_go_down(lt_mcp *mcp, lt_err *err) {
  mcp_client_name_it(mcp, err);
  mcp->why = *err;
  mcp_client_set_state(mcp, LT_MCP_DOWN);
}

static void mcp_client_live(void *arg) {
  lt_mcp *mcp = arg;
  while (!mcp->closing) {
    lt_err err = LT_ERR_INIT;
    mcp_client_rest(mcp);
    if (mcp->closing) {
      break;
    }
    lt_status status = mcp_client_run_session(mcp, &err);
    if (status == LT_OK) {
      continue;
    }
    if (mcp->closing) {
      break;
    }
    if (!mcp_client_may_restart(mcp, &err)) {
      mcp_client_go_down(mcp, &err);
      break;
    }
    mcp_client_back_off(mcp, &err);
  }
  mcp->living = false;
  lt_wait_wake(&mcp->left, LT_OK);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static const char *mcp_client_copy_cstr(lt_arena *arena, const char *s, bool *ok) {
  if (!s) {
    return NULL;
  }
  lt_str copy = lt_arena_dup(arena, lt_str_of(s));
  *ok = *ok && copy.p;
  return copy.p;
}

static size_t mcp_client_count_strings(const char *const *strings) {
  size_t n = 0;
  while (strings && strings[n]) {
    n++;
  }
  return n;
}

/* A copy with `first` at the beginning, unless `first` is NULL. */
static const char **mcp_client_copy_strings(lt_arena *arena, const char *first, const char *const *strings, bool *ok) {
  size_t n = mcp_client_count_strings(strings);
  const char **copy = lt_arena_zalloc(arena, n + 2, sizeof *copy);
  if (!copy) {
    *ok = false;
    return NULL;
  }
  size_t at = 0;
  if (first) {
    copy[at++] = first;
  }
  for (size_t i = 0; i < n; i++) {
    copy[at++] = mcp_client_copy_cstr(arena, strings[i], ok);
  }
  return copy;
}

static bool mcp_client_copy_options(lt_mcp *mcp, const lt_mcp_options *from) {
  bool ok = true;
  lt_mcp_options *o = &mcp->o;
  *o = *from;
  o->name = lt_arena_dup(&mcp->arena, from->name);
  o->url = mcp_client_copy_cstr(&mcp->arena, from->url, &ok);
  o->headers = from->headers ? mcp_client_copy_strings(&mcp->arena, NULL, from->headers, &ok) : NULL;
  o->roots = from->roots ? mcp_client_copy_strings(&mcp->arena, NULL, from->roots, &ok) : NULL;
  o->command = mcp_client_copy_cstr(&mcp->arena, from->command, &ok);
  mcp->argv = mcp_client_copy_strings(&mcp->arena, o->command, from->args, &ok);
  o->args = NULL;
  o->env = from->env ? mcp_client_copy_strings(&mcp->arena, NULL, from->env, &ok) : NULL;
  o->cwd = mcp_client_copy_cstr(&mcp->arena, from->cwd, &ok);
  o->helper = mcp_client_copy_cstr(&mcp->arena, from->helper, &ok);
  o->list_file = mcp_client_copy_cstr(&mcp->arena, from->list_file, &ok);
  o->start_timeout_ms = from->start_timeout_ms ? from->start_timeout_ms : LT_MCP_START_TIMEOUT_MS;
  o->call_timeout_ms = from->call_timeout_ms ? from->call_timeout_ms : LT_MCP_CALL_TIMEOUT_MS;
  return ok && o->name.p;
}

static void mcp_client_free(lt_mcp *mcp) {
  lt_mcp_list_release(&mcp->list);
  lt_buf_release(&mcp->version);
  lt_buf_release(&mcp->server_version);
  lt_buf_release(&mcp->instructions);
  lt_arena_release(&mcp->arena);
  lt_mem_free(mcp);
}

lt_status lt_mcp_open(lt_loop *loop, const lt_mcp_options *options, lt_mcp **ret_mcp, lt_err *err) {
  lt_mcp *mcp = lt_mem_zalloc(1, sizeof *mcp);
  if (!mcp) {
    return lt_fail(err, LT_E_NOMEM, "no memory for an MCP server");
  }
  mcp->loop = loop;
  lt_arena_init(&mcp->arena, LT_CONFIG_MAX_BYTES);
  lt_mcp_list_init(&mcp->list);
  lt_buf_init(&mcp->version, LT_KIB);
  lt_buf_init(&mcp->server_version, LT_KIB);
  lt_buf_init(&mcp->instructions, LT_MCP_LINE_MAX_BYTES);
  lt_wait_init(&mcp->event, loop);
  lt_wait_init(&mcp->left, loop);
  mcp->state = LT_MCP_STARTING;
  lt_status status = LT_E_NOMEM;
  if (!mcp_client_copy_options(mcp, options)) {
    lt_fail(err, status, "no memory for an MCP server");
  } else {
    status = lt_loop_spawn(loop, mcp_client_live, mcp, err);
  }
  if (status != LT_OK) {
    mcp_client_free(mcp);
    return status;
  }
  mcp->living = true;
  if (mcp->o.list_file != NULL && !mcp->o.starts_at_once) {
    mcp_client_load_list(mcp);
  }
  *ret_mcp = mcp;
  return LT_OK;
}

void lt_mcp_close(lt_mcp *mcp) {
  if (!mcp) {
    return;
  }
  mcp->closing = true;
  lt_fail(&mcp->why, LT_E_CLOSED, "MCP server \"%.*s\": it is being shut down", LT_STR_ARG(mcp->o.name));
  mcp_client_set_state(mcp, LT_MCP_CLOSED);
  if (mcp->session) {
    lt_err why = LT_ERR_INIT;
    lt_fail(&why, LT_E_CLOSED, "the server is being shut down");
    lt_mcp_session_end(mcp->session, &why);
  }
  lt_wait_wake(&mcp->event, LT_OK);
  while (mcp->living || mcp->users > 0) {
    lt_wait_on(&mcp->left, UINT64_MAX);
  }
  mcp_client_free(mcp);
}

/* --- State -------------------------------------------------------------------------------------------------------- */

lt_mcp_state lt_mcp_state_of(const lt_mcp *mcp) {
  return mcp->state;
}

lt_str lt_mcp_reason(const lt_mcp *mcp) {
  return mcp->state == LT_MCP_DOWN ? lt_str_of(mcp->why.msg) : LT_STR_NULL;
}

lt_str lt_mcp_name(const lt_mcp *mcp) {
  return mcp->o.name;
}

lt_str lt_mcp_protocol_version(const lt_mcp *mcp) {
  return lt_buf_view(&mcp->version);
}

lt_str lt_mcp_instructions(const lt_mcp *mcp) {
  return lt_buf_view(&mcp->instructions);
}

const lt_mcp_tool *lt_mcp_tools(const lt_mcp *mcp, size_t *ret_count) {
  *ret_count = mcp->list.count;
  return mcp->list.tools;
}
