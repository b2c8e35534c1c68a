#include "agent/modes/code_prompt.h"

#include "agent/agent_state.h"
#include "base/mem.h"
#include "runner/save_tool.h"
#include "types/typegen.h"

static const char rules[] =
    "You are an agent that solves tasks by writing JavaScript code.\n"
    "\n"
    "IMPORTANT RULES:\n"
    "- Your entire response must be valid JavaScript: no markdown, no backticks, no explanation text. It is run as it "
    "is, in a sandbox.\n"
    "- Tools are functions that take one object and return their result: const w = weatherGetWeather({latitude: 1, "
    "longitude: 2}). No await is needed, with these or any other function.\n"
    "- Call output(\"text\") to send text to the user. This is the ONLY way to communicate: the user sees neither your "
    "code nor its result.\n"
    "- Call done() when you are finished. If you don't, the value of your code's last expression and what it logged "
    "will be shown to you, and you can continue in the next iteration.\n"
    "- complete({response, data?, followUp?}) does both: it outputs response, then followUp, keeps data (up to 256 KiB "
    "as JSON) for recall(\"_lastData\") in later requests of the conversation, and is done.\n"
    "- Use store(key, value) and recall(key) to keep data across iterations of one request; variables do not survive. "
    "recall() of "
    "nothing is undefined.\n"
    "- Use log(...) to capture data for yourself without showing it to the user.\n"
    "- Use discoverTools(query) to search the tools and toolSchema(id) to see a tool's input before you first use "
    "it.\n"
    "- parallel([{tool: \"weather.get-weather\", input: {}}, ...]) calls tools at the same time, by their IDs, and "
    "returns their results in order; one that failed is {error}.\n"
    "- llm(\"prompt\") asks a language model and returns its text, llmJson(\"prompt\") a value: for summaries and "
    "judgements in the middle of code.\n"
    "- A tool that fails throws an Error; use try/catch where you can go on without it. Some calls wait until the user "
    "has approved them; one that is rejected throws, too.\n"
    "- Fetch in batches and work on the results in code, rather than making one call per iteration. Show yourself only "
    "what you need to see.\n"
    "- You can write helper functions, loops, try/catch, and any JavaScript features. There is no network, no file "
    "system, no process and no require().\n";

/* --- Sections ----------------------------------------------------------------------------------------------------- */
static void code_prompt_put_modules(lt_buf *out, const lt_run_request *world) {
  if (world->module_count == 0) {
    lt_buf_addc(out, "- There are no modules: do not use import.\n");
    return;
  }
  lt_buf_addc(out, "- These modules can be imported, and no others:");
  for (size_t i = 0; i < world->module_count; i++) {
    lt_buf_addc(out, i > 0 ? ", `" : " `");
    lt_buf_add(out, world->modules[i].name);
    lt_buf_byte(out, '`');
  }
  lt_buf_byte(out, '\n');
}

static bool code_prompt_is_in_rules(lt_str name) {
  return lt_str_eqc(name, "llm") || lt_str_eqc(name, "llmJson");
}

static void code_prompt_put_functions(lt_buf *out, const lt_run_request *world, const lt_catalog *catalog) {
  bool any = false;
  for (size_t i = 0; i < world->function_count; i++) {
    const lt_run_function *function = &world->functions[i];
    if (code_prompt_is_in_rules(function->name)) {
      continue;
    }
    lt_buf_addc(out, any ? "- " : "\nFUNCTIONS:\n- ");
    lt_buf_add(out, function->name);
    lt_buf_add(out, function->signature);
    lt_buf_addc(out, function->description.n > 0 ? ": " : "");
    lt_buf_add(out, function->description);
    lt_buf_byte(out, '\n');
    any = true;
  }
  if (lt_catalog_find(catalog, LT_STR(LT_SAVE_TOOL)) != NULL) {
    lt_buf_addc(out, any ? "- " : "\nFUNCTIONS:\n- ");
    lt_buf_addc(out,
                "save(name, program, {description?, input?}) → {tool, version}: Keep a program, a function of its "
                "input or a text, as the tool programs.NAME. It sees nothing of the program that saves it; input "
                "is the JSON Schema of its input\n");
  }
}

static lt_status code_prompt_write_listing(lt_buf *out, const lt_catalog *catalog, size_t max_tokens, lt_err *err) {
  size_t count = lt_catalog_count(catalog);
  lt_typegen_tool *tools = lt_mem_zalloc(count + 1, sizeof *tools);
  if (tools == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  for (size_t i = 0; i < count; i++) {
    const lt_tool *tool = lt_catalog_at(catalog, i);
    tools[i] =
        (lt_typegen_tool){.id = tool->id, .ns = tool->ns, .js_name = tool->js_name, .description = tool->description};
  }
  lt_status status = count > 0 ? lt_typegen_prompt_budget(tools, count, max_tokens, out, err) : LT_OK;
  lt_mem_free(tools);
  return status == LT_OK && out->status != LT_OK ? lt_fail(err, out->status, "no room for the list of tools") : status;
}

lt_status lt_code_prompt_put_listing(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err) {
  size_t configured = agent->options.listing_tokens;
  return code_prompt_write_listing(out, catalog, configured > 0 ? configured : LT_LISTING_TOKENS, err);
}

/* Kept, because writing it took a fifth of the loop's time when a thousand prompts with thirty tools began at once. */
static lt_status code_prompt_put_tools(lt_buf *out, const lt_turn *turn, lt_err *err) {
  const lt_catalog *catalog = turn->prepared.catalog;
  lt_tool_text *kept = &turn->agent->listing;
  lt_buf_addc(out, lt_catalog_count(catalog) > 0 ? "\nAVAILABLE TOOLS:\n" : "\nAVAILABLE TOOLS:\n(none)\n");
  if (lt_tool_text_is_of(kept, catalog)) {
    lt_buf_add(out, lt_buf_view(&kept->text));
    return LT_OK;
  }
  size_t before = out->n;
  LT_TRY(lt_code_prompt_put_listing(turn->agent, catalog, out, err));
  lt_tool_text_keep(kept, catalog, lt_str_sub(lt_buf_view(out), before, out->n));
  return LT_OK;
}

/* --- Context ------------------------------------------------------------------------------------------------------ */
static lt_str code_prompt_text_of(lt_json item, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  lt_json value = lt_json_get(item, key);
  return lt_json_str(value, arena, &text) ? text : lt_json_text(value);
}

static void code_prompt_put_item(lt_buf *out, lt_json item, lt_arena *arena) {
  lt_str id = code_prompt_text_of(item, "id", arena);
  lt_buf_byte(out, '[');
  lt_buf_add(out, code_prompt_text_of(item, "type", arena));
  lt_buf_addc(out, id.n > 0 ? ":" : "");
  lt_buf_add(out, id);
  lt_buf_addc(out, "]\n");
  lt_buf_add(out, code_prompt_text_of(item, "content", arena));
}

/* "[type:id]\ncontent" for each item, an empty line between them. */
static lt_status code_prompt_put_items(lt_buf *out, lt_str items, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, items, &doc, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_buf_addc(out, out->n > 0 ? "\n\n" : "");
    code_prompt_put_item(out, it.value, &arena);
  }
  return lt_buf_check(out, err, "the context is too long");
}

static lt_status code_prompt_put_context(lt_buf *out, const lt_turn *turn, lt_err *err) {
  lt_str items = lt_buf_view(&turn->prepared.context);
  if (items.n == 0) {
    return LT_OK;
  }
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  LT_TRY(code_prompt_put_items(&text, items, err));
  if (text.n > 0) {
    lt_buf_addc(out, "\nCONTEXT:\n");
    lt_buf_add(out, lt_buf_view(&text));
    lt_buf_byte(out, '\n');
  }
  return LT_OK;
}

lt_status lt_code_prompt_put(const lt_turn *turn, lt_buf *out, lt_err *err) {
  const lt_run_request *world = &turn->prepared.defaults;
  lt_buf_addc(out, rules);
  code_prompt_put_modules(out, world);
  code_prompt_put_functions(out, world, turn->prepared.catalog);
  LT_TRY(code_prompt_put_tools(out, turn, err));
  lt_str instructions = turn->agent->options.instructions;
  if (instructions.n > 0) {
    lt_buf_addc(out, "\nINSTRUCTIONS:\n");
    lt_buf_add(out, instructions);
    lt_buf_byte(out, '\n');
  }
  LT_TRY(code_prompt_put_context(out, turn, err));
  return lt_buf_check(out, err, "the system prompt is too long");
}
