#include "runner/run_request.h"

#include "json/json.h"
#include "json/json_text.h"

/* --- Checks ------------------------------------------------------------------------------------------------------- */
bool lt_run_request_check_size(const lt_run_request *request, lt_run_result *result) {
  if (request->code.n > LT_RUN_CODE_MAX_BYTES) {
    lt_run_result_fail(result, LT_E_INVALID, "the program has %zu bytes; at most %lu MiB can be run", request->code.n,
                       LT_RUN_CODE_MAX_BYTES / LT_MIB);
    return false;
  }
  return true;
}

bool lt_run_request_check_input(const lt_run_request *request, lt_run_result *result) {
  LT_ERR_VAR(err);
  if (request->input.n > 0 && lt_json_check(request->input, &err) != LT_OK) {
    lt_run_result_fail(result, LT_E_INVALID, "the input is not JSON: %s", lt_err_msg(&err));
    return false;
  }
  return true;
}

size_t lt_run_request_find_bad_byte(const lt_run_request *request) {
  const char *end = request->code.p + request->code.n;
  for (const char *p = request->code.p; p < end;) {
    uint32_t c = 0;
    unsigned n = lt_json_read_char(p, end, &c);
    if (n == 0 || c == 0 || lt_json_is_surrogate(c)) { /* RFC 3629, section 4 */
      return (size_t)(p - request->code.p);
    }
    p += n;
  }
  return SIZE_MAX;
}

/* --- Limits and functions ----------------------------------------------------------------------------------------- */

uint64_t lt_run_request_timeout_ms(const lt_run_request *request) {
  uint64_t ms = request->timeout_ms != 0 ? request->timeout_ms : LT_RUN_TIMEOUT_MS;
  return ms < LT_RUN_TIMEOUT_MAX_MS ? ms : LT_RUN_TIMEOUT_MAX_MS;
}

uint64_t lt_run_request_memory_bytes(const lt_run_request *request) {
  uint64_t bytes = request->memory_bytes != 0 ? request->memory_bytes : LT_RUN_MEMORY_BYTES;
  uint64_t least = bytes > LT_RUN_MEMORY_MIN_BYTES ? bytes : LT_RUN_MEMORY_MIN_BYTES;
  return least < LT_RUN_MEMORY_MAX_BYTES ? least : LT_RUN_MEMORY_MAX_BYTES;
}

size_t lt_run_request_output_bytes(const lt_run_request *request) {
  return request->max_output_bytes != 0 ? request->max_output_bytes : LT_RUN_OUTPUT_MAX_BYTES;
}

size_t lt_run_request_log_bytes(const lt_run_request *request) {
  return request->max_log_bytes != 0 ? request->max_log_bytes : LT_RUN_LOG_MAX_BYTES;
}

size_t lt_run_request_find_function(const lt_run_request *request, lt_str name) {
  size_t i = 0;
  while (i < request->function_count && !lt_str_eq(request->functions[i].name, name)) {
    i++;
  }
  return i;
}
