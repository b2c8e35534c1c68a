/* Classic mode: the model sees all tools, and its replies are text and tool calls. */
#include "agent/agent_state.h"
#include "agent/conversation_search.h"
#include "agent/modes/mode_table.h"
#include "agent/tool_rounds.h"
#include "base/limits.h"
#include "io/fan_out.h"
#include "tool/catalog_suggest.h"

/* --- Tools that are not there ------------------------------------------------------------------------------------- */
/* The id of a tool whose server is down, so that its tools are unknown: the door then says why. Empty: no such
 * server. */
static lt_str classic_id_of_silent(lt_tool_round *round, lt_str name) {
  const lt_str *silent;
  size_t count = lt_catalog_silent(round->turn->prepared.catalog, &silent);
  for (size_t i = 0; i < count; i++) {
    char plain[LT_TOOL_NAME_CHARS + 1];
    lt_tool_definitions_plain_name(silent[i], plain);
    lt_str ns = lt_str_of(plain);
    if (name.n > ns.n + 1 && lt_str_starts(name, ns) && (name.p[ns.n] == '_' || name.p[ns.n] == '.')) {
      return lt_arena_printf(&round->turn->arena, "%.*s.%.*s", LT_STR_ARG(silent[i]),
                             LT_STR_ARG(lt_str_sub(name, ns.n + 1, name.n)));
    }
  }
  return LT_STR_NULL;
}

static void classic_put_name(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  const lt_tool_round *round = arg;
  lt_buf_add(message, lt_tool_definitions_name(round->tool_names, suggestion->tool->id));
}

static void classic_put_not_found(lt_tool_round *round, lt_tool_round_call *call) {
  const lt_catalog *catalog = round->turn->prepared.catalog;
  lt_buf *out = &call->answer;
  lt_buf_addc(out, "Tool \"");
  lt_buf_add(out, call->asked->name);
  lt_buf_addc(out, "\" not found.");
  size_t count = lt_catalog_count(catalog);
  size_t listed = count < LT_TOOL_LISTED_MAX ? count : LT_TOOL_LISTED_MAX;
  lt_buf_addc(out, count > 0 ? " Available tools: " : " No tools are available.");
  for (size_t i = 0; i < listed; i++) {
    lt_buf_addc(out, i > 0 ? ", " : "");
    lt_buf_add(out, lt_tool_definitions_name(round->tool_names, lt_catalog_at(catalog, i)->id));
  }
  if (count > listed) {
    lt_buf_printf(out, " and %zu more", count - listed);
  }
  lt_catalog_suggest_put(catalog, call->asked->name, classic_put_name, round, out);
}

/* --- One call ----------------------------------------------------------------------------------------------------- */
static lt_status classic_call_tool(lt_tool_round *round, lt_tool_round_call *call, lt_str id, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(cause);
  LT_AUTO_BUF(answer, LT_PROMPT_MESSAGES_BYTES);
  lt_status status = lt_turn_call(round->turn, call->id, id, call->input, &answer, &cause);
  if (round->turn->cancel.why != LT_OK) {
    status = lt_fail(err, round->turn->cancel.why, "%s", lt_err_msg(&cause));
  } else if (status == LT_OK) {
    call->is_json = true;
    lt_buf_add(&call->answer, lt_buf_view(&answer));
  } else {
    lt_str why = answer.n > 0 ? lt_buf_view(&answer) : lt_str_of(lt_err_msg(&cause));
    lt_tool_answer_put_failure(&call->answer, id, why);
    status = LT_OK;
  }
  return status;
}

static lt_status classic_carry_out(lt_tool_round *round, lt_tool_round_call *call, lt_err *err) LT_YIELDS {
  if (call->broken) {
    return lt_tool_rounds_refuse(round, call, LT_E_SYNTAX, err);
  }
  lt_str id = call->tool != NULL ? call->tool->id : classic_id_of_silent(round, call->asked->name);
  if (id.n > 0) {
    return classic_call_tool(round, call, id, err);
  }
  classic_put_not_found(round, call);
  return lt_tool_rounds_refuse(round, call, LT_E_NOTFOUND, err);
}

/* --- All calls of a reply ----------------------------------------------------------------------------------------- */
/* Whether the policy or the tool demands approval. A plugin that decides for each input is asked at the door only,
 * because it must get a checked input. */
static bool classic_needs_approval(const lt_tool_round *round, const lt_tool_round_call *call) {
  lt_json_doc input, annotations;
  if (call->tool == NULL || call->broken) {
    return false;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_policy_call what = {.tool = call->tool->id, .needs_approval = call->tool->needs_approval};
  if (lt_json_parse(&arena, call->input, &input, NULL) == LT_OK) {
    what.input = lt_json_root(&input);
  }
  if (call->tool->annotations.n > 0 && lt_json_parse(&arena, call->tool->annotations, &annotations, NULL) == LT_OK) {
    what.annotations = lt_json_root(&annotations);
  }
  lt_policy_decision decision = lt_policy_decide(round->turn->caller.policy, &what);
  return decision.action == LT_ACTION_ASK;
}

static bool classic_is_in_order(const lt_tool_round *round) {
  for (size_t i = 0; i < round->count; i++) {
    if (classic_needs_approval(round, &round->calls[i])) {
      return true;
    }
  }
  return round->count < 2;
}

/* A fiber for each call. */
typedef struct parallel_calls {
  lt_tool_round *round;
  size_t next; /* call that a fiber takes when it begins; they begin in order */
  lt_err err;  /* the first failure that ends the turn */
} parallel_calls;

static void classic_on_call_fiber(void *arg) LT_YIELDS {
  parallel_calls *p = arg;
  LT_ERR_VAR(err);
  lt_status status = classic_carry_out(p->round, &p->round->calls[p->next++], &err);
  if (status != LT_OK && p->err.status == LT_OK) {
    p->err = err;
  }
}

static lt_status classic_carry_out_parallel(lt_tool_round *round, lt_err *err) LT_YIELDS {
  parallel_calls p = {.round = round, .err = LT_ERR_INIT};
  lt_fan_out fan_out;
  lt_fan_out_init(&fan_out, round->turn->agent->options.loop);
  for (size_t i = 0; i < round->count; i++) {
    lt_fan_out_add(&fan_out, classic_on_call_fiber, &p);
  }
  (void)lt_fan_out_wait(&fan_out, NULL, UINT64_MAX);
  return lt_err_copy(err, &p.err);
}

static lt_status classic_carry_out_all(lt_tool_round *round, lt_err *err) LT_YIELDS {
  if (!classic_is_in_order(round)) {
    return classic_carry_out_parallel(round, err);
  }
  for (size_t i = 0; i < round->count; i++) {
    LT_TRY(classic_carry_out(round, &round->calls[i], err));
  }
  return LT_OK;
}

static const char classic_system[] =
    "You are an assistant with tools. Use them to find things out and to act, rather than guessing. Call several at "
    "once "
    "where they do not depend on each other. A tool that fails says why: mend the call, try another way, or say that "
    "it "
    "failed. Never make up what a tool would have said. When the task is done, answer briefly, in the user's language.";

/* --- The mode ----------------------------------------------------------------------------------------------------- */
typedef struct classic_definitions {
  lt_catalog *catalog; /* the catalog of the definitions; a reference, or NULL */
  lt_catalog *before;  /* while it changes: the one before */
  lt_str *order;       /* ids in the order in which the model has them; NULL: in that of the first catalog */
  size_t order_count;
  lt_arena order_arena;
  lt_arena arena; /* a separate arena: the loop may use the turn's at the same time */
  lt_tool_definitions *tool_names;
  lt_buf tools;
  bool is_kept; /* `tools` are those of the prompt before */
  lt_status status;
  lt_err err;
} classic_definitions;

/* A tool that the model did not have before. */
static bool classic_is_new(const classic_definitions *d, lt_str id) {
  return lt_catalog_find(d->catalog, id) != NULL && (d->before == NULL || lt_catalog_find(d->before, id) == NULL);
}

/* Tools that the model has keep their places, and new ones come behind them: the provider's cache keeps what stood
 * before. The one that long conversations have comes last: the others are those of the requests before. */
static lt_status classic_order_tools(classic_definitions *d) {
  const lt_str last = LT_STR(LT_CONVERSATION_SEARCH);
  size_t before_count = d->before != NULL ? lt_catalog_count(d->before) : 0;
  size_t before = d->order != NULL ? d->order_count : before_count;
  size_t count = lt_catalog_count(d->catalog), n = 0;
  lt_str *order = lt_arena_zalloc(&d->order_arena, before + count + 1, sizeof *order);
  if (order == NULL) {
    return lt_fail(&d->err, LT_E_NOMEM, "no memory for the order of the tools");
  }
  for (size_t i = 0; i < before; i++) {
    lt_str id = d->order != NULL ? d->order[i] : lt_catalog_at(d->before, i)->id;
    if (lt_catalog_find(d->catalog, id) != NULL) {
      order[n++] = lt_arena_dup(&d->order_arena, id);
    }
  }
  for (size_t i = 0; i < count; i++) {
    lt_str id = lt_catalog_at(d->catalog, i)->id;
    if (classic_is_new(d, id) && !lt_str_eq(id, last)) {
      order[n++] = lt_arena_dup(&d->order_arena, id);
    }
  }
  if (classic_is_new(d, last)) {
    order[n++] = last;
  }
  d->order = order;
  d->order_count = n;
  return LT_OK;
}

static lt_status classic_put_in_order(classic_definitions *d) {
  lt_json_writer w = lt_json_writer_on(&d->tools);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < d->order_count; i++) {
    const lt_tool *tool = lt_catalog_find(d->catalog, d->order[i]);
    if (tool != NULL) { /* without memory for its id, there is none */
      lt_tool_definitions_put_one(&w, lt_tool_definitions_name(d->tool_names, tool->id), tool->description,
                                  tool->input_schema);
    }
  }
  lt_json_end_array(&w);
  return lt_buf_check(&d->tools, &d->err, "no room for the definitions of the tools");
}

/* Runs on any thread: it only reads the catalogs. */
static void classic_write_definitions(void *arg) {
  classic_definitions *d = arg;
  d->status = lt_tool_definitions_new(&d->arena, d->catalog, &d->tool_names, &d->err);
  if (d->status == LT_OK &&
      (d->before != NULL || lt_catalog_find(d->catalog, LT_STR(LT_CONVERSATION_SEARCH)) != NULL)) {
    d->status = classic_order_tools(d);
  }
  if (d->status == LT_OK && lt_catalog_count(d->catalog) > 0 && !d->is_kept) {
    d->status =
        d->order != NULL ? classic_put_in_order(d) : lt_tool_definitions_put_all(d->tool_names, &d->tools, &d->err);
  }
}

static void classic_forget_definitions(classic_definitions *d) {
  lt_catalog_unref(d->catalog);
  d->catalog = NULL;
  lt_buf_clear(&d->tools);
  lt_arena_release(&d->arena);
}

/* Nearly every prompt begins with the same tools. To write the definitions of thirty took some 300,000 instructions. */
static void classic_take_kept(classic_definitions *d, const lt_agent *agent) {
  d->is_kept = d->before == NULL && lt_tool_text_is_of(&agent->definitions, d->catalog);
  if (d->is_kept) {
    lt_buf_add(&d->tools, lt_buf_view(&agent->definitions.text));
  }
}

static void classic_keep(const classic_definitions *d, lt_agent *agent) {
  if (d->status == LT_OK && d->order == NULL && !d->is_kept) {
    lt_tool_text_keep(&agent->definitions, d->catalog, lt_buf_view(&d->tools));
  }
}

static lt_status classic_write(classic_definitions *d, lt_loop *loop, lt_err *err) LT_YIELDS {
  if (lt_catalog_count(d->catalog) > LT_TOOL_DEFINITIONS_INLINE) {
    return lt_loop_offload(loop, classic_write_definitions, d, err);
  }
  classic_write_definitions(d);
  return LT_OK;
}

/* Plugins may change the catalog before each request. Definitions of the same catalog are reused. */
static lt_status classic_define(void *arg, lt_turn *turn, uint32_t round, lt_tool_round_tools *ret_tools,
                                lt_err *err) LT_YIELDS {
  classic_definitions *d = arg;
  if (round > 0) {
    LT_TRY(lt_turn_prepare(turn, err));
  }
  if (d->catalog != turn->prepared.catalog) {
    lt_catalog_unref(d->before);
    d->before = d->catalog != NULL ? lt_catalog_ref(d->catalog) : NULL;
    classic_forget_definitions(d);
    d->catalog = lt_catalog_ref(turn->prepared.catalog);
    classic_take_kept(d, turn->agent);
    LT_TRY(classic_write(d, turn->agent->options.loop, err));
    classic_keep(d, turn->agent);
  }
  if (d->status != LT_OK) {
    return lt_err_copy(err, &d->err);
  }
  *ret_tools = (lt_tool_round_tools){.definitions = lt_buf_view(&d->tools), .tool_names = d->tool_names};
  return LT_OK;
}

static lt_status classic_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  classic_definitions d = {.err = LT_ERR_INIT};
  const lt_tool_rounds rounds = {
      .define = classic_define, .carry_out = classic_carry_out_all, .system = classic_system, .arg = &d};
  lt_arena_init(&d.arena, LT_PROMPT_MEMORY_BYTES);
  lt_arena_init(&d.order_arena, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&d.tools, LT_PROMPT_MESSAGES_BYTES);
  lt_status status = lt_tool_rounds_run(turn, &rounds, err);
  classic_forget_definitions(&d);
  lt_catalog_unref(d.before);
  lt_arena_release(&d.order_arena);
  lt_buf_release(&d.tools);
  return status;
}

static lt_status classic_put_tools(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err) {
  (void)agent;
  lt_tool_definitions *names = NULL;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  LT_TRY(lt_tool_definitions_new(&arena, catalog, &names, err));
  return lt_tool_definitions_put_all(names, out, err);
}

const lt_mode lt_classic_mode = {
    .id = "classic",
    .name = "Classic (text + tools)",
    .rounds = LT_ROUNDS_CLASSIC,
    .history = LT_HISTORY_CLASSIC,
    .programs_in = LT_PROGRAMS_IN_CALLS,
    .put_tools = classic_put_tools,
    .run = classic_run,
};
