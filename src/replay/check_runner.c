/* The runner of a check: each program goes to the runner that it was run by, or is answered by the record. */
#include "base/mem.h"
#include "replay/check_impl.h"
#include "runner/quickjs/tape.h"

static lt_check *check_of(lt_runner *self) {
  return (lt_check *)(void *)((char *)self - offsetof(lt_check, runner));
}

static bool speaks(lt_lang lang) {
  (void)lang;
  return true;
}

/* --- What is known of it ------------------------------------------------------------------------------------------ */
/* The name of a runner and a hash; the embedded engine has two hashes. */
static const char *id_of(const lt_note *begun, lt_lang lang) {
  if (begun == NULL) {
    return lang == LT_LANG_PYTHON ? "python" : "quickjs";
  }
  return lt_str_starts(begun->text, LT_STR("python ")) ? "python"
         : lt_str_starts(begun->text, LT_STR("deno ")) ? "deno"
                                                       : "quickjs";
}

/* It would use up its time once more, or its memory, and come to the same. */
static bool ended_by_limit(const lt_note *ended) {
  return lt_str_starts(ended->text, LT_STR("{\"status\":\"E_TIMEOUT\"")) ||
         lt_str_starts(ended->text, LT_STR("{\"status\":\"E_NOMEM\""));
}

/* Why the record has to answer; NULL: it runs again. A private folder is on record, a user's is not: what a program
 * does there is seen by others. */
static const char *reason_of(const lt_record *record, const char *id) {
  const lt_note *ended = lt_replay_check_find_note(record, LT_NOTE_END);
  if (ended == NULL) {
    return NULL; /* nothing answers for it */
  }
  if (ended_by_limit(ended)) {
    return "its time or its memory was used up";
  }
  bool shares = strcmp(id, "python") == 0 && lt_replay_check_find_note(record, LT_NOTE_FOLDER) == NULL;
  return shares ? "it worked in python.workspace" : NULL;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static lt_status no_memory(lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "no memory to check a program");
}

/* Anything about the machine it runs on, rather than about the program. */
static bool could_not_run(lt_status status) {
  return status != LT_OK && status != LT_E_CANCELLED && status != LT_E_DIVERGED && status != LT_E_NOMEM;
}

static lt_status run_real(lt_check *c, lt_runner *real, const lt_run_request *request, lt_run_result *result,
                          lt_err *err) LT_YIELDS {
  lt_err why = LT_ERR_INIT;
  lt_status status = real->run(real, request, result, &why);
  const lt_replay_check_program *program = lt_replay_check_find_program(c, request->caller->run);
  if (could_not_run(status) && program != NULL && !program->given) {
    if (!lt_replay_check_give(c, request->caller->run, lt_str_of(lt_err_msg(&why)))) {
      return no_memory(err);
    }
    lt_run_result_release(result);
    lt_run_result_init(result);
    return real->run(real, request, result, err);
  }
  if (status == LT_OK && result->status != LT_E_CANCELLED && result->status != LT_E_DIVERGED) {
    lt_replay_check_ended(c, request->caller->run);
  }
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s", lt_err_msg(&why));
}

static lt_status run_recorded(lt_check *c, const lt_run_request *request, lt_run_result *result,
                              lt_err *err) LT_YIELDS {
  lt_record record;
  lt_journal *records = c->options.records;
  LT_TRY(records->recall(records, request->caller->run, &record, err));
  const char *id = id_of(lt_replay_check_find_note(&record, LT_NOTE_BEGIN), request->lang);
  const char *reason = reason_of(&record, id);
  bool known = reason == NULL || lt_replay_check_give(c, request->caller->run, lt_str_of(reason));
  lt_record_release(&record);
  if (!known) {
    return no_memory(err);
  }
  lt_runner *real = c->options.runner(c->options.arg, id, request->lang, err);
  return real != NULL ? run_real(c, real, request, result, err) : err->status;
}

/* What hooks run is on nobody's record. */
static lt_status run(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) LT_YIELDS {
  lt_check *c = check_of(self);
  const lt_caller *caller = request->caller;
  if (caller != NULL && caller->noted && caller->recalled) {
    return run_recorded(c, request, result, err);
  }
  lt_runner *real = c->options.runner(c->options.arg, id_of(NULL, request->lang), request->lang, err);
  return real != NULL ? real->run(real, request, result, err) : err->status;
}

void lt_replay_check_runner_init(lt_runner *runner) {
  *runner = (lt_runner){.id = "check", .speaks = speaks, .run = run};
}
