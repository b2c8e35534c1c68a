/* What the server sends: messages, and what is none. */
#include "base/limits.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_session_impl.h"

/* --- What is no message ------------------------------------------------------------------------------------------- */

/* Answers to the requests in one line: a batch is answered with a batch. */
typedef struct mcp_replies {
  lt_buf buf;
  lt_json_writer w;
  bool batch;
  size_t count;
} mcp_replies;

/* "The server MUST NOT write anything to its `stdout` that is not a valid MCP message." (Transports, stdio) Many do. */
static void mcp_inbox_on_noise(void *arg, lt_str line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  if (!lt_mcp_link_is_process(s->link)) {
    return; /* the request that has no answer then says so */
  }
  if (s->noise++ == 0) {
    lt_mcp_session_warn(
        s, "writes to its stdout what is not a JSON-RPC message (it should log to stderr); skipped: ", line);
  }
  if (s->noise > LT_MCP_NOISE_LINES_MAX) {
    LT_ERR_VAR(why);
    lt_fail(&why, LT_E_PROTOCOL,
            "the server was given up: more than %d lines on its stdout are not JSON-RPC messages. Check that its "
            "command starts an MCP server over stdio, and that it logs to stderr",
            LT_MCP_NOISE_LINES_MAX);
    lt_mcp_session_end(s, &why);
  }
}

/* Fails the request that the lost line belongs to. If that request is unknown, the lost line becomes a warning. */
static void mcp_inbox_on_lost(void *arg, const char *how) {
  lt_mcp_session *s = arg;
  if (!s->ended && !lt_mcp_requests_lost_line(&s->calls, how)) {
    lt_mcp_session_warn(s, "sent a message that was dropped: it is ", lt_str_of(how));
  }
}

static void mcp_inbox_take_garbled(lt_mcp_session *s, lt_json message, lt_str line) {
  lt_mcp_message m = lt_mcp_message_read(message);
  int64_t id;
  LT_ERR_VAR(why);
  lt_fail(&why, LT_E_PROTOCOL,
          "the server's answer is not UTF-8: let it write UTF-8 to its stdout (a server in Python: PYTHONUTF8=1 in "
          "its env)");
  if (lt_json_exists(message) && m.kind != LT_MCP_RESPONSE) {
    mcp_inbox_on_noise(s, line);
  } else if (m.kind == LT_MCP_RESPONSE && lt_mcp_id_read(m.id, &id)) {
    lt_mcp_requests_fail(&s->calls, id, &why);
  } else if (s->calls.first != NULL) {
    lt_mcp_requests_fail_all(&s->calls, &why); /* it is the answer to one of them */
  } else {
    mcp_inbox_on_noise(s, line);
  }
}

/* Fails the request of the answer; all requests when the answer's id cannot be read. */
static void mcp_inbox_on_garbled(void *arg, lt_mcp_result *line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  if (lt_json_typeof(line->result) != LT_JSON_ARRAY) {
    mcp_inbox_take_garbled(s, line->result, line->doc.text);
    return;
  }
  for (lt_json_iter it = lt_json_each(line->result); lt_json_next(&it);) {
    mcp_inbox_take_garbled(s, it.value, lt_json_text(it.value));
  }
}

static void mcp_inbox_reply(lt_mcp_session *s, mcp_replies *r, const lt_mcp_message *m, lt_str text) {
  if (lt_mcp_questions_take(s, m, text)) {
    return;
  }
  if (r->batch && r->count == 0) {
    lt_json_begin_array(&r->w);
  }
  r->count++;
  lt_str id = lt_json_text(m->id);
  if (lt_json_str_eq(m->method, LT_STR("ping"))) {
    /* "The receiver MUST respond promptly with an empty response" (Ping, Behavior Requirements) */
    lt_mcp_put_empty_result(&r->w, id);
  } else {
    lt_mcp_put_error(&r->w, id, LT_MCP_METHOD_NOT_FOUND, "Method not found");
  }
}

/* "error: Error conditions" and the like (Logging, Log Levels); a server may send more than it was asked for. */
static bool mcp_inbox_is_serious(lt_json level) {
  static const char *const levels[] = {"warning", "error", "critical", "alert", "emergency"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (lt_json_str_eq(level, lt_str_of(levels[i]))) {
      return true;
    }
  }
  return false;
}

static void mcp_inbox_show_log(lt_mcp_session *s, lt_json params, lt_arena *arena) {
  lt_json data = lt_json_get(params, "data");
  lt_str text = lt_json_text(data);
  if (!mcp_inbox_is_serious(lt_json_get(params, "level")) || s->log_messages > LT_MCP_LOG_MESSAGES_MAX) {
    return;
  }
  if (lt_json_typeof(data) == LT_JSON_STRING && !lt_json_str(data, arena, &text)) {
    return;
  }
  bool is_last = s->log_messages++ == LT_MCP_LOG_MESSAGES_MAX;
  lt_mcp_session_warn(s, is_last ? "has more to log, which is not shown" : "logs: ", is_last ? LT_STR_NULL : text);
}

static bool mcp_inbox_is_about_extras(lt_json method) {
  return lt_json_str_eq(method, LT_STR("notifications/resources/list_changed")) ||
         lt_json_str_eq(method, LT_STR("notifications/prompts/list_changed"));
}

static void mcp_inbox_notice(lt_mcp_session *s, const lt_mcp_message *m, lt_arena *arena) {
  lt_mcp_notice notice = {.kind = LT_MCP_NOTICE_LOG, .params = m->params};
  if (lt_json_str_eq(m->method, LT_STR("notifications/tools/list_changed"))) {
    s->changed = true;
    s->o.on_change(s->o.arg);
  } else if (lt_json_str_eq(m->method, LT_STR("notifications/progress"))) {
    lt_mcp_requests_progress(&s->calls, m->params, arena);
  } else if (lt_json_str_eq(m->method, LT_STR("notifications/cancelled"))) {
    lt_mcp_questions_cancel(s, lt_json_get(m->params, "requestId"));
  } else if (lt_json_str_eq(m->method, LT_STR("notifications/message"))) {
    s->o.on_notice(s->o.arg, &notice);
    mcp_inbox_show_log(s, m->params, arena);
  } else if (lt_json_str_eq(m->method, LT_STR("notifications/resources/updated"))) {
    notice.kind = LT_MCP_NOTICE_RESOURCE;
    s->o.on_notice(s->o.arg, &notice);
  } else if (mcp_inbox_is_about_extras(m->method)) {
    s->has_new_extras = true;
    s->o.on_change(s->o.arg);
  }
}

static void mcp_inbox_take_answer(lt_mcp_session *s, const lt_mcp_message *m, lt_mcp_result *line) {
  if (lt_mcp_requests_answer(&s->calls, m, line, s->o.server->secrets) == LT_MCP_ANSWERED_NONE && !s->warned_answer) {
    s->warned_answer = true;
    lt_mcp_session_warn(s,
                        "sent an answer that no request waits for; ignored: ", lt_json_text(lt_json_root(&line->doc)));
  }
}

static void mcp_inbox_take_message(lt_mcp_session *s, lt_mcp_result *line, mcp_replies *r) {
  lt_mcp_message m = lt_mcp_message_read(lt_json_root(&line->doc));
  switch (m.kind) {
    case LT_MCP_NOISE:
      mcp_inbox_on_noise(s, line->doc.text);
      break;
    case LT_MCP_REQUEST:
      mcp_inbox_reply(s, r, &m, line->doc.text);
      break;
    case LT_MCP_NOTIFICATION:
      mcp_inbox_notice(s, &m, &line->arena);
      break;
    case LT_MCP_RESPONSE:
      mcp_inbox_take_answer(s, &m, line);
      break;
  }
}

/* Each message of a batch gets its own document, because an answer outlives the line. */
static void mcp_inbox_take_batch_item(lt_mcp_session *s, lt_str text, mcp_replies *r) {
  lt_mcp_result item = {0};
  lt_arena_init(&item.arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_str copy = lt_arena_dup(&item.arena, text);
  if (!copy.p || lt_json_parse(&item.arena, copy, &item.doc, NULL) != LT_OK) {
    mcp_inbox_on_lost(s, "too large to be read with the memory there is");
  } else {
    mcp_inbox_take_message(s, &item, r);
  }
  lt_arena_release(&item.arena);
}

static void mcp_inbox_send_replies(lt_mcp_session *s, mcp_replies *r) {
  if (r->count > 0 && !s->ended) {
    if (r->batch) {
      lt_json_end_array(&r->w);
    }
    lt_buf_byte(&r->buf, '\n');
    lt_mcp_link_send(s->link, &r->buf, &(lt_mcp_outgoing){0},
                     NULL); /* a server that does not read does not get its answers */
  }
  lt_buf_release(&r->buf);
}

static void mcp_inbox_on_line(void *arg, lt_mcp_result *line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  mcp_replies r = {0};
  lt_buf_init(&r.buf, LT_MCP_LINE_MAX_BYTES);
  r.w = lt_json_writer_on(&r.buf);
  r.batch = lt_json_typeof(line->result) == LT_JSON_ARRAY;
  if (!r.batch) {
    mcp_inbox_take_message(s, line, &r);
  } else {
    /* "MCP implementations MAY support sending JSON-RPC batches, but MUST support receiving JSON-RPC batches."
     * (2025-03-26, Overview, Batching; gone since 2025-06-18) */
    lt_json_iter it = lt_json_each(line->result);
    while (lt_json_next(&it)) {
      mcp_inbox_take_batch_item(s, lt_json_text(it.value), &r);
    }
  }
  mcp_inbox_send_replies(s, &r);
}

/* --- The end, and what failed alone ------------------------------------------------------------------------------- */

static void mcp_inbox_on_end(void *arg, lt_status status) {
  lt_mcp_session *s = arg;
  LT_ERR_VAR(why);
  if (status == LT_E_NOMEM) {
    lt_fail(&why, status, "no memory to read what the server says");
  } else {
    const char *exit_text = lt_mcp_link_exit_text(s->link);
    LT_AUTO_BUF(text, 4 * LT_KIB);
    lt_buf_addc(&text, exit_text ? exit_text : "closed its connection without exiting");
    lt_mcp_session_add_noise(s, &text);
    lt_mcp_session_add_stderr(s, &text);
    lt_fail(&why, LT_E_CLOSED, "the server %.*s", LT_STR_ARG(lt_buf_view(&text)));
  }
  lt_mcp_session_end(s, &why);
}

static bool mcp_inbox_is_awaited(void *arg, int64_t id) {
  const lt_mcp_session *s = arg;
  return !s->ended && lt_mcp_requests_find(&s->calls, id) != NULL;
}

static bool mcp_inbox_is_about_access(int http_status) {
  return http_status == 401 || http_status == 403;
}

static void mcp_inbox_on_refused(void *arg, const lt_mcp_refusal *refusal) {
  lt_mcp_session *s = arg;
  lt_mcp_request *request = s->ended ? NULL : lt_mcp_requests_find(&s->calls, refusal->id);
  if (request == NULL) {
    return;
  }
  request->is_unheard = refusal->is_unheard;
  request->http_status = refusal->http_status;
  if (refusal->is_unheard) {
    return; /* the end of the session follows */
  }
  if (lt_json_exists(refusal->error) && !mcp_inbox_is_about_access(refusal->http_status)) {
    lt_mcp_requests_refuse(&s->calls, refusal->id, refusal->http_status, refusal->error, s->o.server->secrets);
  } else {
    lt_mcp_requests_fail(&s->calls, refusal->id, &refusal->err);
  }
}

lt_mcp_link_events lt_mcp_inbox_events(lt_mcp_session *s) {
  return (lt_mcp_link_events){
      .on_line = mcp_inbox_on_line,
      .on_noise = mcp_inbox_on_noise,
      .on_garbled = mcp_inbox_on_garbled,
      .on_lost = mcp_inbox_on_lost,
      .on_refused = mcp_inbox_on_refused,
      .is_awaited = mcp_inbox_is_awaited,
      .on_end = mcp_inbox_on_end,
      .arg = s,
  };
}
