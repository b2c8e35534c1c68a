/* Any bytes as a program, in any style: it ends somehow, and nothing but its box ever notices.
 *
 * The first byte chooses style, module and "call what it is"; the rest is the program. Programs that do not poll are
 * ended as the workers' watchdog would. */
#include <stdlib.h>

#include "fakes/fake_host.h"
#include "fuzz/watchdog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STYLES = 3, MODULE = 4, CALL = 8, POLLS_MAX = 200 };

static lt_image image;
static lt_pool pool;
static fake_host world;

static void open_world(void) {
  static const fake_tool tools[] = {{.id = "a.b", .text = "{\"x\":[1,2,{\"y\":\"z\"}]}"},
                                    {.id = "bad", .text = "no", .fails = true},
                                    {.id = "slow", .yields = 3},
                                    {0}};
  static const fake_module modules[] = {{"m", "export const d = (x) => 2 * x; export default d;"}, {0}};
  watch_init();
  if (lt_image_open_built_in(&image, LT_IMAGE_BASE, NULL) != LT_OK) {
    abort();
  }
  lt_pool_init(&pool, &image, &(lt_pool_limits){.most = 2});
  fake_host_init(&world);
  world.tools = tools;
  world.modules = modules;
}

/* A value, a string or a failure has a text; whatever ended it, the box is reusable or goes. It is stopped when
 * somebody asked for that, and then only. A trap that nobody asked for is a fault of the engine, or a stack that is too
 * small: worth a look. */
static void check(const lt_engine_result *result) {
  bool asked = watch_revoked() || world.polls > POLLS_MAX;
  if (result->ending == LT_END_TRAP || (result->ending == LT_END_STOPPED && !asked)) {
    abort();
  }
  if (result->ending == LT_END_ERROR && result->text.status != LT_OK) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_box *box = NULL;
  if (image.module == NULL) {
    open_world();
  }
  if (size < 1 || size > 65536 || lt_pool_take(&pool, &box, NULL) != LT_OK) {
    return 0;
  }
  lt_engine_result result;
  lt_engine_result_init(&result);
  lt_program program = {
      .code = lt_str_from(data + 1, size - 1),
      .file = LT_STR("program.js"),
      .bindings = LT_STR("{\"ab\":\"a.b\",\"bad\":\"bad\",\"slow\":\"slow\"}"),
      .input = LT_STR("{\"n\":1}"),
      .calls = (lt_call_style)((data[0] & 3) % STYLES),
      .module = (data[0] & MODULE) != 0,
      .call_result = (data[0] & CALL) != 0,
      .memory_bytes = 8 * LT_MIB,
      .seed = 1,
  };
  fake_host_clear(&world);
  world.polls = 0;
  world.stop_at_poll = POLLS_MAX;
  watch_begin(box);
  fake_run(&world, box, &program, &result);
  watch_end(box);
  check(&result);
  lt_engine_result_release(&result);
  lt_pool_give(&pool, box);
  return 0;
}
