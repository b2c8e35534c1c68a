#include "tool/catalog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/tool_schemas.h"
#include "tool/catalog_names.h"
#include "tool/identifier.h"
#include "tool/search/search_index.h"
#include "tool/tool_table.h"
#include "types/typegen.h"

/* The only part of a catalog that changes after it was built. */
typedef struct catalog_search_cache {
  _Atomic(lt_search_index *) index; /* NULL until the first search */
  pthread_mutex_t making;           /* by one thread; the others wait for it */
} catalog_search_cache;

struct lt_catalog {
  atomic_uint refs;
  uint64_t number;
  lt_arena arena;           /* everything below */
  lt_tool *tools;           /* by id */
  lt_tool_schemas *schemas; /* by the same index; used on the loop only */
  uint32_t count;
  lt_tool_table ids;
  lt_tool_table js;
  lt_tool_table ts;
  lt_tool_table longs;
  lt_tool_table shorts;
  lt_tool_table snake_longs;
  lt_tool_table snake_shorts;
  lt_str *warnings;
  uint32_t warning_count;
  lt_str *silent; /* namespaces of sources without tools */
  size_t silent_count;
  catalog_search_cache *search;
  lt_str *withheld; /* the ids that a catalog for programs leaves out */
  size_t withheld_count;
  lt_catalog *for_programs; /* used on the loop only; a reference; NULL: not asked for yet, or the catalog itself */
};

/* A tool of a source while the tools are sorted. */
typedef struct catalog_item {
  lt_str id;
  const lt_catalog_source *source;
  const lt_tool_spec *spec;
  uint32_t order; /* the index in the sources: of equal ids the first one stays */
} catalog_item;

typedef struct catalog_items {
  catalog_item *list;
  uint32_t count;
} catalog_items;

/* --- Building ----------------------------------------------------------------------------------------------------- */
static lt_status catalog_count_tools(const lt_catalog_source *sources, size_t count, uint32_t *ret_count, lt_err *err) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    if (sources[i].count > LT_TOOLS_MAX - total) {
      return lt_fail(err, LT_E_LIMIT, "more than %d tools: remove servers from the configuration", LT_TOOLS_MAX);
    }
    total += sources[i].count;
  }
  *ret_count = (uint32_t)total;
  return LT_OK;
}

/* `<ns>.<name>`; a source without a name adds no dot. */
static lt_status catalog_make_id(lt_arena *arena, lt_str ns, lt_str name, lt_str *ret_id) {
  char *id = lt_arena_alloc(arena, ns.n + name.n + 2);
  if (id == NULL) {
    return LT_E_NOMEM;
  }
  size_t n = 0;
  if (ns.n > 0) {
    memcpy(id, ns.p, ns.n);
    n = ns.n;
    id[n++] = '.';
  }
  if (name.n > 0) {
    memcpy(id + n, name.p, name.n);
    n += name.n;
  }
  id[n] = '\0';
  *ret_id = lt_str_from(id, n);
  return LT_OK;
}

static int catalog_compare_items(const void *a, const void *b) {
  const catalog_item *x = a;
  const catalog_item *y = b;
  int order = lt_str_cmp(x->id, y->id);
  return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static lt_status catalog_collect_items(lt_catalog *catalog, const lt_catalog_source *sources, size_t count,
                                       catalog_items *items) {
  uint32_t n = 0;
  for (size_t s = 0; s < count; s++) {
    for (size_t t = 0; t < sources[s].count; t++) {
      catalog_item *it = &items->list[n];
      *it = (catalog_item){.source = &sources[s], .spec = &sources[s].tools[t], .order = n};
      LT_TRY(catalog_make_id(&catalog->arena, sources[s].ns, it->spec->name, &it->id));
      n++;
    }
  }
  LT_CHECK(n == items->count);
  qsort(items->list, n, sizeof(catalog_item), catalog_compare_items);
  return LT_OK;
}

static lt_status catalog_copy_str(lt_arena *arena, lt_str from, lt_str *ret) {
  lt_str copy = from.n > 0 ? lt_arena_dup(arena, from) : LT_STR("");
  if (copy.p == NULL) {
    return LT_E_NOMEM;
  }
  *ret = copy;
  return LT_OK;
}

static lt_status catalog_copy_tool(lt_arena *arena, const catalog_item *it, lt_tool *tool) {
  tool->id = it->id;
  tool->provider = it->source->provider;
  /* `ns` and `name` are parts of the id: no further copies. */
  size_t ns = it->source->ns.n;
  tool->ns = lt_str_sub(it->id, 0, ns);
  tool->name = lt_str_sub(it->id, ns > 0 ? ns + 1 : 0, it->id.n);
  LT_TRY(catalog_copy_str(arena, it->spec->title, &tool->title));
  LT_TRY(catalog_copy_str(arena, it->spec->description, &tool->description));
  lt_str input = lt_str_trim(it->spec->input_schema);
  LT_TRY(catalog_copy_str(arena, input.n > 0 ? input : LT_STR("{}"), &tool->input_schema));
  tool->checked_schema = tool->input_schema;
  if (it->spec->checked_schema.n > 0) {
    LT_TRY(catalog_copy_str(arena, it->spec->checked_schema, &tool->checked_schema));
  }
  LT_TRY(catalog_copy_str(arena, it->spec->output_schema, &tool->output_schema));
  LT_TRY(catalog_copy_str(arena, it->spec->annotations, &tool->annotations));
  tool->needs_approval = it->spec->needs_approval;
  tool->may_need_approval = it->spec->may_need_approval;
  tool->of_plugin = it->spec->of_plugin;
  tool->not_for_programs = it->spec->not_for_programs;
  tool->is_direct = it->spec->is_direct;
  tool->only_calls = it->spec->only_calls;
  return catalog_copy_str(arena, it->spec->approval, &tool->approval);
}

static lt_status catalog_warn_repeated(lt_catalog_names *naming, uint32_t kept, const catalog_item *lost) {
  lt_str text =
      lt_arena_printf(naming->arena, "Tool \"%.*s\" is there more than once: the first one of \"%.*s\" is used.",
                      LT_STR_ARG(lost->id), LT_STR_ARG(naming->tools[kept].ns));
  return lt_catalog_names_warn(naming, kept, text);
}

static lt_status catalog_fill(lt_catalog *catalog, const catalog_items *items, lt_catalog_names *naming) {
  catalog->tools = lt_arena_zalloc(&catalog->arena, items->count, sizeof(lt_tool));
  catalog->schemas = lt_arena_zalloc(&catalog->arena, items->count, sizeof(lt_tool_schemas));
  if (catalog->tools == NULL || catalog->schemas == NULL) {
    return LT_E_NOMEM;
  }
  *naming = (lt_catalog_names){.arena = &catalog->arena, .tools = catalog->tools};
  LT_TRY(lt_tool_table_init(&catalog->ids, &catalog->arena, catalog->tools, offsetof(lt_tool, id), items->count));
  for (uint32_t i = 0; i < items->count; i++) {
    if (i > 0 && lt_str_eq(items->list[i].id, items->list[i - 1].id)) {
      LT_TRY(catalog_warn_repeated(naming, catalog->count - 1, &items->list[i]));
      continue;
    }
    LT_TRY(catalog_copy_tool(&catalog->arena, &items->list[i], &catalog->tools[catalog->count]));
    catalog->tools[catalog->count].schemas = &catalog->schemas[catalog->count];
    lt_tool_table_enter(&catalog->ids, catalog->count++);
  }
  naming->count = catalog->count;
  return LT_OK;
}

static int catalog_compare_warnings(const void *a, const void *b) {
  const lt_catalog_names_warning *x = *(const lt_catalog_names_warning *const *)a;
  const lt_catalog_names_warning *y = *(const lt_catalog_names_warning *const *)b;
  if (x->index != y->index) {
    return x->index > y->index ? 1 : -1;
  }
  return lt_str_cmp(x->text, y->text);
}

static lt_status catalog_list_warnings(lt_catalog *catalog, const lt_catalog_names *naming) {
  uint32_t n = 0;
  const lt_catalog_names_warning **sorted = lt_arena_zalloc(&catalog->arena, naming->warning_count, sizeof(*sorted));
  catalog->warnings = lt_arena_zalloc(&catalog->arena, naming->warning_count, sizeof(lt_str));
  if (sorted == NULL || catalog->warnings == NULL) {
    return LT_E_NOMEM;
  }
  for (const lt_catalog_names_warning *w = naming->warnings; w != NULL; w = w->next) {
    sorted[n++] = w;
  }
  qsort(sorted, n, sizeof(*sorted), catalog_compare_warnings);
  for (uint32_t i = 0; i < n; i++) {
    catalog->warnings[i] = sorted[i]->text;
  }
  catalog->warning_count = n;
  return LT_OK;
}

static lt_status catalog_list_silent(lt_catalog *catalog, const lt_catalog_source *sources, size_t count) {
  catalog->silent = lt_arena_zalloc(&catalog->arena, count, sizeof(lt_str));
  if (catalog->silent == NULL) {
    return LT_E_NOMEM;
  }
  for (size_t i = 0; i < count; i++) {
    if (sources[i].count == 0 && sources[i].ns.n > 0) {
      LT_TRY(catalog_copy_str(&catalog->arena, sources[i].ns, &catalog->silent[catalog->silent_count]));
      catalog->silent_count++;
    }
  }
  return LT_OK;
}

static lt_status catalog_build(lt_catalog *catalog, const lt_catalog_source *sources, size_t count,
                               catalog_items *items) {
  lt_catalog_names naming;
  LT_TRY(catalog_collect_items(catalog, sources, count, items));
  LT_TRY(catalog_fill(catalog, items, &naming));
  LT_TRY(lt_catalog_names_assign(&naming));
  LT_TRY(catalog_list_silent(catalog, sources, count));
  catalog->js = naming.js;
  catalog->ts = naming.ts;
  catalog->longs = naming.longs;
  catalog->shorts = naming.shorts;
  catalog->snake_longs = naming.snake_longs;
  catalog->snake_shorts = naming.snake_shorts;
  return catalog_list_warnings(catalog, &naming);
}

static lt_catalog *catalog_alloc(void) {
  static _Atomic uint64_t last_number;
  lt_catalog *catalog = lt_mem_zalloc(1, sizeof *catalog);
  catalog_search_cache *search = lt_mem_zalloc(1, sizeof *search);
  if (catalog == NULL || search == NULL) {
    lt_mem_free(search);
    lt_mem_free(catalog);
    return NULL;
  }
  LT_CHECK(pthread_mutex_init(&search->making, NULL) == 0);
  catalog->search = search;
  atomic_init(&catalog->refs, 1);
  catalog->number = 1 + atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
  lt_arena_init(&catalog->arena, LT_CATALOG_MAX_BYTES);
  return catalog;
}

lt_status lt_catalog_new(const lt_catalog_source *sources, size_t count, lt_catalog **ret_catalog, lt_err *err) {
  catalog_items items = {0};
  LT_TRY(catalog_count_tools(sources, count, &items.count, err));
  lt_status status = LT_E_NOMEM;
  lt_catalog *catalog = catalog_alloc();
  if (catalog == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  items.list = lt_mem_zalloc(items.count, sizeof(catalog_item));
  if (items.list != NULL) {
    status = catalog_build(catalog, sources, count, &items);
  }
  lt_mem_free(items.list);
  if (status != LT_OK) {
    lt_catalog_unref(catalog);
    return lt_fail(err, status, "no memory for the list of %u tools", (unsigned)items.count);
  }
  *ret_catalog = catalog;
  return LT_OK;
}

/* --- The catalog for programs ------------------------------------------------------------------------------------- */
static lt_tool_spec catalog_spec_of(const lt_tool *tool) {
  return (lt_tool_spec){
      .name = tool->name,
      .description = tool->description,
      .input_schema = tool->input_schema,
      .checked_schema = tool->checked_schema,
      .output_schema = tool->output_schema,
      .annotations = tool->annotations,
      .needs_approval = tool->needs_approval,
      .may_need_approval = tool->may_need_approval,
      .approval = tool->approval,
      .of_plugin = tool->of_plugin,
      .only_calls = tool->only_calls,
  };
}

/* One source for each tool, and one without tools for each silent server. */
static size_t catalog_list_sources(const lt_catalog *catalog, lt_tool_spec *specs, lt_catalog_source *sources) {
  size_t n = 0;
  for (uint32_t i = 0; i < catalog->count; i++) {
    const lt_tool *tool = &catalog->tools[i];
    if (!tool->not_for_programs) {
      specs[n] = catalog_spec_of(tool);
      sources[n] = (lt_catalog_source){.ns = tool->ns, .provider = tool->provider, .tools = &specs[n], .count = 1};
      n++;
    }
  }
  for (size_t i = 0; i < catalog->silent_count; i++) {
    sources[n++] = (lt_catalog_source){.ns = catalog->silent[i]};
  }
  return n;
}

static lt_status catalog_note_withheld(const lt_catalog *all, lt_catalog *catalog) {
  catalog->withheld = lt_arena_zalloc(&catalog->arena, all->count - catalog->count, sizeof(lt_str));
  for (uint32_t i = 0; catalog->withheld != NULL && i < all->count; i++) {
    if (all->tools[i].not_for_programs) {
      LT_TRY(catalog_copy_str(&catalog->arena, all->tools[i].id, &catalog->withheld[catalog->withheld_count]));
      catalog->withheld_count++;
    }
  }
  return catalog->withheld != NULL ? LT_OK : LT_E_NOMEM;
}

size_t lt_catalog_withheld(const lt_catalog *catalog, const lt_str **ret_ids) {
  *ret_ids = catalog->withheld;
  return catalog->withheld_count;
}

bool lt_catalog_withholds(const lt_catalog *catalog, lt_str id) {
  for (size_t i = 0; i < catalog->withheld_count; i++) {
    if (lt_str_eq(catalog->withheld[i], id)) {
      return true;
    }
  }
  return false;
}

static lt_status catalog_make_for_programs(const lt_catalog *catalog, lt_catalog **ret_catalog, lt_err *err) {
  LT_AUTO_ARENA(scratch, LT_CATALOG_MAX_BYTES);
  lt_catalog *made = NULL;
  lt_tool_spec *specs = lt_arena_zalloc(&scratch, catalog->count, sizeof *specs);
  lt_catalog_source *sources = lt_arena_zalloc(&scratch, catalog->count + catalog->silent_count, sizeof *sources);
  if (specs == NULL || sources == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  LT_TRY(lt_catalog_new(sources, catalog_list_sources(catalog, specs, sources), &made, err));
  if (catalog_note_withheld(catalog, made) != LT_OK) {
    lt_catalog_unref(made);
    return lt_fail(err, LT_E_NOMEM, "no memory for the list of tools");
  }
  *ret_catalog = made;
  return LT_OK;
}

static bool catalog_has_withheld(const lt_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->count; i++) {
    if (catalog->tools[i].not_for_programs) {
      return true;
    }
  }
  return false;
}

lt_status lt_catalog_for_programs(lt_catalog *catalog, lt_catalog **ret_catalog, lt_err *err) {
  if (catalog->for_programs == NULL && catalog_has_withheld(catalog)) {
    LT_TRY(catalog_make_for_programs(catalog, &catalog->for_programs, err));
  }
  *ret_catalog = lt_catalog_ref(catalog->for_programs != NULL ? catalog->for_programs : catalog);
  return LT_OK;
}

/* --- References --------------------------------------------------------------------------------------------------- */
lt_catalog *lt_catalog_ref(lt_catalog *catalog) {
  atomic_fetch_add_explicit(&catalog->refs, 1, memory_order_relaxed);
  return catalog;
}

void lt_catalog_unref(lt_catalog *catalog) {
  /* All reads of other threads come before the free. */
  if (catalog != NULL && atomic_fetch_sub_explicit(&catalog->refs, 1, memory_order_acq_rel) == 1) {
    for (uint32_t i = 0; i < catalog->count; i++) {
      lt_tool_schemas_release(&catalog->schemas[i]);
    }
    lt_search_index_free(atomic_load_explicit(&catalog->search->index, memory_order_relaxed));
    lt_catalog_unref(catalog->for_programs);
    pthread_mutex_destroy(&catalog->search->making);
    lt_mem_free(catalog->search);
    lt_arena_release(&catalog->arena);
    lt_mem_free(catalog);
  }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
uint64_t lt_catalog_number(const lt_catalog *catalog) {
  return catalog->number;
}

size_t lt_catalog_count(const lt_catalog *catalog) {
  return catalog->count;
}

const lt_tool *lt_catalog_at(const lt_catalog *catalog, size_t i) {
  return i < catalog->count ? &catalog->tools[i] : NULL;
}

static const lt_tool *catalog_find_in(const lt_catalog *catalog, const lt_tool_table *table, lt_str name) {
  uint32_t i = lt_tool_table_find(table, name);
  return i != LT_TOOL_TABLE_NONE ? &catalog->tools[i] : NULL;
}

const lt_tool *lt_catalog_find(const lt_catalog *catalog, lt_str id) {
  return catalog_find_in(catalog, &catalog->ids, id);
}

const lt_tool *lt_catalog_find_js(const lt_catalog *catalog, lt_str js_name) {
  return catalog_find_in(catalog, &catalog->js, js_name);
}

const lt_tool *lt_catalog_find_ts(const lt_catalog *catalog, lt_str ts_name) {
  return catalog_find_in(catalog, &catalog->ts, ts_name);
}

/* Whether `name` is the id in the form of a model's API, which allows only [A-Za-z0-9_-]: "_" stands for each other
 * character. */
static bool catalog_is_plain_name_of(lt_str id, lt_str name) {
  size_t n = 0;
  for (size_t i = 0; i < id.n; i++) {
    unsigned char c = (unsigned char)id.p[i];
    if (i > 0 && (c & 0xC0) == 0x80) {
      continue; /* within a character */
    }
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (n >= name.n || name.p[n++] != (plain ? (char)c : '_')) {
      return false;
    }
  }
  return n == name.n;
}

static const lt_tool *catalog_find_plain(const lt_catalog *catalog, lt_str name) {
  const lt_tool *found = NULL;
  for (uint32_t i = 0; i < catalog->count; i++) {
    const lt_tool *tool = &catalog->tools[i];
    if (catalog_is_plain_name_of(tool->id, name) &&
        (found == NULL || lt_typegen_name_rank(tool->ns) > lt_typegen_name_rank(found->ns))) {
      found = tool;
    }
  }
  return found;
}

static const lt_tool *catalog_find_short(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = catalog_find_in(catalog, &catalog->shorts, name);
  return tool != NULL && !tool->is_short_shared ? tool : NULL;
}

static const lt_tool *catalog_find_snake_long(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = catalog_find_in(catalog, &catalog->snake_longs, name);
  return tool != NULL && !tool->is_snake_long_shared ? tool : NULL;
}

/* A name that several tools have as their short one is not this tool's either. */
static const lt_tool *catalog_find_snake_short(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = catalog_find_in(catalog, &catalog->snake_shorts, name);
  bool is_own = tool != NULL && !tool->is_snake_short_shared;
  return is_own && catalog_find_in(catalog, &catalog->shorts, name) == NULL ? tool : NULL;
}

/* shop.get_order for shop.getOrder. */
static const lt_tool *catalog_find_snake_id(const lt_catalog *catalog, lt_str name) {
  LT_AUTO_BUF(word, name.n + 2);
  lt_identifier_ts(&word, name);
  return catalog_find_snake_long(catalog, lt_buf_view(&word));
}

/* A tool without a namespace, whose id is its name unless that is a built-in. */
static const lt_tool *catalog_find_id_word(const lt_catalog *catalog, lt_str word) {
  const lt_tool *tool = lt_catalog_find(catalog, word);
  return tool != NULL && lt_str_eq(tool->js_name, word) ? tool : NULL;
}

static const lt_tool *catalog_find_by(const lt_catalog *catalog, lt_tool_name_kind kind, lt_str word) {
  switch (kind) {
    case LT_TOOL_NAME_ID:
      return catalog_find_id_word(catalog, word);
    case LT_TOOL_NAME_JS:
      return lt_catalog_find_js(catalog, word);
    case LT_TOOL_NAME_TS:
      return lt_catalog_find_ts(catalog, word);
    case LT_TOOL_NAME_LONG:
      return catalog_find_in(catalog, &catalog->longs, word);
    case LT_TOOL_NAME_SHORT:
      return catalog_find_short(catalog, word);
    case LT_TOOL_NAME_SNAKE_LONG:
      return catalog_find_snake_long(catalog, word);
    case LT_TOOL_NAME_SNAKE_SHORT:
      return catalog_find_snake_short(catalog, word);
    case LT_TOOL_NAME_NONE:
      break;
  }
  return NULL;
}

/* The kinds of names in the order in which a language takes them. `own` is the number of the language's own kinds. A
 * TypeScript name is the short or the long one; with a number behind it, it is TypeScript's alone. */
typedef struct catalog_name_order {
  lt_tool_name_kind kinds[7];
  size_t own;
} catalog_name_order;

static const catalog_name_order catalog_name_orders[] = {
    [LT_TOOL_JAVASCRIPT] = {{LT_TOOL_NAME_ID, LT_TOOL_NAME_JS, LT_TOOL_NAME_LONG, LT_TOOL_NAME_TS, LT_TOOL_NAME_SHORT,
                             LT_TOOL_NAME_SNAKE_LONG, LT_TOOL_NAME_SNAKE_SHORT},
                            2},
    [LT_TOOL_TYPESCRIPT] = {{LT_TOOL_NAME_ID, LT_TOOL_NAME_TS, LT_TOOL_NAME_LONG, LT_TOOL_NAME_SHORT, LT_TOOL_NAME_JS,
                             LT_TOOL_NAME_SNAKE_LONG, LT_TOOL_NAME_SNAKE_SHORT},
                            4},
    [LT_TOOL_PYTHON] = {{LT_TOOL_NAME_ID, LT_TOOL_NAME_LONG, LT_TOOL_NAME_TS, LT_TOOL_NAME_SHORT, LT_TOOL_NAME_JS,
                         LT_TOOL_NAME_SNAKE_LONG, LT_TOOL_NAME_SNAKE_SHORT},
                        2},
};

lt_tool_match lt_catalog_find_word(const lt_catalog *catalog, lt_tool_language language, lt_str word) {
  const catalog_name_order *order = &catalog_name_orders[language];
  for (size_t i = 0; i < sizeof order->kinds / sizeof order->kinds[0]; i++) {
    const lt_tool *tool = catalog_find_by(catalog, order->kinds[i], word);
    if (tool != NULL && (i < order->own || !lt_identifier_is_of_world(language, word))) {
      return (lt_tool_match){tool, order->kinds[i]};
    }
  }
  return (lt_tool_match){NULL, LT_TOOL_NAME_NONE};
}

const lt_tool *lt_catalog_find_any(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find(catalog, name);
  tool = tool != NULL ? tool : lt_catalog_find_js(catalog, name);
  tool = tool != NULL ? tool : catalog_find_plain(catalog, name);
  tool = tool != NULL ? tool : lt_catalog_find_word(catalog, LT_TOOL_TYPESCRIPT, name).tool;
  return tool != NULL ? tool : catalog_find_snake_id(catalog, name);
}

size_t lt_catalog_warnings(const lt_catalog *catalog, const lt_str **ret_warnings) {
  *ret_warnings = catalog->warnings;
  return catalog->warning_count;
}

size_t lt_catalog_silent(const lt_catalog *catalog, const lt_str **ret_names) {
  *ret_names = catalog->silent;
  return catalog->silent_count;
}

const lt_search_index *lt_catalog_index(const lt_catalog *catalog) {
  catalog_search_cache *search = catalog->search;
  lt_search_index *index = atomic_load_explicit(&search->index, memory_order_acquire);
  if (index != NULL) {
    return index;
  }
  pthread_mutex_lock(&search->making);
  index = atomic_load_explicit(&search->index, memory_order_relaxed);
  if (index == NULL) {
    index = lt_search_index_new(catalog->tools, catalog->count);
    atomic_store_explicit(&search->index, index, memory_order_release);
  }
  pthread_mutex_unlock(&search->making);
  return index;
}
