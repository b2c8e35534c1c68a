#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_client_impl.h"

/* --- Messages ----------------------------------------------------------------------------------------------------- */

void lt_mcp_client_warn(void *arg, lt_str message) {
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

lt_status lt_mcp_client_add_name(const lt_mcp *mcp, lt_err *err) {
  return err ? lt_err_prefix(err, "MCP server \"%.*s\"", LT_STR_ARG(mcp->o.name)) : LT_OK;
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
  lt_mcp_client_add_name(mcp, err);
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
    request->timeout_ms = lt_mcp_state_left_of(mcp, deadline_ms);
    lt_status status = lt_mcp_session_call(mcp->session, request, ret_result, err);
    if (status != LT_E_CLOSED || !request->is_unheard || is_again) {
      return status;
    }
    if (lt_mcp_state_wait_started(mcp, deadline_ms, request->options->cancel) != LT_OK || mcp->state != LT_MCP_READY) {
      return status;
    }
  }
}

static lt_status mcp_client_call(lt_mcp *mcp, lt_mcp_session_request *request, lt_mcp_result *ret_result,
                                 lt_err *err) LT_YIELDS {
  const lt_mcp_call_options *options = request->options;
  uint64_t deadline_ms = lt_mcp_state_deadline_of(mcp, options->timeout_ms);
  lt_status status = lt_mcp_state_wait_started(mcp, deadline_ms, options->cancel);
  if (status != LT_OK) {
    return mcp_client_fail_waiting(mcp, status, err);
  }
  if (mcp->state != LT_MCP_READY) {
    return mcp_client_refuse(mcp, err);
  }
  status = mcp_client_ask(mcp, request, deadline_ms, ret_result, err);
  if (status != LT_OK) {
    lt_mcp_client_add_name(mcp, err);
  }
  return status;
}

static lt_status mcp_client_carry_out(lt_mcp *mcp, lt_mcp_session_request *request, lt_mcp_result *ret_result,
                                      lt_err *err) LT_YIELDS {
  static const lt_mcp_call_options none = {0};
  request->options = request->options != NULL ? request->options : &none;
  lt_mcp_state_add_user(mcp);
  mcp->calls++;
  lt_status status = mcp_client_call(mcp, request, ret_result, err);
  if (status == LT_OK) {
    ret_result->result.doc = &ret_result->doc;
  }
  if (--mcp->calls == 0) {
    lt_wait_wake(&mcp->left, LT_OK);
  }
  lt_mcp_state_remove_user(mcp);
  return status;
}

lt_status lt_mcp_call(lt_mcp *mcp, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) {
  lt_mcp_session_request request = {.tool = tool, .arguments = arguments, .options = options};
  return mcp_client_carry_out(mcp, &request, ret_result, err);
}

lt_status lt_mcp_pass(lt_mcp *mcp, const char *method, lt_str name, lt_str params, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) {
  lt_mcp_session_request request = {.method = method, .tool = name, .arguments = params, .options = options};
  return mcp_client_carry_out(mcp, &request, ret_result, err);
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */

void lt_mcp_listen(lt_mcp *mcp, const lt_mcp_listener *listener) {
  mcp->listener = *listener;
}

void lt_mcp_set_log_level(lt_mcp *mcp, const char *level) {
  mcp->o.log_level = level;
  if (mcp->session != NULL && mcp->state == LT_MCP_READY) {
    lt_mcp_session_set_log_level(mcp->session);
  }
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

/* Afterwards nothing points into the arena. */
static void mcp_client_release(lt_mcp *mcp) {
  lt_mcp_list_release(&mcp->list);
  lt_buf_release(&mcp->version);
  lt_buf_release(&mcp->server_version);
  lt_buf_release(&mcp->instructions);
  lt_buf_release(&mcp->extras);
  mcp->o = (lt_mcp_options){.name = LT_STR("")};
  mcp->argv = NULL;
  mcp->listener = (lt_mcp_listener){.on_notice = NULL};
  lt_arena_release(&mcp->arena);
}

void lt_mcp_free(lt_mcp *mcp) {
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
  lt_buf_init(&mcp->extras, LT_MCP_LIST_MAX_BYTES);
  lt_wait_init(&mcp->event, loop);
  lt_wait_init(&mcp->left, loop);
  mcp->state = LT_MCP_STARTING;
  lt_status status = LT_E_NOMEM;
  if (!mcp_client_copy_options(mcp, options)) {
    lt_fail(err, status, "no memory for an MCP server");
  } else {
    status = lt_loop_spawn(loop, lt_mcp_lifecycle_run, mcp, err);
  }
  if (status != LT_OK) {
    mcp_client_release(mcp);
    lt_mcp_free(mcp);
    return status;
  }
  mcp->living = true;
  if (mcp->o.list_file != NULL && !mcp->o.starts_at_once) {
    lt_mcp_tools_load(mcp);
  }
  if (mcp->o.waits_for_call) {
    mcp->state = LT_MCP_IDLE;
  }
  *ret_mcp = mcp;
  return LT_OK;
}

void lt_mcp_drain(lt_mcp *mcp, lt_cancel *hurry) {
  lt_cancel_node node;
  lt_cancel_add(hurry, &node, &mcp->left);
  while (mcp->calls > 0 && hurry->why == LT_OK) {
    (void)lt_wait_on(&mcp->left, UINT64_MAX);
  }
  lt_cancel_remove(hurry, &node);
}

void lt_mcp_shut_down(lt_mcp *mcp) {
  mcp->closing = true;
  lt_fail(&mcp->why, LT_E_CLOSED, "MCP server \"%.*s\": it is being shut down", LT_STR_ARG(mcp->o.name));
  lt_mcp_state_set(mcp, LT_MCP_CLOSED);
  if (mcp->session) {
    LT_ERR_VAR(why);
    lt_fail(&why, LT_E_CLOSED, "the server is being shut down");
    lt_mcp_session_end(mcp->session, &why);
  }
  lt_wait_wake(&mcp->event, LT_OK);
  while (mcp->living || mcp->users > 0) {
    lt_wait_on(&mcp->left, UINT64_MAX);
  }
  mcp_client_release(mcp);
}

void lt_mcp_close(lt_mcp *mcp) {
  if (mcp != NULL) {
    lt_mcp_shut_down(mcp);
    lt_mcp_free(mcp);
  }
}

lt_str lt_mcp_name(const lt_mcp *mcp) {
  return mcp->o.name;
}
