#include "sandbox/engine.h"

#include <string.h>

#include "base/random.h"
#include "base/time_zone.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

void lt_engine_result_init(lt_engine_result *result) {
  result->ending = LT_END_UNDEFINED;
  result->is_unparsed = false;
  lt_buf_init(&result->text, LT_RUN_RESULT_MAX_BYTES);
  lt_buf_init(&result->name, 4 * LT_KIB);
  lt_buf_init(&result->stack, 64 * LT_KIB);
  lt_buf_init(&result->unread, 64 * LT_KIB);
}

void lt_engine_result_release(lt_engine_result *result) {
  lt_buf_release(&result->text);
  lt_buf_release(&result->name);
  lt_buf_release(&result->stack);
  lt_buf_release(&result->unread);
}

/* --- Outcome ------------------------------------------------------------------------------------------------------ */
static void engine_end_with(lt_engine_result *result, lt_ending ending, const char *message) {
  lt_buf_clear(&result->text);
  lt_buf_addc(&result->text, message);
  result->ending = ending;
}

static void engine_end_trapped(const lt_guest *guest, lt_engine_result *result) {
  lt_trap trap = guest->box->trap;
  bool stopped = trap == LT_TRAP_STOPPED || trap == LT_TRAP_REVOKED;
  engine_end_with(result, stopped ? LT_END_STOPPED : LT_END_TRAP, lt_box_trap_text(trap));
}

/* A regular expression that is too large for the memory is a SyntaxError to the engine. */
static bool engine_is_out_of_memory(const lt_engine_result *result) {
  lt_str text = lt_buf_view(&result->text), name = lt_buf_view(&result->name);
  return (lt_str_starts(text, LT_STR("out of memory")) && lt_str_eq(name, LT_STR("InternalError"))) ||
         (lt_str_eq(text, LT_STR("out of memory")) && lt_str_eq(name, LT_STR("SyntaxError")));
}

/* The engine throws null, or nothing, when it has no room for an error. */
static bool engine_is_want_of_memory(const lt_guest *guest, lt_js exception) {
  int tag = LT_JS_TAG(exception);
  return (tag == LT_TAG_NULL && guest->box->refused > 0) || tag == LT_TAG_UNINITIALIZED;
}

/* The prelude could not describe the error: there was no memory or stack, or the error's own getters throw. */
static void engine_end_undescribed(lt_guest *guest, lt_js exception, lt_engine_result *result) LT_YIELDS {
  bool no_memory = engine_is_want_of_memory(guest, lt_guest_exception(guest));
  lt_buf_clear(&result->text);
  if (!lt_guest_copy_text(guest, exception, &result->text)) {
    no_memory = no_memory || engine_is_want_of_memory(guest, lt_guest_exception(guest));
    engine_end_with(result, LT_END_ERROR, "the program threw something that throws when it is looked at");
  }
  if (no_memory) {
    engine_end_with(result, LT_END_MEMORY, "out of memory");
  }
}

static void engine_end_with_error(lt_guest *guest, lt_js exception, lt_engine_result *result) LT_YIELDS {
  result->ending = LT_END_ERROR;
  lt_buf_clear(&result->text);
  if (engine_is_want_of_memory(guest, exception)) {
    engine_end_with(result, LT_END_MEMORY, "out of memory");
    return;
  }
  lt_js parts = lt_guest_call_root(guest, LT_ROOT_DESCRIBE, &exception, 1);
  if (lt_js_is_exception(parts)) {
    engine_end_undescribed(guest, exception, result);
  } else {
    lt_guest_copy_text(guest, lt_guest_item(guest, parts, 0), &result->name);
    lt_guest_copy_text(guest, lt_guest_item(guest, parts, 1), &result->text);
    lt_guest_copy_text(guest, lt_guest_item(guest, parts, 2), &result->stack);
  }
  if (!lt_guest_alive(guest)) {
    engine_end_trapped(guest, result);
  } else if (engine_is_out_of_memory(result)) {
    result->ending = LT_END_MEMORY;
  }
}

/* --- The program's value ------------------------------------------------------------------------------------------ */
static void engine_end_with_json(lt_guest *guest, lt_js value, lt_engine_result *result) LT_YIELDS {
  lt_js json = lt_guest_call_root(guest, LT_ROOT_RENDER, &value, 1);
  if (lt_js_is_exception(json)) {
    engine_end_with_error(guest, lt_guest_exception(guest), result);
    return;
  }
  if (lt_js_is_undefined(json)) {
    result->ending = LT_END_UNDEFINED;
    return;
  }
  result->ending = LT_END_VALUE;
  lt_guest_copy_text(guest, json, &result->text);
}

static void engine_end_with_number(lt_js value, lt_engine_result *result) {
  result->ending = LT_END_VALUE;
  lt_buf_int(&result->text, (int32_t)(uint32_t)value);
}

static void engine_end_with_shown(lt_guest *guest, lt_js value, lt_engine_result *result) LT_YIELDS {
  lt_js text = lt_guest_call_root(guest, LT_ROOT_SHOW, &value, 1);
  if (lt_js_is_exception(text)) {
    engine_end_with_error(guest, lt_guest_exception(guest), result);
    return;
  }
  result->ending = LT_END_STRING;
  lt_guest_copy_text(guest, text, &result->text);
}

static void engine_end_with_value(lt_guest *guest, const lt_program *program, lt_js value,
                                  lt_engine_result *result) LT_YIELDS {
  lt_buf_clear(&result->text);
  if (lt_js_is_undefined(value)) {
    result->ending = LT_END_UNDEFINED;
  } else if (program->shows_value) {
    engine_end_with_shown(guest, value, result);
  } else if (LT_JS_TAG(value) == LT_TAG_INT) {
    engine_end_with_number(value, result);
  } else if (lt_js_is_string(value)) {
    result->ending = LT_END_STRING;
    lt_guest_copy_text(guest, value, &result->text);
  } else {
    engine_end_with_json(guest, value, result);
  }
  if (result->text.status == LT_E_LIMIT) {
    engine_end_with(result, LT_END_ERROR,
                    "the result is larger than 64 MiB: return less, or write it out in parts with output()");
  } else if (result->text.status != LT_OK) {
    engine_end_with(result, LT_END_MEMORY, "out of memory");
  }
}

/* After the program's value was rendered, which may read Results. */
static void engine_tell_unread(lt_guest *guest, const lt_program *program, lt_engine_result *result) LT_YIELDS {
  if (program->calls != LT_CALLS_RESULT || !lt_guest_alive(guest)) {
    return;
  }
  lt_js text = lt_guest_call_root(guest, LT_ROOT_UNREAD, NULL, 0);
  if (lt_js_is_string(text)) {
    lt_guest_copy_text(guest, text, &result->unread);
  }
}

/* --- Jobs and calls ----------------------------------------------------------------------------------------------- */
/* Settles the program's promise or timer with its outcome. */
static bool engine_deliver(lt_guest *guest, const lt_outcome *outcome) LT_YIELDS {
  lt_js value = lt_guest_answer(guest, outcome);
  bool ok = !lt_js_is_exception(value);
  if (!ok) {
    value = lt_guest_exception(guest);
  }
  lt_js args[] = {LT_JS_MK(LT_TAG_INT, outcome->id), LT_JS_MK(LT_TAG_BOOL, ok), value};
  return !lt_js_is_exception(lt_guest_call_root(guest, LT_ROOT_SETTLE, args, 3));
}

static bool engine_run_jobs(lt_guest *guest) LT_YIELDS {
  int ran;
  do {
    ran = lt_guest_job(guest);
  } while (ran > 0);
  return ran == 0;
}

/* Waits for one open call or timer and delivers it. False: nothing is open, or it threw (an exception is pending). */
static bool engine_next_outcome(lt_guest *guest, bool *ret_threw) LT_YIELDS {
  lt_outcome outcome = {0};
  *ret_threw = false;
  if (guest->host->wait == NULL || !guest->host->wait(guest->host->arg, 0, &outcome)) {
    return false;
  }
  if (guest->host->poll != NULL && guest->host->poll(guest->host->arg)) {
    lt_box_stop(guest->box);
    return false;
  }
  *ret_threw = !engine_deliver(guest, &outcome);
  return !*ret_threw;
}

/* Runs jobs and waits for calls until `promise` is settled. A pending exception is left to the caller
 * (LT_JS_EXCEPTION). */
static lt_js engine_await(lt_guest *guest, lt_js promise) LT_YIELDS {
  bool threw = false;
  guest->has_waited = guest->has_waited || lt_guest_promise_state(guest, promise) == 0;
  for (;;) {
    if (guest->has_exited || !engine_run_jobs(guest)) {
      return LT_JS_EXCEPTION;
    }
    int state = lt_guest_promise_state(guest, promise);
    if (state == 1) {
      return lt_guest_promise_result(guest, promise);
    }
    if (state == 2) {
      lt_guest_throw(guest, lt_guest_promise_result(guest, promise));
      return LT_JS_EXCEPTION;
    }
    if (!engine_next_outcome(guest, &threw)) {
      if (!threw && lt_guest_alive(guest)) {
        lt_guest_throw_error(guest, LT_STR("the program waits for a promise that nothing will ever settle"));
      }
      return LT_JS_EXCEPTION;
    }
  }
}

/* Waits for calls that are still open at the end; `value` is the program's (docs/internals/engine.md). */
static bool engine_drain(lt_guest *guest, lt_js value) LT_YIELDS {
  bool threw = false;
  lt_js args[] = {value, LT_JS_MK(LT_TAG_BOOL, guest->has_waited)};
  if (guest->has_weak_timers && lt_js_is_exception(lt_guest_call_root(guest, LT_ROOT_LAST, args, 2))) {
    return false;
  }
  do {
    if (!engine_run_jobs(guest)) {
      return false;
    }
  } while (engine_next_outcome(guest, &threw));
  return !threw && lt_guest_alive(guest);
}

static lt_js engine_await_if_promise(lt_guest *guest, lt_js value) LT_YIELDS {
  return lt_guest_promise_state(guest, value) < 0 ? value : engine_await(guest, value);
}

/* The program's completion value, or its default export. */
static lt_js engine_evaluate(lt_guest *guest, const lt_program *program, bool *ret_unparsed) LT_YIELDS {
  lt_js promise = lt_guest_eval(guest, program->code, program->file, program->module);
  if (lt_js_is_exception(promise)) {
    *ret_unparsed = true; /* an error of the program itself rejects the promise */
    return promise;
  }
  lt_js value = engine_await_if_promise(guest, promise);
  if (lt_js_is_exception(value) || !lt_js_is_object(value)) {
    return value;
  }
  return lt_guest_get(guest, value, program->module ? "default" : "value");
}

static lt_js engine_finish(lt_guest *guest, const lt_program *program, lt_js value) LT_YIELDS {
  if (!lt_js_is_object(value)) {
    return value;
  }
  lt_js args[] = {value, LT_JS_MK(LT_TAG_BOOL, program->call_result || program->module)};
  lt_js last = lt_guest_call_root(guest, LT_ROOT_FINISH, args, 2);
  return lt_js_is_exception(last) ? last : engine_await_if_promise(guest, last);
}

static bool engine_start(lt_guest *guest, const lt_program *program) LT_YIELDS {
  if (program->bindings.n == 0 && program->input.n == 0 && program->calls == LT_CALLS_PLAIN &&
      !program->without_output && program->time_zone.n == 0 && !program->is_continued && !program->is_cell) {
    return true; /* the image suits such a program as it is */
  }
  lt_js args[] = {
      LT_JS_MK(LT_TAG_INT, program->calls),           LT_JS_UNDEFINED, LT_JS_UNDEFINED,
      LT_JS_MK(LT_TAG_BOOL, program->without_output), LT_JS_UNDEFINED, LT_JS_MK(LT_TAG_BOOL, program->is_cell)};
  if (program->bindings.n > 0) {
    args[1] = lt_guest_parse(guest, program->bindings);
  }
  if (program->input.n > 0) {
    args[2] = lt_guest_parse(guest, program->input);
  }
  if (program->time_zone.n > 0) {
    args[4] = lt_guest_string(guest, program->time_zone);
  }
  if (lt_js_is_exception(args[1]) || lt_js_is_exception(args[2]) || lt_js_is_exception(args[4])) {
    return false;
  }
  return !lt_js_is_exception(lt_guest_call_root(guest, LT_ROOT_START, args, 6));
}

static lt_js engine_parse(lt_guest *guest, const lt_program *program, bool *ret_unparsed) LT_YIELDS {
  *ret_unparsed = lt_js_is_exception(lt_guest_compile(guest, program->code, program->file, program->module));
  return *ret_unparsed ? LT_JS_EXCEPTION : LT_JS_UNDEFINED;
}

static lt_js engine_run(lt_guest *guest, const lt_program *program, bool *ret_unparsed) LT_YIELDS {
  if (program->only_parses) {
    return engine_parse(guest, program, ret_unparsed);
  }
  if (!engine_start(guest, program)) {
    return LT_JS_EXCEPTION;
  }
  lt_js value = engine_evaluate(guest, program, ret_unparsed);
  if (!lt_js_is_exception(value)) {
    value = engine_finish(guest, program, value);
  }
  bool drains = !program->is_cell && !guest->has_exited && !lt_js_is_exception(value);
  if (drains && !engine_drain(guest, value)) {
    value = LT_JS_EXCEPTION;
  }
  return value;
}

/* --- Preparation -------------------------------------------------------------------------------------------------- */
/* Clones would otherwise share the state of Math.random. */
static void engine_reseed(lt_box *box, uint64_t seed) {
  while (seed == 0) {
    if (!lt_random_fill(&seed, sizeof seed)) {
      seed = LT_FREEZE_CLOCK_US;
    }
  }
  memcpy(box->memory + box->image->head.random_state, &seed, sizeof seed);
}

/* The box's ceiling must be reached before the engine's own limit, which has no spare memory. What a greater image
 * needs for itself is not the program's. */
static void engine_set_memory_limit(lt_guest *guest, uint64_t bytes) {
  uint64_t extra = guest->box->image->head.extra;
  if ((bytes == 0 || bytes == LT_RUN_MEMORY_BYTES) && extra == 0) {
    return; /* the memory limit with which the image was frozen */
  }
  uint64_t wanted = (bytes == 0 ? LT_RUN_MEMORY_BYTES : bytes) + extra;
  uint32_t limit = wanted > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)wanted;
  lt_box_set_max_bytes(guest->box, limit);
  if (limit > LT_RUN_MEMORY_BYTES) {
    Z_qjs_instance_t *q = guest->box->instance;
    LT_BOX_ENTER(guest->box, Z_qjsZ_qjs_set_memory_limit(q, limit));
  }
}

void lt_engine_run(lt_box *box, const lt_program *program, const lt_guest_host *host, lt_engine_result *result) {
  lt_guest guest;
  lt_guest_init(&guest, box, host);
  engine_reseed(box, program->seed);
  guest.random = program->seed;
  guest.seed = program->seed;
  lt_time_zone zone;
  if (lt_time_zone_find(program->time_zone, &zone)) {
    guest.time_zone = zone.rule;
  }
  engine_set_memory_limit(&guest, program->memory_bytes);
  lt_js value = engine_run(&guest, program, &result->is_unparsed);
  if (!lt_guest_alive(&guest)) {
    engine_end_trapped(&guest, result);
    return;
  }
  if (guest.has_exited) {
    (void)lt_guest_exception(&guest);
    result->ending = LT_END_UNDEFINED;
  } else if (lt_js_is_exception(value)) {
    engine_end_with_error(&guest, lt_guest_exception(&guest), result);
  } else if (guest.rejection_count > 0) {
    engine_end_with_error(&guest, guest.rejections[0].reason, result);
  } else if (guest.rejections_more > 0) {
    engine_end_with(result, LT_END_ERROR, "a promise was rejected and nobody handled it");
  } else {
    engine_end_with_value(&guest, program, value, result);
    engine_tell_unread(&guest, program, result);
  }
  if (!lt_guest_alive(&guest)) {
    engine_end_trapped(&guest, result);
  }
}

void lt_engine_strip(lt_box *box, lt_str source, bool (*poll)(void *arg), void *arg, lt_engine_result *result) {
  lt_guest_host host = {.arg = arg, .poll = poll};
  lt_guest guest;
  lt_guest_init(&guest, box, &host);
  lt_js text = lt_guest_string(&guest, source);
  lt_js value = lt_js_is_exception(text) ? text : lt_guest_call_root(&guest, LT_ROOT_STRIP, &text, 1);
  if (!lt_js_is_exception(value)) {
    result->ending = LT_END_STRING;
    lt_guest_copy_text(&guest, value, &result->text);
  } else if (lt_guest_alive(&guest)) {
    engine_end_with_error(&guest, lt_guest_exception(&guest), result);
  }
  if (!lt_guest_alive(&guest)) {
    engine_end_trapped(&guest, result);
  }
}
