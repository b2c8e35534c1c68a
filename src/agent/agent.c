#include "agent/agent.h"

#include "agent/attachments.h"
#include "agent/decision_watch.h"
#include "agent/deferred_end.h"
#include "agent/heartbeat.h"
#include "agent/turn_run.h"
#include "agent/turn_trace.h"
#include "base/clock.h"
#include "base/mem.h"

/* Waits for the end of a prompt; on the waiting fiber's stack. */
typedef struct agent_waiter {
  struct agent_waiter *next;
  lt_wait wait;
  lt_buf *ret_prompt; /* may be NULL */
} agent_waiter;

/* --- Models and modes --------------------------------------------------------------------------------------------- */
static const lt_model *agent_find_model(const lt_agent_options *o, lt_str ref) {
  for (size_t i = 0; i < o->model_count; i++) {
    if (lt_str_eq(o->models[i].ref, ref)) {
      return &o->models[i];
    }
  }
  if (lt_str_eqc(ref, "high")) {
    return agent_find_model(o, LT_STR("normal"));
  }
  return lt_str_eqc(ref, "normal") && o->model_count > 0 ? &o->models[0] : NULL;
}

const lt_model *lt_agent_find_model(const lt_agent *agent, lt_str ref) {
  return agent_find_model(&agent->options, ref);
}

const lt_model *lt_agent_default_model(const lt_agent *agent) {
  lt_str ref = agent->options.default_model;
  return agent_find_model(&agent->options, ref.n > 0 ? ref : LT_STR("normal"));
}

static void agent_add_name(lt_buf *names, lt_str name) {
  lt_buf_addc(names, names->n > 0 ? ", " : "");
  lt_buf_add(names, name);
}

static lt_status agent_fail_no_model(const lt_agent_options *o, lt_str ref, lt_status status, lt_err *err) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  for (size_t i = 0; i < o->model_count; i++) {
    if (o->models[i].ref.n > 0) {
      agent_add_name(&names, o->models[i].ref);
    }
  }
  lt_fail(err, status, "Unknown model: \"%.*s\"%s%.*s", LT_STR_ARG(lt_str_sub(ref, 0, 100)),
          names.n > 0 ? ". Models: " : ". No models are configured", LT_STR_ARG(lt_buf_view(&names)));
  return status;
}

void lt_agent_mode_names(const lt_host *host, lt_buf *out) {
  lt_mode mode;
  for (size_t i = 0; lt_mode_at(host, i, &mode); i++) {
    lt_buf_addc(out, i > 0 ? ", " : "");
    lt_buf_addc(out, mode.id);
  }
}

static lt_status agent_fail_no_mode(const lt_host *host, lt_str id, lt_status status, lt_err *err) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  lt_agent_mode_names(host, &names);
  return lt_fail(err, status, "Unknown execution mode: \"%.*s\". Modes: %.*s", LT_STR_ARG(lt_str_sub(id, 0, 100)),
                 LT_STR_ARG(lt_buf_view(&names)));
}

lt_status lt_agent_check_mode(const lt_host *host, lt_str mode, lt_err *err) {
  lt_mode found;
  if (lt_mode_find(host, mode, &found)) {
    return LT_OK;
  }
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  lt_agent_mode_names(host, &names);
  return lt_fail(err, LT_E_INVALID, "there is no mode \"%.*s\"; there is: %.*s", LT_STR_ARG(lt_str_sub(mode, 0, 100)),
                 LT_STR_ARG(lt_buf_view(&names)));
}

static lt_status agent_choose_model(const lt_agent_options *o, lt_str ref, lt_status otherwise, const lt_model **ret,
                                    lt_err *err) {
  if (ref.n == 0) {
    ref = o->default_model.n > 0 ? o->default_model : LT_STR("normal");
  }
  *ret = agent_find_model(o, ref);
  return *ret != NULL ? LT_OK : agent_fail_no_model(o, ref, otherwise, err);
}

/* The mode of prompts that name none. `model` may be NULL. */
static lt_str agent_mode_of_model(const lt_agent_options *o, const lt_model *model) {
  if (model != NULL && o->model_modes != NULL && o->model_modes[model - o->models].n > 0) {
    return o->model_modes[model - o->models];
  }
  return o->default_mode.n > 0 ? o->default_mode : LT_STR("classic");
}

lt_str lt_agent_default_mode(const lt_agent *agent) {
  return agent_mode_of_model(&agent->options, lt_agent_default_model(agent));
}

static lt_status agent_choose_mode(const lt_agent_options *o, const lt_model *model, lt_str id, lt_status otherwise,
                                   lt_mode *ret, lt_err *err) {
  if (id.n == 0) {
    id = agent_mode_of_model(o, model);
  }
  return lt_mode_find(o->host, id, ret) ? LT_OK : agent_fail_no_mode(o->host, id, otherwise, err);
}

/* --- The agent ---------------------------------------------------------------------------------------------------- */
static lt_status agent_check_options(const lt_agent_options *options, lt_err *err) {
  const lt_model *model;
  lt_mode mode;
  if (options->default_model.n > 0) {
    LT_TRY(agent_choose_model(options, options->default_model, LT_E_CONFIG, &model, err));
  }
  LT_TRY(agent_choose_mode(options, NULL, options->default_mode, LT_E_CONFIG, &mode, err));
  for (size_t i = 0; options->model_modes != NULL && i < options->model_count; i++) {
    LT_TRY(agent_choose_mode(options, &options->models[i], LT_STR_NULL, LT_E_CONFIG, &mode, err));
  }
  return LT_OK;
}

lt_status lt_agent_change(lt_agent *agent, const lt_agent_options *options, lt_err *err) {
  lt_agent_options *o = &agent->options;
  LT_TRY(agent_check_options(options, err));
  o->models = options->models;
  o->model_count = options->model_count;
  o->model_modes = options->model_modes;
  o->default_model = options->default_model;
  o->default_mode = options->default_mode;
  o->rounds = options->rounds;
  o->rounds_count = options->rounds_count;
  o->listing_tokens = options->listing_tokens;
  o->instructions = options->instructions;
  o->defaults.timeout_ms = options->defaults.timeout_ms;
  o->defaults.memory_bytes = options->defaults.memory_bytes;
  o->defaults.max_output_bytes = options->defaults.max_output_bytes;
  o->origin = options->origin;
  return LT_OK;
}

lt_status lt_agent_new(const lt_agent_options *options, lt_agent **ret_agent, lt_err *err) {
  LT_TRY(agent_check_options(options, err));
  lt_agent *agent = lt_mem_zalloc(1, sizeof *agent);
  if (agent == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the agent");
  }
  agent->options = *options;
  agent->options.observer = options->observer != NULL ? options->observer : &lt_replay_observer_none;
  agent->modes = lt_mode_table;
  agent->mode_count = lt_mode_count;
  lt_wait_init(&agent->ended, options->loop);
  lt_cancel_init(&agent->close);
  lt_buf_init(&agent->system_text, LT_SYSTEM_KEPT_BYTES);
  lt_buf_init(&agent->system_message, 2 * LT_SYSTEM_KEPT_BYTES);
  *ret_agent = agent;
  return LT_OK;
}

void lt_agent_free(lt_agent *agent) {
  if (agent == NULL) {
    return;
  }
  agent->closing = true;
  agent->leaving = agent->options.leave_open;
  lt_cancel_fire(&agent->close, LT_E_CANCELLED);
  for (lt_turn_state *turn_state = agent->turns; turn_state != NULL; turn_state = turn_state->next) {
    lt_cancel_fire(&turn_state->turn.cancel, LT_E_CANCELLED);
  }
  lt_decision_watch_wake(agent);
  while (agent->turns != NULL || agent->titles > 0 || agent->deferred_ends > 0 || agent->watch.is_running ||
         agent->is_beating) {
    lt_wait_on(&agent->ended, UINT64_MAX);
  }
  lt_tool_text_release(&agent->listing);
  lt_tool_text_release(&agent->definitions);
  lt_buf_release(&agent->system_text);
  lt_buf_release(&agent->system_message);
  lt_mem_free(agent);
}

size_t lt_agent_busy(const lt_agent *agent) {
  size_t count = 0;
  for (const lt_turn_state *turn_state = agent->turns; turn_state != NULL; turn_state = turn_state->next) {
    bool is_waiting = turn_state->turn.state == LT_PROMPT_WAITING;
    count += !is_waiting || lt_outbox_has_calls(&turn_state->outbox);
  }
  return count;
}

/* What a prompt does changes without anybody being woken: it is looked at again and again. */
void lt_agent_drain(lt_agent *agent, uint64_t ms, lt_cancel *hurry) {
  lt_wait wait;
  lt_cancel_node node;
  uint64_t until_ms = lt_loop_now_ms(agent->options.loop) + ms;
  agent->is_draining = true;
  lt_wait_init(&wait, agent->options.loop);
  lt_cancel_add(hurry, &node, &wait);
  while (lt_agent_busy(agent) > 0 && hurry->why == LT_OK && lt_loop_now_ms(agent->options.loop) < until_ms) {
    (void)lt_wait_on(&wait, LT_DRAIN_POLL_MS);
  }
  lt_cancel_remove(hurry, &node);
}

/* NULL: the prompt does not run, or is another user's. */
static lt_turn_state *agent_find_turn(const lt_agent *agent, const lt_str *user, lt_str prompt) {
  lt_turn_state *turn_state = agent->turns_by_id[lt_str_hash(prompt) % LT_AGENT_BUCKETS];
  while (turn_state != NULL && (!lt_str_eqc(prompt, turn_state->turn.ids.prompt) ||
                                (user != NULL && !lt_str_eq(turn_state->turn.user, *user)))) {
    turn_state = turn_state->next_by_id;
  }
  return turn_state;
}

bool lt_agent_runs(const lt_agent *agent, lt_str prompt) {
  return agent_find_turn(agent, NULL, prompt) != NULL;
}

void lt_agent_count_prompts(const lt_agent *agent, size_t *ret_running, size_t *ret_waiting) {
  size_t running = 0, waiting = 0;
  for (const lt_turn_state *turn_state = agent->turns; turn_state != NULL; turn_state = turn_state->next) {
    bool is_waiting = turn_state->turn.state == LT_PROMPT_WAITING;
    waiting += is_waiting;
    running += !is_waiting;
  }
  *ret_running = running;
  *ret_waiting = waiting;
}

lt_status lt_agent_fail_inactive(lt_str prompt, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "Prompt \"%.*s\" not found or no longer active",
                 LT_STR_ARG(lt_str_sub(prompt, 0, 2 * LT_STORE_ID_BYTES)));
}

static lt_turn_state **agent_bucket_of(lt_agent *agent, const lt_turn_state *turn_state) {
  return &agent->turns_by_id[lt_str_hash(lt_str_of(turn_state->turn.ids.prompt)) % LT_AGENT_BUCKETS];
}

static void agent_remove_turn(lt_agent *agent, lt_turn_state *turn_state) {
  lt_turn_state **place = agent_bucket_of(agent, turn_state);
  while (*place != turn_state) {
    place = &(*place)->next_by_id;
  }
  *place = turn_state->next_by_id;
  *(turn_state->prev != NULL ? &turn_state->prev->next : &agent->turns) = turn_state->next;
  if (turn_state->next != NULL) {
    turn_state->next->prev = turn_state->prev;
  }
  if (agent->turns == NULL) {
    lt_decision_watch_wake(agent);
  }
  lt_heartbeat_check(agent);
}

/* --- The end of a prompt ------------------------------------------------------------------------------------------ */
static void agent_put_end(lt_json_writer *w, const lt_turn_state *turn_state, lt_str error) {
  lt_json_begin_object(w);
  lt_json_key(w, "promptId");
  lt_json_put_cstr(w, turn_state->turn.ids.prompt);
  if (turn_state->turn.state == LT_PROMPT_COMPLETED) {
    lt_json_key(w, "output");
    lt_outbox_put_all(&turn_state->outbox, w);
    lt_json_key(w, "usage");
    lt_turn_put_usage(turn_state, w);
    lt_incomplete_put(w, turn_state->incomplete);
  } else if (turn_state->turn.state == LT_PROMPT_FAILED) {
    lt_json_key(w, "error");
    lt_json_put_str(w, error);
  }
  lt_json_end_object(w);
}

static void agent_put_prompt(lt_json_writer *w, const lt_turn_state *turn_state, lt_str error) {
  const lt_turn *turn = &turn_state->turn;
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_cstr(w, turn->ids.prompt);
  lt_json_key(w, "mode");
  lt_json_put_cstr(w, turn->mode->id);
  lt_json_key(w, "state");
  lt_json_put_cstr(w, lt_store_prompt_state_name(turn->state));
  lt_json_key(w, "isStored");
  lt_json_put_bool(w, !lt_deferred_start_is_open(turn_state));
  lt_json_key(w, "input");
  lt_json_put_str(w, turn->input);
  lt_json_key(w, "output");
  lt_outbox_put_all(&turn_state->outbox, w);
  lt_json_key(w, "usage");
  lt_turn_put_usage(turn_state, w);
  if (turn->state == LT_PROMPT_FAILED) {
    lt_json_key(w, "error");
    lt_json_put_str(w, error);
  } else if (turn->state == LT_PROMPT_COMPLETED) {
    lt_incomplete_put(w, turn_state->incomplete);
  }
  lt_json_end_object(w);
}

static void agent_tell_monitor(const lt_turn_state *turn_state, bool has_ended, lt_str error) {
  const lt_turn *turn = &turn_state->turn;
  const lt_monitor_prompt told = {
      .has_ended = has_ended,
      .is_resumed = turn_state->record.is_recalled,
      .id = lt_str_of(turn->ids.prompt),
      .conversation = lt_str_of(turn->ids.conversation),
      .user = turn->user,
      .mode = lt_str_of(turn->mode->id),
      .model = turn->model,
      .state = has_ended ? lt_store_prompt_state_name(turn->state) : NULL,
      .error = error,
      .took_us = has_ended ? lt_clock_monotonic_us() - turn_state->began_us : 0,
      .trace = &turn->caller.trace,
      .parent = &turn_state->trace_parent,
      .began_us = (int64_t)turn_state->began_us - turn_state->earlier_us,
      .ended_us = (int64_t)lt_clock_monotonic_us(),
      .input = turn->input,
      .usage = &turn->usage,
  };
  lt_monitor_tell_prompt(turn->agent->options.monitor, &told);
}

/* The end's event is always sent; without memory it has the prompt's id only. */
static void agent_report_end(lt_turn_state *turn_state, lt_str error) {
  const char *event = turn_state->turn.state == LT_PROMPT_COMPLETED   ? "prompt.completed"
                      : turn_state->turn.state == LT_PROMPT_CANCELLED ? "prompt.cancelled"
                                                                      : "prompt.error";
  LT_AUTO_BUF(data, 2 * LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  agent_put_end(&w, turn_state, error);
  lt_turn_send_event(&turn_state->turn, event, data.status == LT_OK ? &data : &turn_state->bare_end);
}

/* Storing may work again a moment later, when the file was locked or full. After the last try the end's event is sent,
 * and the end is stored later (deferred_end.h). */
static lt_status agent_store_state(const lt_turn *turn, const lt_prompt_change *end, lt_err *err) LT_YIELDS {
  static const uint64_t waits_ms[] = {50, 500, 2000};
  const lt_agent *agent = turn->agent;
  for (size_t i = 0;; i++) {
    lt_status status = lt_store_prompt_update(agent->options.db, lt_str_of(turn->ids.prompt), NULL, 0, end, err);
    bool is_final = status == LT_OK || status == LT_E_NOTFOUND || status == LT_E_CLOSED;
    bool should_retry = !is_final && i < sizeof waits_ms / sizeof waits_ms[0];
    if (!should_retry || agent->closing) {
      return status;
    }
    lt_loop_sleep(agent->options.loop, waits_ms[i]);
  }
}

/* A prompt whose end cannot be stored has failed, however it ended. `error`: why it failed, if it has. */
static void agent_store_end(lt_turn_state *turn_state, lt_status status, lt_buf *error) LT_YIELDS {
  lt_turn *turn = &turn_state->turn;
  LT_ERR_VAR(stored);
  LT_AUTO_BUF(usage, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&usage);
  lt_turn_put_usage(turn_state, &w);
  if (usage.status != LT_OK) { /* a partial text is not valid JSON */
    lt_buf_release(&usage);
  }
  turn->state = status == LT_OK                                           ? LT_PROMPT_COMPLETED
                : status == LT_E_DIVERGED                                 ? LT_PROMPT_FAILED
                : turn->cancel.why != LT_OK && status == turn->cancel.why ? LT_PROMPT_CANCELLED
                                                                          : LT_PROMPT_FAILED;
  lt_prompt_change end = {
      .state = turn->state,
      .usage = lt_buf_view(&usage),
      .error = turn->state == LT_PROMPT_FAILED ? lt_buf_view(error) : LT_STR_NULL,
      .incomplete =
          turn->state == LT_PROMPT_COMPLETED ? lt_str_of(lt_incomplete_name(turn_state->incomplete)) : LT_STR_NULL,
  };
  if (!lt_deferred_start_is_open(turn_state) && agent_store_state(turn, &end, &stored) != LT_OK) {
    if (turn->state != LT_PROMPT_FAILED) {
      turn->state = LT_PROMPT_FAILED;
      lt_buf_clear(error);
      lt_buf_addc(error, lt_err_msg(&stored));
    }
    bool is_lost = stored.status == LT_E_NOTFOUND || stored.status == LT_E_CLOSED; /* removed, or taken over */
    if (is_lost || !lt_deferred_end_start(turn, lt_buf_view(&usage), lt_buf_view(error))) {
      (void)lt_store_prompt_release(turn->agent->options.db, lt_str_of(turn->ids.prompt), NULL);
    }
  }
}

/* Tells those who wait how the prompt ended. */
static void agent_tell_waiters(const lt_turn_state *turn_state, lt_str error) {
  for (const agent_waiter *waiter = turn_state->waiters; waiter != NULL; waiter = waiter->next) {
    if (waiter->ret_prompt != NULL) {
      lt_json_writer w = lt_json_writer_on(waiter->ret_prompt);
      agent_put_prompt(&w, turn_state, error);
    }
  }
}

/* Stores how the prompt ended, and sends the event. */
static void agent_end_turn(lt_turn_state *turn_state, lt_status status, const lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(error, LT_ERR_MSG_MAX * 8);
  lt_buf_addc(&error, status == LT_OK ? "" : lt_err_msg(err));
  lt_secrets_mask_buf(turn_state->turn.agent->options.secrets, &error);
  lt_deferred_start_settle(turn_state);
  agent_store_end(turn_state, status, &error);
  agent_tell_monitor(turn_state, true, lt_buf_view(&error));
  agent_report_end(turn_state, lt_buf_view(&error));
  agent_tell_waiters(turn_state, lt_buf_view(&error));
}

static void agent_wake_waiters(lt_turn_state *turn_state) {
  while (turn_state->waiters != NULL) {
    agent_waiter *waiter = turn_state->waiters;
    turn_state->waiters = waiter->next;
    lt_wait_wake(&waiter->wait, LT_OK);
  }
}

/* The next process that finds the prompt carries it out again. Nobody was told of one that is not stored. */
static void agent_leave_turn(lt_turn_state *turn_state) LT_YIELDS {
  lt_deferred_start_settle(turn_state);
  (void)lt_store_prompt_release(turn_state->turn.agent->options.db, lt_str_of(turn_state->turn.ids.prompt), NULL);
}

static void agent_on_turn_fiber(void *arg) {
  lt_turn_state *turn_state = arg;
  lt_agent *agent = turn_state->turn.agent;
  LT_ERR_VAR(err);
  lt_status status = lt_turn_carry_out(turn_state, &err);
  if (agent->leaving) {
    agent_leave_turn(turn_state);
  } else {
    agent_end_turn(turn_state, status, &err);
  }
  agent_remove_turn(agent, turn_state);
  agent_wake_waiters(turn_state);
  lt_turn_free(turn_state);
  lt_wait_wake(&agent->ended, LT_OK);
}

/* --- Starting one ------------------------------------------------------------------------------------------------- */
static lt_status agent_check_input(const lt_agent *agent, const lt_prompt_request *request, lt_err *err) {
  if (agent->closing || agent->is_draining) {
    return lt_fail(err, LT_E_CLOSED, "Lathe is ending: no further prompts are taken");
  }
  if (lt_str_trim(request->input).n == 0) {
    return lt_fail(err, LT_E_INVALID, "The input is empty: say what is to be done");
  }
  if (request->input.n > LT_PROMPT_INPUT_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "The input has %zu bytes, and at most %lu are taken", request->input.n,
                   LT_PROMPT_INPUT_BYTES);
  }
  return LT_OK;
}

static lt_status agent_choose_id(const lt_prompt_request *request, lt_prompt_ids *ids, lt_err *err) {
  if (request->id.n != LT_STORE_ID_BYTES) {
    return lt_store_new_prompt_id(ids->prompt, err);
  }
  memcpy(ids->prompt, request->id.p, request->id.n);
  ids->prompt[request->id.n] = '\0';
  return LT_OK;
}

static lt_status agent_choose_conversation(const lt_agent *agent, const lt_prompt_request *request, lt_prompt_ids *ids,
                                           lt_err *err) LT_YIELDS {
  lt_str id = request->conversation;
  if (id.n == 0) {
    return lt_store_new_id(ids->conversation, err);
  }
  LT_AUTO_BUF(ignored, LT_MIB);
  lt_status status = lt_store_conversation_get(agent->options.db, request->user, id, &ignored, err);
  if (status == LT_E_NOTFOUND || id.n != LT_STORE_ID_BYTES) {
    return lt_fail(err, LT_E_NOTFOUND, "Conversation \"%.*s\" not found",
                   LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
  }
  LT_TRY(status);
  memcpy(ids->conversation, id.p, id.n);
  ids->conversation[id.n] = '\0';
  return LT_OK;
}

static void agent_report_start(const lt_turn *turn, const char *event) {
  LT_AUTO_BUF(data, LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_key(&w, "promptId");
  lt_json_put_cstr(&w, turn->ids.prompt);
  lt_json_key(&w, "userId");
  lt_json_put_str(&w, turn->user);
  lt_json_key(&w, "conversationId");
  lt_json_put_cstr(&w, turn->ids.conversation);
  lt_json_key(&w, "model");
  lt_json_put_str(&w, turn->model->ref);
  lt_json_key(&w, "mode");
  lt_json_put_cstr(&w, turn->mode->id);
  if (turn->attachments.n > 0) {
    lt_json_key(&w, "attachments");
    lt_json_put_raw(&w, turn->attachments);
  }
  lt_json_end_object(&w);
  lt_turn_send_event(turn, event, &data);
}

/* A stored prompt that cannot run ends as failed; the error says why. */
static lt_status agent_start_fiber(lt_turn_state *turn_state, const char *event, lt_err *err) LT_YIELDS {
  lt_agent *agent = turn_state->turn.agent;
  turn_state->began_us = lt_clock_monotonic_us();
  agent_tell_monitor(turn_state, false, LT_STR_NULL);
  LT_ERR_VAR(why);
  if (agent->closing) {
    lt_fail(&why, LT_E_CLOSED, "Lathe is ending: no further prompts are taken");
  } else if (lt_loop_spawn(agent->options.loop, agent_on_turn_fiber, turn_state, &why) == LT_OK) {
    agent_report_start(&turn_state->turn, event);
    return LT_OK;
  }
  if (agent->leaving) {
    agent_leave_turn(turn_state);
  } else {
    agent_end_turn(turn_state, why.status, &why);
  }
  return lt_err_copy(err, &why);
}

static void agent_add_turn(lt_turn_state *turn_state) {
  lt_agent *agent = turn_state->turn.agent;
  lt_turn_state **place = agent_bucket_of(agent, turn_state);
  turn_state->next_by_id = *place;
  *place = turn_state;
  turn_state->prev = NULL;
  turn_state->next = agent->turns;
  if (turn_state->next != NULL) {
    turn_state->next->prev = turn_state;
  }
  agent->turns = turn_state;
  if (!lt_deferred_start_is_open(turn_state)) {
    lt_decision_watch_wake(agent);
    lt_heartbeat_start(agent);
  }
}

static void agent_drop_turn(lt_turn_state *turn_state) {
  lt_agent *agent = turn_state->turn.agent;
  agent_remove_turn(agent, turn_state);
  lt_turn_free(turn_state);
  lt_wait_wake(&agent->ended, LT_OK);
}

lt_status lt_agent_launch(lt_turn_state *turn_state, const char *event, lt_err *err) {
  agent_add_turn(turn_state);
  lt_status status = agent_start_fiber(turn_state, event, err);
  if (status != LT_OK) {
    agent_drop_turn(turn_state);
  }
  return status;
}

static lt_status agent_store_and_start(lt_turn_state *turn_state, const lt_prompt_row *row, lt_err *err) LT_YIELDS {
  agent_add_turn(turn_state);
  lt_status status = lt_deferred_start_is_open(turn_state)
                         ? LT_OK
                         : lt_store_prompt_create(turn_state->turn.agent->options.db, row, err);
  if (status == LT_OK) {
    status = agent_start_fiber(turn_state, "prompt.created", err);
  }
  if (status != LT_OK) {
    agent_drop_turn(turn_state);
  }
  return status;
}

lt_status lt_agent_start(lt_agent *agent, const lt_prompt_request *request, lt_prompt_ids *ret_ids, lt_err *err) {
  const lt_model *model;
  lt_mode mode;
  lt_prompt_ids ids;
  lt_turn_state *turn_state;
  LT_TRY(agent_check_input(agent, request, err));
  LT_TRY(agent_choose_model(&agent->options, request->model, LT_E_INVALID, &model, err));
  LT_TRY(agent_choose_mode(&agent->options, model, request->mode, LT_E_INVALID, &mode, err));
  LT_TRY(agent_choose_id(request, &ids, err));
  LT_TRY(agent_choose_conversation(agent, request, &ids, err));
  lt_prompt_row row = {
      .id = lt_str_of(ids.prompt),
      .user = request->user,
      .conversation = lt_str_of(ids.conversation),
      .model = model->ref,
      .mode = lt_str_of(mode.id),
      .input = request->input,
      .origin = agent->options.origin,
      .visible = true,
  };
  LT_AUTO_BUF(attachments, LT_MIB);
  LT_TRY(lt_attachments_keep(agent, request, &ids, &attachments, err));
  row.attachments = lt_buf_view(&attachments);
  LT_TRY(lt_turn_new(agent, &row, model, &mode, &turn_state, err));
  turn_state->is_first = request->conversation.n == 0;
  turn_state->deferred_start.is_open = request->is_deferred && turn_state->is_first;
  lt_turn_trace_begin(&turn_state->turn, request->trace);
  row.user = turn_state->turn.user; /* the request may be gone after a suspension */
  row.input = turn_state->turn.input;
  row.attachments = turn_state->turn.attachments;
  LT_TRY(agent_store_and_start(turn_state, &row, err));
  *ret_ids = ids;
  return LT_OK;
}

/* --- While it runs ------------------------------------------------------------------------------------------------ */
lt_status lt_agent_wait(lt_agent *agent, lt_str prompt, lt_cancel *cancel, lt_err *err) {
  return lt_agent_wait_for(agent, prompt, cancel, NULL, err);
}

lt_status lt_agent_store(lt_agent *agent, lt_str prompt, lt_err *err) {
  lt_turn_state *turn_state = agent_find_turn(agent, NULL, prompt);
  return turn_state != NULL ? lt_deferred_start_store(turn_state, err) : LT_OK;
}

bool lt_agent_is_stored(const lt_agent *agent, lt_str prompt) {
  const lt_turn_state *turn_state = agent_find_turn(agent, NULL, prompt);
  return turn_state == NULL || !lt_deferred_start_is_open(turn_state);
}

lt_status lt_agent_wait_for(lt_agent *agent, lt_str prompt, lt_cancel *cancel, lt_buf *ret_prompt, lt_err *err) {
  lt_turn_state *turn_state = agent_find_turn(agent, NULL, prompt);
  if (turn_state == NULL) {
    return lt_agent_fail_inactive(prompt, err);
  }
  agent_waiter waiter = {.next = turn_state->waiters, .ret_prompt = ret_prompt};
  lt_cancel_node node;
  lt_wait_init(&waiter.wait, agent->options.loop);
  turn_state->waiters = &waiter;
  lt_cancel_add(cancel, &node, &waiter.wait);
  size_t before = ret_prompt != NULL ? ret_prompt->n : 0;
  lt_status status = lt_wait_on(&waiter.wait, UINT64_MAX);
  lt_cancel_remove(cancel, &node);
  if (status == LT_OK || (ret_prompt != NULL && ret_prompt->n > before)) { /* it ended just after the cancel */
    return LT_OK;
  }
  turn_state = agent_find_turn(agent, NULL, prompt);
  for (agent_waiter **place = turn_state != NULL ? &turn_state->waiters : NULL; place != NULL && *place != NULL;
       place = &(*place)->next) {
    if (*place == &waiter) {
      *place = waiter.next;
      break;
    }
  }
  return lt_fail(err, status, "%s while the prompt was waited for", lt_status_text(status));
}

void lt_agent_shown(lt_agent *agent, lt_str prompt, uint64_t change) {
  lt_turn_state *turn_state = agent_find_turn(agent, NULL, prompt);
  if (turn_state != NULL) {
    lt_outbox_shown(&turn_state->outbox, change);
  } else { /* the reader was slower than the prompt */
    (void)lt_store_prompt_set_shown(agent->options.db, prompt, change, NULL);
  }
}

void lt_agent_count_usage(lt_agent *agent, lt_str prompt, const lt_usage *usage) {
  lt_turn_state *turn_state = agent_find_turn(agent, NULL, prompt);
  if (turn_state != NULL) {
    lt_turn_add_usage(&turn_state->turn, usage);
  }
}

size_t lt_agent_count(const lt_agent *agent, lt_str user) {
  size_t count = 0;
  for (const lt_turn_state *turn_state = agent->turns; turn_state != NULL; turn_state = turn_state->next) {
    count += lt_str_eq(turn_state->turn.user, user);
  }
  return count;
}

bool lt_agent_stop(lt_agent *agent, lt_str user, lt_str prompt) {
  lt_turn_state *turn_state = agent_find_turn(agent, &user, prompt);
  if (turn_state != NULL) {
    lt_turn_record_cancel(&turn_state->turn);
  }
  return turn_state != NULL;
}
