#include "fakes/engine_fix.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

fake_host engine_host;
lt_image engine_image;
lt_pool engine_pool;
lt_engine_result engine_result;

static struct sigaction on_segv;
static struct sigaction on_bus;

/* Before cmocka puts its own in the way: ours must have nothing of it behind them. */
__attribute__((constructor)) static void install_first(void) {
  lt_err err = LT_ERR_INIT;
  LT_CHECK(lt_box_thread_init(&err) == LT_OK);
  sigaction(SIGSEGV, NULL, &on_segv);
  sigaction(SIGBUS, NULL, &on_bus);
}

void engine_traps(void) {
  sigaction(SIGSEGV, &on_segv, NULL);
  sigaction(SIGBUS, &on_bus, NULL);
}

int engine_open(void **state) {
  lt_err err = LT_ERR_INIT;
  (void)state;
  if (lt_image_open_built_in(&engine_image, LT_IMAGE_BASE, &err) != LT_OK) {
    print_error("%s\n", lt_err_msg(&err));
    return 1;
  }
  lt_pool_init(&engine_pool, &engine_image, &(lt_pool_limits){.most = 4096});
  fake_host_init(&engine_host);
  lt_engine_result_init(&engine_result);
  return 0;
}

int engine_close(void **state) {
  (void)state;
  lt_engine_result_release(&engine_result);
  fake_host_release(&engine_host);
  lt_pool_release(&engine_pool);
  lt_image_close(&engine_image);
  return 0;
}

/* A trap or a stop is never what "anything" means. */
static bool matches(lt_str text, const char *want) {
  bool abnormal = engine_result.ending == LT_END_TRAP || engine_result.ending == LT_END_STOPPED;
  if (abnormal && strcmp(want, "*") == 0) {
    return false;
  }
  lt_str w = lt_str_of(want);
  return lt_str_ends(w, LT_STR("*")) ? lt_str_starts(text, lt_str_sub(w, 0, w.n - 1)) : lt_str_eq(text, w);
}

uint32_t engine_expect(const lt_program *program, const char *want) {
  lt_box *box = NULL;
  lt_buf text;
  assert_int_equal(lt_pool_take(&engine_pool, &box, NULL), LT_OK);
  fake_host_clear(&engine_host);
  lt_engine_result_release(&engine_result);
  lt_engine_result_init(&engine_result);
  fake_run(&engine_host, box, program, &engine_result);
  uint32_t size = lt_box_size(box);
  lt_pool_give(&engine_pool, box);
  lt_buf_init(&text, 256 * LT_MIB);
  fake_text(&engine_result, &text);
  if (!matches(lt_buf_view(&text), want)) {
    fail_msg("\n%.2000s\n  ended with  %.2000s\n  instead of  %s\n  at %.*s", program->code.p, text.p, want,
             LT_STR_ARG(lt_buf_view(&engine_result.stack)));
  }
  lt_buf_release(&text);
  return size;
}

void engine_expect_all(const lt_program *like, const engine_case *cases) {
  for (const engine_case *c = cases; c->code != NULL; c++) {
    lt_program program = *like;
    program.code = lt_str_of(c->code);
    engine_expect(&program, c->want);
  }
}

void engine_asked(const lt_buf *what, const char *want) {
  if (!lt_str_eqc(lt_buf_view(what), want)) {
    fail_msg("was asked\n%.4000s\ninstead of\n%s", what->n > 0 ? what->p : "", want);
  }
}
