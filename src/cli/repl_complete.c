/* Completion: commands, tools and members of their input, and what the session has, with its members. */
#include <string.h>

#include "agent/program_session.h"
#include "cli/repl.h"
#include "io/line_completion.h"
#include "json/json.h"
#include "store/store_sessions.h"

static bool complete_is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static size_t complete_name_start(lt_str text, size_t end) {
  while (end > 0 && complete_is_name_byte(text.p[end - 1])) {
    end--;
  }
  return end;
}

static size_t complete_skip_spaces_back(lt_str text, size_t end) {
  while (end > 0 && strchr(" \t\n", text.p[end - 1]) != NULL) {
    end--;
  }
  return end;
}

/* --- Commands, tools ---------------------------------------------------------------------------------------------- */
static void complete_commands(lt_line_completion *c) {
  c->start = 0;
  const char *name;
  for (size_t i = 0; (name = lt_repl_command_name(i)) != NULL; i++) {
    lt_line_completion_add(c, lt_str_of(name));
  }
}

static void complete_tool_names(const lt_repl *r, const lt_catalog *catalog, lt_line_completion *c) {
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    const lt_tool *tool = lt_catalog_at(catalog, i);
    lt_line_completion_add(c, r->is_typescript ? tool->ts_name : tool->js_name);
  }
}

/* Ids stand in quotes: tools["files.read"]. False: the cursor is elsewhere. */
static bool complete_ids(const lt_catalog *catalog, lt_line_completion *c) {
  size_t quote = c->line.n;
  while (quote > 0 && c->line.p[quote - 1] != '"' && c->line.p[quote - 1] != '\'') {
    quote--;
  }
  if (quote == 0 || !lt_str_ends(lt_str_sub(c->line, 0, quote - 1), LT_STR("tools["))) {
    return false;
  }
  c->start = quote;
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_line_completion_add(c, lt_catalog_at(catalog, i)->id);
  }
  return true;
}

/* The { that is open at the end of the text; SIZE_MAX: none. A guess: brackets in strings count. */
static size_t complete_find_open_brace(lt_str text) {
  size_t depth = 0;
  for (size_t at = text.n; at > 0; at--) {
    char ch = text.p[at - 1];
    if (ch == ')' || ch == ']' || ch == '}') {
      depth++;
    } else if (ch == '(' || ch == '[' || ch == '{') {
      if (depth == 0) {
        return ch == '{' ? at - 1 : SIZE_MAX;
      }
      depth--;
    }
  }
  return SIZE_MAX;
}

/* The tool whose input begins with the brace: `filesRead({`. NULL: none. */
static const lt_tool *complete_find_tool(const lt_repl *r, const lt_catalog *catalog, lt_str text, size_t brace) {
  size_t end = complete_skip_spaces_back(text, brace);
  if (end == 0 || text.p[end - 1] != '(') {
    return NULL;
  }
  end = complete_skip_spaces_back(text, end - 1);
  lt_str name = lt_str_sub(text, complete_name_start(text, end), end);
  return name.n > 0
             ? lt_catalog_find_word(catalog, r->is_typescript ? LT_TOOL_TYPESCRIPT : LT_TOOL_JAVASCRIPT, name).tool
             : NULL;
}

/* The members of a tool's input, where one can begin. False: the cursor is elsewhere. */
static bool complete_input_members(const lt_repl *r, const lt_catalog *catalog, lt_line_completion *c) {
  LT_AUTO_BUF(text, 2 * LT_RUN_CODE_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_buf_add(&text, lt_buf_view(&r->source));
  lt_buf_addc(&text, "\n");
  lt_buf_add(&text, lt_str_sub(c->line, 0, c->start));
  lt_str before = lt_buf_view(&text);
  size_t end = complete_skip_spaces_back(before, before.n), brace = complete_find_open_brace(before);
  if (brace == SIZE_MAX || end == 0 || strchr("{,", before.p[end - 1]) == NULL) {
    return false;
  }
  const lt_tool *tool = complete_find_tool(r, catalog, before, brace);
  if (tool == NULL || lt_json_parse(&arena, tool->input_schema, &doc, NULL) != LT_OK) {
    return false;
  }
  for (lt_json_iter it = lt_json_each(lt_json_get(lt_json_root(&doc), "properties")); lt_json_next(&it);) {
    lt_str key = LT_STR_NULL;
    if (lt_json_str(it.key, &arena, &key)) {
      lt_line_completion_add(c, key);
    }
  }
  return true;
}

/* --- What the session has ----------------------------------------------------------------------------------------- */
/* Walks to a value by data properties only and tells the names of its members: of `input`, the path and the beginning
 * of the name. A proxy's traps are the session's own code, which has no tools here and little time. */
static const char members_program[] =
    "(([path, word]) => { let it = globalThis; const names = new Set();\n"
    "for (const key of path) { let own; for (let at = Object(it); at !== null && own === undefined; at = "
    "Object.getPrototypeOf(at)) own = Object.getOwnPropertyDescriptor(at, key); it = own?.value; if (it == null) "
    "return "
    "[] }\n"
    "for (let at = Object(it), n = 0; at !== null && n < (path.length > 0 ? 20 : 1); at = Object.getPrototypeOf(at), "
    "n++) for (const name of "
    "Object.getOwnPropertyNames(at)) if (names.size < 500 && name.startsWith(word) && "
    "/^[A-Za-z_$][\\w$]*$/.test(name)) "
    "names.add(name);\n"
    "return [...names] })(input)";

static void complete_on_memory(void *arg, lt_status status, lt_str memory) LT_YIELDS {
  (void)arg, (void)status, (void)memory; /* looking changes nothing */
}

static void complete_put_input(lt_str path, lt_str word, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  lt_json_begin_array(&w);
  while (path.n > 0) {
    size_t dot = lt_str_find(path, LT_STR("."), 0);
    lt_json_put_str(&w, lt_str_sub(path, 0, dot));
    path = dot < path.n ? lt_str_sub(path, dot + 1, path.n) : LT_STR_NULL;
  }
  lt_json_end_array(&w);
  lt_json_put_str(&w, word);
  lt_json_end_array(&w);
}

static void complete_take_names(const lt_run_result *result, lt_line_completion *c) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (result->status != LT_OK || result->kind != LT_VALUE_JSON ||
      lt_json_parse(&arena, lt_buf_view(&result->value), &doc, NULL) != LT_OK) {
    return;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str name = LT_STR_NULL;
    if (lt_json_str(it.value, &arena, &name)) {
      lt_line_completion_add(c, name);
    }
  }
}

/* `nothing`: a catalog without tools. */
static void complete_run(const lt_repl *r, lt_catalog *nothing, lt_str memory, lt_str input,
                         lt_line_completion *c) LT_YIELDS {
  lt_runner *runner = lt_toolbox_runner(r->session->app.toolbox, NULL, LT_LANG_JAVASCRIPT, NULL);
  lt_run_session session = {.memory = memory, .keep = complete_on_memory};
  const lt_caller caller = {.user = LT_CHAT_USER, .catalog = nothing};
  const lt_run_request request = {.code = lt_str_of(members_program),
                                  .lang = LT_LANG_JAVASCRIPT,
                                  .input = input,
                                  .timeout_ms = LT_REPL_COMPLETE_MS,
                                  .has_fixed_timeout = true,
                                  .memory_bytes = (uint64_t)r->session->app.config.memory_mb * LT_MIB,
                                  .session = &session,
                                  .caller = &caller,
                                  .cancel = &r->session->app.cancel};
  lt_run_result result;
  lt_run_result_init(&result);
  if (runner != NULL && lt_runner_run(runner, &request, &result, NULL) == LT_OK) {
    complete_take_names(&result, c);
  }
  lt_run_result_release(&result);
}

static void complete_members(const lt_repl *r, lt_str path, lt_line_completion *c) LT_YIELDS {
  LT_AUTO_BUF(kept, LT_SESSION_BYTES_MAX + 2 * LT_RUN_STORE_MAX_BYTES);
  LT_AUTO_BUF(input, LT_INPUT_LINE_BYTES);
  lt_catalog *nothing = NULL;
  lt_store *db = lt_toolbox_db(r->session->app.toolbox);
  complete_put_input(path, lt_str_sub(c->line, c->start, c->line.n), &input);
  if (lt_store_session_view(db, LT_CHAT_USER, lt_str_of(r->name), &kept, NULL) == LT_OK && input.status == LT_OK &&
      lt_catalog_new(NULL, 0, &nothing, NULL) == LT_OK) {
    complete_run(r, nothing, lt_program_session_memory(lt_buf_view(&kept)), lt_buf_view(&input), c);
  }
  lt_catalog_unref(nothing);
}

/* --- The word at the cursor --------------------------------------------------------------------------------------- */
static void complete_functions(const lt_repl *r, lt_line_completion *c) {
  size_t count;
  const lt_run_function *functions = lt_host_functions(lt_toolbox_host(r->session->app.toolbox), &count);
  for (size_t i = 0; i < count; i++) {
    lt_line_completion_add(c, functions[i].name);
  }
}

/* `a.b` before ".c"; empty: the word is no member of a name. */
static lt_str complete_path(const lt_line_completion *c) {
  if (c->start == 0 || c->line.p[c->start - 1] != '.') {
    return LT_STR_NULL;
  }
  size_t end = c->start - 1, start = complete_name_start(c->line, end);
  while (start > 1 && start < end && c->line.p[start - 1] == '.') {
    start = complete_name_start(c->line, start - 1);
  }
  return lt_str_sub(c->line, start, end);
}

static void complete_word(const lt_repl *r, const lt_catalog *catalog, lt_line_completion *c) LT_YIELDS {
  bool is_member = c->start > 0 && c->line.p[c->start - 1] == '.';
  lt_str path = complete_path(c);
  if (lt_str_eqc(path, "tools")) {
    complete_tool_names(r, catalog, c);
  } else if (is_member && path.n > 0) {
    complete_members(r, path, c);
  } else if (!is_member && !complete_input_members(r, catalog, c)) {
    complete_tool_names(r, catalog, c);
    complete_functions(r, c);
    complete_members(r, LT_STR_NULL, c);
  }
}

void lt_repl_complete(void *arg, lt_line_completion *c) {
  const lt_repl *r = arg;
  lt_catalog *catalog = NULL;
  bool is_command = r->source.n == 0 && c->line.p[0] == '/' && memchr(c->line.p, ' ', c->line.n) == NULL;
  if (is_command) {
    complete_commands(c);
    return;
  }
  if (lt_door_catalog(r->session->app.door, &catalog, NULL) != LT_OK) {
    return;
  }
  if (!complete_ids(catalog, c)) {
    c->start = complete_name_start(c->line, c->line.n);
    complete_word(r, catalog, c);
  }
  lt_catalog_unref(catalog);
}
