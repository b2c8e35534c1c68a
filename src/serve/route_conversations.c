/* Conversations, and the artifacts that came of them. */
#include "agent/conversation_summary.h"
#include "serve/serve_events.h"
#include "serve/serve_limits.h"
#include "serve/serve_routes.h"
#include "store/store_prompts.h"
#include "store/store_summaries.h"
#include "store/store_upkeep.h"
#include "text/base64.h"
#include "text/secrets.h"

/* --- Conversations ------------------------------------------------------------------------------------------------ */
/* A page has a cursor when there may be more behind it. */
static lt_status conversations_put_page(lt_serve_request *r, lt_str list, int64_t limit, lt_err *err) {
  lt_json_doc doc;
  lt_json last = {NULL, 0};
  LT_TRY(lt_json_parse(r->arena, list, &doc, err));
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "conversations");
  lt_json_put_raw(&r->w, list);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    last = it.value;
  }
  if (lt_json_count(lt_json_root(&doc)) == (uint32_t)limit) {
    lt_str id = LT_STR_NULL, used_at = LT_STR_NULL;
    (void)lt_json_str(lt_json_get(last, "id"), r->arena, &id);
    (void)lt_json_str(lt_json_get(last, "updatedAt"), r->arena, &used_at);
    lt_json_key(&r->w, "nextCursor");
    lt_json_put_str(&r->w, lt_arena_printf(r->arena, "%.*s~%.*s", LT_STR_ARG(used_at), LT_STR_ARG(id)));
  }
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status conversations_list(lt_serve_request *r, lt_err *err) LT_YIELDS {
  int64_t limit;
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_serve_request_number(r, "limit", 1, LT_SERVE_PAGE_MAX, LT_SERVE_PAGE, &limit, err));
  lt_str cursor = lt_serve_request_query(r, "cursor");
  size_t tilde = lt_str_find(cursor, LT_STR("~"), 0);
  if (cursor.n > 0 && tilde == SIZE_MAX) {
    return lt_fail(err, LT_E_INVALID, "query.cursor: take it from nextCursor of an answer");
  }
  const lt_conversation_page page = {.user = r->user,
                                     .text = lt_serve_request_query(r, "query"),
                                     .used_at = lt_str_sub(cursor, 0, tilde),
                                     .id = lt_str_sub(cursor, tilde + 1, cursor.n),
                                     .max = (size_t)limit};
  LT_TRY(lt_store_conversation_page(lt_serve_store(r->serve), &page, &list, err));
  return conversations_put_page(r, lt_buf_view(&list), limit, err);
}

/* The cursor of a page whose entries are known by their ids: `last` is its last one, or the oldest of prompts. */
static void conversations_put_cursor(lt_serve_request *r, lt_json list, lt_json last, int64_t limit) {
  lt_json id = lt_json_get(last, "id");
  if (lt_json_count(list) == (uint32_t)limit && lt_json_exists(id)) {
    lt_json_key(&r->w, "nextCursor");
    lt_json_put_raw(&r->w, lt_json_text(id));
  }
}

static lt_status conversations_get(lt_serve_request *r, lt_err *err) LT_YIELDS {
  int64_t limit;
  lt_json_doc doc;
  LT_AUTO_BUF(about, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(prompts, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  LT_TRY(lt_serve_request_number(r, "limit", 1, LT_PROMPT_HISTORY_MAX, LT_SERVE_PAGE, &limit, err));
  lt_store *store = lt_serve_store(r->serve);
  LT_TRY(lt_store_conversation_get(store, r->user, r->id, &about, err));
  LT_TRY(lt_store_history_before(store, r->user, r->id, lt_serve_request_query(r, "cursor"), (size_t)limit, &prompts,
                                 err));
  LT_TRY(lt_store_summary_get(store, r->user, r->id, &summary, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&prompts), &doc, err));
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "conversation");
  lt_json_put_raw(&r->w, lt_buf_view(&about));
  lt_json_key(&r->w, "prompts");
  lt_json_put_raw(&r->w, lt_buf_view(&prompts));
  if (summary.n > 0) {
    lt_json_key(&r->w, "summary");
    lt_json_put_raw(&r->w, lt_buf_view(&summary));
  }
  conversations_put_cursor(r, lt_json_root(&doc), lt_json_at(lt_json_root(&doc), 0), limit);
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* The user's other readers see the change, too. `value` is JSON. */
static void conversations_tell_change(const lt_serve_request *r, const char *member, lt_str value) {
  LT_AUTO_BUF(data, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "conversationId");
  lt_json_put_str(&w, r->id);
  lt_json_key(&w, member);
  lt_json_put_raw(&w, value);
  lt_json_end_object(&w);
  lt_secrets_mask_json_buf(r->serve->session->secrets, &data);
  if (data.status == LT_OK) {
    (void)lt_serve_events_take(r->serve->events, r->user, "conversation.updated", lt_buf_view(&data));
  }
}

static lt_status conversations_change(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_store *store = lt_serve_store(r->serve);
  lt_str title = lt_serve_request_text(r, "title");
  LT_TRY(lt_store_conversation_set_title(store, r->user, r->id, title, err));
  conversations_tell_change(r, "title", lt_json_text(lt_json_get(r->body, "title")));
  return lt_store_conversation_get(store, r->user, r->id, &r->answer->body, err);
}

/* The model works for the request, which counts as a prompt. When the client goes away, it ends. */
static lt_status conversations_compact(lt_serve_request *r, lt_err *err) LT_YIELDS {
  const lt_compact_request request = {
      .user = r->user, .conversation = r->id, .model = lt_serve_request_text(r, "model"), .cancel = r->call->cancel};
  LT_AUTO_BUF(summary, LT_JSON_MAX_BYTES);
  if (!lt_serve_limits_take(r, LT_SERVE_SEAT_PROMPT)) {
    return LT_OK;
  }
  lt_status status = lt_conversation_compact(r->serve->agent, &request, &summary, err);
  if (status == LT_E_INVALID) { /* nothing but a prompt that has not ended */
    return lt_serve_request_refuse(r, 409, "busy", "%s", lt_err_msg(err));
  }
  LT_TRY(status);
  conversations_tell_change(r, "summary", lt_buf_view(&summary));
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "summary");
  lt_json_put_raw(&r->w, lt_buf_view(&summary));
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status route_delete_conversation(lt_serve_request *r, lt_err *err) LT_YIELDS {
  bool is_done = false;
  while (!is_done) {
    lt_status status =
        lt_store_conversation_remove(lt_serve_store(r->serve), r->user, r->id, LT_TRIM_ROWS, &is_done, err);
    if (status == LT_E_INVALID) { /* nothing but a prompt that has not ended */
      return lt_serve_request_refuse(r, 409, "busy", "%s", lt_err_msg(err));
    }
    LT_TRY(status);
  }
  r->answer->status = 204;
  r->answer->content_type = NULL;
  return LT_OK;
}

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
/* The bytes as they were stored: JSON as it is, a text's characters, anything else from base64. */
static void artifact_put_bytes(lt_serve_request *r, lt_json artifact, lt_str type) {
  lt_json data = lt_json_get(artifact, "data");
  lt_str text = LT_STR_NULL;
  bool is_json = lt_str_starts(type, LT_STR("application/json")) || !lt_json_str(data, r->arena, &text);
  if (is_json) {
    lt_buf_add(&r->answer->body, lt_json_text(data));
  } else if (lt_str_starts(type, LT_STR("text/"))) {
    lt_buf_add(&r->answer->body, text);
  } else {
    lt_base64_decode(text, &r->answer->body);
  }
}

/* What a tool made must not run as a page of this server. */
static lt_status route_get_artifact(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str type = LT_STR_NULL;
  LT_AUTO_BUF(json, LT_GIB);
  LT_TRY(lt_store_artifact_get(lt_serve_store(r->serve), r->user, r->id, &json, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&json), &doc, err));
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "mimeType"), r->arena, &type);
  artifact_put_bytes(r, lt_json_root(&doc), type);
  r->answer->content_type = NULL;
  lt_http_answer_header(r->answer, "Content-Type", type.n > 0 ? type : LT_STR("application/octet-stream"));
  lt_http_answer_header(r->answer, "Content-Disposition",
                        lt_arena_printf(r->arena, "attachment; filename=\"%.*s\"", LT_STR_ARG(r->id)));
  lt_http_answer_header(r->answer, "Content-Security-Policy", LT_STR("default-src 'none'; sandbox"));
  lt_http_answer_header(r->answer, "Cross-Origin-Resource-Policy", LT_STR("same-origin"));
  return LT_OK;
}

static lt_status route_list_artifacts(lt_serve_request *r, lt_err *err) LT_YIELDS {
  int64_t limit;
  lt_json_doc doc;
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_serve_request_number(r, "limit", 1, LT_ARTIFACTS_LISTED_MAX, LT_SERVE_PAGE, &limit, err));
  LT_TRY(lt_store_artifact_page(lt_serve_store(r->serve), r->user, lt_serve_request_query(r, "cursor"), (size_t)limit,
                                &list, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&list), &doc, err));
  lt_json all = lt_json_root(&doc);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "artifacts");
  lt_json_put_raw(&r->w, lt_buf_view(&list));
  conversations_put_cursor(r, all, lt_json_at(all, lt_json_count(all) > 0 ? lt_json_count(all) - 1 : 0), limit);
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
#define LIMIT(max) "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" max "}"

static const lt_serve_parameter conversations_query[] = {
    {"limit", LIMIT("200"), "entries of a page"},
    {"query", "{\"type\":\"string\"}", "only those that have it in their title, a message or an answer"},
    {"cursor", "{\"type\":\"string\"}", "nextCursor of the page before"},
    {NULL},
};
static const lt_serve_parameter conversation_query[] = {
    {"limit", LIMIT("1000"), "the last so many prompts"},
    {"cursor", "{\"type\":\"string\"}", "nextCursor of the page before: older prompts"},
    {NULL},
};
static const lt_serve_parameter artifacts_query[] = {
    {"limit", LIMIT("1000"), "entries of a page"},
    {"cursor", "{\"type\":\"string\"}", "nextCursor of the page before"},
    {NULL},
};

#define CONVERSATION "{\"$ref\":\"#/components/schemas/Conversation\"}"
#define SUMMARY                                                                                                     \
  "{\"type\":\"object\",\"required\":[\"upTo\",\"text\"],\"description\":\"what the model is told in place of its " \
  "earliest prompts\",\"properties\":{\"upTo\":{\"type\":\"string\",\"description\":\"the id of the last one\"},"   \
  "\"text\":{\"type\":\"string\"}}}"
#define CURSOR ",\"nextCursor\":{\"type\":\"string\"}"
#define LIST(name, of)                                                       \
  "{\"type\":\"object\",\"required\":[\"" name "\"],\"properties\":{\"" name \
  "\":{\"type\":\"array\",\"items\":{"                                       \
  "\"$ref\":\"#/components/schemas/" of "\"}}" CURSOR "}}"

const lt_serve_route lt_route_conversations_rows[] = {
    {"GET", "/conversations", "listConversations", "Conversations, last used first.",
     .answer = LIST("conversations", "Conversation"), .query = conversations_query, .handle = conversations_list},
    {"GET", "/conversations/{id}", "getConversation", "A conversation with its prompts, oldest first.",
     .answer =
         "{\"type\":\"object\",\"required\":[\"conversation\",\"prompts\"],\"properties\":{"
         "\"conversation\":" CONVERSATION
         ",\"prompts\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Prompt\"}},\"summary\":" SUMMARY
             CURSOR "}}",
     .query = conversation_query, .handle = conversations_get},
    {"PATCH", "/conversations/{id}", "changeConversation", "Sets the title.",
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"title\"],\"properties\":{"
             "\"title\":{\"type\":\"string\",\"maxLength\":200}}}",
     .answer = CONVERSATION, .handle = conversations_change},
    {"POST", "/conversations/{id}/compact", "compactConversation",
     "Has the model summarise what was said, and answers when it has; 409: a prompt of it has not ended.",
     .flags = LT_SERVE_BODY_OPTIONAL | LT_SERVE_MAY_CONFLICT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"model\":{\"type\":\"string\","
             "\"description\":\"a ref of GET /models; absent: the default\"}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"summary\"],\"properties\":{\"summary\":" SUMMARY "}}",
     .handle = conversations_compact},
    {"DELETE", "/conversations/{id}", "deleteConversation",
     "Removes a conversation with all that belongs to it; 409: a prompt of it has not ended.",
     .flags = LT_SERVE_MAY_CONFLICT, .handle = route_delete_conversation},
    {"GET", "/artifacts", "listArtifacts", "Artifacts, newest first, without their data.",
     .answer = LIST("artifacts", "Artifact"), .query = artifacts_query, .handle = route_list_artifacts},
    {"GET", "/artifacts/{id}", "getArtifact", "The bytes of an artifact, as an attachment.",
     .flags = LT_SERVE_HAS_OWN_TYPE, .handle = route_get_artifact},
    {NULL},
};
