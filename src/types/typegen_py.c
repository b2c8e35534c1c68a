/* Python stubs: the functions that a Python program can call, in the form of a `.pyi` file. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "json/json.h"
#include "types/typegen.h"
#include "types/typegen_py_type.h"
#include "types/typegen_schema.h"
#include "types/typegen_text.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

static int py_by_word(const void *key, const void *entry) {
  return lt_str_cmp(*(const lt_str *)key, lt_str_of(*(const char *const *)entry));
}

/* keyword.kwlist of Python 3.11, and the names that every program has. */
static bool py_is_taken(lt_str name) {
  static const char *const words[] = {
      "False",
      "None",
      "True",
      "and",
      "as",
      "assert",
      "async",
      "await",
      "break",
      "call_tool",
      "call_tools_parallel",
      "class",
      "continue",
      "def",
      "del",
      "elif",
      "else",
      "except",
      "finally",
      "for",
      "from",
      "global",
      "if",
      "import",
      "in",
      "input_data",
      "is",
      "lambda",
      "nonlocal",
      "not",
      "or",
      "pass",
      "raise",
      "return",
      "set_result",
      "try",
      "while",
      "with",
      "yield",
  };
  return bsearch(&name, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), py_by_word) != NULL;
}

static bool py_is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void lt_typegen_py_name(lt_str name, lt_buf *out) {
  size_t begin = out->n;
  if (name.n == 0 || (name.p[0] >= '0' && name.p[0] <= '9')) {
    lt_buf_byte(out, '_');
  }
  for (size_t i = 0; i < name.n; i++) {
    if (!lt_utf8_continues(name.p[i])) { /* one "_" for each character, whatever its number of bytes */
      lt_buf_byte(out, py_is_name_byte(name.p[i]) ? name.p[i] : '_');
    }
  }
  if (py_is_taken(lt_str_sub(lt_buf_view(out), begin < out->n ? begin : out->n, out->n))) {
    lt_buf_byte(out, '_');
  }
}

static lt_str py_tool_name(lt_arena *arena, lt_str name) {
  LT_AUTO_BUF(buf, name.n + 2);
  lt_typegen_py_name(name, &buf);
  return lt_arena_dup_buf(arena, &buf);
}

/* --- Docstrings --------------------------------------------------------------------------------------------------- */

/* In a """docstring""" every backslash is doubled, and two quotes are never side by side. */
static void py_put_quoted(lt_buf *out, lt_str s, bool closing) {
  char before = '"';
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '\\' || (c == '"' && (before == '"' || (closing && i + 1 == s.n)))) {
      lt_buf_byte(out, '\\');
    }
    lt_buf_byte(out, c);
    before = c;
  }
}

/* Readers remove the common indentation of all lines but the first. So a section's heading must not be the first line.
 */
static void py_put_docstring(lt_buf *out, lt_str doc, bool headed) {
  bool block = doc.n > 0 && memchr(doc.p, '\n', doc.n) != NULL;
  lt_buf_addc(out, block && headed ? "    \"\"\"\n" : "    \"\"\"");
  size_t end;
  for (size_t at = 0; at <= doc.n; at = end + 1) {
    end = lt_str_find(doc, LT_STR("\n"), at);
    end = end == SIZE_MAX ? doc.n : end;
    lt_buf_addc(out, (at > 0 || (block && headed)) && end > at ? "    " : "");
    py_put_quoted(out, lt_str_sub(doc, at, end), !block);
    lt_buf_addc(out, end < doc.n ? "\n" : "");
  }
  lt_buf_addc(out, block ? "\n    \"\"\"\n" : "\"\"\"\n");
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

typedef struct py_arg {
  lt_str name; /* empty: another argument has the name */
  const lt_typegen_prop *prop;
} py_arg;

typedef struct py_tool {
  const lt_typegen_tool *tool;
  lt_typegen_py_context g;
  py_arg *args;
  size_t count;
  lt_buf doc;
} py_tool;

static int py_by_arg_name(const void *a, const void *b) {
  const py_arg *x = a;
  const py_arg *y = b;
  int order = lt_str_cmp(x->name, y->name);
  return order != 0 ? order : (x->prop->order > y->prop->order) - (x->prop->order < y->prop->order);
}

static int py_by_need(const void *a, const void *b) {
  const py_arg *x = a;
  const py_arg *y = b;
  if (x->prop->required != y->prop->required) {
    return x->prop->required ? -1 : 1;
  }
  return (x->prop->order > y->prop->order) - (x->prop->order < y->prop->order);
}

/* Names all arguments, required ones first. Of several with the same name only the first gets it. */
static lt_status py_read_args(py_tool *t, const lt_typegen_props *props) {
  t->args = lt_arena_zalloc(t->g.arena, props->count + 1, sizeof(*t->args));
  if (t->args == NULL) {
    return LT_E_NOMEM;
  }
  for (size_t i = 0; i < props->count; i++) {
    t->args[i] = (py_arg){py_tool_name(t->g.arena, props->at[i].key), &props->at[i]};
    if (t->args[i].name.p == NULL) {
      return LT_E_NOMEM;
    }
  }
  t->count = props->count;
  qsort(t->args, t->count, sizeof(*t->args), py_by_arg_name);
  for (size_t i = t->count; i-- > 1;) {
    if (lt_str_eq(t->args[i].name, t->args[i - 1].name)) {
      t->args[i].name = LT_STR("");
    }
  }
  qsort(t->args, t->count, sizeof(*t->args), py_by_need);
  return LT_OK;
}

static void py_put_parameters(py_tool *t) {
  lt_buf *out = t->g.out;
  bool first = true;
  for (size_t i = 0; i < t->count; i++) {
    if (t->args[i].name.n == 0) {
      continue;
    }
    lt_buf_addc(out, first ? "*, " : ", ");
    lt_buf_add(out, t->args[i].name);
    lt_buf_addc(out, ": ");
    lt_typegen_py_put_type(&t->g, t->args[i].prop->schema);
    lt_buf_addc(out, t->args[i].prop->required ? "" : " = ...");
    first = false;
  }
}

/* --- What the docstring says -------------------------------------------------------------------------------------- */

/* The same generator writes types into the docstring. A type that tells nothing new is removed. False: it was removed.
 */
static bool py_put_shape(py_tool *t, const char *before, lt_json schema, bool only_keys) {
  lt_buf *out = t->g.out;
  size_t begin = t->doc.n;
  lt_buf_addc(&t->doc, before);
  size_t start = t->doc.n;
  t->g.out = &t->doc;
  t->g.shape = true;
  lt_typegen_py_put_type(&t->g, schema);
  t->g.shape = false;
  t->g.out = out;
  lt_str shape = lt_str_sub(lt_buf_view(&t->doc), start, t->doc.n);
  bool is_informative = only_keys ? shape.n > 0 && memchr(shape.p, '{', shape.n) != NULL : !lt_str_eqc(shape, "Any");
  if (!is_informative) {
    lt_buf_cut(&t->doc, begin);
  }
  return is_informative;
}

/* Turns ", default 3, minimum 1" into "(default 3, minimum 1)". */
static void py_put_arg_facts(py_tool *t, lt_json schema, bool first) {
  size_t begin = t->doc.n;
  if (lt_typegen_put_facts(&t->doc, schema, t->g.arena, false) != LT_OK) {
    t->g.status = LT_E_NOMEM;
  } else if (t->doc.status == LT_OK && t->doc.n > begin) {
    t->doc.p[begin] = ' ';
    t->doc.p[begin + 1] = '(';
    lt_buf_byte(&t->doc, ')');
    if (first) {
      memmove(t->doc.p + begin, t->doc.p + begin + 1, t->doc.n - begin);
      t->doc.n--;
    }
  }
}

static void py_put_arg_doc(py_tool *t, const py_arg *arg) {
  lt_json schema = arg->prop->schema;
  lt_str description = LT_STR_NULL;
  lt_json text = lt_typegen_key(schema, LT_KEY_DESCRIPTION);
  if (lt_json_typeof(text) == LT_JSON_STRING && !lt_json_str(text, t->g.arena, &description)) {
    t->g.status = LT_E_NOMEM;
    return;
  }
  size_t begin = t->doc.n;
  bool named = arg->name.n > 0;
  lt_buf_addc(&t->doc, "\n    ");
  if (named) {
    lt_buf_add(&t->doc, arg->name);
  } else { /* the name that call_tool takes, and the type, which are not in the signature */
    lt_typegen_put_string(&t->doc, arg->prop->key);
  }
  lt_buf_addc(&t->doc, ": ");
  size_t start = t->doc.n;
  bool typed = !named && py_put_shape(t, "", schema, false);
  lt_buf_addc(&t->doc, typed && description.n > 0 ? ", " : "");
  lt_typegen_put_line(&t->doc, description, LT_TYPEGEN_DOC_MAX_BYTES);
  if (named) {
    py_put_shape(t, t->doc.n > start ? " " : "", schema, true);
  }
  py_put_arg_facts(t, schema, t->doc.n == start);
  if (t->doc.n == start) {
    lt_buf_cut(&t->doc, named ? begin : start - strlen(": "));
  }
}

static void py_put_args_doc(py_tool *t) {
  size_t before = t->doc.n;
  lt_buf_addc(&t->doc, before > 0 ? "\n\nArgs:" : "Args:");
  size_t heading = t->doc.n;
  for (size_t i = 0; i < t->count; i++) {
    py_put_arg_doc(t, &t->args[i]);
  }
  if (t->doc.n == heading) {
    lt_buf_cut(&t->doc, before);
  }
}

/* The output schema is another document. The generator switches to it for a moment. */
static void py_put_returns(py_tool *t) {
  lt_str text = t->tool->output_schema;
  lt_typegen_doc doc;
  if (lt_str_trim(text).n == 0 || text.n > LT_TYPEGEN_SCHEMA_MAX_BYTES) {
    return;
  }
  lt_status status = lt_typegen_parse(t->g.arena, text, &doc, NULL);
  if (status != LT_OK) {
    t->g.status = status == LT_E_NOMEM ? status : t->g.status;
    return;
  }
  lt_json root = t->g.root;
  t->g.root = lt_json_root(&doc.json);
  py_put_shape(t, t->doc.n > 0 ? "\n\nReturns: " : "Returns: ", t->g.root, false);
  t->g.root = root;
}

/* --- Stubs -------------------------------------------------------------------------------------------------------- */

/* LT_E_INVALID: a plain object of properties does not describe all arguments. */
static lt_status py_read_input(py_tool *t) {
  lt_str text = t->tool->input_schema;
  if (lt_str_trim(text).n == 0) {
    return LT_OK;
  }
  if (text.n > LT_TYPEGEN_SCHEMA_MAX_BYTES) {
    return LT_E_INVALID;
  }
  lt_typegen_doc *doc = lt_arena_alloc(t->g.arena, sizeof(*doc));
  lt_status status = doc != NULL ? lt_typegen_parse(t->g.arena, text, doc, NULL) : LT_E_NOMEM;
  if (status != LT_OK) {
    return status == LT_E_NOMEM ? status : LT_E_INVALID;
  }
  t->g.root = lt_json_root(&doc->json);
  lt_json target = lt_typegen_py_target(&t->g, t->g.root);
  lt_typegen_props props;
  LT_TRY(lt_typegen_props_read(target, t->g.arena, &props));
  LT_TRY(py_read_args(t, &props));
  lt_json_type more = lt_json_typeof(lt_typegen_key(target, LT_KEY_ADDITIONAL_PROPERTIES));
  bool open = more == LT_JSON_OBJECT || more == LT_JSON_TRUE || lt_typegen_has(target, LT_KEY_PATTERN_PROPERTIES);
  return lt_typegen_is_plain_object(target) && !open ? LT_OK : LT_E_INVALID;
}

static lt_status py_put_stub(py_tool *t, lt_str name) {
  lt_buf *out = t->g.out;
  lt_status status = py_read_input(t);
  if (status != LT_OK && status != LT_E_INVALID) {
    return status;
  }
  lt_buf_addc(out, "\n\ndef ");
  lt_buf_add(out, name);
  lt_buf_addc(out, "(");
  py_put_parameters(t);
  bool any = t->count > 0 && t->g.status == LT_OK;
  lt_buf_addc(out, status == LT_E_INVALID ? (any ? ", **arguments: Any" : "**arguments: Any") : "");
  lt_buf_addc(out, ") -> Any:\n");
  lt_typegen_put_text(&t->doc, t->tool->description, LT_TYPEGEN_DOC_MAX_BYTES);
  bool headed = t->doc.n == 0;
  py_put_args_doc(t);
  py_put_returns(t);
  if (t->doc.n > 0) {
    py_put_docstring(out, lt_buf_view(&t->doc), headed);
  } else {
    lt_buf_addc(out, "    ...\n");
  }
  return t->g.status != LT_OK ? t->g.status : t->doc.status;
}

static lt_status py_put_tool(lt_buf *out, const lt_typegen_tool *tool, lt_str name) {
  LT_AUTO_ARENA(arena, 2 * LT_TYPEGEN_MEMORY_BYTES);
  py_tool t = {.tool = tool, .g = {.out = out, .arena = &arena}};
  lt_buf_init(&t.doc, LT_TYPEGEN_TYPE_MAX_BYTES);
  size_t begin = out->n;
  lt_status status = py_put_stub(&t, name);
  if (status == LT_E_LIMIT && out->status == LT_OK) { /* the docstring is too long */
    lt_buf_cut(out, begin);
    lt_buf_addc(out, "\n\ndef ");
    lt_buf_add(out, name);
    lt_buf_addc(out, "(**arguments: Any) -> Any:\n    \"\"\"(its schema is too large for a stub)\"\"\"\n");
    status = LT_OK;
  }
  lt_buf_release(&t.doc);
  return status;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

typedef struct py_entry {
  lt_str name;
  size_t index;
  size_t rank;
  bool is_lost; /* another tool has the name */
} py_entry;

static int py_by_entry_name(const void *a, const void *b) {
  const py_entry *x = a;
  const py_entry *y = b;
  int order = lt_str_cmp(x->name, y->name);
  order = order != 0 ? order : (x->rank < y->rank) - (x->rank > y->rank);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int py_by_index(const void *a, const void *b) {
  const py_entry *x = a;
  const py_entry *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

static py_entry *py_name_all(const lt_typegen_tool *tools, size_t count, lt_arena *arena) {
  py_entry *entries = lt_arena_zalloc(arena, count + 1, sizeof(*entries));
  for (size_t i = 0; entries != NULL && i < count; i++) {
    entries[i] =
        (py_entry){.name = py_tool_name(arena, tools[i].id), .index = i, .rank = lt_typegen_name_rank(tools[i].ns)};
    if (entries[i].name.p == NULL) {
      return NULL;
    }
  }
  if (entries != NULL) {
    qsort(entries, count, sizeof(*entries), py_by_entry_name);
    for (size_t i = 1; i < count; i++) {
      entries[i].is_lost = lt_str_eq(entries[i].name, entries[i - 1].name);
    }
    qsort(entries, count, sizeof(*entries), py_by_index);
  }
  return entries;
}

static void py_put_lost(lt_buf *out, const lt_typegen_tool *tool) {
  lt_buf_addc(out, "\n\n# Only as call_tool(");
  lt_typegen_put_string(out, tool->id);
  lt_buf_addc(out, ", {...}): another tool has its Python name.\n");
}

static lt_status py_check_stubs(lt_status status, size_t count, lt_err *err) {
  return lt_fail_if(err, status, "the Python stubs of %zu tools cannot be written", count);
}

lt_status lt_typegen_py(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_TYPEGEN_MEMORY_BYTES);
  py_entry *entries = py_name_all(tools, count, &arena);
  if (entries == NULL) {
    return py_check_stubs(LT_E_NOMEM, count, err);
  }
  lt_status status = LT_OK;
  lt_buf_addc(out,
              "from typing import Any, Literal\n\n\ndef call_tool(name: str, args: dict[str, Any] = ...) -> Any:\n"
              "    \"\"\"Calls a tool by its id; raises ToolError when it fails.\"\"\"\n\n\n"
              "def call_tools_parallel(calls: list[tuple[str, dict[str, Any]]], return_exceptions: bool = ...) -> "
              "list[Any]:\n"
              "    \"\"\"Calls several tools at once; gives their values in the same order.\"\"\"\n\n\n"
              "def set_result(data: Any) -> None:\n"
              "    \"\"\"What the program gives back.\"\"\"\n");
  for (size_t i = 0; i < count && status == LT_OK && out->status == LT_OK; i++) {
    if (entries[i].is_lost) {
      py_put_lost(out, &tools[i]);
    } else {
      status = py_put_tool(out, &tools[i], entries[i].name);
    }
  }
  return py_check_stubs(lt_status_first(out->status, status), count, err);
}
