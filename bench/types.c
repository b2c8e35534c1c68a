/* TypeScript: a program of 25 lines without its types, and run in this process, and declarations for a thousand tools.
 */
#include "bench/bench.h"
#include "bench/rig.h"
#include "types/typegen.h"

enum { RUNS = 150, TOOLS = 1000, LISTS = 100, MEMORY = 64 * 1024 * 1024 };

#define TARGET_ERASE_NS        0.5e6
#define TARGET_STRIP_NS        4e6
#define TARGET_DECLARATIONS_NS 10e6

static void measure_program(lt_rig *rig, lt_str code, const char *what, double target) {
  lt_measure m;
  lt_measure_init(&m);
  double first = lt_rig_time(rig, code, LT_LANG_TYPESCRIPT);
  for (int i = 0; i < RUNS; i++) {
    lt_measure_add(&m, lt_rig_time(rig, code, LT_LANG_TYPESCRIPT));
  }
  lt_measure_print_ns(what, &m, target);
  lt_measure_print_one("… the first time", LT_MEASURE_NS, first, 0);
}

/* The eraser makes an object of an enum. Of a namespace, the type stripper in the sandbox does. */
static void measure_types(lt_rig *rig, void *arg) {
  (void)arg;
  lt_buf code;
  lt_rig_read("report.ts", &code);
  measure_program(rig, lt_buf_view(&code), "types taken off 25 lines, and run", TARGET_ERASE_NS);
  lt_buf_addc(&code, "enum Size { Small, Large }\n");
  measure_program(rig, lt_buf_view(&code), "the same with an enum", TARGET_ERASE_NS);
  lt_buf_addc(&code, "namespace Sizes { export const most = Size.Large }\n");
  measure_program(rig, lt_buf_view(&code), "the same with a namespace, by the type stripper", TARGET_STRIP_NS);
  lt_buf_release(&code);
}

/* The catalog's names, as the commands hand them on. */
static lt_typegen_tool *declared(lt_arena *arena, const lt_catalog *catalog) {
  lt_typegen_tool *tools = lt_arena_zalloc(arena, TOOLS, sizeof *tools);
  LT_CHECK(tools != NULL);
  for (size_t i = 0; i < TOOLS; i++) {
    const lt_tool *t = lt_catalog_at(catalog, i);
    tools[i] = (lt_typegen_tool){t->id,      t->ns,          t->js_name,      t->ts_name,
                                 t->ts_type, t->description, t->input_schema, t->output_schema};
  }
  return tools;
}

static void measure_declarations(void) {
  lt_arena arena;
  lt_arena_init(&arena, MEMORY);
  lt_catalog_source source = {.ns = LT_STR("bench"), .tools = lt_rig_specs(&arena, TOOLS), .count = TOOLS};
  lt_catalog *catalog = NULL;
  LT_CHECK(lt_catalog_new(&source, 1, &catalog, NULL) == LT_OK);
  lt_typegen_tool *tools = declared(&arena, catalog);
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < LISTS; i++) {
    lt_buf out;
    lt_buf_init(&out, MEMORY);
    double start = lt_measure_now();
    LT_CHECK(lt_typegen_ts(tools, TOOLS, &out, NULL) == LT_OK);
    lt_measure_add(&m, lt_measure_now() - start);
    lt_buf_release(&out);
  }
  lt_measure_print_ns("declarations for 1,000 tools", &m, TARGET_DECLARATIONS_NS);
  lt_catalog_unref(catalog);
  lt_arena_release(&arena);
}

void lt_bench_types(void) {
  lt_rig_run(50, measure_types, NULL);
  measure_declarations();
}
