/* search_tools: names, one line each, and signatures of the tools that fit a query. */
#include "gateway/gateway_text.h"
#include "gateway/gateway_request.h"
#include "base/limits.h"
#include "tool/tool_typegen.h"

#define FOUND_MAX    20 /* tools of one answer ... */
#define DECLARED_MAX 8  /* ... of which so many have their signature */

static lt_status gateway_search_describe(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_buf_addc(out,
              "Find the tools that programs of execute_code can call, by words: names, descriptions and, for the best, "
              "TypeScript signatures. Tools of: ");
  return lt_gateway_text_servers(gateway, out, err);
}

static lt_status gateway_search_put_found(const lt_catalog *catalog, lt_str query, lt_buf *out, lt_err *err) {
  uint32_t found[FOUND_MAX];
  lt_typegen_tool tools[FOUND_MAX];
  size_t found_count = lt_catalog_search(catalog, query, found, FOUND_MAX), count = 0;
  for (size_t i = 0; i < found_count; i++) {
    const lt_tool *tool = lt_catalog_at(catalog, found[i]);
    tools[count] = lt_tool_typegen(tool);
    count += lt_gateway_text_is_shown(tool);
  }
  if (count == 0) {
    lt_buf_printf(out, "No tool fits. There are %zu: other words, or \"\" for the first of all.",
                  lt_catalog_count(catalog));
    return lt_buf_check(out, err, "no memory for the answer");
  }
  LT_TRY(lt_typegen_lines(tools, count, out, err));
  lt_buf_addc(out, "\n```typescript\n");
  for (size_t i = 0; i < count && i < DECLARED_MAX; i++) {
    LT_TRY(lt_typegen_ts_tool(&tools[i], out, err));
  }
  lt_buf_addc(
      out, "```\nThe second word of a line is the function's name in JavaScript, where it returns the value itself.");
  return lt_buf_check(out, err, "no memory for the answer");
}

/* With the saved programs of the request's user. */
static lt_status gateway_search_catalog(const lt_gateway_request *r, lt_catalog **ret_catalog, lt_err *err) LT_YIELDS {
  lt_catalog *all;
  LT_TRY(lt_host_catalog_of_user(lt_toolbox_host(r->gateway->session->toolbox), r->peer->user, &all, err));
  lt_status status = lt_catalog_for_programs(all, ret_catalog, err);
  lt_catalog_unref(all);
  return status;
}

static lt_status gateway_search_call(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                                     lt_err *err) LT_YIELDS {
  lt_catalog *catalog;
  lt_str query = LT_STR_NULL;
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json words = lt_json_get(arguments, "query");
  if (lt_json_exists(words) && !lt_json_str(words, &arena, &query)) {
    return lt_fail(err, LT_E_INVALID, "query: expected words as a string");
  }
  LT_TRY(gateway_search_catalog(request, &catalog, err));
  lt_status status = gateway_search_put_found(catalog, query, &ret_answer->text, err);
  lt_catalog_unref(catalog);
  return status;
}

const lt_gateway_tool lt_gateway_search = {
    .name = "search_tools",
    .title = "Find tools",
    .annotations = "{\"readOnlyHint\":true}",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"query\":{\"type\":\"string\",\"description\":\"Words, such as \\\"rename a file\\\"\"}}}",
    .describe = gateway_search_describe,
    .call = gateway_search_call,
};
