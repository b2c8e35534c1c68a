#include "model/completion_wire.h"

#define COMPLETION_WIRE_ROW(name) &lt_##name##_wire,
static const lt_completion_wire *const completion_wires[] = {LT_COMPLETION_WIRES(COMPLETION_WIRE_ROW)};

/* The URL without its query and the slashes at its end. */
static lt_str completion_wire_path_of(lt_str base_url, lt_str *ret_query) {
  lt_str url = lt_str_trim(base_url);
  size_t query_at = lt_str_find(url, LT_STR("?"), 0);
  lt_str path = lt_str_sub(url, 0, query_at);
  *ret_query = lt_str_sub(url, query_at, url.n);
  while (lt_str_ends(path, LT_STR("/"))) {
    path.n--;
  }
  return path;
}

const lt_completion_wire *lt_completion_wire_of(lt_str base_url) {
  lt_str query;
  lt_str path = completion_wire_path_of(base_url, &query);
  for (size_t i = 0; i < sizeof completion_wires / sizeof completion_wires[0]; i++) {
    if (lt_str_ends(path, lt_str_of(completion_wires[i]->path))) {
      return completion_wires[i];
    }
  }
  return completion_wires[0];
}

void lt_completion_wire_put_url(const lt_completion_wire *wire, lt_str base_url, lt_buf *out) {
  lt_str query;
  lt_str path = completion_wire_path_of(base_url, &query);
  lt_buf_add(out, path);
  lt_buf_addc(out, lt_str_ends(path, lt_str_of(wire->path)) ? "" : wire->path);
  lt_buf_add(out, query);
}
