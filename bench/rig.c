#include "bench/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/json.h"

enum { MEGABYTE = 1000000, SPECS_MEMORY = 64 * 1024 * 1024 };

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static const char *const ours[] = {"echo", "slow", "wait", "megabyte", "peek"};
enum { OURS = sizeof ours / sizeof ours[0], PEEK = OURS - 1 }; /* as echo, but read-only */

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"What to look at\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"order\":{\"type\":\"string\",\"enum\":[\"asc\",\"desc\"]}},\"required\":[\"path\"]}";

const lt_tool_spec *lt_rig_specs(lt_arena *arena, size_t count) {
  lt_tool_spec *specs = lt_arena_zalloc(arena, count, sizeof *specs);
  LT_CHECK(specs != NULL && count >= OURS);
  for (size_t i = 0; i < count; i++) {
    specs[i].name = i < OURS ? lt_str_of(ours[i]) : lt_arena_printf(arena, "look-up-%05zu", i);
    specs[i].description = LT_STR("Looks up what is known of a path. Answers a list of entries.");
    specs[i].annotations = i == PEEK ? LT_STR("{\"readOnlyHint\":true}") : LT_STR_NULL;
    specs[i].input_schema = i < OURS ? LT_STR("{\"type\":\"object\"}") : lt_str_of(schema);
  }
  return specs;
}

static void put_record(lt_json_writer *w, unsigned i) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_int(w, i);
  lt_json_key(w, "name");
  lt_json_put_cstr(w, "An entry with a name, \"quotes\" and a line\nbreak");
  lt_json_key(w, "score");
  lt_json_put_double(w, (double)i / 7);
  lt_json_key(w, "tags");
  lt_json_begin_array(w);
  lt_json_put_cstr(w, "red");
  lt_json_put_cstr(w, "grün");
  lt_json_end_array(w);
  lt_json_key(w, "open");
  lt_json_put_bool(w, i % 2 == 0);
  lt_json_end_object(w);
}

static void make_megabyte(lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (unsigned i = 0; out->n < MEGABYTE - 150; i++) {
    put_record(&w, i);
  }
  lt_json_end_array(&w);
}

static void wait_at_gate(lt_rig *rig) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, rig->loop);
  lt_cancel_add(&rig->gate, &node, &wait);
  rig->waiting++;
  lt_wait_on(&wait, UINT64_MAX);
  lt_cancel_remove(&rig->gate, &node);
}

static lt_status invoke(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                        lt_err *err) {
  lt_rig *rig = (lt_rig *)self;
  (void)options;
  (void)err;
  if (lt_str_eqc(name, "echo")) {
    if (rig->stamps != NULL) {
      lt_measure_add(rig->stamps, lt_measure_now());
    }
    lt_buf_add(out, input);
  } else if (lt_str_eqc(name, "peek")) {
    lt_buf_add(out, input);
  } else if (lt_str_eqc(name, "slow")) {
    lt_loop_sleep(rig->loop, LT_RIG_SLOW_MS);
  } else if (lt_str_eqc(name, "wait")) {
    wait_at_gate(rig);
  } else if (lt_str_eqc(name, "megabyte")) {
    lt_buf_add(out, lt_buf_view(&rig->megabyte));
  }
  return LT_OK;
}

/* --- The rig ------------------------------------------------------------------------------------------------------ */
static void on_fiber(void *arg) {
  lt_rig *rig = arg;
  rig->body(rig, rig->arg);
}

static void set_tools(lt_rig *rig, size_t tools) {
  lt_arena arena;
  lt_arena_init(&arena, SPECS_MEMORY);
  LT_CHECK(lt_door_set_tools(rig->door, &rig->provider, lt_rig_specs(&arena, tools), tools, NULL) == LT_OK);
  lt_arena_release(&arena);
}

void lt_rig_run(size_t tools, void (*body)(lt_rig *rig, void *arg), void *arg) {
  lt_rig rig = {.provider = {.name = LT_STR("bench"), .invoke = invoke}, .body = body, .arg = arg};
  lt_cancel_init(&rig.gate);
  lt_buf_init(&rig.megabyte, LT_JSON_MAX_BYTES);
  make_megabyte(&rig.megabyte);
  LT_CHECK(lt_loop_new(&rig.loop, NULL) == LT_OK);
  LT_CHECK(lt_door_new(rig.loop, NULL, &rig.door, NULL) == LT_OK);
  LT_CHECK(lt_quickjs_new(rig.loop, rig.door, 0, &rig.runner, NULL) == LT_OK);
  set_tools(&rig, tools);
  LT_CHECK(lt_loop_spawn(rig.loop, on_fiber, &rig, NULL) == LT_OK);
  lt_loop_run(rig.loop);
  lt_quickjs_free(rig.runner);
  lt_door_remove(rig.door, &rig.provider);
  lt_door_free(rig.door);
  lt_loop_free(rig.loop);
  lt_buf_release(&rig.megabyte);
}

double lt_rig_program(lt_rig *rig, const lt_run_request *request, lt_run_result *result) {
  lt_run_result_init(result);
  double start = lt_measure_now();
  LT_CHECK(lt_quickjs_run(rig->runner, request, result, NULL) == LT_OK);
  return lt_measure_now() - start;
}

double lt_rig_time(lt_rig *rig, lt_str code, lt_lang lang) {
  lt_run_request request = {.code = code, .lang = lang};
  lt_run_result result;
  double ns = lt_rig_program(rig, &request, &result);
  if (result.status != LT_OK) {
    fprintf(stderr, "bench: a program failed: %.*s\n%.*s\n", LT_STR_ARG(lt_buf_view(&result.error)), LT_STR_ARG(code));
    _exit(1);
  }
  lt_run_result_release(&result);
  return ns;
}

void lt_rig_read(const char *name, lt_buf *out) {
  char path[LT_PROC_PATH_MAX_BYTES];
  snprintf(path, sizeof path, "%s/programs/%s", LT_BENCH_DIR, name);
  lt_buf_init(out, LT_RUN_CODE_MAX_BYTES);
  FILE *file = fopen(path, "rb");
  LT_CHECK(file != NULL);
  char *room = lt_buf_reserve(out, LT_RUN_CODE_MAX_BYTES / 8);
  LT_CHECK(room != NULL);
  lt_buf_commit(out, fread(room, 1, LT_RUN_CODE_MAX_BYTES / 8, file));
  fclose(file);
}
