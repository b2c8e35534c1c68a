#include "agent/tool_rounds.h"

#include "agent/agent_state.h"
#include "agent/media_parts.h"
#include "agent/request_messages.h"
#include "agent/turn_edits.h"
#include "base/limits.h"
#include "base/mem.h"

#define ID_CHARS 40 /* the limit of the strictest provider */

/* A prompt of one of these modes. */
typedef struct tool_dialogue {
  lt_turn *turn;
  const lt_tool_rounds *rounds;
  lt_tool_round_tools tools;
  lt_request_messages messages;
  lt_buf ids;       /* hashes of the calls' ids so far */
  unsigned made_up; /* ids */
} tool_dialogue;

/* --- The first messages ------------------------------------------------------------------------------------------- */
/* Writes the context items with an empty line between them. */
static lt_status tool_rounds_put_context(const lt_turn *turn, lt_buf *text, lt_err *err) {
  lt_json_doc doc;
  lt_str items = lt_buf_view(&turn->prepared.context);
  if (items.n == 0) {
    return LT_OK;
  }
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_json_parse(&arena, items, &doc, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_json content = lt_json_get(it.value, "content");
    lt_str words = lt_json_text(content);
    if (lt_json_typeof(content) == LT_JSON_STRING && !lt_json_str(content, &arena, &words)) {
      text->status = LT_E_NOMEM;
    }
    lt_buf_addc(text, text->n > 0 && words.n > 0 ? "\n\n" : "");
    lt_buf_add(text, words);
  }
  return lt_buf_check(text, err, "no room for the context that plugins give");
}

/* Plugins may change the context before each request. */
static lt_status tool_rounds_put_system(tool_dialogue *t, uint32_t round, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(system, LT_PROMPT_MESSAGES_BYTES);
  lt_str instructions = t->turn->agent->options.instructions;
  lt_buf_addc(&system, t->rounds->system);
  lt_buf_addc(&system, instructions.n > 0 ? "\n\n" : "");
  lt_buf_add(&system, instructions);
  LT_TRY(tool_rounds_put_context(t->turn, &system, err));
  return round == 0 ? lt_request_messages_begin(&t->messages, lt_buf_view(&system), err)
                    : lt_request_messages_set_system(&t->messages, lt_buf_view(&system), err);
}

/* --- A reply's calls ---------------------------------------------------------------------------------------------- */
/* False: the id was used before. */
static bool tool_rounds_enter_id(tool_dialogue *t, lt_str id) {
  uint64_t hash = lt_str_hash(id);
  for (size_t at = 0; at < t->ids.n; at += sizeof hash) {
    if (memcmp(t->ids.p + at, &hash, sizeof hash) == 0) {
      return false;
    }
  }
  lt_buf_add(&t->ids, lt_str_from(&hash, sizeof hash));
  return true;
}

static bool tool_rounds_is_usable_id(lt_str id) {
  char plain[LT_TOOL_NAME_CHARS + 1];
  lt_tool_definitions_plain_name(id, plain);
  return id.n > 0 && id.n <= ID_CHARS && lt_str_eqc(id, plain);
}

/* Some models number their calls from 0 in every reply. */
static lt_str tool_rounds_id_for(tool_dialogue *t, lt_str id) {
  while (!tool_rounds_is_usable_id(id) || !tool_rounds_enter_id(t, id)) {
    id = lt_arena_printf(&t->turn->arena, "call_%u", t->made_up++);
    if (id.p == NULL) {
      t->messages.rest.status = LT_E_NOMEM;
      break;
    }
  }
  return id;
}

static void tool_rounds_put_broken(lt_buf *out, const lt_tool_round *round, const lt_tool_round_call *call,
                                   const lt_err *why) {
  lt_buf_addc(out, LT_TOOL_ANSWER_BROKEN);
  lt_buf_add(out, call->asked->name);
  lt_buf_printf(out, "\": %s", lt_err_msg(why));
  lt_buf_addc(out, round->cut ? ". The reply had reached its limit of tokens: write less at once" : "");
}

static void tool_rounds_read_call(tool_dialogue *t, lt_tool_round *round, lt_tool_round_call *call,
                                  const lt_requested_call *asked) {
  LT_ERR_VAR(why);
  lt_str text = lt_str_trim(asked->arguments);
  *call = (lt_tool_round_call){.asked = asked, .id = tool_rounds_id_for(t, asked->id), .input = text};
  lt_buf_init(&call->answer, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_init(&call->parts, LT_PROMPT_MESSAGES_BYTES);
  call->tool = t->tools.tool_names != NULL ? lt_tool_definitions_find(t->tools.tool_names, asked->name) : NULL;
  if (text.n == 0 || lt_str_eqc(text, "null")) {
    call->input = LT_STR("{}");
  } else if (lt_json_check(text, &why) != LT_OK) {
    call->broken = true;
    tool_rounds_put_broken(&call->answer, round, call, &why);
  }
}

static void tool_rounds_put_requested(tool_dialogue *t, const lt_tool_round_call *call) {
  char plain[LT_TOOL_NAME_CHARS + 1];
  lt_json_writer *w = &t->messages.w;
  lt_tool_definitions_plain_name(call->asked->name, plain);
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, call->id);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "function");
  lt_json_key(w, "function");
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  lt_json_put_str(
      w, call->tool != NULL ? lt_tool_definitions_name(t->tools.tool_names, call->tool->id) : lt_str_of(plain));
  lt_json_key(w, "arguments"); /* servers parse them: anything but an object is sent back as an object */
  lt_json_put_str(w, !call->broken && call->input.p[0] == '{' ? call->input : LT_STR("{}"));
  lt_json_end_object(w);
  lt_json_end_object(w);
}

static void tool_rounds_put_reply(tool_dialogue *t, const lt_completion *reply, const lt_tool_round *round) {
  lt_str text = lt_buf_view(&reply->text), kept = lt_buf_view(&reply->kept);
  lt_json_begin_object(&t->messages.w);
  lt_json_key(&t->messages.w, "role");
  lt_json_put_cstr(&t->messages.w, "assistant");
  lt_json_key(&t->messages.w, "content");
  if (text.n > 0) {
    lt_json_put_str(&t->messages.w, text);
  } else {
    lt_json_put_null(&t->messages.w);
  }
  lt_json_key(&t->messages.w, "tool_calls");
  lt_json_begin_array(&t->messages.w);
  for (size_t i = 0; i < round->count; i++) {
    tool_rounds_put_requested(t, &round->calls[i]);
  }
  lt_json_end_array(&t->messages.w);
  if (lt_model_may_keep(t->turn->model, kept)) {
    lt_json_key(&t->messages.w, "kept");
    lt_json_put_raw(&t->messages.w, kept);
  }
  lt_json_end_object(&t->messages.w);
}

/* The images of an answer, so that the model sees them. The answer itself has their ids. */
static void tool_rounds_take_images(lt_tool_round_call *call) {
  lt_json_doc doc;
  lt_str answer = lt_buf_view(&call->answer);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (call->is_json && lt_str_find(answer, LT_STR("artifact"), 0) != SIZE_MAX &&
      lt_json_parse(&arena, answer, &doc, NULL) == LT_OK) {
    lt_media_parts_put_answer(&call->parts, lt_json_root(&doc));
  }
}

static void tool_rounds_put_answer_text(tool_dialogue *t, const lt_tool_round_call *call) {
  lt_str answer = lt_buf_view(&call->answer);
  if (call->is_json) {
    lt_tool_answer_put(&t->messages.w, answer);
  } else {
    lt_json_put_str(&t->messages.w, answer.n > 0 ? answer : LT_STR(LT_TOOL_ANSWER_NOTHING));
  }
}

static void tool_rounds_put_answer_parts(tool_dialogue *t, const lt_tool_round_call *call) {
  lt_json_writer *w = &t->messages.w;
  lt_json_begin_array(w);
  lt_json_begin_object(w);
  lt_json_put_pair(w, "type", LT_STR("text"));
  lt_json_key(w, "text");
  tool_rounds_put_answer_text(t, call);
  lt_json_end_object(w);
  lt_json_put_raw(w, lt_buf_view(&call->parts));
  lt_json_end_array(w);
  w->buf->status = lt_status_first(w->buf->status, call->parts.status);
}

static void tool_rounds_put_answer(tool_dialogue *t, lt_tool_round_call *call) {
  tool_rounds_take_images(call);
  lt_json_begin_object(&t->messages.w);
  lt_json_key(&t->messages.w, "role");
  lt_json_put_cstr(&t->messages.w, "tool");
  lt_json_key(&t->messages.w, "tool_call_id");
  lt_json_put_str(&t->messages.w, call->id);
  lt_json_key(&t->messages.w, "content");
  if (call->parts.n > 0) {
    tool_rounds_put_answer_parts(t, call);
  } else {
    tool_rounds_put_answer_text(t, call);
  }
  lt_json_end_object(&t->messages.w);
}

/* The results are those of calls that the model did not make so. */
static void tool_rounds_put_edits(tool_dialogue *t, const lt_tool_round *round) {
  LT_AUTO_BUF(edits, LT_PROMPT_MESSAGES_BYTES);
  for (size_t i = 0; i < round->count; i++) {
    lt_turn_edits_put(t->turn, round->calls[i].id, &edits);
  }
  if (edits.n > 0 && edits.status == LT_OK) {
    lt_json_begin_object(&t->messages.w);
    lt_json_key(&t->messages.w, "role");
    lt_json_put_cstr(&t->messages.w, "user");
    lt_json_key(&t->messages.w, "content");
    lt_json_put_str(&t->messages.w, lt_buf_view(&edits));
    lt_json_end_object(&t->messages.w);
  }
}

lt_status lt_tool_rounds_refuse(lt_tool_round *round, lt_tool_round_call *call, lt_status status, lt_err *err) {
  uint32_t number;
  LT_TRY(lt_turn_tool_begin(round->turn, call->id, call->tool != NULL ? call->tool->id : call->asked->name,
                            call->broken ? call->asked->arguments : call->input, LT_STR(""), &number, err));
  return lt_turn_tool_end(round->turn, number, status, lt_buf_view(&call->answer), err);
}

/* --- A round ------------------------------------------------------------------------------------------------------ */
static lt_status tool_rounds_carry_out(tool_dialogue *t, const lt_completion *reply, lt_err *err) LT_YIELDS {
  lt_tool_round round = {.turn = t->turn, .tool_names = t->tools.tool_names, .count = reply->call_count};
  round.arg = t->rounds->arg;
  round.cut = reply->finish == LT_FINISH_LENGTH;
  round.calls = lt_mem_zalloc(round.count, sizeof *round.calls);
  if (round.calls == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for %zu tool calls", round.count);
  }
  for (size_t i = 0; i < round.count; i++) {
    tool_rounds_read_call(t, &round, &round.calls[i], &reply->calls[i]);
  }
  tool_rounds_put_reply(t, reply, &round);
  lt_status status = t->messages.rest.status != LT_OK
                         ? lt_fail(err, t->messages.rest.status, "the conversation has become too long")
                         : t->rounds->carry_out(&round, err);
  for (size_t i = 0; i < round.count; i++) {
    if (status == LT_OK) {
      tool_rounds_put_answer(t, &round.calls[i]);
    }
    lt_buf_release(&round.calls[i].answer);
    lt_buf_release(&round.calls[i].parts);
  }
  if (status == LT_OK) {
    tool_rounds_put_edits(t, &round);
  }
  lt_mem_free(round.calls);
  return status;
}

/* Puts out text that arrived before a failure. */
static lt_status tool_rounds_ask(tool_dialogue *t, lt_completion *reply, lt_err *err) LT_YIELDS {
  lt_status status = lt_request_messages_ask(&t->messages, t->tools.definitions, true, reply, err);
  if (reply->text.n > 0) {
    lt_status put = lt_turn_text(t->turn, lt_buf_view(&reply->text), status == LT_OK ? err : NULL);
    status = lt_status_first(status, put);
  }
  return status;
}

/* A reply without calls ends the prompt. When the reply is incomplete or empty, the user must see why. */
static lt_status tool_rounds_end_answer(const tool_dialogue *t, const lt_completion *reply, lt_err *err) LT_YIELDS {
  lt_incomplete reason = lt_incomplete_of_reply(reply->finish, reply->text.n == 0);
  lt_str why = lt_completion_incomplete_reason(reply->finish);
  if (reason == LT_INCOMPLETE_NOT) {
    return LT_OK;
  }
  lt_str text = why.n == 0
                    ? LT_STR("(No response from model)")
                    : lt_arena_printf(&t->turn->arena, "%s(%.*s)", reply->text.n > 0 ? "\n" : "", LT_STR_ARG(why));
  return lt_turn_incomplete(t->turn, reason, text, err);
}

static lt_status tool_rounds_run_one(tool_dialogue *t, bool *ret_done, lt_err *err) LT_YIELDS {
  lt_completion reply;
  lt_completion_init(&reply);
  lt_status status = tool_rounds_ask(t, &reply, err);
  if (status == LT_OK && reply.call_count > 0) {
    status = tool_rounds_carry_out(t, &reply, err);
  } else if (status == LT_OK) {
    *ret_done = true;
    status = tool_rounds_end_answer(t, &reply, err);
  }
  lt_completion_release(&reply);
  return status;
}

static lt_status tool_rounds_run_all(tool_dialogue *t, lt_err *err) LT_YIELDS {
  bool done = false;
  for (uint32_t i = 0; i < t->turn->rounds; i++) {
    LT_TRY(t->rounds->define(t->rounds->arg, t->turn, i, &t->tools, err));
    LT_TRY(tool_rounds_put_system(t, i, err));
    LT_TRY(tool_rounds_run_one(t, &done, err));
    if (done) {
      return LT_OK;
    }
  }
  lt_str text = lt_arena_printf(&t->turn->arena, "Exceeded maximum number of rounds (%u). Stopping.", t->turn->rounds);
  return lt_turn_incomplete(t->turn, LT_INCOMPLETE_ROUNDS, text, err);
}

lt_status lt_tool_rounds_run(lt_turn *turn, const lt_tool_rounds *rounds, lt_err *err) {
  tool_dialogue t = {.turn = turn, .rounds = rounds};
  lt_request_messages_init(&t.messages, turn);
  lt_buf_init(&t.ids, LT_PROMPT_MEMORY_BYTES);
  lt_status status = tool_rounds_run_all(&t, err);
  lt_buf_release(&t.ids);
  lt_request_messages_release(&t.messages);
  return status;
}
