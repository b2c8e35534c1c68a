#include "gateway/gateway_direct.h"

#include "base/limits.h"
#include "gateway/gateway_names.h"
#include "gateway/gateway_runs.h"

/* --- Which -------------------------------------------------------------------------------------------------------- */
/* The tools of one catalog; owns the catalog. */
typedef struct gateway_direct {
  lt_catalog *catalog;
  lt_arena arena;
  const lt_tool **tools;
  lt_gateway_named *names;
  size_t count;
} gateway_direct;

static void gateway_direct_close(gateway_direct *d) {
  lt_catalog_unref(d->catalog);
  lt_arena_release(&d->arena);
}

static lt_status gateway_direct_gather(gateway_direct *d, lt_err *err) {
  size_t all = lt_catalog_count(d->catalog);
  d->tools = lt_arena_zalloc(&d->arena, all + 1, sizeof(const lt_tool *));
  d->names = lt_arena_zalloc(&d->arena, all + 1, sizeof *d->names);
  if (d->tools == NULL || d->names == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  for (size_t i = 0; i < all; i++) {
    const lt_tool *tool = lt_catalog_at(d->catalog, i);
    if (tool->is_direct) {
      d->tools[d->count] = tool;
      d->names[d->count++] = (lt_gateway_named){.server = tool->ns, .name = tool->name};
    }
  }
  return lt_gateway_names_make(d->names, d->count, &d->arena, err);
}

/* Owns: the caller on LT_OK, gateway_direct_close. */
static lt_status gateway_direct_open(lt_gateway *gateway, gateway_direct *d, lt_err *err) {
  *d = (gateway_direct){.catalog = NULL};
  lt_arena_init(&d->arena, LT_CATALOG_MAX_BYTES);
  LT_TRY(lt_door_catalog(gateway->session->door, &d->catalog, err));
  lt_status status = gateway_direct_gather(d, err);
  if (status != LT_OK) {
    gateway_direct_close(d);
  }
  return status;
}

bool lt_gateway_direct_has_any(lt_gateway *gateway) {
  gateway_direct d;
  if (gateway->session->config.exposure_count == 0 || gateway_direct_open(gateway, &d, NULL) != LT_OK) {
    return false;
  }
  bool has_any = d.count > 0;
  gateway_direct_close(&d);
  return has_any;
}

bool lt_gateway_direct_find(lt_gateway *gateway, lt_str wire, lt_buf *ret_id) {
  gateway_direct d;
  if (gateway->session->config.exposure_count == 0 || gateway_direct_open(gateway, &d, NULL) != LT_OK) {
    return false;
  }
  size_t at = lt_gateway_names_find(d.names, d.count, wire);
  if (at < d.count) {
    lt_buf_add(ret_id, d.tools[at]->id);
  }
  gateway_direct_close(&d);
  return at != SIZE_MAX;
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */
static void gateway_direct_put_json(lt_json_writer *w, const char *key, lt_str json) {
  if (json.n > 0) {
    lt_json_key(w, key);
    lt_json_put_raw(w, json);
  }
}

/* "The schema MUST be a valid JSON Schema object (not null)", of type object (2025-11-25, Tools, Data Types). */
static void gateway_direct_put_schema(lt_json_writer *w, lt_str schema) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_SCHEMA_MEMORY_BYTES);
  bool has_type = schema.n > 2 && lt_json_parse(&arena, schema, &doc, NULL) == LT_OK &&
                  lt_json_str_eq(lt_json_get(lt_json_root(&doc), "type"), LT_STR("object"));
  gateway_direct_put_json(w, "inputSchema", has_type ? schema : LT_STR("{\"type\":\"object\"}"));
}

static void gateway_direct_put(lt_json_writer *w, const lt_tool *tool, lt_str wire) {
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  lt_json_put_str(w, wire);
  if (tool->title.n > 0) {
    lt_json_key(w, "title");
    lt_json_put_str(w, tool->title);
  }
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  gateway_direct_put_schema(w, tool->input_schema);
  gateway_direct_put_json(w, "outputSchema", tool->output_schema);
  gateway_direct_put_json(w, "annotations", tool->annotations);
  lt_json_end_object(w);
}

lt_status lt_gateway_direct_put_all(lt_gateway *gateway, lt_json_writer *w, lt_err *err) {
  gateway_direct d;
  if (gateway->session->config.exposure_count == 0) {
    return LT_OK;
  }
  LT_TRY(gateway_direct_open(gateway, &d, err));
  for (size_t i = 0; i < d.count; i++) {
    gateway_direct_put(w, d.tools[i], d.names[i].wire);
  }
  gateway_direct_close(&d);
  return lt_buf_check(w->buf, err, "no memory for the list of tools");
}

/* --- Calling ------------------------------------------------------------------------------------------------------ */
lt_status lt_gateway_direct_call(lt_gateway_request *request, lt_str id, lt_json arguments,
                                 lt_gateway_answer *ret_answer, lt_err *err) {
  char run[LT_STORE_ID_BYTES + 1];
  LT_AUTO_BUF(input, LT_PROMPT_INPUT_BYTES);
  if (lt_json_exists(arguments)) {
    lt_json_compact(arguments, &input);
  }
  const lt_gateway_program call = {.tool = id, .input = lt_buf_view_or(&input, LT_STR("{}"))};
  LT_TRY(lt_buf_check(&input, err, "the arguments are too long"));
  LT_TRY(lt_gateway_runs_start(request, &call, run, err));
  request->is_direct = true;
  return lt_gateway_runs_answer(request, lt_str_of(run), ret_answer, err);
}

static bool gateway_direct_is_failed(const lt_gateway_answer *answer) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  if (answer->whole.n == 0 || lt_json_parse(&arena, lt_buf_view(&answer->whole), &doc, NULL) != LT_OK) {
    return answer->is_error;
  }
  return lt_json_bool(lt_json_get(lt_json_root(&doc), "isError"), false);
}

lt_status lt_gateway_direct_check(lt_gateway_request *r, const lt_gateway_answer *answer) {
  if (!r->is_modern || r->lacking == NULL || !gateway_direct_is_failed(answer)) {
    return LT_OK;
  }
  return lt_gateway_request_fail_lacking(r);
}
