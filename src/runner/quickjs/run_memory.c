#include "runner/quickjs/run_memory.h"

#include "runner/quickjs/run.h"

void lt_run_memory_init(lt_run *run) {
  lt_buf_init(&run->memory.left, LT_SESSION_BYTES_MAX);
}

void lt_run_memory_release(lt_run *run) {
  lt_buf_release(&run->memory.left);
}

static lt_str run_memory_found(const lt_run *run) {
  return run->request->session != NULL ? run->request->session->memory : LT_STR_NULL;
}

bool lt_run_memory_check(lt_run *run, const lt_image *image) {
  lt_str found = run_memory_found(run);
  if (found.n == 0 || lt_box_memory_is_of(image, found)) {
    return true;
  }
  run->request->session->is_lost = true;
  lt_run_result_fail(run->result, LT_E_PROGRAM,
                     "session lost: another version of Lathe has made its variables. Nothing was run");
  return false;
}

bool lt_run_memory_load(lt_run *run) {
  lt_str found = run_memory_found(run);
  lt_buf_clear(&run->memory.left);
  run->memory.has_left = false;
  if (found.n == 0) {
    return true;
  }
  uint64_t bytes = lt_run_request_memory_bytes(run->request) + run->box.box->image->head.extra;
  lt_box_set_max_bytes(run->box.box, bytes);
  if (!lt_box_memory_load(run->box.box, found)) {
    run->engine.ending = LT_END_MEMORY;
    return false;
  }
  return true;
}

/* A program that was stopped may have stopped anywhere. */
static bool run_memory_is_whole(const lt_run *run) {
  const lt_engine_result *engine = &run->engine;
  bool is_ended = engine->ending == LT_END_VALUE || engine->ending == LT_END_STRING ||
                  engine->ending == LT_END_UNDEFINED || (engine->ending == LT_END_ERROR && !engine->is_unparsed);
  return is_ended && run->box.box->trap == LT_TRAP_NONE && atomic_load(&run->task.stop) == LT_STOP_NOT &&
         run->tape.fault.n == 0;
}

void lt_run_memory_save(lt_run *run) {
  if (run->request->session != NULL && run_memory_is_whole(run)) {
    (void)lt_box_memory_save(run->box.box, &run->memory.left);
    run->memory.has_left = true;
  }
}

void lt_run_memory_keep(lt_run *run, lt_status status) {
  lt_run_session *session = run->request->session;
  if (session == NULL || status != LT_OK || !run->memory.has_left || run->result->status == LT_E_DIVERGED) {
    return;
  }
  lt_status saved = run->memory.left.status;
  session->keep(session->arg, saved, saved == LT_OK ? lt_buf_view(&run->memory.left) : LT_STR_NULL);
}
