/* What is read to send traces, without memory: nothing is half done, and nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/loop.h"
#include "telemetry/telemetry.h"

static void on_warning(void *arg, lt_str line) {
  (void)line;
  ++*(size_t *)arg;
}

static void set_variables(void) {
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/base", 1);
  setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%3Db,x=1", 1);
  setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,broken", 1);
  setenv("OTEL_BSP_SCHEDULE_DELAY", "soon", 1);
}

static void test_settings_without_memory(void **state) {
  (void)state;
  lt_config config;
  lt_config_init(&config);
  for (long n = 0;; n++) {
    lt_err err = LT_ERR_INIT;
    lt_telemetry_settings settings;
    size_t warnings = 0;
    LT_AUTO_ARENA(arena, LT_MIB);
    lt_mem_fail_at(n);
    lt_status status = lt_telemetry_settings_read(&config, &arena, on_warning, &warnings, &settings, &err);
    bool has_failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, has_failed ? LT_E_NOMEM : LT_OK);
    if (has_failed) {
      continue;
    }
    assert_true(n > 0 && warnings == 1);
    assert_true(lt_str_eqc(settings.url, "http://127.0.0.1:4318/base/v1/traces"));
    assert_int_equal(settings.header_count, 4);
    assert_true(lt_str_eqc(settings.headers[2].value, "a=b"));
    break;
  }
  lt_config_release(&config);
}

static void sweep_opening(void *arg) {
  lt_loop *loop = arg;
  lt_config config;
  size_t warnings = 0;
  bool has_failed = true;
  lt_config_init(&config);
  const lt_telemetry_options options = {.loop = loop, .config = &config, .warn = on_warning, .warn_arg = &warnings};
  for (long n = 0; has_failed; n++) {
    lt_telemetry *telemetry = NULL;
    lt_err err = LT_ERR_INIT;
    lt_mem_fail_at(n);
    lt_status status = lt_telemetry_open(&options, &telemetry, &err);
    has_failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, has_failed ? LT_E_NOMEM : LT_OK);
    assert_true((telemetry != NULL) == (status == LT_OK));
    lt_telemetry_close(telemetry);
  }
  lt_config_release(&config);
}

static void test_opening_without_memory(void **state) {
  (void)state;
  lt_loop *loop;
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(loop, sweep_opening, loop, NULL), LT_OK);
  lt_loop_run(loop);
  lt_loop_free(loop);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settings_without_memory),
      cmocka_unit_test(test_opening_without_memory),
  };
  set_variables();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
