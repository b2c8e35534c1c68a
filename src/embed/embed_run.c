#include "embed/embed_run.h"

#include "app/run_llm.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_calls.h"
#include "embed/embed_error.h"
#include "embed/embed_prompt.h"
#include "embed/embed_turn.h"

/* --- Making ------------------------------------------------------------------------------------------------------- */
void lt_embed_run_free(lt_embed_run *run) {
  if (run == NULL) {
    return;
  }
  if (run->end != NULL) {
    lathe_event_free(&run->end->base);
  }
  lt_mem_free(run->prompt);
  lt_embed_record_free(run->record);
  lt_mem_free(run->code);
  lt_mem_free(run->input);
  lt_mem_free(run);
}

lt_embed_run *lt_embed_run_new(lathe_env *env, void *data) {
  lt_embed_run *run = lt_mem_zalloc(1, sizeof *run);
  if (run == NULL) {
    return NULL;
  }
  run->env = env;
  run->queue = &env->queue;
  run->has_listener = true;
  run->data = data;
  run->end = lt_embed_queue_make(LATHE_EVENT_END, &(lt_embed_words){.json = LT_STR("{}")});
  if (run->end == NULL) {
    lt_embed_run_free(run);
    return NULL;
  }
  return run;
}

static lt_status embed_run_check_limits(const lathe_run_options *options, lt_err *err) {
  if (options->timeout_ms > LT_RUN_TIMEOUT_MAX_MS) {
    return lt_fail(err, LT_E_INVALID, "timeout_ms is at most %d", LT_RUN_TIMEOUT_MAX_MS);
  }
  uint64_t memory = options->memory_bytes;
  return memory == 0 || (memory >= LT_RUN_MEMORY_MIN_BYTES && memory <= LT_RUN_MEMORY_MAX_BYTES)
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "memory_bytes is %lu to %lu", LT_RUN_MEMORY_MIN_BYTES,
                       LT_RUN_MEMORY_MAX_BYTES);
}

lt_status lt_embed_run_fill(lt_embed_run *run, const lathe_run_options *options, lt_err *err) {
  LT_TRY(lt_embed_error_check_text(options->code, "code", err));
  LT_TRY(lt_embed_error_take_language(options->language, &run->lang, err));
  LT_TRY(lt_embed_error_check_json(lt_str_of(options->input), "input", err));
  LT_TRY(embed_run_check_limits(options, err));
  run->timeout_ms = options->timeout_ms;
  run->memory_bytes = options->memory_bytes;
  run->goes_by_turns = options->by_turns != 0;
  run->keeps_signals = options->keeps_signals != 0;
  run->code = lt_mem_strdup(lt_str_of(options->code));
  run->input = options->input != NULL ? lt_mem_strdup(lt_str_of(options->input)) : NULL;
  run->record = options->can_snapshot != 0 ? lt_embed_record_new() : NULL;
  bool has_all = run->code != NULL && (run->input != NULL || options->input == NULL) &&
                 (run->record != NULL || options->can_snapshot == 0);
  return has_all ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a run");
}

static lt_status embed_run_make(lathe_env *env, const lathe_run_options *theirs, lt_embed_run **ret_run, lt_err *err) {
  lathe_run_options options;
  LT_TRY(lt_embed_error_take_struct(theirs, LT_EMBED_BYTES_TO(lathe_run_options, data), sizeof options, &options,
                                    "lathe_run_options", err));
  lt_embed_run *run = lt_embed_run_new(env, options.data);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a run");
  }
  lt_status status = lt_embed_run_fill(run, &options, err);
  if (status != LT_OK) {
    lt_embed_run_free(run);
    return status;
  }
  *ret_run = run;
  return LT_OK;
}

void lt_embed_run_sign(const lt_embed_run *run, lt_embed_event *event) {
  event->base.run = run->entry.number;
  event->base.data = run->data;
}

/* --- Approvals ---------------------------------------------------------------------------------------------------- */
static lt_embed_run *embed_run_asked(lt_approver *approver) {
  return (lt_embed_run *)(void *)((char *)approver - offsetof(lt_embed_run, approver));
}

static lt_status embed_run_ask(lt_approver *approver, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                               lt_decision *ret_decision, lt_err *err) LT_YIELDS;

/* The approver says whose caller it is. */
lt_embed_run *lt_embed_run_of(const lt_caller *caller) {
  while (caller != NULL && caller->parent != NULL) {
    caller = caller->parent;
  }
  bool is_ours = caller != NULL && caller->approver != NULL && caller->approver->ask == embed_run_ask;
  return is_ours ? embed_run_asked(caller->approver) : NULL;
}

/* The last decision that could not be carried out is told of with the reason. */
static void embed_run_put_reason(const lt_approval *what, lt_buf *out) {
  lt_buf_add(out, what->reason);
  if (what->refusal.n > 0) {
    lt_buf_addc(out, what->reason.n > 0 ? "; " : "");
    lt_buf_addc(out, "asked again, as the last decision could not be carried out: ");
    lt_buf_add(out, what->refusal);
  }
}

/* A call that the earlier process was carrying out was approved there. */
static bool embed_run_was_approved(const lt_embed_run *run, const lt_approval *what, const lt_embed_call_name *name,
                                   lt_decision *ret_decision) {
  *ret_decision = (lt_decision){.is_approved = true};
  return run->record != NULL && what->refusal.n == 0 &&
         lt_embed_record_was_begun(run->record, name, &ret_decision->input);
}

static lt_status embed_run_ask(lt_approver *approver, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                               lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  lt_embed_call call;
  lt_decision decision;
  lt_embed_run *run = embed_run_asked(approver);
  LT_AUTO_BUF(reason, 2 * LT_RUN_ERROR_BYTES);
  const lt_embed_call_name name = {.run = what->run, .seq = what->seq};
  if (embed_run_was_approved(run, what, &name, &decision)) {
    return lt_fail_if(err, lt_decision_copy(arena, &decision, ret_decision), "no memory for the decision");
  }
  embed_run_put_reason(what, &reason);
  const lt_embed_words words = {
      .tool = what->tool->id, .text = lt_buf_view_or(&reason, what->reason), .json = what->input};
  LT_TRY(lt_embed_calls_ask(run, LATHE_EVENT_APPROVAL, &name, &words, cancel, &call, err));
  lt_str text = lt_str_from(call.text, call.text_bytes);
  decision = (lt_decision){
      .is_approved = call.is_yes, .input = call.is_yes ? text : LT_STR(""), .reason = call.is_yes ? LT_STR("") : text};
  lt_status status = lt_decision_copy(arena, &decision, ret_decision);
  lt_embed_calls_release(&call);
  return lt_fail_if(err, status, "no memory for the decision");
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
/* Secrets are masked as in the report: outputs are the program's answer. A text that finds no room is in the report
 * all the same. */
static void embed_run_on_text(void *arg, lt_said said, lt_str text) {
  lt_embed_run *run = arg;
  const lt_secrets *secrets = run->env->session.secrets;
  lathe_event_type type = said == LT_SAID_OUTPUT ? LATHE_EVENT_OUTPUT : LATHE_EVENT_LOG;
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  if (said != LT_SAID_OUTPUT && lt_secrets_in(secrets, text)) {
    lt_secrets_mask(secrets, text, &masked);
    text = lt_buf_view_or(&masked, LT_STR("***"));
  }
  lt_embed_event *event = lt_embed_queue_make(type, &(lt_embed_words){.text = text});
  if (event != NULL) {
    lt_embed_run_sign(run, event);
    (void)lt_embed_env_say(run->env, run->queue, event);
  }
}

static lt_run_request embed_run_request(lt_embed_run *run) {
  const lathe_env *env = run->env;
  const lt_config *config = &env->session.config;
  lt_run_request request = {
      .code = lt_str_of(run->code),
      .lang = run->lang,
      .input = lt_str_of(run->input),
      .timeout_ms = run->timeout_ms > 0 ? run->timeout_ms : (uint64_t)config->timeout_ms,
      .has_fixed_timeout = run->timeout_ms > 0,
      .memory_bytes = run->memory_bytes > 0 ? run->memory_bytes : (uint64_t)config->memory_mb * LT_MIB,
      .max_output_bytes = (size_t)config->max_output_bytes,
      .keeps_signals = run->keeps_signals && !run->goes_by_turns, /* whose threads come and go */
      .modules = env->modules.list,
      .module_count = env->modules.count,
      .cancel = &run->cancel,
      .on_text = run->has_listener ? embed_run_on_text : NULL,
      .arg = run,
  };
  request.functions = lt_host_functions(lt_toolbox_host(env->session.toolbox), &request.function_count);
  return request;
}

static lt_status embed_run_with(lt_embed_run *run, lt_run_request *request, lt_run_result *result,
                                lt_err *err) LT_YIELDS {
  lt_toolbox *toolbox = run->env->session.toolbox;
  const lt_toolbox_run_options how = {.approver = &run->approver};
  lt_toolbox_run began;
  lt_runner *runner = lt_toolbox_runner(toolbox, NULL, run->lang, err);
  if (runner == NULL) {
    return err->status;
  }
  if (runner->crew != NULL) {
    atomic_store(&run->env->queue.crew, runner->crew);
  }
  LT_TRY(lt_toolbox_begin(toolbox, &how, request, &began, err));
  if (run->record != NULL) {
    lt_embed_record_attach(run->record, run->env->session.secrets, &began.caller);
  }
  request->caller = &began.caller;
  bool has_gone = !runner->keeps_lane && lt_lane_go_home(run->env->session.loop);
  lt_status status = lt_runner_run(runner, request, result, err);
  lt_lane_go_back(run->env->session.loop, has_gone);
  lt_toolbox_end(&began);
  return status;
}

/* A model is asked where the configuration has one; the environment variables of the host are not ours to use. */
static lt_status embed_run_program(lt_embed_run *run, lt_run_result *result, lt_err *err) LT_YIELDS {
  lt_run_request request = embed_run_request(run);
  if (run->env->session.config.model_count == 0) {
    return embed_run_with(run, &request, result, err);
  }
  lt_run_llm llm;
  lt_status status = lt_run_llm_init(&llm, &run->env->session, &request, err);
  status = status == LT_OK ? embed_run_with(run, &request, result, err) : status;
  bool has_gone = lt_lane_go_home(run->env->session.loop); /* connections are closed */
  lt_run_llm_release(&llm);
  lt_lane_go_back(run->env->session.loop, has_gone);
  return status;
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */
/* From now on the host cannot cancel it. True: it has, and cancel_post has come or will come. */
static bool embed_run_forget(lt_embed_run *run) {
  pthread_mutex_lock(&run->env->lock);
  bool is_cancelling = run->is_cancelling;
  lt_embed_table_remove(&run->env->runs, &run->entry);
  pthread_mutex_unlock(&run->env->lock);
  return is_cancelling;
}

static void embed_run_withdraw(lt_embed_run *run) LT_YIELDS {
  bool is_cancelling = embed_run_forget(run);
  while (is_cancelling && !run->is_cancelled) {
    lt_wait_on(&run->cancelled, UINT64_MAX);
  }
}

static void embed_run_report(lt_embed_run *run, lt_status status, lt_buf *json) {
  run->end->json = lt_buf_take(json, NULL);
  if (run->end->json != NULL) {
    run->end->base.json = run->end->json;
  } else if (status == LT_OK) {
    run->end->base.status = lt_embed_error_status(json->status);
    run->end->base.text = "the report of the run is too long, or there is no memory for it";
  }
}

/* With the last event the host may free what the run was given. The run is freed first: what is behind `end` is the
 * host's from then on. */
static void embed_run_end(lt_embed_run *run, lt_status status, lt_str message) {
  lathe_env *env = run->env;
  lt_embed_queue *queue = run->queue;
  lt_embed_event *end = run->end;
  bool is_turned_at_home = run->lane == NULL;
  LT_AUTO_BUF(text, 2 * LT_RUN_ERROR_BYTES);
  if (status != LT_OK) {
    lt_secrets_mask(env->session.secrets, message.n > 0 ? message : lt_str_of(lt_status_text(status)), &text);
    end->text = lt_buf_take(&text, NULL);
    end->base.text = end->text != NULL ? end->text : lt_status_text(status);
    end->base.status = lt_embed_error_status(status);
  }
  lt_embed_run_sign(run, end);
  run->end = NULL;
  lt_embed_run_free(run);
  pthread_mutex_lock(&env->lock);
  lt_embed_env_put(env, queue, end, is_turned_at_home);
  pthread_mutex_unlock(&env->lock);
  env->running--;
  if (env->stop.why != LT_OK) { /* nobody waits for it before */
    lt_wait_wake(&env->ending, LT_OK);
  }
}

/* Nothing cancels it any more. */
static void embed_run_settle(lt_embed_run *run, lt_cancel_node *node) LT_YIELDS {
  lt_cancel_remove(&run->env->stop, node);
  embed_run_withdraw(run);
}

static void embed_run_whole_program(lt_embed_run *run, lt_cancel_node *node) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = embed_run_program(run, &result, &err);
  embed_run_settle(run, node);
  if (status == LT_OK) {
    LT_AUTO_BUF(json, 2 * LT_JSON_MAX_BYTES + LT_RUN_PIPED_MAX_BYTES);
    lt_run_result_json(&result, run->env->session.secrets, &json);
    embed_run_report(run, result.status, &json);
    embed_run_end(run, result.status, lt_buf_view(&result.error));
  } else {
    embed_run_end(run, status, lt_str_of(lt_err_msg(&err)));
  }
  lt_run_result_release(&result);
}

static void embed_run_whole_prompt(lt_embed_run *run, lt_cancel_node *node) LT_YIELDS {
  LT_AUTO_BUF(json, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(message, 2 * LT_RUN_ERROR_BYTES);
  lt_status status = lt_embed_prompt_carry_out(run->prompt, &json, &message);
  embed_run_settle(run, node);
  if (json.n > 0 && json.status == LT_OK) {
    embed_run_report(run, status, &json);
  }
  embed_run_end(run, status, lt_buf_view(&message));
}

static void embed_run_on_fiber(void *arg) {
  lt_embed_run *run = arg;
  lt_cancel_node node;
  lt_cancel_follow(&run->env->stop, &node, &run->cancel);
  if (run->prompt != NULL) {
    embed_run_whole_prompt(run, &node);
  } else {
    embed_run_whole_program(run, &node);
  }
}

static void embed_run_on_cancel(void *arg) {
  lt_embed_run *run = arg;
  if (run->has_no_fiber) {
    embed_run_end(run, LT_E_CANCELLED, LT_STR(""));
    return;
  }
  run->is_cancelled = true;
  lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
  lt_wait_wake(&run->cancelled, LT_OK);
}

/* Without a fiber the run ends here, or in the post that cancels it, unless that has come already. */
static void embed_run_on_start(void *arg) {
  lt_embed_run *run = arg;
  lt_loop *loop = run->env->session.loop;
  LT_ERR_VAR(err);
  lt_status status = run->lane != NULL ? lt_lane_spawn(run->lane, embed_run_on_fiber, run, &err)
                                       : lt_loop_spawn(loop, embed_run_on_fiber, run, &err);
  if (status == LT_OK) {
    return;
  }
  run->has_no_fiber = true;
  if (!embed_run_forget(run) || run->is_cancelled) {
    embed_run_end(run, err.status, lt_str_of(lt_err_msg(&err)));
  }
}

/* --- The host's thread -------------------------------------------------------------------------------------------- */
/* Of a program that no thread waits for. The first one meets no crew. */
static bool embed_run_is_for_crew(const lt_embed_run *run) {
  bool is_program = run->prompt == NULL && (run->lang == LT_LANG_JAVASCRIPT || run->lang == LT_LANG_TYPESCRIPT);
  return is_program && run->lane == NULL && run->env->running < LT_EMBED_LANES_MAX;
}

static lt_status embed_run_take_lane(lt_embed_run *run, lt_err *err) {
  lt_lane_crew *crew = run->env->queue.crew;
  if (crew == NULL || !embed_run_is_for_crew(run)) {
    return LT_OK;
  }
  run->lane = crew->new_lane(crew);
  run->crew = crew;
  return run->lane != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a run");
}

static void embed_run_give_up(lt_embed_run *run) {
  if (run->crew != NULL) {
    run->crew->free_lane(run->lane);
  }
  lt_embed_run_free(run);
}

/* Until it begins, it may be cancelled by another thread. */
static void embed_run_prepare(lt_embed_run *run) {
  run->start_post = (lt_post){.fn = embed_run_on_start, .arg = run};
  run->cancel_post = (lt_post){.fn = embed_run_on_cancel, .arg = run};
  run->approver.ask = embed_run_ask;
  lt_cancel_init(&run->cancel);
  lt_wait_init(&run->cancelled, run->env->session.loop);
}

static lt_embed_run *embed_run_take_starting(lathe_env *env) {
  pthread_mutex_lock(&env->lock);
  lt_embed_run *run = env->first_starting;
  if (run != NULL) {
    env->first_starting = run->next_starting;
  }
  env->is_starting = run != NULL;
  pthread_mutex_unlock(&env->lock);
  return run;
}

/* Starts a few runs, then lets go on what has begun. If all runs of a burst were started first, all would begin before
 * one can end, each in a sandbox of its own. */
static void embed_run_on_starts(void *arg) {
  lathe_env *env = arg;
  for (unsigned i = 0; i < LT_EMBED_STARTS_MAX; i++) {
    lt_embed_run *run = embed_run_take_starting(env);
    if (run == NULL) {
      return;
    }
    embed_run_on_start(run);
  }
  lt_loop_post(env->session.loop, &env->starts_post);
}

/* Under the lock. */
static void embed_run_start_later(lt_embed_run *run) {
  lathe_env *env = run->env;
  *(env->first_starting != NULL ? &env->last_starting->next_starting : &env->first_starting) = run;
  env->last_starting = run;
  if (!env->is_starting) {
    env->is_starting = true;
    env->starts_post = (lt_post){.fn = embed_run_on_starts, .arg = env};
    lt_loop_post(env->session.loop, &env->starts_post);
  }
}

lt_status lt_embed_run_start(lt_embed_run *run, uint64_t *ret_number, lt_err *err) {
  lathe_env *env = run->env;
  lt_status status = embed_run_take_lane(run, err);
  if (status != LT_OK) {
    lt_embed_run_free(run);
    return status;
  }
  embed_run_prepare(run);
  pthread_mutex_lock(&env->lock);
  bool has_seat = env->seats < LT_EMBED_RUNS_MAX;
  if (has_seat) {
    env->seats++;
    env->running++;
    lt_embed_table_add(&env->runs, &run->entry, ++env->numbered);
    *ret_number = run->entry.number;
    if (run->lane != NULL) { /* before anybody can cancel it */
      lt_lane_post(run->lane, &run->start_post);
    } else {
      embed_run_start_later(run);
    }
  }
  pthread_mutex_unlock(&env->lock);
  if (!has_seat) {
    embed_run_give_up(run);
    return lt_fail(err, LT_E_LIMIT, "%d runs have not ended, or their LATHE_EVENT_END was not taken",
                   LT_EMBED_RUNS_MAX);
  }
  return LT_OK;
}

lathe_status lathe_start(lathe_env *env, const lathe_run_options *options, uint64_t *ret_run, lathe_error *error) {
  LT_ERR_VAR(err);
  lt_embed_run *run;
  uint64_t number = 0;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_run_make(env, options, &run, &err);
  if (status == LT_OK) {
    status = run->goes_by_turns ? lt_embed_turn_start(run, &number, &err) : lt_embed_run_start(run, &number, &err);
  }
  if (ret_run != NULL) {
    *ret_run = number;
  }
  return lt_embed_env_leave(env, status, &err, error);
}

lathe_status lathe_cancel(lathe_env *env, uint64_t number, lathe_error *error) {
  LT_ERR_VAR(err);
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  pthread_mutex_lock(&env->lock);
  lt_embed_run *run = (lt_embed_run *)(void *)lt_embed_table_find(&env->runs, number);
  if (run != NULL && !run->is_cancelling) {
    run->is_cancelling = true;
    lt_loop_post(env->session.loop, &run->cancel_post);
  }
  pthread_mutex_unlock(&env->lock);
  lt_status status =
      run != NULL ? LT_OK
                  : lt_fail(&err, LT_E_NOTFOUND, "there is no run %llu, or it has ended", (unsigned long long)number);
  return lt_embed_env_leave(env, status, &err, error);
}

/* --- A run that its thread waits for ------------------------------------------------------------------------------ */
/* Only who holds the loop puts events there, so that is what keeps others from the queue. */
lt_embed_event *lt_embed_run_next(lathe_env *env, lt_embed_queue *queue) {
  lt_embed_event *event = lt_embed_queue_take(queue);
  if (event != NULL && event->base.type == LATHE_EVENT_END) {
    pthread_mutex_lock(&env->lock);
    env->seats--;
    pthread_mutex_unlock(&env->lock);
  }
  return event;
}

/* Turns the run on this thread, which holds the loop but for what the host does. Owns: the caller, the event of the
 * end. */
static lt_embed_event *embed_run_serve(lathe_env *env, lt_embed_queue *queue, lathe_event_fn *on_event, void *arg) {
  for (;;) {
    bool has_worked = lt_lane_turn(queue->lane);
    lt_embed_event *event = lt_embed_run_next(env, queue);
    if (event != NULL && event->base.type == LATHE_EVENT_END) {
      return event;
    }
    if (event != NULL) {
      lt_lane_leave(queue->lane);
      on_event(env, &event->base, arg);
      lathe_event_free(&event->base);
      lt_lane_enter(queue->lane);
    } else if (!has_worked) {
      lt_lane_sleep(queue->lane);
    }
  }
}

/* The report, which is the host's from now on. Of a run that did not begin there is none. */
static char *embed_run_take_report(lt_embed_event *end) {
  char *json = end->json;
  end->json = NULL;
  end->base.json = "";
  return json;
}

static lathe_status embed_run_finish(lt_embed_event *end, char **ret_json, lathe_error *error) {
  lathe_status status = end->base.status;
  if (ret_json != NULL) {
    *ret_json = embed_run_take_report(end);
  }
  if (status != LATHE_OK) {
    (void)lt_embed_error_put(status, end->base.text, error);
  }
  lathe_event_free(&end->base);
  return status;
}

/* *ret_end is the host's only after LT_OK. */
static lt_status embed_run_here(lt_embed_run *run, lathe_event_fn *on_event, void *arg, lt_embed_event **ret_end,
                                lt_err *err) {
  lathe_env *env = run->env;
  lt_embed_queue queue;
  lt_lane lane;
  uint64_t number;
  lt_lane_open(&lane, env->session.loop);
  (void)lt_embed_queue_init(&queue, false, NULL); /* without a descriptor nothing fails */
  queue.lane = run->lane = &lane;
  run->queue = &queue;
  run->has_listener = on_event != NULL;
  lt_status status = lt_embed_run_start(run, &number, err);
  if (status == LT_OK) {
    *ret_end = embed_run_serve(env, &queue, on_event, arg);
  }
  lt_lane_close(&lane);
  lt_embed_queue_release(&queue);
  return status;
}

lathe_status lathe_run(lathe_env *env, const lathe_run_options *options, lathe_event_fn *on_event, void *arg,
                       char **ret_json, lathe_error *error) {
  LT_ERR_VAR(err);
  lt_embed_run *run;
  lt_embed_event *end = NULL;
  if (ret_json != NULL) {
    *ret_json = NULL;
  }
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_run_make(env, options, &run, &err);
  status = status == LT_OK ? embed_run_here(run, on_event, arg, &end, &err) : status;
  lathe_status ended = end != NULL ? embed_run_finish(end, ret_json, error) : LATHE_OK;
  lathe_status left = lt_embed_env_leave(env, status, &err, error);
  return left != LATHE_OK ? left : ended;
}
