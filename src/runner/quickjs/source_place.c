#include "runner/quickjs/source_place.h"

#include "base/utf8.h"
#include "js/jsscan.h"
#include "runner/quickjs/run.h"

/* Counts the characters in the first `n` bytes. */
static uint32_t place_characters(lt_str line, size_t n) {
  return (uint32_t)lt_utf8_count(lt_str_sub(line, 0, n));
}

size_t lt_source_place_byte_of(lt_str line, uint32_t count) {
  size_t at = 0;
  for (; at < line.n; at++) {
    if (!lt_utf8_continues(line.p[at]) && count-- == 0) {
      break;
    }
  }
  return at;
}

/* What follows is often the same to the end of the line. Otherwise: removing types deletes text and rarely adds any, so
 * the rest of a line is found in the written line, in the same order. If it is not, the line was rewritten (an enum),
 * and the column stays unchanged. */
static size_t place_before_stripping(lt_str written, lt_str ran, size_t at) {
  size_t left = ran.n - (at < ran.n ? at : ran.n), to = 0;
  if (left <= written.n && lt_str_ends(written, lt_str_sub(ran, ran.n - left, ran.n))) {
    return written.n - left;
  }
  if (written.n == ran.n) {
    return at;
  }
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

static void place_set_line(lt_run_result *result, lt_str written, uint32_t line, size_t at) {
  result->line = line;
  result->column = place_characters(written, at) + 1;
  lt_buf_clear(&result->context);
  lt_run_result_put_context(&result->context, written, at);
}

void lt_source_place_map(const lt_run *run, lt_run_place *place) {
  lt_str ran = lt_jsscan_line(run->text.program.code, place->line);
  size_t prefix = place->line == 1 ? run->text.column_offset : 0;
  size_t at = place->column > prefix ? place->column - 1 - prefix : 0;
  place->line += run->text.line_offset;
  lt_str written = lt_jsscan_line(run->request->code, place->line);
  place->at = run->text.has_moved ? place_before_stripping(written, lt_str_sub(ran, prefix, ran.n), at) : at;
  place->column = place->column > 0 ? place_characters(written, place->at) + 1 : 0;
}

void lt_source_place_set(lt_run *run, const lt_run_place *place) {
  place_set_line(run->result, lt_jsscan_line(run->request->code, place->line), place->line, place->at);
  run->result->column = place->column;
}

void lt_source_place_set_column(lt_run *run, uint32_t line, uint32_t column) {
  lt_str written = lt_jsscan_line(run->request->code, line + run->text.line_offset);
  place_set_line(run->result, written, line + run->text.line_offset,
                 lt_source_place_byte_of(written, column > 0 ? column - 1 : 0));
}

void lt_source_place_set_byte(lt_run *run, size_t at) {
  uint32_t line = 1;
  size_t start = 0;
  for (size_t i = 0; i < at; i++) {
    if (run->text.source.p[i] == '\n') {
      line++;
      start = i + 1;
    }
  }
  line += run->text.line_offset;
  place_set_line(run->result, lt_jsscan_line(run->request->code, line), line, at - start);
}
