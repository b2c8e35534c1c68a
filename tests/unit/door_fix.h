/* What the door's tests share: a door with a provider "bank"; fakes of the journal, the approver and the artifacts;
 * test bodies that run on a fiber; and a text of all that happened. */
#ifndef LT_TEST_DOOR_FIX_H
#define LT_TEST_DOOR_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tool/door.h"
#include "unit/fiber_case.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

#define SECRET "s3cr3t-value-42"

#define GONE(id)                                                                                \
  "Tool \"" id                                                                                  \
  "\" is no longer available: its server was removed, or replaced by one without it. List the " \
  "tools again to see what there is"

/* Everything that happens, in order: what the tests compare with. */
typedef struct world {
  lt_loop *loop;
  lt_door *door;
  lt_provider bank;
  lt_secrets *secrets;
  lt_caller caller;
  lt_invoke_options options;
  lt_buf happened;
  const char *answer;
  lt_status answer_status;
  /* Fakes of what others implement. */
  lt_approver approver;
  lt_status verdict;
  const char *why;
  const char *const *edits; /* the edited inputs, one for each question */
  uint64_t thinks_ms;
  lt_journal journal;
  lt_status begin_status;
  lt_status finish_status;
  bool goes; /* the provider, while a call is being recorded */
  lt_artifacts artifacts;
  lt_status put_status;
  bool asks;               /* the provider's own word */
  const char *branch_says; /* the annotations of "peek" at the branch; NULL: the bank's tools */
  const char *becomes;     /* the annotations that "peek" gets while somebody decides, or a call is recorded */
  void (*body)(struct world *w);
} world;

static world *the_world; /* the interfaces' functions get only themselves */

static inline void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void note(const char *fmt, ...) {
  char text[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  lt_buf_addc(&the_world->happened, the_world->happened.n > 0 ? "; " : "");
  lt_buf_addc(&the_world->happened, text);
}

/* --- The provider, and fakes of journal, approver and artifacts --------------------------------------------------- */
static inline lt_status bank_invoke(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                                    lt_buf *out, lt_err *err) {
  (void)self, (void)options, (void)err;
  note("invoke %.*s %.*s", LT_STR_ARG(name), LT_STR_ARG(input));
  lt_buf_addc(out, the_world->answer);
  return the_world->answer_status;
}

static inline bool bank_needs_approval(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                                       lt_buf *ret_reason) {
  (void)self, (void)input, (void)options;
  if (the_world->asks && lt_str_eqc(name, "peek")) {
    lt_buf_addc(ret_reason, "today is a holiday");
    return true;
  }
  return false;
}

/* The provider lists "peek" with other annotations. */
static inline void change_peek(void) {
  const lt_tool_spec spec = {.name = TEXT("peek"), .annotations = lt_str_of(the_world->becomes)};
  assert_int_equal(lt_door_set_tools(the_world->door, &the_world->bank, &spec, 1, NULL), LT_OK);
}

static inline lt_status fake_ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                                 lt_decision *ret_decision, lt_err *err) {
  (void)self;
  note("ask %.*s %.*s (%.*s)", LT_STR_ARG(what->tool->id), LT_STR_ARG(what->input), LT_STR_ARG(what->reason));
  if (the_world->thinks_ms > 0) {
    lt_wait wait;
    lt_cancel_node node;
    lt_wait_init(&wait, the_world->loop);
    lt_cancel_add(cancel, &node, &wait);
    lt_status status = lt_wait_on(&wait, the_world->thinks_ms);
    lt_cancel_remove(cancel, &node);
    if (status != LT_E_TIMEOUT) {
      return lt_fail(err, status, "nobody waits any more");
    }
  }
  if (the_world->becomes != NULL) {
    change_peek();
  }
  bool is_rejected = the_world->verdict == LT_E_DENIED;
  lt_decision decision = {.is_approved = !is_rejected, .reason = lt_str_of(the_world->why)};
  if (what->refusal.n > 0) {
    note("again: %.*s", LT_STR_ARG(what->refusal));
  }
  if (the_world->edits != NULL) {
    decision.input = lt_str_of(*the_world->edits++);
  }
  assert_int_equal(lt_decision_copy(arena, &decision, ret_decision), LT_OK);
  return is_rejected ? LT_OK : the_world->verdict;
}

static inline lt_status fake_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) {
  (void)self;
  note("begin %.*s/%.*s %.*s %.*s%s", LT_STR_ARG(call->user), LT_STR_ARG(call->run), LT_STR_ARG(call->tool),
       LT_STR_ARG(call->input), call->repeatable ? " repeatable" : "");
  if (call->edited_input.n > 0) {
    note("edited %.*s", LT_STR_ARG(call->edited_input));
  }
  *ret_id = 7;
  if (the_world->goes) {
    lt_door_remove(the_world->door, &the_world->bank);
  }
  if (the_world->becomes != NULL) {
    change_peek();
  }
  return the_world->begin_status == LT_OK ? LT_OK : lt_fail(err, the_world->begin_status, "the disk is full");
}

static inline lt_status fake_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) {
  (void)self;
  note("finish %d %s %.*s", (int)id, lt_status_name(status), LT_STR_ARG(answer));
  return the_world->finish_status == LT_OK ? LT_OK : lt_fail(err, the_world->finish_status, "the disk is full");
}

static inline lt_status fake_put(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) {
  (void)self;
  note("put %.*s %.*s %.*s %zu", LT_STR_ARG(artifact->user), LT_STR_ARG(artifact->type),
       LT_STR_ARG(artifact->mime_type), artifact->data.n);
  if (the_world->put_status != LT_OK) {
    return lt_fail(err, the_world->put_status, "the disk is full");
  }
  lt_buf_addc(ret_id, "a1");
  return LT_OK;
}

static inline void on_warning(void *arg, lt_str message) {
  (void)arg;
  note("warning: %.*s", LT_STR_ARG(message));
}

static const lt_tool_spec specs[] = {
    {.name = TEXT("transfer"),
     .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"amount\":{\"type\":\"number\"}}}")},
    {.name = TEXT("peek"), .annotations = TEXT("{\"readOnlyHint\":true}")},
    {.name = TEXT("close"), .needs_approval = true, .approval = TEXT("cannot be undone")},
    {.name = TEXT("broken"), .input_schema = TEXT("{\"type\":\"objet\"}")},
    {.name = TEXT("rate"),
     .output_schema = TEXT("{\"type\":\"object\",\"properties\":{\"rate\":{\"type\":\"number\"}}}")},
};

/* --- What all tests stand on -------------------------------------------------------------------------------------- */
static inline void run_body(void *arg) {
  world *w = arg;
  w->body(w);
}

static inline void on_fiber(void (*body)(world *w)) {
  world w = {.body = body, .answer = "1", .why = ""};
  the_world = &w;
  lt_buf_init(&w.happened, LT_MIB);
  w.secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(w.secrets, LT_STR(SECRET)), LT_OK);
  w.approver.ask = fake_ask;
  w.journal = (lt_journal){.begin = fake_begin, .finish = fake_finish};
  w.artifacts.put = fake_put;
  w.caller = (lt_caller){.user = LT_STR("ann"), .run = LT_STR("r1")};
  w.options = (lt_invoke_options){.caller = &w.caller};
  w.bank = (lt_provider){.name = LT_STR("bank"), .invoke = bank_invoke, .needs_approval = bank_needs_approval};
  const lt_door_options options = {.secrets = w.secrets, .on_warning = on_warning};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  assert_int_equal(lt_door_new(w.loop, &options, &w.door, NULL), LT_OK);
  assert_int_equal(lt_door_set_tools(w.door, &w.bank, specs, sizeof specs / sizeof specs[0], NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, run_body, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  lt_door_free(w.door);
  lt_loop_free(w.loop);
  lt_secrets_free(w.secrets);
  lt_buf_release(&w.happened);
}

/* One call: its status, what the program sees, and all that happened. */
static inline void expect(world *w, const char *id, const char *input, lt_status status, const char *out,
                          const char *happened) {
  lt_buf got;
  lt_buf_init(&got, LT_JSON_MAX_BYTES);
  lt_buf_clear(&w->happened);
  assert_int_equal(lt_door_call(w->door, lt_str_of(id), lt_str_of(input), &w->options, &got, NULL), status);
  assert_string_equal(got.p, out);
  assert_string_equal(w->happened.p != NULL ? w->happened.p : "", happened);
  lt_buf_release(&got);
}

#endif
