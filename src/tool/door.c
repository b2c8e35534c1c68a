/* The providers and their tools. The steps of a call are in door_call.c. */
#include "tool/door.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"

/* A provider and its current tools. */
typedef struct door_entry {
  lt_provider *provider;
  lt_arena arena; /* the specs and their texts */
  lt_tool_spec *tools;
  size_t count;
  size_t room; /* of tools */
} door_entry;

struct lt_door {
  lt_loop *loop;
  lt_door_options options;
  door_entry *entries;
  size_t count;
  lt_catalog *catalog;               /* NULL: something changed since it was built */
  uint64_t warned[LT_DOOR_TOLD_MAX]; /* hashes of the warnings that were given */
  size_t warned_count;
  uint64_t calls; /* made so far: numbers them */
};

/* --- Providers ---------------------------------------------------------------------------------------------------- */
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

const lt_monitor *lt_door_monitor(const lt_door *door) {
  return door->options.monitor;
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

static void door_drop_catalog(lt_door *door) {
  lt_catalog_unref(door->catalog);
  door->catalog = NULL;
}

static door_entry *door_find_entry(lt_door *door, const lt_provider *provider) {
  for (size_t i = 0; i < door->count; i++) {
    if (door->entries[i].provider == provider) {
      return &door->entries[i];
    }
  }
  return NULL;
}

lt_status lt_door_check_namespace(const lt_door *door, lt_str name, lt_err *err) {
  for (size_t i = 0; i < door->count; i++) {
    lt_str taken = door->entries[i].provider->name;
    if (taken.n > 0 && lt_str_eq_fold(taken, name)) {
      return lt_fail(err, LT_E_INVALID, "the name \"%.*s\" is taken by the server or plugin \"%.*s\": rename one",
                     LT_STR_ARG(name), LT_STR_ARG(taken));
    }
  }
  return LT_OK;
}

static lt_status door_add_entry(lt_door *door, lt_provider *provider, door_entry **ret_entry) {
  if (door->count >= LT_PROVIDERS_MAX) {
    return LT_E_LIMIT;
  }
  door_entry *entries = lt_mem_realloc(door->entries, (door->count + 1) * sizeof *entries);
  if (entries == NULL) {
    return LT_E_NOMEM;
  }
  door->entries = entries;
  entries[door->count] = (door_entry){.provider = provider};
  lt_arena_init(&entries[door->count].arena, LT_CATALOG_MAX_BYTES);
  *ret_entry = &entries[door->count++];
  return LT_OK;
}

/* A server may repeat a secret that it was given in its descriptions or schemas, which programs and models are
 * shown. */
static bool door_copy_masked(lt_arena *arena, const lt_secrets *secrets, bool is_json, lt_str *s) {
  LT_AUTO_BUF(masked, LT_CATALOG_MAX_BYTES);
  if (is_json) {
    lt_secrets_mask_json(secrets, *s, &masked);
  } else {
    lt_secrets_mask(secrets, *s, &masked);
  }
  *s = lt_arena_dup_buf(arena, &masked);
  return s->p != NULL;
}

static bool door_copy_str(lt_arena *arena, const lt_secrets *secrets, lt_str *s) {
  if (lt_secrets_in(secrets, *s)) {
    return door_copy_masked(arena, secrets, false, s);
  }
  *s = s->n > 0 ? lt_arena_dup(arena, *s) : LT_STR("");
  return s->p != NULL;
}

/* A schema stays JSON, also where a number in it is a secret. */
static bool door_copy_json(lt_arena *arena, const lt_secrets *secrets, lt_str *s) {
  return lt_secrets_in(secrets, *s) ? door_copy_masked(arena, secrets, true, s) : door_copy_str(arena, NULL, s);
}

static bool door_copy_spec(lt_arena *arena, const lt_secrets *secrets, lt_tool_spec *spec) {
  return door_copy_str(arena, NULL, &spec->name) && door_copy_str(arena, secrets, &spec->title) &&
         door_copy_str(arena, secrets, &spec->description) && door_copy_json(arena, secrets, &spec->input_schema) &&
         door_copy_json(arena, secrets, &spec->output_schema) && door_copy_json(arena, secrets, &spec->annotations) &&
         door_copy_str(arena, secrets, &spec->approval);
}

/* `source` has the copies of its tools afterwards, which are returned, too. NULL: no memory. */
static lt_tool_spec *door_copy_specs(const lt_door *door, lt_arena *arena, lt_catalog_source *source) {
  lt_tool_spec *copy = lt_arena_zalloc(arena, source->count, sizeof *copy);
  for (size_t i = 0; copy != NULL && i < source->count; i++) {
    copy[i] = source->tools[i];
    if (!door_copy_spec(arena, door->options.secrets, &copy[i])) {
      return NULL;
    }
  }
  source->tools = copy;
  return copy;
}

/* `source` has the tools that are not hidden afterwards. Their texts are not copied. */
static lt_status door_expose_specs(const lt_door *door, lt_arena *arena, lt_catalog_source *source) {
  lt_tool_spec *exposed = lt_arena_zalloc(arena, source->count, sizeof *exposed);
  size_t count = 0;
  if (exposed == NULL) {
    return LT_E_NOMEM;
  }
  for (size_t i = 0; i < source->count; i++) {
    lt_tool_spec spec = source->tools[i];
    lt_exposure as = lt_exposure_of(door->options.exposures, door->options.exposure_count, source->ns, spec.name);
    if (as != LT_EXPOSURE_HIDDEN) {
      spec.is_direct = as != LT_EXPOSURE_CODE;
      spec.not_for_programs = spec.not_for_programs || as == LT_EXPOSURE_DIRECT;
      exposed[count++] = spec;
    }
  }
  source->tools = exposed;
  source->count = count;
  return LT_OK;
}

static size_t door_count_others(const lt_door *door, const lt_provider *provider) {
  size_t total = 0;
  for (size_t i = 0; i < door->count; i++) {
    total += door->entries[i].provider != provider ? door->entries[i].count : 0;
  }
  return total;
}

const lt_secrets *lt_door_secrets(const lt_door *door) {
  return door->options.secrets;
}

lt_loop *lt_door_loop(const lt_door *door) {
  return door->loop;
}

lt_provider *lt_door_provider(const lt_door *door, size_t i) {
  return i < door->count ? door->entries[i].provider : NULL;
}

uint64_t lt_door_number_call(lt_door *door) {
  return ++door->calls;
}

lt_status lt_door_set_tools(lt_door *door, lt_provider *provider, const lt_tool_spec *tools, size_t count,
                            lt_err *err) {
  if (count > LT_TOOLS_MAX - door_count_others(door, provider)) {
    return lt_fail(err, LT_E_LIMIT, "\"%.*s\" has %zu tools, which makes more than %d of all servers together",
                   LT_STR_ARG(provider->name), count, LT_TOOLS_MAX);
  }
  door_entry *e = door_find_entry(door, provider);
  if (e == NULL) {
    LT_TRY(lt_door_check_namespace(door, provider->name, err));
  }
  lt_arena arena;
  lt_arena_init(&arena, LT_CATALOG_MAX_BYTES);
  lt_catalog_source copy = {.ns = provider->name, .provider = provider, .tools = tools, .count = count};
  lt_tool_spec *copies = door_copy_specs(door, &arena, &copy);
  lt_status status = copies != NULL ? LT_OK : LT_E_NOMEM;
  if (status == LT_OK && e == NULL) {
    status = door_add_entry(door, provider, &e);
  }
  if (status != LT_OK) {
    lt_arena_release(&arena);
    return lt_fail(err, status, "the tools of \"%.*s\" could not be added: %s", LT_STR_ARG(provider->name),
                   lt_status_text(status));
  }
  lt_arena_release(&e->arena);
  e->arena = arena;
  e->tools = copies;
  e->count = e->room = count;
  door_drop_catalog(door);
  return LT_OK;
}

/* The room doubles, so that many additions take no longer than one list. */
static bool door_make_room(door_entry *e) {
  if (e->count < e->room) {
    return true;
  }
  size_t room = 2 * e->count + 8;
  lt_tool_spec *tools = lt_arena_zalloc(&e->arena, room, sizeof *tools);
  if (tools == NULL) {
    return false;
  }
  memcpy(tools, e->tools, e->count * sizeof *tools);
  e->tools = tools;
  e->room = room;
  return true;
}

lt_status lt_door_add_tool(lt_door *door, lt_provider *provider, const lt_tool_spec *tool, lt_err *err) {
  door_entry *e = door_find_entry(door, provider);
  if (e == NULL) {
    return lt_door_set_tools(door, provider, tool, 1, err);
  }
  if (door_count_others(door, NULL) >= LT_TOOLS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "one more tool of \"%.*s\" makes more than %d of all servers together",
                   LT_STR_ARG(provider->name), LT_TOOLS_MAX);
  }
  lt_tool_spec copy = *tool;
  if (!door_copy_spec(&e->arena, door->options.secrets, &copy) || !door_make_room(e)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a tool of \"%.*s\"", LT_STR_ARG(provider->name));
  }
  e->tools[e->count++] = copy;
  door_drop_catalog(door);
  return LT_OK;
}

void lt_door_remove(lt_door *door, lt_provider *provider) {
  door_entry *e = door_find_entry(door, provider);
  if (e == NULL) {
    return;
  }
  lt_arena_release(&e->arena);
  size_t after = door->count - (size_t)(e - door->entries) - 1;
  memmove(e, e + 1, after * sizeof *e);
  door->count--;
  door_drop_catalog(door);
}

bool lt_door_replace(lt_door *door, const lt_provider *from, lt_provider *to) {
  door_entry *e = door_find_entry(door, from);
  if (e == NULL) {
    return false;
  }
  LT_CHECK(lt_str_eq(from->name, to->name));
  e->provider = to;
  door_drop_catalog(door);
  return true;
}

void lt_door_set_exposures(lt_door *door, const lt_exposure_rule *rules, size_t count) {
  door->options.exposures = rules;
  door->options.exposure_count = count;
  door_drop_catalog(door);
}

/* Masks secrets of the extra sources, as for the door's own tools. Owns: the arena. */
static lt_status door_collect_sources(const lt_door *door, lt_arena *arena, const lt_catalog_source *extra,
                                      size_t count, lt_catalog_source *to) {
  for (size_t i = 0; i < door->count; i++) {
    const door_entry *e = &door->entries[i];
    to[i] = (lt_catalog_source){e->provider->name, e->provider, e->tools, e->count};
    if (e->count == 0 && e->provider->keeps_tools) { /* no server that is silent */
      to[i].ns = LT_STR_NULL;
    }
    LT_TRY(door_expose_specs(door, arena, &to[i]));
  }
  for (size_t i = 0; i < count; i++) {
    lt_catalog_source *one = &to[door->count + i];
    *one = extra[i];
    if (door_copy_specs(door, arena, one) == NULL) {
      return LT_E_NOMEM;
    }
    LT_TRY(door_expose_specs(door, arena, one));
  }
  return LT_OK;
}

lt_status lt_door_catalog_with(lt_door *door, const lt_catalog_source *extra, size_t count, lt_catalog **ret_catalog,
                               lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CATALOG_MAX_BYTES);
  lt_catalog_source *sources = lt_arena_zalloc(&arena, door->count + count, sizeof *sources);
  if (sources == NULL || door_collect_sources(door, &arena, extra, count, sources) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  return lt_catalog_new(sources, door->count + count, ret_catalog, err);
}

lt_status lt_door_catalog(lt_door *door, lt_catalog **ret_catalog, lt_err *err) {
  lt_provider *provider;
  for (size_t i = 0; (provider = lt_door_provider(door, i)) != NULL; i++) {
    if (provider->look != NULL) {
      provider->look(provider);
    }
  }
  if (door->catalog == NULL) {
    LT_TRY(lt_door_catalog_with(door, NULL, 0, &door->catalog, err));
  }
  *ret_catalog = lt_catalog_ref(door->catalog);
  return LT_OK;
}

lt_status lt_door_catalog_of(lt_door *door, const lt_caller *caller, lt_catalog **ret_catalog, lt_err *err) {
  if (caller == NULL || caller->catalog == NULL) {
    return lt_door_catalog(door, ret_catalog, err);
  }
  *ret_catalog = lt_catalog_ref(caller->catalog);
  return LT_OK;
}

/* --- Warnings ----------------------------------------------------------------------------------------------------- */
static bool door_has_warned(lt_door *door, lt_str message) {
  uint64_t hash = lt_str_hash(message);
  for (size_t i = 0; i < door->warned_count; i++) {
    if (door->warned[i] == hash) {
      return true;
    }
  }
  if (door->warned_count == LT_DOOR_TOLD_MAX) {
    return true;
  }
  door->warned[door->warned_count++] = hash;
  return false;
}

void lt_door_warn(lt_door *door, const char *fmt, ...) {
  char text[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (door->options.on_warning == NULL || door_has_warned(door, lt_str_of(text))) {
    return;
  }
  LT_AUTO_BUF(message, LT_JSON_MAX_BYTES);
  lt_secrets_mask(door->options.secrets, lt_str_of(text), &message);
  door->options.on_warning(door->options.arg, lt_buf_view(&message));
}
