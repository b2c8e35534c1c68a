/* References: finds the definitions that a schema uses, and names their types. */
#include "types/typegen_schema.h"
#include "types/typegen_ts.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

static bool ts_ref_is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

#define DEF_NAME_MAX_BYTES 64

/* Writes "GetWeatherInput_Node". A digit gets a "_" before it, so that the name differs from a tool's numbered name. */
static void ts_ref_put_def_name(lt_buf *out, lt_str type_name, lt_str part) {
  lt_buf_add(out, type_name);
  lt_buf_byte(out, '_');
  size_t begin = out->n;
  bool gap = false;
  for (size_t i = 0; i < part.n && out->n - begin < DEF_NAME_MAX_BYTES; i++) {
    char c = part.p[i];
    if (!ts_ref_is_name_char(c)) {
      gap = true;
      continue;
    }
    bool first = out->n == begin;
    if (first ? c >= '0' && c <= '9' : gap) {
      lt_buf_byte(out, '_');
    }
    lt_buf_byte(out, first && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
    gap = false;
  }
  if (out->n == begin) {
    lt_buf_addc(out, "Def");
  }
}

static bool ts_ref_is_name_taken(const lt_typegen_ts_context *g, lt_str name) {
  for (size_t i = 0; i < g->def_count; i++) {
    if (lt_str_eq(g->defs[i].name, name)) {
      return true;
    }
  }
  return false;
}

/* A name that nothing else in this schema has. */
static lt_str ts_ref_new_def_name(lt_typegen_ts_context *g, lt_str part) {
  lt_buf_clear(&g->doc);
  ts_ref_put_def_name(&g->doc, g->name, part);
  size_t plain = g->doc.n;
  for (unsigned n = 2; g->doc.status == LT_OK && ts_ref_is_name_taken(g, lt_buf_view(&g->doc)); n++) {
    g->doc.n = plain;
    lt_buf_printf(&g->doc, "_%u", n);
  }
  return lt_arena_dup_buf(g->arena, &g->doc);
}

/* --- References --------------------------------------------------------------------------------------------------- */

static size_t ts_ref_find_def(const lt_typegen_ts_context *g, lt_str ref) {
  size_t i = 0;
  while (i < g->def_count && !lt_str_eq(g->defs[i].ref, ref)) {
    i++;
  }
  return i;
}

/* Makes room for one more definition. */
static bool ts_ref_grow_defs(lt_typegen_ts_context *g) {
  if (g->def_count < g->def_cap) {
    return true;
  }
  size_t cap = g->def_cap == 0 ? 8 : g->def_cap * 2;
  lt_typegen_ts_def *defs = lt_arena_zalloc(g->arena, cap, sizeof(*defs));
  if (defs == NULL) {
    return false;
  }
  if (g->def_count > 0) {
    memcpy(defs, g->defs, g->def_count * sizeof(*defs));
  }
  g->defs = defs;
  g->def_cap = cap;
  return true;
}

static bool ts_ref_add_def(lt_typegen_ts_context *g, lt_str ref) {
  lt_typegen_ts_def def = {.ref = ref, .same_as = g->def_count};
  lt_str part;
  if (!ts_ref_grow_defs(g) || lt_typegen_resolve(g->root, ref, g->arena, &def.target, &part) != LT_OK) {
    return false;
  }
  for (size_t i = 0; i < g->def_count && lt_json_exists(def.target); i++) {
    if (g->defs[i].same_as == i && g->defs[i].target.at == def.target.at && lt_json_exists(g->defs[i].target)) {
      def.same_as = i;
    }
  }
  if (lt_json_exists(def.target) && def.target.at != g->root.at && def.same_as == g->def_count) {
    def.name = ts_ref_new_def_name(g, part);
    if (def.name.p == NULL) {
      return false;
    }
  }
  g->defs[g->def_count++] = def;
  return true;
}

/* Finds the definition of a schema's $ref. NULL: it is no string, there are too many definitions, or there is no
 * memory. */
static const lt_typegen_ts_def *ts_ref_def_of(lt_typegen_ts_context *g, lt_json ref) {
  lt_str text;
  if (lt_json_typeof(ref) != LT_JSON_STRING) {
    return NULL;
  }
  if (!lt_json_str(ref, g->arena, &text)) {
    g->status = LT_E_NOMEM;
    return NULL;
  }
  size_t i = ts_ref_find_def(g, text);
  if (i == g->def_count) {
    if (i == LT_TYPEGEN_DEFS_MAX) {
      return NULL;
    }
    if (!ts_ref_add_def(g, text)) {
      g->status = LT_E_NOMEM;
      return NULL;
    }
  }
  return &g->defs[i];
}

lt_typegen_ts_where lt_typegen_ts_within(lt_typegen_ts_where where, lt_json schema) {
  where.eager |= lt_typegen_is_loose_tuple(schema) || (!where.in_array && lt_typegen_is_crossed(schema));
  return where;
}

static bool ts_ref_leads_to(lt_typegen_ts_context *g, lt_json schema, lt_typegen_ts_where where, int *budget);

/* Visits one schema or each schema of a list. */
static bool ts_ref_part_leads_to(lt_typegen_ts_context *g, lt_json part, lt_typegen_ts_where where, int *budget) {
  if (lt_json_typeof(part) == LT_JSON_OBJECT) {
    return ts_ref_leads_to(g, part, where, budget);
  }
  lt_json_iter it = lt_json_each(part);
  while (lt_json_next(&it)) {
    if (lt_json_typeof(it.value) == LT_JSON_OBJECT && ts_ref_leads_to(g, it.value, where, budget)) {
      return true;
    }
  }
  return false;
}

/* Whether the type of `schema` would refer to the declared type itself, through references, alternatives and arrays
 * that TypeScript evaluates at once. TypeScript refuses such a type ("circularly references itself"). In doubt, the
 * result is true. */
static bool ts_ref_leads_to(lt_typegen_ts_context *g, lt_json schema, lt_typegen_ts_where where, int *budget) {
  static const lt_typegen_keyword same[] = {LT_KEY_ANY_OF, LT_KEY_ONE_OF, LT_KEY_ALL_OF};
  static const lt_typegen_keyword members[] = {LT_KEY_ITEMS, LT_KEY_PREFIX_ITEMS, LT_KEY_ADDITIONAL_ITEMS};
  if (schema.at == g->defining.at || --*budget < 0 || g->steps++ >= LT_TYPEGEN_STEPS_MAX) {
    return true;
  }
  where = lt_typegen_ts_within(where, schema);
  lt_json ref = lt_typegen_key(schema, LT_KEY_REF);
  const lt_typegen_ts_def *def =
      lt_json_exists(ref) && !lt_typegen_ts_is_deferred(where) ? ts_ref_def_of(g, ref) : NULL;
  bool found = def != NULL && lt_json_exists(def->target) && ts_ref_leads_to(g, def->target, where, budget);
  for (size_t i = 0; i < 3 && !found; i++) {
    found = ts_ref_part_leads_to(g, lt_typegen_key(schema, same[i]), where, budget);
  }
  where.in_array = true;
  for (size_t i = 0; i < 3 && !found; i++) {
    found = ts_ref_part_leads_to(g, lt_typegen_key(schema, members[i]), where, budget);
  }
  return found;
}

void lt_typegen_ts_put_reference(lt_typegen_ts_context *g, lt_json ref) {
  const lt_typegen_ts_def *def = ts_ref_def_of(g, ref);
  if (def == NULL) {
    lt_typegen_ts_put_any(g, g->def_count == LT_TYPEGEN_DEFS_MAX ? "too many definitions" : "$ref is not a string",
                          LT_STR_NULL);
    return;
  }
  if (!lt_json_exists(def->target)) {
    bool local = def->ref.n > 0 && def->ref.p[0] == '#';
    lt_typegen_ts_put_any(g, local ? "no such definition:" : "not a local reference:", def->ref);
    return;
  }
  int budget = 200;
  if (g->direct && !lt_typegen_ts_is_deferred(g->where) && ts_ref_leads_to(g, def->target, g->where, &budget)) {
    lt_typegen_ts_put_any(g, "a reference to itself:", def->ref);
    return;
  }
  lt_buf_add(g->out, def->target.at == g->root.at ? g->name : g->defs[def->same_as].name);
}
