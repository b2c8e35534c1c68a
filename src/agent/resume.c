/* Prompts of an earlier process: found, claimed, read, and carried out again (docs/internals/replay.md). */
#include "agent/prompt_origin.h"
#include "agent/turn_run.h"
#include "agent/turn_trace.h"
#include "json/json.h"

typedef struct resume_request {
  lt_agent *agent;
  lt_str user, prompt;
  lt_arena arena;
  lt_buf text; /* the prompt, as it is stored */
  lt_json_doc doc;
  lt_prompt_row row;
} resume_request;

/* --- What there is ------------------------------------------------------------------------------------------------ */
static lt_status resume_load(resume_request *r, lt_err *err) LT_YIELDS {
  lt_buf_clear(&r->text);
  LT_TRY(lt_store_prompt_get(r->agent->options.db, r->user, r->prompt, &r->text, err));
  LT_TRY(lt_json_parse(&r->arena, lt_buf_view(&r->text), &r->doc, err));
  lt_json json = lt_json_root(&r->doc);
  lt_prompt_row *row = &r->row;
  *row = (lt_prompt_row){.visible = true};
  bool read = lt_json_str(lt_json_get(json, "id"), &r->arena, &row->id) &&
              lt_json_str(lt_json_get(json, "userId"), &r->arena, &row->user) &&
              lt_json_str(lt_json_get(json, "conversationId"), &r->arena, &row->conversation) &&
              lt_json_str(lt_json_get(json, "model"), &r->arena, &row->model) &&
              lt_json_str(lt_json_get(json, "mode"), &r->arena, &row->mode) &&
              lt_json_str(lt_json_get(json, "input"), &r->arena, &row->input);
  row->attachments = lt_json_text(lt_json_get(json, "attachments"));
  return read ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
}

/* When the model or the mode does not exist any more, the prompt ends, so that its conversation can continue. */
static lt_status resume_choose(resume_request *r, const lt_model **ret_model, lt_mode *ret_mode, lt_str *ret_refusal,
                               lt_err *err) {
  const lt_agent *agent = r->agent;
  *ret_model = lt_agent_find_model(agent, r->row.model);
  if (*ret_model == NULL) {
    *ret_refusal = lt_arena_printf(&r->arena, "diverged: the prompt's model \"%.*s\" is not configured any more",
                                   LT_STR_ARG(lt_str_sub(r->row.model, 0, 100)));
    *ret_model = lt_agent_default_model(agent);
  }
  if (!lt_mode_find(agent->options.host, r->row.mode, ret_mode)) {
    *ret_refusal = lt_arena_printf(&r->arena, "diverged: the prompt's execution mode \"%.*s\" is not there any more",
                                   LT_STR_ARG(lt_str_sub(r->row.mode, 0, 100)));
    *ret_mode = *lt_mode_table[0];
  }
  return *ret_model != NULL ? LT_OK : lt_fail(err, LT_E_CONFIG, "the prompt cannot go on: no models are configured");
}

/* --- The prompt again --------------------------------------------------------------------------------------------- */
static lt_prompt_state resume_state_of(lt_json json) {
  lt_json state = lt_json_get(json, "state");
  return lt_json_str_eq(state, lt_str_of(lt_store_prompt_state_name(LT_PROMPT_WAITING))) ? LT_PROMPT_WAITING
                                                                                         : LT_PROMPT_RUNNING;
}

static lt_status resume_load_record(resume_request *r, lt_turn_state *turn_state, lt_str refusal,
                                    lt_err *err) LT_YIELDS {
  lt_turn *turn = &turn_state->turn;
  lt_json json = lt_json_root(&r->doc);
  turn->state = resume_state_of(json);
  turn_state->refusal = lt_arena_dup(&turn->arena, refusal);
  if (turn_state->refusal.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  }
  LT_TRY(lt_outbox_load(&turn_state->outbox, lt_json_get(json, "output"), err));
  lt_status status = lt_turn_record_recall(turn, err);
  if (status == LT_E_LIMIT) {
    turn_state->refusal = LT_STR("diverged: what is on record of the prompt is too long to be gone through again");
    return LT_OK;
  }
  return status;
}

static lt_status resume_check(const resume_request *r, lt_err *err) {
  if (r->agent->closing || r->agent->is_draining) {
    return lt_fail(err, LT_E_CLOSED, "Lathe is ending: no further prompts are taken");
  }
  return lt_agent_runs(r->agent, r->prompt) ? lt_fail(err, LT_E_INVALID, "the prompt %.*s is being carried out already",
                                                      LT_STR_ARG(lt_str_sub(r->prompt, 0, LT_STORE_ID_BYTES)))
                                            : LT_OK;
}

/* --- Whose it is -------------------------------------------------------------------------------------------------- */
static lt_status resume_check_origin(const resume_request *r, lt_buf *changed, lt_err *err) LT_YIELDS {
  const lt_agent_options *o = &r->agent->options;
  LT_AUTO_BUF(recorded, LT_MIB);
  LT_TRY(lt_store_prompt_origin(o->db, r->prompt, &recorded, err));
  return lt_prompt_origin_check(lt_buf_view(&recorded), o->origin, r->row.conversation, changed, err);
}

/* A change of the configuration is reported once: the prompt has the new one from now on. */
static lt_status resume_take_origin(const resume_request *r, lt_str changed, lt_err *err) LT_YIELDS {
  const lt_agent_options *o = &r->agent->options;
  return changed.n > 0 ? lt_store_prompt_set_origin(o->db, r->prompt, o->origin, err) : LT_OK;
}

/* The prompt belongs to this process now. */
static lt_status resume_start(resume_request *r, lt_err *err) LT_YIELDS {
  const lt_model *model;
  lt_mode mode;
  lt_str refusal = LT_STR("");
  lt_turn_state *turn_state;
  LT_TRY(resume_load(r, err)); /* loads again: another process may have continued the prompt before the claim */
  LT_TRY(resume_choose(r, &model, &mode, &refusal, err));
  LT_TRY(lt_turn_new(r->agent, &r->row, model, &mode, &turn_state, err));
  lt_status status = resume_load_record(r, turn_state, refusal, err);
  if (status == LT_OK) {
    status = resume_check(r, err); /* two resumes may have run at once */
  }
  if (status != LT_OK) {
    lt_turn_free(turn_state);
    return status;
  }
  lt_turn_trace_begin(&turn_state->turn, NULL);
  return lt_agent_launch(turn_state, "prompt.resumed", err);
}

static lt_status resume_claim_and_start(resume_request *r, lt_err *err) LT_YIELDS {
  lt_store *db = r->agent->options.db;
  LT_TRY(resume_check(r, err));
  LT_TRY(resume_load(r, err));
  LT_AUTO_BUF(changed, LT_MIB);
  LT_TRY(resume_check_origin(r, &changed, err));
  LT_TRY(lt_store_prompt_claim(db, r->prompt, err));
  lt_status status = resume_take_origin(r, lt_buf_view(&changed), err);
  if (status == LT_OK) {
    status = resume_start(r, err);
  }
  if (status != LT_OK && !lt_agent_runs(r->agent, r->prompt)) {
    (void)lt_store_prompt_release(db, r->prompt, NULL);
  }
  return status;
}

static lt_status resume_init(resume_request *r, lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) {
  *r = (resume_request){.agent = agent};
  lt_arena_init(&r->arena, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&r->text, LT_PROMPT_MEMORY_BYTES);
  r->user = lt_arena_dup(&r->arena, user);
  r->prompt = lt_arena_dup(&r->arena, prompt);
  return r->user.p != NULL && r->prompt.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
}

static void resume_release(resume_request *r) {
  lt_buf_release(&r->text);
  lt_arena_release(&r->arena);
}

lt_status lt_agent_check_origin(lt_agent *agent, lt_str user, lt_str prompt, lt_buf *changed, lt_err *err) {
  resume_request r;
  lt_status status = resume_init(&r, agent, user, prompt, err);
  if (status == LT_OK) {
    status = resume_load(&r, err);
  }
  if (status == LT_OK) {
    status = resume_check_origin(&r, changed, err);
  }
  resume_release(&r);
  return status;
}

lt_status lt_agent_resume(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) {
  resume_request r;
  lt_status status = resume_init(&r, agent, user, prompt, err);
  if (status == LT_OK) {
    status = resume_claim_and_start(&r, err);
  }
  resume_release(&r);
  return status;
}
