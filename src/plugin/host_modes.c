/* Execution modes of plugins: registration, list, running, and host functions for modes only. */
#include "plugin/host_modes.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"
#include "plugin/plugin_json.h"
#include "plugin/plugin_request.h"
#include "plugin/registration.h"

/* --- Registering -------------------------------------------------------------------------------------------------- */
/* The modes that exist without plugins, and the mode that prepare hooks see when a program runs without a prompt. */
static bool host_modes_is_reserved(const lt_host *host, lt_str id) {
  return lt_str_eqc(id, LT_HOST_RUN_MODE) ||
         (host->options.is_mode_reserved != NULL && host->options.is_mode_reserved(id));
}

/* On the loop, which owns the list of all modes. */
static lt_status host_modes_check_free(lathe_call *call, void *arg, lt_err *err) {
  const lt_str *id = arg;
  size_t count;
  const lt_host_mode *modes = lt_host_modes(call->plugin->host, &count);
  for (size_t i = 0; i < count; i++) {
    if (lt_str_eq(modes[i].id, *id)) {
      return lt_fail(err, LT_E_INVALID, "the mode \"%.*s\" is there already: choose another id", LT_STR_ARG(*id));
    }
  }
  return LT_OK;
}

static int host_modes_check(lathe_call *call, const lt_registry *r, const lathe_mode *mode, lt_str id) LT_YIELDS {
  if (!lt_abi_is_id(id)) {
    return lt_registration_refuse(call, "mode", id, "needs an id of 1 to 64 of a-z, 0-9 and \"-\"");
  }
  if (host_modes_is_reserved(call->plugin->host, id) || lt_registry_find_mode(r, id) != NULL) {
    return lt_registration_refuse(call, "mode", id, "is there already: choose another id");
  }
  if (mode->invoke == NULL) {
    return lt_registration_refuse(call, "mode", id, "has no function \"invoke\"");
  }
  if (r->mode_count >= LT_PLUGIN_MODES_MAX) {
    return lt_registration_refuse(call, "mode", id, "is one too many for a plugin");
  }
  return lt_plugin_request_run(call, &(lt_plugin_request){.fn = host_modes_check_free, .arg = &id, .at_once = true});
}

int lt_host_modes_add(lathe_call *call, const lathe_mode *given) {
  lathe_mode mode;
  lt_registry *r = lt_registration_begin(call, true);
  if (r == NULL) {
    return -1;
  }
  if (!lt_abi_read_struct(&mode, sizeof mode, sizeof mode, given)) {
    return lt_plugin_call_set_error(call, LT_STR("a lathe_mode's size has to be sizeof(lathe_mode)"));
  }
  lt_str id = lt_abi_view_text(mode.id, LT_PLUGIN_NAME_BYTES);
  lt_str name = lt_abi_view_text(mode.name, LT_PLUGIN_NAME_BYTES);
  if (host_modes_check(call, r, &mode, id) != 0) {
    return -1;
  }
  lt_plugin_mode *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  id = lt_arena_dup(&r->arena, id);
  name = name.n > 0 ? lt_arena_dup(&r->arena, name) : id;
  if (entry == NULL || id.p == NULL || name.p == NULL) {
    return lt_registration_no_memory(call);
  }
  *entry =
      (lt_plugin_mode){.mode = {.id = id, .name = name, .rounds = mode.rounds}, .invoke = mode.invoke, .arg = mode.arg};
  *r->last_mode = entry;
  r->last_mode = &entry->next;
  r->mode_count++;
  return 0;
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */
const lt_host_mode *lt_host_modes(const lt_host *host, size_t *ret_count) {
  *ret_count = host->mode_count;
  return host->modes;
}

static void host_modes_insert(lt_host_mode *modes, size_t count, const lt_host_mode *mode) {
  size_t at = count;
  for (; at > 0 && lt_str_cmp(modes[at - 1].id, mode->id) > 0; at--) {
    modes[at] = modes[at - 1];
  }
  modes[at] = *mode;
}

lt_status lt_host_modes_collect(lt_host *host, lt_err *err) {
  size_t max = 0, count = 0;
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = lt_plugin_registered(host->plugins[i]); r != NULL; r = r->next) {
      max += r->mode_count;
    }
  }
  lt_host_mode *modes = lt_mem_zalloc(max, sizeof *modes);
  if (modes == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the modes of plugins");
  }
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = lt_plugin_registered(host->plugins[i]); r != NULL; r = r->next) {
      for (const lt_plugin_mode *mode = r->modes; mode != NULL; mode = mode->next) {
        host_modes_insert(modes, count++, &mode->mode);
      }
    }
  }
  lt_mem_free(host->modes);
  host->modes = modes;
  host->mode_count = count;
  return LT_OK;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static const lt_plugin_mode *host_modes_find(const lt_host *host, lt_str id, lt_plugin **ret_plugin) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    const lt_plugin_mode *mode = lt_registry_find_mode(lt_plugin_registered(host->plugins[i]), id);
    if (mode != NULL) {
      *ret_plugin = host->plugins[i];
      return mode;
    }
  }
  return NULL;
}

lt_status lt_host_run_mode(lt_host *host, lt_str id, lt_str in, const lt_mode_actions *actions, const lt_caller *caller,
                           lt_cancel *cancel, lt_err *err) {
  lt_plugin *plugin;
  const lt_plugin_mode *mode = host_modes_find(host, id, &plugin);
  if (mode == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "the plugin of mode \"%.*s\" is not available any more", LT_STR_ARG(id));
  }
  const lt_invoke_options options = {.cancel = cancel, .caller = caller};
  const lt_plugin_call_spec spec = {.kind = LT_CALL_MODE,
                                    .name = mode->mode.id,
                                    .fn = mode->invoke,
                                    .arg = mode->arg,
                                    .in = in,
                                    .caller = caller,
                                    .options = &options,
                                    .mode_actions = actions,
                                    .timeout_ms = LT_PLUGIN_CALL_MS};
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES); /* not used: a mode's answer is no part of the prompt */
  return lt_plugin_call_make(plugin, &spec, &answer, err);
}

/* --- Functions for modes only ------------------------------------------------------------------------------------- */
static lt_status host_modes_check_is_mode(const lathe_call *call, lt_err *err) {
  return call->mode_actions != NULL
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "only an execution mode asks the model and puts text out");
}

typedef struct mode_model_request {
  lt_str messages, tools;
  lt_buf reply;
} mode_model_request;

static lt_status host_modes_ask(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  mode_model_request *r = arg;
  LT_TRY(host_modes_check_is_mode(call, err));
  LT_TRY(call->mode_actions->ask_model(call->mode_actions->arg, r->messages, r->tools, &r->reply, err));
  return lt_buf_check(&r->reply, err, "the model's reply is too long");
}

static int host_modes_check_array(lathe_call *call, const char *what, lt_str text) LT_YIELDS {
  LT_ERR_VAR(err);
  if (lt_plugin_json_check(call, text, &err) != LT_OK) {
    lt_err_prefix(&err, "the %s for the model have to be a JSON array", what);
    return lt_plugin_call_set_err(call, &err);
  }
  if (lt_str_trim(text).p[0] != '[') { /* the JSON is valid, so this byte tells its type */
    lt_fail(&err, LT_E_INVALID, "the %s for the model have to be a JSON array", what);
    return lt_plugin_call_set_err(call, &err);
  }
  return 0;
}

int lt_host_modes_ask_model(lathe_call *call, lathe_text messages, lathe_text tools, lathe_text *ret_reply) {
  mode_model_request r = {.messages = lt_abi_to_str(messages), .tools = lt_abi_to_str(tools)};
  if (host_modes_check_array(call, "messages", r.messages) != 0 ||
      (r.tools.n > 0 && host_modes_check_array(call, "tools", r.tools) != 0)) {
    return -1;
  }
  lt_buf_init(&r.reply, LT_JSON_MAX_BYTES);
  int rc = lt_plugin_request_run(call, &(lt_plugin_request){.fn = host_modes_ask, .arg = &r, .borrows = true});
  rc = lt_plugin_call_return_text(call, rc, &r.reply, ret_reply);
  lt_buf_release(&r.reply);
  return rc;
}

static lt_status host_modes_put(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const lt_str *text = arg;
  LT_TRY(host_modes_check_is_mode(call, err));
  return call->mode_actions->put_text(call->mode_actions->arg, *text, err);
}

int lt_host_modes_put_text(lathe_call *call, lathe_text text) {
  lt_str str = lt_abi_to_str(text);
  return lt_plugin_request_run(call, &(lt_plugin_request){.fn = host_modes_put, .arg = &str, .borrows = true});
}
