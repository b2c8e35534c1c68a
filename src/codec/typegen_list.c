/* The prompt's listing and the JSON list of the tools. */
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json.h"
#include "codec/typegen.h"
#include "codec/typegen_text.h"

#define NAME_MAX_CHARS 256 /* an id in the listing: far past real ones */

static int by_namespace(const void *a, const void *b) {
  const lt_typegen_tool *x = *(const lt_typegen_tool *const *)a;
  const lt_typegen_tool *y = *(const lt_typegen_tool *const *)b;
  int order = lt_str_cmp(x->ns, y->ns);
  return order != 0 ? order : lt_str_cmp(x->id, y->id);
}

static void put_listed(lt_buf *out, const lt_typegen_tool *tool) {
  if (tool->js_name.n > 0) {
    lt_typegen_put_line(out, tool->js_name, NAME_MAX_CHARS);
  } else {
    lt_buf_addc(out, "tools[");
    lt_typegen_put_string(out, tool->id);
    lt_buf_byte(out, ']');
  }
  lt_buf_addc(out, " (ID: ");
  lt_typegen_put_line(out, tool->id, NAME_MAX_CHARS);
  lt_buf_byte(out, ')');
  size_t before = out->n;
  lt_buf_addc(out, " - ");
  size_t told = out->n;
  lt_typegen_put_sentence(out, tool->description, LT_TYPEGEN_PROMPT_MAX_CHARS);
  if (out->status == LT_OK && out->n == told) {
    out->n = before;
    out->p[before] = '\0';
  }
}

static void put_namespace(lt_buf *out, lt_str ns) {
  lt_buf_addc(out, "**");
  lt_typegen_put_line(out, ns.n > 0 ? ns : LT_STR("_"), NAME_MAX_CHARS);
  lt_buf_addc(out, "**: ");
}

lt_status lt_typegen_prompt(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  const lt_typegen_tool **sorted = lt_mem_zalloc(count + 1, sizeof(*sorted));
  if (sorted == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the listing of %zu tools", count);
  }
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &tools[i];
  }
  qsort(sorted, count, sizeof(*sorted), by_namespace);
  for (size_t i = 0; i < count && out->status == LT_OK; i++) {
    if (i == 0 || !lt_str_eq(sorted[i]->ns, sorted[i - 1]->ns)) {
      lt_buf_addc(out, i > 0 ? "\n" : "");
      put_namespace(out, sorted[i]->ns);
    } else {
      lt_buf_addc(out, " | ");
    }
    put_listed(out, sorted[i]);
  }
  lt_buf_addc(out, count > 0 ? "\n" : "");
  lt_mem_free(sorted);
  return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "the listing of %zu tools is too long", count);
}

static bool is_json(lt_str text) {
  return text.n > 0 && lt_json_check(text, NULL) == LT_OK;
}

static void put_entry(lt_json_writer *w, const lt_typegen_tool *tool) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "jsName");
  if (tool->js_name.n > 0) {
    lt_json_put_str(w, tool->js_name);
  } else {
    lt_json_put_null(w);
  }
  lt_json_key(w, "tsName");
  lt_json_put_str(w, tool->ts_name);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_key(w, "inputSchema");
  lt_json_put_raw(w, is_json(tool->input_schema) ? lt_str_trim(tool->input_schema) : LT_STR("{}"));
  if (is_json(tool->output_schema)) {
    lt_json_key(w, "outputSchema");
    lt_json_put_raw(w, lt_str_trim(tool->output_schema));
  }
  lt_json_end_object(w);
}

lt_status lt_typegen_json(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count && out->status == LT_OK; i++) {
    put_entry(&w, &tools[i]);
  }
  lt_json_end_array(&w);
  return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "the list of %zu tools is too long", count);
}
