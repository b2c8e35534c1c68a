/* A prompt's preparation: every plugin's prepare hook, and the tools and context items that result. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/lane.h"
#include "json/json.h"
#include "plugin/hook_input.h"
#include "plugin/host_line.h"
#include "plugin/host_programs.h"
#include "plugin/plugin_hook.h"

/* The tools that one plugin has added for one prompt. */
typedef struct prompt_tools {
  struct prompt_tools *next;
  lt_plugin_tools tools;
} prompt_tools;

typedef struct prompt_preparation {
  lt_plugin_prompt prompt; /* the caller's `prompt` points here */
  lt_arena arena;
  lt_str user;
  lt_str mode;
  bool for_programs; /* the catalog has only tools for programs */
  lt_buf context;
  lt_json_writer writer; /* used by the context */
  prompt_tools *added, **last;
  size_t added_count;
  lt_catalog *catalog; /* the state before anything was added */
  struct replaced_catalog *replaced;
} prompt_preparation;

/* A catalog that calls under way may still use. */
typedef struct replaced_catalog {
  struct replaced_catalog *next;
  lt_catalog *catalog;
} replaced_catalog;

/* --- The catalog -------------------------------------------------------------------------------------------------- */
/* Takes the catalog. Where all calls come from programs, returns the catalog for programs instead. */
static lt_status host_prepare_narrow(bool for_programs, lt_catalog **catalog, lt_err *err) {
  if (!for_programs) {
    return LT_OK;
  }
  lt_catalog *all = *catalog;
  *catalog = NULL;
  lt_status status = lt_catalog_for_programs(all, catalog, err);
  lt_catalog_unref(all);
  return status;
}

static lt_status host_prepare_take_catalog(const lt_host *host, bool for_programs, lt_catalog **ret_catalog,
                                           lt_err *err) {
  LT_TRY(lt_door_catalog(host->options.door, ret_catalog, err));
  return host_prepare_narrow(for_programs, ret_catalog, err);
}

/* --- Preparing and releasing -------------------------------------------------------------------------------------- */
static void prompt_preparation_free(prompt_preparation *p) {
  while (p->added != NULL) {
    prompt_tools *tools = p->added;
    p->added = tools->next;
    lt_registry_free(tools->tools.registered);
    lt_mem_free(tools);
  }
  for (const replaced_catalog *it = p->replaced; it != NULL; it = it->next) {
    lt_catalog_unref(it->catalog);
  }
  lt_catalog_unref(p->catalog);
  lt_buf_release(&p->context);
  lt_arena_release(&p->arena);
  lt_mem_free(p);
}

static bool prompt_preparation_copy(lt_arena *arena, lt_str text, lt_str *ret) {
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static lt_status prompt_preparation_new(lt_host *host, lt_str mode, bool for_programs, lt_str conversation,
                                        const lt_run_request *defaults, const lt_caller *caller,
                                        prompt_preparation **ret, lt_err *err) {
  prompt_preparation *p = lt_mem_zalloc(1, sizeof *p);
  if (p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to prepare the prompt");
  }
  p->last = &p->added;
  p->for_programs = for_programs;
  lt_arena_init(&p->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&p->context, LT_JSON_MAX_BYTES);
  p->writer = lt_json_writer_on(&p->context);
  lt_json_begin_array(&p->writer);
  p->prompt.defaults = defaults != NULL ? *defaults : lt_host_programs_defaults(host);
  bool is_copied = prompt_preparation_copy(&p->arena, caller->user, &p->user) &&
                   prompt_preparation_copy(&p->arena, mode, &p->mode) &&
                   prompt_preparation_copy(&p->arena, conversation, &p->prompt.conversation);
  lt_status status = is_copied ? host_prepare_take_catalog(host, for_programs, &p->catalog, err)
                               : lt_fail(err, LT_E_NOMEM, "no memory to prepare the prompt");
  if (status != LT_OK) {
    prompt_preparation_free(p);
    return status;
  }
  *ret = p;
  return LT_OK;
}

/* --- A hook's input ----------------------------------------------------------------------------------------------- */
static void host_prepare_put_tools(lt_json_writer *w, const prompt_preparation *p, const lt_caller *caller) {
  lt_json_key(w, "tools");
  lt_json_begin_array(w);
  lt_hook_input_put_tools(w, p->catalog, caller->hidden);
  for (const prompt_tools *added = p->added; added != NULL; added = added->next) {
    for (const lt_plugin_tool *tool = added->tools.registered->tools; tool != NULL; tool = tool->next) {
      LT_AUTO_BUF(id, 2 * LT_PLUGIN_NAME_BYTES);
      lt_plugin_tools_put_id(added->tools.plugin, tool->spec.name, &id);
      lt_json_put_str(w, lt_buf_view(&id));
    }
  }
  lt_json_end_array(w);
}

static void host_prepare_put_input(lt_buf *in, const prompt_preparation *p, const lt_caller *caller) {
  lt_json_writer w = lt_json_writer_on(in);
  lt_json_begin_object(&w);
  lt_json_key(&w, "mode");
  lt_json_put_str(&w, p->mode);
  host_prepare_put_tools(&w, p, caller);
  lt_hook_input_put_programs(&w, &p->prompt.defaults, NULL);
  lt_json_end_object(&w);
}

/* --- One plugin --------------------------------------------------------------------------------------------------- */
/* Context items are for a model: they have no secrets. An item that masking has broken is left out. */
static void host_prepare_put_item(prompt_preparation *p, const lt_secrets *secrets, lt_str json) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  lt_secrets_mask_json(secrets, json, &masked);
  if (masked.status != LT_OK) {
    p->context.status = masked.status;
  } else if (lt_json_parse(&arena, lt_buf_view(&masked), &doc, NULL) == LT_OK &&
             lt_json_typeof(lt_json_root(&doc)) == LT_JSON_OBJECT) {
    lt_json_put_raw(&p->writer, lt_str_trim(lt_buf_view(&masked)));
  }
}

static void host_prepare_put_items(prompt_preparation *p, const lt_plugin *plugin, const lt_registry *list) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_item *item = r->items; item != NULL; item = item->next) {
      host_prepare_put_item(p, plugin->host->options.secrets, item->json);
    }
  }
}

/* Owns: the registry. */
static lt_status host_prepare_add_tools(prompt_preparation *p, lt_plugin *plugin, lt_registry *registered,
                                        lt_err *err) {
  if (registered->tools == NULL) {
    lt_registry_free(registered);
    return LT_OK;
  }
  prompt_tools *added = lt_mem_zalloc(1, sizeof *added);
  if (added == NULL) {
    lt_registry_free(registered);
    return lt_fail(err, LT_E_NOMEM, "no memory for its tools");
  }
  lt_plugin_tools_init(&added->tools, plugin, true);
  added->tools.registered = registered;
  *p->last = added;
  p->last = &added->next;
  p->added_count++;
  return LT_OK;
}

/* A plugin that hangs in an abandoned call is skipped: it would cost each prompt the whole time limit. */
static lt_status host_prepare_check_not_stuck(prompt_preparation *p, lt_plugin *plugin, lt_err *err) {
  lt_plugin_thread_activity activity;
  if (lt_plugin_on_loop(plugin) || !lt_plugin_thread_busy(plugin, &p->arena, &activity) || !activity.is_abandoned) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_TIMEOUT, "it is busy with \"%.*s\" and has not come back", LT_STR_ARG(activity.name));
}

static lt_status host_prepare_plugin(prompt_preparation *p, lt_plugin *plugin, const lt_caller *caller,
                                     lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  LT_AUTO_BUF(in, LT_JSON_MAX_BYTES);
  LT_TRY(host_prepare_check_not_stuck(p, plugin, err));
  host_prepare_put_input(&in, p, caller);
  LT_TRY(lt_buf_check(&in, err, "no memory for the hook's input"));
  lt_plugin_hook hook = {
      .kind = LT_CALL_PREPARE, .in = lt_buf_view(&in), .caller = caller, .timeout_ms = LT_PLUGIN_SETUP_MS};
  bool has_gone = lt_lane_go_home(plugin->host->options.loop);
  lt_status status = lt_plugin_hook_run(plugin, &hook, &registered, err);
  lt_lane_go_back(plugin->host->options.loop, has_gone);
  LT_TRY(status);
  host_prepare_put_items(p, plugin, registered);
  return host_prepare_add_tools(p, plugin, registered, err);
}

/* A plugin that fails in the same way before each prompt causes one warning. */
static void host_prepare_warn(lt_plugin *plugin, const lt_err *err) {
  uint64_t hash = lt_str_hash(lt_str_of(lt_err_msg(err)));
  if (hash == plugin->last_warning_hash) {
    return;
  }
  plugin->last_warning_hash = hash;
  char text[LT_ERR_MSG_MAX + 64];
  int n = snprintf(text, sizeof text, "it could not prepare the prompt: %s", lt_err_msg(err));
  (void)lt_host_line_show(plugin, true, lt_str_from(text, (size_t)n));
}

static void host_prepare_plugins(lt_host *host, prompt_preparation *p, const lt_caller *caller) LT_YIELDS {
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[i];
    LT_ERR_VAR(err);
    if (lt_plugin_is_disabled(plugin)) {
      continue;
    }
    host_prepare_put_items(p, plugin, plugin->tools.registered);
    if (plugin->definition.prepare != NULL && host_prepare_plugin(p, plugin, caller, &err) != LT_OK) {
      host_prepare_warn(plugin, &err);
    }
  }
  lt_json_end_array(&p->writer);
}

/* --- The prompt --------------------------------------------------------------------------------------------------- */
static lt_status host_prepare_fill_sources(const prompt_preparation *p, lt_catalog_source *sources,
                                           lt_tool_spec **specs) {
  size_t i = 0;
  for (prompt_tools *added = p->added; added != NULL; added = added->next, i++) {
    size_t count;
    specs[i] = lt_plugin_tools_specs(&added->tools, &count);
    if (specs[i] == NULL) {
      return LT_E_NOMEM;
    }
    sources[i] = (lt_catalog_source){
        .ns = added->tools.base.name, .provider = &added->tools.base, .tools = specs[i], .count = count};
  }
  return LT_OK;
}

/* The added tools, and the caller's: `own` may be NULL, `of_user` may have none. */
static lt_status host_prepare_add_sources(const lt_host *host, const prompt_preparation *p,
                                          const lt_catalog_source *own, const lt_catalog_source *of_user,
                                          lt_catalog **ret_catalog, lt_err *err) {
  size_t count = p->added_count;
  lt_catalog_source *sources = lt_mem_zalloc(count + 2, sizeof *sources);
  lt_tool_spec **specs = lt_mem_zalloc(count + 1, sizeof(lt_tool_spec *));
  lt_status status = sources != NULL && specs != NULL ? host_prepare_fill_sources(p, sources, specs) : LT_E_NOMEM;
  if (status == LT_OK) {
    if (own != NULL) {
      sources[count++] = *own;
    }
    if (of_user->count > 0) {
      sources[count++] = *of_user;
    }
    status = lt_door_catalog_with(host->options.door, sources, count, ret_catalog, err);
  } else {
    lt_fail(err, status, "no memory for the prompt's tools");
  }
  for (size_t i = 0; specs != NULL && i < p->added_count; i++) {
    lt_mem_free(specs[i]);
  }
  lt_mem_free(specs);
  lt_mem_free(sources);
  return status;
}

static lt_status host_prepare_find_user_tools(const lt_host *host, lt_str user, lt_arena *arena,
                                              lt_catalog_source *ret_source, lt_err *err) LT_YIELDS {
  const lt_host_options *o = &host->options;
  *ret_source = (lt_catalog_source){0};
  return o->user_tools != NULL ? o->user_tools(o->arg, user, arena, ret_source, err) : LT_OK;
}

/* Takes the catalog from the door again, because its tools may have changed meanwhile. */
static lt_status host_prepare_make_catalog(lt_host *host, const prompt_preparation *p, const lt_caller *caller,
                                           lt_catalog **ret_catalog, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_catalog_source of_user;
  LT_TRY(host_prepare_find_user_tools(host, caller->user, &arena, &of_user, err));
  if (p->added_count == 0 && caller->own_tools == NULL && of_user.count == 0) {
    return host_prepare_take_catalog(host, p->for_programs, ret_catalog, err);
  }
  LT_TRY(host_prepare_add_sources(host, p, caller->own_tools, &of_user, ret_catalog, err));
  return host_prepare_narrow(p->for_programs, ret_catalog, err);
}

lt_status lt_host_catalog_of_user(lt_host *host, lt_str user, lt_catalog **ret_catalog, lt_err *err) {
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_catalog_source of_user;
  LT_TRY(host_prepare_find_user_tools(host, user, &arena, &of_user, err));
  return of_user.count > 0 ? lt_door_catalog_with(host->options.door, &of_user, 1, ret_catalog, err)
                           : lt_door_catalog(host->options.door, ret_catalog, err);
}

lt_status lt_host_prepare_again(lt_host *host, lt_caller *caller, lt_prepared_prompt *prepared, lt_err *err) {
  prompt_preparation *p = prepared->owned;
  lt_catalog *catalog = NULL;
  replaced_catalog *replaced = lt_arena_zalloc(&p->arena, 1, sizeof *replaced);
  if (replaced == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the prompt's tools");
  }
  LT_TRY(host_prepare_make_catalog(host, p, caller, &catalog, err));
  *replaced = (replaced_catalog){.next = p->replaced, .catalog = prepared->catalog};
  p->replaced = replaced;
  prepared->catalog = caller->catalog = catalog;
  return LT_OK;
}

lt_status lt_host_prepare(lt_host *host, lt_str mode, bool for_programs, lt_str conversation,
                          const lt_run_request *defaults, lt_caller *caller, lt_prepared_prompt *ret_prepared,
                          lt_err *err) {
  prompt_preparation *p = NULL;
  lt_catalog *catalog = NULL;
  void *prompt_before = caller->prompt;
  LT_TRY(prompt_preparation_new(host, mode, for_programs, conversation, defaults, caller, &p, err));
  caller->prompt = &p->prompt;
  host_prepare_plugins(host, p, caller);
  lt_status status = lt_buf_check(&p->context, err, "the plugins' context is too long");
  if (status == LT_OK) {
    status = host_prepare_make_catalog(host, p, caller, &catalog, err);
  }
  if (status != LT_OK) {
    caller->prompt = prompt_before;
    prompt_preparation_free(p);
    return status;
  }
  caller->catalog = catalog;
  *ret_prepared = (lt_prepared_prompt){.user = p->user,
                                       .conversation = p->prompt.conversation,
                                       .catalog = catalog,
                                       .context = p->context,
                                       .defaults = p->prompt.defaults,
                                       .owned = p};
  lt_buf_init(&p->context, 0); /* the buffer has been handed over */
  return LT_OK;
}

void lt_host_prepared_release(lt_prepared_prompt *prepared) {
  if (prepared->owned != NULL) {
    lt_catalog_unref(prepared->catalog);
    lt_buf_release(&prepared->context);
    prompt_preparation_free(prepared->owned);
    *prepared = (lt_prepared_prompt){.owned = NULL};
  }
}
