/* Execution modes of plugins: registered, listed, run, and what only they may ask of the host. */
#include "base/limits.h"
#include "base/mem.h"
#include "plugin/host_impl.h"

/* --- Registering -------------------------------------------------------------------------------------------------- */
static int say(lathe_call *call, lt_str id, const char *problem) {
  lt_err err = LT_ERR_INIT;
  lt_fail(&err, LT_E_INVALID, "the mode \"%.*s\" %s", LT_STR_ARG(id), problem);
  return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
}

static bool is_id(lt_str id) {
  for (size_t i = 0; i < id.n; i++) {
    char c = id.p[i];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
      return false;
    }
  }
  return id.n > 0 && id.n <= LT_PLUGIN_ID_BYTES;
}

/* Modes of whoever opened the host, and what prepare hooks see where a program runs without a prompt. */
static bool is_built_in(const lt_host *host, lt_str id) {
  return lt_str_eqc(id, LT_HOST_RUN_MODE) ||
         (host->options.is_mode_reserved != NULL && host->options.is_mode_reserved(id));
}

static bool has_mode(const lt_registry *r, lt_str id) {
  for (const lt_plugin_mode *mode = r->modes; mode != NULL; mode = mode->next) {
    if (lt_str_eq(mode->is.id, id)) {
      return true;
    }
  }
  return false;
}

/* On the loop, where the list of all is. */
static lt_status check_free(lathe_call *call, void *arg, lt_err *err) {
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

static int check_mode(lathe_call *call, const lt_registry *r, const lathe_mode *mode, lt_str id) LT_YIELDS {
  if (!is_id(id)) {
    return say(call, id, "needs an id of 1 to 64 of a-z, 0-9 and \"-\"");
  }
  if (is_built_in(call->plugin->host, id) || has_mode(r, id)) {
    return say(call, id, "is there already: choose another id");
  }
  if (mode->invoke == NULL) {
    return say(call, id, "has no function \"invoke\"");
  }
  if (r->mode_count >= LT_PLUGIN_MODES_MAX) {
    return say(call, id, "is one too many for a plugin");
  }
  return lt_ask_loop(call, &(lt_ask){.fn = check_free, .arg = &id, .at_once = true});
}

int lt_api_add_mode(lathe_call *call, const lathe_mode *theirs) {
  lathe_mode mode;
  lt_registry *r = lt_registry_of(call, true);
  if (r == NULL) {
    return -1;
  }
  if (!lt_struct_read(&mode, sizeof mode, sizeof mode, theirs)) {
    return lt_call_error(call, LT_STR("a lathe_mode's size has to be sizeof(lathe_mode)"));
  }
  lt_str id = lt_plugin_text(mode.id, LT_PLUGIN_NAME_BYTES);
  lt_str name = lt_plugin_text(mode.name, LT_PLUGIN_NAME_BYTES);
  if (check_mode(call, r, &mode, id) != 0) {
    return -1;
  }
  lt_plugin_mode *entry = lt_arena_zalloc(&r->arena, 1, sizeof *entry);
  id = lt_arena_dup(&r->arena, id);
  name = name.n > 0 ? lt_arena_dup(&r->arena, name) : id;
  if (entry == NULL || id.p == NULL || name.p == NULL) {
    return lt_call_error(call, LT_STR("no memory to register it"));
  }
  *entry =
      (lt_plugin_mode){.is = {.id = id, .name = name, .rounds = mode.rounds}, .invoke = mode.invoke, .arg = mode.arg};
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

static const lt_registry *registered_of(const lt_plugin *plugin) {
  return plugin->why_out.n == 0 ? plugin->tools.registered : NULL;
}

static void insert(lt_host_mode *modes, size_t count, const lt_host_mode *mode) {
  size_t at = count;
  for (; at > 0 && lt_str_cmp(modes[at - 1].id, mode->id) > 0; at--) {
    modes[at] = modes[at - 1];
  }
  modes[at] = *mode;
}

lt_status lt_host_collect_modes(lt_host *host, lt_err *err) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = registered_of(host->plugins[i]); r != NULL; r = r->next) {
      most += r->mode_count;
    }
  }
  lt_host_mode *modes = lt_mem_zalloc(most, sizeof *modes);
  if (modes == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the modes of plugins");
  }
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = registered_of(host->plugins[i]); r != NULL; r = r->next) {
      for (const lt_plugin_mode *mode = r->modes; mode != NULL; mode = mode->next) {
        insert(modes, count++, &mode->is);
      }
    }
  }
  lt_mem_free(host->modes);
  host->modes = modes;
  host->mode_count = count;
  return LT_OK;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static const lt_plugin_mode *find(const lt_host *host, lt_str id, lt_plugin **ret_plugin) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = registered_of(host->plugins[i]); r != NULL; r = r->next) {
      for (const lt_plugin_mode *mode = r->modes; mode != NULL; mode = mode->next) {
        if (lt_str_eq(mode->is.id, id)) {
          *ret_plugin = host->plugins[i];
          return mode;
        }
      }
    }
  }
  return NULL;
}

lt_status lt_host_run_mode(lt_host *host, lt_str id, lt_str in, const lt_mode_world *world, const lt_caller *caller,
                           lt_cancel *cancel, lt_err *err) {
  lt_plugin *plugin;
  lathe_call *call = NULL;
  const lt_plugin_mode *mode = find(host, id, &plugin);
  if (mode == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "the plugin of mode \"%.*s\" is not available any more", LT_STR_ARG(id));
  }
  const lt_invoke_options options = {.cancel = cancel, .caller = caller};
  const lt_call_how how = {.kind = LT_CALL_MODE,
                           .name = mode->is.id,
                           .fn = mode->invoke,
                           .arg = mode->arg,
                           .in = in,
                           .caller = caller,
                           .options = &options,
                           .world = world,
                           .timeout_ms = LT_PLUGIN_CALL_MS};
  LT_TRY(lt_call_new(plugin, &how, &call, err));
  lt_status status = lt_call_run(call, err);
  if (status == LT_OK) {
    lt_buf said; /* what it answers is of no use to a prompt */
    lt_buf_init(&said, LT_JSON_MAX_BYTES);
    status = lt_call_outcome(call, &said, err);
    lt_buf_release(&said);
  }
  lt_call_unref(call);
  return status;
}

/* --- What only modes may ------------------------------------------------------------------------------------------ */
typedef struct asking {
  lt_str messages, tools;
  lt_buf reply;
} asking;

static lt_status check_world(const lathe_call *call, lt_err *err) {
  return call->world != NULL ? LT_OK
                             : lt_fail(err, LT_E_INVALID, "only an execution mode asks the model and puts text out");
}

static lt_status ask(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  asking *a = arg;
  LT_TRY(check_world(call, err));
  LT_TRY(call->world->ask(call->world->arg, a->messages, a->tools, &a->reply, err));
  return a->reply.status == LT_OK ? LT_OK : lt_fail(err, a->reply.status, "the model's reply is too long");
}

static int check_array(lathe_call *call, const char *what, lt_str text) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  if (lt_call_check_json(call, text, &err) == LT_OK && lt_str_starts(lt_str_trim(text), LT_STR("["))) {
    return 0;
  }
  lt_buf why;
  lt_buf_init(&why, 2 * LT_ERR_MSG_MAX);
  lt_buf_printf(&why, "the %s for the model have to be a JSON array%s%s", what, err.status != LT_OK ? ": " : "",
                err.status != LT_OK ? lt_err_msg(&err) : "");
  lt_call_error(call, lt_buf_view(&why));
  lt_buf_release(&why);
  return -1;
}

int lt_api_ask_model(lathe_call *call, lathe_text messages, lathe_text tools, lathe_text *ret_reply) {
  asking a = {.messages = lt_of_text(messages), .tools = lt_of_text(tools)};
  if (check_array(call, "messages", a.messages) != 0 || (a.tools.n > 0 && check_array(call, "tools", a.tools) != 0)) {
    return -1;
  }
  lt_buf_init(&a.reply, LT_JSON_MAX_BYTES);
  int rc = lt_ask_loop(call, &(lt_ask){.fn = ask, .arg = &a, .borrows = true});
  if (rc == 0 && !lt_call_keep(call, lt_buf_view(&a.reply), ret_reply)) {
    rc = -1;
  }
  lt_buf_release(&a.reply);
  return rc;
}

static lt_status put(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const lt_str *text = arg;
  LT_TRY(check_world(call, err));
  return call->world->text(call->world->arg, *text, err);
}

int lt_api_put_text(lathe_call *call, lathe_text text) {
  lt_str said = lt_of_text(text);
  return lt_ask_loop(call, &(lt_ask){.fn = put, .arg = &said, .borrows = true});
}
