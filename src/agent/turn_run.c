#include "agent/turn_run.h"

#include <math.h>

#include "agent/conversation_search.h"
#include "agent/conversation_summary.h"
#include "agent/turn_observer.h"
#include "agent/history/history_turn.h"
#include "agent/llm_functions.h"
#include "agent/recorded_tools.h"
#include "agent/turn_calls.h"
#include "agent/turn_journal.h"
#include "agent/turn_trace.h"
#include "base/mem.h"

/* --- Making ------------------------------------------------------------------------------------------------------- */
static bool turn_make_bare_end(lt_turn_state *turn_state) {
  lt_json_writer w = lt_json_writer_on(&turn_state->bare_end);
  lt_json_begin_object(&w);
  lt_json_key(&w, "promptId");
  lt_json_put_cstr(&w, turn_state->turn.ids.prompt);
  lt_json_end_object(&w);
  return turn_state->bare_end.status == LT_OK;
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
  turn->attachments = row->attachments.n > 0 ? lt_arena_dup(&turn->arena, row->attachments) : LT_STR("");
  return turn->user.p != NULL && turn->input.p != NULL && turn->attachments.p != NULL &&
         turn_copy_id(turn->ids.prompt, row->id) && turn_copy_id(turn->ids.conversation, row->conversation);
}

/* Sets the modules and functions of programs: the configured ones or the plugins', with llm() and llmJson(). */
static bool turn_make_defaults(lt_turn_state *turn_state) {
  const lt_agent_options *o = &turn_state->turn.agent->options;
  turn_state->defaults = o->defaults;
  if (turn_state->defaults.function_count == 0) {
    turn_state->defaults.functions = lt_host_functions(o->host, &turn_state->defaults.function_count);
  }
  if (turn_state->defaults.module_count == 0) {
    turn_state->defaults.modules = lt_host_modules(o->host, &turn_state->defaults.module_count);
  }
  return lt_llm_functions_add(&turn_state->turn, &turn_state->defaults);
}

static bool turn_make_caller(lt_turn_state *turn_state) {
  lt_turn *turn = &turn_state->turn;
  const lt_agent_options *o = &turn->agent->options;
  turn_state->artifacts.put = lt_turn_put_artifact;
  turn->caller = (lt_caller){
      .user = turn->user,
      .run = lt_str_of(turn->ids.prompt),
      .policy = o->policy,
      .budget = lt_budget_new(o->policy),
      .approver = &turn_state->approvals.base,
      .journal = lt_turn_journal_init(turn_state),
      .noted = turn_state->journal.note != NULL,
      .artifacts = o->artifacts != NULL ? &turn_state->artifacts : NULL,
      .on_call = lt_turn_on_call,
      .wants_progress = o->on_call != NULL,
      .arg = turn,
  };
  return turn->caller.budget != NULL;
}

lt_status lt_turn_new(lt_agent *agent, const lt_prompt_row *row, const lt_model *model, const lt_mode *mode,
                      lt_turn_state **ret_turn, lt_err *err) {
  lt_turn_state *turn_state = lt_mem_alloc(sizeof *turn_state);
  if (turn_state == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another prompt");
  }
  memset(turn_state, 0, offsetof(lt_turn_state, outbox));
  lt_turn *turn = &turn_state->turn;
  *turn = (lt_turn){.agent = agent, .model = model, .mode = &turn_state->mode, .internal = turn_state};
  turn_state->mode = *mode;
  turn->rounds = turn_max_rounds(&agent->options, mode);
  turn->values = lt_stored_values_new();
  lt_arena_init(&turn->arena, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&turn->history, LT_JSON_MAX_BYTES);
  lt_cancel_init(&turn->cancel);
  lt_outbox_init(&turn_state->outbox, turn);
  lt_deferred_start_init(&turn_state->deferred_start, agent->options.loop);
  lt_approvals_init(&turn_state->approvals, turn);
  lt_program_drafts_init(&turn_state->drafts, turn);
  lt_buf_init(&turn_state->bare_end, LT_KIB);
  lt_buf_init(&turn_state->held_text, LT_MODEL_TEXT_MAX_BYTES);
  if (turn->values == NULL || !turn_copy_texts(turn, row) || !turn_make_caller(turn_state) ||
      !turn_make_bare_end(turn_state)) {
    lt_turn_free(turn_state);
    return lt_fail(err, LT_E_NOMEM, "no memory for another prompt");
  }
  if (mode->is_call != NULL && mode->is_call(turn->input)) {
    turn_state->mode.for_programs = false;
  }
  *ret_turn = turn_state;
  return LT_OK;
}

void lt_turn_free(lt_turn_state *turn_state) {
  lt_turn *turn = &turn_state->turn;
  if (turn_state->is_prepared) {
    lt_host_prepared_release(&turn->prepared);
  }
  lt_outbox_release(&turn_state->outbox);
  lt_approvals_release(&turn_state->approvals);
  lt_program_drafts_release(&turn_state->drafts);
  lt_turn_record_release(turn);
  lt_deferred_start_release(&turn_state->deferred_start);
  lt_buf_release(&turn_state->bare_end);
  lt_buf_release(&turn_state->held_text);
  lt_budget_free(turn->caller.budget);
  lt_stored_values_free(turn->values);
  lt_buf_release(&turn->history);
  lt_arena_release(&turn->arena);
  lt_mem_free(turn_state);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
void lt_turn_put_usage(const lt_turn_state *turn_state, lt_json_writer *w) {
  const lt_usage *usage = &turn_state->turn.usage;
  lt_json_begin_object(w);
  lt_json_key(w, "inputTokens");
  lt_json_put_int(w, usage->input_tokens);
  lt_json_key(w, "outputTokens");
  lt_json_put_int(w, usage->output_tokens);
  lt_json_key(w, "totalTokens");
  lt_json_put_int(w, usage->input_tokens + usage->output_tokens);
  lt_json_key(w, "requests");
  lt_json_put_int(w, turn_state->requests);
  if (usage->cached_input_tokens > 0) {
    lt_json_key(w, "cachedInputTokens");
    lt_json_put_int(w, usage->cached_input_tokens);
  }
  if (usage->cache_write_tokens > 0) {
    lt_json_key(w, "cacheWriteTokens");
    lt_json_put_int(w, usage->cache_write_tokens);
  }
  if (usage->reasoning_tokens > 0) {
    lt_json_key(w, "reasoningTokens");
    lt_json_put_int(w, usage->reasoning_tokens);
  }
  if (turn_state->turn.model->price.is_known || usage->cost > 0) {
    lt_json_key(w, "cost");
    lt_json_put_double(w, rint(usage->cost * 1e9) / 1e9);
  }
  if (usage->estimated) {
    lt_json_key(w, "estimated");
    lt_json_put_bool(w, true);
  }
  if (turn_state->resolved_model.n > 0) {
    lt_json_key(w, "resolvedModel");
    lt_json_put_str(w, turn_state->resolved_model);
  }
  lt_json_end_object(w);
}

/* --- From beginning to end ---------------------------------------------------------------------------------------- */
lt_status lt_turn_prepare(lt_turn *turn, lt_err *err) {
  lt_turn_state *turn_state = turn->internal;
  if (turn_state->is_prepared) {
    turn->caller.catalog = NULL;
    turn->caller.prompt = NULL;
    lt_host_prepared_release(&turn->prepared);
    turn_state->is_prepared = turn_state->has_saved = false;
  }
  LT_TRY(lt_conversation_search_offer(turn, err));
  LT_TRY(lt_host_prepare(turn->agent->options.host, lt_str_of(turn->mode->id), turn->mode->for_programs,
                         lt_str_of(turn->ids.conversation), &turn_state->defaults, &turn->caller, &turn->prepared,
                         err));
  turn_state->is_prepared = true;
  return lt_recorded_tools_follow(turn, err);
}

lt_status lt_turn_follow_saves(lt_turn *turn, lt_err *err) {
  lt_turn_state *turn_state = turn->internal;
  if (!turn_state->has_saved) {
    return LT_OK;
  }
  turn_state->has_saved = false;
  LT_TRY(lt_host_prepare_again(turn->agent->options.host, &turn->caller, &turn->prepared, err));
  return lt_recorded_tools_follow(turn, err);
}

static lt_status turn_run_mode(lt_turn_state *turn_state, lt_err *err) LT_YIELDS {
  lt_turn *turn = &turn_state->turn;
  if (turn_state->refusal.n > 0) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(turn_state->refusal));
  }
  if (!turn_make_defaults(turn_state)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  }
  LT_TRY(lt_turn_record_check(turn, err));
  LT_TRY(lt_history_turn_read(turn, err));
  lt_conversation_summary_plan(turn); /* says whether there is a tool for what the model is not shown */
  LT_TRY(lt_turn_prepare(turn, err));
  lt_recorded_tools_start(turn);
  lt_turn_trace_note(turn);
  lt_conversation_summary_prepare(turn);
  if (turn->cancel.why != LT_OK) {
    return lt_fail(err, turn->cancel.why, "the prompt was cancelled");
  }
  LT_TRY(turn->mode->run(turn, err));
  return lt_turn_observer_end(turn, lt_outbox_unclaimed(&turn_state->outbox), err);
}

lt_status lt_turn_carry_out(lt_turn_state *turn_state, lt_err *err) {
  lt_outbox *outbox = &turn_state->outbox;
  if (turn_state->record.is_recalled) {
    lt_approvals_look_for_cancel(&turn_state->approvals);
  }
  lt_status status = lt_outbox_tell_unshown(outbox, err);
  if (status == LT_OK) {
    status = turn_run_mode(turn_state, err);
  }
  if (turn_state->turn.agent->leaving) {
    (void)lt_outbox_flush(outbox, NULL);
    return status;
  }
  lt_outbox_end_all(outbox, status == LT_E_CANCELLED ? LT_STR("cancelled") : LT_STR("the prompt ended before it"));
  if (turn_state->divergence.n > 0) {
    status = lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(turn_state->divergence));
  }
  lt_status flushed = lt_outbox_flush(outbox, err);
  if (flushed != LT_OK) { /* the mode's error is only a consequence of this one */
    return flushed == LT_E_CANCELLED ? LT_E_IO : flushed;
  }
  if (lt_outbox_mode_bytes(outbox) > LT_DEFERRED_OUTPUT_BYTES) {
    (void)lt_deferred_start_store(turn_state, NULL); /* else it is told while it is in memory */
  }
  return status;
}
