/* A conversation's title: one short model call, which may fail. */
#include "agent/model_request.h"
#include "agent/agent_state.h"

typedef struct title_request {
  lt_agent *agent;
  lt_str user, conversation;
  lt_arena arena;
  lt_buf text;
} title_request;

/* Reads the first message of a conversation without a title. False: no title is needed. */
static bool title_find_first_message(title_request *t, lt_str *ret) LT_YIELDS {
  lt_json_doc about, history;
  lt_store *db = t->agent->options.db;
  lt_buf_clear(&t->text);
  if (lt_store_conversation_get(db, t->user, t->conversation, &t->text, NULL) != LT_OK ||
      lt_json_parse(&t->arena, lt_buf_view(&t->text), &about, NULL) != LT_OK ||
      lt_json_typeof(lt_json_get(lt_json_root(&about), "title")) == LT_JSON_STRING) {
    return false;
  }
  lt_buf_clear(&t->text);
  if (lt_store_history(db, t->user, t->conversation, LT_PROMPT_HISTORY_MAX, &t->text, NULL) != LT_OK ||
      lt_json_parse(&t->arena, lt_buf_view(&t->text), &history, NULL) != LT_OK) {
    return false;
  }
  lt_json first = lt_json_at(lt_json_root(&history), 0);
  return lt_json_str(lt_json_get(first, "input"), &t->arena, ret);
}

static lt_str title_first_chars(lt_str text, size_t max) {
  size_t at = 0;
  for (size_t chars = 0; at < text.n && chars < max; chars++) {
    do {
      at++;
    } while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80);
  }
  return lt_str_sub(text, 0, at);
}

static void title_put_messages(lt_buf *out, lt_str input) {
  static const char *const about =
      "Give this conversation a title of three to six words, in the language of the message. Answer with the title "
      "alone: no quotation marks, no full stop.";
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  lt_json_begin_object(&w);
  lt_json_key(&w, "role");
  lt_json_put_cstr(&w, "system");
  lt_json_key(&w, "content");
  lt_json_put_cstr(&w, about);
  lt_json_end_object(&w);
  lt_json_begin_object(&w);
  lt_json_key(&w, "role");
  lt_json_put_cstr(&w, "user");
  lt_json_key(&w, "content");
  lt_json_put_str(&w, title_first_chars(input, LT_TITLE_INPUT_CHARS));
  lt_json_end_object(&w);
  lt_json_end_array(&w);
}

/* The reply's first line, without quotes and markup around it. */
static lt_str title_clean(lt_str reply) {
  reply = lt_str_trim(reply);
  reply = lt_str_trim(lt_str_sub(reply, 0, lt_str_find(reply, LT_STR("\n"), 0)));
  while (reply.n > 1 && (reply.p[0] == '"' || reply.p[0] == '*' || reply.p[0] == '#')) {
    reply = lt_str_trim(lt_str_sub(reply, 1, reply.n));
  }
  while (reply.n > 0 && strchr("\"*.", reply.p[reply.n - 1]) != NULL) {
    reply = lt_str_trim(lt_str_sub(reply, 0, reply.n - 1));
  }
  size_t n = reply.n < LT_TITLE_BYTES ? reply.n : LT_TITLE_BYTES;
  while (n > 0 && n < reply.n && ((unsigned char)reply.p[n] & 0xc0) == 0x80) {
    n--;
  }
  return lt_str_sub(reply, 0, n);
}

static void title_send_event(const title_request *t, const char *event, const lt_buf *data) {
  const lt_agent_options *o = &t->agent->options;
  if (o->on_event != NULL && data->status == LT_OK) {
    o->on_event(o->arg, t->user, event, lt_buf_view(data));
  }
}

static void title_report(const title_request *t, lt_str title) {
  LT_AUTO_BUF(data, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "conversationId", t->conversation);
  lt_json_put_pair(&w, "title", title);
  lt_json_end_object(&w);
  title_send_event(t, "conversation.updated", &data);
}

static void title_report_retry(void *arg, const lt_retry_notice *notice) {
  const title_request *t = arg;
  LT_AUTO_BUF(data, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "conversationId", t->conversation);
  lt_model_request_put_retry(&w, notice);
  lt_json_end_object(&w);
  title_send_event(t, "conversation.retrying", &data);
}

static void title_set_title(const title_request *t, lt_str title) LT_YIELDS {
  if (title.n > 0 &&
      lt_store_conversation_set_title(t->agent->options.db, t->user, t->conversation, title, NULL) == LT_OK) {
    title_report(t, title);
  }
}

static void title_make_title(title_request *t, lt_str input) LT_YIELDS {
  const lt_agent_options *o = &t->agent->options;
  lt_completion completion;
  lt_completion_init(&completion);
  LT_AUTO_BUF(messages, LT_MIB);
  title_put_messages(&messages, input);
  const lt_completion_request request = {
      .model = lt_agent_default_model(t->agent),
      .messages = lt_buf_view(&messages),
      .max_tokens = LT_TITLE_TOKENS,
      .cancel = &t->agent->close,
      .on_retry = title_report_retry,
      .arg = t,
      .purpose = "title",
  };
  if (messages.status == LT_OK && request.model != NULL &&
      lt_model_request_complete(o, &request, &completion, NULL) == LT_OK) {
    lt_secrets_mask_buf(o->secrets, &completion.text); /* before it is cut */
    title_set_title(t, title_clean(lt_buf_view(&completion.text)));
  }
  lt_completion_release(&completion);
}

void lt_agent_title(lt_agent *agent, lt_str user, lt_str conversation) {
  title_request t = {.agent = agent};
  lt_str input;
  agent->titles++;
  lt_arena_init(&t.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_buf_init(&t.text, LT_JSON_MAX_BYTES);
  t.user = lt_arena_dup(&t.arena, user);
  t.conversation = lt_arena_dup(&t.arena, conversation);
  if (t.user.p != NULL && t.conversation.p != NULL && title_find_first_message(&t, &input)) {
    title_make_title(&t, input);
  }
  lt_buf_release(&t.text);
  lt_arena_release(&t.arena);
  agent->titles--;
  lt_wait_wake(&agent->ended, LT_OK);
}
