#include "tool/catalog_suggest.h"

#include <limits.h>

#include "base/limits.h"

static char suggest_fold_case(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t suggest_min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

#define NOT_NEAR UINT_MAX
/* Less is nearer. A typing error is nearer than a longer name with the same beginning, and that is nearer than a
 * name with a similar beginning. */
#define SCORE_PER_EDIT 1000
#define SCORE_PREFIX   10000
#define SCORE_INSIDE   20000
#define SCORE_ALIKE    30000
#define PART_MIN_BYTES 3   /* shorter parts are everywhere */
#define PART_MAX_BYTES 256 /* longer names would take too much time */

static size_t suggest_common_prefix(lt_str a, lt_str b) {
  size_t n = suggest_min_size(a.n, b.n);
  size_t i = 0;
  while (i < n && suggest_fold_case(a.p[i]) == suggest_fold_case(b.p[i])) {
    i++;
  }
  return i;
}

static bool suggest_contains(lt_str s, lt_str part) {
  for (size_t i = 0; part.n <= s.n && i <= s.n - part.n; i++) {
    if (suggest_common_prefix(lt_str_sub(s, i, s.n), part) == part.n) {
      return true;
    }
  }
  return false;
}

/* The number of typing errors that is believable: one in three characters, five at most. */
static unsigned suggest_edits_allowed(lt_str wanted) {
  return (unsigned)suggest_min_size(5, wanted.n < 3 ? 1 : wanted.n / 3);
}

static unsigned suggest_nearness(lt_str wanted, lt_str name) {
  if (name.n == 0) {
    return NOT_NEAR;
  }
  unsigned allowed = suggest_edits_allowed(wanted);
  unsigned edits = lt_str_distance(wanted, name, allowed);
  if (edits <= allowed) {
    return edits * SCORE_PER_EDIT;
  }
  lt_str shorter = wanted.n < name.n ? wanted : name;
  lt_str longer = wanted.n < name.n ? name : wanted;
  unsigned gap = (unsigned)suggest_min_size(longer.n - shorter.n, SCORE_PER_EDIT);
  if (shorter.n < PART_MIN_BYTES || longer.n > PART_MAX_BYTES) {
    return NOT_NEAR;
  }
  size_t prefix = suggest_common_prefix(shorter, longer);
  if (prefix == shorter.n) {
    return SCORE_PREFIX + gap;
  }
  if (suggest_contains(longer, shorter)) {
    return SCORE_INSIDE + gap;
  }
  return prefix > PART_MIN_BYTES && prefix * 2 > longer.n
             ? SCORE_ALIKE + (unsigned)suggest_min_size(longer.n - prefix, SCORE_PER_EDIT)
             : NOT_NEAR;
}

/* The tool's name that is nearest; an id wins over an equally near other name. */
static unsigned suggest_nearest_name(const lt_tool *tool, lt_str wanted, lt_str *ret_name) {
  const lt_str names[] = {tool->id, tool->js_name, tool->ts_name};
  unsigned best = NOT_NEAR;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    unsigned score = suggest_nearness(wanted, names[i]);
    if (score < best) {
      best = score;
      *ret_name = names[i];
    }
  }
  return best;
}

/* Finds up to LT_TOOL_SUGGESTIONS tools, best first. Returns their number. */
static size_t suggest_find(const lt_catalog *catalog, lt_str name, lt_tool_suggestion ret[]) {
  unsigned scores[LT_TOOL_SUGGESTIONS];
  size_t found = 0;
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_tool_suggestion near = {.tool = lt_catalog_at(catalog, i)};
    unsigned score = suggest_nearest_name(near.tool, name, &near.name);
    if (score == NOT_NEAR || (found == LT_TOOL_SUGGESTIONS && score >= scores[found - 1])) {
      continue;
    }
    size_t at = found < LT_TOOL_SUGGESTIONS ? found++ : found - 1;
    for (; at > 0 && scores[at - 1] > score; at--) {
      scores[at] = scores[at - 1];
      ret[at] = ret[at - 1];
    }
    scores[at] = score;
    ret[at] = near;
  }
  /* Names that only begin alike are offered when there are no better ones: all tools of one server begin alike. */
  while (found > 1 && scores[found - 1] >= SCORE_ALIKE && scores[0] < SCORE_ALIKE) {
    found--;
  }
  return found;
}

static bool suggest_has_shared(const lt_tool *tool, lt_str name) {
  return (tool->is_short_shared && lt_str_eq(tool->short_name, name)) ||
         (tool->is_snake_long_shared && lt_str_eq(tool->snake_long, name)) ||
         (tool->is_snake_short_shared && lt_str_eq(tool->snake_short, name));
}

/* A name that several tools have: names them. False: it is none, or the reader sees fewer than two. */
static bool suggest_put_shared(const lt_catalog *catalog, lt_str name, lt_catalog_suggest_fn put, void *arg,
                               lt_buf *message) {
  size_t before = message->n;
  unsigned count = 0;
  for (size_t i = 0; i < lt_catalog_count(catalog) && count < LT_TOOL_SUGGESTIONS; i++) {
    lt_tool_suggestion shared = {.tool = lt_catalog_at(catalog, i), .name = lt_catalog_at(catalog, i)->id};
    if (!suggest_has_shared(shared.tool, name)) {
      continue;
    }
    size_t start = message->n;
    bool has_stop = start > 0 && message->p[start - 1] == '.';
    lt_buf_addc(message, count > 0 ? " or " : has_stop ? " " : ". ");
    lt_buf_addc(message, count > 0                      ? ""
                         : shared.tool->is_short_shared ? "Several servers have a tool of that name: call "
                                                        : "Several tools have that name in snake_case: call ");
    size_t named = message->n;
    put(arg, &shared, message);
    count += message->n > named ? 1 : 0;
    lt_buf_cut(message, message->n > named ? message->n : start);
  }
  lt_buf_cut(message, count > 1 ? message->n : before);
  return count > 1;
}

bool lt_catalog_suggest_put(const lt_catalog *catalog, lt_str name, lt_catalog_suggest_fn put, void *arg,
                            lt_buf *message) {
  lt_tool_suggestion near[LT_TOOL_SUGGESTIONS];
  if (suggest_put_shared(catalog, name, put, arg, message)) {
    lt_buf_byte(message, '.');
    return true;
  }
  size_t count = name.n > 0 ? suggest_find(catalog, name, near) : 0;
  bool is_first = true;
  for (size_t i = 0; i < count; i++) {
    size_t before = message->n;
    bool has_stop = before > 0 && message->p[before - 1] == '.';
    lt_buf_addc(message, !is_first ? ", " : has_stop ? " Did you mean: " : ". Did you mean: ");
    size_t start = message->n;
    put(arg, &near[i], message);
    if (message->n > start) {
      is_first = false;
    } else {
      lt_buf_cut(message, before);
    }
  }
  lt_buf_addc(message, is_first ? "" : "?");
  return !is_first;
}

/* --- The message for an unknown id -------------------------------------------------------------------------------- */
static void suggest_put_id(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  (void)arg;
  lt_buf_add(message, suggestion->tool->id);
}

static void suggest_add_available(const lt_catalog *catalog, lt_buf *out) {
  size_t count = lt_catalog_count(catalog);
  size_t listed = count < LT_TOOL_LISTED_MAX ? count : LT_TOOL_LISTED_MAX;
  lt_buf_addc(out, count > 0 ? " Available tools: " : " No tools are available.");
  for (size_t i = 0; i < listed; i++) {
    lt_buf_addc(out, i > 0 ? ", " : "");
    lt_buf_add(out, lt_catalog_at(catalog, i)->id);
  }
  if (count > listed) {
    lt_buf_printf(out, " and %zu more", count - listed);
  }
}

void lt_catalog_explain_unknown(const lt_catalog *catalog, lt_str id, lt_buf *out) {
  lt_buf_addc(out, "Tool \"");
  lt_buf_add(out, id);
  lt_buf_addc(out, "\" not found.");
  lt_catalog_suggest_put(catalog, id, suggest_put_id, NULL, out);
  suggest_add_available(catalog, out);
}
