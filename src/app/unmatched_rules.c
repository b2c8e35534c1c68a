#include "app/unmatched_rules.h"

#include <limits.h>

#include "base/limits.h"
#include "base/nearest.h"
#include "tool/policy/policy_explain.h"
#include "tool/policy/policy_text.h"

typedef struct unmatched_search {
  const lt_unmatched_rules_options *o;
  const lt_catalog *catalog;
  size_t warned;
} unmatched_search;

/* --- Whether a glob fits something -------------------------------------------------------------------------------- */

static bool unmatched_fits_known_tool(const unmatched_search *s, lt_str match) {
  for (size_t i = 0; i < lt_catalog_count(s->catalog); i++) {
    if (lt_policy_glob(match, lt_catalog_at(s->catalog, i)->id)) {
      return true;
    }
  }
  return false;
}

/* Whether it can match a tool of this namespace; without a namespace, any id. */
static bool unmatched_fits_namespace(lt_str match, lt_str ns) {
  LT_AUTO_BUF(prefix, LT_CATALOG_MAX_BYTES);
  lt_buf_add(&prefix, ns);
  lt_buf_addc(&prefix, ns.n > 0 ? "." : "");
  return prefix.status != LT_OK || lt_policy_may_begin(match, lt_buf_view(&prefix));
}

static bool unmatched_is_listed(const unmatched_search *s, lt_str ns) {
  for (size_t i = 0; i < lt_catalog_count(s->catalog); i++) {
    if (lt_str_eq(lt_catalog_at(s->catalog, i)->ns, ns)) {
      return true;
    }
  }
  return false;
}

/* Servers that are down, disabled or without tools. */
static bool unmatched_fits_silent_server(const unmatched_search *s, lt_str match) {
  for (size_t i = 0; i < s->o->config->server_count; i++) {
    lt_str name = lt_str_of(s->o->config->servers[i].name);
    if (!unmatched_is_listed(s, name) && unmatched_fits_namespace(match, name)) {
      return true;
    }
  }
  return false;
}

static bool unmatched_fits_plugin(const unmatched_search *s, lt_str match) {
  lt_str ns;
  for (size_t i = 0; lt_host_open_namespace(s->o->host, i, &ns); i++) {
    if (ns.p != NULL && unmatched_fits_namespace(match, ns)) {
      return true;
    }
  }
  return false;
}

/* The tools of built-in plugins, also of those that are not loaded. */
static bool unmatched_fits_built_in(lt_str match) {
  static const char *const ids[] = {"artifact.get",         "artifact.list", "artifact.store",
                                    "interpreter.run-code", "execute_code",  "execute_plan"};
  size_t i = 0;
  while (i < sizeof ids / sizeof ids[0] && !lt_policy_glob(match, lt_str_of(ids[i]))) {
    i++;
  }
  return i < sizeof ids / sizeof ids[0];
}

static bool unmatched_fits(const unmatched_search *s, lt_str match) {
  return unmatched_fits_known_tool(s, match) || unmatched_fits_silent_server(s, match) ||
         unmatched_fits_plugin(s, match) || unmatched_fits_built_in(match);
}

/* --- The nearest name --------------------------------------------------------------------------------------------- */

/* The number of edits that a typing error has: one in three characters, five at most. */
static unsigned unmatched_edits(size_t characters) {
  size_t edits = characters < 3 ? 1 : characters / 3;
  return edits < 5 ? (unsigned)edits : 5;
}

/* A glob without a beginning, such as "*delete*", is written as a precaution. It counts as mistyped only if something
 * is very near. */
static unsigned unmatched_allowed(lt_str match) {
  size_t literal = lt_policy_literal_bytes(match);
  bool has_beginning = match.p[0] != '*' && match.p[0] != '?';
  if (has_beginning) {
    return unmatched_edits(literal);
  }
  return literal < 5 ? 0 : (unsigned)(literal / 4 < 5 ? literal / 4 : 5);
}

static void unmatched_find_near_tool(const unmatched_search *s, lt_str match, lt_buf *ret_name) {
  unsigned limit = unmatched_allowed(match);
  lt_str nearest = LT_STR_NULL;
  for (size_t i = 0; i < lt_catalog_count(s->catalog) && limit > 0; i++) {
    lt_str id = lt_catalog_at(s->catalog, i)->id;
    unsigned distance = lt_policy_distance(match, id, limit);
    if (distance <= limit) {
      nearest = id;
      limit = distance - 1; /* only a nearer one counts; 0 edits would be a match */
    }
  }
  lt_buf_add(ret_name, nearest);
}

/* The glob's beginning, as a server's name, is near to a server whose tools are not known. */
static void unmatched_find_near_server(const unmatched_search *s, lt_str match, lt_buf *ret_name) {
  size_t dot = lt_str_find(match, LT_STR("."), 0);
  lt_str head = lt_str_sub(match, 0, dot == SIZE_MAX ? match.n : dot);
  lt_nearest nearest = lt_nearest_to(head, unmatched_edits(head.n));
  for (size_t i = 0; i < s->o->config->server_count && lt_policy_literal_bytes(head) == head.n; i++) {
    lt_str name = lt_str_of(s->o->config->servers[i].name);
    if (!unmatched_is_listed(s, name)) {
      lt_nearest_offer(&nearest, name);
    }
  }
  if (nearest.name.p != NULL) {
    lt_buf_printf(ret_name, "%.*s.*", LT_STR_ARG(nearest.name));
  }
}

/* --- Warnings ----------------------------------------------------------------------------------------------------- */

static bool unmatched_has_sources(const lt_config *config) {
  bool has_sources = config->server_count > 0;
  for (size_t i = 0; i < config->plugin_count && !has_sources; i++) {
    has_sources = config->plugins[i].path != NULL && !config->plugins[i].disabled;
  }
  return has_sources;
}

/* A user's rules are for all projects, and a configuration without servers has nothing to govern: there, only what is
 * near to a name is a typing error. */
static bool unmatched_is_meant_here(const unmatched_search *s, const lt_policy_view *view) {
  bool has_beginning = view->match.p[0] != '*' && view->match.p[0] != '?';
  return view->layer == LT_POLICY_PROJECT && has_beginning && unmatched_has_sources(s->o->config);
}

static void unmatched_warn(unmatched_search *s, const lt_policy_view *view, lt_str nearest) {
  lt_str file = lt_policy_file(s->o->policy, view->layer);
  LT_AUTO_BUF(line, 2 * LT_ERR_MSG_MAX + LT_CATALOG_MAX_BYTES);
  lt_buf_printf(&line, "%.*s%stools.%s[%zu].match: \"%.*s\" fits no tool, so this %s does nothing", LT_STR_ARG(file),
                file.n > 0 ? ": " : "", view->is_budget ? "budgets" : "policy", view->index, LT_STR_ARG(view->match),
                view->is_budget ? "budget" : "rule");
  if (nearest.n > 0) {
    lt_buf_printf(&line, " (the nearest is \"%.*s\")", LT_STR_ARG(nearest));
  } else {
    lt_buf_addc(&line, " (\"lathe tools\" lists the ids)");
  }
  lt_report_line(s->o->report, LT_REPORT_WARNING, lt_buf_view(&line));
}

static void unmatched_check(unmatched_search *s, const lt_policy_view *view) {
  if (unmatched_fits(s, view->match)) {
    return;
  }
  LT_AUTO_BUF(nearest, LT_CATALOG_MAX_BYTES);
  unmatched_find_near_tool(s, view->match, &nearest);
  if (nearest.n == 0) {
    unmatched_find_near_server(s, view->match, &nearest);
  }
  if ((nearest.n > 0 || unmatched_is_meant_here(s, view)) && s->warned++ < LT_POLICY_UNMATCHED_MAX) {
    unmatched_warn(s, view, lt_buf_view(&nearest));
  }
}

void lt_unmatched_rules_warn(const lt_unmatched_rules_options *options) {
  lt_policy_view view;
  lt_catalog *catalog = NULL;
  if (options->policy == NULL || lt_door_catalog(options->door, &catalog, NULL) != LT_OK) {
    return; /* what the door fails with is reported by the first call */
  }
  unmatched_search s = {.o = options, .catalog = catalog};
  for (size_t i = 0; lt_policy_view_at(options->policy, i, &view); i++) {
    unmatched_check(&s, &view);
  }
  if (s.warned > LT_POLICY_UNMATCHED_MAX) {
    lt_report_warning(options->report, "%zu more rules and budgets fit no tool", s.warned - LT_POLICY_UNMATCHED_MAX);
  }
  lt_catalog_unref(catalog);
}
