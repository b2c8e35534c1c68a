/* Prompts: asking, looking, deciding. */
#include <stdio.h>

#include "app/write_preview.h"
#include "base/sha256.h"
#include "serve/serve_events.h"
#include "serve/serve_limits.h"
#include "serve/serve_queue.h"
#include "serve/serve_record.h"
#include "serve/serve_routes.h"
#include "store/store_decisions.h"
#include "store/store_events.h"

#define ID    "{\"type\":\"string\",\"maxLength\":64}"
#define TEXT  "{\"type\":\"string\"}"
#define WHICH "\"enum\":[\"call\",\"tool\",\"session\"],\"description\":\"for how long the answer holds\""

/* --- Asking ------------------------------------------------------------------------------------------------------- */
typedef struct prompt_asked {
  lt_prompt_request request;
  lt_prompt_ids ids;
  char id[LT_STORE_ID_BYTES + 1];
} prompt_asked;

static bool prompt_is_open(lt_json prompt) {
  return lt_json_exists(prompt) && !lt_json_exists(lt_json_get(prompt, "completedAt"));
}

/* The prompt that keeps the conversation busy. False: none does. */
static bool prompt_finds_busy(const lt_serve_request *r, const prompt_asked *asked, lt_str *ret_prompt) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(history, LT_JSON_MAX_BYTES);
  return asked->request.conversation.n > 0 &&
         lt_store_history(lt_serve_store(r->serve), r->user, asked->request.conversation, 1, &history, NULL) == LT_OK &&
         lt_json_parse(r->arena, lt_buf_view(&history), &doc, NULL) == LT_OK &&
         prompt_is_open(lt_json_at(lt_json_root(&doc), 0)) &&
         lt_json_str(lt_json_get(lt_json_at(lt_json_root(&doc), 0), "id"), r->arena, ret_prompt) &&
         (*ret_prompt = lt_arena_dup(r->arena, *ret_prompt)).p != NULL;
}

/* The ids of a prompt that was asked for before, under the same key. LT_E_NOTFOUND: it was never started. */
static lt_status prompt_read_ids(const lt_serve_request *r, lt_str id, lt_prompt_ids *ret_ids, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str conversation = LT_STR_NULL;
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_get(lt_serve_store(r->serve), r->user, id, &prompt, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&prompt), &doc, err));
  (void)lt_json_str(lt_json_get(lt_json_root(&doc), "conversationId"), r->arena, &conversation);
  snprintf(ret_ids->prompt, sizeof ret_ids->prompt, "%.*s", LT_STR_ARG(id));
  snprintf(ret_ids->conversation, sizeof ret_ids->conversation, "%.*s", LT_STR_ARG(conversation));
  return LT_OK;
}

/* "If a request with the same key was completed, the same answer" (draft-ietf-httpapi-idempotency-key-header): the key
 * is stored with the prompt's id before the prompt is. */
static lt_status prompt_note_key(const lt_serve_request *r, prompt_asked *asked, bool *ret_is_known,
                                 lt_err *err) LT_YIELDS {
  lt_str key = lt_http_call_header(r->call, "Idempotency-Key");
  *ret_is_known = false;
  if (key.n == 0) {
    return LT_OK;
  }
  if (key.n > LT_SERVE_KEY_BYTES) {
    return lt_fail(err, LT_E_INVALID, "an Idempotency-Key has at most %d bytes", LT_SERVE_KEY_BYTES);
  }
  lt_sha256_hex hash = lt_sha256(r->call->body);
  LT_TRY(lt_store_key_note(lt_serve_store(r->serve), r->user, key, lt_str_of(hash.text), lt_str_of(asked->id),
                           asked->id, err));
  lt_status status = prompt_read_ids(r, lt_str_of(asked->id), &asked->ids, err);
  *ret_is_known = status == LT_OK;
  return status == LT_E_NOTFOUND ? LT_OK : status;
}

static lt_status prompt_refuse_mode(lt_serve_request *r, lt_str mode) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  lt_serve_request_refuse(r, 400, "mode", "Unknown execution mode: \"%.*s\"", LT_STR_ARG(lt_str_sub(mode, 0, 100)));
  lt_agent_mode_names(lt_toolbox_host(r->serve->session->toolbox), &names);
  lt_http_answer_header(r->answer, "X-Modes", lt_buf_view(&names));
  return LT_OK;
}

/* LT_E_INVALID from the agent is about the model, the input or the conversation. `ret_busy`: the prompt that the
 * conversation is busy with, or empty. */
static lt_status prompt_start(const lt_serve_request *r, prompt_asked *asked, lt_str *ret_busy, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  *ret_busy = LT_STR_NULL;
  lt_status status = lt_agent_start(r->serve->agent, &asked->request, &asked->ids, &why);
  if (status == LT_E_INVALID && prompt_read_ids(r, lt_str_of(asked->id), &asked->ids, NULL) == LT_OK) {
    return LT_OK; /* the same request came twice at the same time */
  }
  if (status == LT_E_INVALID && prompt_finds_busy(r, asked, ret_busy)) {
    return LT_OK;
  }
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

/* Waits for the end of a prompt in whatever process. */
static lt_status prompt_await_end(const lt_serve_request *r, lt_str prompt) LT_YIELDS {
  lt_status status = lt_agent_wait(r->serve->agent, prompt, r->call->cancel, NULL);
  if (status == LT_E_NOTFOUND) {
    lt_loop_sleep(r->serve->session->loop, LT_SERVE_BUSY_POLL_MS);
    status = r->call->cancel->why;
  }
  return status;
}

/* Requests that wait for one conversation start their prompts in the order in which they came. A client that is gone
 * has not been answered: its prompt is not started. */
static lt_status prompt_start_when_free(lt_serve_request *r, prompt_asked *asked, lt_err *err) LT_YIELDS {
  lt_serve_place place;
  lt_str busy = LT_STR_NULL;
  lt_serve_queue_enter(&place, r, asked->request.conversation);
  lt_status status = lt_serve_queue_await_turn(&place, r->call->cancel);
  while (status == LT_OK) {
    status = prompt_start(r, asked, &busy, err);
    if (status != LT_OK || busy.n == 0) {
      break;
    }
    status = prompt_await_end(r, busy);
  }
  lt_serve_queue_leave(&place);
  lt_serve_limits_give(r, LT_SERVE_SEAT_QUEUED);
  return status != LT_OK && err->status == LT_OK ? lt_fail(err, status, "the request ended before its turn") : status;
}

static void prompt_put_ids(lt_serve_request *r, const lt_prompt_ids *ids) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "promptId");
  lt_json_put_cstr(&r->w, ids->prompt);
  lt_json_key(&r->w, "conversationId");
  lt_json_put_cstr(&r->w, ids->conversation);
  lt_json_end_object(&r->w);
}

/* RFC 9110, section 12.5.1: the weights do not matter here. */
static bool prompt_is_followed(const lt_serve_request *r) {
  return lt_str_find(lt_http_call_header(r->call, "Accept"), LT_STR("text/event-stream"), 0) != SIZE_MAX;
}

static bool prompt_is_queued(const lt_serve_request *r, const prompt_asked *asked) {
  return asked->request.conversation.n > 0 && lt_str_eqc(lt_serve_request_text(r, "whenBusy"), "queue");
}

/* "whenBusy": the request waits for its conversation, or is refused. `ret_busy` as in prompt_start. */
static lt_status prompt_start_in_turn(lt_serve_request *r, prompt_asked *asked, lt_str *ret_busy,
                                      lt_err *err) LT_YIELDS {
  *ret_busy = LT_STR_NULL;
  lt_status status =
      prompt_is_queued(r, asked) ? prompt_start_when_free(r, asked, err) : prompt_start(r, asked, ret_busy, err);
  lt_serve_limits_give(r, LT_SERVE_SEAT_PROMPT); /* the agent counts it from now on */
  return status;
}

/* All that the request will need: a prompt that has begun is not refused its stream. */
static bool prompt_has_room(lt_serve_request *r, const prompt_asked *asked, bool is_started) {
  return (!prompt_is_followed(r) || lt_serve_limits_take(r, LT_SERVE_SEAT_READER)) &&
         (is_started || lt_serve_limits_take(r, LT_SERVE_SEAT_PROMPT)) &&
         (is_started || !prompt_is_queued(r, asked) || lt_serve_limits_take(r, LT_SERVE_SEAT_QUEUED));
}

static lt_status prompt_refuse_busy(lt_serve_request *r) {
  return lt_serve_request_refuse(r, 409, "busy", "the conversation is busy: its last prompt has not ended");
}

static lt_status prompt_answer_ids(lt_serve_request *r, prompt_asked *asked, bool is_known, lt_err *err) LT_YIELDS {
  lt_str busy = LT_STR_NULL;
  if (!is_known) {
    LT_TRY(prompt_start_in_turn(r, asked, &busy, err));
  }
  if (busy.n > 0) {
    return prompt_refuse_busy(r);
  }
  prompt_put_ids(r, &asked->ids);
  return LT_OK;
}

/* The answer is the prompt's events, from its first to its last. The reader is there before the prompt is, so that
 * nothing has to be read from the store; the events of a prompt that another request may have started are there. */
static lt_status prompt_answer_events(lt_serve_request *r, prompt_asked *asked, bool is_known, lt_err *err) LT_YIELDS {
  lt_serve_reader reader;
  lt_str busy = LT_STR_NULL;
  bool is_fresh = lt_http_call_header(r->call, "Idempotency-Key").n == 0;
  if (!lt_serve_events_join(&reader, r, lt_str_of(asked->id), is_fresh ? -1 : 0)) {
    return LT_OK;
  }
  reader.ends_with_prompt = true;
  lt_status status = is_known ? LT_OK : prompt_start_in_turn(r, asked, &busy, err);
  if (status == LT_OK && busy.n == 0) {
    lt_serve_events_send(&reader);
  }
  lt_serve_events_leave(&reader);
  return status == LT_OK && busy.n > 0 ? prompt_refuse_busy(r) : status;
}

static lt_status prompts_create(lt_serve_request *r, lt_err *err) LT_YIELDS {
  bool is_known = false;
  prompt_asked asked = {.request = {.user = r->user,
                                    .conversation = lt_serve_request_text(r, "conversationId"),
                                    .input = lt_serve_request_text(r, "input"),
                                    .model = lt_serve_request_text(r, "model"),
                                    .mode = lt_serve_request_text(r, "mode"),
                                    .trace = &r->trace}};
  lt_str mode = asked.request.mode;
  if (mode.n > 0 && lt_agent_check_mode(lt_toolbox_host(r->serve->session->toolbox), mode, NULL) != LT_OK) {
    return prompt_refuse_mode(r, mode);
  }
  lt_attachment *attachments = NULL;
  LT_TRY(lt_agent_read_attachments(lt_json_get(r->body, "attachments"), r->arena, &attachments,
                                   &asked.request.attachment_count, err));
  asked.request.attachments = attachments;
  LT_TRY(lt_store_new_prompt_id(asked.id, err));
  LT_TRY(prompt_note_key(r, &asked, &is_known, err));
  asked.request.id = lt_str_of(asked.id);
  if (!prompt_has_room(r, &asked, is_known)) {
    return LT_OK;
  }
  return prompt_is_followed(r) ? prompt_answer_events(r, &asked, is_known, err)
                               : prompt_answer_ids(r, &asked, is_known, err);
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */
static lt_status prompts_get(lt_serve_request *r, lt_err *err) LT_YIELDS {
  return lt_store_prompt_get(lt_serve_store(r->serve), r->user, r->id, &r->answer->body, err);
}

static lt_status record_put(lt_serve_request *r, lt_str run, lt_err *err) LT_YIELDS {
  lt_record record = {0};
  LT_TRY(r->serve->journal->recall(r->serve->journal, run, &record, err));
  lt_serve_record_put(&r->w, r->id, run, &record);
  lt_record_release(&record);
  return LT_OK;
}

static lt_status prompts_record(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str run;
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(runs, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_get(lt_serve_store(r->serve), r->user, r->id, &prompt, err));
  LT_TRY(lt_store_runs_below(lt_serve_store(r->serve), r->id, &runs, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&runs), &doc, err));
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "prompt");
  lt_json_put_raw(&r->w, lt_buf_view(&prompt));
  lt_json_key(&r->w, "runs");
  lt_json_begin_array(&r->w);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    if (lt_json_str(it.value, r->arena, &run)) {
      LT_TRY(record_put(r, run, err));
    }
  }
  lt_json_end_array(&r->w);
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* --- What a call would change ------------------------------------------------------------------------------------- */
static lt_json preview_find_call(lt_json prompt, lt_str id) {
  for (lt_json_iter it = lt_json_each(lt_json_get(prompt, "output")); lt_json_next(&it);) {
    if (lt_json_str_eq(lt_json_get(it.value, "id"), id) &&
        lt_json_exists(lt_json_get(lt_json_get(it.value, "result"), "question"))) {
      return it.value;
    }
  }
  return (lt_json){NULL, 0};
}

static void preview_put(lt_serve_request *r, lt_json call) LT_YIELDS {
  lt_write_change change;
  lt_str tool = LT_STR_NULL;
  LT_AUTO_BUF(diff, 4 * LT_PREVIEW_BYTES);
  const lt_write_preview preview = {
      .door = r->serve->session->door, .policy = lt_toolbox_policy(r->serve->session->toolbox), .user = r->user};
  (void)lt_json_str(lt_json_get(call, "function"), r->arena, &tool);
  lt_str input = lt_json_text(lt_json_get(call, "input"));
  bool is_told = lt_write_preview_read(&preview, tool, input, r->call->cancel, &change) &&
                 lt_write_preview_put_diff(&change, &diff);
  lt_write_preview_release(&change);
  lt_json_begin_object(&r->w);
  if (is_told) {
    lt_json_key(&r->w, "diff");
    lt_json_put_str(&r->w, lt_buf_view(&diff));
  }
  lt_json_end_object(&r->w);
}

static lt_status prompts_preview(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  lt_str id = lt_serve_request_query(r, "toolCallId");
  LT_TRY(lt_store_prompt_get(lt_serve_store(r->serve), r->user, r->id, &prompt, err));
  LT_TRY(lt_json_parse(r->arena, lt_buf_view(&prompt), &doc, err));
  lt_json call = preview_find_call(lt_json_root(&doc), id);
  if (!lt_json_exists(call)) {
    return lt_serve_request_refuse(r, 404, "notfound", "No tool call \"%.*s\" waits for approval",
                                   LT_STR_ARG(lt_str_sub(id, 0, 100)));
  }
  preview_put(r, call);
  return LT_OK;
}

/* --- Deciding ----------------------------------------------------------------------------------------------------- */
typedef struct prompt_verdict {
  bool is_cancel;
  lt_str call; /* of a decision */
  lt_decision decision;
} prompt_verdict;

/* Where no process runs the prompt, this one goes on with it, unless the prompt belongs to another configuration. */
static void verdict_follow(const lt_serve_request *r) LT_YIELDS {
  LT_AUTO_BUF(owner, LT_KIB);
  lt_status status = lt_store_decision_owner(lt_serve_store(r->serve), r->user, r->id, &owner, NULL);
  if (status == LT_OK && owner.n == 0) {
    (void)lt_agent_resume(r->serve->agent, r->user, r->id, NULL);
  }
}

/* Whichever process runs the prompt, this one included: an answer is stored before it is confirmed. */
static lt_status verdict_make(lt_serve_request *r, const prompt_verdict *verdict, const char *done,
                              lt_err *err) LT_YIELDS {
  lt_agent *agent = r->serve->agent;
  LT_ERR_VAR(why);
  lt_status status = verdict->is_cancel
                         ? lt_agent_cancel(agent, r->user, r->id, &why)
                         : lt_agent_decide(agent, r->user, r->id, verdict->call, &verdict->decision, &why);
  if (status == LT_E_NOTFOUND) {
    return lt_serve_request_refuse(r, 404, "notfound", "%s", lt_err_msg(&why));
  }
  if (status == LT_E_INVALID) { /* somebody was faster */
    return lt_serve_request_refuse(r, 409, "decided", "%s", lt_err_msg(&why));
  }
  LT_TRY(status == LT_OK ? LT_OK : lt_err_copy(err, &why));
  verdict_follow(r);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, done);
  lt_json_put_bool(&r->w, true);
  lt_json_end_object(&r->w);
  return LT_OK;
}

static void verdict_read(const lt_serve_request *r, prompt_verdict *verdict) {
  verdict->call = lt_serve_request_text(r, "toolCallId");
  (void)lt_decision_find_remember(lt_serve_request_text(r, "remember"), &verdict->decision.remember);
}

static lt_status prompts_approve(lt_serve_request *r, lt_err *err) LT_YIELDS {
  prompt_verdict verdict = {0};
  verdict_read(r, &verdict);
  verdict.decision.is_approved = true;
  verdict.decision.input = lt_json_text(lt_json_get(r->body, "input"));
  return verdict_make(r, &verdict, "approved", err);
}

static lt_status prompts_reject(lt_serve_request *r, lt_err *err) LT_YIELDS {
  prompt_verdict verdict = {0};
  verdict_read(r, &verdict);
  verdict.decision.reason = lt_serve_request_text(r, "reason");
  return verdict_make(r, &verdict, "rejected", err);
}

static lt_status prompts_cancel(lt_serve_request *r, lt_err *err) LT_YIELDS {
  return verdict_make(r, &(prompt_verdict){.is_cancel = true}, "cancelled", err);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
#define DONE(word) "{\"type\":\"object\",\"properties\":{\"" word "\":{\"const\":true}},\"required\":[\"" word "\"]}"
#define PROMPT     "{\"$ref\":\"#/components/schemas/Prompt\"}"

static const lt_serve_parameter create_headers[] = {
    {"Idempotency-Key", "{\"type\":\"string\",\"maxLength\":255}", "the same key and body: the same prompt"},
    {NULL},
};
static const lt_serve_parameter preview_query[] = {{"toolCallId", ID, "the call that waits for an approval"}, {NULL}};

const lt_serve_route lt_route_prompts_rows[] = {
    {"POST", "/prompt", "createPrompt",
     "Starts a prompt and answers at once; the prompt runs on. Idempotency-Key is heeded.",
     .flags = LT_SERVE_CAN_STREAM | LT_SERVE_MAY_CONFLICT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"input\"],\"properties\":{"
             "\"input\":{\"type\":\"string\",\"description\":\"what is to be done\"},"
             "\"attachments\":{\"type\":\"array\",\"description\":\"images (PNG, JPEG, GIF, WebP), PDFs and texts; "
             "in a prompt {id, name, mimeType, bytes}: GET /artifacts/{id}\",\"items\":{\"type\":\"object\","
             "\"additionalProperties\":false,\"required\":[\"name\"],\"properties\":{\"name\":" TEXT
             ",\"data\":{\"type\":\"string\",\"description\":\"base64\"},\"mimeType\":" TEXT ",\"text\":" TEXT "}}},"
             "\"model\":{\"type\":\"string\",\"description\":\"a ref of GET /models\"},"
             "\"mode\":{\"type\":\"string\",\"description\":\"an id of GET /modes\"},"
             "\"conversationId\":{\"type\":\"string\",\"description\":\"absent: a new conversation\"},"
             "\"whenBusy\":{\"enum\":[\"refuse\",\"queue\"],\"description\":\"queue: the answer comes when the "
             "conversation is free\"}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"promptId\",\"conversationId\"],\"properties\":{\"promptId\":" TEXT
               ",\"conversationId\":" TEXT "}}",
     .headers = create_headers, .handle = prompts_create},
    {"GET", "/prompts/{id}", "getPrompt", "A prompt with its outputs so far.", .answer = PROMPT, .handle = prompts_get},
    {"GET", "/prompts/{id}/record", "getRecord", "A prompt with everything that came to its programs from outside.",
     .answer = lt_serve_record_schema, .handle = prompts_record},
    {"GET", "/prompts/{id}/preview", "getPreview",
     "What a call that waits would change in a file, as a diff; {}: it writes none, or the file cannot be read.",
     .answer = "{\"type\":\"object\",\"properties\":{\"diff\":" TEXT "}}", .query = preview_query,
     .handle = prompts_preview},
    {"POST", "/prompts/{id}/approve", "approve", "Lets a tool call be made that waits for an approval.",
     .flags = LT_SERVE_MAY_CONFLICT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"toolCallId\"],\"properties\":{"
             "\"toolCallId\":" ID ",\"input\":{\"type\":\"object\",\"description\":\"in place of the call's input\"},"
             "\"remember\":{" WHICH "}}}",
     .answer = DONE("approved"), .handle = prompts_approve},
    {"POST", "/prompts/{id}/reject", "reject", "Refuses a tool call that waits for an approval.",
     .flags = LT_SERVE_MAY_CONFLICT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"toolCallId\"],\"properties\":{"
             "\"toolCallId\":" ID ",\"reason\":" TEXT ",\"remember\":{" WHICH "}}}",
     .answer = DONE("rejected"), .handle = prompts_reject},
    {"POST", "/prompts/{id}/cancel", "cancel", "Ends a prompt, also one that waits.",
     .flags = LT_SERVE_BODY_OPTIONAL | LT_SERVE_MAY_CONFLICT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false}", .answer = DONE("cancelled"),
     .handle = prompts_cancel},
    {NULL},
};
