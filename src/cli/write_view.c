#include "cli/write_view.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "cli/json_view.h"
#include "cli/text_block.h"
#include "text/line_diff.h"
#include "types/typegen_text.h"

#define MARGIN LT_STR("    ")

static void write_view_on_step(void *arg, const lt_line_diff_step *step) {
  lt_buf *out = arg;
  static const char marks[] = {[LT_DIFF_SAME] = '|', [LT_DIFF_REMOVED] = '-', [LT_DIFF_ADDED] = '+'};
  if (step->mark == LT_DIFF_SKIPPED) {
    lt_buf_printf(out, "\n    ... %zu lines stay as they are", step->count);
  } else if (step->mark == LT_DIFF_NO_END) {
    lt_buf_addc(out, "\n    (no line break at its end)");
  } else {
    (void)lt_text_block_line(out, MARGIN, marks[step->mark], step->line, true);
  }
}

/* The members that are neither the path nor the text, as an object. */
static void write_view_put_rest(lt_write_change *w, lt_buf *out) {
  LT_AUTO_BUF(rest, 2 * LT_PREVIEW_BYTES);
  lt_json_writer writer = lt_json_writer_on(&rest);
  size_t count = 0;
  lt_json_begin_object(&writer);
  for (lt_json_iter it = lt_json_each(w->input); lt_json_next(&it);) {
    if (!lt_json_str_eq(it.key, lt_str_of(w->own_path)) && !lt_json_str_eq(it.key, lt_str_of(w->own_text))) {
      lt_str key = LT_STR_NULL;
      (void)lt_json_str(it.key, &w->arena, &key);
      lt_json_key_str(&writer, key);
      lt_json_put_raw(&writer, lt_json_text(it.value));
      count++;
    }
  }
  lt_json_end_object(&writer);
  if (count > 0) {
    lt_buf_addc(out, "  with: ");
    (void)lt_json_view_add(out, lt_buf_view(&rest), "  ", true);
    lt_buf_byte(out, '\n');
  }
}

static bool write_view_put(lt_write_change *w, lt_buf *out) {
  size_t from = out->n;
  bool is_same = lt_str_eq(lt_buf_view(&w->before), lt_buf_view(&w->after));
  lt_buf_addc(out, "  changes ");
  lt_typegen_put_string(out, lt_utf8_cut(w->path, LT_KIB));
  lt_buf_addc(out, ", compared with what ");
  lt_typegen_put_line(out, w->reader->id, 200);
  lt_buf_addc(out, is_same ? " reads now: nothing in it changes" : " reads now:");
  bool is_put = lt_line_diff(lt_buf_view(&w->before), lt_buf_view(&w->after), LT_WRITE_PREVIEW_CONTEXT,
                             write_view_on_step, out, NULL) == LT_OK;
  lt_buf_byte(out, '\n');
  write_view_put_rest(w, out);
  if (!is_put || out->status != LT_OK || out->n - from > LT_PREVIEW_BYTES * 2) {
    out->n = from;
    return false;
  }
  return true;
}

bool lt_write_view_add(const lt_write_preview *preview, lt_str tool, lt_str input, lt_cancel *cancel, lt_buf *out) {
  lt_write_change change;
  bool is_added = lt_write_preview_read(preview, tool, input, cancel, &change) && write_view_put(&change, out);
  lt_write_preview_release(&change);
  return is_added;
}
