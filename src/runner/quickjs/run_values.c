#include "runner/quickjs/run_values.h"

#include "runner/quickjs/run.h"

void lt_run_values_init(lt_run *run) {
  run->values = (lt_run_values){.current = run->request->values};
  lt_buf_init(&run->values.before, 2 * LT_RUN_STORE_MAX_BYTES);
}

void lt_run_values_release(lt_run *run) {
  lt_stored_values_free(run->values.own);
  lt_buf_release(&run->values.before);
}

lt_status lt_run_values_begin(lt_run *run, lt_err *err) {
  if (run->tape.options.drops && run->values.current != NULL) {
    lt_json_writer w = lt_json_writer_on(&run->values.before);
    lt_stored_values_write(run->values.current, &w);
  }
  return lt_buf_check(&run->values.before, err, "no memory for the program's values");
}

void lt_run_values_rewind(lt_run *run) {
  lt_stored_values_free(run->values.own);
  run->values.own = NULL;
  run->values.current = run->request->values;
  if (run->values.current != NULL && run->values.before.n > 0) {
    (void)lt_stored_values_read(run->values.current, lt_buf_view(&run->values.before), NULL);
  }
}

lt_status lt_run_values_put(lt_run *run, lt_str key, lt_str json, lt_err *err) {
  if (run->values.current == NULL) {
    run->values.current = run->values.own = lt_stored_values_new();
  }
  if (run->values.current == NULL) {
    return lt_fail(err, LT_E_NOMEM, "store(): out of memory");
  }
  return lt_stored_values_put(run->values.current, key, json, err);
}

lt_str lt_run_values_find(const lt_run *run, lt_str key) {
  return run->values.current == NULL ? LT_STR_NULL : lt_stored_values_find(run->values.current, key);
}
