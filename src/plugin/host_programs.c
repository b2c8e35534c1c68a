/* Functions and modules of plugins, for programs. */
#include "plugin/host_programs.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "plugin/host_line.h"
#include "plugin/plugin_call.h"

/* --- Calling a function ------------------------------------------------------------------------------------------- */
/* A failure is passed on without secrets. A tool's failure is masked by the door; a function does not pass it. */
static lt_status host_programs_mask_failure(const lt_secrets *secrets, lt_status status, lt_buf *out, lt_err *err) {
  if (status == LT_OK) {
    return LT_OK;
  }
  lt_secrets_mask_buf(secrets, out);
  if (err != NULL && lt_secrets_in(secrets, lt_str_of(lt_err_msg(err)))) {
    LT_AUTO_BUF(text, 2 * LT_ERR_MSG_MAX);
    lt_secrets_mask(secrets, lt_str_of(lt_err_msg(err)), &text);
    lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view_or(&text, LT_STR("***"))));
  }
  return status;
}

static lt_status host_programs_call_function(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                                             lt_err *err) LT_YIELDS {
  const lt_plugin_function *f = arg;
  const lt_secrets *secrets = f->plugin->host->options.secrets;
  if (lt_plugin_is_disabled(f->plugin)) {
    lt_str why = lt_buf_view(&f->plugin->disabled_reason);
    return host_programs_mask_failure(secrets, lt_fail(err, LT_E_CLOSED, "%.*s", LT_STR_ARG(why)), out, err);
  }
  const lt_plugin_call_spec spec = {.kind = LT_CALL_FUNCTION,
                                    .name = f->name,
                                    .fn = f->invoke,
                                    .arg = f->arg,
                                    .in = args,
                                    .caller = options != NULL ? options->caller : NULL,
                                    .options = options,
                                    .timeout_ms = LT_PLUGIN_CALL_MS};
  lt_status status = lt_plugin_call_make(f->plugin, &spec, out, err);
  return host_programs_mask_failure(secrets, status, out, err);
}

/* --- Collecting --------------------------------------------------------------------------------------------------- */
static bool host_programs_has_function(const lt_host *host, lt_str name) {
  for (size_t i = 0; i < host->function_count; i++) {
    if (lt_str_eq(host->functions[i].name, name)) {
      return true;
    }
  }
  return false;
}

static bool host_programs_has_module(const lt_host *host, lt_str name) {
  for (size_t i = 0; i < host->module_count; i++) {
    if (lt_str_eq(host->modules[i].name, name)) {
      return true;
    }
  }
  return false;
}

static void host_programs_warn_left_out(const lt_plugin *plugin, const char *what, lt_str name) {
  char text[2 * LT_PLUGIN_NAME_BYTES];
  int n = snprintf(text, sizeof text, "its %s \"%.*s\" is left out: an earlier plugin has one of that name", what,
                   LT_STR_ARG(name));
  (void)lt_host_line_show(plugin, true, lt_str_from(text, (size_t)n));
}

/* Signatures and descriptions are for a model. */
static void host_programs_mask(const lt_secrets *secrets, lt_arena *arena, lt_str *text) {
  if (!lt_secrets_in(secrets, *text)) {
    return;
  }
  LT_AUTO_BUF(masked, 4 * LT_PLUGIN_LINE_BYTES);
  lt_secrets_mask(secrets, *text, &masked);
  *text = lt_arena_dup_buf(arena, &masked);
}

static void host_programs_add_functions(lt_host *host, const lt_plugin *plugin, lt_registry *r) {
  for (lt_plugin_function *f = r->functions; f != NULL; f = f->next) {
    if (host_programs_has_function(host, f->name)) {
      host_programs_warn_left_out(plugin, "function", f->name);
      continue;
    }
    host_programs_mask(host->options.secrets, &r->arena, &f->signature);
    host_programs_mask(host->options.secrets, &r->arena, &f->description);
    host->functions[host->function_count++] = (lt_run_function){.name = f->name,
                                                                .signature = f->signature,
                                                                .description = f->description,
                                                                .call = host_programs_call_function,
                                                                .arg = f};
  }
}

static void host_programs_add_modules(lt_host *host, const lt_plugin *plugin, const lt_registry *r) {
  for (const lt_plugin_module *m = r->modules; m != NULL; m = m->next) {
    if (host_programs_has_module(host, m->name)) {
      host_programs_warn_left_out(plugin, "module", m->name);
    } else {
      host->modules[host->module_count++] = (lt_run_module){.name = m->name, .source = m->source};
    }
  }
}

lt_status lt_host_programs_collect(lt_host *host, lt_err *err) {
  size_t function_count = 0, module_count = 0;
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = lt_plugin_registered(host->plugins[i]); r != NULL; r = r->next) {
      function_count += r->function_count;
      module_count += r->module_count;
    }
  }
  lt_run_function *functions = lt_mem_zalloc(function_count, sizeof *functions);
  lt_run_module *modules = lt_mem_zalloc(module_count, sizeof *modules);
  if (functions == NULL || modules == NULL) {
    lt_mem_free(functions);
    lt_mem_free(modules);
    return lt_fail(err, LT_E_NOMEM, "no memory for the functions of plugins");
  }
  lt_mem_free(host->functions);
  lt_mem_free(host->modules);
  host->functions = functions;
  host->modules = modules;
  host->function_count = host->module_count = 0;
  for (size_t i = 0; i < host->plugin_count; i++) {
    const lt_plugin *plugin = host->plugins[i];
    for (lt_registry *r = lt_plugin_registered(plugin); r != NULL; r = r->next) {
      host_programs_add_functions(host, plugin, r);
      host_programs_add_modules(host, plugin, r);
    }
  }
  return LT_OK;
}

/* --- The lists ---------------------------------------------------------------------------------------------------- */
const lt_run_module *lt_host_modules(const lt_host *host, size_t *ret_count) {
  *ret_count = host->module_count;
  return host->modules;
}

const lt_run_function *lt_host_functions(const lt_host *host, size_t *ret_count) {
  *ret_count = host->function_count;
  return host->functions;
}

lt_run_request lt_host_programs_defaults(const lt_host *host) {
  return (lt_run_request){.modules = host->modules,
                          .module_count = host->module_count,
                          .functions = host->functions,
                          .function_count = host->function_count};
}
