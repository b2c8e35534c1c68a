/* What plugins register: taken in on the plugin's side, shown to the door and to programs on the loop's. */
#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_impl.h"

/* --- Registries --------------------------------------------------------------------------------------------------- */
lt_registry *lt_registry_new(void) {
  lt_registry *r = lt_mem_zalloc(1, sizeof *r);
  if (r != NULL) {
    lt_arena_init(&r->arena, LT_PLUGIN_CALL_MAX_BYTES);
    r->last_tool = &r->tools;
    r->last_function = &r->functions;
    r->last_module = &r->modules;
    r->last_item = &r->items;
    r->last_mode = &r->modes;
  }
  return r;
}

void lt_registry_free(lt_registry *list) {
  while (list != NULL) {
    lt_registry *r = list;
    list = r->next;
    lt_arena_release(&r->arena);
    lt_mem_free(r);
  }
}

/* --- Checks ------------------------------------------------------------------------------------------------------- */
lt_registry *lt_registry_of(lathe_call *call, bool for_good_only) {
  if (call->registered == NULL) {
    lt_call_error(call, LT_STR("things are registered in setup, ready and prepare only"));
    return NULL;
  }
  if (for_good_only && call->kind == LT_CALL_PREPARE) {
    lt_call_error(call, LT_STR("functions, modules and modes are registered in setup and ready only"));
    return NULL;
  }
  return call->registered;
}

static int say(lathe_call *call, const char *what, lt_str name, const char *problem) {
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_INVALID, "the %s \"%.*s\" %s", what, LT_STR_ARG(name), problem);
  return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
}

static int no_memory(lathe_call *call) {
  return lt_call_error(call, LT_STR("no memory to register it"));
}

static bool is_name_char(char c, const char *others) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr(others, c) != NULL);
}

static bool is_name(lt_str name, const char *others) {
  for (size_t i = 0; i < name.n; i++) {
    if (!is_name_char(name.p[i], others)) {
      return false;
    }
  }
  return name.n > 0;
}

static bool has_tool(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_tool *tool = r->tools; tool != NULL; tool = tool->next) {
      if (lt_str_eq(tool->spec.name, name)) {
        return true;
      }
    }
  }
  return false;
}

static bool has_function(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_function *f = r->functions; f != NULL; f = f->next) {
      if (lt_str_eq(f->name, name)) {
        return true;
      }
    }
  }
  return false;
}

static bool has_module(const lt_registry *list, lt_str name) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_module *m = r->modules; m != NULL; m = m->next) {
      if (lt_str_eq(m->name, name)) {
        return true;
      }
    }
  }
  return false;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
/* A schema that is none is the plugin's bug; better found here than at each call. */
static int check_schema(lathe_call *call, lt_str tool, const char *which, lt_str schema) {
  lt_err err = LT_ERR_INIT;
  lt_schema *compiled = NULL;
  if (schema.n == 0) {
    return 0;
  }
  if (lt_schema_new(schema, &compiled, &err) != LT_OK) {
    lt_err_prefix(&err, "the %s of the tool \"%.*s\" cannot be used", which, LT_STR_ARG(tool));
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  lt_schema_free(compiled);
  return 0;
}

static int check_annotations(lathe_call *call, lt_str tool, lt_str annotations) {
  lt_str text = lt_str_trim(annotations);
  if (text.n == 0 || (text.p[0] == '{' && lt_json_check(text, NULL) == LT_OK)) {
    return 0;
  }
  return say(call, "tool", tool, "has annotations that are not a JSON object");
}

static int check_tool_name(lathe_call *call, const lt_registry *r, lt_str name) {
  if (!is_name(name, "_-./")) {
    return say(call, "tool", name, "needs a name of letters, digits, \"-\", \"_\", \".\" and \"/\"");
  }
  if (has_tool(r, name) || has_tool(call->plugin->tools.registered, name)) {
    return say(call, "tool", name, "is there already");
  }
  if (r->tool_count >= LT_PLUGIN_TOOLS_MAX) {
    return say(call, "tool", name, "is one too many for a plugin");
  }
  return 0;
}

static int check_tool(lathe_call *call, const lt_registry *r, const lathe_tool *tool, const lt_tool_spec *spec) {
  if (check_tool_name(call, r, spec->name) != 0) {
    return -1;
  }
  if (tool->invoke == NULL) {
    return say(call, "tool", spec->name, "has no function \"invoke\"");
  }
  if ((tool->flags & ~(unsigned)(LATHE_NOT_FOR_PROGRAMS | LATHE_ONLY_CALLS)) != 0) {
    return say(call, "tool", spec->name, "has flags that this Lathe does not know: it needs a newer one");
  }
  if ((tool->input_schema != NULL && spec->input_schema.p == NULL) ||
      (tool->output_schema != NULL && spec->output_schema.p == NULL)) {
    return say(call, "tool", spec->name, "has a schema that is too long");
  }
  if (check_schema(call, spec->name, "input_schema", spec->input_schema) != 0 ||
      check_schema(call, spec->name, "output_schema", spec->output_schema) != 0) {
    return -1;
  }
  return check_annotations(call, spec->name, spec->annotations);
}

static bool copy(lt_arena *arena, lt_str *text) {
  *text = text->n > 0 ? lt_arena_dup(arena, *text) : LT_STR("");
  return text->p != NULL;
}

static bool copy_spec(lt_arena *arena, lt_tool_spec *spec) {
  return copy(arena, &spec->name) && copy(arena, &spec->description) && copy(arena, &spec->input_schema) &&
         copy(arena, &spec->output_schema) && copy(arena, &spec->annotations) && copy(arena, &spec->approval);
}

int lt_api_add_tool(lathe_call *call, const lathe_tool *theirs) {
  lathe_tool tool;
  lt_registry *r = lt_registry_of(call, false);
  if (r == NULL) {
    return -1;
  }
  if (!lt_struct_read(&tool, sizeof tool, offsetof(lathe_tool, approval), theirs)) {
    return lt_call_error(call, LT_STR("a lathe_tool's size has to be sizeof(lathe_tool)"));
  }
  lt_tool_spec spec = {.name = lt_plugin_text(tool.name, LT_PLUGIN_NAME_BYTES),
                       .description = lt_plugin_text(tool.description, LT_SCHEMA_MAX_BYTES),
                       .input_schema = lt_plugin_text(tool.input_schema, LT_SCHEMA_MAX_BYTES),
                       .output_schema = lt_plugin_text(tool.output_schema, LT_SCHEMA_MAX_BYTES),
                       .annotations = lt_plugin_text(tool.annotations, LT_SCHEMA_MAX_BYTES),
                       .needs_approval = tool.approval != NULL,
                       .of_plugin = true,
                       .not_for_programs = (tool.flags & LATHE_NOT_FOR_PROGRAMS) != 0,
                       .only_calls = (tool.flags & LATHE_ONLY_CALLS) != 0,
                       .approval = lt_plugin_text(tool.approval, LT_PLUGIN_LINE_BYTES)};
  if (check_tool(call, r, &tool, &spec) != 0) {
    return -1;
  }
  lt_plugin_tool *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !copy_spec(&r->arena, &spec)) {
    return no_memory(call);
  }
  *entry =
      (lt_plugin_tool){.spec = spec, .invoke = tool.invoke, .arg = tool.arg, .needs_approval = tool.needs_approval};
  *r->last_tool = entry;
  r->last_tool = &entry->next;
  r->tool_count++;
  return 0;
}

/* --- Functions, modules, context ---------------------------------------------------------------------------------- */
static int check_function(lathe_call *call, const lt_registry *r, const lathe_function *f, lt_str name) {
  if (!is_name(name, "_$") || (name.p[0] >= '0' && name.p[0] <= '9')) {
    return say(call, "function", name, "needs a JavaScript identifier of ASCII letters for a name");
  }
  if (has_function(r, name) || has_function(call->plugin->tools.registered, name)) {
    return say(call, "function", name, "is there already");
  }
  if (f->invoke == NULL) {
    return say(call, "function", name, "has no function \"invoke\"");
  }
  return r->function_count < LT_PLUGIN_FUNCTIONS_MAX ? 0 : say(call, "function", name, "is one too many for a plugin");
}

int lt_api_add_function(lathe_call *call, const lathe_function *theirs) {
  lathe_function f;
  lt_registry *r = lt_registry_of(call, true);
  if (r == NULL) {
    return -1;
  }
  if (!lt_struct_read(&f, sizeof f, sizeof f, theirs)) {
    return lt_call_error(call, LT_STR("a lathe_function's size has to be sizeof(lathe_function)"));
  }
  lt_str name = lt_plugin_text(f.name, LT_PLUGIN_NAME_BYTES);
  if (check_function(call, r, &f, name) != 0) {
    return -1;
  }
  lt_str signature = lt_plugin_text(f.signature, LT_PLUGIN_LINE_BYTES);
  lt_str description = lt_plugin_text(f.description, LT_PLUGIN_LINE_BYTES);
  lt_plugin_function *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !copy(&r->arena, &name) || !copy(&r->arena, &signature) || !copy(&r->arena, &description)) {
    return no_memory(call);
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

int lt_api_add_module(lathe_call *call, const char *their_name, lathe_text their_source) {
  lt_registry *r = lt_registry_of(call, true);
  if (r == NULL) {
    return -1;
  }
  lt_str name = lt_plugin_text(their_name, LT_PLUGIN_NAME_BYTES);
  lt_str source = lt_of_text(their_source);
  if (!is_name(name, "_-./@:")) {
    return say(call, "module", name, "needs a name of letters, digits and \"-_./@:\"");
  }
  if (has_module(r, name) || has_module(call->plugin->tools.registered, name)) {
    return say(call, "module", name, "is there already");
  }
  if (source.n > LT_RUN_CODE_MAX_BYTES || r->module_count >= LT_PLUGIN_FUNCTIONS_MAX) {
    return say(call, "module", name, source.n > LT_RUN_CODE_MAX_BYTES ? "is too long" : "is one too many for a plugin");
  }
  lt_plugin_module *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !copy(&r->arena, &name) || !copy(&r->arena, &source)) {
    return no_memory(call);
  }
  *entry = (lt_plugin_module){.name = name, .source = source};
  *r->last_module = entry;
  r->last_module = &entry->next;
  r->module_count++;
  return 0;
}

static bool is_item(lt_arena *arena, lt_str text, lt_err *err) {
  lt_json_doc doc;
  if (lt_json_parse(arena, text, &doc, err) != LT_OK) {
    return false;
  }
  lt_json item = lt_json_root(&doc);
  lt_json id = lt_json_get(item, "id");
  bool fits = lt_json_typeof(lt_json_get(item, "type")) == LT_JSON_STRING &&
              lt_json_typeof(lt_json_get(item, "content")) == LT_JSON_STRING &&
              (!lt_json_exists(id) || lt_json_typeof(id) == LT_JSON_STRING);
  if (!fits) {
    lt_fail(err, LT_E_INVALID, "it has to be {\"type\": \"...\", \"id\"?: \"...\", \"content\": \"...\"}");
  }
  return fits;
}

int lt_api_add_context(lathe_call *call, lathe_text item) {
  lt_err err = LT_ERR_INIT;
  lt_arena scratch;
  lt_registry *r = lt_registry_of(call, false);
  lt_str json = lt_of_text(item);
  if (r == NULL) {
    return -1;
  }
  if (json.n > LT_PLUGIN_CONTEXT_BYTES - r->item_bytes) {
    return lt_call_error(call, LT_STR("a plugin's context items may have 1 MiB together: no model reads that much"));
  }
  lt_arena_init(&scratch, LT_CALL_INDEX_MAX_BYTES);
  bool fits = is_item(&scratch, json, &err);
  lt_arena_release(&scratch);
  if (!fits) {
    lt_err_prefix(&err, "this context item cannot be used");
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  lt_plugin_item *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  if (entry == NULL || !copy(&r->arena, &json)) {
    return no_memory(call);
  }
  entry->json = json;
  *r->last_item = entry;
  r->last_item = &entry->next;
  r->item_bytes += json.n;
  return 0;
}
