/* URIs of identifiers: the part of RFC 3986 that references inside a document need. */
#include "json/json_text.h"
#include "json/schema_uri.h"

/* The parts of a URI, each with its delimiter. A part that is absent is {NULL, 0}. */
typedef struct uri_parts {
  lt_str scheme;    /* "https:" */
  lt_str authority; /* "//example.com" */
  lt_str path;
  lt_str query;    /* "?a=b" */
  lt_str fragment; /* without its "#" */
} uri_parts;

static size_t schema_uri_span_to(lt_str s, size_t from, const char *stop) {
  while (from < s.n && strchr(stop, s.p[from]) == NULL) {
    from++;
  }
  return from;
}

/* RFC 3986, appendix B. A NUL byte ends a part like a delimiter: it is not allowed in an identifier. */
static uri_parts schema_uri_split(lt_str s) {
  uri_parts u = {.scheme = LT_STR_NULL};
  size_t at = schema_uri_span_to(s, 0, ":/?#");
  size_t begin = 0;
  if (at > 0 && at < s.n && s.p[at] == ':') {
    begin = at + 1;
    u.scheme = lt_str_sub(s, 0, begin);
  }
  if (lt_str_starts(lt_str_sub(s, begin, s.n), LT_STR("//"))) {
    size_t end = schema_uri_span_to(s, begin + 2, "/?#");
    u.authority = lt_str_sub(s, begin, end);
    begin = end;
  }
  size_t end = schema_uri_span_to(s, begin, "?#");
  u.path = lt_str_sub(s, begin, end);
  begin = end;
  if (begin < s.n && s.p[begin] == '?') {
    end = schema_uri_span_to(s, begin, "#");
    u.query = lt_str_sub(s, begin, end);
    begin = end;
  }
  u.fragment = begin < s.n ? lt_str_sub(s, begin + 1, s.n) : LT_STR_NULL;
  return u;
}

static size_t schema_uri_put(char *out, size_t n, lt_str s) {
  if (s.n > 0) {
    memcpy(out + n, s.p, s.n);
  }
  return n + s.n;
}

/* Removes the last segment of the path that begins at `floor`. */
static size_t schema_uri_drop_segment(const char *out, size_t floor, size_t n) {
  while (n > floor && out[n - 1] != '/') {
    n--;
  }
  return n > floor ? n - 1 : floor;
}

/* RFC 3986, 5.2.4, in place: the path is the bytes from `floor` to `n`. Returns its new end. */
static size_t schema_uri_remove_dots(char *out, size_t floor, size_t n) {
  size_t to = floor;
  size_t at = floor;
  while (at < n) {
    size_t end = at + (out[at] == '/');
    while (end < n && out[end] != '/') {
      end++;
    }
    size_t begin = at + (out[at] == '/');
    lt_str segment = {out + begin, end - begin};
    bool up = lt_str_eqc(segment, "..");
    if (up) {
      to = schema_uri_drop_segment(out, floor, to);
    }
    if (!up && !lt_str_eqc(segment, ".")) {
      memmove(out + to, out + at, end - at);
      to += end - at;
    } else if (end == n) {
      out[to++] = '/'; /* there is room, because the dots took more */
    }
    at = end;
  }
  return to;
}

/* RFC 3986, 5.2.3. */
static size_t schema_uri_put_merged(char *out, size_t n, const uri_parts *base, lt_str path) {
  size_t keep = base->path.n;
  while (keep > 0 && base->path.p[keep - 1] != '/') {
    keep--;
  }
  if (base->authority.n > 0 && base->path.n == 0) {
    out[n++] = '/';
  }
  n = schema_uri_put(out, n, lt_str_sub(base->path, 0, keep));
  return schema_uri_put(out, n, path);
}

static size_t schema_uri_put_path(char *out, size_t n, const uri_parts *base, const uri_parts *ref) {
  size_t floor = n;
  if (ref->path.n == 0 && ref->authority.n == 0 && ref->scheme.n == 0) {
    return schema_uri_put(out, n, base->path);
  }
  bool whole = ref->scheme.n > 0 || ref->authority.n > 0 || ref->path.p[0] == '/';
  n = whole ? schema_uri_put(out, n, ref->path) : schema_uri_put_merged(out, n, base, ref->path);
  return schema_uri_remove_dots(out, floor, n);
}

bool lt_schema_uri_resolve(lt_arena *arena, lt_str base_text, lt_str ref_text, lt_str *ret_uri, lt_str *ret_fragment) {
  uri_parts base = schema_uri_split(base_text);
  uri_parts ref = schema_uri_split(ref_text);
  char *out = lt_arena_alloc(arena, base_text.n + ref_text.n + 2);
  if (out == NULL) {
    return false;
  }
  bool own = ref.scheme.n > 0;
  bool same = ref.path.n == 0 && ref.authority.n == 0 && !own;
  size_t n = schema_uri_put(out, 0, own ? ref.scheme : base.scheme);
  n = schema_uri_put(out, n, own || ref.authority.n > 0 ? ref.authority : base.authority);
  n = schema_uri_put_path(out, n, &base, &ref);
  n = schema_uri_put(out, n, same && ref.query.p == NULL ? base.query : ref.query);
  *ret_uri = (lt_str){out, n};
  *ret_fragment = ref.fragment;
  return true;
}

lt_str lt_schema_uri_unescape(lt_arena *arena, lt_str text) {
  if (text.n == 0 || memchr(text.p, '%', text.n) == NULL) {
    return text.p != NULL ? text : LT_STR("");
  }
  char *out = lt_arena_alloc(arena, text.n);
  size_t n = 0;
  for (size_t i = 0; out != NULL && i < text.n; i++) {
    int high = text.p[i] == '%' && i + 2 < text.n ? lt_json_hex_value(text.p[i + 1]) : -1;
    int low = high >= 0 ? lt_json_hex_value(text.p[i + 2]) : -1;
    out[n++] = (char)(low >= 0 ? high << 4 | low : text.p[i]);
    i += low >= 0 ? 2 : 0;
  }
  return out != NULL ? (lt_str){out, n} : LT_STR_NULL;
}
