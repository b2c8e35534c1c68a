#include "runner/exec_pragma.h"

#include "base/arena.h"
#include "json/json.h"

#define BYTES_PER_TOKEN 4 /* of output, roughly */

/* --- The line ----------------------------------------------------------------------------------------------------- */
static lt_str pragma_next_line(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\n"), 0);
  lt_str line = lt_str_sub(*rest, 0, end == SIZE_MAX ? rest->n : end);
  *rest = lt_str_sub(*rest, line.n + 1, rest->n);
  return lt_str_trim(line);
}

/* The text behind `@exec:` in the first line that is neither empty nor a code fence; or empty. */
static lt_str pragma_find(lt_str code) {
  lt_str line = LT_STR_NULL;
  while (line.n == 0 && code.n > 0) {
    line = pragma_next_line(&code);
    bool is_fence = lt_str_starts(line, LT_STR("```")) || lt_str_starts(line, LT_STR("~~~"));
    line = is_fence ? LT_STR_NULL : line;
  }
  size_t comment = lt_str_starts(line, LT_STR("//")) ? 2 : lt_str_starts(line, LT_STR("#")) ? 1 : 0;
  lt_str text = lt_str_trim(lt_str_sub(line, comment, line.n));
  lt_str mark = LT_STR("@exec:");
  return comment > 0 && lt_str_starts(text, mark) ? lt_str_trim(lt_str_sub(text, mark.n, text.n)) : LT_STR_NULL;
}

/* --- What it asks for --------------------------------------------------------------------------------------------- */
typedef struct pragma_asked {
  lt_exec_pragma *pragma;
  lt_str key;
  int64_t value;
} pragma_asked;

static void pragma_warn(lt_exec_pragma *pragma, lt_str key, const char *what) {
  lt_buf_addc(&pragma->warnings, pragma->warnings.n > 0 ? "\n" : "");
  lt_buf_printf(&pragma->warnings, "@exec: %.*s: %s", LT_STR_ARG(lt_str_sub(key, 0, LT_RUN_CONTEXT_BYTES)), what);
}

/* The smaller one of what is asked for and what there may be; a warning when it is less than was asked for. */
static uint64_t pragma_at_most(const pragma_asked *asked, uint64_t wanted, uint64_t max, const char *why) {
  if (wanted > max) {
    pragma_warn(asked->pragma, asked->key, why);
  }
  return wanted < max ? wanted : max;
}

static void pragma_set_timeout(const pragma_asked *asked) {
  lt_run_request *request = &asked->pragma->request;
  if (request->has_fixed_timeout) {
    pragma_warn(asked->pragma, asked->key, "the time is fixed by whoever runs the program");
    return;
  }
  request->timeout_ms =
      pragma_at_most(asked, (uint64_t)asked->value, LT_RUN_TIMEOUT_MAX_MS, "a program has 10 minutes at most");
}

static void pragma_set_memory(const pragma_asked *asked) {
  lt_run_request *request = &asked->pragma->request;
  uint64_t wanted = (uint64_t)asked->value < LT_RUN_MEMORY_MAX_BYTES / LT_MIB ? (uint64_t)asked->value * LT_MIB
                                                                              : LT_RUN_MEMORY_MAX_BYTES;
  request->memory_bytes =
      pragma_at_most(asked, wanted, lt_run_request_memory_bytes(request), "more memory takes sandbox.memoryMb");
}

static void pragma_set_output(const pragma_asked *asked) {
  lt_run_request *request = &asked->pragma->request;
  uint64_t max = request->max_output_bytes > 0 ? request->max_output_bytes : LT_RUN_OUTPUT_MAX_BYTES;
  uint64_t wanted = (uint64_t)asked->value < max ? (uint64_t)asked->value * BYTES_PER_TOKEN : max;
  request->max_output_bytes = (size_t)(wanted < max ? wanted : max);
}

static void pragma_ignore_yield(const pragma_asked *asked) {
  pragma_warn(asked->pragma, asked->key, "has no meaning here: a program runs to its end before its output is read");
}

static const struct {
  const char *key;
  void (*set)(const pragma_asked *asked);
} pragma_keys[] = {
    {"timeout", pragma_set_timeout},          {"timeout_ms", pragma_set_timeout},
    {"timeoutMs", pragma_set_timeout},        {"memory", pragma_set_memory},
    {"memory_mb", pragma_set_memory},         {"memoryMb", pragma_set_memory},
    {"max_output_tokens", pragma_set_output}, {"yield_time_ms", pragma_ignore_yield},
};

static void pragma_take(lt_exec_pragma *pragma, lt_str key, lt_json value) {
  pragma_asked asked = {.pragma = pragma, .key = key};
  for (size_t i = 0; i < sizeof pragma_keys / sizeof pragma_keys[0]; i++) {
    if (!lt_str_eqc(key, pragma_keys[i].key)) {
      continue;
    }
    if (lt_json_int(value, &asked.value) && asked.value > 0) {
      pragma_keys[i].set(&asked);
    } else {
      pragma_warn(pragma, key, "expected a whole number over 0");
    }
    return;
  }
  pragma_warn(pragma, key, "is not known; known are timeout (ms), memory (MiB) and max_output_tokens");
}

static void pragma_read(lt_exec_pragma *pragma, lt_str text) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MIB);
  if (lt_json_parse(&arena, text, &doc, NULL) != LT_OK || lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT) {
    pragma_warn(pragma, text, "expected a JSON object, such as // @exec: {\"timeout\": 60000}");
    return;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_str key;
    if (lt_json_str(it.key, &arena, &key)) {
      pragma_take(pragma, key, it.value);
    }
  }
}

const lt_run_request *lt_exec_pragma_apply(lt_exec_pragma *pragma, const lt_run_request *request) {
  lt_buf_init(&pragma->warnings, LT_RUN_LOG_MAX_BYTES);
  lt_str text = request->is_cell ? LT_STR_NULL : pragma_find(request->code); /* a cell's is its mode's */
  if (text.n == 0) {
    return request;
  }
  pragma->request = *request;
  pragma_read(pragma, text);
  return &pragma->request;
}

void lt_exec_pragma_release(lt_exec_pragma *pragma) {
  lt_buf_release(&pragma->warnings);
}
