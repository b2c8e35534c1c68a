/* One call through the door: its steps, in order. */
#include "base/clock.h"
#include "base/limits.h"
#include "io/lane.h"
#include "tool/answer_spill.h"
#include "tool/catalog_suggest.h"
#include "tool/door_call_impl.h"
#include "tool/masked_edit.h"
#include "tool/tool_input.h"
#include "tool/tool_schemas.h"
#include "tool/whole_answer.h"

/* A step that fails leaves its message in `out` when it may be long, else in `err`. */
/* --- 1: which tool ------------------------------------------------------------------------------------------------ */
/* LT_E_CLOSED with the provider's reason when it cannot be called. */
static lt_status door_check_provider_up(lt_door_call_state *c, lt_provider *provider) {
  lt_str reason = provider->down != NULL ? provider->down(provider) : LT_STR("");
  if (reason.n == 0 || (provider->may_retry != NULL && provider->may_retry(provider))) {
    return LT_OK;
  }
  lt_buf_add(c->out, reason);
  return LT_E_CLOSED;
}

/* A caller's own list of tools does not change. */
static lt_status door_look_again(lt_door_call_state *c) {
  lt_catalog *now = NULL;
  LT_TRY(lt_door_catalog(c->door, &now, c->err));
  bool is_there = lt_catalog_find(now, c->id) != NULL;
  if (c->caller->catalog == NULL) {
    lt_catalog_unref(c->catalog);
    c->catalog = now;
    c->tool = lt_catalog_find(now, c->id);
    return LT_OK;
  }
  lt_catalog_unref(now);
  return !is_there ? LT_OK
                   : lt_fail(c->err, LT_E_CLOSED,
                             "the server of \"%.*s\" was down when this began, and runs now: the next program can call "
                             "it",
                             LT_STR_ARG(c->id));
}

static void door_wake(lt_door_call_state *c, lt_provider *provider) LT_YIELDS {
  if (provider->wake != NULL) {
    bool has_gone = lt_lane_go_home(lt_door_loop(c->door));
    provider->wake(provider, &c->options);
    lt_lane_go_back(lt_door_loop(c->door), has_gone);
  }
}

/* A server that is down may not have listed its tools: any id of that server fails with the server's reason. One that
 * may be tried again is. */
static lt_status door_check_owner_up(lt_door_call_state *c) LT_YIELDS {
  lt_provider *provider;
  for (size_t i = 0; (provider = lt_door_provider(c->door, i)) != NULL; i++) {
    size_t n = provider->name.n;
    if (n > 0 && c->id.n > n && c->id.p[n] == '.' && lt_str_starts(c->id, provider->name)) {
      bool is_down = provider->down != NULL && provider->down(provider).n > 0;
      if (is_down) {
        door_wake(c, provider);
      }
      LT_TRY(door_check_provider_up(c, provider));
      return is_down ? door_look_again(c) : LT_OK;
    }
  }
  return LT_OK;
}

static lt_status door_check_depth(lt_door_call_state *c) {
  unsigned depth = 0;
  for (const lt_caller *caller = c->caller; caller != NULL; caller = caller->parent) {
    if (depth++ > LT_CALLER_DEPTH_MAX) {
      return lt_fail(c->err, LT_E_LIMIT, "Tool \"%.*s\" was not called: programs run programs more than %d deep",
                     LT_STR_ARG(c->id), LT_CALLER_DEPTH_MAX);
    }
  }
  return LT_OK;
}

/* Some tools are for models only, which call them one by one: a program that called them could go on for ever. */
static lt_status door_check_not_withheld(lt_door_call_state *c) {
  if (!lt_catalog_withholds(c->catalog, c->id)) {
    return LT_OK;
  }
  lt_str program = c->caller->hidden.n > 0 ? c->caller->hidden : LT_STR("a program");
  return lt_fail(c->err, LT_E_DENIED, "%.*s cannot be called from within %.*s", LT_STR_ARG(c->id), LT_STR_ARG(program));
}

static lt_status door_resolve(lt_door_call_state *c) LT_YIELDS {
  LT_TRY(door_check_depth(c));
  LT_TRY(lt_door_catalog_of(c->door, c->caller, &c->catalog, c->err));
  LT_TRY(door_check_not_withheld(c));
  if (c->caller->hidden.n > 0 && lt_str_eq(c->id, c->caller->hidden)) {
    return lt_fail(c->err, LT_E_NOTFOUND, "Tool \"%.*s\" cannot be called from within itself", LT_STR_ARG(c->id));
  }
  c->tool = lt_catalog_find(c->catalog, c->id);
  if (c->tool == NULL) {
    LT_TRY(door_check_owner_up(c));
    if (c->tool != NULL) {
      return LT_OK;
    }
    lt_catalog_explain_unknown(c->catalog, c->id, c->out);
    return LT_E_NOTFOUND;
  }
  return LT_OK;
}

/* --- 2: the input ------------------------------------------------------------------------------------------------- */
/* On the loop or on a thread of the pool: any thread may read the catalog and use a compiled schema. */
static void door_read_input(void *arg) {
  lt_door_call_state *c = arg;
  c->input_status = lt_tool_input_read(&c->arena, c->input, &c->object, c->err);
  if (c->input_status == LT_OK) {
    c->input = lt_json_text(c->object);
    c->input_status = lt_tool_schema_check(&c->tool->schemas->input, c->object, LT_STR("input"), c->out);
  }
}

/* A schema that cannot be used is the server's fault, not the caller's. */
static lt_status door_compile_schema(lt_door_call_state *c, lt_tool_schema *schema, lt_str text,
                                     const char *which) LT_YIELDS {
  if (schema->is_compiled) {
    return LT_OK;
  }
  LT_ERR_VAR(err);
  lt_status status = lt_tool_schema_compile(schema, lt_door_loop(c->door), text, &err);
  if (status == LT_E_NOMEM) {
    return lt_err_copy(c->err, &err);
  }
  if (status != LT_OK) {
    lt_door_warn(c->door, "Tool \"%.*s\" is called without checking its %ss: its %s schema cannot be used: %s",
                 LT_STR_ARG(c->id), which, which, lt_err_msg(&err));
  }
  return LT_OK;
}

/* A text that is an object for certain (`is_object`) is read only where the schema or a rule may look into it. */
static lt_status door_check_input(lt_door_call_state *c, bool is_object) LT_YIELDS {
  LT_TRY(door_compile_schema(c, &c->tool->schemas->input, c->tool->checked_schema, "input"));
  if (is_object && c->tool->schemas->input.schema == NULL && c->caller->policy == NULL) {
    return LT_OK;
  }
  if (c->input.n <= LT_CALL_INLINE_BYTES) {
    door_read_input(c);
  } else {
    LT_TRY(lt_loop_offload(lt_door_loop(c->door), door_read_input, c, c->err));
  }
  return c->input_status;
}

static bool door_has_provider(const lt_door *door, const lt_provider *provider) {
  const lt_provider *there;
  for (size_t i = 0; (there = lt_door_provider(door, i)) != NULL; i++) {
    if (there == provider) {
      return true;
    }
  }
  return false;
}

static lt_status door_check_still_granted(lt_door_call_state *c);

static lt_status door_take_successor(lt_door_call_state *c, const lt_tool *now) {
  if (now == NULL || (now->not_for_programs && !c->tool->not_for_programs)) {
    return lt_fail(
        c->err, LT_E_CLOSED,
        "Tool \"%.*s\" is no longer available: its server was removed, or replaced by one without it. List the "
        "tools again to see what there is",
        LT_STR_ARG(c->id));
  }
  if (!lt_str_eq(now->checked_schema, c->tool->checked_schema)) {
    return lt_fail(c->err, LT_E_CLOSED,
                   "Tool \"%.*s\" was not called: its server was replaced meanwhile, and the tool takes another input "
                   "now. List the tools again to see which",
                   LT_STR_ARG(c->id));
  }
  c->provider = now->provider;
  return LT_OK;
}

/* A caller may keep its list of tools for long. When the server of a tool has been replaced since, the new one carries
 * the call out: what it says of the tool's effects counts, too (door_find_current_annotations). It may list other tools
 * when it has started, so it is asked about again. */
static lt_status door_follow_provider(lt_door_call_state *c) {
  lt_catalog *now = NULL;
  lt_provider *own = c->tool->provider;
  if (own->of_caller || (c->provider == own && door_has_provider(c->door, own))) {
    return LT_OK;
  }
  LT_TRY(lt_door_catalog(c->door, &now, c->err));
  lt_status status = door_take_successor(c, lt_catalog_find(now, c->id));
  lt_catalog_unref(now);
  return status;
}

/* While a call waits, others run: they may have removed the provider, cancelled the call, or changed the tool. */
static lt_status door_check_still_wanted(lt_door_call_state *c) {
  LT_TRY(door_follow_provider(c));
  const lt_cancel *cancel = c->options.cancel;
  if (cancel != NULL && cancel->why != LT_OK) {
    return lt_fail(c->err, cancel->why, "%s before the tool was called", lt_status_text(cancel->why));
  }
  LT_TRY(door_check_provider_up(c, c->provider));
  return door_check_still_granted(c);
}

/* --- 3: whether it may -------------------------------------------------------------------------------------------- */
/* Annotations that do not parse count as none. Out of memory is a failure, as a rule may forbid what they say. */
static lt_status door_parse_annotations(lt_door_call_state *c, lt_str text, lt_json *ret) {
  if (text.n == 0) {
    return LT_OK;
  }
  lt_json_doc *doc = lt_arena_zalloc(&c->arena, 1, sizeof *doc);
  lt_status status = doc != NULL ? lt_json_parse(&c->arena, text, doc, NULL) : LT_E_NOMEM;
  if (status == LT_E_NOMEM) {
    return lt_fail(c->err, status, "no memory to judge a call of \"%.*s\"", LT_STR_ARG(c->id));
  }
  if (status == LT_OK) {
    *ret = lt_json_root(doc);
  }
  return LT_OK;
}

/* A run keeps the catalog that it began with. What the provider says of the tool's effects meanwhile counts, too. */
static lt_status door_find_current_annotations(lt_door_call_state *c, lt_str *ret_text) {
  lt_catalog *current = NULL;
  lt_str text = c->tool->annotations;
  LT_TRY(lt_door_catalog(c->door, &current, c->err));
  const lt_tool *tool = current != c->catalog ? lt_catalog_find(current, c->id) : NULL;
  if (tool != NULL && tool->provider == c->provider && !lt_str_eq(tool->annotations, text)) {
    text = tool->annotations.n > 0 ? lt_arena_dup(&c->arena, tool->annotations) : LT_STR("{}");
  }
  lt_catalog_unref(current);
  *ret_text = text;
  return text.p != NULL || text.n == 0
             ? LT_OK
             : lt_fail(c->err, LT_E_NOMEM, "no memory to judge a call of \"%.*s\"", LT_STR_ARG(c->id));
}

/* Reads the annotations of now, where they differ from those of the caller's catalog. */
static lt_status door_read_current_annotations(lt_door_call_state *c) {
  LT_TRY(door_find_current_annotations(c, &c->now_text));
  c->now = (lt_json){0};
  return c->now_text.p != c->tool->annotations.p ? door_parse_annotations(c, c->now_text, &c->now) : LT_OK;
}

static lt_status door_read_annotations(lt_door_call_state *c) {
  LT_TRY(door_parse_annotations(c, c->tool->annotations, &c->annotations));
  return door_read_current_annotations(c);
}

/* By the annotations that the run began with and by those of now: the stricter decision holds. Of two equal ones, the
 * one without a rule leaves the decision to the tool itself. */
static lt_policy_decision door_judge(const lt_door_call_state *c) {
  lt_policy_call what = {.tool = c->id, .input = c->object, .annotations = c->annotations};
  lt_policy_decision decision = lt_policy_decide(c->caller->policy, &what);
  if (!lt_json_exists(c->now)) {
    return decision;
  }
  what.annotations = c->now;
  lt_policy_decision other = lt_policy_decide(c->caller->policy, &what);
  bool is_stricter = other.action > decision.action || (other.action == decision.action && other.rule == SIZE_MAX);
  return is_stricter ? other : decision;
}

/* A call that was let through may have waited, for a person or for the disk, while its tool became another. */
static lt_status door_check_still_granted(lt_door_call_state *c) {
  if (!c->is_granted || c->caller->policy == NULL) {
    return LT_OK;
  }
  lt_str judged = c->now_text;
  LT_TRY(door_read_current_annotations(c));
  if (lt_str_eq(judged, c->now_text) || door_judge(c).action <= c->granted) {
    return LT_OK;
  }
  return lt_fail(c->err, LT_E_DENIED,
                 "Tool \"%.*s\" was not called: its annotations changed while the call waited, and the rules are "
                 "stricter for what it is now",
                 LT_STR_ARG(c->id));
}

static lt_status door_deny(lt_door_call_state *c, const lt_policy_decision *decision) {
  lt_buf_printf(c->out, "Tool \"%.*s\" is not allowed: ", LT_STR_ARG(c->id));
  if (decision->reason.n > 0) {
    lt_buf_add(c->out, decision->reason);
  } else {
    lt_policy_put_rule(c->caller->policy, decision->layer, decision->rule, c->out);
    lt_buf_addc(c->out, " denies it");
  }
  if (decision->unsure) {
    lt_buf_addc(c->out, " (for this input its condition cannot be told: a value is missing or of another type)");
  }
  return LT_E_DENIED;
}

/* Whether the tool itself needs an approval: counts when no rule matches. */
static bool door_wants_approval(lt_door_call_state *c, lt_buf *reason) LT_YIELDS {
  lt_provider *provider = c->provider;
  lt_buf_add(reason, c->tool->approval);
  if (c->tool->needs_approval || provider->needs_approval == NULL) {
    return c->tool->needs_approval;
  }
  bool has_gone = lt_lane_go_home(lt_door_loop(c->door));
  bool wants = provider->needs_approval(provider, c->tool->name, c->input, &c->options, reason);
  lt_lane_go_back(lt_door_loop(c->door), has_gone);
  return wants;
}

static lt_status door_reject(lt_door_call_state *c, lt_str why) {
  if (why.n == 0) {
    why = LT_STR("Rejected by user");
  }
  lt_buf_addc(c->out, "Tool \"");
  lt_buf_add(c->out, c->id);
  lt_buf_addc(c->out, "\" was not approved: ");
  lt_buf_add(c->out, why);
  return LT_E_DENIED;
}

static lt_status door_put_question(lt_door_call_state *c, const lt_approval *what,
                                   lt_decision *ret_decision) LT_YIELDS {
  lt_approver *approver = c->caller->approver;
  if (approver == NULL) {
    return lt_fail(c->err, LT_E_DENIED,
                   "Tool \"%.*s\" needs approval, and there is nobody to ask: allow it in the configuration, such as "
                   "tools: {policy: [{match: \"%.*s\", action: allow}]}",
                   LT_STR_ARG(c->id), LT_STR_ARG(c->id));
  }
  lt_door_tell(c, LT_CALL_ASKED, LT_OK, LT_STR_NULL);
  if (c->options.on_approval != NULL) {
    c->options.on_approval(c->options.arg, true);
  }
  lt_door_trace_question(c);
  lt_status status = approver->ask(approver, what, c->options.cancel, &c->arena, ret_decision, c->err);
  lt_door_trace_answer(c);
  if (c->options.on_approval != NULL) {
    c->options.on_approval(c->options.arg, false);
  }
  LT_TRY(status);
  return ret_decision->is_approved ? door_check_still_wanted(c) : door_reject(c, ret_decision->reason);
}

/* --- 3a: an input that a person has edited ------------------------------------------------------------------------ */
/* Replaces the input by the edited one, which is checked as the first one was. On failure the input stays. */
static lt_status door_take_edit(lt_door_call_state *c, lt_str shown, lt_str edited) LT_YIELDS {
  lt_str was = c->input;
  lt_json object = c->object;
  lt_str asked = lt_arena_dup(&c->arena, shown); /* `shown` may be the buffer of the masked input */
  lt_status status = asked.p != NULL ? lt_masked_edit_restore(&c->arena, shown, was, edited, &c->input, c->err)
                                     : lt_fail(c->err, LT_E_NOMEM, "no memory for an edited input");
  if (status == LT_OK) {
    status = door_check_input(c, false);
  }
  if (status != LT_OK) {
    c->input = was;
    c->object = object;
    return status;
  }
  c->asked_input = asked;
  return LT_OK;
}

/* The rules hold for the input that the tool gets. A rule that asks has its answer already. */
static lt_status door_judge_edit(lt_door_call_state *c) {
  lt_policy_decision decision = door_judge(c);
  return decision.action == LT_ACTION_DENY ? door_deny(c, &decision) : LT_OK;
}

/* Why the edited input cannot be used, in the arena; `out` and `err` are empty afterwards. */
static lt_str door_take_refusal(lt_door_call_state *c, lt_status status) {
  lt_door_put_message(c, status);
  lt_str refusal = lt_arena_dup(&c->arena, lt_str_sub(lt_buf_view(c->out), 0, LT_RUN_ERROR_BYTES));
  lt_buf_clear(c->out);
  lt_err_clear(c->err);
  return refusal.n > 0 ? refusal : LT_STR("the edited input cannot be used");
}

static bool door_is_bad_edit(lt_status status) {
  return status == LT_E_INVALID || status == LT_E_LIMIT || status == LT_E_SYNTAX;
}

/* A decision that a person has made for later calls was about the tool as it was: it is asked about again. */
static lt_str door_changed_tool(const lt_door_call_state *c) {
  return lt_json_exists(c->now) ? LT_STR("the tool's annotations have changed since this run began") : LT_STR_NULL;
}

/* Asks until the decision can be carried out. */
static LT_OWN_FRAME lt_status door_ask_approver(lt_door_call_state *c, lt_str reason) LT_YIELDS {
  lt_decision decision = {0};
  lt_approval what = {.tool = c->tool,
                      .input = lt_door_shown_input(c),
                      .reason = reason,
                      .call = c->number,
                      .run = c->caller->run,
                      .seq = c->options.seq,
                      .is_masked = lt_secrets_in(c->secrets, c->input),
                      .refusal = door_changed_tool(c)};
  for (unsigned edits = 0; edits < LT_EDITS_MAX; edits++) {
    decision = (lt_decision){0};
    LT_TRY(door_put_question(c, &what, &decision));
    if (decision.input.n == 0) {
      return LT_OK;
    }
    lt_status status = door_take_edit(c, what.input, decision.input);
    if (status == LT_OK) {
      return door_judge_edit(c);
    }
    if (!door_is_bad_edit(status)) {
      return status;
    }
    what.refusal = door_take_refusal(c, status);
  }
  return lt_fail(c->err, LT_E_INVALID, "Tool \"%.*s\" was not called: no edited input could be used: %.*s",
                 LT_STR_ARG(c->id), LT_STR_ARG(lt_str_sub(what.refusal, 0, LT_ERR_MSG_MAX / 2)));
}

static lt_status door_ask_policy(lt_door_call_state *c) LT_YIELDS {
  LT_AUTO_BUF(reason, LT_RUN_ERROR_BYTES);
  lt_policy_decision decision = door_judge(c);
  if (decision.rule == SIZE_MAX && door_wants_approval(c, &reason)) {
    decision.action = LT_ACTION_ASK;
  } else {
    lt_buf_add(&reason, decision.reason);
  }
  if (decision.action == LT_ACTION_DENY) {
    return door_deny(c, &decision);
  }
  c->granted = decision.action;
  c->is_granted = true;
  if (lt_budget_has_limits(c->caller->budget)) { /* what the time is costs as much as the rest of this function */
    LT_TRY(lt_budget_take(c->caller->budget, c->id, lt_loop_now_ms(lt_door_loop(c->door)), c->err));
  }
  return decision.action == LT_ACTION_ASK ? door_ask_approver(c, lt_buf_view(&reason)) : LT_OK;
}

/* --- 4: the record ------------------------------------------------------------------------------------------------ */
/* MCP 2025-11-25, ToolAnnotations: idempotentHint says something only of tools that are not read-only. */
static bool door_says_repeatable(lt_json annotations) {
  return lt_json_bool(lt_json_get(annotations, "readOnlyHint"), false) ||
         lt_json_bool(lt_json_get(annotations, "idempotentHint"), false);
}

static bool door_is_repeatable(const lt_door_call_state *c) {
  return door_says_repeatable(c->annotations) && (!lt_json_exists(c->now) || door_says_repeatable(c->now));
}

static bool door_is_read_only(const lt_door_call_state *c) {
  return lt_json_bool(lt_json_get(c->annotations, "readOnlyHint"), false) &&
         (!lt_json_exists(c->now) || lt_json_bool(lt_json_get(c->now, "readOnlyHint"), false));
}

/* A run that is not noted may start again under the same name, as hooks do. Its calls get no numbers: the journal would
 * refuse the second call of a number as recorded already. */
static lt_status door_record_start(lt_door_call_state *c) LT_YIELDS {
  lt_journal *journal = c->caller->journal;
  if (journal != NULL) {
    const lt_journal_call what = {
        .user = c->caller->user,
        .run = c->caller->run,
        .seq = c->caller->noted ? c->options.seq : 0,
        .hash = c->hash,
        .tool = c->id,
        .input = lt_door_shown_input(c),
        .edited_input = lt_door_shown_edit(c),
        .repeatable = door_is_repeatable(c),
        .read_only = door_is_read_only(c),
    };
    if (journal->begin(journal, &what, &c->record, c->err) != LT_OK) {
      return lt_err_prefix(c->err, "Tool \"%.*s\" was not called, as the call could not be recorded",
                           LT_STR_ARG(c->id));
    }
    c->is_recorded = true;
    LT_TRY(door_check_still_wanted(c));
  }
  lt_door_tell(c, LT_CALL_STARTED, LT_OK, LT_STR_NULL);
  return LT_OK;
}

/* A run that is recorded for replay gets the recorded value, which is masked, also the first time. */
static void door_give_recorded(lt_door_call_state *c, const lt_buf *masked) {
  if (masked->n > 0 && masked->status == LT_OK) {
    lt_buf_clear(c->out);
    lt_buf_add(c->out, lt_buf_view(masked));
  }
}

/* A journal failure does not discard the answer. */
static LT_OWN_FRAME void door_record_end(lt_door_call_state *c, lt_status status) LT_YIELDS {
  lt_journal *journal = c->caller->journal;
  if (journal == NULL && !lt_door_has_listener(c)) {
    return;
  }
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_ERR_VAR(err);
  lt_str answer = lt_door_shown_answer(c, status, &masked);
  if (journal != NULL && journal->finish(journal, c->record, status, answer, &err) != LT_OK) {
    lt_door_warn(c->door, "an answer of \"%.*s\" could not be recorded: %s", LT_STR_ARG(c->id), lt_err_msg(&err));
  }
  if (journal != NULL && c->caller->noted) {
    door_give_recorded(c, &masked);
  }
  lt_door_tell(c, LT_CALL_FINISHED, status, answer);
}

/* --- 5: the call itself ------------------------------------------------------------------------------------------- */
/* An answer that breaks the tool's output schema is used as it is, with a warning, once per tool. */
static LT_OWN_FRAME lt_status door_check_answer(lt_door_call_state *c) LT_YIELDS {
  lt_tool_schema *schema = &c->tool->schemas->output;
  if (schema->has_warned || c->tool->output_schema.n == 0 || c->out->n > LT_CALL_INLINE_BYTES) {
    return LT_OK;
  }
  LT_TRY(door_compile_schema(c, schema, c->tool->output_schema, "output"));
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_json_doc doc;
  if (schema->schema == NULL || lt_json_parse(&arena, lt_buf_view(c->out), &doc, NULL) != LT_OK) {
    return LT_OK;
  }
  if (lt_tool_schema_check(schema, lt_json_root(&doc), LT_STR("output"), &faults) == LT_E_INVALID) {
    schema->has_warned = true;
    lt_door_warn(c->door,
                 "Tool \"%.*s\" does not answer what its output schema says (the answer is used as it is): %.*s",
                 LT_STR_ARG(c->id), LT_STR_ARG(lt_buf_view(&faults)));
  }
  return LT_OK;
}

/* The client that gets a whole answer has the output schema, too, and checks it. */
static lt_status door_make_whole(lt_door_call_state *c) {
  if (c->provider->has_whole) {
    return LT_OK;
  }
  LT_AUTO_BUF(whole, c->out->max);
  lt_whole_answer_put_value(lt_buf_view(c->out), c->tool->output_schema.n > 0, &whole);
  LT_TRY(lt_buf_check(&whole, c->err, "no memory for the answer"));
  lt_buf_clear(c->out);
  lt_buf_add(c->out, lt_buf_view(&whole));
  return lt_buf_check(c->out, c->err, "no memory for the answer");
}

static lt_status door_finish_answer(lt_door_call_state *c) LT_YIELDS {
  if (c->out->status != LT_OK) {
    return lt_fail(c->err, c->out->status, "the answer of \"%.*s\" is too long", LT_STR_ARG(c->id));
  }
  if (c->out->n == 0) {
    lt_buf_addc(c->out, "null");
  }
  if (c->options.wants_whole) {
    return door_make_whole(c);
  }
  return door_check_answer(c);
}

static lt_status door_invoke(lt_door_call_state *c) LT_YIELDS {
  lt_provider *provider = c->provider;
  if (c->caller->wants_progress && c->caller->on_call != NULL) {
    c->options.on_progress = lt_door_tell_progress;
    c->options.progress_arg = c;
  }
  bool has_gone = !provider->keeps_lane && lt_lane_go_home(lt_door_loop(c->door));
  lt_status status = provider->invoke(provider, c->tool->name, c->input, &c->options, c->out, c->err);
  lt_lane_go_back(lt_door_loop(c->door), has_gone);
  if (status == LT_OK) {
    return door_finish_answer(c);
  }
  if (status == LT_E_TOOL && c->out->n == 0) {
    lt_err_set(c->err, status, __FILE__, __LINE__, "Tool \"%.*s\" failed without a message", LT_STR_ARG(c->id));
  } else if (status != LT_E_TOOL) {
    lt_buf_clear(c->out); /* part of an answer is of no use */
  }
  return status;
}

/* What the server says of its tools when it has started may make the rules stricter. */
static lt_status door_wake_provider(lt_door_call_state *c) LT_YIELDS {
  if (c->provider->wake == NULL) {
    return LT_OK;
  }
  door_wake(c, c->provider);
  return door_check_still_wanted(c);
}

/* --- The steps in order ------------------------------------------------------------------------------------------- */
static lt_status door_perform(lt_door_call_state *c) LT_YIELDS {
  lt_status status = door_record_start(c);
  if (status == LT_OK) {
    status = door_invoke(c);
  } else if (!c->is_recorded) {
    return status;
  }
  if (status != LT_OK) {
    lt_door_put_message(c, status);
  }
  door_record_end(c, status);
  return status;
}

static lt_status door_run_steps(lt_door_call_state *c) LT_YIELDS {
  LT_TRY(door_resolve(c));
  c->provider = c->tool->provider;
  LT_TRY(door_check_input(c, c->is_object));
  LT_TRY(door_check_still_wanted(c));
  if (c->caller->policy != NULL || c->caller->journal != NULL) {
    LT_TRY(door_read_annotations(c));
  }
  LT_TRY(door_ask_policy(c));
  LT_TRY(door_wake_provider(c));
  return door_perform(c);
}

/* --- 6: an answer that is too long -------------------------------------------------------------------------------- */
static LT_OWN_FRAME lt_status door_spill(lt_door_call_state *c) LT_YIELDS {
  LT_ERR_VAR(err);
  if (c->options.max_answer_bytes == 0 || c->out->n <= c->options.max_answer_bytes) {
    return LT_OK;
  }
  lt_door_mask_value(c); /* an artifact is stored, and its beginning shown */
  if (lt_answer_spill(c->caller, c->id, c->out, &err) != LT_OK) {
    lt_door_warn(c->door, "an answer of \"%.*s\" was cut: %s", LT_STR_ARG(c->id), lt_err_msg(&err));
  }
  if (c->out->status != LT_OK) {
    return lt_fail(c->err, c->out->status, "there was no memory for the answer of \"%.*s\"", LT_STR_ARG(c->id));
  }
  return LT_OK;
}

lt_status lt_door_call(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                       lt_err *err) {
  static const lt_caller nobody;
  lt_err why;
  lt_err_clear(&why);
  lt_door_call_state c = {.door = door,
                          .secrets = lt_door_secrets(door),
                          .id = id,
                          .input = input,
                          .out = out,
                          .err = &why,
                          .number = lt_door_number_call(door)};
  if (options != NULL) {
    c.options = *options;
  }
  c.is_object = c.options.is_object;
  c.options.is_object = false; /* a provider may pass the options on, with another input */
  c.caller = c.options.caller != NULL ? c.options.caller : &nobody;
  c.hash = c.options.seq != 0 && c.caller->journal != NULL ? lt_journal_hash(id, input) : 0;
  lt_buf_clear(out);
  lt_buf_init(&c.masked_input, LT_JSON_MAX_BYTES);
  lt_buf_init(&c.masked_edit, LT_JSON_MAX_BYTES);
  lt_arena_init(&c.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_door_begin_trace(&c);
  lt_status status = door_run_steps(&c);
  if (status == LT_OK) {
    status = door_spill(&c);
  }
  if (status != LT_OK) {
    lt_door_put_message(&c, status);
    if (!c.has_ended) {
      lt_door_tell(&c, LT_CALL_FINISHED, status, lt_buf_view(out));
    }
    lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(out)));
  }
  lt_catalog_unref(c.catalog);
  lt_arena_release(&c.arena);
  lt_buf_release(&c.masked_input);
  lt_buf_release(&c.masked_edit);
  return status;
}
