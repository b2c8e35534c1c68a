#include "tool/identifier.h"

#include <stdlib.h>

#include "json/json_text.h"
#include "tool/catalog.h"

/* Each list is sorted by bytes. No word has a "_": most names of tools have one, and are not looked for. */
/* clang-format off */
/* Words that cannot be a function's name, in strict mode and in modules. */
static const char *const identifier_reserved_words[] = {
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
    "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements",
    "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public",
    "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
    "yield"};

/* Globals of every engine, which a tool must not hide. */
static const char *const identifier_globals[] = {
    "AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "Atomics", "BigInt", "BigInt64Array",
    "BigUint64Array", "Blob", "Boolean", "CustomEvent", "DOMException", "DataView", "Date", "DisposableStack", "Error", "EvalError", "Event", "EventTarget", "File",
    "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "FormData", "Function", "Headers", "Infinity", "Int16Array",
    "Int32Array", "Int8Array", "InternalError", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object",
    "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer", "String",
    "SuppressedError", "Symbol", "SyntaxError", "TextDecoder", "TextEncoder", "TypeError", "URIError", "URL",
    "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef",
    "WeakSet", "WebAssembly", "atob", "btoa", "clearInterval", "clearTimeout", "console", "crypto", "decodeURI",
    "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "fetch", "globalThis", "input", "isFinite",
    "isNaN", "log", "navigator", "output", "parseFloat", "parseInt", "performance", "queueMicrotask", "recall",
    "setImmediate", "setInterval", "setTimeout", "store", "structuredClone", "undefined", "unescape"};

/* JavaScript programs only (docs/internals/engine.md), and what every global object inherits. */
static const char *const identifier_javascript_world[] = {
    "complete", "constructor", "discoverTools", "done", "getArtifact", "hasOwnProperty", "isPrototypeOf",
    "listArtifacts", "llm", "llmJson", "parallel", "propertyIsEnumerable", "sleep", "storeArtifact", "toLocaleString",
    "toString", "toolSchema", "tools", "valueOf"};

/* TypeScript programs only: what the generated declarations use, and what Deno offers. */
static const char *const identifier_typescript_world[] = {
    "Buffer", "Deno", "Result", "ToolCall", "ToolResult", "exports", "global", "module", "process", "require"};

/* clang-format on */

static int identifier_compare_word(const void *key, const void *entry) {
  return lt_str_cmp(*(const lt_str *)key, lt_str_of(*(const char *const *)entry));
}

static bool identifier_in_list(lt_str name, const char *const *list, size_t count) {
  return name.n > 0 && memchr(name.p, '_', name.n) == NULL &&
         bsearch(&name, list, count, sizeof *list, identifier_compare_word) != NULL;
}

#define IN_LIST(name, list) identifier_in_list((name), (list), sizeof(list) / sizeof((list)[0]))

static bool identifier_is_taken(lt_str name) {
  return IN_LIST(name, identifier_reserved_words) || IN_LIST(name, identifier_globals);
}

static bool identifier_is_digit(uint32_t c) {
  return c >= '0' && c <= '9';
}

/* Letters of common scripts; less than Unicode's ID_Continue on purpose. A letter that is missing here only becomes
 * a word break; one too many would make declarations that do not compile. */
static const struct {
  uint32_t from, to;
} identifier_letters[] = {
    {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2C1},    {0x388, 0x38A},   {0x38E, 0x3A1},     {0x3A3, 0x3F5},
    {0x3F7, 0x481},   {0x48A, 0x52F},   {0x531, 0x556},   {0x561, 0x586},   {0x5D0, 0x5EA},     {0x620, 0x64A},
    {0x904, 0x939},   {0xE01, 0xE30},   {0x10D0, 0x10FA}, {0x1E00, 0x1F15}, {0x3041, 0x3096},   {0x30A1, 0x30FA},
    {0x3105, 0x312F}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0x20000, 0x2A6DF},
};

static bool identifier_is_letter(uint32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  for (size_t i = 0; i < sizeof identifier_letters / sizeof identifier_letters[0]; i++) {
    if (c <= identifier_letters[i].to) {
      return c >= identifier_letters[i].from;
    }
  }
  return false;
}

/* The length of the character at `at`, and whether an identifier may have it. A byte that is not UTF-8 counts as a
 * character that it may not have. */
static size_t identifier_read_char(lt_str s, size_t at, bool *ret_fits) {
  unsigned char lead = (unsigned char)s.p[at];
  if (lead < 0x80) {
    *ret_fits = identifier_is_letter(lead) || identifier_is_digit(lead) || lead == '$';
    return 1;
  }
  uint32_t c = 0;
  unsigned n = lt_json_read_char(s.p + at, s.p + s.n, &c);
  *ret_fits = n > 0 && identifier_is_letter(c);
  return n > 0 ? n : 1;
}

static char identifier_upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Appends the words of `s`, which are separated by "_" and by characters that no identifier has. Each word but the
 * first begins with a capital; with `capital` the first, too. "_" goes before what cannot begin an identifier. */
static lt_identifier_change identifier_add_camel(lt_buf *out, lt_str s, bool capital) {
  lt_identifier_change change = LT_IDENTIFIER_PLAIN;
  char *to = lt_buf_reserve(out, s.n + 1);
  bool raise = capital;
  size_t n = 0;
  bool fits;
  for (size_t at = 0, len; to != NULL && at < s.n; at += len) {
    len = identifier_read_char(s, at, &fits);
    if (!fits) {
      raise = capital || n > 0;
      continue;
    }
    if (n == 0 && identifier_is_digit((unsigned char)s.p[at])) {
      to[n++] = '_';
      change = LT_IDENTIFIER_PREFIXED;
    }
    memcpy(to + n, s.p + at, len);
    to[n] = raise ? identifier_upper(to[n]) : to[n];
    n += len;
    raise = false;
  }
  if (to != NULL && n == 0) {
    to[n++] = '_';
    change = LT_IDENTIFIER_PREFIXED;
  }
  lt_buf_commit(out, n);
  return change;
}

static lt_identifier_change identifier_add_underscored(lt_buf *out, lt_str name) {
  lt_identifier_change change = LT_IDENTIFIER_PLAIN;
  char *to = lt_buf_reserve(out, name.n + 1);
  size_t n = 0;
  bool fits;
  if (to != NULL && (name.n == 0 || identifier_is_digit((unsigned char)name.p[0]))) {
    to[n++] = '_';
    change = LT_IDENTIFIER_PREFIXED;
  }
  for (size_t at = 0, len; to != NULL && at < name.n; at += len) {
    len = identifier_read_char(name, at, &fits);
    if (fits) {
      memcpy(to + n, name.p + at, len);
      n += len;
    } else {
      to[n++] = '_';
    }
  }
  lt_buf_commit(out, n);
  return change;
}

static lt_str identifier_added_since(const lt_buf *out, size_t begin) {
  return begin < out->n ? lt_str_from(out->p + begin, out->n - begin) : LT_STR("");
}

lt_identifier_change lt_identifier_make_js(lt_buf *out, lt_str id) {
  size_t begin = out->n;
  lt_identifier_change change = identifier_add_camel(out, id, false);
  lt_str name = identifier_added_since(out, begin);
  if (identifier_is_taken(name) || IN_LIST(name, identifier_javascript_world)) {
    lt_buf_byte(out, '_');
    return LT_IDENTIFIER_SUFFIXED;
  }
  return change;
}

lt_identifier_change lt_identifier_make_ts(lt_buf *out, lt_str name) {
  size_t begin = out->n;
  lt_identifier_change change = identifier_add_underscored(out, name);
  lt_str made = identifier_added_since(out, begin);
  if (identifier_is_taken(made) || IN_LIST(made, identifier_typescript_world)) {
    lt_buf_byte(out, '_');
    return LT_IDENTIFIER_SUFFIXED;
  }
  return change;
}

bool lt_identifier_is_of_world(lt_tool_language language, lt_str name) {
  switch (language) {
    case LT_TOOL_JAVASCRIPT:
      return IN_LIST(name, identifier_javascript_world);
    case LT_TOOL_TYPESCRIPT:
      return IN_LIST(name, identifier_typescript_world);
    case LT_TOOL_PYTHON: /* its built-in functions are known to the interpreter (runner/python/guest/api.py) */
      break;
  }
  return false;
}

void lt_identifier_js(lt_buf *out, lt_str id) {
  lt_identifier_make_js(out, id);
}

void lt_identifier_ts(lt_buf *out, lt_str name) {
  lt_identifier_make_ts(out, name);
}

void lt_identifier_ts_type(lt_buf *out, lt_str ts_name) {
  identifier_add_camel(out, ts_name, true);
}

static bool identifier_is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static bool identifier_is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

/* Whether a word of a camelCase name begins at `at`: get|Order, get|HTTP|Page, v2|List. */
static bool identifier_begins_word(lt_str name, size_t at) {
  if (at == 0 || !identifier_is_upper(name.p[at])) {
    return false;
  }
  char before = name.p[at - 1];
  bool ends_capitals = identifier_is_upper(before) && at + 1 < name.n && identifier_is_lower(name.p[at + 1]);
  return identifier_is_lower(before) || identifier_is_digit((unsigned char)before) || ends_capitals;
}

void lt_identifier_snake(lt_buf *out, lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    if (identifier_begins_word(name, i)) {
      lt_buf_byte(out, '_');
    }
    lt_buf_byte(out, identifier_is_upper(c) ? (char)(c - 'A' + 'a') : c);
  }
}
