#include "agent/modes/plugin_mode.h"

#include "agent/agent_state.h"
#include "agent/history/history_turn.h"
#include "agent/media_parts.h"
#include "agent/modes/mode_table.h"
#include "agent/tool_definitions.h"
#include "agent/turn_state.h"
#include "base/limits.h"

typedef struct plugin_mode {
  lt_turn *turn;
  lt_arena arena; /* of the wire: written off the loop where there are many tools */
  lt_tool_definitions *definitions;
  lt_buf definitions_json;
  uint32_t asked;
  lt_status status; /* of the writing */
  lt_err err;
} plugin_mode;

/* --- What the mode is handed -------------------------------------------------------------------------------------- */
/* Runs on any thread: it only reads the catalog. */
static void plugin_mode_write_definitions(void *arg) {
  plugin_mode *p = arg;
  const lt_catalog *catalog = p->turn->prepared.catalog;
  p->status = lt_tool_definitions_new(&p->arena, catalog, &p->definitions, &p->err);
  if (p->status == LT_OK && lt_catalog_count(catalog) > 0) {
    p->status = lt_tool_definitions_put_all(p->definitions, &p->definitions_json, &p->err);
  }
}

static lt_status plugin_mode_define(plugin_mode *p, lt_err *err) LT_YIELDS {
  if (lt_catalog_count(p->turn->prepared.catalog) <= LT_TOOL_DEFINITIONS_INLINE) {
    plugin_mode_write_definitions(p);
  } else {
    LT_TRY(lt_loop_offload(p->turn->agent->options.loop, plugin_mode_write_definitions, p, err));
  }
  return lt_err_copy(err, &p->err);
}

static void plugin_mode_put_array(lt_json_writer *w, const char *key, const lt_buf *json) {
  lt_json_key(w, key);
  lt_json_put_raw(w, json->n > 0 ? lt_buf_view(json) : LT_STR("[]"));
}

/* As parts of a message's content, which are filled when the model is asked. */
static lt_status plugin_mode_put_attachments(const lt_turn *turn, lt_json_writer *w, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_BUF(parts, LT_MIB);
  LT_AUTO_ARENA(arena, LT_MIB);
  if (turn->attachments.n == 0) {
    return LT_OK;
  }
  LT_TRY(lt_json_parse(&arena, turn->attachments, &doc, err));
  lt_media_parts_put_attachments(&parts, lt_json_root(&doc));
  LT_TRY(lt_buf_check(&parts, err, "no memory for the attachments"));
  lt_json_key(w, "attachments");
  lt_json_begin_array(w);
  lt_json_put_raw(w, lt_buf_view(&parts));
  lt_json_end_array(w);
  return LT_OK;
}

static void plugin_mode_put_summary(const lt_conversation_summary *summary, lt_json_writer *w) {
  if (summary->text.n > 0) {
    lt_json_key(w, "summary");
    lt_json_begin_object(w);
    lt_json_put_pair(w, "upTo", summary->up_to);
    lt_json_put_pair(w, "text", summary->text);
    lt_json_end_object(w);
  }
}

static lt_status plugin_mode_put_input(const plugin_mode *p, lt_buf *in, lt_err *err) LT_YIELDS {
  const lt_turn *turn = p->turn;
  const lt_catalog *catalog = turn->prepared.catalog;
  lt_json_writer w = lt_json_writer_on(in);
  lt_json_begin_object(&w);
  lt_json_key(&w, "input");
  lt_json_put_str(&w, turn->input);
  LT_TRY(plugin_mode_put_attachments(turn, &w, err));
  lt_json_key(&w, "history");
  LT_TRY(lt_history_turn_copy(turn, &w, err));
  plugin_mode_put_summary(&turn->internal->summary, &w);
  lt_json_key(&w, "tools");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_json_put_str(&w, lt_catalog_at(catalog, i)->id);
  }
  lt_json_end_array(&w);
  plugin_mode_put_array(&w, "definitions", &p->definitions_json);
  plugin_mode_put_array(&w, "context", &turn->prepared.context);
  lt_json_end_object(&w);
  return lt_buf_check(in, err, "no memory for what the mode is handed");
}

/* --- Asking the model --------------------------------------------------------------------------------------------- */
static void plugin_mode_put_reply(const plugin_mode *p, const lt_completion *completion, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "text");
  lt_json_put_str(&w, lt_buf_view(&completion->text));
  lt_json_key(&w, "calls");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < completion->call_count; i++) {
    const lt_requested_call *call = &completion->calls[i];
    const lt_tool *tool = lt_tool_definitions_find(p->definitions, call->name);
    lt_json_begin_object(&w);
    lt_json_key(&w, "id");
    lt_json_put_str(&w, call->id);
    lt_json_key(&w, "name");
    lt_json_put_str(&w, call->name);
    if (tool != NULL) {
      lt_json_key(&w, "tool");
      lt_json_put_str(&w, tool->id);
    }
    lt_json_key(&w, "arguments");
    lt_json_put_str(&w, call->arguments);
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
  lt_json_key(&w, "usage");
  lt_json_begin_object(&w);
  lt_json_key(&w, "inputTokens");
  lt_json_put_int(&w, completion->usage.input_tokens);
  lt_json_key(&w, "outputTokens");
  lt_json_put_int(&w, completion->usage.output_tokens);
  lt_json_end_object(&w);
  if (completion->finish == LT_FINISH_LENGTH) {
    lt_json_key(&w, "cut");
    lt_json_put_bool(&w, true);
  }
  lt_json_end_object(&w);
}

static lt_status plugin_mode_ask(void *arg, lt_str messages, lt_str tools, lt_buf *reply, lt_err *err) LT_YIELDS {
  plugin_mode *p = arg;
  if (p->asked++ >= p->turn->rounds) {
    return lt_fail(err, LT_E_LIMIT, "the model has been asked %u times for this prompt, and no more are allowed",
                   p->turn->rounds);
  }
  lt_completion completion;
  lt_completion_init(&completion);
  const lt_turn_question question = {.messages = messages, .tools = tools, .hash = lt_str_hash(messages)};
  lt_status status = lt_turn_ask(p->turn, &question, &completion, err);
  if (status == LT_OK) {
    plugin_mode_put_reply(p, &completion, reply);
  }
  lt_completion_release(&completion);
  return status;
}

/* --- Putting out and calling -------------------------------------------------------------------------------------- */
static lt_status plugin_mode_put_text(void *arg, lt_str text, lt_err *err) LT_YIELDS {
  const plugin_mode *p = arg;
  return lt_turn_text(p->turn, text, err);
}

static lt_status plugin_mode_call_tool(void *arg, lt_str tool, lt_str input, const lt_invoke_options *options,
                                       lt_buf *answer, lt_err *err) LT_YIELDS {
  const plugin_mode *p = arg;
  return lt_turn_call_with(p->turn, LT_STR_NULL, tool, input, options, answer, err);
}

/* --- The mode ----------------------------------------------------------------------------------------------------- */
static lt_status plugin_mode_run_in_host(plugin_mode *p, lt_err *err) LT_YIELDS {
  lt_turn *turn = p->turn;
  const lt_mode_actions actions = {
      .ask_model = plugin_mode_ask, .put_text = plugin_mode_put_text, .call_tool = plugin_mode_call_tool, .arg = p};
  LT_TRY(plugin_mode_define(p, err));
  LT_AUTO_BUF(in, LT_JSON_MAX_BYTES);
  LT_TRY(plugin_mode_put_input(p, &in, err));
  lt_status status = lt_host_run_mode(turn->agent->options.host, lt_str_of(turn->mode->id), lt_buf_view(&in), &actions,
                                      &turn->caller, &turn->cancel, err);
  /* A cancelled prompt ends as cancelled, whatever the plugin returned. */
  return turn->cancel.why == LT_OK ? status : lt_fail(err, turn->cancel.why, "the prompt was cancelled");
}

lt_status lt_plugin_mode_run(lt_turn *turn, lt_err *err) {
  plugin_mode p = {.turn = turn, .err = LT_ERR_INIT};
  lt_arena_init(&p.arena, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&p.definitions_json, LT_PROMPT_MESSAGES_BYTES);
  lt_status status = plugin_mode_run_in_host(&p, err);
  lt_buf_release(&p.definitions_json);
  lt_arena_release(&p.arena);
  return status;
}
