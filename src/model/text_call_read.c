/* Reads the calls in what a model has written as text (text_calls.h). */
#include "base/limits.h"
#include "model/assembly.h"
#include "model/text_calls.h"

/* --- The tools of the request ------------------------------------------------------------------------------------- */
static bool text_call_is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Models also write a tool's id, in which dots stand for the underlines of its name on the wire. */
static bool text_call_is_name_of(lt_str written, lt_str offered) {
  for (size_t i = 0; i < written.n && written.n == offered.n; i++) {
    if ((text_call_is_plain(written.p[i]) ? written.p[i] : '_') != offered.p[i]) {
      return false;
    }
  }
  return written.n > 0 && written.n == offered.n;
}

/* The offered function of that name; none: lt_json_exists is false. */
static lt_json text_call_find(lt_json tools, lt_arena *arena, lt_str name) {
  lt_json_iter it = lt_json_each(tools);
  while (lt_json_next(&it)) {
    lt_str offered;
    lt_json function = lt_json_get(it.value, "function");
    if (lt_json_str(lt_json_get(function, "name"), arena, &offered) && text_call_is_name_of(name, offered)) {
      return function;
    }
  }
  return (lt_json){NULL, 0};
}

typedef struct text_call_reader {
  lt_assembly *a;
  lt_arena *arena;
  lt_json tools;
} text_call_reader;

static bool text_call_is_offered(const text_call_reader *r, lt_str name) {
  return lt_json_exists(text_call_find(r->tools, r->arena, name));
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */
/* {"name", "arguments"}, also with "parameters", also within "function"; arguments as an object or as its text. */
static bool text_call_read_json(const text_call_reader *r, lt_json json, lt_str *ret_name, lt_str *ret_arguments) {
  lt_json function = lt_json_get(json, "function");
  lt_json call = lt_json_typeof(function) == LT_JSON_OBJECT ? function : json;
  lt_json name = lt_json_typeof(function) == LT_JSON_STRING ? function : lt_json_get(call, "name");
  lt_json arguments = lt_json_get(call, "arguments");
  arguments = lt_json_exists(arguments) ? arguments : lt_json_get(call, "parameters");
  *ret_arguments = lt_json_exists(arguments) ? lt_json_text(arguments) : LT_STR("{}");
  if (lt_json_typeof(arguments) == LT_JSON_STRING && !lt_json_str(arguments, r->arena, ret_arguments)) {
    return false;
  }
  return lt_json_str(name, r->arena, ret_name) && text_call_is_offered(r, *ret_name);
}

/* All calls of a list, or none. */
static bool text_call_take_list(const text_call_reader *r, lt_json list) {
  lt_str name, arguments;
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it)) {
    if (!text_call_read_json(r, it.value, &name, &arguments)) {
      return false;
    }
  }
  it = lt_json_each(list);
  while (lt_json_next(&it)) {
    (void)text_call_read_json(r, it.value, &name, &arguments);
    lt_assembly_add_text_call(r->a, name, arguments);
  }
  return lt_json_count(list) > 0;
}

/* The name in JSON that is broken: what is quoted behind the first "name". */
static lt_str text_call_guess_name(lt_str body) {
  size_t at = lt_str_find(body, LT_STR("name"), 0);
  at = at == SIZE_MAX ? body.n : at + 5;
  while (at < body.n && strchr(" \t\r\n:", body.p[at]) != NULL && body.p[at] != '\0') {
    at++;
  }
  if (at >= body.n || (body.p[at] != '"' && body.p[at] != '\'')) {
    return LT_STR("");
  }
  size_t end = at + 1;
  while (end < body.n && body.p[end] != body.p[at]) {
    end++;
  }
  return end < body.n ? lt_str_sub(body, at + 1, end) : LT_STR("");
}

/* The arguments are the broken text, so that the model is told what is wrong with it. */
static bool text_call_take_broken(const text_call_reader *r, lt_str name, lt_str body) {
  if (name.n == 0 || !text_call_is_offered(r, name)) {
    return false;
  }
  lt_assembly_add_text_call(r->a, name, body);
  return true;
}

static bool text_call_take_json(const text_call_reader *r, lt_str body) {
  lt_json_doc doc;
  lt_str name, arguments;
  if (lt_json_parse(r->arena, body, &doc, NULL) != LT_OK) {
    return text_call_take_broken(r, text_call_guess_name(body), body);
  }
  if (lt_json_typeof(lt_json_root(&doc)) == LT_JSON_ARRAY) {
    return text_call_take_list(r, lt_json_root(&doc));
  }
  if (!text_call_read_json(r, lt_json_root(&doc), &name, &arguments)) {
    return false;
  }
  lt_assembly_add_text_call(r->a, name, arguments);
  return true;
}

/* NAME...{arguments}; `end`: what ends the name. */
static bool text_call_take_named_json(const text_call_reader *r, lt_str body, const char *end) {
  size_t name_end = lt_str_find(body, lt_str_of(end), 0), start = lt_str_find(body, LT_STR("{"), 0);
  name_end = name_end < start ? name_end : start;
  lt_str name = lt_str_trim(lt_str_sub(body, 0, name_end));
  return start != SIZE_MAX && text_call_take_broken(r, name, lt_str_sub(body, start, body.n));
}

/* --- Elements ----------------------------------------------------------------------------------------------------- */
static bool text_call_is_string(lt_json type) {
  bool is_string = lt_json_str_eq(type, LT_STR("string"));
  lt_json_iter it = lt_json_each(type);
  while (lt_json_typeof(type) == LT_JSON_ARRAY && lt_json_next(&it)) {
    is_string = is_string || lt_json_str_eq(it.value, LT_STR("string"));
  }
  return is_string;
}

/* A value without quotes: the schema says whether it is text. Without one, what is JSON is not. */
static void text_call_put_value(lt_json_writer *w, lt_json function, lt_str key, lt_str value) {
  lt_json property = lt_json_get_str(lt_json_get(lt_json_get(function, "parameters"), "properties"), key);
  lt_str json = lt_str_trim(value);
  if (!text_call_is_string(lt_json_get(property, "type")) && json.n > 0 && json.p[0] != '"' &&
      lt_json_check(json, NULL) == LT_OK) {
    lt_json_put_raw(w, json);
  } else {
    lt_json_put_str(w, value);
  }
}

/* The line breaks behind the opening tag and before the closing tag are no part of a value. */
static lt_str text_call_value(lt_str text) {
  size_t from = lt_str_starts(text, LT_STR("\n")) ? 1 : 0;
  size_t to = text.n > from && lt_str_ends(text, LT_STR("\n")) ? text.n - 1 : text.n;
  return lt_str_sub(text, from, to);
}

/* Writes the parameters of one function. `open`, `key_end`: what is around a parameter's name. */
static void text_call_put_parameters(lt_json_writer *w, lt_json function, lt_str elements, const char *open,
                                     const char *key_end) {
  size_t at = 0;
  lt_json_begin_object(w);
  while ((at = lt_str_find(elements, lt_str_of(open), at)) != SIZE_MAX) {
    size_t key = at + strlen(open), end = lt_str_find(elements, lt_str_of(key_end), key);
    if (end == SIZE_MAX) {
      break;
    }
    size_t value = end + strlen(key_end);
    size_t close = lt_str_find(elements, LT_STR("</parameter>"), value);
    size_t next = lt_str_find(elements, lt_str_of(open), value); /* the closing tag may be missing */
    size_t value_end = close < next ? close : next;
    value_end = value_end < elements.n ? value_end : elements.n;
    lt_str name = lt_str_sub(elements, key, end);
    lt_json_key_str(w, name);
    text_call_put_value(w, function, name, text_call_value(lt_str_sub(elements, value, value_end)));
    at = value_end;
  }
  lt_json_end_object(w);
}

static bool text_call_take_elements(const text_call_reader *r, lt_str name, lt_str elements, const char *open,
                                    const char *key_end) {
  lt_json function = text_call_find(r->tools, r->arena, lt_str_trim(name));
  if (!lt_json_exists(function)) {
    return false;
  }
  LT_AUTO_BUF(arguments, 8 * LT_MODEL_TEXT_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&arguments);
  text_call_put_parameters(&w, function, elements, open, key_end);
  lt_assembly_add_text_call(r->a, lt_str_trim(name), lt_buf_view(&arguments));
  return true;
}

/* NAME>elements</function> */
static bool text_call_take_function(const text_call_reader *r, lt_str text, bool is_whole) {
  size_t name_end = lt_str_find(text, LT_STR(">"), 0);
  if (name_end == SIZE_MAX) {
    return false;
  }
  lt_str name = lt_str_sub(text, 0, name_end), rest = lt_str_sub(text, name_end + 1, text.n);
  size_t close = lt_str_find(rest, LT_STR("</function>"), 0);
  return is_whole ? text_call_take_elements(r, name, lt_str_sub(rest, 0, close), "<parameter=", ">")
                  : text_call_take_broken(r, lt_str_trim(name), rest);
}

/* NAME">elements</invoke>, from the name on. */
static bool text_call_take_invoke(const text_call_reader *r, lt_str text, bool is_whole) {
  size_t name_end = lt_str_find(text, LT_STR("\">"), 0);
  if (name_end == SIZE_MAX) {
    return false;
  }
  lt_str name = lt_str_sub(text, 0, name_end), rest = lt_str_sub(text, name_end + 2, text.n);
  size_t close = lt_str_find(rest, LT_STR("</invoke>"), 0);
  return is_whole || close != SIZE_MAX
             ? text_call_take_elements(r, name, lt_str_sub(rest, 0, close), "<parameter name=\"", "\">")
             : text_call_take_broken(r, name, rest);
}

static bool text_call_take_invokes(const text_call_reader *r, lt_str body) {
  static const lt_str open = {"<invoke name=\"", sizeof "<invoke name=\"" - 1};
  bool is_taken = false;
  for (size_t at = 0; (at = lt_str_find(body, open, at)) != SIZE_MAX; at += open.n) {
    is_taken = text_call_take_invoke(r, lt_str_sub(body, at + open.n, body.n), false) || is_taken;
  }
  return is_taken;
}

/* --- Forms -------------------------------------------------------------------------------------------------------- */
static bool text_call_take_form(const text_call_reader *r, lt_text_calls_form form, lt_str body, bool is_whole) {
  static const lt_str function = {"<function=", sizeof "<function=" - 1};
  lt_str text = lt_str_trim(body);
  char first = text.n > 0 ? text.p[0] : '\0';
  if (form == LT_TEXT_CALLS_INVOKE) {
    return text_call_take_invoke(r, body, is_whole);
  } else if (form == LT_TEXT_CALLS_INVOKES) {
    return text_call_take_invokes(r, body);
  } else if (form == LT_TEXT_CALLS_FUNCTION) {
    size_t name_end = lt_str_find(text, LT_STR(">"), 0);
    lt_str rest = name_end == SIZE_MAX ? LT_STR("") : lt_str_trim(lt_str_sub(text, name_end + 1, text.n));
    return lt_str_starts(rest, LT_STR("{")) ? text_call_take_named_json(r, text, ">")
                                            : text_call_take_function(r, text, is_whole);
  } else if (first == '{' || first == '[') {
    return text_call_take_json(r, text);
  } else if (lt_str_starts(text, function)) {
    return text_call_take_function(r, lt_str_sub(text, function.n, text.n), is_whole);
  }
  return form == LT_TEXT_CALLS_LIST && text_call_take_named_json(r, text, "[");
}

bool lt_text_call_read(lt_assembly *a, lt_text_calls_form form, lt_str body, bool is_whole) {
  lt_json_doc tools;
  LT_AUTO_ARENA(arena, 2 * LT_MODEL_MEMORY_BYTES);
  if (lt_json_parse(&arena, a->request->tools, &tools, NULL) != LT_OK) {
    return false;
  }
  const text_call_reader r = {.a = a, .arena = &arena, .tools = lt_json_root(&tools)};
  return text_call_take_form(&r, form, body, is_whole);
}
