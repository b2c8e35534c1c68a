#include "agent/messages.h"

#include "base/limits.h"
#include "codec/tokens.h"

void lt_messages_init(lt_messages *m, lt_turn *turn, lt_history_fn *put_history) {
  *m = (lt_messages){.turn = turn, .put_history = put_history};
  lt_buf_init(&m->system, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->history, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&m->rest, LT_PROMPT_MESSAGES_BYTES);
  m->w = lt_json_writer_on(&m->rest);
  lt_json_begin_array(&m->w);
}

void lt_messages_release(lt_messages *m) {
  lt_buf_release(&m->system);
  lt_buf_release(&m->history);
  lt_buf_release(&m->rest);
}

static lt_status check(const lt_buf *buf, lt_err *err) {
  return buf->status == LT_OK ? LT_OK : lt_fail(err, buf->status, "the conversation is too long to be sent");
}

static void put_message(lt_json_writer *w, const char *role, lt_str content) {
  lt_json_begin_object(w);
  lt_json_key(w, "role");
  lt_json_put_cstr(w, role);
  lt_json_key(w, "content");
  lt_json_put_str(w, content);
  lt_json_end_object(w);
}

lt_status lt_messages_put(lt_messages *m, const char *role, lt_str content, lt_err *err) {
  put_message(&m->w, role, content);
  return check(&m->rest, err);
}

static lt_status read_history(lt_messages *m, size_t max_tokens, lt_err *err) {
  lt_buf_clear(&m->history);
  lt_json_writer w = lt_json_writer_on(&m->history);
  lt_json_begin_array(&w);
  LT_TRY(m->put_history(m->turn, &w, max_tokens, err));
  LT_TRY(check(&m->history, err));
  lt_buf_consume(&m->history, 1); /* the bracket */
  return LT_OK;
}

lt_status lt_messages_begin(lt_messages *m, lt_str system, lt_err *err) {
  if (system.n > 0) {
    lt_json_writer w = lt_json_writer_on(&m->system);
    put_message(&w, "system", system);
    LT_TRY(check(&m->system, err));
  }
  LT_TRY(read_history(m, LT_HISTORY_TOKENS, err));
  return lt_messages_put(m, "user", m->turn->input, err);
}

static void put_part(lt_buf *out, lt_str part) {
  lt_buf_addc(out, out->n > 1 && part.n > 0 ? "," : "");
  lt_buf_add(out, part);
}

static lt_status ask_once(const lt_messages *m, lt_str tools, bool stream, lt_completion *completion,
                          lt_err *err) LT_YIELDS {
  lt_buf all;
  lt_buf_init(&all, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_byte(&all, '[');
  put_part(&all, lt_buf_view(&m->system));
  put_part(&all, lt_buf_view(&m->history));
  put_part(&all, lt_str_sub(lt_buf_view(&m->rest), 1, m->rest.n));
  lt_buf_byte(&all, ']');
  lt_status status = check(&m->rest, err);
  if (status == LT_OK) {
    status = check(&all, err);
  }
  if (status == LT_OK) {
    status = lt_turn_ask(m->turn, lt_buf_view(&all), tools, stream, completion, err);
  }
  lt_buf_release(&all);
  return status;
}

/* A third of what there was; false: that is as little as there can be. */
static bool shorten(lt_messages *m) {
  size_t bytes = m->history.n;
  size_t tokens = lt_tokens_estimate(lt_buf_view(&m->history)) / 3;
  return bytes > 0 && read_history(m, tokens > 0 ? tokens : 1, NULL) == LT_OK && m->history.n < bytes;
}

lt_status lt_messages_ask(lt_messages *m, lt_str tools, bool stream, lt_completion *completion, lt_err *err) {
  lt_status status = ask_once(m, tools, stream, completion, err);
  while (status != LT_OK && completion->too_long && m->turn->cancel.why == LT_OK && shorten(m)) {
    lt_completion_release(completion);
    lt_completion_init(completion);
    status = ask_once(m, tools, stream, completion, err);
  }
  return status;
}
