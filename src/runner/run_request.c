#include "runner/run_request.h"

uint64_t lt_run_request_timeout_ms(const lt_run_request *request) {
  uint64_t ms = request->timeout_ms != 0 ? request->timeout_ms : LT_RUN_TIMEOUT_MS;
  return ms < LT_RUN_TIMEOUT_MAX_MS ? ms : LT_RUN_TIMEOUT_MAX_MS;
}

uint64_t lt_run_request_memory_bytes(const lt_run_request *request) {
  uint64_t bytes = request->memory_bytes != 0 ? request->memory_bytes : LT_RUN_MEMORY_BYTES;
  uint64_t least = bytes > LT_RUN_MEMORY_MIN_BYTES ? bytes : LT_RUN_MEMORY_MIN_BYTES;
  return least < LT_RUN_MEMORY_MAX_BYTES ? least : LT_RUN_MEMORY_MAX_BYTES;
}

size_t lt_run_request_find_function(const lt_run_request *request, lt_str name) {
  size_t i = 0;
  while (i < request->function_count && !lt_str_eq(request->functions[i].name, name)) {
    i++;
  }
  return i;
}
