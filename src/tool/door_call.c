/* One call through the door: its steps, in order. */
#include "json/json.h"
#include "tool/tool_schemas.h"
#include "tool/door_impl.h"
#include "tool/answer_spill.h"

/* A step that fails leaves its message in `out` when it may be long, else in `err`. */
typedef struct call {
  lt_door *door;
  lt_str id;
  lt_str input; /* as it came, then the object's text */
  lt_invoke_options options;
  lt_caller nobody; /* who calls when nobody in particular does */
  const lt_caller *caller;
  lt_buf *out;
  lt_err err;
  lt_arena arena;
  lt_catalog *catalog; /* keeps `tool` */
  const lt_tool *tool;
  lt_json object; /* the input, read */
  lt_json annotations;
  lt_status status; /* of the part that may run off the loop */
  lt_buf masked;    /* the input without secrets, when there are any in it */
  int64_t record;   /* the journal's number for it */
  uint64_t number;  /* the door's */
  uint64_t hash;    /* lt_journal_hash of what came */
  bool recorded;    /* that it begins: its end has to be, too */
  bool told;        /* that it has finished */
} call;

/* --- 1: which tool ------------------------------------------------------------------------------------------------ */
/* The id of the tool that a suggestion is a name of. */
static lt_str id_of(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find(catalog, name);
  if (tool == NULL) {
    tool = lt_catalog_find_js(catalog, name);
  }
  if (tool == NULL) {
    tool = lt_catalog_find_ts(catalog, name);
  }
  return tool != NULL ? tool->id : name;
}

static void add_suggestions(call *c) {
  lt_str near[LT_TOOL_SUGGESTIONS];
  size_t count = lt_catalog_suggest(c->catalog, c->id, near);
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(c->out, i == 0 ? " Did you mean: " : ", ");
    lt_buf_add(c->out, id_of(c->catalog, near[i]));
  }
  lt_buf_addc(c->out, count > 0 ? "?" : "");
}

static void add_available(call *c) {
  size_t count = lt_catalog_count(c->catalog);
  size_t listed = count < LT_TOOL_LISTED_MAX ? count : LT_TOOL_LISTED_MAX;
  lt_buf_addc(c->out, count > 0 ? " Available tools: " : " No tools are available.");
  for (size_t i = 0; i < listed; i++) {
    lt_buf_addc(c->out, i > 0 ? ", " : "");
    lt_buf_add(c->out, lt_catalog_at(c->catalog, i)->id);
  }
  if (count > listed) {
    lt_buf_printf(c->out, " and %zu more", count - listed);
  }
}

static lt_status fail_not_found(call *c) {
  lt_buf_addc(c->out, "Tool \"");
  lt_buf_add(c->out, c->id);
  lt_buf_addc(c->out, "\" not found.");
  add_suggestions(c);
  add_available(c);
  return LT_E_NOTFOUND;
}

/* LT_E_CLOSED with the provider's reason when it cannot be called. */
static lt_status check_up(call *c, lt_provider *provider) {
  lt_str reason = provider->down != NULL ? provider->down(provider) : LT_STR("");
  if (reason.n == 0) {
    return LT_OK;
  }
  lt_buf_add(c->out, reason);
  return LT_E_CLOSED;
}

/* A server that is down may not have told its tools: whatever is asked of it fails with its reason. */
static lt_status check_owner_up(call *c) {
  for (size_t i = 0; i < c->door->count; i++) {
    lt_provider *provider = c->door->entries[i].provider;
    size_t n = provider->name.n;
    if (n > 0 && c->id.n > n && c->id.p[n] == '.' && lt_str_starts(c->id, provider->name)) {
      LT_TRY(check_up(c, provider));
    }
  }
  return LT_OK;
}

static lt_status check_depth(call *c) {
  unsigned depth = 0;
  for (const lt_caller *caller = c->caller; caller != NULL; caller = caller->parent) {
    if (depth++ > LT_CALLER_DEPTH_MAX) {
      return lt_fail(&c->err, LT_E_LIMIT, "Tool \"%.*s\" was not called: programs run programs more than %d deep",
                     LT_STR_ARG(c->id), LT_CALLER_DEPTH_MAX);
    }
  }
  return LT_OK;
}

/* Models call it one by one; a program that did would be a way to go on for ever. */
static lt_status check_for_programs(call *c) {
  lt_str within = c->caller->hidden.n > 0 ? c->caller->hidden : LT_STR("a program");
  return lt_catalog_withholds(c->catalog, c->id)
             ? lt_fail(&c->err, LT_E_DENIED, "%.*s cannot be called from within %.*s", LT_STR_ARG(c->id),
                       LT_STR_ARG(within))
             : LT_OK;
}

static lt_status resolve(call *c) {
  LT_TRY(check_depth(c));
  if (c->caller->catalog != NULL) {
    c->catalog = lt_catalog_ref(c->caller->catalog);
  } else {
    LT_TRY(lt_door_catalog(c->door, &c->catalog, &c->err));
  }
  LT_TRY(check_for_programs(c));
  if (c->caller->hidden.n > 0 && lt_str_eq(c->id, c->caller->hidden)) {
    return lt_fail(&c->err, LT_E_NOTFOUND, "Tool \"%.*s\" cannot be called from within itself", LT_STR_ARG(c->id));
  }
  c->tool = lt_catalog_find(c->catalog, c->id);
  if (c->tool == NULL) {
    LT_TRY(check_owner_up(c));
    return fail_not_found(c);
  }
  return LT_OK;
}

/* --- 2: the input ------------------------------------------------------------------------------------------------- */
static lt_status fail_not_object(call *c, lt_json_type type) {
  return lt_fail(&c->err, LT_E_INVALID, "input: expected an object, got %s", lt_json_type_name(type));
}

/* Models write an object as a string now and then: what is in the string counts, once. */
static lt_status unwrap(call *c, lt_json_doc *doc) {
  lt_str inner;
  if (!lt_json_str(lt_json_root(doc), &c->arena, &inner)) {
    return LT_E_NOMEM;
  }
  inner = lt_str_trim(inner);
  lt_status status = lt_json_parse(&c->arena, inner.n > 0 ? inner : LT_STR("{}"), doc, NULL);
  if (status == LT_E_NOMEM) {
    return status;
  }
  if (status != LT_OK || lt_json_typeof(lt_json_root(doc)) != LT_JSON_OBJECT) {
    return fail_not_object(c, LT_JSON_STRING);
  }
  return LT_OK;
}

static lt_status normalise(call *c, lt_json_doc *doc) {
  lt_str text = lt_str_trim(c->input);
  if (text.n == 0 || lt_str_eqc(text, "null")) {
    text = LT_STR("{}");
  }
  lt_status status = lt_json_parse(&c->arena, text, doc, &c->err);
  if (status != LT_OK) {
    c->err.status = status == LT_E_SYNTAX ? LT_E_INVALID : status;
    return lt_err_prefix(&c->err, status == LT_E_SYNTAX ? "input: not JSON" : "input");
  }
  lt_json_type type = lt_json_typeof(lt_json_root(doc));
  if (type == LT_JSON_STRING) {
    LT_TRY(unwrap(c, doc));
  } else if (type != LT_JSON_OBJECT) {
    return fail_not_object(c, type);
  }
  c->object = lt_json_root(doc);
  c->input = lt_json_text(c->object);
  return LT_OK;
}

/* Touches nothing of the loop's: the catalog may be read anywhere, and the schema is compiled. */
static void read_input(void *arg) {
  call *c = arg;
  lt_json_doc *doc = lt_arena_zalloc(&c->arena, 1, sizeof *doc);
  c->status = doc != NULL ? normalise(c, doc) : LT_E_NOMEM;
  if (c->status == LT_OK) {
    c->status = lt_tool_schema_check(&c->tool->checks->input, c->object, LT_STR("input"), c->out);
  }
}

/* A schema that cannot be used is the server's fault, not the caller's. */
static lt_status compile(call *c, lt_tool_schema *check, lt_str schema, const char *which) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_tool_schema_compile(check, c->door->loop, schema, &err);
  if (status == LT_E_NOMEM) {
    return lt_fail(&c->err, status, "%s", lt_err_msg(&err));
  }
  if (status != LT_OK) {
    lt_door_warn(c->door, "Tool \"%.*s\" is called without checking its %ss: its %s schema cannot be used: %s",
                 LT_STR_ARG(c->id), which, which, lt_err_msg(&err));
  }
  return LT_OK;
}

static lt_status check_input(call *c) LT_YIELDS {
  LT_TRY(compile(c, &c->tool->checks->input, c->tool->input_schema, "input"));
  if (c->input.n <= LT_CALL_INLINE_BYTES) {
    read_input(c);
  } else {
    LT_TRY(lt_loop_offload(c->door->loop, read_input, c, &c->err));
  }
  return c->status;
}

/* Whoever waits gives way to others, who may have removed the provider or fired the cancel. */
static lt_status check_still_wanted(call *c) {
  const lt_provider *provider = c->tool->provider;
  if (!provider->of_caller && lt_door_find_entry(c->door, provider) == NULL) {
    return lt_fail(&c->err, LT_E_CLOSED, "Tool \"%.*s\" is no longer available", LT_STR_ARG(c->id));
  }
  const lt_cancel *cancel = c->options.cancel;
  if (cancel != NULL && cancel->why != LT_OK) {
    return lt_fail(&c->err, cancel->why, "%s before the tool was called", lt_status_text(cancel->why));
  }
  return check_up(c, c->tool->provider);
}

/* --- 3: whether it may -------------------------------------------------------------------------------------------- */
/* What they say must not be taken for unsaid for want of memory: a rule may forbid just that. */
static lt_status read_annotations(call *c) {
  if (c->tool->annotations.n == 0) {
    return LT_OK;
  }
  lt_json_doc *doc = lt_arena_zalloc(&c->arena, 1, sizeof *doc);
  lt_status status = doc != NULL ? lt_json_parse(&c->arena, c->tool->annotations, doc, NULL) : LT_E_NOMEM;
  if (status == LT_E_NOMEM) {
    return lt_fail(&c->err, status, "no memory to judge a call of \"%.*s\"", LT_STR_ARG(c->id));
  }
  if (status == LT_OK) {
    c->annotations = lt_json_root(doc);
  }
  return LT_OK;
}

/* The input as it may be shown and kept. */
static lt_str shown_input(call *c) {
  const lt_secrets *secrets = c->door->options.secrets;
  if (c->masked.n == 0 && !lt_secrets_in(secrets, c->input)) {
    return c->input;
  }
  if (c->masked.n == 0) {
    lt_secrets_mask_json(secrets, c->input, &c->masked);
  }
  return c->masked.status == LT_OK ? lt_buf_view(&c->masked) : LT_STR("{}"); /* rather nothing than a secret */
}

static void tell(call *c, lt_call_stage stage, lt_status status, lt_str answer) {
  if (c->caller->on_call != NULL) {
    lt_buf id; /* what is no tool's may be anything */
    lt_buf_init(&id, LT_JSON_MAX_BYTES);
    lt_secrets_mask(c->tool == NULL ? c->door->options.secrets : NULL, c->id, &id);
    const lt_call_event event = {
        .stage = stage,
        .call = c->number,
        .run = c->caller->run,
        .seq = c->options.seq,
        .tool = c->tool != NULL ? c->id : lt_buf_view(&id),
        .input = shown_input(c),
        .status = status,
        .answer = answer,
    };
    c->told = stage == LT_CALL_FINISHED;
    c->caller->on_call(c->caller->arg, &event);
    lt_buf_release(&id);
  }
}

static lt_status deny(call *c, const lt_policy_decision *decision) {
  lt_buf_printf(c->out, "Tool \"%.*s\" is not allowed: ", LT_STR_ARG(c->id));
  if (decision->reason.n > 0) {
    lt_buf_add(c->out, decision->reason);
  } else {
    lt_buf_printf(c->out, "tools.policy[%zu] denies it", decision->rule);
  }
  if (decision->unsure) {
    lt_buf_addc(c->out, " (for this input its condition cannot be told: a value is missing or of another type)");
  }
  return LT_E_DENIED;
}

/* The tool's own word, which a rule overrides. */
static bool wants_approval(call *c, lt_buf *reason) LT_YIELDS {
  lt_provider *provider = c->tool->provider;
  lt_buf_add(reason, c->tool->approval);
  return c->tool->needs_approval || (provider->needs_approval != NULL &&
                                     provider->needs_approval(provider, c->tool->name, c->input, &c->options, reason));
}

static lt_status rejected(call *c, lt_status status, lt_str why) {
  if (status != LT_E_DENIED) {
    return status;
  }
  if (why.n == 0) {
    why = LT_STR("Rejected by user");
  }
  lt_buf_addc(c->out, "Tool \"");
  lt_buf_add(c->out, c->id);
  lt_buf_addc(c->out, "\" was not approved: ");
  lt_buf_add(c->out, why);
  return status;
}

static lt_status ask(call *c, lt_str reason) LT_YIELDS {
  lt_approver *approver = c->caller->approver;
  if (approver == NULL) {
    return lt_fail(&c->err, LT_E_DENIED,
                   "Tool \"%.*s\" needs approval, and there is nobody to ask: allow it in the configuration, such as "
                   "tools: {policy: [{match: \"%.*s\", action: allow}]}",
                   LT_STR_ARG(c->id), LT_STR_ARG(c->id));
  }
  const lt_approval what = {.tool = c->tool,
                            .input = shown_input(c),
                            .reason = reason,
                            .call = c->number,
                            .run = c->caller->run,
                            .seq = c->options.seq};
  lt_buf why;
  lt_buf_init(&why, LT_RUN_ERROR_BYTES);
  tell(c, LT_CALL_ASKED, LT_OK, LT_STR_NULL);
  if (c->options.on_approval != NULL) {
    c->options.on_approval(c->options.arg, true);
  }
  lt_status status = approver->ask(approver, &what, c->options.cancel, &why, &c->err);
  if (c->options.on_approval != NULL) {
    c->options.on_approval(c->options.arg, false);
  }
  status = rejected(c, status, lt_buf_view(&why));
  lt_buf_release(&why);
  LT_TRY(status);
  return check_still_wanted(c);
}

static lt_status ask_policy(call *c) LT_YIELDS {
  lt_buf reason;
  lt_buf_init(&reason, LT_RUN_ERROR_BYTES);
  const lt_policy_call what = {.tool = c->id, .input = c->object, .annotations = c->annotations};
  lt_policy_decision decision = lt_policy_decide(c->caller->policy, &what);
  if (decision.rule == SIZE_MAX && wants_approval(c, &reason)) {
    decision.action = LT_ACTION_ASK;
  } else {
    lt_buf_add(&reason, decision.reason);
  }
  lt_status status = LT_OK;
  if (decision.action == LT_ACTION_DENY) {
    status = deny(c, &decision);
  } else {
    status = lt_budget_take(c->caller->budget, c->id, lt_loop_now_ms(c->door->loop), &c->err);
  }
  if (status == LT_OK && decision.action == LT_ACTION_ASK) {
    status = ask(c, lt_buf_view(&reason));
  }
  lt_buf_release(&reason);
  return status;
}

/* --- 4: the record ------------------------------------------------------------------------------------------------ */
/* MCP 2025-11-25, ToolAnnotations: idempotentHint says something only of tools that are not read-only. */
static bool is_repeatable(const call *c) {
  return lt_json_bool(lt_json_get(c->annotations, "readOnlyHint"), false) ||
         lt_json_bool(lt_json_get(c->annotations, "idempotentHint"), false);
}

/* A run that is not noted is made anew each time, under the same name (what hooks do): its calls have no numbers, or
 * the second one would be refused as on record already. */
static lt_status record_start(call *c) LT_YIELDS {
  lt_journal *journal = c->caller->journal;
  if (journal != NULL) {
    const lt_journal_call what = {
        .user = c->caller->user,
        .run = c->caller->run,
        .seq = c->caller->noted ? c->options.seq : 0,
        .hash = c->hash,
        .tool = c->id,
        .input = shown_input(c),
        .repeatable = is_repeatable(c),
    };
    if (journal->begin(journal, &what, &c->record, &c->err) != LT_OK) {
      return lt_err_prefix(&c->err, "Tool \"%.*s\" was not called, as the call could not be recorded",
                           LT_STR_ARG(c->id));
    }
    c->recorded = true;
    LT_TRY(check_still_wanted(c));
  }
  tell(c, LT_CALL_STARTED, LT_OK, LT_STR_NULL);
  return LT_OK;
}

/* A value without secrets stays JSON; a message is text. */
static lt_str mask_answer(const call *c, lt_status status, lt_buf *masked) {
  const lt_secrets *secrets = c->door->options.secrets;
  lt_str answer = lt_buf_view(c->out);
  if (!lt_secrets_in(secrets, answer)) {
    return answer;
  }
  if (status == LT_OK) {
    lt_secrets_mask_json(secrets, answer, masked);
  } else {
    lt_secrets_mask(secrets, answer, masked);
  }
  return masked->status == LT_OK ? lt_buf_view(masked) : LT_STR("\"***\""); /* rather nothing than a secret */
}

/* Who is answered from the record when it is run again has to have been answered the same the first time. */
static void give_recorded(call *c, const lt_buf *masked) {
  if (masked->n > 0 && masked->status == LT_OK) {
    lt_buf_clear(c->out);
    lt_buf_add(c->out, lt_buf_view(masked));
  }
}

/* The answer is there: that it could not be recorded takes it from nobody. */
static void record_end(call *c, lt_status status) LT_YIELDS {
  lt_journal *journal = c->caller->journal;
  if (journal == NULL && c->caller->on_call == NULL) {
    return;
  }
  lt_buf masked;
  lt_err err = LT_ERR_INIT;
  lt_buf_init(&masked, LT_JSON_MAX_BYTES);
  lt_str answer = mask_answer(c, status, &masked);
  if (journal != NULL && journal->finish(journal, c->record, status, answer, &err) != LT_OK) {
    lt_door_warn(c->door, "an answer of \"%.*s\" could not be recorded: %s", LT_STR_ARG(c->id), lt_err_msg(&err));
  }
  if (journal != NULL && c->caller->noted) {
    give_recorded(c, &masked);
  }
  tell(c, LT_CALL_FINISHED, status, answer);
  lt_buf_release(&masked);
}

/* --- 5: the call itself ------------------------------------------------------------------------------------------- */
/* A server that breaks its own word about its answers is told of once; the answer is what there is. */
static lt_status check_answer(call *c) LT_YIELDS {
  lt_tool_schema *check = &c->tool->checks->output;
  if (check->told || c->tool->output_schema.n == 0 || c->out->n > LT_CALL_INLINE_BYTES) {
    return LT_OK;
  }
  LT_TRY(compile(c, check, c->tool->output_schema, "output"));
  lt_json_doc doc;
  lt_buf faults;
  lt_arena arena;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  lt_buf_init(&faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_status status = check->schema == NULL ? LT_OK : lt_json_parse(&arena, lt_buf_view(c->out), &doc, NULL);
  if (status == LT_OK && check->schema != NULL &&
      lt_tool_schema_check(check, lt_json_root(&doc), LT_STR("output"), &faults) == LT_E_INVALID) {
    check->told = true;
    lt_door_warn(c->door,
                 "Tool \"%.*s\" does not answer what its output schema says (the answer is used as it is): %.*s",
                 LT_STR_ARG(c->id), LT_STR_ARG(lt_buf_view(&faults)));
  }
  lt_arena_release(&arena);
  lt_buf_release(&faults);
  return LT_OK;
}

static lt_status finish_answer(call *c) LT_YIELDS {
  if (c->out->status != LT_OK) {
    return lt_fail(&c->err, c->out->status, "the answer of \"%.*s\" is too long", LT_STR_ARG(c->id));
  }
  if (c->out->n == 0) {
    lt_buf_addc(c->out, "null");
  }
  return check_answer(c);
}

static lt_status invoke(call *c) LT_YIELDS {
  lt_provider *provider = c->tool->provider;
  lt_status status = provider->invoke(provider, c->tool->name, c->input, &c->options, c->out, &c->err);
  if (status == LT_OK) {
    return finish_answer(c);
  }
  if (status == LT_E_TOOL && c->out->n == 0) {
    lt_err_set(&c->err, status, __FILE__, __LINE__, "Tool \"%.*s\" failed without a message", LT_STR_ARG(c->id));
  } else if (status != LT_E_TOOL) {
    lt_buf_clear(c->out); /* half an answer is none */
  }
  return status;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */
/* The message is in `out` whole or, where it is short, in the error; afterwards in both, without secrets. */
static void put_message(call *c, lt_status status) {
  if (c->out->status != LT_OK) {
    lt_buf_clear(c->out);
  }
  if (c->out->n == 0) {
    bool said = c->err.status != LT_OK && c->err.msg[0] != '\0';
    lt_buf_addc(c->out, said ? c->err.msg : lt_status_text(status));
  }
  lt_secrets_mask_buf(c->door->options.secrets, c->out);
}

static lt_status perform(call *c) LT_YIELDS {
  lt_status status = record_start(c);
  if (status == LT_OK) {
    status = invoke(c);
  } else if (!c->recorded) {
    return status;
  }
  if (status != LT_OK) {
    put_message(c, status);
  }
  record_end(c, status);
  return status;
}

static lt_status run_steps(call *c) LT_YIELDS {
  LT_TRY(resolve(c));
  LT_TRY(check_input(c));
  LT_TRY(check_still_wanted(c));
  if (c->caller->policy != NULL || c->caller->journal != NULL) {
    LT_TRY(read_annotations(c));
  }
  LT_TRY(ask_policy(c));
  return perform(c);
}

/* --- 6: what does not fit ----------------------------------------------------------------------------------------- */
/* What is put aside is stored: without secrets, and its beginning with it. */
static void mask_value(call *c) {
  lt_buf masked;
  lt_buf_init(&masked, c->out->max);
  lt_str value = mask_answer(c, LT_OK, &masked);
  if (value.p != c->out->p) {
    lt_buf_clear(c->out);
    lt_buf_add(c->out, value);
  }
  lt_buf_release(&masked);
}

static lt_status spill(call *c) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  if (c->options.max_answer_bytes == 0 || c->out->n <= c->options.max_answer_bytes) {
    return LT_OK;
  }
  mask_value(c);
  if (lt_answer_spill(c->caller, c->id, c->out, &err) != LT_OK) {
    lt_door_warn(c->door, "an answer of \"%.*s\" was cut: %s", LT_STR_ARG(c->id), lt_err_msg(&err));
  }
  return c->out->status == LT_OK
             ? LT_OK
             : lt_fail(&c->err, c->out->status, "there was no memory for the answer of \"%.*s\"", LT_STR_ARG(c->id));
}

lt_status lt_door_call(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                       lt_err *err) {
  call c = {.door = door, .id = id, .input = input, .out = out, .err = LT_ERR_INIT, .number = ++door->calls};
  if (options != NULL) {
    c.options = *options;
  }
  c.hash = c.options.seq != 0 ? lt_journal_hash(id, input) : 0;
  c.caller = c.options.caller != NULL ? c.options.caller : &c.nobody;
  lt_buf_clear(out);
  lt_buf_init(&c.masked, LT_JSON_MAX_BYTES);
  lt_arena_init(&c.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = run_steps(&c);
  if (status == LT_OK) {
    status = spill(&c);
  }
  if (status != LT_OK) {
    put_message(&c, status);
    if (!c.told) {
      tell(&c, LT_CALL_FINISHED, status, lt_buf_view(out));
    }
    lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(out)));
  }
  lt_catalog_unref(c.catalog);
  lt_arena_release(&c.arena);
  lt_buf_release(&c.masked);
  return status;
}
