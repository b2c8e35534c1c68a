#include "tool/tool_list.h"

/* --- Writing ------------------------------------------------------------------------------------------------------ */
static void tool_list_put_flag(lt_json_writer *w, const char *key, bool flag) {
  if (flag) {
    lt_json_key(w, key);
    lt_json_put_bool(w, true);
  }
}

static void tool_list_put_tool(lt_json_writer *w, const lt_tool *tool) {
  lt_json_begin_object(w);
  lt_json_put_given(w, "provider", tool->ns);
  lt_json_put_given(w, "name", tool->name);
  lt_json_put_given(w, "description", tool->description);
  lt_json_put_given(w, "inputSchema", tool->input_schema);
  lt_json_put_given(w, "outputSchema", tool->output_schema);
  lt_json_put_given(w, "annotations", tool->annotations);
  lt_json_put_given(w, "approval", tool->approval);
  tool_list_put_flag(w, "needsApproval", tool->needs_approval);
  tool_list_put_flag(w, "ofPlugin", tool->of_plugin);
  tool_list_put_flag(w, "notForPrograms", tool->not_for_programs);
  tool_list_put_flag(w, "onlyCalls", tool->only_calls);
  lt_json_end_object(w);
}

void lt_tool_list_put(const lt_catalog *catalog, lt_json_writer *w) {
  lt_json_begin_array(w);
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    tool_list_put_tool(w, lt_catalog_at(catalog, i));
  }
  lt_json_end_array(w);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
typedef struct tool_list_reader {
  lt_arena *arena;
  lt_catalog_source *sources;
  lt_tool_spec **lists; /* the tools of each source, for writing */
  size_t source_count;
  size_t tools; /* of all sources: each source's list has room for so many */
  bool failed;  /* no memory */
  bool wrong;   /* it is no list of tools */
} tool_list_reader;

static lt_str tool_list_read_str(tool_list_reader *r, lt_json object, const char *key) {
  lt_str text = LT_STR("");
  lt_json value = lt_json_get(object, key);
  if (lt_json_exists(value) && lt_json_typeof(value) != LT_JSON_STRING) {
    r->wrong = true;
  } else if (lt_json_exists(value) && !lt_json_str(value, r->arena, &text)) {
    r->failed = true;
  }
  return text;
}

static bool tool_list_read_flag(lt_json object, const char *key) {
  return lt_json_bool(lt_json_get(object, key), false);
}

/* The tools of one provider are seldom side by side: ids and names with dots sort differently. */
static size_t tool_list_find_source(tool_list_reader *r, lt_str ns, size_t tools) {
  for (size_t i = r->source_count; i > 0; i--) {
    if (lt_str_eq(r->sources[i - 1].ns, ns)) {
      return i - 1;
    }
  }
  lt_tool_spec *list = lt_arena_zalloc(r->arena, tools, sizeof *list);
  if (list == NULL) {
    r->failed = true;
    return SIZE_MAX;
  }
  r->lists[r->source_count] = list;
  r->sources[r->source_count] = (lt_catalog_source){.ns = ns, .tools = list};
  return r->source_count++;
}

static void tool_list_read_tool(tool_list_reader *r, lt_json tool, size_t left) {
  size_t at = tool_list_find_source(r, tool_list_read_str(r, tool, "provider"), left);
  if (at == SIZE_MAX) {
    return;
  }
  r->lists[at][r->sources[at].count++] = (lt_tool_spec){
      .name = tool_list_read_str(r, tool, "name"),
      .description = tool_list_read_str(r, tool, "description"),
      .input_schema = tool_list_read_str(r, tool, "inputSchema"),
      .output_schema = tool_list_read_str(r, tool, "outputSchema"),
      .annotations = tool_list_read_str(r, tool, "annotations"),
      .approval = tool_list_read_str(r, tool, "approval"),
      .needs_approval = tool_list_read_flag(tool, "needsApproval"),
      .of_plugin = tool_list_read_flag(tool, "ofPlugin"),
      .not_for_programs = tool_list_read_flag(tool, "notForPrograms"),
      .only_calls = tool_list_read_flag(tool, "onlyCalls"),
  };
}

lt_status lt_tool_list_read(lt_str text, lt_arena *arena, lt_tool_list *ret_list, lt_err *err) {
  lt_json_doc doc;
  LT_TRY(lt_json_parse(arena, text, &doc, err));
  lt_json all = lt_json_root(&doc);
  size_t count = lt_json_count(all);
  tool_list_reader r = {.arena = arena, .wrong = lt_json_typeof(all) != LT_JSON_ARRAY};
  r.sources = lt_arena_zalloc(arena, count + 1, sizeof *r.sources);
  r.lists = lt_arena_zalloc(arena, count + 1, sizeof *r.lists);
  r.failed = r.sources == NULL || r.lists == NULL;
  lt_json_iter it = lt_json_each(all);
  for (size_t left = count; !r.failed && !r.wrong && left > 0 && lt_json_next(&it); left--) {
    r.wrong = lt_json_typeof(it.value) != LT_JSON_OBJECT;
    tool_list_read_tool(&r, it.value, left);
  }
  if (r.wrong) {
    return lt_fail(err, LT_E_INVALID, "what is on record of the tools is no list of tools");
  }
  if (r.failed) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools that are on record");
  }
  *ret_list = (lt_tool_list){.sources = r.sources, .count = r.source_count};
  return LT_OK;
}
