#include "agent/check.h"
#include "agent/turn_state.h"
#include "base/mem.h"

/* --- Being there -------------------------------------------------------------------------------------------------- */
static bool turn_make_last_words(lt_turn_state *own) {
  lt_json_writer w = lt_json_writer_on(&own->last_words);
  lt_json_begin_object(&w);
  lt_json_key(&w, "promptId");
  lt_json_put_cstr(&w, own->turn.ids.prompt);
  lt_json_end_object(&w);
  return own->last_words.status == LT_OK;
}

static uint32_t turn_max_rounds(const lt_agent_options *o, const lt_mode *mode) {
  uint32_t rounds = mode->rounds;
  for (size_t i = 0; i < o->rounds_count; i++) {
    rounds = lt_str_eqc(o->rounds[i].mode, mode->id) ? o->rounds[i].rounds : rounds;
  }
  return rounds < LT_ROUNDS_MAX ? rounds : LT_ROUNDS_MAX;
}

static bool turn_copy_id(char *to, lt_str id) {
  bool fits = id.n <= LT_STORE_ID_BYTES;
  memcpy(to, id.p, fits ? id.n : 0);
  to[fits ? id.n : 0] = '\0';
  return fits;
}

static bool turn_copy_texts(lt_turn *turn, const lt_prompt_row *row) {
  turn->user = lt_arena_dup(&turn->arena, row->user);
  turn->input = lt_arena_dup(&turn->arena, row->input);
  return turn->user.p != NULL && turn->input.p != NULL && turn_copy_id(turn->ids.prompt, row->id) &&
         turn_copy_id(turn->ids.conversation, row->conversation);
}

/* What programs have: the configured world, or what plugins have registered, with llm() and llmJson(). */
static bool turn_make_defaults(lt_turn_state *own) {
  const lt_agent_options *o = &own->turn.agent->options;
  own->defaults = o->defaults;
  if (own->defaults.function_count == 0) {
    own->defaults.functions = lt_host_functions(o->host, &own->defaults.function_count);
  }
  if (own->defaults.module_count == 0) {
    own->defaults.modules = lt_host_modules(o->host, &own->defaults.module_count);
  }
  return lt_llm_functions_add(own);
}

static bool turn_make_caller(lt_turn_state *own) {
  lt_turn *turn = &own->turn;
  const lt_agent_options *o = &turn->agent->options;
  own->artifacts.put = lt_turn_put_artifact;
  turn->caller = (lt_caller){
      .user = turn->user,
      .run = lt_str_of(turn->ids.prompt),
      .policy = o->policy,
      .budget = lt_budget_new(o->policy),
      .approver = &own->approvals.base,
      .journal = lt_turn_make_journal(own),
      .noted = own->journal.note != NULL,
      .artifacts = o->artifacts != NULL ? &own->artifacts : NULL,
      .on_call = lt_turn_on_call,
      .arg = turn,
  };
  return turn->caller.budget != NULL;
}

lt_status lt_turn_new(lt_agent *agent, const lt_prompt_row *row, const lt_model *model, const lt_mode *mode,
                      lt_turn_state **ret_own, lt_err *err) {
  lt_turn_state *own = lt_mem_zalloc(1, sizeof *own);
  if (own == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another prompt");
  }
  lt_turn *turn = &own->turn;
  *turn = (lt_turn){.agent = agent, .model = model, .mode = &own->mode, .own = own};
  own->mode = *mode;
  turn->rounds = turn_max_rounds(&agent->options, mode);
  turn->values = lt_stored_values_new();
  lt_arena_init(&turn->arena, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&turn->history, LT_JSON_MAX_BYTES);
  lt_cancel_init(&turn->cancel);
  lt_outbox_init(&own->outbox, turn);
  lt_approvals_init(&own->approvals, turn);
  lt_buf_init(&own->last_words, LT_KIB);
  if (turn->values == NULL || !turn_copy_texts(turn, row) || !turn_make_caller(own) || !turn_make_last_words(own)) {
    lt_turn_free(own);
    return lt_fail(err, LT_E_NOMEM, "no memory for another prompt");
  }
  *ret_own = own;
  return LT_OK;
}

void lt_turn_free(lt_turn_state *own) {
  lt_turn *turn = &own->turn;
  if (own->is_prepared) {
    lt_host_prepared_release(turn->agent->options.host, &turn->prepared);
  }
  lt_outbox_release(&own->outbox);
  lt_turn_record_release(turn);
  lt_buf_release(&own->last_words);
  lt_budget_free(turn->caller.budget);
  lt_stored_values_free(turn->values);
  lt_buf_release(&turn->history);
  lt_arena_release(&turn->arena);
  lt_mem_free(own);
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
void lt_turn_tell(const lt_turn *turn, const char *event, const lt_buf *data) {
  const lt_agent_options *o = &turn->agent->options;
  if (o->on_event != NULL && data->status == LT_OK) {
    o->on_event(o->arg, turn->user, event, lt_buf_view(data));
  }
}

void lt_turn_put_usage(const lt_turn_state *own, lt_json_writer *w) {
  const lt_usage *usage = &own->turn.usage;
  lt_json_begin_object(w);
  lt_json_key(w, "inputTokens");
  lt_json_put_int(w, usage->input_tokens);
  lt_json_key(w, "outputTokens");
  lt_json_put_int(w, usage->output_tokens);
  lt_json_key(w, "totalTokens");
  lt_json_put_int(w, usage->input_tokens + usage->output_tokens);
  lt_json_key(w, "requests");
  lt_json_put_int(w, own->requests);
  if (usage->reasoning_tokens > 0) {
    lt_json_key(w, "reasoningTokens");
    lt_json_put_int(w, usage->reasoning_tokens);
  }
  if (usage->estimated) {
    lt_json_key(w, "estimated");
    lt_json_put_bool(w, true);
  }
  if (own->resolved_model.n > 0) {
    lt_json_key(w, "resolvedModel");
    lt_json_put_str(w, own->resolved_model);
  }
  lt_json_end_object(w);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */
static void turn_on_delta(void *arg, lt_str delta) {
  lt_turn *turn = arg;
  if (lt_outbox_stream(&turn->own->outbox, delta, NULL) == LT_OK) {
    turn->own->streamed += delta.n;
  }
}

/* Also what a failed request has cost counts. */
void lt_turn_count(lt_turn *turn, const lt_completion *completion) {
  const lt_usage *usage = &completion->usage;
  turn->usage.input_tokens += usage->input_tokens;
  turn->usage.output_tokens += usage->output_tokens;
  turn->usage.reasoning_tokens += usage->reasoning_tokens;
  turn->own->requests++;
  turn->usage.estimated = turn->usage.estimated || usage->estimated;
  if (turn->own->resolved_model.n == 0 && completion->model.n > 0) {
    turn->own->resolved_model = lt_arena_dup(&turn->arena, completion->model);
  }
}

/* All that was put out came of replies that are on record; when one was lost on the way there, nobody can go on. */
static lt_status turn_check_caught_up(const lt_turn *turn, lt_err *err) {
  const char *id = lt_outbox_unclaimed(&turn->own->outbox);
  return id == NULL
             ? LT_OK
             : lt_fail(err, LT_E_DIVERGED,
                       "diverged: what the model replied is not on record as far as what came of it (\"%s\")", id);
}

lt_status lt_turn_ask(lt_turn *turn, lt_str messages, lt_str tools, bool stream, lt_completion *completion,
                      lt_err *err) {
  const lt_completion_request request = {
      .model = turn->model,
      .messages = messages,
      .tools = tools,
      .cancel = &turn->cancel,
      .on_text = stream ? turn_on_delta : NULL,
      .arg = turn,
  };
  turn->own->streamed = 0;
  LT_TRY(lt_outbox_flush(&turn->own->outbox, err));
  lt_status status = LT_OK;
  lt_err why = LT_ERR_INIT;
  if (lt_turn_record_take(turn, completion, &status, &why)) {
    LT_TRY(turn->agent->options.checks ? lt_turn_check_reply(turn, err) : LT_OK);
  } else if (turn->agent->options.checks) {
    return lt_turn_check_beyond(turn, "the model is asked once more", err);
  } else {
    LT_TRY(turn_check_caught_up(turn, err));
    LT_TRY(lt_approvals_settle(&turn->own->approvals, err));
    status = lt_model_complete(turn->agent->options.http, &request, completion, &why);
    lt_turn_record_put(turn, completion, status, &why);
  }
  lt_turn_count(turn, completion);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s", lt_err_msg(&why));
}

/* --- Putting out -------------------------------------------------------------------------------------------------- */
lt_status lt_turn_text(lt_turn *turn, lt_str text, lt_err *err) {
  size_t streamed = turn->own->streamed;
  turn->own->streamed = 0;
  LT_TRY(lt_outbox_text(&turn->own->outbox, text, streamed, err));
  return lt_outbox_flush(&turn->own->outbox, err);
}

/* Without secrets, as the door tells of calls; a value stays JSON, or the store would refuse it. Borrows: `masked`,
 * which is empty where there was none in it. */
static lt_status turn_mask(const lt_turn *turn, lt_str *text, bool is_value, lt_buf *masked, lt_err *err) {
  const lt_secrets *secrets = turn->agent->options.secrets;
  lt_buf_init(masked, LT_JSON_MAX_BYTES);
  if (!lt_secrets_in(secrets, *text)) {
    return LT_OK;
  }
  (is_value ? lt_secrets_mask_json : lt_secrets_mask)(secrets, *text, masked);
  *text = lt_buf_view(masked);
  return masked->status == LT_OK ? LT_OK : lt_fail(err, masked->status, "no memory to mask secrets");
}

/* Not waited for where calls are journalled: the journal sees to it that no call is made before (turn_journal.c). */
lt_status lt_turn_tool_begin(lt_turn *turn, lt_str id, lt_str function, lt_str input, lt_str reason,
                             uint32_t *ret_number, lt_err *err) {
  lt_buf masked;
  lt_status status = turn_mask(turn, &input, false, &masked, err);
  if (status == LT_OK) {
    const lt_outbox_tool tool = {.id = id, .function = function, .input = input, .reason = reason};
    status = lt_outbox_tool_begin(&turn->own->outbox, &tool, ret_number, err);
  }
  lt_buf_release(&masked);
  LT_TRY(status);
  return turn->caller.journal != NULL ? lt_outbox_check(&turn->own->outbox, err)
                                      : lt_outbox_flush(&turn->own->outbox, err);
}

lt_status lt_turn_tool_logs(lt_turn *turn, uint32_t number, lt_str logs, lt_err *err) {
  lt_buf masked;
  lt_status status = turn_mask(turn, &logs, false, &masked, err);
  if (status == LT_OK) {
    status = lt_outbox_tool_logs(&turn->own->outbox, number, logs, err);
  }
  lt_buf_release(&masked);
  return status;
}

lt_status lt_turn_tool_end(lt_turn *turn, uint32_t number, lt_status status, lt_str answer, lt_err *err) {
  lt_buf masked;
  lt_status done = turn_mask(turn, &answer, status == LT_OK && answer.n > 0, &masked, err);
  if (done == LT_OK) {
    done = lt_outbox_tool_end(&turn->own->outbox, number, status, answer, err);
  }
  lt_buf_release(&masked);
  LT_TRY(done);
  return lt_outbox_flush(&turn->own->outbox, err);
}

/* --- From beginning to end ---------------------------------------------------------------------------------------- */
/* The prompt itself is the last of its conversation already. Random digits of ours are in nobody's text. */
static void turn_remove_own_prompt(lt_turn *turn) {
  lt_buf *history = &turn->history;
  lt_str start = lt_arena_printf(&turn->arena, "{\"id\":\"%s\"", turn->ids.prompt);
  size_t at = lt_str_find(lt_buf_view(history), start, 0);
  if (at != SIZE_MAX && at > 0) {
    history->n = history->p[at - 1] == ',' ? at - 1 : at;
    lt_buf_byte(history, ']');
  }
}

/* A conversation that is too long for our memory is continued with its end. */
static lt_status turn_read_history(lt_turn *turn, lt_err *err) LT_YIELDS {
  lt_status status = LT_E_LIMIT;
  for (size_t max = LT_PROMPT_HISTORY_MAX; max > 0 && status == LT_E_LIMIT; max /= 10) {
    lt_buf_clear(&turn->history);
    status = lt_store_history(turn->agent->options.db, turn->user, lt_str_of(turn->ids.conversation), max + 1,
                              &turn->history, err);
    status = status == LT_OK ? turn->history.status : status;
  }
  if (status != LT_OK) {
    return lt_err_prefix(err, "the conversation's history cannot be read");
  }
  turn_remove_own_prompt(turn);
  return LT_OK;
}

lt_status lt_turn_prepare(lt_turn *turn, lt_err *err) {
  lt_turn_state *own = turn->own;
  if (own->is_prepared) {
    turn->caller.catalog = NULL;
    turn->caller.prompt = NULL;
    lt_host_prepared_release(turn->agent->options.host, &turn->prepared);
    own->is_prepared = false;
  }
  LT_TRY(lt_host_prepare(turn->agent->options.host, lt_str_of(turn->mode->id), lt_str_of(turn->ids.conversation),
                         &own->defaults, &turn->caller, &turn->prepared, err));
  own->is_prepared = true;
  return LT_OK;
}

static lt_status turn_run_mode(lt_turn_state *own, lt_err *err) LT_YIELDS {
  lt_turn *turn = &own->turn;
  if (own->refusal.n > 0) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(own->refusal));
  }
  if (!turn_make_defaults(own)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  }
  LT_TRY(lt_turn_record_check(turn, err));
  LT_TRY(lt_turn_prepare(turn, err));
  lt_turn_record_start(turn, turn->prepared.catalog);
  LT_TRY(turn_read_history(turn, err));
  if (turn->cancel.why != LT_OK) {
    return lt_fail(err, turn->cancel.why, "the prompt was cancelled");
  }
  LT_TRY(turn->mode->run(turn, err));
  return turn->agent->options.checks ? lt_turn_check_end(turn, err) : LT_OK;
}

lt_status lt_turn_carry_out(lt_turn_state *own, lt_err *err) {
  lt_status status = turn_run_mode(own, err);
  lt_outbox *outbox = &own->outbox;
  if (own->turn.agent->leaving) {
    (void)lt_outbox_flush(outbox, NULL);
    return status;
  }
  lt_outbox_end_all(outbox, status == LT_E_CANCELLED ? LT_STR("cancelled") : LT_STR("the prompt ended before it"));
  lt_err stored = LT_ERR_INIT;
  if (own->divergence.n > 0) {
    status = lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(own->divergence));
  }
  if (lt_outbox_flush(outbox, &stored) != LT_OK) { /* what a mode says then is only what follows from it */
    lt_fail(err, stored.status, "%s", lt_err_msg(&stored));
    return stored.status == LT_E_CANCELLED ? LT_E_IO : stored.status;
  }
  return status;
}
