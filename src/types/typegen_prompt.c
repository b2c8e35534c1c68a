/* The prompt's listing, within a budget.
 *
 * Each namespace is a group, told in one of several details; what each costs is measured, and then as much is told as
 * fits: of all groups a little before of some more. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokens.h"
#include "types/typegen.h"
#include "types/typegen_text.h"

typedef enum detail { UNTOLD, COUNTED, NAMED, BRIEF, SHORT, FULL, DETAILS } detail;

/* Of a description. */
static const size_t description_chars[DETAILS] = {[BRIEF] = LT_TYPEGEN_PROMPT_MAX_CHARS / 4,
                                                  [SHORT] = LT_TYPEGEN_PROMPT_MAX_CHARS / 2,
                                                  [FULL] = LT_TYPEGEN_PROMPT_MAX_CHARS};

typedef struct cost {
  size_t tokens;
  size_t bytes;
} cost;

typedef struct group {
  const lt_typegen_tool *const *tools;
  size_t count;
  detail told;
  cost costs[DETAILS];
} group;

typedef struct listing {
  const lt_typegen_tool **sorted; /* by namespace and id */
  size_t count;
  group *groups;
  group **order; /* the groups as they are considered */
  size_t group_count;
  cost limit;
  cost total;
  lt_buf scratch;
} listing;

/* --- Text --------------------------------------------------------------------------------------------------------- */
static void put_name(lt_buf *out, const lt_typegen_tool *tool) {
  if (tool->js_name.n > 0) {
    lt_typegen_put_line(out, tool->js_name, LT_TYPEGEN_NAME_MAX_CHARS);
  } else {
    lt_buf_addc(out, "tools[");
    lt_typegen_put_string(out, tool->id);
    lt_buf_byte(out, ']');
  }
}

static void put_tool(lt_buf *out, const lt_typegen_tool *tool, detail how) {
  put_name(out, tool);
  if (how < BRIEF) {
    return;
  }
  lt_buf_addc(out, " (ID: ");
  lt_typegen_put_line(out, tool->id, LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_byte(out, ')');
  size_t before = out->n;
  lt_buf_addc(out, " - ");
  size_t told = out->n;
  lt_typegen_put_sentence(out, tool->description, description_chars[how]);
  if (out->status == LT_OK && out->n == told) {
    out->n = before;
    out->p[before] = '\0';
  }
}

static void put_number(lt_buf *out, size_t n, const char *of) {
  lt_buf_printf(out, "%zu %s%s", n, of, n == 1 ? "" : "s");
}

static void put_group(lt_buf *out, const group *g, detail how) {
  if (how == UNTOLD) {
    return;
  }
  lt_str ns = g->tools[0]->ns;
  lt_buf_addc(out, "**");
  lt_typegen_put_line(out, ns.n > 0 ? ns : LT_STR("_"), LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_addc(out, "**: ");
  if (how == COUNTED) {
    put_number(out, g->count, "tool");
  }
  for (size_t i = 0; how > COUNTED && i < g->count; i++) {
    lt_buf_addc(out, i > 0 ? " | " : "");
    put_tool(out, g->tools[i], how);
  }
  lt_buf_byte(out, '\n');
}

/* The first line where not all is told. Shorter than the classic definition of even one tool. */
static void put_lead(lt_buf *out, size_t tools) {
  put_number(out, tools, "tool");
  lt_buf_addc(out, ": discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n");
}

static void put_untold(lt_buf *out, size_t groups) {
  lt_buf_addc(out, "... and ");
  put_number(out, groups, "more namespace");
  lt_buf_byte(out, '\n');
}

/* --- Costs -------------------------------------------------------------------------------------------------------- */
static cost cost_of(lt_buf *text) {
  cost c = {.tokens = lt_tokens_estimate(lt_buf_view(text)), .bytes = text->n};
  text->n = 0;
  return c;
}

static cost plus(cost a, cost b) {
  return (cost){a.tokens + b.tokens, a.bytes + b.bytes};
}

static cost minus(cost a, cost b) {
  return (cost){a.tokens - b.tokens, a.bytes - b.bytes};
}

static bool fits(const listing *l, cost c) {
  return c.tokens <= l->limit.tokens && c.bytes <= l->limit.bytes;
}

static cost cost_of_all(listing *l, detail how) {
  cost sum = {0};
  for (size_t i = 0; i < l->group_count; i++) {
    group *g = &l->groups[i];
    put_group(&l->scratch, g, how);
    g->costs[how] = cost_of(&l->scratch);
    sum = plus(sum, g->costs[how]);
  }
  return sum;
}

/* What the classic definitions take at least. The name is the id, 64 characters at most; of a schema "{}" is counted.
 */
static size_t classic_bytes(const lt_typegen_tool *tools, size_t count) {
  static const char frame[] =
      "{\"type\":\"function\",\"function\":{\"name\":\"\",\"description\":\"\",\"parameters\":{}}},";
  size_t sum = 1; /* two brackets, and a comma less */
  for (size_t i = 0; i < count; i++) {
    size_t chars = 0;
    for (size_t k = 0; k < tools[i].id.n && chars < 64; k++) {
      chars += !lt_utf8_continues(tools[i].id.p[k]);
    }
    sum += sizeof frame - 1 + chars + tools[i].description.n;
  }
  return sum;
}

/* --- What is told ------------------------------------------------------------------------------------------------- */
static void tell_all(listing *l, detail how) {
  for (size_t i = 0; i < l->group_count; i++) {
    l->groups[i].told = how;
  }
}

static int larger_first(const void *a, const void *b) {
  const group *x = *(const group *const *)a;
  const group *y = *(const group *const *)b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x > y) - (x < y);
}

/* Not even the numbers fit: those of the largest namespaces. */
static void tell_largest(listing *l) {
  tell_all(l, UNTOLD);
  put_untold(&l->scratch, l->group_count);
  l->total = plus(l->total, cost_of(&l->scratch));
  qsort(l->order, l->group_count, sizeof(*l->order), larger_first);
  for (size_t i = 0; i < l->group_count; i++) {
    cost sum = plus(l->total, l->order[i]->costs[COUNTED]);
    if (!fits(l, sum)) {
      return;
    }
    l->total = sum;
    l->order[i]->told = COUNTED;
  }
}

static int cheaper_first(const void *a, const void *b, void *arg) {
  const group *x = *(const group *const *)a;
  const group *y = *(const group *const *)b;
  detail how = *(const detail *)arg;
  size_t x_bytes = x->costs[how].bytes;
  size_t y_bytes = y->costs[how].bytes;
  return x_bytes != y_bytes ? (x_bytes > y_bytes) - (x_bytes < y_bytes) : (x > y) - (x < y);
}

/* One detail more for the groups that have all the lesser ones, as far as it fits. */
static void tell_more(listing *l, detail how) {
  qsort_r(l->order, l->group_count, sizeof(*l->order), cheaper_first, &how);
  for (size_t i = 0; i < l->group_count; i++) {
    group *g = l->order[i];
    if (g->told + 1 != how) {
      continue;
    }
    cost sum = plus(minus(l->total, g->costs[g->told]), g->costs[how]);
    if (!fits(l, sum)) {
      return;
    }
    l->total = sum;
    g->told = how;
  }
}

/* Sets what is told of each group; returns whether a lead is needed. */
static bool choose(listing *l) {
  detail how = FULL;
  for (; how >= BRIEF; how--) {
    l->total = cost_of_all(l, how);
    if (fits(l, l->total)) {
      break;
    }
  }
  bool lead = how < BRIEF;
  if (lead) {
    cost_of_all(l, NAMED);
    how = COUNTED;
    l->total = cost_of_all(l, COUNTED);
    put_lead(&l->scratch, l->count);
    cost first = cost_of(&l->scratch);
    if (!fits(l, plus(l->total, first))) {
      l->total = first;
      tell_largest(l);
      return true;
    }
    l->total = plus(l->total, first);
  }
  tell_all(l, how);
  while (++how <= FULL) {
    tell_more(l, how);
  }
  return lead;
}

static void put_listing(const listing *l, bool lead, lt_buf *out) {
  size_t untold = 0;
  if (lead) {
    put_lead(out, l->count);
  }
  for (size_t i = 0; i < l->group_count && out->status == LT_OK; i++) {
    put_group(out, &l->groups[i], l->groups[i].told);
    untold += l->groups[i].told == UNTOLD;
  }
  if (untold > 0 && untold < l->group_count) { /* of none of them is in the lead */
    put_untold(out, untold);
  }
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */
static int by_namespace(const void *a, const void *b) {
  const lt_typegen_tool *x = *(const lt_typegen_tool *const *)a;
  const lt_typegen_tool *y = *(const lt_typegen_tool *const *)b;
  int order = lt_str_cmp(x->ns, y->ns);
  return order != 0 ? order : lt_str_cmp(x->id, y->id);
}

static void make_groups(listing *l, const lt_typegen_tool *tools) {
  for (size_t i = 0; i < l->count; i++) {
    l->sorted[i] = &tools[i];
  }
  qsort(l->sorted, l->count, sizeof(*l->sorted), by_namespace);
  for (size_t i = 0; i < l->count; i++) {
    if (i == 0 || !lt_str_eq(l->sorted[i]->ns, l->sorted[i - 1]->ns)) {
      l->order[l->group_count] = &l->groups[l->group_count];
      l->groups[l->group_count++].tools = &l->sorted[i];
    }
    l->groups[l->group_count - 1].count++;
  }
}

lt_status lt_typegen_prompt_budget(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                   lt_err *err) {
  size_t least = LT_LISTING_TOKENS_MIN;
  listing l = {.count = count,
               .sorted = lt_mem_zalloc(count + 1, sizeof(*l.sorted)),
               .groups = lt_mem_zalloc(count + 1, sizeof(*l.groups)),
               .order = lt_mem_zalloc(count + 1, sizeof(*l.order)),
               .limit = {.tokens = max_tokens == 0      ? SIZE_MAX
                                   : max_tokens < least ? least
                                                        : max_tokens,
                         .bytes = classic_bytes(tools, count)}};
  lt_buf_init(&l.scratch, LT_JSON_MAX_BYTES); /* what is measured may be longer than what is told */
  lt_status status = LT_E_NOMEM;
  if (l.sorted != NULL && l.groups != NULL && l.order != NULL) {
    make_groups(&l, tools);
    bool lead = choose(&l);
    status = l.scratch.status;
    if (status == LT_OK) {
      put_listing(&l, lead, out);
      status = out->status;
    }
  }
  lt_buf_release(&l.scratch);
  lt_mem_free(l.order);
  lt_mem_free(l.groups);
  lt_mem_free(l.sorted);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "the listing of %zu tools is too long", count);
}

lt_status lt_typegen_prompt(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  return lt_typegen_prompt_budget(tools, count, 0, out, err);
}
