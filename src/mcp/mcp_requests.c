#include "mcp/mcp_requests.h"

#include "mcp/mcp_peer_text.h"

void lt_mcp_requests_init(lt_mcp_requests *calls, lt_loop *loop) {
  *calls = (lt_mcp_requests){.loop = loop};
}

/* "The request ID MUST NOT have been previously used by the requestor within the same session." (Overview, Requests) */
void lt_mcp_requests_enter(lt_mcp_requests *calls, lt_mcp_request *request) {
  request->id = ++calls->last_id;
  request->done = false;
  request->is_entered = true;
  request->is_unheard = false;
  request->http_status = 0;
  request->code = 0;
  request->suspect = false;
  request->status = LT_OK;
  request->err = LT_ERR_INIT;
  lt_wait_init(&request->wait, calls->loop);
  request->next = NULL;
  request->prev = calls->last;
  *(calls->last ? &calls->last->next : &calls->first) = request;
  calls->last = request;
}

static void mcp_requests_take_out(lt_mcp_requests *calls, lt_mcp_request *request) {
  *(request->prev ? &request->prev->next : &calls->first) = request->next;
  *(request->next ? &request->next->prev : &calls->last) = request->prev;
  request->prev = request->next = NULL;
  request->is_entered = false;
}

static void mcp_requests_finish(lt_mcp_requests *calls, lt_mcp_request *request, lt_status status) {
  mcp_requests_take_out(calls, request);
  request->done = true;
  request->status = status;
  lt_wait_wake(&request->wait, LT_OK);
}

void lt_mcp_requests_leave(lt_mcp_requests *calls, lt_mcp_request *request) {
  if (!request->is_entered) {
    return;
  }
  mcp_requests_take_out(calls, request);
  calls->late[calls->late_next] = request->id;
  calls->late_next = (calls->late_next + 1) % LT_MCP_LATE_IDS;
  if (request->suspect && calls->lost > 0) {
    calls->lost--; /* the lost line counts as its answer */
  }
}

static bool mcp_requests_was_late(lt_mcp_requests *calls, int64_t id) {
  for (size_t i = 0; i < LT_MCP_LATE_IDS; i++) {
    if (calls->late[i] == id) {
      calls->late[i] = 0; /* a second answer is no longer expected */
      return true;
    }
  }
  return false;
}

lt_mcp_request *lt_mcp_requests_find(const lt_mcp_requests *calls, int64_t id) {
  lt_mcp_request *request = calls->first;
  while (request && request->id != id) {
    request = request->next;
  }
  return request;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void mcp_requests_take_answer(lt_mcp_request *request, lt_mcp_result *line, lt_json result) {
  request->answer = *line;
  request->answer.result = (lt_json){&request->answer.doc, result.at};
  lt_arena_init(&line->arena, LT_MCP_MESSAGE_MEMORY_BYTES);
}

/* "Error responses MUST include an `error` field with a `code` and `message`." (Overview, Error Responses) */
static lt_status mcp_requests_read_error(lt_mcp_request *request, lt_json error, lt_arena *arena,
                                         const lt_secrets *secrets) {
  lt_err *err = &request->err;
  int64_t code = 0;
  bool has_code = lt_json_int(lt_json_get(error, "code"), &code);
  lt_str text = LT_STR_NULL;
  if (!has_code || !lt_json_str(lt_json_get(error, "message"), arena, &text)) {
    return lt_fail(err, LT_E_PROTOCOL, "the server answered with an error that has no code and message");
  }
  request->code = code;
  request->is_modern_elsewhere = lt_mcp_version_in(lt_json_get(lt_json_get(error, "data"), "supported"));
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  lt_mcp_peer_text_add(&words, text, LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES, secrets);
  lt_status status = code == LT_MCP_INVALID_PARAMS ? LT_E_INVALID : LT_E_PROTOCOL;
  lt_fail(err, status, "the server answered with error %lld: %.*s", (long long)code, LT_STR_ARG(lt_buf_view(&words)));
  return status;
}

static lt_status mcp_requests_read_answer(lt_mcp_request *request, const lt_mcp_message *message, lt_mcp_result *line,
                                          const lt_secrets *secrets) {
  if (lt_json_exists(message->error)) {
    return mcp_requests_read_error(request, message->error, &line->arena, secrets);
  }
  if (lt_json_typeof(message->result) != LT_JSON_OBJECT) {
    return lt_fail(&request->err, LT_E_PROTOCOL, "the server's answer has no result: expected an object, got %s",
                   lt_json_type_name(lt_json_typeof(message->result)));
  }
  mcp_requests_take_answer(request, line, message->result);
  return LT_OK;
}

static bool mcp_requests_resolve_lost(lt_mcp_requests *calls);

lt_mcp_answered lt_mcp_requests_answer(lt_mcp_requests *calls, const lt_mcp_message *message, lt_mcp_result *line,
                                       const lt_secrets *secrets) {
  int64_t id;
  if (!lt_mcp_id_read(message->id, &id)) {
    return LT_MCP_ANSWERED_NONE;
  }
  lt_mcp_request *request = lt_mcp_requests_find(calls, id);
  if (!request) {
    return mcp_requests_was_late(calls, id) ? LT_MCP_ANSWERED_LATE : LT_MCP_ANSWERED_NONE;
  }
  mcp_requests_finish(calls, request, mcp_requests_read_answer(request, message, line, secrets));
  mcp_requests_resolve_lost(calls);
  return LT_MCP_ANSWERED;
}

void lt_mcp_requests_progress(lt_mcp_requests *calls, lt_json params, lt_arena *arena) {
  int64_t token;
  double progress;
  double total = 0;
  lt_str text = LT_STR_NULL;
  if (!lt_mcp_id_read(lt_json_get(params, "progressToken"), &token) ||
      !lt_json_double(lt_json_get(params, "progress"), &progress)) {
    return;
  }
  lt_mcp_request *request = lt_mcp_requests_find(calls, token);
  if (!request || !request->on_progress) {
    return;
  }
  lt_json_double(lt_json_get(params, "total"), &total);
  lt_json_str(lt_json_get(params, "message"), arena, &text);
  request->on_progress(request->arg, progress, total, text);
}

/* --- Lost lines --------------------------------------------------------------------------------------------------- */

/* When there are as many suspects as lost lines, every suspect's answer is lost. */
static bool mcp_requests_resolve_lost(lt_mcp_requests *calls) {
  size_t suspects = 0;
  for (lt_mcp_request *r = calls->first; r; r = r->next) {
    suspects += r->suspect;
  }
  if (calls->lost == 0 || suspects > calls->lost) {
    return false;
  }
  calls->lost = 0;
  for (lt_mcp_request *r = calls->first, *next; r; r = next) {
    next = r->next;
    if (r->suspect) {
      mcp_requests_finish(
          calls, r,
          lt_fail(&r->err, LT_E_LIMIT, "the server's answer is %s: ask the tool for less at once", calls->lost_how));
    }
  }
  return true;
}

bool lt_mcp_requests_lost_line(lt_mcp_requests *calls, const char *how) {
  calls->lost_how = how;
  if (!calls->first) {
    return false;
  }
  for (lt_mcp_request *r = calls->first; r; r = r->next) {
    r->suspect = true;
  }
  calls->lost++;
  return mcp_requests_resolve_lost(calls);
}

static void mcp_requests_fail_one(lt_mcp_requests *calls, lt_mcp_request *request, const lt_err *err) {
  request->err = *err;
  mcp_requests_finish(calls, request, err->status);
}

bool lt_mcp_requests_fail(lt_mcp_requests *calls, int64_t id, const lt_err *err) {
  lt_mcp_request *request = lt_mcp_requests_find(calls, id);
  if (request) {
    mcp_requests_fail_one(calls, request, err);
    mcp_requests_resolve_lost(calls);
  }
  return request != NULL;
}

void lt_mcp_requests_refuse(lt_mcp_requests *calls, int64_t id, int http_status, lt_json error,
                            const lt_secrets *secrets) {
  lt_mcp_request *request = lt_mcp_requests_find(calls, id);
  if (request != NULL) {
    LT_AUTO_ARENA(arena, LT_MIB);
    request->http_status = http_status;
    mcp_requests_finish(calls, request, mcp_requests_read_error(request, error, &arena, secrets));
    mcp_requests_resolve_lost(calls);
  }
}

void lt_mcp_requests_fail_all(lt_mcp_requests *calls, const lt_err *err) {
  while (calls->first) {
    mcp_requests_fail_one(calls, calls->first, err);
  }
}
