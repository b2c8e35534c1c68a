/* Prepares the program's text: checks it, and removes code fences. */
#include "json/json.h"
#include "json/json_text.h"
#include "runner/deno/deno_program_text.h"
#include "runner/deno/deno_run.h"
#include "js/jsscan.h"

/* Bytes of the UTF-8 sequence at `p` (RFC 3629, section 4), or 0. */
static unsigned deno_program_text_sequence(const char *p, const char *end) {
  uint32_t c = 0;
  unsigned n = lt_json_read_char(p, end, &c);
  return lt_json_is_surrogate(c) ? 0 : n;
}

static bool deno_program_text_is_text(lt_deno_run *run) {
  lt_str code = run->request->code;
  if (code.n > LT_RUN_CODE_MAX_BYTES) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the program has %zu bytes; at most %lu MiB can be run", code.n,
                       LT_RUN_CODE_MAX_BYTES / LT_MIB);
    return false;
  }
  uint32_t line = 1;
  for (size_t i = 0; i < code.n;) {
    unsigned length = deno_program_text_sequence(code.p + i, code.p + code.n);
    if (length == 0 || code.p[i] == 0) {
      run->result->line = line;
      lt_run_result_fail(run->result, LT_E_INVALID, "%s (line %u): save the program as UTF-8 text",
                         length == 0 ? "the program is not valid UTF-8" : "the program contains a NUL byte", line);
      return false;
    }
    line += code.p[i] == '\n';
    i += length;
  }
  return true;
}

bool lt_deno_program_text_prepare(lt_deno_run *run) {
  lt_err err = LT_ERR_INIT;
  if (!deno_program_text_is_text(run)) {
    return false;
  }
  if (run->request->input.n > 0 && lt_json_check(run->request->input, &err) != LT_OK) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the input is not JSON: %s", lt_err_msg(&err));
    return false;
  }
  run->source = lt_jsscan_unfence(run->request->code, &run->line_offset);
  return true;
}
