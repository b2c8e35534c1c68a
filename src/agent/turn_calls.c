#include "agent/turn_calls.h"

#include "agent/program_images.h"
#include "agent/turn_run.h"
#include "agent/turn_state.h"
#include "replay/recorded_call.h"
#include "runner/save_tool.h"

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static lt_status turn_begin_call_output(lt_turn *turn, const lt_call_event *event, uint32_t *ret_number) {
  LT_AUTO_BUF(id, LT_KIB);
  if (event->seq > 0) {
    lt_turn_put_call_id(turn, event->run, event->seq, &id);
  }
  const lt_outbox_tool tool = {
      .id = lt_buf_view(&id),
      .function = event->tool,
      .input = event->input,
      .reason = LT_STR("Executing..."),
      .call = event->call,
      .inner = true,
  };
  return lt_outbox_tool_begin(&turn->internal->outbox, &tool, ret_number, NULL);
}

static void turn_record_edit(lt_turn *turn, uint32_t number, const lt_call_event *event) {
  if (event->edited_input.n > 0) {
    (void)lt_outbox_tool_edited(&turn->internal->outbox, number, event->edited_input, NULL);
  }
}

/* Makes outputs of programs' calls. A call beyond the limit of outputs is in the journal only. */
static void turn_record_call(lt_turn *turn, const lt_call_event *event) {
  lt_outbox *outbox = &turn->internal->outbox;
  if (event->stage == LT_CALL_PROGRESS) {
    return;
  }
  uint32_t number = event->call != 0 ? lt_outbox_find_call(outbox, event->call) : UINT32_MAX;
  if (number == UINT32_MAX && lt_outbox_is_full(outbox) && outbox->unclaimed == 0) {
    return;
  }
  if (number == UINT32_MAX &&
      (event->stage == LT_CALL_ASKED || turn_begin_call_output(turn, event, &number) != LT_OK)) {
    return;
  }
  turn_record_edit(turn, number, event);
  if (event->stage == LT_CALL_FINISHED) {
    (void)lt_outbox_tool_end(outbox, number, event->status, event->answer, NULL);
  }
}

static void turn_report_call(lt_turn *turn, const lt_call_event *event) {
  const lt_agent_options *o = &turn->agent->options;
  if (o->on_call != NULL) {
    o->on_call(o->arg, lt_str_of(turn->ids.prompt), event);
  }
}

static void turn_report_divergence(lt_turn *turn, const lt_call_event *event) {
  if (event->stage == LT_CALL_FINISHED && event->status == LT_E_DIVERGED) {
    (void)lt_turn_diverge(turn, event->answer, NULL);
  }
}

/* Only of a program that the prompt itself runs: what a nested one has saved is not known when the record answers the
 * call that ran it. */
static void turn_note_save(lt_turn *turn, const lt_call_event *event) {
  size_t prompt = strlen(turn->ids.prompt);
  bool is_own = lt_str_find(event->run, LT_STR("/"), prompt + 1) >= event->run.n;
  if (event->stage == LT_CALL_FINISHED && event->status == LT_OK && is_own && lt_str_eqc(event->tool, LT_SAVE_TOOL)) {
    turn->internal->has_saved = true;
  }
}

void lt_turn_on_call(void *arg, const lt_call_event *event) {
  turn_note_save(arg, event);
  turn_report_call(arg, event);
  turn_record_call(arg, event);
  turn_report_divergence(arg, event);
}

/* A call of the model's own has its output before it reaches the door. */
typedef struct direct_call {
  lt_turn *turn;
  lt_caller caller;
  uint32_t number; /* the output's */
} direct_call;

/* Events of other runs come from programs that the tool runs, and from tools that it calls. */
static void turn_on_direct_call(void *arg, const lt_call_event *event) {
  direct_call *d = arg;
  turn_report_call(d->turn, event);
  if (lt_str_eq(event->run, d->caller.run)) {
    lt_outbox_set_call(&d->turn->internal->outbox, d->number, event->call);
    turn_record_edit(d->turn, d->number, event);
  } else {
    turn_record_call(d->turn, event);
  }
  turn_report_divergence(d->turn, event);
}

/* Makes the caller of a run below the prompt's run, named after an output; its name is in the turn's arena. */
static lt_status turn_name_run(lt_turn *turn, uint32_t output, lt_caller *caller, lt_err *err) {
  const lt_turn_state *turn_state = turn->internal;
  caller->run =
      lt_arena_printf(&turn->arena, "%s/%.*s", turn->ids.prompt, LT_STR_ARG(lt_outbox_id(&turn_state->outbox, output)));
  caller->recalled = turn_state->record.is_recalled; /* the run's notes may be on record although its output is not */
  return caller->run.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the name of a run");
}

/* Answers a call from the record, or from its output when that has ended. */
static lt_status turn_call_or_recall(direct_call *d, lt_str tool, lt_str input, const lt_invoke_options *options,
                                     lt_buf *answer, lt_err *err) LT_YIELDS {
  lt_door *door = d->turn->agent->options.door;
  lt_recalled recalled = LT_RECALLED_NOTHING;
  lt_status status = lt_recorded_call_recall(door, tool, input, options, &recalled, answer, err);
  bool answered = recalled == LT_RECALLED_ANSWERED;
  bool checked = recalled == LT_RECALLED_WITHHELD;
  if (answered) {
    lt_recorded_call_count(door, &d->caller, tool, status);
  }
  if (status == LT_OK && !answered && !checked && d->caller.recalled) {
    status = lt_outbox_old_result(&d->turn->internal->outbox, d->number, &answered, answer, err);
  }
  return status == LT_OK && !answered ? lt_door_call(door, tool, input, options, answer, err) : status;
}

lt_status lt_turn_call_with(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, const lt_invoke_options *theirs,
                            lt_buf *answer, lt_err *err) {
  direct_call d = {.turn = turn, .caller = *theirs->caller};
  LT_TRY(lt_turn_tool_begin(turn, call_id, tool, input, LT_STR("Executing..."), &d.number, err));
  LT_TRY(turn_name_run(turn, d.number, &d.caller, err));
  d.caller.on_call = turn_on_direct_call;
  d.caller.arg = &d;
  lt_invoke_options options = *theirs;
  options.caller = &d.caller;
  options.seq = 1;
  lt_status status = turn_call_or_recall(&d, tool, input, &options, answer, err);
  LT_ERR_VAR(stored);
  if (lt_turn_tool_end(turn, d.number, status, lt_buf_view(answer), &stored) != LT_OK) {
    return lt_err_copy(err, &stored);
  }
  return status == LT_E_DIVERGED ? lt_turn_diverge(turn, lt_buf_view(answer), err) : status;
}

lt_status lt_turn_call(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, lt_buf *answer, lt_err *err) {
  const lt_invoke_options options = {
      .cancel = &turn->cancel, .caller = &turn->caller, .max_answer_bytes = LT_ANSWER_MAX_BYTES};
  return lt_turn_call_with(turn, call_id, tool, input, &options, answer, err);
}

/* Files that tools answer with are outputs of the prompt. */
lt_status lt_turn_put_artifact(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) {
  lt_turn_state *turn_state = (lt_turn_state *)(void *)((char *)self - offsetof(lt_turn_state, artifacts));
  lt_artifacts *theirs = turn_state->turn.agent->options.artifacts;
  size_t before = ret_id->n;
  if (!lt_turn_record_artifact(&turn_state->turn, artifact, ret_id)) {
    LT_TRY(lt_deferred_start_store(turn_state, err));
    LT_TRY(theirs->put(theirs, artifact, ret_id, err));
    lt_turn_record_put_aside(&turn_state->turn, artifact, lt_str_sub(lt_buf_view(ret_id), before, ret_id->n));
  }
  bool is_file = lt_str_eqc(artifact->type, "image") || lt_str_eqc(artifact->type, "audio") ||
                 lt_str_eqc(artifact->type, "resource");
  if (is_file && !lt_outbox_is_full(&turn_state->outbox)) {
    lt_str id = lt_str_sub(lt_buf_view(ret_id), before, ret_id->n);
    (void)lt_outbox_file(&turn_state->outbox, id, artifact->mime_type, artifact->description, NULL);
  }
  return LT_OK;
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
/* A program whose texts become outputs. */
typedef struct program_speaker {
  lt_turn *turn;
  lt_str id;     /* of the program's output */
  bool streams;  /* its outputs become outputs of the prompt */
  uint32_t said; /* outputs so far */
  uint32_t told; /* texts of all kinds so far */
} program_speaker;

static void turn_say(program_speaker *s, lt_str text) {
  LT_AUTO_BUF(id, LT_KIB);
  lt_buf_add(&id, s->id);
  lt_buf_printf(&id, ".text-%u", ++s->said);
  lt_outbox_say(&s->turn->internal->outbox, lt_buf_view(&id), text);
}

static void turn_on_program_text(void *arg, lt_said said, lt_str text) {
  program_speaker *s = arg;
  const lt_agent_options *o = &s->turn->agent->options;
  s->told++;
  if (o->on_said != NULL) {
    o->on_said(o->arg, lt_str_of(s->turn->ids.prompt), said, text);
  }
  if (s->streams && said == LT_SAID_OUTPUT) {
    turn_say(s, text);
  }
}

/* The texts of a program whose end is on record are in its result only. */
static void turn_say_rest(program_speaker *s, const lt_run_result *result) {
  uint32_t count = 0;
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (++count > s->told) {
      turn_on_program_text(s, text->said, text->text);
    }
  }
}

static void turn_make_cell(const lt_turn_cell *cell, lt_run_request *request) {
  request->is_cell = true;
  request->max_output_bytes = LT_CELL_OUTPUT_BYTES;
  request->values = cell->values;
  request->cancel = cell->cancel;
  request->on_text = cell->on_text;
  request->arg = cell->arg;
}

static lt_status turn_run_program(lt_turn *turn, lt_runner *runner, const lt_turn_program *program,
                                  lt_run_result *result, lt_err *err) LT_YIELDS {
  lt_caller caller = turn->caller;
  bool is_heard = program->streams || turn->agent->options.on_said != NULL;
  program_speaker who = {
      .turn = turn, .id = lt_outbox_id(&turn->internal->outbox, program->output), .streams = program->streams};
  LT_TRY(turn_name_run(turn, program->output, &caller, err));
  lt_run_request request = turn->internal->defaults;
  request.code = program->code;
  request.lang = program->lang;
  request.timeout_ms = program->timeout_ms > 0 ? program->timeout_ms : request.timeout_ms;
  request.caller = &caller;
  request.values = turn->values;
  request.session = program->session;
  request.takes_images = program->takes_images;
  request.cancel = &turn->cancel;
  request.shows_value = program->shows_value;
  request.is_typed = program->is_typed;
  request.on_text = is_heard ? turn_on_program_text : NULL;
  request.arg = &who;
  if (program->cell != NULL) {
    turn_make_cell(program->cell, &request);
  }
  LT_ERR_VAR(why);
  lt_status status = lt_runner_run(runner, &request, result, &why);
  if (status == LT_E_NOTFOUND || status == LT_E_UNSUPPORTED) { /* no interpreter: the model may do without programs */
    lt_run_result_fail(result, status, "%s", lt_err_msg(&why));
    return LT_OK;
  }
  LT_TRY(status == LT_OK ? LT_OK : lt_err_copy(err, &why));
  if (is_heard && result->status != LT_E_DIVERGED) {
    turn_say_rest(&who, result);
  }
  if (program->cell == NULL) {
    lt_program_images_keep_all(turn, result);
  }
  return result->status == LT_E_DIVERGED ? lt_turn_diverge(turn, lt_buf_view(&result->error), err) : LT_OK;
}

lt_status lt_turn_run(lt_turn *turn, const lt_turn_program *program, lt_run_result *result, lt_err *err) {
  const lt_agent_options *o = &turn->agent->options;
  lt_runner *runner = o->runner(o->runner_arg, program->lang, err);
  if (runner == NULL) {
    return lt_err_prefix(err, "programs cannot be run");
  }
  LT_TRY(lt_turn_follow_saves(turn, err));
  LT_TRY(turn_run_program(turn, runner, program, result, err)); /* its texts are stored with its end */
  return turn->cancel.why != LT_OK ? lt_fail(err, turn->cancel.why, "the prompt was cancelled") : LT_OK;
}
