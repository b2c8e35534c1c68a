#include "tool/door.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "codec/json.h"
#include "tool/check.h"

/* A provider and its tools as it last gave them. */
typedef struct entry {
  lt_provider *provider;
  lt_arena arena; /* the specs and their texts */
  lt_tool_spec *tools;
  size_t count;
} entry;

struct lt_door {
  lt_loop *loop;
  lt_door_options options;
  entry *entries;
  size_t count;
  lt_catalog *catalog; /* NULL: something changed since */
};

/* --- Providers ------------------------------------------------------------------------------------------------------
 */
lt_status lt_door_new(lt_loop *loop, const lt_door_options *options, lt_door **ret_door, lt_err *err) {
  lt_door *door = lt_mem_zalloc(1, sizeof *door);
  if (door == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools");
  }
  door->loop = loop;
  if (options != NULL) {
    door->options = *options;
  }
  *ret_door = door;
  return LT_OK;
}

void lt_door_free(lt_door *door) {
  if (door == NULL) {
    return;
  }
  lt_catalog_unref(door->catalog);
  for (size_t i = 0; i < door->count; i++) {
    lt_arena_release(&door->entries[i].arena);
  }
  lt_mem_free(door->entries);
  lt_mem_free(door);
}

static void changed(lt_door *door) {
  lt_catalog_unref(door->catalog);
  door->catalog = NULL;
}

static entry *find_entry(lt_door *door, const lt_provider *provider) {
  for (size_t i = 0; i < door->count; i++) {
    if (door->entries[i].provider == provider) {
      return &door->entries[i];
    }
  }
  return NULL;
}

static lt_status add_entry(lt_door *door, lt_provider *provider, entry **ret_entry) {
  if (door->count >= LT_PROVIDERS_MAX) {
    return LT_E_LIMIT;
  }
  entry *entries = lt_mem_realloc(door->entries, (door->count + 1) * sizeof *entries);
  if (entries == NULL) {
    return LT_E_NOMEM;
  }
  door->entries = entries;
  entries[door->count] = (entry){.provider = provider};
  lt_arena_init(&entries[door->count].arena, LT_CATALOG_MAX_BYTES);
  *ret_entry = &entries[door->count++];
  return LT_OK;
}

static bool copy_str(lt_arena *arena, lt_str *s) {
  *s = s->n > 0 ? lt_arena_dup(arena, *s) : LT_STR("");
  return s->p != NULL;
}

static lt_status copy_specs(lt_arena *arena, const lt_tool_spec *tools, size_t count, lt_tool_spec **ret_copy) {
  lt_tool_spec *copy = lt_arena_zalloc(arena, count, sizeof *copy);
  if (copy == NULL) {
    return LT_E_NOMEM;
  }
  for (size_t i = 0; i < count; i++) {
    copy[i] = tools[i];
    if (!copy_str(arena, &copy[i].name) || !copy_str(arena, &copy[i].description) ||
        !copy_str(arena, &copy[i].input_schema) || !copy_str(arena, &copy[i].output_schema) ||
        !copy_str(arena, &copy[i].annotations)) {
      return LT_E_NOMEM;
    }
  }
  *ret_copy = copy;
  return LT_OK;
}

static size_t count_others(const lt_door *door, const lt_provider *provider) {
  size_t total = 0;
  for (size_t i = 0; i < door->count; i++) {
    total += door->entries[i].provider != provider ? door->entries[i].count : 0;
  }
  return total;
}

lt_status lt_door_set_tools(lt_door *door, lt_provider *provider, const lt_tool_spec *tools, size_t count,
                            lt_err *err) {
  if (count > LT_TOOLS_MAX - count_others(door, provider)) {
    return lt_fail(err, LT_E_LIMIT, "\"%.*s\" has %zu tools, which makes more than %d of all servers together",
                   LT_STR_ARG(provider->name), count, LT_TOOLS_MAX);
  }
  lt_arena arena;
  lt_arena_init(&arena, LT_CATALOG_MAX_BYTES);
  lt_tool_spec *copy = NULL;
  entry *e = find_entry(door, provider);
  lt_status status = copy_specs(&arena, tools, count, &copy);
  if (status == LT_OK && e == NULL) {
    status = add_entry(door, provider, &e);
  }
  if (status != LT_OK) {
    lt_arena_release(&arena);
    return lt_fail(err, status, "the tools of \"%.*s\" could not be added: %s", LT_STR_ARG(provider->name),
                   lt_status_text(status));
  }
  lt_arena_release(&e->arena);
  e->arena = arena;
  e->tools = copy;
  e->count = count;
  changed(door);
  return LT_OK;
}

void lt_door_remove(lt_door *door, lt_provider *provider) {
  entry *e = find_entry(door, provider);
  if (e == NULL) {
    return;
  }
  lt_arena_release(&e->arena);
  size_t after = door->count - (size_t)(e - door->entries) - 1;
  memmove(e, e + 1, after * sizeof *e);
  door->count--;
  changed(door);
}

static lt_status build_catalog(lt_door *door, lt_err *err) {
  lt_catalog_source *sources = lt_mem_zalloc(door->count, sizeof *sources);
  if (sources == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  for (size_t i = 0; i < door->count; i++) {
    const entry *e = &door->entries[i];
    sources[i] = (lt_catalog_source){e->provider->name, e->provider, e->tools, e->count};
  }
  lt_status status = lt_catalog_new(sources, door->count, &door->catalog, err);
  lt_mem_free(sources);
  return status;
}

lt_status lt_door_catalog(lt_door *door, lt_catalog **ret_catalog, lt_err *err) {
  if (door->catalog == NULL) {
    LT_TRY(build_catalog(door, err));
  }
  *ret_catalog = lt_catalog_ref(door->catalog);
  return LT_OK;
}

/* --- One call -------------------------------------------------------------------------------------------------------
 */
/* A step that fails leaves its message in `out` when it may be long, else in `err`. */
typedef struct call {
  lt_door *door;
  lt_str id;
  lt_str input; /* as it came, then the object's text */
  lt_invoke_options options;
  lt_buf *out;
  lt_err err;
  lt_arena arena;
  lt_catalog *catalog; /* keeps `tool` */
  const lt_tool *tool;
  lt_status status; /* of the part that may run off the loop */
} call;

/* The id of the tool that a suggestion is a name of. */
static lt_str id_of(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find(catalog, name);
  if (tool == NULL) {
    tool = lt_catalog_find_js(catalog, name);
  }
  if (tool == NULL) {
    tool = lt_catalog_find_ts(catalog, name);
  }
  return tool != NULL ? tool->id : name;
}

static void add_suggestions(call *c) {
  lt_str near[LT_TOOL_SUGGESTIONS];
  size_t count = lt_catalog_suggest(c->catalog, c->id, near);
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(c->out, i == 0 ? " Did you mean: " : ", ");
    lt_buf_add(c->out, id_of(c->catalog, near[i]));
  }
  lt_buf_addc(c->out, count > 0 ? "?" : "");
}

static void add_available(call *c) {
  size_t count = lt_catalog_count(c->catalog);
  size_t listed = count < LT_TOOL_LISTED_MAX ? count : LT_TOOL_LISTED_MAX;
  lt_buf_addc(c->out, count > 0 ? " Available tools: " : " No tools are available.");
  for (size_t i = 0; i < listed; i++) {
    lt_buf_addc(c->out, i > 0 ? ", " : "");
    lt_buf_add(c->out, lt_catalog_at(c->catalog, i)->id);
  }
  if (count > listed) {
    lt_buf_printf(c->out, " and %zu more", count - listed);
  }
}

static lt_status fail_not_found(call *c) {
  lt_buf_addc(c->out, "Tool \"");
  lt_buf_add(c->out, c->id);
  lt_buf_addc(c->out, "\" not found.");
  add_suggestions(c);
  add_available(c);
  return LT_E_NOTFOUND;
}

/* LT_E_CLOSED with the provider's reason when it cannot be called. */
static lt_status check_up(call *c, lt_provider *provider) {
  lt_str reason = provider->down != NULL ? provider->down(provider) : LT_STR("");
  if (reason.n == 0) {
    return LT_OK;
  }
  lt_buf_add(c->out, reason);
  return LT_E_CLOSED;
}

/* A server that is down may not have told its tools: whatever is asked of it fails with its reason. */
static lt_status check_owner_up(call *c) {
  for (size_t i = 0; i < c->door->count; i++) {
    lt_provider *provider = c->door->entries[i].provider;
    size_t n = provider->name.n;
    if (n > 0 && c->id.n > n && c->id.p[n] == '.' && lt_str_starts(c->id, provider->name)) {
      LT_TRY(check_up(c, provider));
    }
  }
  return LT_OK;
}

static lt_status resolve(call *c) {
  LT_TRY(lt_door_catalog(c->door, &c->catalog, &c->err));
  c->tool = lt_catalog_find(c->catalog, c->id);
  if (c->tool == NULL) {
    LT_TRY(check_owner_up(c));
    return fail_not_found(c);
  }
  return LT_OK;
}

static lt_status fail_not_object(call *c, lt_json_type type) {
  return lt_fail(&c->err, LT_E_INVALID, "input: expected an object, got %s", lt_json_type_name(type));
}

/* Models write an object as a string now and then: what is in the string counts, once. */
static lt_status unwrap(call *c, lt_json_doc *doc) {
  lt_str inner;
  if (!lt_json_str(lt_json_root(doc), &c->arena, &inner)) {
    return LT_E_NOMEM;
  }
  inner = lt_str_trim(inner);
  lt_status status = lt_json_parse(&c->arena, inner.n > 0 ? inner : LT_STR("{}"), doc, NULL);
  if (status == LT_E_NOMEM) {
    return status;
  }
  if (status != LT_OK || lt_json_typeof(lt_json_root(doc)) != LT_JSON_OBJECT) {
    return fail_not_object(c, LT_JSON_STRING);
  }
  return LT_OK;
}

static lt_status normalise(call *c, lt_json_doc *doc) {
  lt_str text = lt_str_trim(c->input);
  if (text.n == 0 || lt_str_eqc(text, "null")) {
    text = LT_STR("{}");
  }
  lt_status status = lt_json_parse(&c->arena, text, doc, &c->err);
  if (status != LT_OK) {
    c->err.status = status == LT_E_SYNTAX ? LT_E_INVALID : status;
    return lt_err_prefix(&c->err, status == LT_E_SYNTAX ? "input: not JSON" : "input");
  }
  lt_json_type type = lt_json_typeof(lt_json_root(doc));
  if (type == LT_JSON_STRING) {
    LT_TRY(unwrap(c, doc));
  } else if (type != LT_JSON_OBJECT) {
    return fail_not_object(c, type);
  }
  c->input = lt_json_text(lt_json_root(doc));
  return LT_OK;
}

/* Touches nothing of the loop's: the catalog may be read anywhere. */
static void read_input(void *arg) {
  call *c = arg;
  lt_json_doc *doc = lt_arena_zalloc(&c->arena, 1, sizeof *doc);
  c->status = doc != NULL ? normalise(c, doc) : LT_E_NOMEM;
  if (c->status == LT_OK) {
    c->status = lt_check_input(&c->arena, c->tool->input_schema, lt_json_root(doc), c->out);
  }
}

static lt_status check_input(call *c) LT_YIELDS {
  if (c->input.n <= LT_CALL_INLINE_BYTES) {
    read_input(c);
  } else {
    LT_TRY(lt_loop_offload(c->door->loop, read_input, c, &c->err));
  }
  return c->status;
}

/* Reading a long input gives way to others, who may have removed the provider. */
static lt_status check_still_there(call *c) {
  if (find_entry(c->door, c->tool->provider) == NULL) {
    return lt_fail(&c->err, LT_E_CLOSED, "Tool \"%.*s\" is no longer available", LT_STR_ARG(c->id));
  }
  return check_up(c, c->tool->provider);
}

static lt_status check_cancel(call *c) {
  const lt_cancel *cancel = c->options.cancel;
  return cancel == NULL || cancel->why == LT_OK
             ? LT_OK
             : lt_fail(&c->err, cancel->why, "%s before the tool was called", lt_status_text(cancel->why));
}

static lt_status invoke(call *c) LT_YIELDS {
  lt_provider *provider = c->tool->provider;
  lt_status status = provider->invoke(provider, c->tool->name, c->input, &c->options, c->out, &c->err);
  if (status == LT_OK && c->out->status != LT_OK) {
    return lt_fail(&c->err, c->out->status, "the answer of \"%.*s\" is too long", LT_STR_ARG(c->id));
  }
  if (status == LT_OK && c->out->n == 0) {
    lt_buf_addc(c->out, "null");
  } else if (status == LT_E_TOOL && c->out->n == 0) {
    lt_err_set(&c->err, status, __FILE__, __LINE__, "Tool \"%.*s\" failed without a message", LT_STR_ARG(c->id));
  } else if (status != LT_OK && status != LT_E_TOOL) {
    lt_buf_clear(c->out); /* half an answer is none */
  }
  return status;
}

/* Policy and journal take their places between these. */
static lt_status run_steps(call *c) LT_YIELDS {
  LT_TRY(resolve(c));
  LT_TRY(check_input(c));
  LT_TRY(check_still_there(c));
  LT_TRY(check_cancel(c));
  return invoke(c);
}

/* The message is in `out` whole or, where it is short, in the error; afterwards in both. */
static void report(call *c, lt_status status, lt_err *err) {
  if (c->out->status != LT_OK) {
    lt_buf_clear(c->out);
  }
  if (c->out->n == 0) {
    bool said = c->err.status != LT_OK && c->err.msg[0] != '\0';
    lt_buf_addc(c->out, said ? c->err.msg : lt_status_text(status));
  }
  lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(c->out)));
}

lt_status lt_door_call(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                       lt_err *err) {
  call c = {.door = door, .id = id, .input = input, .out = out, .err = LT_ERR_INIT};
  if (options != NULL) {
    c.options = *options;
  }
  lt_buf_clear(out);
  lt_arena_init(&c.arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = run_steps(&c);
  if (status != LT_OK) {
    report(&c, status, err);
  }
  lt_catalog_unref(c.catalog);
  lt_arena_release(&c.arena);
  return status;
}
