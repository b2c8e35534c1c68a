#include "agent/modes/codex_tool.h"

#include "agent/modes/typescript_tool.h"
#include "agent/tool_definitions.h"
#include "base/limits.h"
#include "text/tokens.h"
#include "tool/cell_name.h"
#include "tool/tool_typegen.h"
#include "types/typegen_text.h"

const lt_freeform_tool lt_codex_freeform = {
    .name = LT_CODEX_EXEC,
    .grammar =
        "start: pragma_source | plain_source\n"
        "pragma_source: PRAGMA_LINE NEWLINE SOURCE\n"
        "plain_source: SOURCE\n"
        "PRAGMA_LINE: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/\n"
        "NEWLINE: /\\r?\\n/\n"
        "SOURCE: /[\\s\\S]+/\n",
};

static const char about_exec[] =
    "Runs JavaScript that calls the tools below: loops over them, runs them at the same time, and shows you only what "
    "you need.\n"
    "- The input is the program itself, an async module: no JSON around it, no quotes, no code fence. Top-level await "
    "works.\n"
    "- Tools are members of `tools`: `const r = await tools.mcp__server__tool({...})`. A server's tool gives the whole "
    "result, {content, structuredContent?, isError?}; a call that is not allowed or has wrong arguments throws.\n"
    "- There is no console, no network, no file system and no Node.js. Each call starts anew: variables are gone, "
    "store/load keep values.\n"
    "- What nobody awaits when the program ends is dropped.\n"
    "- The first line may be `// @exec: {\"yield_time_ms\": 10000, \"max_output_tokens\": 10000}`: a program that runs "
    "longer goes on in the background as a cell, and `wait` has the rest; longer output loses its middle. A cell ends "
    "with your last answer.\n"
    "\n"
    "Globals:\n"
    "- text(value): shows you a value; what is no string is shown as JSON.\n"
    "- image(value): shows you an image: a data: or https: URL, {image_url}, or an image block of a result's content.\n"
    "- forward_output(result): shows you all of a tool's result.\n"
    "- store(key, value), load(key): keep a JSON value for later calls of exec in this conversation, and give it back; "
    "undefined for what was never stored.\n"
    "- notify(value): tells you something while the program goes on; `wait` returns with it.\n"
    "- yield_control(): hands you what there is so far; the program goes on as a cell.\n"
    "- setTimeout(f, ms), clearTimeout(id): a timer alone does not keep the program from ending.\n"
    "- exit(): ends the program, as done.\n"
    "- ALL_TOOLS: [{name, description}] of all tools, also of those that are not declared below. Filter it, and show "
    "yourself only what fits; toolSchema(name) gives the input of one, tools[name](args) calls it.\n";

static const char exec_schema[] =
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"description\":\"The JavaScript program\"}},"
    "\"required\":[\"code\"]}";

static const char about_wait[] =
    "Waits for a cell that `exec` has left running, until it has ended or has something to tell you: one call is "
    "enough, do not poll. terminate ends the cell.";

static const char wait_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"cell_id\":{\"type\":\"string\",\"description\":\"The cell, as exec named it\"},"
    "\"yield_time_ms\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"After this time new output is enough to "
    "return, 10000 unless said\"},"
    "\"max_tokens\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"Of the output, 10000 unless said\"},"
    "\"terminate\":{\"type\":\"boolean\",\"description\":\"End the cell\"}},"
    "\"required\":[\"cell_id\"]}";

static const char result_type[] =
    "\n```ts\n"
    "type CallToolResult<T> = {\n"
    "  content: Array<{ type: \"text\"; text: string } | { type: \"image\"; data: string; mimeType: string } | any>;\n"
    "  structuredContent?: T;\n"
    "  isError?: boolean;\n"
    "};\n";

/* --- The tools ---------------------------------------------------------------------------------------------------- */
static lt_status codex_tool_declare_one(const lt_tool *tool, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(name, LT_MIB);
  lt_cell_name_put(tool, &name);
  lt_typegen_tool described = lt_tool_typegen(tool);
  const lt_typegen_member as = {.name = lt_buf_view(&name), .is_whole = !tool->of_plugin};
  LT_TRY(lt_buf_check(&name, err, "no memory for a tool's name"));
  return lt_typegen_ts_member(&described, &as, out, err);
}

/* Stops before the first tool that does not fit. Returns the number of declared tools. */
static lt_status codex_tool_declare(const lt_catalog *catalog, size_t max_tokens, lt_buf *out, size_t *ret_count,
                                    lt_err *err) {
  size_t tokens = 0, i = 0;
  for (; i < lt_catalog_count(catalog); i++) {
    size_t before = out->n;
    LT_TRY(codex_tool_declare_one(lt_catalog_at(catalog, i), out, err));
    tokens += lt_tokens_estimate(lt_str_from(out->p + before, out->n - before));
    if (tokens > max_tokens) {
      lt_buf_cut(out, before);
      break;
    }
  }
  *ret_count = i;
  return LT_OK;
}

static lt_status codex_tool_put_tools(const lt_catalog *catalog, size_t max_tokens, lt_buf *out, lt_err *err) {
  size_t count = lt_catalog_count(catalog), declared = 0;
  if (count == 0) {
    lt_buf_addc(out, "\nNo tools are configured.\n");
    return LT_OK;
  }
  lt_buf_addc(out, result_type);
  LT_TRY(codex_tool_declare(catalog, max_tokens, out, &declared, err));
  lt_buf_addc(out, "```\n");
  if (declared < count) {
    lt_buf_printf(out, "\nALL_TOOLS has %zu more %s.\n", count - declared, count - declared == 1 ? "tool" : "tools");
  }
  return LT_OK;
}

lt_status lt_codex_tool_define(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens, lt_buf *out,
                               lt_err *err) {
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_addc(&text, about_exec);
  lt_typescript_tool_put_modules(world, &text);
  LT_TRY(codex_tool_put_tools(catalog, max_tokens, &text, err));
  LT_TRY(lt_buf_check(&text, err, "no room for the description of the tools"));
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  lt_tool_definitions_put_one(&w, LT_STR(LT_CODEX_EXEC), lt_buf_view(&text), lt_str_of(exec_schema));
  lt_tool_definitions_put_one(&w, LT_STR(LT_CODEX_WAIT), lt_str_of(about_wait), lt_str_of(wait_schema));
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "no room for the description of the tools");
}
