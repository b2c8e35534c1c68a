/* Tools: what there is, and calls of one. */
#include "serve/serve_routes.h"
#include "serve/serve_limits.h"
#include "serve/serve_run.h"
#include "tool/tool_typegen.h"

/* --- Listing ------------------------------------------------------------------------------------------------------ */
static void tool_put_raw(lt_json_writer *w, const char *key, lt_str json) {
  if (json.n > 0) {
    lt_json_key(w, key);
    lt_json_put_raw(w, json);
  }
}

static void tool_put_about(lt_json_writer *w, const lt_tool *tool) {
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "source");
  lt_json_put_str(w, tool->ns);
  lt_json_key(w, "name");
  lt_json_put_str(w, tool->js_name.n > 0 ? tool->js_name : tool->id);
  lt_json_key(w, "typescriptName");
  lt_json_put_str(w, tool->ts_name);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  tool_put_raw(w, "annotations", tool->annotations);
  lt_json_key(w, "requiresApproval");
  lt_json_put_bool(w, tool->needs_approval);
}

static void tool_put_schemas(lt_json_writer *w, const lt_tool *tool) {
  tool_put_raw(w, "inputSchema", tool->input_schema);
  tool_put_raw(w, "outputSchema", tool->output_schema);
}

static lt_status tools_put_found(lt_serve_request *r, const lt_catalog *catalog, lt_err *err) {
  size_t all = lt_catalog_count(catalog);
  int64_t limit, from;
  bool is_brief = lt_str_eqc(lt_serve_request_query(r, "brief"), "true");
  LT_TRY(lt_serve_request_number(r, "limit", 1, LT_TOOLS_MAX, LT_TOOLS_MAX, &limit, err));
  LT_TRY(lt_serve_request_number(r, "cursor", 0, LT_TOOLS_MAX, 0, &from, err));
  uint32_t *found = lt_arena_zalloc(r->arena, all + 1, sizeof *found);
  if (found == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools");
  }
  size_t count = lt_catalog_search(catalog, lt_serve_request_query(r, "query"), found, all);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "tools");
  lt_json_begin_array(&r->w);
  size_t end = count - (size_t)from > (size_t)limit && count > (size_t)from ? (size_t)(from + limit) : count;
  for (size_t i = (size_t)from; i < end; i++) {
    const lt_tool *tool = lt_catalog_at(catalog, found[i]);
    lt_json_begin_object(&r->w);
    tool_put_about(&r->w, tool);
    if (!is_brief) {
      tool_put_schemas(&r->w, tool);
    }
    lt_json_end_object(&r->w);
  }
  lt_json_end_array(&r->w);
  lt_json_key(&r->w, "found");
  lt_json_put_int(&r->w, (int64_t)count);
  if (end < count) {
    lt_json_key(&r->w, "nextCursor");
    lt_json_put_str(&r->w, lt_arena_printf(r->arena, "%zu", end));
  }
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status tools_list(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_host_catalog_of_user(lt_toolbox_host(r->serve->session->toolbox), r->user, &catalog, err));
  lt_status status = tools_put_found(r, catalog, err);
  lt_catalog_unref(catalog);
  return status;
}

/* --- One tool ----------------------------------------------------------------------------------------------------- */
/* What a Python program's own functions are, in front of the tool's. */
static lt_status tool_put_python(const lt_typegen_tool *tool, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(head, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(all, LT_JSON_MAX_BYTES);
  LT_TRY(lt_typegen_py(NULL, 0, &head, err));
  LT_TRY(lt_typegen_py(tool, 1, &all, err));
  lt_buf_add(out, lt_str_trim(lt_str_sub(lt_buf_view(&all), head.n, all.n)));
  return lt_buf_check(out, err, "the declaration is too long");
}

static lt_status tool_put_declarations(lt_json_writer *w, const lt_tool *tool, lt_err *err) {
  const lt_typegen_tool described = lt_tool_typegen(tool);
  LT_AUTO_BUF(typescript, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(python, LT_JSON_MAX_BYTES);
  LT_TRY(lt_typegen_ts_tool(&described, &typescript, err));
  LT_TRY(tool_put_python(&described, &python, err));
  lt_json_key(w, "declarations");
  lt_json_begin_object(w);
  lt_json_key(w, "typescript");
  lt_json_put_str(w, lt_buf_view(&typescript));
  lt_json_key(w, "python");
  lt_json_put_str(w, lt_buf_view(&python));
  lt_json_end_object(w);
  return LT_OK;
}

static lt_status tool_put(lt_serve_request *r, const lt_tool *tool, lt_err *err) {
  if (tool == NULL) {
    return lt_serve_request_refuse(r, 404, "notfound", "Tool \"%.*s\" not found",
                                   LT_STR_ARG(lt_str_sub(r->id, 0, 200)));
  }
  lt_json_begin_object(&r->w);
  tool_put_about(&r->w, tool);
  tool_put_schemas(&r->w, tool);
  LT_TRY(tool_put_declarations(&r->w, tool, err));
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status tools_get(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_host_catalog_of_user(lt_toolbox_host(r->serve->session->toolbox), r->user, &catalog, err));
  lt_status status = tool_put(r, lt_catalog_find(catalog, r->id), err);
  lt_catalog_unref(catalog);
  return status;
}

/* --- Calling ------------------------------------------------------------------------------------------------------ */
static void tool_put_result(lt_serve_request *r, lt_str value) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "result");
  lt_json_put_raw(&r->w, value);
  lt_json_end_object(&r->w);
}

/* The door's message names tools that are like it; the answer says it as seed 014 does. */
static lt_status tool_call(lt_serve_request *r, const lt_caller *caller, lt_err *err) LT_YIELDS {
  int64_t timeout_ms = 0;
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
  (void)lt_json_int(lt_json_get(r->body, "timeoutMs"), &timeout_ms);
  const lt_invoke_options options = {
      .timeout_ms = (uint64_t)timeout_ms, .cancel = r->call->cancel, .caller = caller, .seq = 1};
  lt_str input = lt_json_text(lt_json_get(r->body, "input"));
  lt_status status = lt_door_call(r->serve->session->door, r->id, input, &options, &answer, err);
  if (status == LT_E_NOTFOUND) {
    return lt_serve_request_refuse(r, 404, "notfound", "Tool \"%.*s\" not found",
                                   LT_STR_ARG(lt_str_sub(r->id, 0, 200)));
  }
  LT_TRY(status);
  tool_put_result(r, lt_buf_view(&answer));
  return LT_OK;
}

/* --- Calling with an approval ------------------------------------------------------------------------------------- */
/* Notes that somebody is to be asked. Nothing has been done then. */
typedef struct tool_asker {
  lt_approver approver; /* first */
  bool was_asked;
} tool_asker;

static lt_status tool_note_question(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                                    lt_decision *ret_decision, lt_err *err) {
  (void)what, (void)cancel, (void)arena, (void)ret_decision;
  ((tool_asker *)(void *)self)->was_asked = true;
  return lt_fail(err, LT_E_DENIED, "somebody is to be asked");
}

static void tool_put_message(const lt_serve_request *r, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json input = lt_json_get(r->body, "input"), timeout = lt_json_get(r->body, "timeoutMs");
  lt_json_begin_object(&w);
  lt_json_key(&w, "tool");
  lt_json_put_str(&w, r->id);
  lt_json_key(&w, "input");
  lt_json_put_raw(&w, lt_json_exists(input) ? lt_json_text(input) : LT_STR("{}"));
  lt_json_key(&w, "plain");
  lt_json_put_bool(&w, true);
  if (lt_json_exists(timeout)) {
    lt_json_key(&w, "timeoutMs");
    lt_json_put_raw(&w, lt_json_text(timeout));
  }
  lt_json_end_object(&w);
}

static lt_status tool_put_run(lt_serve_request *r, const lt_serve_run *run) {
  lt_str error = LT_STR("the call was cancelled");
  if (!run->has_ended) {
    r->answer->status = 202;
    lt_json_begin_object(&r->w);
    lt_json_key(&r->w, "promptId");
    lt_json_put_cstr(&r->w, run->ids.prompt);
    lt_json_key(&r->w, "conversationId");
    lt_json_put_cstr(&r->w, run->ids.conversation);
    lt_json_end_object(&r->w);
    return LT_OK;
  }
  if (!lt_json_str_eq(lt_json_get(run->prompt, "state"), LT_STR("completed"))) {
    (void)lt_json_str(lt_json_get(run->prompt, "error"), r->arena, &error);
    return lt_serve_request_refuse(r, lt_status_http(LT_E_TOOL), "tool", "%.*s", LT_STR_ARG(error));
  }
  tool_put_result(r, lt_serve_run_text(r, run));
  return LT_OK;
}

/* The call is a prompt then, which waits as any other does. */
static lt_status tool_ask(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_serve_run run;
  int64_t wait_ms = 0;
  LT_AUTO_BUF(message, LT_PROMPT_INPUT_BYTES);
  (void)lt_json_int(lt_json_get(r->body, "waitMs"), &wait_ms);
  tool_put_message(r, &message);
  LT_TRY(lt_buf_check(&message, err, "the input is too long"));
  const lt_serve_run_options options = {
      .message = lt_buf_view(&message), .wait_ms = (uint64_t)wait_ms, .is_kept = true};
  if (!lt_serve_limits_take(r, LT_SERVE_SEAT_PROMPT)) {
    return LT_OK;
  }
  LT_TRY(lt_serve_run_begin(r, &options, &run, err));
  return tool_put_run(r, &run);
}

static lt_status tool_call_at_once(lt_serve_request *r, tool_asker *asker, lt_err *err) LT_YIELDS {
  lt_toolbox_run run;
  lt_session *session = r->serve->session;
  const lt_toolbox_run_options how = {.user = r->user, .journal = true, .approver = &asker->approver};
  const lt_run_request defaults = {.timeout_ms = (uint64_t)session->config.timeout_ms,
                                   .memory_bytes = (uint64_t)session->config.memory_mb * LT_MIB,
                                   .cancel = r->call->cancel};
  LT_TRY(lt_toolbox_begin(session->toolbox, &how, &defaults, &run, err));
  run.caller.trace = r->trace;
  lt_status status = tool_call(r, &run.caller, err);
  lt_toolbox_end(&run);
  return status;
}

static lt_status tools_invoke(lt_serve_request *r, lt_err *err) LT_YIELDS {
  tool_asker asker = {.approver = {.ask = tool_note_question}};
  LT_ERR_VAR(why);
  lt_status status = tool_call_at_once(r, &asker, &why);
  if (asker.was_asked) {
    return tool_ask(r, err);
  }
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static const lt_serve_parameter tools_query[] = {
    {"query", "{\"type\":\"string\"}", "only tools that match it, best first"},
    {"limit", "{\"type\":\"integer\",\"minimum\":1}", "so many at most"},
    {"cursor", "{\"type\":\"string\"}", "nextCursor of the page before"},
    {"brief", "{\"type\":\"boolean\"}", "without the schemas"},
    {NULL},
};

#define FLAG "{\"type\":\"boolean\"}"
#define TOOL                                                                                                    \
  "{\"type\":\"object\",\"required\":[\"id\",\"source\",\"name\",\"description\",\"requiresApproval\"],"        \
  "\"properties\":{"                                                                                            \
  "\"id\":{\"type\":\"string\"},\"source\":{\"type\":\"string\",\"description\":\"the server or the plugin\"}," \
  "\"name\":{\"type\":\"string\",\"description\":\"in JavaScript\"},\"typescriptName\":{\"type\":\"string\"},"  \
  "\"description\":{\"type\":\"string\"},\"annotations\":{\"type\":\"object\"},\"requiresApproval\":" FLAG      \
  ","                                                                                                           \
  "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"},\"declarations\":{\"type\":"    \
  "\"object\","                                                                                                 \
  "\"properties\":{\"typescript\":{\"type\":\"string\"},\"python\":{\"type\":\"string\"}}}}}"

const lt_serve_route lt_route_tools_rows[] = {
    {"GET", "/tools", "listTools", "The tools that programs and models can call.",
     .answer = "{\"type\":\"object\",\"required\":[\"tools\",\"found\"],\"properties\":{\"found\":{\"type\":"
               "\"integer\"},\"nextCursor\":"
               "{\"type\":\"string\"},"
               "\"tools\":{\"type\":\"array\",\"items\":" TOOL "}}}",
     .query = tools_query, .handle = tools_list},
    {"GET", "/tools/{id}", "getTool", "A tool, with its declarations for programs.", .answer = TOOL,
     .handle = tools_get},
    {"POST", "/tools/{id}/invoke", "invokeTool",
     "Calls a tool, under the rules of the configuration; 202: it waits for an approval, as a prompt.",
     .flags = LT_SERVE_BODY_OPTIONAL | LT_SERVE_MAY_WAIT,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"input\":{\"type\":\"object\"},"
             "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600000},"
             "\"waitMs\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":600000,\"description\":\"for the end of a "
             "call that needs an approval; absent: 0\"}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"result\"],\"properties\":{\"result\":{}}}",
     .later = "{\"type\":\"object\",\"required\":[\"promptId\",\"conversationId\"],\"properties\":{\"promptId\":"
              "{\"type\":\"string\"},\"conversationId\":{\"type\":\"string\"}}}",
     .handle = tools_invoke},
    {NULL},
};
