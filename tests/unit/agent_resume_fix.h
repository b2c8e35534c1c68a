/* What the tests of resumed prompts share: leaving prompts in the middle, going on with them, and waiting for where
 * they are left. */
#ifndef LT_TESTS_AGENT_RESUME_FIX_H
#define LT_TESTS_AGENT_RESUME_FIX_H

#include "agent_fix.h"

#define ECHO     "{\"text\":\"I look.\",\"calls\":[{\"id\":\"c1\",\"name\":\"weather_echo\",\"arguments\":{\"n\":1}}]}"
#define PAY_CODE "const r = bankPay({amount: 5}); output('paid ' + r.paid); done()"

/* As at the end of a process that leaves its prompts open; tests/flow/resume.test.mjs kills real ones. */
static inline void leave(world *w) {
  lt_agent_free(w->agent);
  w->agent = NULL;
}

static inline lt_status resume_as(world *w, const char *user) {
  return lt_agent_resume(w->agent, lt_str_of(user), lt_str_of(w->ids.prompt), &w->err);
}

static inline void resume(world *w) {
  lt_buf_clear(&w->events);
  lt_buf_clear(&w->streams);
  open_agent(w);
  if (resume_as(w, "ann") != LT_OK) {
    FAIL_WITH("%s\n", lt_err_msg(&w->err));
  }
}

/* With agents that leave their prompts, in this mode. */
static inline void open_leaving(world *w, const char *mode) {
  lt_agent_free(w->agent);
  w->options.leave_open = true;
  w->options.default_mode = lt_str_of(mode);
  open_agent(w);
}

static char asked_id[64];
static inline void remember(world *w, const char *event, lt_str data) {
  (void)w;
  if (strcmp(event, "prompt.approval-requested") == 0) {
    lt_arena a;
    lt_arena_init(&a, LT_GIB);
    snprintf(asked_id, sizeof asked_id, "%.*s", LT_STR_ARG(member(&a, data, "request.toolCallId")));
    lt_arena_release(&a);
  }
}

static inline void wait_hanging(world *w) {
  while (w->hanging == 0) {
    assert_int_not_equal(lt_wait_on(&w->stirred, 30000), LT_E_TIMEOUT);
  }
}

static inline void wait_asked(unsigned times, world *w) {
  for (unsigned i = 0; times_asked() < times; i++) {
    assert_true(i < 3000);
    lt_loop_sleep(w->loop, 10);
  }
}

#endif
