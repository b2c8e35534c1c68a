/* Checks and copies registrations, on the plugin's thread. */
#include "plugin/registration.h"

#include <string.h>

#include "base/limits.h"
#include "json/json.h"
#include "plugin/abi.h"

/* --- Refusals ----------------------------------------------------------------------------------------------------- */
lt_registry *lt_registration_begin(lathe_call *call, bool for_good_only) {
  if (call->registered == NULL) {
    lt_plugin_call_set_error(call, LT_STR("things are registered in setup, ready and prepare only"));
    return NULL;
  }
  if (for_good_only && call->kind == LT_CALL_PREPARE) {
    lt_plugin_call_set_error(call, LT_STR("functions, modules and modes are registered in setup and ready only"));
    return NULL;
  }
  return call->registered;
}

int lt_registration_refuse(lathe_call *call, const char *what, lt_str name, const char *problem) {
  LT_ERR_VAR(err);
  lt_fail(&err, LT_E_INVALID, "the %s \"%.*s\" %s", what, LT_STR_ARG(name), problem);
  return lt_plugin_call_set_err(call, &err);
}

int lt_registration_no_memory(lathe_call *call) {
  return lt_plugin_call_set_error(call, LT_STR("no memory to register it"));
}

static bool registration_is_name_char(char c, const char *others) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr(others, c) != NULL);
}

static bool registration_is_name(lt_str name, const char *others) {
  for (size_t i = 0; i < name.n; i++) {
    if (!registration_is_name_char(name.p[i], others)) {
      return false;
    }
  }
  return name.n > 0;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
/* A schema that cannot be used is a bug of the plugin. It is better found here than at each call. Those of plugins that
 * are linked in are tested (test_host_many.c): compiling them again at each start would be a seventh of its work. */
static int registration_check_schema(lathe_call *call, lt_str tool, const char *which, lt_str schema) {
  LT_ERR_VAR(err);
  lt_schema *compiled = NULL;
  if (schema.n == 0 || call->plugin->library == NULL) {
    return 0;
  }
  if (lt_schema_new(schema, &compiled, &err) != LT_OK) {
    lt_err_prefix(&err, "the %s of the tool \"%.*s\" cannot be used", which, LT_STR_ARG(tool));
    return lt_plugin_call_set_err(call, &err);
  }
  lt_schema_free(compiled);
  return 0;
}

static int registration_check_annotations(lathe_call *call, lt_str tool, lt_str annotations) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (lt_str_trim(annotations).n == 0 || (lt_json_parse(&arena, annotations, &doc, NULL) == LT_OK &&
                                          lt_json_typeof(lt_json_root(&doc)) == LT_JSON_OBJECT)) {
    return 0;
  }
  return lt_registration_refuse(call, "tool", tool, "has annotations that are not a JSON object");
}

static int registration_check_tool_name(lathe_call *call, const lt_registry *r, lt_str name) {
  if (!registration_is_name(name, "_-./")) {
    return lt_registration_refuse(call, "tool", name, "needs a name of letters, digits, \"-\", \"_\", \".\" and \"/\"");
  }
  bool is_bare = lt_plugin_namespace(call->plugin).n == 0;
  if (is_bare && lt_str_find(name, LT_STR("."), 0) != SIZE_MAX) {
    return lt_registration_refuse(call, "tool", name, "has a dot in its name: it would have the id of another's tool");
  }
  if (lt_registry_find_tool(r, name) != NULL || lt_registry_find_tool(call->plugin->tools.registered, name) != NULL) {
    return lt_registration_refuse(call, "tool", name, "is there already");
  }
  if (r->tool_count >= LT_PLUGIN_TOOLS_MAX) {
    return lt_registration_refuse(call, "tool", name, "is one too many for a plugin");
  }
  return 0;
}

static int registration_check_tool(lathe_call *call, const lt_registry *r, const lathe_tool *tool,
                                   const lt_tool_spec *spec) {
  if (registration_check_tool_name(call, r, spec->name) != 0) {
    return -1;
  }
  if (tool->invoke == NULL) {
    return lt_registration_refuse(call, "tool", spec->name, "has no function \"invoke\"");
  }
  if ((tool->flags & ~(unsigned)(LATHE_NOT_FOR_PROGRAMS | LATHE_ONLY_CALLS)) != 0) {
    return lt_registration_refuse(call, "tool", spec->name,
                                  "has flags that this Lathe does not know: it needs a newer one");
  }
  if ((tool->input_schema != NULL && spec->input_schema.p == NULL) ||
      (tool->output_schema != NULL && spec->output_schema.p == NULL)) {
    return lt_registration_refuse(call, "tool", spec->name, "has a schema that is too long");
  }
  if (registration_check_schema(call, spec->name, "input_schema", spec->input_schema) != 0 ||
      registration_check_schema(call, spec->name, "output_schema", spec->output_schema) != 0) {
    return -1;
  }
  return registration_check_annotations(call, spec->name, spec->annotations);
}

static bool registration_copy_text(lt_arena *arena, lt_str *text) {
  *text = text->n > 0 ? lt_arena_dup(arena, *text) : LT_STR("");
  return text->p != NULL;
}

static bool registration_copy_spec(lt_arena *arena, lt_tool_spec *spec) {
  return registration_copy_text(arena, &spec->name) && registration_copy_text(arena, &spec->description) &&
         registration_copy_text(arena, &spec->input_schema) && registration_copy_text(arena, &spec->output_schema) &&
         registration_copy_text(arena, &spec->annotations) && registration_copy_text(arena, &spec->approval);
}

int lt_registration_add_tool(lathe_call *call, const lathe_tool *given) {
  lathe_tool tool;
  lt_registry *r = lt_registration_begin(call, false);
  if (r == NULL) {
    return -1;
  }
  if (!lt_abi_read_struct(&tool, sizeof tool, offsetof(lathe_tool, approval), given)) {
    return lt_plugin_call_set_error(call, LT_STR("a lathe_tool's size has to be sizeof(lathe_tool)"));
  }
  lt_tool_spec spec = {.name = lt_abi_view_text(tool.name, LT_PLUGIN_NAME_BYTES),
                       .description = lt_abi_view_text(tool.description, LT_SCHEMA_MAX_BYTES),
                       .input_schema = lt_abi_view_text(tool.input_schema, LT_SCHEMA_MAX_BYTES),
                       .output_schema = lt_abi_view_text(tool.output_schema, LT_SCHEMA_MAX_BYTES),
                       .annotations = lt_abi_view_text(tool.annotations, LT_SCHEMA_MAX_BYTES),
                       .needs_approval = tool.approval != NULL,
                       .may_need_approval = tool.needs_approval != NULL,
                       .of_plugin = true,
                       .not_for_programs = (tool.flags & LATHE_NOT_FOR_PROGRAMS) != 0,
                       .only_calls = (tool.flags & LATHE_ONLY_CALLS) != 0,
                       .approval = lt_abi_view_text(tool.approval, LT_PLUGIN_LINE_BYTES)};
  if (registration_check_tool(call, r, &tool, &spec) != 0) {
    return -1;
  }
  lt_plugin_tool *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !registration_copy_spec(&r->arena, &spec)) {
    return lt_registration_no_memory(call);
  }
  *entry =
      (lt_plugin_tool){.spec = spec, .invoke = tool.invoke, .arg = tool.arg, .needs_approval = tool.needs_approval};
  *r->last_tool = entry;
  r->last_tool = &entry->next;
  r->tool_count++;
  return 0;
}

/* --- Functions, modules, context ---------------------------------------------------------------------------------- */
static int registration_check_function(lathe_call *call, const lt_registry *r, const lathe_function *f, lt_str name) {
  if (!registration_is_name(name, "_$") || (name.p[0] >= '0' && name.p[0] <= '9')) {
    return lt_registration_refuse(call, "function", name, "needs a JavaScript identifier of ASCII letters for a name");
  }
  if (lt_registry_has_function(r, name) || lt_registry_has_function(call->plugin->tools.registered, name)) {
    return lt_registration_refuse(call, "function", name, "is there already");
  }
  if (f->invoke == NULL) {
    return lt_registration_refuse(call, "function", name, "has no function \"invoke\"");
  }
  return r->function_count < LT_PLUGIN_FUNCTIONS_MAX
             ? 0
             : lt_registration_refuse(call, "function", name, "is one too many for a plugin");
}

int lt_registration_add_function(lathe_call *call, const lathe_function *given) {
  lathe_function f;
  lt_registry *r = lt_registration_begin(call, true);
  if (r == NULL) {
    return -1;
  }
  if (!lt_abi_read_struct(&f, sizeof f, sizeof f, given)) {
    return lt_plugin_call_set_error(call, LT_STR("a lathe_function's size has to be sizeof(lathe_function)"));
  }
  lt_str name = lt_abi_view_text(f.name, LT_PLUGIN_NAME_BYTES);
  if (registration_check_function(call, r, &f, name) != 0) {
    return -1;
  }
  lt_str signature = lt_abi_view_text(f.signature, LT_PLUGIN_LINE_BYTES);
  lt_str description = lt_abi_view_text(f.description, LT_PLUGIN_LINE_BYTES);
  lt_plugin_function *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !registration_copy_text(&r->arena, &name) || !registration_copy_text(&r->arena, &signature) ||
      !registration_copy_text(&r->arena, &description)) {
    return lt_registration_no_memory(call);
  }
  *entry = (lt_plugin_function){.plugin = call->plugin,
                                .name = name,
                                .signature = signature.n > 0 ? signature : LT_STR("(...arguments)"),
                                .description = description,
                                .invoke = f.invoke,
                                .arg = f.arg};
  *r->last_function = entry;
  r->last_function = &entry->next;
  r->function_count++;
  return 0;
}

int lt_registration_add_module(lathe_call *call, const char *given_name, lathe_text given_source) {
  lt_registry *r = lt_registration_begin(call, true);
  if (r == NULL) {
    return -1;
  }
  lt_str name = lt_abi_view_text(given_name, LT_PLUGIN_NAME_BYTES);
  lt_str source = lt_abi_to_str(given_source);
  if (!registration_is_name(name, "_-./@:")) {
    return lt_registration_refuse(call, "module", name, "needs a name of letters, digits and \"-_./@:\"");
  }
  if (lt_registry_has_module(r, name) || lt_registry_has_module(call->plugin->tools.registered, name)) {
    return lt_registration_refuse(call, "module", name, "is there already");
  }
  if (source.n > LT_RUN_CODE_MAX_BYTES || r->module_count >= LT_PLUGIN_FUNCTIONS_MAX) {
    return lt_registration_refuse(call, "module", name,
                                  source.n > LT_RUN_CODE_MAX_BYTES ? "is too long" : "is one too many for a plugin");
  }
  lt_plugin_module *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !registration_copy_text(&r->arena, &name) || !registration_copy_text(&r->arena, &source)) {
    return lt_registration_no_memory(call);
  }
  *entry = (lt_plugin_module){.name = name, .source = source};
  *r->last_module = entry;
  r->last_module = &entry->next;
  r->module_count++;
  return 0;
}

static lt_status registration_check_item(lt_str text, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, text, &doc, err));
  lt_json item = lt_json_root(&doc);
  lt_json id = lt_json_get(item, "id");
  bool fits = lt_json_typeof(lt_json_get(item, "type")) == LT_JSON_STRING &&
              lt_json_typeof(lt_json_get(item, "content")) == LT_JSON_STRING &&
              (!lt_json_exists(id) || lt_json_typeof(id) == LT_JSON_STRING);
  return fits ? LT_OK
              : lt_fail(err, LT_E_INVALID, "it has to be {\"type\": \"...\", \"id\"?: \"...\", \"content\": \"...\"}");
}

int lt_registration_add_context(lathe_call *call, lathe_text item) {
  LT_ERR_VAR(err);
  lt_registry *r = lt_registration_begin(call, false);
  lt_str json = lt_abi_to_str(item);
  if (r == NULL) {
    return -1;
  }
  if (json.n > LT_PLUGIN_CONTEXT_BYTES - r->item_bytes) {
    return lt_plugin_call_set_error(
        call, LT_STR("a plugin's context items may have 1 MiB together: no model reads that much"));
  }
  if (registration_check_item(json, &err) != LT_OK) {
    lt_err_prefix(&err, "this context item cannot be used");
    return lt_plugin_call_set_err(call, &err);
  }
  lt_plugin_item *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !registration_copy_text(&r->arena, &json)) {
    return lt_registration_no_memory(call);
  }
  entry->json = json;
  *r->last_item = entry;
  r->last_item = &entry->next;
  r->item_bytes += json.n;
  return 0;
}
