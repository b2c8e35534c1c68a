/* What hooks are told of the world: tools, functions, modules. */
#include "json/json.h"
#include "plugin/hook.h"

void lt_told_tools(lt_json_writer *w, const lt_catalog *catalog, lt_str hidden) {
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_str id = lt_catalog_at(catalog, i)->id;
    if (hidden.n == 0 || !lt_str_eq(id, hidden)) {
      lt_json_put_str(w, id);
    }
  }
}

static void put_pair(lt_json_writer *w, const char *key, lt_str value) {
  lt_json_key(w, key);
  lt_json_put_str(w, value);
}

static void put_functions(lt_json_writer *w, const lt_run_function *functions, size_t count) {
  lt_json_key(w, "functions");
  lt_json_begin_array(w);
  for (size_t i = 0; i < count; i++) {
    lt_json_begin_object(w);
    put_pair(w, "name", functions[i].name);
    put_pair(w, "signature", functions[i].signature);
    if (functions[i].description.n > 0) {
      put_pair(w, "description", functions[i].description);
    }
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

static const char *module_at(const lt_host_options *more, size_t i) {
  return more != NULL && more->module_at != NULL ? more->module_at(more->arg, i) : NULL;
}

static bool is_among(const lt_host_options *more, lt_str name) {
  size_t i = 0;
  const char *one = module_at(more, i);
  while (one != NULL && !lt_str_eqc(name, one)) {
    one = module_at(more, ++i);
  }
  return one != NULL;
}

void lt_told_world(lt_json_writer *w, const lt_run_request *world, const lt_host_options *more) {
  put_functions(w, world->functions, world->function_count);
  lt_json_key(w, "modules");
  lt_json_begin_array(w);
  const char *name = module_at(more, 0);
  for (size_t i = 0; name != NULL; name = module_at(more, ++i)) {
    lt_json_put_cstr(w, name);
  }
  for (size_t i = 0; i < world->module_count; i++) {
    if (!is_among(more, world->modules[i].name)) {
      lt_json_put_str(w, world->modules[i].name);
    }
  }
  lt_json_end_array(w);
}

lt_run_request lt_host_world(const lt_host *host) {
  return (lt_run_request){.modules = host->modules,
                          .module_count = host->module_count,
                          .functions = host->functions,
                          .function_count = host->function_count};
}
