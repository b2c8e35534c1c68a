/* The limits of one program, as its process sets them. */
#include <unistd.h>

#include "runner/python/python_limits.h"
#include "runner/thread_limit.h"

uint64_t lt_python_limits_memory_bytes(const lt_run_request *request) {
  uint64_t bytes = request->memory_bytes != 0 ? request->memory_bytes : LT_PYTHON_MEMORY_BYTES;
  bytes = bytes > LT_PYTHON_MEMORY_MIN_BYTES ? bytes : LT_PYTHON_MEMORY_MIN_BYTES;
  return bytes < LT_RUN_MEMORY_MAX_BYTES ? bytes : LT_RUN_MEMORY_MAX_BYTES;
}

static void python_limits_write_number(lt_json_writer *w, const char *key, uint64_t n) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)n);
}

void lt_python_limits_write(const lt_run_request *request, lt_json_writer *w) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t seconds = lt_run_request_timeout_ms(request) / 1000 + 2;
  lt_json_begin_object(w);
  python_limits_write_number(w, "memory", lt_python_limits_memory_bytes(request));
  python_limits_write_number(w, "slack", LT_PYTHON_SLACK_BYTES);
  python_limits_write_number(w, "file", LT_PYTHON_FILE_BYTES);
  python_limits_write_number(w, "files", LT_PYTHON_FILES_MAX);
  python_limits_write_number(w, "threads", lt_thread_limit());
  python_limits_write_number(w, "cpu", seconds * (uint64_t)(cores > 0 ? cores : 1));
  lt_json_end_object(w);
}
