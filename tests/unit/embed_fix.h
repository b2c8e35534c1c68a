/* What the tests of the library share. They use it as a host does: through lathe.h. */
#ifndef LT_TESTS_EMBED_FIX_H
#define LT_TESTS_EMBED_FIX_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lathe.h"

#define EMBED_EVENT_MS 20000 /* none takes so long, also under a sanitizer */

/* cmocka installs its own handlers for each test, in the place of the sandbox's: these are put back. */
static struct sigaction embed_on_segv, embed_on_bus;

static inline lathe_env *embed_open(const char *config) {
  lathe_env *env = NULL;
  sigaction(SIGSEGV, &embed_on_segv, NULL);
  sigaction(SIGBUS, &embed_on_bus, NULL);
  lathe_error error = {.size = sizeof error};
  const lathe_options options = {.size = sizeof options, .config = config};
  if (lathe_open(&options, &env, &error) != LATHE_OK) {
    fail_msg("lathe_open: %s", error.message);
  }
  return env;
}

/* Runs the first program of the process, which installs the handlers; for main, before cmocka. False: it failed. */
static inline bool embed_install_handlers(void) {
  lathe_env *env = NULL;
  const lathe_run_options options = {.size = sizeof options, .code = "1"};
  bool has_run =
      lathe_open(NULL, &env, NULL) == LATHE_OK && lathe_run(env, &options, NULL, NULL, NULL, NULL) == LATHE_OK;
  lathe_close(env);
  sigaction(SIGSEGV, NULL, &embed_on_segv);
  sigaction(SIGBUS, NULL, &embed_on_bus);
  return has_run;
}

static inline void embed_add_tool(lathe_env *env, const char *name, const char *approval) {
  const lathe_tool_options tool = {.size = sizeof tool, .name = name, .description = "Does it.", .approval = approval};
  assert_int_equal(lathe_add_tool(env, &tool, NULL), LATHE_OK);
}

static inline uint64_t embed_start(lathe_env *env, const char *code) {
  uint64_t run = 0;
  const lathe_run_options options = {.size = sizeof options, .code = code};
  assert_int_equal(lathe_start(env, &options, &run, NULL), LATHE_OK);
  assert_int_not_equal(run, 0);
  return run;
}

/* The next event, which has this type. */
static inline const lathe_event *embed_next(lathe_env *env, lathe_event_type type) {
  const lathe_event *event = NULL;
  assert_int_equal(lathe_next(env, EMBED_EVENT_MS, &event), LATHE_OK);
  if (event->type != (int)type) {
    fail_msg("event %d, not %d: tool \"%s\" text \"%s\" json %s", event->type, type, event->tool, event->text,
             event->json);
  }
  return event;
}

/* The number of a call that is next. */
static inline uint64_t embed_next_call(lathe_env *env, lathe_event_type type) {
  const lathe_event *event = embed_next(env, type);
  uint64_t call = event->call;
  lathe_event_free(event);
  assert_int_not_equal(call, 0);
  return call;
}

static inline void assert_has(const char *text, const char *part) {
  if (text == NULL || strstr(text, part) == NULL) {
    fail_msg("\"%s\" is not in: %s", part, text != NULL ? text : "(nothing)");
  }
}

/* The next event is the run's end, with that status; its report and message have these parts. */
static inline void embed_assert_end(lathe_env *env, lathe_status status, const char *report, const char *message) {
  const lathe_event *event = embed_next(env, LATHE_EVENT_END);
  if (event->status != status) {
    fail_msg("the run ended with %s: %s", lathe_status_text(event->status), event->text);
  }
  assert_has(event->json, report);
  assert_has(event->text, message);
  lathe_event_free(event);
}

#endif
