/* Tools: what there is, and calls of one. */
#include "serve/serve_routes.h"
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
  int64_t limit;
  bool is_brief = lt_str_eqc(lt_serve_request_query(r, "brief"), "true");
  LT_TRY(lt_serve_request_number(r, "limit", 1, LT_TOOLS_MAX, LT_TOOLS_MAX, &limit, err));
  uint32_t *found = lt_arena_zalloc(r->arena, all + 1, sizeof *found);
  if (found == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools");
  }
  size_t count = lt_catalog_search(catalog, lt_serve_request_query(r, "query"), found, all);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "tools");
  lt_json_begin_array(&r->w);
  for (size_t i = 0; i < count && i < (size_t)limit; i++) {
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
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status tools_list(lt_serve_request *r, lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog(r->serve->session->door, &catalog, err));
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

static lt_status tools_get(lt_serve_request *r, lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog(r->serve->session->door, &catalog, err));
  lt_status status = tool_put(r, lt_catalog_find(catalog, r->id), err);
  lt_catalog_unref(catalog);
  return status;
}

/* --- Calling ------------------------------------------------------------------------------------------------------ */
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
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "result");
  lt_json_put_raw(&r->w, lt_buf_view(&answer));
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* Nobody can be asked during a request: a call that needs an approval is denied. */
static lt_status tools_invoke(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_toolbox_run run;
  lt_session *session = r->serve->session;
  const lt_toolbox_run_options how = {.journal = true};
  const lt_run_request defaults = {.timeout_ms = (uint64_t)session->config.timeout_ms,
                                   .memory_bytes = (uint64_t)session->config.memory_mb * LT_MIB,
                                   .cancel = r->call->cancel};
  LT_TRY(lt_toolbox_begin(session->toolbox, &how, &defaults, &run, err));
  run.caller.user = r->user;
  lt_status status = tool_call(r, &run.caller, err);
  lt_toolbox_end(&run);
  return status;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static const lt_serve_parameter tools_query[] = {
    {"query", "{\"type\":\"string\"}", "only tools that match it, best first"},
    {"limit", "{\"type\":\"integer\",\"minimum\":1}", "so many at most"},
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
     .answer =
         "{\"type\":\"object\",\"required\":[\"tools\",\"found\"],\"properties\":{\"found\":{\"type\":\"integer\"},"
         "\"tools\":{\"type\":\"array\",\"items\":" TOOL "}}}",
     .query = tools_query, .handle = tools_list},
    {"GET", "/tools/{id}", "getTool", "A tool, with its declarations for programs.", .answer = TOOL,
     .handle = tools_get},
    {"POST", "/tools/{id}/invoke", "invokeTool",
     "Calls a tool, under the rules of the configuration; a call that needs an approval is denied.",
     .flags = LT_SERVE_BODY_OPTIONAL,
     .body = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"input\":{\"type\":\"object\"},"
             "\"timeoutMs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600000}}}",
     .answer = "{\"type\":\"object\",\"required\":[\"result\"],\"properties\":{\"result\":{}}}",
     .handle = tools_invoke},
    {NULL},
};
