/* Prompts: every plugin's prepare, and what comes of it. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/hook.h"

/* The tools that one plugin has added for one prompt. */
typedef struct added {
  struct added *next;
  lt_plugin_tools tools;
} added;

typedef struct owned {
  lt_prompt prompt; /* first: the caller's `prompt` points here */
  lt_arena arena;
  lt_str user;
  lt_str mode;
  bool for_programs; /* there are no tools but those for programs */
  lt_buf context;
  lt_json_writer writer; /* on the context */
  added *added, **last;
  size_t added_count;
  lt_catalog *catalog; /* the door's, before anything was added */
} owned;

/* --- The tools there are ------------------------------------------------------------------------------------------ */
/* Takes the catalog, and gives the one that this mode has. */
static lt_status narrow(bool for_programs, lt_catalog **catalog, lt_err *err) {
  if (!for_programs) {
    return LT_OK;
  }
  lt_catalog *all = *catalog;
  *catalog = NULL;
  lt_status status = lt_catalog_for_programs(all, catalog, err);
  lt_catalog_unref(all);
  return status;
}

static lt_status take_catalog(const lt_host *host, bool for_programs, lt_catalog **ret_catalog, lt_err *err) {
  LT_TRY(lt_door_catalog(host->options.door, ret_catalog, err));
  return narrow(for_programs, ret_catalog, err);
}

/* --- What is owned ------------------------------------------------------------------------------------------------ */
static void owned_free(owned *o) {
  while (o->added != NULL) {
    added *a = o->added;
    o->added = a->next;
    lt_registry_free(a->tools.registered);
    lt_mem_free(a);
  }
  lt_catalog_unref(o->catalog);
  lt_buf_release(&o->context);
  lt_arena_release(&o->arena);
  lt_mem_free(o);
}

static bool keep(lt_arena *arena, lt_str text, lt_str *ret) {
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static lt_status owned_new(lt_host *host, lt_str mode, bool for_programs, lt_str conversation,
                           const lt_run_request *defaults, const lt_caller *caller, owned **ret, lt_err *err) {
  owned *o = lt_mem_zalloc(1, sizeof *o);
  if (o == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to prepare the prompt");
  }
  o->last = &o->added;
  o->for_programs = for_programs;
  lt_arena_init(&o->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&o->context, LT_JSON_MAX_BYTES);
  o->writer = lt_json_writer_on(&o->context);
  lt_json_begin_array(&o->writer);
  o->prompt.defaults = defaults != NULL ? *defaults : lt_host_world(host);
  lt_status status = keep(&o->arena, caller->user, &o->user) && keep(&o->arena, mode, &o->mode) &&
                             keep(&o->arena, conversation, &o->prompt.conversation)
                         ? take_catalog(host, for_programs, &o->catalog, err)
                         : lt_fail(err, LT_E_NOMEM, "no memory to prepare the prompt");
  if (status != LT_OK) {
    owned_free(o);
    return status;
  }
  *ret = o;
  return LT_OK;
}

/* --- What a plugin is told ---------------------------------------------------------------------------------------- */
static void put_ids(lt_json_writer *w, const owned *o, const lt_caller *caller) {
  lt_json_key(w, "tools");
  lt_json_begin_array(w);
  lt_told_tools(w, o->catalog, caller->hidden);
  for (const added *a = o->added; a != NULL; a = a->next) {
    for (const lt_plugin_tool *tool = a->tools.registered->tools; tool != NULL; tool = tool->next) {
      lt_buf id;
      lt_buf_init(&id, 2 * LT_PLUGIN_NAME_BYTES);
      lt_plugin_tool_id(a->tools.plugin, tool->spec.name, &id);
      lt_json_put_str(w, lt_buf_view(&id));
      lt_buf_release(&id);
    }
  }
  lt_json_end_array(w);
}

static void put_in(lt_buf *in, const owned *o, const lt_caller *caller) {
  lt_json_writer w = lt_json_writer_on(in);
  lt_json_begin_object(&w);
  lt_json_key(&w, "mode");
  lt_json_put_str(&w, o->mode);
  put_ids(&w, o, caller);
  lt_told_world(&w, &o->prompt.defaults, NULL);
  lt_json_end_object(&w);
}

/* --- One plugin --------------------------------------------------------------------------------------------------- */
/* A model reads it: without secrets. What cannot be read without them is left out. */
static void put_item(owned *o, const lt_secrets *secrets, lt_str json) {
  lt_buf masked;
  lt_buf_init(&masked, LT_JSON_MAX_BYTES);
  lt_secrets_mask_json(secrets, json, &masked);
  lt_str text = lt_str_trim(lt_buf_view(&masked));
  if (masked.status != LT_OK) {
    o->context.status = masked.status;
  } else if (text.p[0] == '{') {
    lt_json_put_raw(&o->writer, text);
  }
  lt_buf_release(&masked);
}

static void put_items(owned *o, const lt_plugin *plugin, const lt_registry *list) {
  for (const lt_registry *r = list; r != NULL; r = r->next) {
    for (const lt_plugin_item *item = r->items; item != NULL; item = item->next) {
      put_item(o, plugin->host->options.secrets, item->json);
    }
  }
}

/* Takes the registry. */
static lt_status add_tools(owned *o, lt_plugin *plugin, lt_registry *registered, lt_err *err) {
  added *a = registered->tools != NULL ? lt_mem_zalloc(1, sizeof *a) : NULL;
  if (a == NULL) {
    bool none = registered->tools == NULL;
    lt_registry_free(registered);
    return none ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for its tools");
  }
  lt_plugin_tools_init(&a->tools, plugin, true);
  a->tools.registered = registered;
  *o->last = a;
  o->last = &a->next;
  o->added_count++;
  return LT_OK;
}

/* A plugin that hangs in a call nobody waits for any more would only cost each prompt its time. */
static lt_status check_not_stuck(owned *o, lt_plugin *plugin, lt_err *err) {
  lt_str name;
  uint64_t since_ms;
  bool unwanted;
  if (lt_plugin_on_loop(plugin) || !lt_thread_busy(plugin, &o->arena, &name, &since_ms, &unwanted) || !unwanted) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_TIMEOUT, "it is busy with \"%.*s\" and has not come back", LT_STR_ARG(name));
}

static lt_status prepare_one(owned *o, lt_plugin *plugin, const lt_caller *caller, lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  LT_TRY(check_not_stuck(o, plugin, err));
  lt_buf in;
  lt_buf_init(&in, LT_JSON_MAX_BYTES);
  put_in(&in, o, caller);
  lt_status status = in.status == LT_OK ? LT_OK : lt_fail(err, in.status, "no memory for what it is told");
  if (status == LT_OK) {
    lt_hook hook = {
        .kind = LT_CALL_PREPARE, .in = lt_buf_view(&in), .caller = caller, .timeout_ms = LT_PLUGIN_SETUP_MS};
    status = lt_host_hook(plugin, &hook, &registered, err);
  }
  lt_buf_release(&in);
  if (status != LT_OK) {
    return status;
  }
  put_items(o, plugin, registered);
  return add_tools(o, plugin, registered, err);
}

/* The same failure before each prompt is told once. */
static void warn(lt_host *host, lt_plugin *plugin, const lt_err *err) {
  uint64_t hash = lt_str_hash(lt_str_of(lt_err_msg(err)));
  if (hash == plugin->last_warning) {
    return;
  }
  plugin->last_warning = hash;
  char text[LT_ERR_MSG_MAX + 64];
  int n = snprintf(text, sizeof text, "it could not prepare the prompt: %s", lt_err_msg(err));
  lt_host_warn(host, plugin, lt_str_from(text, (size_t)n));
}

static void prepare_all(lt_host *host, owned *o, const lt_caller *caller) LT_YIELDS {
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[i];
    lt_err err = LT_ERR_INIT;
    if (plugin->why_out.n > 0) {
      continue;
    }
    put_items(o, plugin, plugin->tools.registered);
    if (plugin->is.prepare != NULL && prepare_one(o, plugin, caller, &err) != LT_OK) {
      warn(host, plugin, &err);
    }
  }
  lt_json_end_array(&o->writer);
}

/* --- The prompt --------------------------------------------------------------------------------------------------- */
static lt_status fill_sources(const owned *o, lt_catalog_source *sources, lt_tool_spec **specs) {
  size_t i = 0;
  for (added *a = o->added; a != NULL; a = a->next, i++) {
    size_t count;
    specs[i] = lt_plugin_tools_specs(&a->tools, &count);
    if (specs[i] == NULL) {
      return LT_E_NOMEM;
    }
    sources[i] =
        (lt_catalog_source){.ns = a->tools.base.name, .provider = &a->tools.base, .tools = specs[i], .count = count};
  }
  return LT_OK;
}

static lt_status make_catalog(lt_host *host, owned *o, lt_catalog **ret_catalog, lt_err *err) {
  if (o->added_count == 0) {
    return take_catalog(host, o->for_programs, ret_catalog, err); /* anew: it may have changed meanwhile */
  }
  lt_catalog_source *sources = lt_mem_zalloc(o->added_count, sizeof *sources);
  lt_tool_spec **specs = lt_mem_zalloc(o->added_count, sizeof(lt_tool_spec *));
  lt_status status = sources != NULL && specs != NULL ? fill_sources(o, sources, specs) : LT_E_NOMEM;
  if (status == LT_OK) {
    status = lt_door_catalog_with(host->options.door, sources, o->added_count, ret_catalog, err);
    status = status == LT_OK ? narrow(o->for_programs, ret_catalog, err) : status;
  } else {
    lt_fail(err, status, "no memory for the prompt's tools");
  }
  for (size_t i = 0; specs != NULL && i < o->added_count; i++) {
    lt_mem_free(specs[i]);
  }
  lt_mem_free(specs);
  lt_mem_free(sources);
  return status;
}

lt_status lt_host_prepare(lt_host *host, lt_str mode, bool for_programs, lt_str conversation,
                          const lt_run_request *defaults, lt_caller *caller, lt_prepared *ret_prepared, lt_err *err) {
  owned *o = NULL;
  lt_catalog *catalog = NULL;
  void *before = caller->prompt;
  LT_TRY(owned_new(host, mode, for_programs, conversation, defaults, caller, &o, err));
  caller->prompt = &o->prompt;
  prepare_all(host, o, caller);
  lt_status status = o->context.status == LT_OK ? make_catalog(host, o, &catalog, err)
                                                : lt_fail(err, o->context.status, "the plugins' context is too long");
  if (status != LT_OK) {
    caller->prompt = before;
    owned_free(o);
    return status;
  }
  caller->catalog = catalog;
  *ret_prepared = (lt_prepared){.user = o->user,
                                .conversation = o->prompt.conversation,
                                .catalog = catalog,
                                .context = o->context,
                                .defaults = o->prompt.defaults,
                                .owned = o};
  lt_buf_init(&o->context, 0);
  return LT_OK;
}

void lt_host_prepared_release(lt_host *host, lt_prepared *prepared) {
  (void)host;
  if (prepared->owned != NULL) {
    lt_catalog_unref(prepared->catalog);
    lt_buf_release(&prepared->context);
    owned_free(prepared->owned);
    *prepared = (lt_prepared){.owned = NULL};
  }
}
