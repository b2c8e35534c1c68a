/* Prepares the program's text: checks it, and removes code fences. */
#include "runner/deno/deno_program_text.h"
#include "runner/deno/deno_run.h"
#include "js/jsscan.h"

static bool deno_program_text_is_utf8(lt_deno_run *run) {
  lt_str code = run->request->code;
  size_t bad = lt_run_request_find_bad_byte(run->request);
  if (bad == SIZE_MAX) {
    return true;
  }
  run->result->line = 1;
  for (size_t i = 0; i < bad; i++) {
    run->result->line += code.p[i] == '\n';
  }
  lt_run_result_fail(run->result, LT_E_INVALID, "%s (line %u): save the program as UTF-8 text",
                     code.p[bad] == 0 ? "the program contains a NUL byte" : "the program is not valid UTF-8",
                     run->result->line);
  return false;
}

bool lt_deno_program_text_prepare(lt_deno_run *run) {
  if (!lt_run_request_check_size(run->request, run->result) || !deno_program_text_is_utf8(run) ||
      !lt_run_request_check_input(run->request, run->result)) {
    return false;
  }
  run->source = lt_jsscan_unfence(run->request->code, &run->joined, &run->line_offset);
  return true;
}
