#include "agent/modes/typescript_tool.h"

#include "agent/tool_definitions.h"
#include "base/limits.h"
#include "text/tokens.h"
#include "types/typegen.h"
#include "types/typegen_text.h"
#include "tool/tool_typegen.h"

static const char about[] =
    "Execute TypeScript code in a sandbox.\n"
    "You have access to a set of pre-defined functions that map to the configured tools.\n"
    "Each function returns a promise of a `Result<T>`: await it, and look at `success` before you use `value`.\n"
    "The code is executed as a standalone script (not a REPL): nothing is kept from one call to the next, but what "
    "store(key, value) keeps for recall(key).\n"
    "Use `console.log` to print output.\n"
    "The final result of the tool call will be the standard output of the script.\n"
    "There is no network, no file system and no Node.js or Deno API; top-level await works. Write types that are "
    "right, or none: they may be checked before anything runs.\n"
    "discoverTools(\"words\") finds tools, toolSchema(\"tool.id\") tells the input of one, and "
    "tools[\"tool.id\"](input) calls it by its id.\n";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"The complete TypeScript code to execute.\"},"
    "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Milliseconds, 30000 unless said.\"}},"
    "\"required\":[\"code\"]}";

/* --- The world ---------------------------------------------------------------------------------------------------- */
static void typescript_tool_put_functions(const lt_run_request *world, lt_buf *out) {
  for (size_t i = 0; i < world->function_count; i++) {
    const lt_run_function *f = &world->functions[i];
    lt_buf_addc(out, i == 0 ? "\nOther functions, which return promises:\n- " : "- ");
    lt_buf_add(out, f->name);
    lt_buf_add(out, f->signature);
    lt_buf_addc(out, f->description.n > 0 ? ": " : "");
    lt_buf_add(out, f->description);
    lt_buf_byte(out, '\n');
  }
}

void lt_typescript_tool_put_modules(const lt_run_request *world, lt_buf *out) {
  for (size_t i = 0; i < world->module_count; i++) {
    lt_buf_addc(out, i == 0 ? "\nModules to import: `" : ", `");
    lt_typegen_put_line(out, world->modules[i].name, LT_TYPEGEN_NAME_MAX_CHARS);
    lt_buf_byte(out, '`');
  }
  lt_buf_addc(out, world->module_count > 0 ? "\n" : "");
}

/* --- The tools: declared ------------------------------------------------------------------------------------------ */
/* Stops at the first tool that does not fit, so that 5,000 tools are not all declared. `*ret_fits`: all tools fit. */
static lt_status typescript_tool_declare(const lt_catalog *catalog, size_t max_tokens, lt_buf *out, bool *ret_fits,
                                         lt_err *err) {
  size_t measured = out->n, tokens = 0;
  LT_TRY(lt_typegen_ts(NULL, 0, out, err));
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_typegen_tool tool = lt_tool_typegen(lt_catalog_at(catalog, i));
    LT_TRY(lt_typegen_ts_tool(&tool, out, err));
    tokens += lt_tokens_estimate(lt_str_from(out->p + measured, out->n - measured));
    measured = out->n;
    if (tokens > max_tokens) {
      *ret_fits = false;
      return LT_OK;
    }
  }
  *ret_fits = true;
  return LT_OK;
}

/* --- The tools: named, or counted --------------------------------------------------------------------------------- */
/* Appends the tools of the namespace that begins at index `from`; tools are sorted by id. Returns the index of the next
 * namespace. */
static size_t typescript_tool_put_namespace(const lt_catalog *catalog, size_t from, bool named, lt_buf *out) {
  lt_str ns = lt_catalog_at(catalog, from)->ns;
  size_t i = from;
  lt_buf_addc(out, "**");
  lt_typegen_put_line(out, ns, LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_addc(out, "**: ");
  for (; i < lt_catalog_count(catalog) && lt_str_eq(lt_catalog_at(catalog, i)->ns, ns); i++) {
    if (named) {
      lt_buf_addc(out, i > from ? ", " : "");
      lt_buf_add(out, lt_catalog_at(catalog, i)->ts_name);
    }
  }
  if (!named) {
    lt_buf_printf(out, "%zu %s", i - from, i - from == 1 ? "tool" : "tools");
  }
  lt_buf_byte(out, '\n');
  return i;
}

/* Whether the text fits; a text that does not fit is removed. */
static bool typescript_tool_list(const lt_catalog *catalog, size_t max_tokens, bool named, lt_buf *out) {
  size_t tokens = 0, i = 0;
  while (i < lt_catalog_count(catalog) && out->status == LT_OK) {
    size_t before = out->n;
    size_t next = typescript_tool_put_namespace(catalog, i, named, out);
    tokens += lt_tokens_estimate(lt_str_from(out->p + before, out->n - before));
    if (tokens > max_tokens) {
      lt_buf_cut(out, before);
      return false;
    }
    i = next;
  }
  return true;
}

static void typescript_tool_put_list(const lt_catalog *catalog, size_t max_tokens, lt_buf *out) {
  lt_buf_printf(out,
                "\nThere are %zu tools, too many to declare here. A tool's function takes one object and returns a "
                "Promise<Result<any>>; ask toolSchema before you call one.\n",
                lt_catalog_count(catalog));
  size_t before = out->n;
  if (typescript_tool_list(catalog, max_tokens, true, out)) {
    return;
  }
  lt_buf_cut(out, before);
  if (!typescript_tool_list(catalog, max_tokens, false, out)) {
    lt_buf_addc(out, "... and more\n");
  }
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */
static lt_status typescript_tool_put_tools(const lt_catalog *catalog, size_t max_tokens, lt_buf *out, lt_err *err) {
  size_t before = out->n;
  bool fits;
  if (lt_catalog_count(catalog) == 0) {
    lt_buf_addc(out, "\nNo tools are configured.\n");
    return LT_OK;
  }
  lt_buf_addc(out, "\n```typescript\n");
  LT_TRY(typescript_tool_declare(catalog, max_tokens, out, &fits, err));
  lt_buf_addc(out, "```\n");
  if (!fits && out->status == LT_OK) {
    lt_buf_cut(out, before);
    typescript_tool_put_list(catalog, max_tokens, out);
  }
  return LT_OK;
}

lt_status lt_typescript_tool_describe(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                      lt_buf *out, lt_err *err) {
  lt_buf_addc(out, about);
  typescript_tool_put_functions(world, out);
  lt_typescript_tool_put_modules(world, out);
  LT_TRY(typescript_tool_put_tools(catalog, max_tokens, out, err));
  return lt_buf_check(out, err, "no room for the description of the tools");
}

lt_status lt_typescript_tool_define(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                    lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  LT_TRY(lt_typescript_tool_describe(catalog, world, max_tokens, &text, err));
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  lt_tool_definitions_put_one(&w, LT_STR(LT_TYPESCRIPT_TOOL), lt_buf_view(&text), lt_str_of(schema));
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "no room for the description of the tools");
}
