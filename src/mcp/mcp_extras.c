#include "mcp/mcp_extras.h"

#include "base/limits.h"

struct lt_mcp_extras_waiter {
  lt_mcp_extras_waiter *next;
  lt_wait wait;
};

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* One page. `params` becomes those of the next one; empty: there is none. */
static lt_status mcp_extras_read_page(lt_mcp *mcp, const char *method, const char *key, lt_buf *params,
                                      lt_json_writer *w, lt_err *err) LT_YIELDS {
  static const lt_mcp_call_options none = {0};
  lt_mcp_result page;
  LT_AUTO_BUF(asked, LT_MCP_LINE_MAX_BYTES);
  lt_buf_add(&asked, lt_buf_view(params));
  lt_buf_clear(params);
  lt_mcp_session_request request = {
      .method = method, .arguments = lt_buf_view(&asked), .options = &none, .timeout_ms = mcp->o.start_timeout_ms};
  LT_TRY(lt_mcp_session_call(mcp->session, &request, &page, err));
  page.result.doc = &page.doc;
  for (lt_json_iter it = lt_json_each(lt_json_get(page.result, key)); lt_json_next(&it);) {
    if (lt_json_typeof(it.value) == LT_JSON_OBJECT) {
      lt_json_put_raw(w, lt_json_text(it.value));
    }
  }
  lt_json cursor = lt_json_get(page.result, "nextCursor");
  if (lt_json_typeof(cursor) == LT_JSON_STRING && !lt_json_str_eq(cursor, LT_STR(""))) {
    lt_json_writer p = lt_json_writer_on(params);
    lt_json_begin_object(&p);
    lt_json_key(&p, "cursor");
    lt_json_put_raw(&p, lt_json_text(cursor));
    lt_json_end_object(&p);
  }
  lt_mcp_result_release(&page);
  return lt_buf_check(w->buf, err, "the server's lists are too long");
}

static lt_status mcp_extras_read_list(lt_mcp *mcp, const char *method, const char *key, lt_json_writer *w,
                                      lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_buf_addc(&params, "{}");
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (size_t pages = 0; params.n > 0; pages++) {
    if (pages == LT_MCP_PAGES_MAX) {
      return lt_fail(err, LT_E_LIMIT, "the server's answer to %s has more than %d pages", method, LT_MCP_PAGES_MAX);
    }
    LT_TRY(mcp_extras_read_page(mcp, method, key, &params, w, err));
  }
  lt_json_end_array(w);
  return LT_OK;
}

static lt_status mcp_extras_read_all(lt_mcp *mcp, const lt_mcp_features *features, lt_buf *out, lt_err *err) LT_YIELDS {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  if (features->resources) {
    LT_TRY(mcp_extras_read_list(mcp, "resources/list", "resources", &w, err));
    /* Many servers with resources do not know the method. */
    LT_AUTO_BUF(templates, LT_MCP_LIST_MAX_BYTES);
    lt_json_writer t = lt_json_writer_on(&templates);
    lt_json_begin_object(&t);
    lt_status status = mcp_extras_read_list(mcp, "resources/templates/list", "resourceTemplates", &t, NULL);
    if (status == LT_OK) { /* else it is open somewhere inside */
      lt_json_end_object(&t);
    }
    lt_json_key(&w, "templates");
    lt_json_put_raw(&w, status == LT_OK ? lt_buf_view(&templates) : LT_STR("{}"));
  }
  if (features->prompts) {
    LT_TRY(mcp_extras_read_list(mcp, "prompts/list", "prompts", &w, err));
  }
  lt_json_key(&w, "subscribe");
  lt_json_put_bool(&w, features->subscribe);
  lt_json_key(&w, "completions");
  lt_json_put_bool(&w, features->completions);
  lt_json_end_object(&w);
  return lt_buf_check(out, err, "the server's lists are too long");
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */

bool lt_mcp_extras_are_due(const lt_mcp *mcp) {
  return mcp->wants_extras && mcp->session != NULL && !lt_mcp_session_ended(mcp->session) &&
         (mcp->extras.n == 0 || lt_mcp_session_has_new_extras(mcp->session));
}

void lt_mcp_extras_wake(lt_mcp *mcp) {
  for (lt_mcp_extras_waiter *w = mcp->extras_waiters; w != NULL; w = w->next) {
    lt_wait_wake(&w->wait, LT_OK);
  }
}

static void mcp_extras_tell(lt_mcp *mcp) {
  if (mcp->listener.on_notice != NULL) {
    const lt_mcp_notice notice = {.mcp = mcp, .kind = LT_MCP_NOTICE_EXTRAS};
    mcp->listener.on_notice(mcp->listener.arg, &notice);
  }
}

void lt_mcp_extras_read(lt_mcp *mcp) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(all, LT_MCP_LIST_MAX_BYTES);
  lt_mcp_features features = lt_mcp_session_take_features(mcp->session);
  if (mcp_extras_read_all(mcp, &features, &all, &err) != LT_OK) {
    if (lt_mcp_session_ended(mcp->session)) {
      return; /* the next session is asked */
    }
    lt_err_prefix(&err, "its resources and prompts cannot be listed");
    lt_mcp_client_warn(mcp, lt_str_of(lt_err_msg(&err)));
    lt_buf_clear(&all);
    lt_buf_addc(&all, "{}");
  }
  bool is_new = mcp->extras.n > 0 && !lt_str_eq(lt_buf_view(&mcp->extras), lt_buf_view(&all));
  lt_buf_clear(&mcp->extras);
  lt_buf_add(&mcp->extras, lt_buf_view(&all));
  lt_mcp_extras_wake(mcp);
  if (is_new) {
    mcp_extras_tell(mcp);
  }
}

void lt_mcp_extras_load(lt_mcp *mcp, lt_str extras) {
  lt_buf_clear(&mcp->extras);
  lt_buf_add(&mcp->extras, extras);
}

/* --- Asking for them ---------------------------------------------------------------------------------------------- */

lt_str lt_mcp_extras(const lt_mcp *mcp) {
  return lt_buf_view(&mcp->extras);
}

void lt_mcp_want_extras(lt_mcp *mcp, bool is_now) {
  mcp->wants_extras = true;
  if (is_now && mcp->extras.n == 0) {
    mcp->is_wanted = true;
  }
  lt_wait_wake(&mcp->event, LT_OK);
}

void lt_mcp_wait_extras(lt_mcp *mcp, lt_cancel *cancel) {
  lt_cancel_node node;
  lt_mcp_extras_waiter me = {.next = mcp->extras_waiters};
  lt_mcp_want_extras(mcp, true);
  lt_wait_init(&me.wait, mcp->loop);
  lt_mcp_state_add_user(mcp);
  mcp->extras_waiters = &me;
  lt_cancel_add(cancel, &node, &me.wait);
  while (mcp->extras.n == 0 && mcp->state != LT_MCP_DOWN && mcp->state != LT_MCP_CLOSED &&
         (cancel == NULL || cancel->why == LT_OK)) {
    (void)lt_wait_on(&me.wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  lt_mcp_extras_waiter **at = &mcp->extras_waiters;
  while (*at != &me) {
    at = &(*at)->next;
  }
  *at = me.next;
  lt_mcp_state_remove_user(mcp);
}
