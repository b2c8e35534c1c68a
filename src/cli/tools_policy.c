#include "cli/tools_policy.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"
#include "tool/policy/policy_explain.h"
#include "tool/policy/policy_text.h"
#include "types/typegen_text.h"

/* --- What is known of one tool ------------------------------------------------------------------------------------ */

static const char *const layer_names[LT_POLICY_LAYERS] = {"user", "project"};
static const char *const action_names[] = {"allow", "ask", "deny"};

/* The rules of one layer that can decide. */
typedef struct layer_decision {
  lt_policy_view views[LT_POLICY_SHOWN_MAX];
  size_t count; /* more than LT_POLICY_SHOWN_MAX: only the first ones and the last one are in `views` */
} layer_decision;

typedef struct tool_decision {
  const lt_tool *tool;
  layer_decision layers[LT_POLICY_LAYERS];
} tool_decision;

static size_t tools_policy_shown(const layer_decision *rules) {
  return rules->count < LT_POLICY_SHOWN_MAX ? rules->count : LT_POLICY_SHOWN_MAX;
}

static lt_status tools_policy_explain(const lt_policy *policy, const lt_tool *tool, tool_decision *ret) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_policy_call call = {.tool = tool->id};
  *ret = (tool_decision){.tool = tool};
  if (tool->annotations.n > 0) {
    lt_status status = lt_json_parse(&arena, tool->annotations, &doc, NULL);
    if (status == LT_E_NOMEM) {
      return status;
    }
    call.annotations = status == LT_OK ? lt_json_root(&doc) : call.annotations;
  }
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    layer_decision *rules = &ret->layers[layer];
    rules->count = lt_policy_explain(policy, layer, &call, rules->views, LT_POLICY_SHOWN_MAX);
  }
  return LT_OK;
}

/* The rule that holds whatever the input is; NULL: it depends on the input, or there is no rule. */
static const lt_policy_view *tools_policy_certain(const layer_decision *rules) {
  return rules->count == 1 && !rules->views[0].is_conditional ? &rules->views[0] : NULL;
}

/* The layer that decides every call alone, or -1: both layers have a say, or none. Of two certain rules the stricter
 * one decides, and of two equal ones the user's. */
static int tools_policy_deciding_layer(const tool_decision *t) {
  const layer_decision *user = &t->layers[LT_POLICY_USER], *project = &t->layers[LT_POLICY_PROJECT];
  if (user->count == 0 || project->count == 0) {
    return user->count > 0 ? LT_POLICY_USER : project->count > 0 ? LT_POLICY_PROJECT : -1;
  }
  const lt_policy_view *u = tools_policy_certain(user), *p = tools_policy_certain(project);
  if (u == NULL || p == NULL) {
    return -1;
  }
  return p->action > u->action ? LT_POLICY_PROJECT : LT_POLICY_USER;
}

/* What happens to calls that no rule decides. */
static const char *tools_policy_own_wish(const lt_tool *tool) {
  return tool->needs_approval ? "ask" : tool->may_need_approval ? "allow or ask, as the plugin says" : "allow";
}

/* --- For people --------------------------------------------------------------------------------------------------- */

static void tools_policy_put_clipped(lt_buf *out, lt_str text) {
  lt_typegen_put_line(out, text, LT_TYPEGEN_LINE_MAX_CHARS);
}

static void tools_policy_put_action(const lt_policy_view *view, lt_buf *out) {
  lt_buf_addc(out, action_names[view->action]);
  if (view->when.n > 0) {
    lt_buf_addc(out, view->is_conditional ? " if " : " because of ");
    tools_policy_put_clipped(out, view->when);
  }
  if (view->reason.n > 0) {
    lt_buf_addc(out, " (");
    tools_policy_put_clipped(out, view->reason);
    lt_buf_addc(out, ")");
  }
}

static void tools_policy_put_own_wish(const lt_tool *tool, lt_buf *out) {
  lt_buf_addc(out, tools_policy_own_wish(tool));
  if (tool->needs_approval && tool->approval.n > 0) {
    lt_buf_addc(out, " (");
    tools_policy_put_clipped(out, tool->approval);
    lt_buf_addc(out, ")");
  }
}

/* "allow if input.amount <= 10, else deny". `is_alone`: the other layer has no rule for the tool. */
static void tools_policy_put_layer(const tool_decision *t, unsigned layer, bool is_alone, lt_buf *out) {
  const layer_decision *rules = &t->layers[layer];
  size_t shown = tools_policy_shown(rules);
  for (size_t i = 0; i < shown; i++) {
    lt_buf_addc(out, i > 0 ? ", else " : "");
    if (i + 1 == shown && rules->count > shown) {
      lt_buf_printf(out, "%zu more rules, else ", rules->count - shown);
    }
    tools_policy_put_action(&rules->views[i], out);
  }
  if (rules->views[shown - 1].is_conditional) {
    lt_buf_addc(out, ", else ");
    if (is_alone) {
      tools_policy_put_own_wish(t->tool, out);
    } else {
      lt_buf_addc(out, "no rule");
    }
  }
}

/* "project tools.policy[0], [1]" */
static void tools_policy_put_places(const layer_decision *rules, unsigned layer, lt_buf *out) {
  size_t shown = tools_policy_shown(rules);
  lt_buf_printf(out, "%s tools.policy", layer_names[layer]);
  for (size_t i = 0; i < shown; i++) {
    bool leaves_out = i + 1 == shown && rules->count > shown;
    lt_buf_printf(out, "%s%s[%zu]", i > 0 ? ", " : "", leaves_out ? "..., " : "", rules->views[i].index);
  }
}

/* A table of three columns; the last one has no width. */
typedef struct policy_table {
  lt_buf *out; /* NULL: the widths are measured */
  size_t tool_width, rule_width;
} policy_table;

static void tools_policy_pad(lt_buf *out, lt_str text, size_t width) {
  lt_buf_add(out, text);
  for (size_t n = lt_utf8_count(text); n < width + 2; n++) {
    lt_buf_byte(out, ' ');
  }
}

static void tools_policy_widen(size_t *width, lt_str text) {
  size_t n = lt_utf8_count(text);
  *width = n > *width ? n : *width;
}

static void tools_policy_put_row(policy_table *t, lt_str tool, lt_str rule, lt_str action) {
  if (t->out == NULL) {
    tools_policy_widen(&t->tool_width, tool);
    tools_policy_widen(&t->rule_width, rule);
    return;
  }
  tools_policy_pad(t->out, tool, t->tool_width);
  tools_policy_pad(t->out, rule, t->rule_width);
  lt_buf_add(t->out, action);
  lt_buf_byte(t->out, '\n');
}

/* Both layers have a say, and the input decides: a row for each. */
static void tools_policy_put_both(policy_table *t, const tool_decision *rules, lt_str id) {
  LT_AUTO_BUF(end, LT_MIB);
  lt_buf_addc(&end, "the stricter of these, else ");
  tools_policy_put_own_wish(rules->tool, &end);
  tools_policy_put_row(t, id, LT_STR("both layers"), lt_buf_view(&end));
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    LT_AUTO_BUF(places, LT_MIB);
    LT_AUTO_BUF(action, LT_MIB);
    tools_policy_put_places(&rules->layers[layer], layer, &places);
    tools_policy_put_layer(rules, layer, false, &action);
    tools_policy_put_row(t, LT_STR(""), lt_buf_view(&places), lt_buf_view(&action));
  }
}

static void tools_policy_put_tool(policy_table *t, const tool_decision *rules) {
  LT_AUTO_BUF(id, LT_MIB);
  LT_AUTO_BUF(places, LT_MIB);
  LT_AUTO_BUF(action, LT_MIB);
  lt_typegen_put_line(&id, rules->tool->id, LT_TYPEGEN_NAME_MAX_CHARS);
  int layer = tools_policy_deciding_layer(rules);
  if (layer >= 0) {
    tools_policy_put_places(&rules->layers[layer], (unsigned)layer, &places);
    tools_policy_put_layer(rules, (unsigned)layer, true, &action);
  } else if (rules->layers[0].count > 0) {
    tools_policy_put_both(t, rules, lt_buf_view(&id));
    return;
  } else {
    lt_buf_addc(&places, "no rule");
    tools_policy_put_own_wish(rules->tool, &action);
  }
  tools_policy_put_row(t, lt_buf_view(&id), lt_buf_view(&places), lt_buf_view(&action));
}

static lt_status tools_policy_put_rows(const lt_policy *policy, const lt_tool *const *tools, size_t count,
                                       policy_table *t) {
  tools_policy_put_row(t, LT_STR("TOOL"), LT_STR("RULE"), LT_STR("WHAT HAPPENS"));
  for (size_t i = 0; i < count; i++) {
    tool_decision rules;
    LT_TRY(tools_policy_explain(policy, tools[i], &rules));
    tools_policy_put_tool(t, &rules);
  }
  return LT_OK;
}

static size_t tools_policy_count_budget(const lt_policy_view *budget, const lt_tool *const *tools, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    n += lt_policy_glob(budget->match, tools[i]->id);
  }
  return n;
}

static void tools_policy_put_budgets(const lt_policy *policy, const lt_tool *const *tools, size_t count, lt_buf *out) {
  lt_policy_view view;
  bool is_first = true;
  for (size_t i = 0; lt_policy_view_at(policy, i, &view); i++) {
    if (!view.is_budget) {
      continue;
    }
    lt_buf_addc(out, is_first ? "\n" : "");
    lt_buf_printf(out, "%s tools.budgets[%zu]  ", layer_names[view.layer], view.index);
    tools_policy_put_clipped(out, view.match);
    if (view.calls > 0) {
      lt_buf_printf(out, "  %lld per run", (long long)view.calls);
    }
    if (view.per_minute > 0) {
      lt_buf_printf(out, "  %lld per minute", (long long)view.per_minute);
    }
    lt_buf_printf(out, "  (of %zu of these tools)\n", tools_policy_count_budget(&view, tools, count));
    is_first = false;
  }
}

static void tools_policy_put_files(const lt_policy *policy, lt_buf *out) {
  bool is_first = true;
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    lt_str file = lt_policy_file(policy, layer);
    if (file.n > 0) {
      lt_buf_printf(out, "%s%s: ", is_first ? "\n" : "", layer_names[layer]);
      lt_typegen_put_line(out, file, LT_TYPEGEN_DOC_MAX_BYTES);
      lt_buf_byte(out, '\n');
      is_first = false;
    }
  }
}

static lt_status tools_policy_put_table(const lt_policy *policy, const lt_tool *const *tools, size_t count,
                                        lt_buf *out) {
  policy_table t = {0};
  LT_TRY(tools_policy_put_rows(policy, tools, count, &t));
  t.out = out;
  LT_TRY(tools_policy_put_rows(policy, tools, count, &t));
  tools_policy_put_budgets(policy, tools, count, out);
  tools_policy_put_files(policy, out);
  return out->status;
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */

static void tools_policy_put_place(const lt_policy *policy, lt_json_writer *w, const lt_policy_view *view) {
  lt_json_key(w, "layer");
  lt_json_put_cstr(w, layer_names[view->layer]);
  lt_json_put_given(w, "file", lt_policy_file(policy, view->layer));
  lt_json_key(w, "index");
  lt_json_put_int(w, (int64_t)view->index);
  lt_json_put_given(w, "match", view->match);
}

static void tools_policy_put_rule_json(const lt_policy *policy, lt_json_writer *w, const lt_policy_view *view) {
  lt_json_begin_object(w);
  tools_policy_put_place(policy, w, view);
  lt_json_key(w, "action");
  lt_json_put_cstr(w, action_names[view->action]);
  lt_json_put_given(w, "when", view->when);
  lt_json_key(w, "conditional");
  lt_json_put_bool(w, view->is_conditional);
  lt_json_put_given(w, "reason", view->reason);
  lt_json_end_object(w);
}

/* The one action of every call, or null where the input decides. */
static void tools_policy_put_action_json(lt_json_writer *w, const tool_decision *t) {
  int layer = tools_policy_deciding_layer(t);
  const lt_policy_view *certain = layer >= 0 ? tools_policy_certain(&t->layers[layer]) : NULL;
  bool has_no_rule = t->layers[LT_POLICY_USER].count + t->layers[LT_POLICY_PROJECT].count == 0;
  lt_json_key(w, "action");
  if (certain != NULL) {
    lt_json_put_cstr(w, action_names[certain->action]);
  } else if (has_no_rule && (t->tool->needs_approval || !t->tool->may_need_approval)) {
    lt_json_put_cstr(w, tools_policy_own_wish(t->tool));
  } else {
    lt_json_put_null(w);
  }
}

static void tools_policy_put_tool_json(const lt_policy *policy, lt_json_writer *w, const tool_decision *t) {
  lt_json_begin_object(w);
  lt_json_put_given(w, "tool", t->tool->id);
  tools_policy_put_action_json(w, t);
  lt_json_key(w, "rules");
  lt_json_begin_array(w);
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    for (size_t i = 0; i < tools_policy_shown(&t->layers[layer]); i++) {
      tools_policy_put_rule_json(policy, w, &t->layers[layer].views[i]);
    }
  }
  lt_json_end_array(w);
  lt_json_key(w, "withoutRule");
  lt_json_put_cstr(w, t->tool->needs_approval ? "ask" : t->tool->may_need_approval ? "plugin" : "allow");
  lt_json_put_given(w, "approval", t->tool->approval);
  lt_json_end_object(w);
}

static void tools_policy_put_budget_json(const lt_policy *policy, lt_json_writer *w, const lt_policy_view *budget) {
  lt_json_begin_object(w);
  tools_policy_put_place(policy, w, budget);
  if (budget->calls > 0) {
    lt_json_key(w, "calls");
    lt_json_put_int(w, budget->calls);
  }
  if (budget->per_minute > 0) {
    lt_json_key(w, "perMinute");
    lt_json_put_int(w, budget->per_minute);
  }
  lt_json_end_object(w);
}

static lt_status tools_policy_put_json(const lt_policy *policy, const lt_tool *const *tools, size_t count,
                                       lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_policy_view view;
  lt_json_begin_object(&w);
  lt_json_key(&w, "tools");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count; i++) {
    tool_decision rules;
    LT_TRY(tools_policy_explain(policy, tools[i], &rules));
    tools_policy_put_tool_json(policy, &w, &rules);
  }
  lt_json_end_array(&w);
  lt_json_key(&w, "budgets");
  lt_json_begin_array(&w);
  for (size_t i = 0; lt_policy_view_at(policy, i, &view); i++) {
    if (view.is_budget) {
      tools_policy_put_budget_json(policy, &w, &view);
    }
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  lt_buf_byte(out, '\n');
  return out->status;
}

lt_status lt_tools_policy_report(const lt_policy *policy, const lt_tool *const *tools, size_t count, bool as_json,
                                 lt_buf *out, lt_err *err) {
  lt_status status =
      as_json ? tools_policy_put_json(policy, tools, count, out) : tools_policy_put_table(policy, tools, count, out);
  return status == LT_OK
             ? LT_OK
             : lt_fail(err, status, "the rules of %zu tools cannot be shown: %s", count, lt_status_text(status));
}
