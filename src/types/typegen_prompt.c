/* The prompt's listing, within a budget.
 *
 * Each namespace is a group with a level of detail. The cost of each level is measured. Then the levels are raised
 * within the budget, each level for all groups before the next level for any group. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokens.h"
#include "types/typegen.h"
#include "types/typegen_text.h"

typedef enum listing_detail { UNLISTED, COUNTED, NAMED, BRIEF, SHORT, FULL, DETAILS } listing_detail;

/* characters of a description, by level */
static const size_t description_chars[DETAILS] = {[BRIEF] = LT_TYPEGEN_PROMPT_MAX_CHARS / 4,
                                                  [SHORT] = LT_TYPEGEN_PROMPT_MAX_CHARS / 2,
                                                  [FULL] = LT_TYPEGEN_PROMPT_MAX_CHARS};

typedef struct listing_cost {
  size_t tokens;
  size_t bytes;
} listing_cost;

typedef struct listing_group {
  const lt_typegen_tool *const *tools;
  size_t count;
  listing_detail level;
  listing_cost costs[DETAILS];
} listing_group;

typedef struct tool_listing {
  const lt_typegen_tool **sorted; /* by namespace and id */
  size_t count;
  listing_group *groups;
  listing_group **order; /* the groups in the order in which their levels are raised */
  size_t group_count;
  listing_cost limit;
  listing_cost total;
  lt_buf scratch;
} tool_listing;

/* --- Text --------------------------------------------------------------------------------------------------------- */
static void listing_put_name(lt_buf *out, const lt_typegen_tool *tool) {
  if (tool->js_name.n > 0) {
    lt_typegen_put_line(out, tool->js_name, LT_TYPEGEN_NAME_MAX_CHARS);
  } else {
    lt_buf_addc(out, "tools[");
    lt_typegen_put_string(out, tool->id);
    lt_buf_byte(out, ']');
  }
}

static void listing_put_tool(lt_buf *out, const lt_typegen_tool *tool, listing_detail how) {
  listing_put_name(out, tool);
  if (how < BRIEF) {
    return;
  }
  lt_buf_addc(out, " (ID: ");
  lt_typegen_put_line(out, tool->id, LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_byte(out, ')');
  size_t before = out->n;
  lt_buf_addc(out, " - ");
  size_t start = out->n;
  lt_typegen_put_sentence(out, tool->description, description_chars[how]);
  if (out->n == start) {
    lt_buf_cut(out, before);
  }
}

static void listing_put_number(lt_buf *out, size_t n, const char *of) {
  lt_buf_printf(out, "%zu %s%s", n, of, n == 1 ? "" : "s");
}

static void listing_put_group(lt_buf *out, const listing_group *g, listing_detail how) {
  if (how == UNLISTED) {
    return;
  }
  lt_str ns = g->tools[0]->ns;
  lt_buf_addc(out, "**");
  lt_typegen_put_line(out, ns.n > 0 ? ns : LT_STR("_"), LT_TYPEGEN_NAME_MAX_CHARS);
  lt_buf_addc(out, "**: ");
  if (how == COUNTED) {
    listing_put_number(out, g->count, "tool");
  }
  for (size_t i = 0; how > COUNTED && i < g->count; i++) {
    lt_buf_addc(out, i > 0 ? " | " : "");
    listing_put_tool(out, g->tools[i], how);
  }
  lt_buf_byte(out, '\n');
}

/* The first line of a shortened listing. It is shorter than the classic definition of one tool. */
static void listing_put_lead(lt_buf *out, size_t tools) {
  listing_put_number(out, tools, "tool");
  lt_buf_addc(out, ": discoverTools(\"words\") finds them, toolSchema(id) tells the input.\n");
}

static void listing_put_unlisted(lt_buf *out, size_t groups) {
  lt_buf_addc(out, "... and ");
  listing_put_number(out, groups, "more namespace");
  lt_buf_byte(out, '\n');
}

/* --- Costs -------------------------------------------------------------------------------------------------------- */
static listing_cost listing_cost_of(lt_buf *text) {
  listing_cost c = {.tokens = lt_tokens_estimate(lt_buf_view(text)), .bytes = text->n};
  text->n = 0;
  return c;
}

static listing_cost listing_plus(listing_cost a, listing_cost b) {
  return (listing_cost){a.tokens + b.tokens, a.bytes + b.bytes};
}

static listing_cost listing_minus(listing_cost a, listing_cost b) {
  return (listing_cost){a.tokens - b.tokens, a.bytes - b.bytes};
}

static bool listing_fits(const tool_listing *l, listing_cost c) {
  return c.tokens <= l->limit.tokens && c.bytes <= l->limit.bytes;
}

static listing_cost listing_cost_of_all(tool_listing *l, listing_detail how) {
  listing_cost sum = {0};
  for (size_t i = 0; i < l->group_count; i++) {
    listing_group *g = &l->groups[i];
    listing_put_group(&l->scratch, g, how);
    g->costs[how] = listing_cost_of(&l->scratch);
    sum = listing_plus(sum, g->costs[how]);
  }
  return sum;
}

/* The least that the classic definitions take. The name is the id, cut to 64 characters. A schema counts as "{}". */
static size_t listing_classic_bytes(const lt_typegen_tool *tools, size_t count) {
  static const char frame[] =
      "{\"type\":\"function\",\"function\":{\"name\":\"\",\"description\":\"\",\"parameters\":{}}},";
  size_t sum = 1; /* two brackets, minus one comma */
  for (size_t i = 0; i < count; i++) {
    size_t chars = 0;
    for (size_t k = 0; k < tools[i].id.n && chars < 64; k++) {
      chars += !lt_utf8_continues(tools[i].id.p[k]);
    }
    sum += sizeof frame - 1 + chars + tools[i].description.n;
  }
  return sum;
}

/* --- Levels of detail --------------------------------------------------------------------------------------------- */
static void listing_set_all_levels(tool_listing *l, listing_detail how) {
  for (size_t i = 0; i < l->group_count; i++) {
    l->groups[i].level = how;
  }
}

static int listing_larger_first(const void *a, const void *b) {
  const listing_group *x = *(const listing_group *const *)a;
  const listing_group *y = *(const listing_group *const *)b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x > y) - (x < y);
}

/* When even the numbers of all namespaces do not fit: those of the largest. */
static void listing_count_largest(tool_listing *l) {
  listing_set_all_levels(l, UNLISTED);
  listing_put_unlisted(&l->scratch, l->group_count);
  l->total = listing_plus(l->total, listing_cost_of(&l->scratch));
  qsort(l->order, l->group_count, sizeof(*l->order), listing_larger_first);
  for (size_t i = 0; i < l->group_count; i++) {
    listing_cost sum = listing_plus(l->total, l->order[i]->costs[COUNTED]);
    if (!listing_fits(l, sum)) {
      return;
    }
    l->total = sum;
    l->order[i]->level = COUNTED;
  }
}

static int listing_cheaper_first(const void *a, const void *b, void *arg) {
  const listing_group *x = *(const listing_group *const *)a;
  const listing_group *y = *(const listing_group *const *)b;
  listing_detail how = *(const listing_detail *)arg;
  size_t x_bytes = x->costs[how].bytes;
  size_t y_bytes = y->costs[how].bytes;
  return x_bytes != y_bytes ? (x_bytes > y_bytes) - (x_bytes < y_bytes) : (x > y) - (x < y);
}

/* Raises the level of the groups that have the level below, as far as the budget allows. */
static void listing_raise_levels(tool_listing *l, listing_detail how) {
  qsort_r(l->order, l->group_count, sizeof(*l->order), listing_cheaper_first, &how);
  for (size_t i = 0; i < l->group_count; i++) {
    listing_group *g = l->order[i];
    if (g->level + 1 != how) {
      continue;
    }
    listing_cost sum = listing_plus(listing_minus(l->total, g->costs[g->level]), g->costs[how]);
    if (!listing_fits(l, sum)) {
      return;
    }
    l->total = sum;
    g->level = how;
  }
}

/* Sets each group's level of detail. Returns whether a first line is needed. */
static bool listing_choose(tool_listing *l) {
  listing_detail how = FULL;
  for (; how >= BRIEF; how--) {
    l->total = listing_cost_of_all(l, how);
    if (listing_fits(l, l->total)) {
      break;
    }
  }
  bool lead = how < BRIEF;
  if (lead) {
    listing_cost_of_all(l, NAMED);
    how = COUNTED;
    l->total = listing_cost_of_all(l, COUNTED);
    listing_put_lead(&l->scratch, l->count);
    listing_cost first = listing_cost_of(&l->scratch);
    if (!listing_fits(l, listing_plus(l->total, first))) {
      l->total = first;
      listing_count_largest(l);
      return true;
    }
    l->total = listing_plus(l->total, first);
  }
  listing_set_all_levels(l, how);
  while (++how <= FULL) {
    listing_raise_levels(l, how);
  }
  return lead;
}

static void listing_put_listing(const tool_listing *l, bool lead, lt_buf *out) {
  size_t unlisted = 0;
  if (lead) {
    listing_put_lead(out, l->count);
  }
  for (size_t i = 0; i < l->group_count && out->status == LT_OK; i++) {
    listing_put_group(out, &l->groups[i], l->groups[i].level);
    unlisted += l->groups[i].level == UNLISTED;
  }
  if (unlisted > 0 && unlisted < l->group_count) { /* when no namespace is listed, the first line is enough */
    listing_put_unlisted(out, unlisted);
  }
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */
static int listing_by_namespace(const void *a, const void *b) {
  const lt_typegen_tool *x = *(const lt_typegen_tool *const *)a;
  const lt_typegen_tool *y = *(const lt_typegen_tool *const *)b;
  int order = lt_str_cmp(x->ns, y->ns);
  return order != 0 ? order : lt_str_cmp(x->id, y->id);
}

static void listing_make_groups(tool_listing *l, const lt_typegen_tool *tools) {
  for (size_t i = 0; i < l->count; i++) {
    l->sorted[i] = &tools[i];
  }
  qsort(l->sorted, l->count, sizeof(*l->sorted), listing_by_namespace);
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
  tool_listing l = {.count = count,
                    .sorted = lt_mem_zalloc(count + 1, sizeof(*l.sorted)),
                    .groups = lt_mem_zalloc(count + 1, sizeof(*l.groups)),
                    .order = lt_mem_zalloc(count + 1, sizeof(*l.order)),
                    .limit = {.tokens = max_tokens == 0      ? SIZE_MAX
                                        : max_tokens < least ? least
                                                             : max_tokens,
                              .bytes = listing_classic_bytes(tools, count)}};
  lt_buf_init(&l.scratch, LT_JSON_MAX_BYTES); /* the measured text may be longer than the listing */
  lt_status status = LT_E_NOMEM;
  if (l.sorted != NULL && l.groups != NULL && l.order != NULL) {
    listing_make_groups(&l, tools);
    bool lead = listing_choose(&l);
    status = l.scratch.status;
    if (status == LT_OK) {
      listing_put_listing(&l, lead, out);
      status = out->status;
    }
  }
  lt_buf_release(&l.scratch);
  lt_mem_free(l.order);
  lt_mem_free(l.groups);
  lt_mem_free(l.sorted);
  return lt_fail_if(err, status, "the listing of %zu tools is too long", count);
}

lt_status lt_typegen_prompt(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  return lt_typegen_prompt_budget(tools, count, 0, out, err);
}
