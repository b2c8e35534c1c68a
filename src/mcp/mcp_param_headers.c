#include "mcp/mcp_param_headers.h"

#include "base/limits.h"
#include "json/json.h"
#include "text/base64.h"

#define KEY "x-mcp-header"

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* "header field values must consist of visible ASCII characters (0x21-0x7E), space (0x20), and horizontal tab (0x09)";
 * a tab is a control character all the same. */
static bool mcp_param_headers_is_plain(lt_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < 0x20 || s.p[i] > 0x7e) {
      return false;
    }
  }
  bool is_padded = s.n > 0 && (s.p[0] == ' ' || s.p[s.n - 1] == ' ');
  return !is_padded && !(lt_str_starts(s, LT_STR("=?base64?")) && lt_str_ends(s, LT_STR("?=")));
}

void lt_mcp_param_headers_encode(lt_buf *out, lt_str value) {
  if (mcp_param_headers_is_plain(value)) {
    lt_buf_add(out, value);
    return;
  }
  lt_buf_addc(out, "=?base64?");
  lt_base64_encode(value, out);
  lt_buf_addc(out, "?=");
}

/* --- The schema --------------------------------------------------------------------------------------------------- */

static bool mcp_param_headers_is_token(lt_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_word && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
      return false;
    }
  }
  return s.n > 0;
}

typedef struct header_names {
  lt_arena *arena;
  lt_str list[LT_MCP_HEADERS_MAX / 2];
  size_t count;
  size_t seen; /* annotations that were reached by "properties" alone */
  const char *why;
} header_names;

static bool mcp_param_headers_is_primitive(lt_json type) {
  return lt_json_str_eq(type, LT_STR("string")) || lt_json_str_eq(type, LT_STR("integer")) ||
         lt_json_str_eq(type, LT_STR("boolean"));
}

static const char *mcp_param_headers_judge(header_names *names, lt_json property, lt_json annotation) {
  lt_str name;
  if (lt_json_typeof(annotation) != LT_JSON_STRING || !lt_json_str(annotation, names->arena, &name) ||
      !mcp_param_headers_is_token(name)) {
    return "\"" KEY "\" is not a header's name";
  }
  if (!mcp_param_headers_is_primitive(lt_json_get(property, "type"))) {
    return "\"" KEY "\" stands at a parameter that is no string, integer or boolean";
  }
  for (size_t i = 0; i < names->count; i++) {
    if (lt_str_eq_fold(names->list[i], name)) {
      return "\"" KEY "\" has the same name twice";
    }
  }
  if (names->count == sizeof names->list / sizeof names->list[0]) {
    return "\"" KEY "\" stands at too many parameters";
  }
  names->list[names->count++] = name;
  return NULL;
}

/* Follows "properties" only: an annotation anywhere else is found by counting. */
static void mcp_param_headers_walk(header_names *names, lt_json schema, unsigned depth) {
  for (lt_json_iter it = lt_json_each(lt_json_get(schema, "properties")); lt_json_next(&it) && depth > 0;) {
    lt_json annotation = lt_json_get(it.value, KEY);
    if (lt_json_exists(annotation)) {
      const char *why = mcp_param_headers_judge(names, it.value, annotation);
      names->seen++;
      names->why = names->why != NULL ? names->why : why;
    }
    mcp_param_headers_walk(names, it.value, depth - 1);
  }
}

/* Counts the annotations of the whole document. Values of enum, const, default and examples are data. */
static size_t mcp_param_headers_count(lt_json v, unsigned depth) {
  static const char *const data[] = {"enum", "const", "default", "examples"};
  size_t count = 0;
  bool is_object = lt_json_typeof(v) == LT_JSON_OBJECT;
  for (lt_json_iter it = lt_json_each(v); lt_json_next(&it) && depth > 0;) {
    bool is_data = false;
    for (size_t i = 0; is_object && i < sizeof data / sizeof *data; i++) {
      is_data = is_data || lt_json_str_eq(it.key, lt_str_of(data[i]));
    }
    count += is_object && lt_json_str_eq(it.key, LT_STR(KEY)) && lt_json_typeof(it.value) != LT_JSON_OBJECT;
    count += is_data ? 0 : mcp_param_headers_count(it.value, depth - 1);
  }
  return count;
}

static bool mcp_param_headers_parse(lt_arena *arena, lt_str text, lt_json_doc *doc) {
  return lt_json_parse(arena, text, doc, NULL) == LT_OK;
}

bool lt_mcp_param_headers_are_valid(lt_str input_schema, const char **ret_why) {
  if (lt_str_find(input_schema, LT_STR(KEY), 0) == SIZE_MAX) {
    return true;
  }
  LT_AUTO_ARENA(arena, LT_MCP_LIST_MAX_BYTES);
  lt_json_doc doc;
  if (!mcp_param_headers_parse(&arena, input_schema, &doc)) {
    return true;
  }
  header_names names = {.arena = &arena};
  mcp_param_headers_walk(&names, lt_json_root(&doc), LT_JSON_MAX_DEPTH);
  if (names.why == NULL && mcp_param_headers_count(lt_json_root(&doc), LT_JSON_MAX_DEPTH) > names.seen) {
    names.why = "\"" KEY "\" stands where no parameter is";
  }
  *ret_why = names.why;
  return names.why == NULL;
}

/* --- Headers ------------------------------------------------------------------------------------------------------ */

static void mcp_param_headers_add_one(lt_buf *out, lt_arena *arena, lt_json annotation, lt_json value) {
  lt_str name, text = LT_STR_NULL;
  lt_json_type type = lt_json_typeof(value);
  if (type == LT_JSON_STRING) {
    (void)lt_json_str(value, arena, &text);
  } else if (type == LT_JSON_NUMBER || type == LT_JSON_TRUE || type == LT_JSON_FALSE) {
    text = lt_json_text(value);
  } else {
    return; /* "Parameter value is `null`: Client MUST omit the header" */
  }
  if (lt_json_str(annotation, arena, &name)) {
    lt_buf_addc(out, "Mcp-Param-");
    lt_buf_add(out, name);
    lt_buf_addc(out, ": ");
    lt_mcp_param_headers_encode(out, text);
    lt_buf_byte(out, '\n');
  }
}

static void mcp_param_headers_mirror(lt_buf *out, lt_arena *arena, lt_json schema, lt_json value, unsigned depth) {
  for (lt_json_iter it = lt_json_each(lt_json_get(schema, "properties")); lt_json_next(&it) && depth > 0;) {
    lt_str key;
    lt_json argument = lt_json_str(it.key, arena, &key) ? lt_json_get_str(value, key) : (lt_json){NULL, 0};
    lt_json annotation = lt_json_get(it.value, KEY);
    if (!lt_json_exists(argument)) {
      continue;
    }
    if (lt_json_exists(annotation)) {
      mcp_param_headers_add_one(out, arena, annotation, argument);
    }
    mcp_param_headers_mirror(out, arena, it.value, argument, depth - 1);
  }
}

void lt_mcp_param_headers_add(lt_buf *out, lt_str input_schema, lt_str arguments) {
  const char *why;
  if (lt_str_find(input_schema, LT_STR(KEY), 0) == SIZE_MAX || !lt_mcp_param_headers_are_valid(input_schema, &why)) {
    return;
  }
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_json_doc schema, values;
  if (mcp_param_headers_parse(&arena, input_schema, &schema) && mcp_param_headers_parse(&arena, arguments, &values)) {
    mcp_param_headers_mirror(out, &arena, lt_json_root(&schema), lt_json_root(&values), LT_JSON_MAX_DEPTH);
  }
}
