#include "embed/embed_tools.h"

#include "app/plugins.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_agent.h"
#include "embed/embed_calls.h"
#include "embed/embed_error.h"
#include "embed/embed_prompt.h"

/* A tool; its texts are behind it. */
typedef struct embed_tool {
  struct embed_tool *next;
  lt_tool_spec spec;
} embed_tool;

/* A namespace, which stays until the environment closes: programs may still know tools that were removed. */
typedef struct lt_embed_provider {
  lt_provider base; /* first */
  struct lt_embed_provider *next;
  lathe_env *env;
  embed_tool *tools;
  size_t count;
  char ns[];
} lt_embed_provider;

/* --- Names -------------------------------------------------------------------------------------------------------- */
typedef struct embed_name {
  lt_str ns, name;
} embed_name;

static lt_status embed_tools_read_name(const char *text, embed_name *ret, lt_err *err) {
  LT_TRY(lt_embed_error_check_text(text, "name of the tool", err));
  lt_str id = lt_str_of(text);
  size_t dot = lt_str_find(id, LT_STR("."), 0);
  ret->ns = dot != SIZE_MAX ? lt_str_sub(id, 0, dot) : LT_STR("");
  ret->name = lt_str_sub(id, dot != SIZE_MAX ? dot + 1 : 0, id.n);
  if (id.n > LT_PLUGIN_NAME_BYTES || dot == 0 || ret->name.n == 0) {
    return lt_fail(err, LT_E_INVALID,
                   "the name of a tool is NAME or NAMESPACE.NAME, in at most %d bytes, not \"%.80s\"",
                   LT_PLUGIN_NAME_BYTES, text);
  }
  if (lt_plugins_has_namespace(ret->ns)) {
    return lt_fail(err, LT_E_INVALID, "the namespace of \"%.80s\" is that of a built-in plugin: take another one",
                   text);
  }
  return LT_OK;
}

static lt_embed_provider *embed_tools_find_provider(const lathe_env *env, lt_str ns) {
  lt_embed_provider *provider = env->providers;
  while (provider != NULL && !lt_str_eq(provider->base.name, ns)) {
    provider = provider->next;
  }
  return provider;
}

/* The place of the tool, or of the last link. */
static embed_tool **embed_tools_find(lt_embed_provider *provider, lt_str name) {
  embed_tool **at = &provider->tools;
  while (*at != NULL && !lt_str_eq((*at)->spec.name, name)) {
    at = &(*at)->next;
  }
  return at;
}

/* --- The provider ------------------------------------------------------------------------------------------------- */
static lt_status embed_tools_take_answer(lt_embed_call *call, lt_buf *out) {
  if (call->text != NULL) {
    lt_buf_give(out, call->text, call->text_bytes);
    call->text = NULL;
  } else {
    lt_buf_addc(out, call->is_yes ? "null" : "");
  }
  return call->is_yes ? LT_OK : LT_E_TOOL;
}

/* The name of a tool of a namespace, as the host gave it: it has room there. */
static lt_str embed_tools_put_id(char room[2 * LT_PLUGIN_NAME_BYTES], lt_str ns, lt_str name) {
  LT_CHECK(ns.n + name.n < LT_PLUGIN_NAME_BYTES);
  char *at = room;
  if (ns.n > 0) {
    memcpy(at, ns.p, ns.n);
    at[ns.n] = '.';
    at += ns.n + 1;
  }
  memcpy(at, name.p, name.n);
  return lt_str_from(room, (size_t)(at - room) + name.n);
}

/* NULL: none, such as while a plugin prepares. */
static lt_embed_run *embed_tools_run_of(const lathe_env *env, const lt_caller *caller) {
  lt_embed_run *run = lt_embed_run_of(caller);
  lt_embed_prompt *prompt = run == NULL && caller != NULL ? lt_embed_agent_find(env, caller->run) : NULL;
  return prompt != NULL ? prompt->run : run;
}

static lt_status embed_tools_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                    lt_buf *out, lt_err *err) LT_YIELDS {
  lt_embed_provider *provider = (lt_embed_provider *)(void *)base;
  lt_embed_run *run = embed_tools_run_of(provider->env, options->caller);
  lt_embed_call call;
  char room[2 * LT_PLUGIN_NAME_BYTES];
  lt_str id = embed_tools_put_id(room, base->name, name); /* the host may remove the tool while the call waits */
  if (*embed_tools_find(provider, name) == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "\"%.*s\" was removed", LT_STR_ARG(id));
  }
  if (run == NULL) {
    return lt_fail(err, LT_E_DENIED, "\"%.*s\" is called outside of a run", LT_STR_ARG(id));
  }
  const lt_embed_words words = {.tool = id, .json = input};
  const lt_embed_call_name call_name = {.run = options->caller->run, .seq = options->caller->noted ? options->seq : 0};
  LT_TRY(lt_embed_calls_ask(run, LATHE_EVENT_CALL, &call_name, &words, options->cancel, &call, err));
  lt_status status = embed_tools_take_answer(&call, out);
  lt_embed_calls_release(&call);
  return status == LT_OK ? lt_buf_check(out, err, "the answer is too long") : status;
}

static lt_str embed_tools_down(lt_provider *base) {
  return ((lt_embed_provider *)(void *)base)->count > 0 ? LT_STR("") : LT_STR("its tools were removed");
}

static lt_embed_provider *embed_tools_make_provider(lathe_env *env, lt_str ns) {
  lt_embed_provider *provider = lt_mem_zalloc(1, sizeof *provider + ns.n + 1);
  if (provider == NULL) {
    return NULL;
  }
  if (ns.n > 0) {
    memcpy(provider->ns, ns.p, ns.n);
  }
  provider->base = (lt_provider){.name = lt_str_from(provider->ns, ns.n),
                                 .invoke = embed_tools_invoke,
                                 .down = embed_tools_down,
                                 .keeps_lane = true};
  provider->env = env;
  provider->next = env->providers;
  env->providers = provider;
  return provider;
}

/* Hands the door what the provider has now. */
static lt_status embed_tools_publish(lt_embed_provider *provider, lt_err *err) {
  lt_door *door = provider->env->session.door;
  lt_tool_spec *specs = lt_mem_zalloc(provider->count + 1, sizeof *specs);
  size_t count = 0;
  if (specs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  for (const embed_tool *tool = provider->tools; tool != NULL; tool = tool->next) {
    specs[count++] = tool->spec;
  }
  lt_status status = LT_OK;
  if (count > 0) {
    status = lt_door_set_tools(door, &provider->base, specs, count, err);
  } else {
    lt_door_remove(door, &provider->base);
  }
  lt_mem_free(specs);
  return status;
}

/* --- Adding ------------------------------------------------------------------------------------------------------- */
static lt_status embed_tools_check_schema(const char *json, const char *name, lt_err *err) {
  lt_str text = lt_str_of(json);
  LT_TRY(lt_embed_error_check_json(text, name, err));
  bool is_object = json == NULL || lt_str_starts(lt_str_trim(text), LT_STR("{"));
  return is_object ? LT_OK : lt_fail(err, LT_E_INVALID, "the %s is not an object", name);
}

static lt_str embed_tools_copy(char **at, lt_str text) {
  lt_str copy = {*at, text.n};
  if (text.n > 0) {
    memcpy(*at, text.p, text.n);
  }
  *at += text.n;
  return copy;
}

/* NULL: no memory. */
static embed_tool *embed_tools_make(const lathe_tool_options *o, const embed_name *id) {
  const lt_str texts[] = {id->name,
                          lt_str_of(o->description),
                          lt_str_of(o->input_schema),
                          lt_str_of(o->output_schema),
                          lt_str_of(o->annotations),
                          lt_str_of(o->approval)};
  size_t bytes = sizeof(embed_tool);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    bytes += texts[i].n;
  }
  embed_tool *tool = lt_mem_zalloc(1, bytes);
  if (tool == NULL) {
    return NULL;
  }
  char *at = (char *)(tool + 1);
  tool->spec.name = embed_tools_copy(&at, texts[0]);
  tool->spec.description = embed_tools_copy(&at, texts[1]);
  tool->spec.input_schema = embed_tools_copy(&at, texts[2]);
  tool->spec.output_schema = embed_tools_copy(&at, texts[3]);
  tool->spec.annotations = embed_tools_copy(&at, texts[4]);
  tool->spec.approval = embed_tools_copy(&at, texts[5]);
  tool->spec.needs_approval = o->approval != NULL;
  tool->spec.of_plugin = id->ns.n > 0; /* "clock.now" is clock_now in TypeScript: "now" says too little */
  return tool;
}

typedef struct embed_addition {
  embed_name id;
  embed_tool *tool; /* owned until it is linked */
} embed_addition;

/* Puts it in the place of the tool of that name, and back when the door does not want it. */
static lt_status embed_tools_link(lathe_env *env, void *arg, lt_err *err) {
  embed_addition *addition = arg;
  lt_embed_provider *provider = embed_tools_find_provider(env, addition->id.ns);
  provider = provider != NULL ? provider : embed_tools_make_provider(env, addition->id.ns);
  if (provider == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a tool");
  }
  embed_tool **at = embed_tools_find(provider, addition->id.name), *old = *at;
  addition->tool->next = old != NULL ? old->next : NULL;
  *at = addition->tool;
  provider->count += old == NULL ? 1 : 0;
  lt_status status = old == NULL ? lt_door_add_tool(env->session.door, &provider->base, &addition->tool->spec, err)
                                 : embed_tools_publish(provider, err);
  if (status != LT_OK) {
    *at = old;
    provider->count -= old == NULL ? 1 : 0;
    return status;
  }
  addition->tool = old;
  return LT_OK;
}

static lt_status embed_tools_add(lathe_env *env, const lathe_tool_options *theirs, lt_err *err) {
  lathe_tool_options o;
  embed_addition addition;
  LT_TRY(lt_embed_error_take_struct(theirs, LT_EMBED_BYTES_TO(lathe_tool_options, approval), sizeof o, &o,
                                    "lathe_tool_options", err));
  LT_TRY(embed_tools_read_name(o.name, &addition.id, err));
  LT_TRY(embed_tools_check_schema(o.input_schema, "input_schema", err));
  LT_TRY(embed_tools_check_schema(o.output_schema, "output_schema", err));
  LT_TRY(embed_tools_check_schema(o.annotations, "annotations", err));
  addition.tool = embed_tools_make(&o, &addition.id);
  if (addition.tool == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a tool");
  }
  lt_status status = lt_embed_env_do(env, embed_tools_link, &addition, err);
  lt_mem_free(addition.tool); /* the old one, or the one that was not added */
  return status;
}

lathe_status lathe_add_tool(lathe_env *env, const lathe_tool_options *tool, lathe_error *error) {
  LT_ERR_VAR(err);
  lathe_status entered = lt_embed_env_enter(env, error);
  return entered == LATHE_OK ? lt_embed_env_leave(env, embed_tools_add(env, tool, &err), &err, error) : entered;
}

/* --- Removing ----------------------------------------------------------------------------------------------------- */
static lt_status embed_tools_unlink(lathe_env *env, void *arg, lt_err *err) {
  const embed_name *id = arg;
  lt_embed_provider *provider = embed_tools_find_provider(env, id->ns);
  embed_tool **at = provider != NULL ? embed_tools_find(provider, id->name) : NULL;
  if (at == NULL || *at == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "the host has added no tool of this name");
  }
  embed_tool *tool = *at;
  *at = tool->next;
  provider->count--;
  lt_status status = embed_tools_publish(provider, err);
  if (status != LT_OK) {
    *at = tool;
    provider->count++;
    return status;
  }
  lt_mem_free(tool);
  return LT_OK;
}

static lt_status embed_tools_remove(lathe_env *env, const char *name, lt_err *err) {
  embed_name id;
  LT_TRY(embed_tools_read_name(name, &id, err));
  return lt_embed_env_do(env, embed_tools_unlink, &id, err);
}

lathe_status lathe_remove_tool(lathe_env *env, const char *name, lathe_error *error) {
  LT_ERR_VAR(err);
  lathe_status entered = lt_embed_env_enter(env, error);
  return entered == LATHE_OK ? lt_embed_env_leave(env, embed_tools_remove(env, name, &err), &err, error) : entered;
}

void lt_embed_tools_close(lathe_env *env) {
  for (lt_embed_provider *provider = env->providers; provider != NULL;) {
    lt_embed_provider *next = provider->next;
    lt_door_remove(env->session.door, &provider->base);
    for (embed_tool *tool = provider->tools; tool != NULL;) {
      embed_tool *after = tool->next;
      lt_mem_free(tool);
      tool = after;
    }
    lt_mem_free(provider);
    provider = next;
  }
  env->providers = NULL;
}
