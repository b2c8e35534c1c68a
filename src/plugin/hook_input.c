/* The input of hooks. */
#include "plugin/hook_input.h"

void lt_hook_input_put_tools(lt_json_writer *w, const lt_catalog *catalog, lt_str hidden) {
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_str id = lt_catalog_at(catalog, i)->id;
    if (hidden.n == 0 || !lt_str_eq(id, hidden)) {
      lt_json_put_str(w, id);
    }
  }
}

static void hook_input_put_functions(lt_json_writer *w, const lt_run_function *functions, size_t count) {
  lt_json_key(w, "functions");
  lt_json_begin_array(w);
  for (size_t i = 0; i < count; i++) {
    lt_json_begin_object(w);
    lt_json_put_pair(w, "name", functions[i].name);
    lt_json_put_pair(w, "signature", functions[i].signature);
    if (functions[i].description.n > 0) {
      lt_json_put_pair(w, "description", functions[i].description);
    }
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

static const char *hook_input_module_at(const lt_host_options *options, size_t i) {
  return options != NULL && options->module_at != NULL ? options->module_at(options->arg, i) : NULL;
}

static bool hook_input_has_module(const lt_host_options *options, lt_str name) {
  size_t i = 0;
  const char *module = hook_input_module_at(options, i);
  while (module != NULL && !lt_str_eqc(name, module)) {
    module = hook_input_module_at(options, ++i);
  }
  return module != NULL;
}

void lt_hook_input_put_programs(lt_json_writer *w, const lt_run_request *defaults, const lt_host_options *options) {
  hook_input_put_functions(w, defaults->functions, defaults->function_count);
  lt_json_key(w, "modules");
  lt_json_begin_array(w);
  const char *name = hook_input_module_at(options, 0);
  for (size_t i = 0; name != NULL; name = hook_input_module_at(options, ++i)) {
    lt_json_put_cstr(w, name);
  }
  for (size_t i = 0; i < defaults->module_count; i++) {
    if (!hook_input_has_module(options, defaults->modules[i].name)) {
      lt_json_put_str(w, defaults->modules[i].name);
    }
  }
  lt_json_end_array(w);
}
