#include "gateway/gateway_text.h"

#include "app/plugins.h"
#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_direct.h"
#include "tool/tool_typegen.h"
#include "types/typegen_text.h"

lt_status lt_gateway_text_catalog(lt_gateway *gateway, lt_catalog **ret_catalog, lt_err *err) {
  lt_catalog *all;
  LT_TRY(lt_door_catalog(gateway->session->door, &all, err));
  lt_status status = lt_catalog_for_programs(all, ret_catalog, err);
  lt_catalog_unref(all);
  return status;
}

/* --- Servers ------------------------------------------------------------------------------------------------------ */
bool lt_gateway_text_is_shown(const lt_tool *tool) {
  return !lt_str_eqc(tool->ns, "interpreter");
}

/* Tools are sorted by id, so those of one server are neighbours. Returns the index of the next server. */
static size_t gateway_text_put_server(const lt_catalog *catalog, size_t from, bool is_next, lt_buf *out) {
  lt_str ns = lt_catalog_at(catalog, from)->ns;
  size_t i = from;
  while (i < lt_catalog_count(catalog) && lt_str_eq(lt_catalog_at(catalog, i)->ns, ns)) {
    i++;
  }
  if (lt_plugins_has_namespace(ns)) {
    return i;
  }
  lt_buf_addc(out, is_next ? ", " : "");
  lt_typegen_put_line(out, ns, LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_printf(out, " (%zu %s)", i - from, i - from == 1 ? "tool" : "tools");
  return i;
}

lt_status lt_gateway_text_servers(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_catalog *catalog;
  size_t start = out->n;
  LT_TRY(lt_gateway_text_catalog(gateway, &catalog, err));
  size_t count = lt_catalog_count(catalog), i = 0;
  while (i < count && out->n - start < LT_GATEWAY_SERVERS_BYTES) {
    i = gateway_text_put_server(catalog, i, out->n > start, out);
  }
  lt_buf_addc(out, i < count ? " and more" : out->n == start ? "no tools yet" : "");
  lt_catalog_unref(catalog);
  return lt_buf_check(out, err, "no memory for the list of servers");
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */
static lt_status gateway_text_put_listing(const lt_catalog *catalog, lt_buf *out, lt_err *err) {
  size_t count = 0;
  lt_typegen_tool *tools = lt_mem_zalloc(lt_catalog_count(catalog) + 1, sizeof *tools);
  if (tools == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    const lt_tool *tool = lt_catalog_at(catalog, i);
    tools[count] = lt_tool_typegen(tool);
    count += lt_gateway_text_is_shown(tool);
  }
  lt_status status = lt_typegen_prompt_budget(tools, count, LT_GATEWAY_LISTING_TOKENS, out, err);
  lt_mem_free(tools);
  return status;
}

lt_status lt_gateway_text_listing(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_catalog *catalog;
  LT_TRY(lt_gateway_text_catalog(gateway, &catalog, err));
  lt_status status = gateway_text_put_listing(catalog, out, err);
  lt_catalog_unref(catalog);
  return status;
}

/* --- Routing ------------------------------------------------------------------------------------------------------ */
void lt_gateway_text_routing(lt_gateway *gateway, lt_buf *out) {
  if (lt_gateway_direct_has_any(gateway)) {
    lt_buf_addc(out,
                " Some tools are also listed by themselves: when one call of such a tool is all you need, call it "
                "directly; when you need several calls, a loop, or only a part of a large answer, write a program.");
  }
}

/* --- Instructions ------------------------------------------------------------------------------------------------- */
lt_status lt_gateway_text_instructions(lt_gateway *gateway, lt_buf *out, lt_err *err) {
  lt_buf_addc(out, "Behind this server are the tools of: ");
  LT_TRY(lt_gateway_text_servers(gateway, out, err));
  lt_buf_addc(out,
              ". Call them as functions in a program, with execute_code. One program "
              "may make many calls and return only what matters. search_tools finds tools and their signatures. A "
              "program that waits, for example for a person's approval, is not lost: continue_run gets its answer.");
  lt_gateway_text_routing(gateway, out);
  return lt_buf_check(out, err, "no memory for the instructions");
}
