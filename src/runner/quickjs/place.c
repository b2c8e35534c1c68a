/* Where a program failed, in terms of what was written: the engine counts bytes, and in what was made of it. */
#include "base/utf8.h"
#include "runner/quickjs/program.h"

#define CUT "\xe2\x80\xa6" /* an ellipsis */

/* Characters in the first `n` bytes. */
static uint32_t characters(lt_str line, size_t n) {
  return (uint32_t)lt_utf8_count(lt_str_sub(line, 0, n));
}

/* The byte at which character `count` (from 0) begins. */
static size_t byte_of(lt_str line, uint32_t count) {
  size_t at = 0;
  for (; at < line.n; at++) {
    if (!lt_utf8_continues(line.p[at]) && count-- == 0) {
      break;
    }
  }
  return at;
}

/* Taking types off drops text and rarely adds any: what is left of a line is found in what was written, in order. Where
 * it is not, the line was rewritten (an enum), and the column stays as it is. */
static size_t before_stripping(lt_str written, lt_str ran, size_t at) {
  size_t to = 0;
  for (size_t from = 0; from <= at && from < ran.n; from++, to++) {
    while (to < written.n && written.p[to] != ran.p[from]) {
      to++;
    }
    if (to == written.n) {
      return at;
    }
  }
  return at < ran.n && to > 0 ? to - 1 : at;
}

void lt_run_result_put_context(lt_buf *out, lt_str line, size_t at) {
  lt_str trimmed = lt_str_trim(line);
  if (trimmed.n <= LT_RUN_CONTEXT_BYTES) {
    lt_buf_add(out, trimmed);
    return;
  }
  size_t from = at > LT_RUN_CONTEXT_BYTES / 2 ? at - LT_RUN_CONTEXT_BYTES / 2 : 0;
  from = from < line.n ? from : line.n;
  size_t to = line.n - from > LT_RUN_CONTEXT_BYTES ? from + LT_RUN_CONTEXT_BYTES : line.n;
  while (from > 0 && from < line.n && lt_utf8_continues(line.p[from])) {
    from--;
  }
  while (to < line.n && lt_utf8_continues(line.p[to])) {
    to++;
  }
  lt_buf_addc(out, from > 0 ? CUT : "");
  lt_buf_add(out, lt_str_trim(lt_str_sub(line, from, to)));
  lt_buf_addc(out, to < line.n ? CUT : "");
}

static void set(lt_run_result *result, lt_str written, uint32_t line, size_t at) {
  result->line = line;
  result->column = characters(written, at) + 1;
  lt_buf_clear(&result->context);
  lt_run_result_put_context(&result->context, written, at);
}

void lt_run_place_engine(const lt_run *run, lt_run_place *place) {
  bool typed = run->request->lang == LT_LANG_TYPESCRIPT;
  lt_str ran = lt_jsscan_line(run->program.code, place->line);
  size_t prefix = place->line == 1 ? run->column_offset : 0;
  size_t at = place->column > prefix ? place->column - 1 - prefix : 0;
  place->line += run->line_offset;
  lt_str written = lt_jsscan_line(run->request->code, place->line);
  place->at = typed ? before_stripping(written, lt_str_sub(ran, prefix, ran.n), at) : at;
  place->column = place->column > 0 ? characters(written, place->at) + 1 : 0;
}

void lt_run_place_set(lt_run *run, const lt_run_place *place) {
  set(run->result, lt_jsscan_line(run->request->code, place->line), place->line, place->at);
  run->result->column = place->column;
}

void lt_run_place_written(lt_run *run, uint32_t line, uint32_t column) {
  lt_str written = lt_jsscan_line(run->request->code, line + run->line_offset);
  set(run->result, written, line + run->line_offset, byte_of(written, column > 0 ? column - 1 : 0));
}

void lt_run_place_source(lt_run *run, size_t at) {
  uint32_t line = 1;
  size_t start = 0;
  for (size_t i = 0; i < at; i++) {
    if (run->source.p[i] == '\n') {
      line++;
      start = i + 1;
    }
  }
  line += run->line_offset;
  set(run->result, lt_jsscan_line(run->request->code, line), line, at - start);
}
