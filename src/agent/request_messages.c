#include "agent/request_messages.h"

#include "agent/history/history_turn.h"
#include "agent/media_parts.h"
#include "agent/program_feedback.h"
#include "agent/turn_state.h"
#include "base/limits.h"
#include "text/tokens.h"

void lt_request_messages_init(lt_request_messages *m, lt_turn *turn) {
  *m = (lt_request_messages){.turn = turn};
  lt_buf_init(&m->system, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->history, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->history_user, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->history_parts, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->rest, LT_PROMPT_MESSAGES_BYTES);
  m->w = lt_json_writer_on(&m->rest);
  lt_json_begin_array(&m->w);
}

void lt_request_messages_release(lt_request_messages *m) {
  lt_buf_release(&m->system);
  lt_buf_release(&m->history);
  lt_buf_release(&m->history_user);
  lt_buf_release(&m->history_parts);
  lt_buf_release(&m->rest);
}

static lt_status request_messages_check(const lt_buf *buf, lt_err *err) {
  return lt_buf_check(buf, err, "the conversation is too long to be sent");
}

static void request_messages_put_message(lt_json_writer *w, const char *role, lt_str content) {
  lt_json_begin_object(w);
  lt_json_key(w, "role");
  lt_json_put_cstr(w, role);
  lt_json_key(w, "content");
  lt_json_put_str(w, content);
  lt_json_end_object(w);
}

lt_status lt_request_messages_put(lt_request_messages *m, const char *role, lt_str content, lt_err *err) {
  request_messages_put_message(&m->w, role, content);
  return request_messages_check(&m->rest, err);
}

static lt_status request_messages_read_history(lt_request_messages *m, size_t max_tokens, lt_err *err) LT_YIELDS {
  lt_buf_clear(&m->history);
  lt_buf_clear(&m->history_user);
  lt_buf_clear(&m->history_parts);
  lt_json_writer w = lt_json_writer_on(&m->history);
  lt_json_begin_array(&w);
  LT_TRY(lt_history_turn_put(m->turn, &w, max_tokens, &m->history_user, &m->history_parts, err));
  LT_TRY(request_messages_check(&m->history, err));
  lt_buf_consume(&m->history, 1); /* the bracket */
  return LT_OK;
}

/* The prompt that follows has most often the same system prompt. */
static void request_messages_keep_system(const lt_request_messages *m, lt_str system) {
  lt_agent *agent = m->turn->agent;
  lt_buf_clear(&agent->system_text);
  lt_buf_clear(&agent->system_message);
  lt_buf_add(&agent->system_text, system);
  lt_buf_add(&agent->system_message, lt_buf_view(&m->system));
  if (lt_status_first(agent->system_text.status, agent->system_message.status) != LT_OK) {
    lt_buf_clear(&agent->system_text);
  }
}

static void request_messages_put_system(lt_request_messages *m, lt_str system) {
  const lt_agent *agent = m->turn->agent;
  if (lt_str_eq(system, lt_buf_view(&agent->system_text))) {
    lt_buf_add(&m->system, lt_buf_view(&agent->system_message));
    return;
  }
  lt_json_writer w = lt_json_writer_on(&m->system);
  request_messages_put_message(&w, "system", system);
  bool has_context = m->turn->prepared.context.n > sizeof "[]" - 1; /* which is of this conversation */
  if (m->system.status == LT_OK && !has_context) {
    request_messages_keep_system(m, system);
  }
}

lt_status lt_request_messages_set_system(lt_request_messages *m, lt_str system, lt_err *err) {
  lt_buf_clear(&m->system);
  if (system.n > 0) {
    request_messages_put_system(m, system);
  }
  return request_messages_check(&m->system, err);
}

/* Appends the parts of the prompt's attachments. */
static void request_messages_put_attachments(const lt_turn *turn, lt_buf *out) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MIB);
  if (turn->attachments.n == 0) {
    return;
  }
  lt_status status = lt_json_parse(&arena, turn->attachments, &doc, NULL);
  if (status == LT_OK) {
    lt_media_parts_put_attachments(out, lt_json_root(&doc));
  }
  out->status = lt_status_first(out->status, status);
}

static void request_messages_put_user(lt_json_writer *w, lt_str parts, lt_str text) {
  if (parts.n > 0) {
    lt_media_parts_put_message(w, "user", parts, text);
  } else {
    request_messages_put_message(w, "user", text);
  }
}

lt_status lt_request_messages_begin(lt_request_messages *m, lt_str system, lt_err *err) {
  LT_TRY(lt_request_messages_set_system(m, system, err));
  LT_TRY(request_messages_read_history(m, lt_history_max_tokens(m->turn->model), err));
  LT_AUTO_BUF(parts, LT_MIB);
  request_messages_put_attachments(m->turn, &parts);
  request_messages_put_user(&m->w, lt_buf_view(&parts), m->turn->input);
  LT_TRY(lt_buf_check(&parts, err, "no memory for the attachments"));
  m->input_end = m->rest.n;
  return request_messages_check(&m->rest, err);
}

static void request_messages_put_part(lt_buf *out, lt_str part) {
  lt_buf_addc(out, out->n > 1 && part.n > 0 ? "," : "");
  lt_buf_add(out, part);
}

/* The last text on the user's side (an unanswered input, or a program's feedback) and the new input become one message,
 * because some models refuse two messages of the same role in a row. */
static void request_messages_put_input(lt_buf *out, const lt_request_messages *m) {
  if (m->history_user.n == 0 && m->history_parts.n == 0) {
    request_messages_put_part(out, lt_str_sub(lt_buf_view(&m->rest), 1, m->input_end));
    return;
  }
  LT_AUTO_BUF(message, LT_PROMPT_MESSAGES_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  LT_AUTO_BUF(parts, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_add(&text, lt_buf_view(&m->history_user));
  lt_buf_addc(&text, "\n\n");
  lt_buf_add(&text, m->turn->input);
  lt_buf_add(&parts, lt_buf_view(&m->history_parts));
  request_messages_put_attachments(m->turn, &parts);
  lt_json_writer w = lt_json_writer_on(&message);
  request_messages_put_user(&w, lt_buf_view(&parts), lt_buf_view(&text));
  request_messages_put_part(out, lt_buf_view(&message));
  lt_status status = lt_status_first(lt_status_first(text.status, parts.status), message.status);
  out->status = lt_status_first(out->status, status);
}

static lt_status request_messages_ask_once(const lt_request_messages *m, lt_str tools, bool streams,
                                           lt_completion *completion, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(all, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_expect(&all, m->system.n + m->history.n + m->history_user.n + m->rest.n + sizeof "[,,,]");
  lt_buf_byte(&all, '[');
  request_messages_put_part(&all, lt_buf_view(&m->system));
  request_messages_put_part(&all, lt_buf_view(&m->history));
  request_messages_put_input(&all, m);
  lt_buf_add(&all, lt_str_sub(lt_buf_view(&m->rest), m->input_end, m->rest.n)); /* with a comma before it */
  lt_buf_byte(&all, ']');
  LT_TRY(request_messages_check(&m->rest, err));
  LT_TRY(request_messages_check(&all, err));
  const lt_turn_question question = {
      .messages = lt_buf_view(&all), .tools = tools, .hash = lt_str_hash(lt_buf_view(&m->rest)), .streams = streams};
  return lt_turn_ask(m->turn, &question, completion, err);
}

/* --- Too long ----------------------------------------------------------------------------------------------------- */
/* Reduces the limit to a third; false: it cannot become smaller. */
static bool request_messages_shorten_history(lt_request_messages *m) LT_YIELDS {
  size_t bytes = m->history.n + m->history_user.n;
  size_t tokens =
      (lt_tokens_estimate(lt_buf_view(&m->history)) + lt_tokens_estimate(lt_buf_view(&m->history_user))) / 3;
  return bytes > 0 && request_messages_read_history(m, tokens > 0 ? tokens : 1, NULL) == LT_OK &&
         m->history.n + m->history_user.n < bytes;
}

/* Whether the message is an answer of a tool or program; the first message is the user's input. */
static bool request_messages_is_answer(lt_json message) {
  lt_json role = lt_json_get(message, "role");
  return lt_json_str_eq(role, LT_STR("tool")) || lt_json_str_eq(role, LT_STR("user"));
}

static void request_messages_put_shorter(lt_json_writer *w, lt_arena *arena, lt_json message, size_t max_tokens) {
  lt_json_begin_object(w);
  lt_json_iter it = lt_json_each(message);
  while (lt_json_next(&it)) {
    lt_str content;
    LT_AUTO_BUF(cut, LT_PROMPT_MESSAGES_BYTES);
    lt_json_key_str(w, lt_str_sub(lt_json_text(it.key), 1, lt_json_text(it.key).n - 1)); /* ours: without escapes */
    if (lt_json_str_eq(it.key, LT_STR("content")) && lt_json_str(it.value, arena, &content)) {
      lt_program_feedback_cut(&cut, content, max_tokens);
      lt_json_put_str(w, lt_buf_view(&cut));
    } else {
      lt_json_put_raw(w, lt_json_text(it.value));
    }
    w->buf->status = cut.status != LT_OK ? cut.status : w->buf->status;
  }
  lt_json_end_object(w);
}

/* Shortens the answers so far: those before the last reply to `old_tokens`, those to the last reply to `new_tokens`. */
static void request_messages_put_shorter_rest(lt_json_writer *w, lt_arena *arena, lt_json messages, size_t old_tokens,
                                              size_t new_tokens) {
  uint32_t last_reply = 0, i = 0;
  lt_json_iter it = lt_json_each(messages);
  for (; lt_json_next(&it); i++) {
    last_reply = request_messages_is_answer(it.value) ? last_reply : i;
  }
  lt_json_begin_array(w);
  it = lt_json_each(messages);
  for (i = 0; lt_json_next(&it); i++) {
    if (i > 0 && request_messages_is_answer(it.value)) {
      request_messages_put_shorter(w, arena, it.value, i < last_reply ? old_tokens : new_tokens);
    } else {
      lt_json_put_raw(w, lt_json_text(it.value));
    }
  }
}

/* False: nothing became shorter. */
static bool request_messages_shorten_rest(lt_request_messages *m, size_t old_tokens, size_t new_tokens) {
  LT_AUTO_BUF(shorter, LT_PROMPT_MESSAGES_BYTES);
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  lt_json_doc doc;
  lt_json_writer w = lt_json_writer_on(&shorter);
  size_t before = m->rest.n;
  lt_buf_byte(&m->rest, ']');
  bool is_read = m->rest.status == LT_OK && lt_json_parse(&arena, lt_buf_view(&m->rest), &doc, NULL) == LT_OK;
  m->rest.n = before;
  if (!is_read) {
    return false;
  }
  request_messages_put_shorter_rest(&w, &arena, lt_json_root(&doc), old_tokens, new_tokens);
  if (shorter.status != LT_OK || shorter.n >= before) {
    return false;
  }
  lt_buf rest = m->rest;
  m->rest = shorter;
  shorter = rest;
  return true;
}

/* Shortens earlier prompts first, then the older answers of this prompt, then its newest answers. */
static bool request_messages_shorten(lt_request_messages *m) LT_YIELDS {
  return request_messages_shorten_history(m) ||
         request_messages_shorten_rest(m, LT_SHORTER_TOKENS, LT_FEEDBACK_TOKENS) ||
         request_messages_shorten_rest(m, LT_SHORTER_TOKENS, LT_SHORTER_TOKENS);
}

/* Whether another request may succeed: a shorter one, or (once) one without images and documents. */
static bool request_messages_may_repeat(lt_request_messages *m, const lt_completion *completion) LT_YIELDS {
  bool is_first = completion->no_media && !m->turn->internal->sends_no_media;
  m->turn->internal->sends_no_media = m->turn->internal->sends_no_media || completion->no_media;
  return is_first || (completion->too_long && request_messages_shorten(m));
}

lt_status lt_request_messages_ask(lt_request_messages *m, lt_str tools, bool stream, lt_completion *completion,
                                  lt_err *err) {
  lt_status status = request_messages_ask_once(m, tools, stream, completion, err);
  while (status != LT_OK && m->turn->cancel.why == LT_OK && request_messages_may_repeat(m, completion)) {
    lt_completion_release(completion);
    lt_completion_init(completion);
    status = request_messages_ask_once(m, tools, stream, completion, err);
  }
  return status;
}
