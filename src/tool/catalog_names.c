#include "tool/catalog_names.h"

#include "base/limits.h"
#include "tool/identifier.h"
#include "types/typegen.h"

/* Why a tool has its TypeScript name. */
typedef enum ts_reason {
  TS_PLAIN,
  TS_PREFIXED, /* as in lt_identifier_change */
  TS_SUFFIXED,
  TS_SERVER,   /* has its server's name before it */
  TS_NUMBERED, /* has a number after it */
} ts_reason;

typedef struct ts_entry {
  uint32_t first;  /* the first tool of this type name, before servers' names were added */
  uint32_t rival;  /* the tool that has the name this tool would have had */
  uint32_t number; /* the last number that was given to a rival of this tool */
  ts_reason reason;
  bool shared;  /* of a first tool: another server has a tool of this type name too */
  bool foreign; /* its own name is another server's name and the name of a tool there */
  bool pending; /* the name is taken: a number is due */
} ts_entry;

/* The tools of one server or plugin, which are neighbours in id order. */
typedef struct ts_namespace {
  lt_str beginning; /* of their long names: "bank_" */
  uint32_t begin, end;
} ts_namespace;

/* Scratch data while names are given. */
typedef struct ts_work {
  lt_catalog_names *naming;
  lt_arena arena;
  lt_buf buf;
  lt_buf joined;
  lt_tool_table types; /* by ts_type: the types that are settled */
  ts_entry *entries;
  ts_namespace *namespaces;
  size_t namespace_count;
} ts_work;

/* --- Both languages ----------------------------------------------------------------------------------------------- */
lt_status lt_catalog_names_warn(lt_catalog_names *naming, uint32_t index, lt_str text) {
  lt_catalog_names_warning *warning = lt_arena_zalloc(naming->arena, 1, sizeof *warning);
  if (warning == NULL || text.p == NULL) {
    return LT_E_NOMEM;
  }
  *warning = (lt_catalog_names_warning){.index = index, .text = text, .next = naming->warnings};
  naming->warnings = warning;
  naming->warning_count++;
  return LT_OK;
}

static lt_status catalog_names_keep(lt_catalog_names *naming, const lt_buf *buf, lt_str *ret_name) {
  if (buf->status != LT_OK) {
    return buf->status;
  }
  lt_str kept = lt_arena_dup(naming->arena, lt_buf_view(buf));
  if (kept.p == NULL) {
    return LT_E_NOMEM;
  }
  *ret_name = kept;
  return LT_OK;
}

/* --- JavaScript --------------------------------------------------------------------------------------------------- */
static lt_status catalog_names_warn_js_lost(lt_catalog_names *naming, uint32_t i, uint32_t owner) {
  const lt_tool *tool = &naming->tools[i];
  const lt_tool *other = &naming->tools[owner];
  lt_str text = lt_arena_printf(
      naming->arena, "Tool \"%.*s\" has no JavaScript name: %.*s already is \"%.*s\". Call it as tools[\"%.*s\"].",
      LT_STR_ARG(tool->id), LT_STR_ARG(other->js_name), LT_STR_ARG(other->id), LT_STR_ARG(tool->id));
  return lt_catalog_names_warn(naming, i, text);
}

static const char *catalog_names_change_reason(lt_identifier_change change) {
  return change == LT_IDENTIFIER_PREFIXED ? "the name would not be an identifier otherwise"
                                          : "without the \"_\" it is a reserved word or a built-in";
}

static lt_status catalog_names_warn_renamed(lt_catalog_names *naming, uint32_t i, lt_str name, const char *language,
                                            const char *reason) {
  lt_str text = lt_arena_printf(naming->arena, "Tool \"%.*s\" is called %.*s in %s: %s.",
                                LT_STR_ARG(naming->tools[i].id), LT_STR_ARG(name), language, reason);
  return lt_catalog_names_warn(naming, i, text);
}

static lt_status catalog_names_name_js(lt_catalog_names *naming, uint32_t i, lt_buf *buf) {
  lt_tool *tool = &naming->tools[i];
  lt_buf_clear(buf);
  /* A name without a namespace is the same in every language: models are told it as it is. */
  lt_identifier_change change =
      tool->ns.n > 0 ? lt_identifier_make_js(buf, tool->id) : lt_identifier_make_ts(buf, tool->id);
  LT_TRY(catalog_names_keep(naming, buf, &tool->js_name));
  uint32_t owner = lt_tool_table_enter(&naming->js, i);
  if (owner != i) {
    bool is_higher = lt_typegen_name_rank(tool->ns) > lt_typegen_name_rank(naming->tools[owner].ns);
    uint32_t loser = is_higher ? owner : i;
    if (is_higher) {
      lt_tool_table_replace(&naming->js, i);
    }
    naming->tools[loser].js_name = LT_STR("");
    return catalog_names_warn_js_lost(naming, loser, is_higher ? i : owner);
  }
  return change == LT_IDENTIFIER_PLAIN
             ? LT_OK
             : catalog_names_warn_renamed(naming, i, tool->js_name, "JavaScript", catalog_names_change_reason(change));
}

static lt_status catalog_names_name_all_js(lt_catalog_names *naming, lt_buf *buf) {
  LT_TRY(lt_tool_table_init(&naming->js, naming->arena, naming->tools, offsetof(lt_tool, js_name), naming->count));
  for (uint32_t i = 0; i < naming->count; i++) {
    LT_TRY(catalog_names_name_js(naming, i, buf));
  }
  return LT_OK;
}

/* --- TypeScript --------------------------------------------------------------------------------------------------- */
/* Gives tool `i` the name in the buffer, and the type name that follows from it. */
static lt_status catalog_names_take_ts(ts_work *work, uint32_t i) {
  lt_tool *tool = &work->naming->tools[i];
  LT_TRY(catalog_names_keep(work->naming, &work->buf, &tool->ts_name));
  lt_buf_clear(&work->buf);
  lt_identifier_ts_type(&work->buf, tool->ts_name);
  return catalog_names_keep(work->naming, &work->buf, &tool->ts_type);
}

/* The name with its server's or plugin's before it. */
static lt_identifier_change catalog_names_make_long_name(ts_work *work, uint32_t i) {
  const lt_tool *tool = &work->naming->tools[i];
  lt_buf_clear(&work->joined);
  lt_buf_add(&work->joined, tool->ns);
  lt_buf_byte(&work->joined, '_');
  lt_buf_add(&work->joined, tool->name);
  lt_buf_clear(&work->buf);
  return lt_identifier_make_ts(&work->buf, lt_buf_view(&work->joined));
}

static lt_identifier_change catalog_names_make_own_name(ts_work *work, uint32_t i) {
  lt_buf_clear(&work->buf);
  return lt_identifier_make_ts(&work->buf, work->naming->tools[i].name);
}

static lt_status catalog_names_name_by_itself(ts_work *work, uint32_t i) {
  bool of_plugin = work->naming->tools[i].of_plugin && work->naming->tools[i].ns.n > 0;
  lt_identifier_change change =
      of_plugin ? catalog_names_make_long_name(work, i) : catalog_names_make_own_name(work, i);
  if (change != LT_IDENTIFIER_PLAIN) {
    work->entries[i].reason = change == LT_IDENTIFIER_PREFIXED ? TS_PREFIXED : TS_SUFFIXED;
  }
  LT_TRY(work->joined.status);
  return catalog_names_take_ts(work, i);
}

/* Finds the names that several servers have. Types decide: equal functions have equal types. */
static lt_status catalog_names_find_shared(ts_work *work) {
  lt_catalog_names *naming = work->naming;
  lt_tool_table first;
  LT_TRY(lt_tool_table_init(&first, &work->arena, naming->tools, offsetof(lt_tool, ts_type), naming->count));
  for (uint32_t i = 0; i < naming->count; i++) {
    LT_TRY(catalog_names_name_by_itself(work, i));
    uint32_t owner = lt_tool_table_enter(&first, i);
    work->entries[i].first = owner;
    if (!lt_str_eq(naming->tools[i].ns, naming->tools[owner].ns)) {
      work->entries[owner].shared = true;
    }
  }
  return LT_OK;
}

static lt_status catalog_names_add_namespace(ts_work *work, uint32_t begin, uint32_t end) {
  lt_str ns = work->naming->tools[begin].ns;
  lt_buf_clear(&work->buf);
  lt_identifier_ts(&work->buf, ns);
  lt_buf_byte(&work->buf, '_');
  LT_TRY(work->buf.status);
  lt_str beginning = lt_arena_dup(&work->arena, lt_buf_view(&work->buf));
  work->namespaces[work->namespace_count++] = (ts_namespace){beginning, begin, end};
  return beginning.p != NULL ? LT_OK : LT_E_NOMEM;
}

static lt_status catalog_names_list_namespaces(ts_work *work) {
  const lt_catalog_names *naming = work->naming;
  uint32_t begin = 0;
  work->namespaces = lt_arena_zalloc(&work->arena, naming->count, sizeof *work->namespaces);
  if (work->namespaces == NULL) {
    return LT_E_NOMEM;
  }
  for (uint32_t i = 1; i <= naming->count; i++) {
    if (i == naming->count || !lt_str_eq(naming->tools[i].ns, naming->tools[begin].ns)) {
      LT_TRY(naming->tools[begin].ns.n > 0 ? catalog_names_add_namespace(work, begin, i) : LT_OK);
      begin = i;
    }
  }
  return LT_OK;
}

/* Whether a tool of this namespace has tool `i`'s name as its long name. */
static bool catalog_names_is_long_name_in(ts_work *work, const ts_namespace *ns, uint32_t i) {
  lt_str name = work->naming->tools[i].ts_name;
  for (uint32_t k = ns->begin; k < ns->end; k++) {
    catalog_names_make_long_name(work, k);
    if (lt_str_eq(lt_buf_view(&work->buf), name)) {
      return true;
    }
  }
  return false;
}

/* `bank_transfer` always is the tool "bank.transfer": another server's tool of this name does not get it. */
static lt_status catalog_names_find_foreign(ts_work *work) {
  LT_TRY(catalog_names_list_namespaces(work));
  for (uint32_t i = 0; i < work->naming->count; i++) {
    for (size_t n = 0; n < work->namespace_count && !work->entries[i].foreign; n++) {
      const ts_namespace *ns = &work->namespaces[n];
      bool is_own = i >= ns->begin && i < ns->end;
      work->entries[i].foreign = !is_own && lt_str_starts(work->naming->tools[i].ts_name, ns->beginning) &&
                                 catalog_names_is_long_name_in(work, ns, i);
    }
  }
  return work->buf.status != LT_OK ? work->buf.status : work->joined.status;
}

static lt_status catalog_names_add_server(ts_work *work, uint32_t i) {
  if (work->naming->tools[i].of_plugin) {
    return LT_OK; /* it has the name already, or there is none */
  }
  catalog_names_make_long_name(work, i);
  LT_TRY(work->joined.status);
  work->entries[i].reason = TS_SERVER;
  return catalog_names_take_ts(work, i);
}

/* The first tool in id order gets the name. The others wait until every name that needs no number is settled. */
static void catalog_names_settle(ts_work *work, uint32_t i) {
  lt_catalog_names *naming = work->naming;
  uint32_t rival = lt_tool_table_find(&naming->ts, naming->tools[i].ts_name);
  if (rival == LT_TOOL_TABLE_NONE) {
    rival = lt_tool_table_find(&work->types, naming->tools[i].ts_type);
  }
  if (rival == LT_TOOL_TABLE_NONE) {
    lt_tool_table_enter(&naming->ts, i);
    lt_tool_table_enter(&work->types, i);
    return;
  }
  work->entries[i].rival = rival;
  work->entries[i].pending = true;
}

/* The rival keeps the counter, so that many tools of one name do not each try all numbers again. */
static lt_status catalog_names_add_number(ts_work *work, uint32_t i) {
  lt_catalog_names *naming = work->naming;
  lt_str base = naming->tools[i].ts_name;
  uint32_t *number = &work->entries[work->entries[i].rival].number;
  do {
    *number = *number == 0 ? 2 : *number + 1;
    lt_buf_clear(&work->buf);
    lt_buf_add(&work->buf, base);
    lt_buf_printf(&work->buf, "_%u", (unsigned)*number);
    LT_TRY(catalog_names_take_ts(work, i));
  } while (lt_tool_table_find(&naming->ts, naming->tools[i].ts_name) != LT_TOOL_TABLE_NONE ||
           lt_tool_table_find(&work->types, naming->tools[i].ts_type) != LT_TOOL_TABLE_NONE);
  work->entries[i].reason = TS_NUMBERED;
  lt_tool_table_enter(&naming->ts, i);
  lt_tool_table_enter(&work->types, i);
  return LT_OK;
}

static lt_status catalog_names_warn_ts(ts_work *work, uint32_t i) {
  lt_str name = work->naming->tools[i].ts_name;
  switch (work->entries[i].reason) {
    case TS_PLAIN:
      return LT_OK;
    case TS_PREFIXED:
      return catalog_names_warn_renamed(work->naming, i, name, "TypeScript",
                                        catalog_names_change_reason(LT_IDENTIFIER_PREFIXED));
    case TS_SUFFIXED:
      return catalog_names_warn_renamed(work->naming, i, name, "TypeScript",
                                        catalog_names_change_reason(LT_IDENTIFIER_SUFFIXED));
    case TS_SERVER:
      return catalog_names_warn_renamed(work->naming, i, name, "TypeScript", "another server has a tool of this name");
    case TS_NUMBERED:
      return catalog_names_warn_renamed(work->naming, i, name, "TypeScript",
                                        "another tool or its types have the name already");
  }
  return LT_OK;
}

static lt_status catalog_names_name_all_ts(ts_work *work) {
  lt_catalog_names *naming = work->naming;
  LT_TRY(catalog_names_find_shared(work));
  LT_TRY(catalog_names_find_foreign(work));
  LT_TRY(lt_tool_table_init(&naming->ts, naming->arena, naming->tools, offsetof(lt_tool, ts_name), naming->count));
  LT_TRY(lt_tool_table_init(&work->types, &work->arena, naming->tools, offsetof(lt_tool, ts_type), naming->count));
  for (uint32_t i = 0; i < naming->count; i++) {
    if (work->entries[work->entries[i].first].shared || work->entries[i].foreign) {
      LT_TRY(catalog_names_add_server(work, i));
    }
    catalog_names_settle(work, i);
  }
  for (uint32_t i = 0; i < naming->count; i++) {
    if (work->entries[i].pending) {
      LT_TRY(catalog_names_add_number(work, i));
    }
    LT_TRY(catalog_names_warn_ts(work, i));
  }
  return LT_OK;
}

/* --- Every language ----------------------------------------------------------------------------------------------- */
/* A name of a tool beside those of one language. The one of highest rank has it, as in Python. */
static lt_status catalog_names_add_long(ts_work *work, uint32_t i) {
  lt_catalog_names *naming = work->naming;
  lt_tool *tool = &naming->tools[i];
  if (tool->ns.n == 0) {
    return LT_OK;
  }
  catalog_names_make_long_name(work, i);
  LT_TRY(work->joined.status);
  LT_TRY(catalog_names_keep(naming, &work->buf, &tool->long_name));
  uint32_t owner = lt_tool_table_enter(&naming->longs, i);
  if (owner != i && lt_typegen_name_rank(tool->ns) > lt_typegen_name_rank(naming->tools[owner].ns)) {
    lt_tool_table_replace(&naming->longs, i);
  }
  return LT_OK;
}

/* A short name that several servers have belongs to none of them. */
static lt_status catalog_names_add_short(ts_work *work, uint32_t i) {
  lt_catalog_names *naming = work->naming;
  lt_tool *tool = &naming->tools[i];
  if (tool->of_plugin) {
    return LT_OK;
  }
  catalog_names_make_own_name(work, i);
  LT_TRY(catalog_names_keep(naming, &work->buf, &tool->short_name));
  lt_tool *first = &naming->tools[lt_tool_table_enter(&naming->shorts, i)];
  if (!lt_str_eq(first->ns, tool->ns)) {
    first->is_short_shared = tool->is_short_shared = true;
  }
  return LT_OK;
}

/* Keeps the snake_case of `name`; empty where it is the name itself. */
static lt_status catalog_names_make_snake(ts_work *work, lt_str name, lt_str *ret_snake) {
  lt_buf_clear(&work->buf);
  lt_identifier_snake(&work->buf, name);
  bool is_same = lt_str_eq(lt_buf_view(&work->buf), name);
  return is_same ? work->buf.status : catalog_names_keep(work->naming, &work->buf, ret_snake);
}

/* The names that models make of a camelCase one in Python. One that several tools have belongs to none of them. */
static lt_status catalog_names_add_snakes(ts_work *work, uint32_t i) {
  lt_catalog_names *naming = work->naming;
  lt_tool *tool = &naming->tools[i];
  LT_TRY(catalog_names_make_snake(work, tool->long_name, &tool->snake_long));
  LT_TRY(catalog_names_make_snake(work, tool->short_name, &tool->snake_short));
  uint32_t first = tool->snake_long.n > 0 ? lt_tool_table_enter(&naming->snake_longs, i) : i;
  if (first != i) {
    naming->tools[first].is_snake_long_shared = tool->is_snake_long_shared = true;
  }
  first = tool->snake_short.n > 0 ? lt_tool_table_enter(&naming->snake_shorts, i) : i;
  if (first != i) {
    naming->tools[first].is_snake_short_shared = tool->is_snake_short_shared = true;
  }
  return LT_OK;
}

static lt_status catalog_names_init_table(lt_catalog_names *naming, lt_tool_table *table, size_t field) {
  return lt_tool_table_init(table, naming->arena, naming->tools, field, naming->count);
}

static lt_status catalog_names_name_all_languages(ts_work *work) {
  lt_catalog_names *naming = work->naming;
  LT_TRY(catalog_names_init_table(naming, &naming->longs, offsetof(lt_tool, long_name)));
  LT_TRY(catalog_names_init_table(naming, &naming->shorts, offsetof(lt_tool, short_name)));
  LT_TRY(catalog_names_init_table(naming, &naming->snake_longs, offsetof(lt_tool, snake_long)));
  LT_TRY(catalog_names_init_table(naming, &naming->snake_shorts, offsetof(lt_tool, snake_short)));
  for (uint32_t i = 0; i < naming->count; i++) {
    LT_TRY(catalog_names_add_long(work, i));
    LT_TRY(catalog_names_add_short(work, i));
    LT_TRY(catalog_names_add_snakes(work, i));
  }
  return LT_OK;
}

lt_status lt_catalog_names_assign(lt_catalog_names *naming) {
  ts_work work = {.naming = naming};
  lt_arena_init(&work.arena, LT_CATALOG_MAX_BYTES);
  lt_buf_init(&work.buf, LT_CATALOG_MAX_BYTES);
  lt_buf_init(&work.joined, LT_CATALOG_MAX_BYTES);
  lt_status status = LT_E_NOMEM;
  work.entries = lt_arena_zalloc(&work.arena, naming->count, sizeof *work.entries);
  if (work.entries != NULL) {
    status = catalog_names_name_all_js(naming, &work.buf);
  }
  if (status == LT_OK) {
    status = catalog_names_name_all_ts(&work);
  }
  if (status == LT_OK) {
    status = catalog_names_name_all_languages(&work);
  }
  lt_buf_release(&work.buf);
  lt_buf_release(&work.joined);
  lt_arena_release(&work.arena);
  return status;
}
