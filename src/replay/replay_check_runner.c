/* The runner of a check: hands each program to the runner on record, or answers from the record. */
#include <stdio.h>

#include "base/mem.h"
#include "replay/notes.h"
#include "replay/replay_check_impl.h"
#include "replay/result_note.h"

static lt_replay_check *check_of_runner(lt_runner *self) {
  return (lt_replay_check *)(void *)((char *)self - offsetof(lt_replay_check, runner));
}

static bool check_speaks(lt_lang lang) {
  (void)lang;
  return true;
}

/* --- Which runner ------------------------------------------------------------------------------------------------- */
#define RUNNER_ID_BYTES 32

/* The id of the runner on record; for a program without a record the one of its language. */
static const char *check_runner_id(const lt_note *begun, lt_lang lang, char *text) {
  lt_program_identity identity;
  if (begun == NULL || !lt_notes_read_identity(begun->text, &identity)) {
    return lang == LT_LANG_PYTHON ? "python" : "quickjs";
  }
  snprintf(text, RUNNER_ID_BYTES, "%.*s", LT_STR_ARG(identity.runner));
  return text;
}

/* Why the record must answer; NULL: the program runs again. A private folder is on record. A user's folder is not, and
 * others see what a program changes there. */
static const char *check_reason_to_answer(const lt_record *record, const char *id) {
  const lt_note *ended = lt_notes_find(record, LT_NOTE_END);
  if (ended == NULL) {
    return NULL; /* the record has no end */
  }
  if (lt_result_note_is_limit(ended->text)) { /* it would use up the same limit again */
    return "its time or its memory was used up";
  }
  if (lt_result_note_has_type_errors(ended->text)) { /* today's compiler may be another one, or none */
    return "its types were wrong, so nothing was run";
  }
  bool shares = strcmp(id, "python") == 0 && lt_notes_find(record, LT_NOTE_FOLDER) == NULL;
  return shares ? "it worked in python.workspace" : NULL;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static lt_status check_no_memory(lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "no memory to check a program");
}

/* Whether the failure comes from the machine and not from the program. */
static bool check_could_not_run(lt_status status) {
  return status != LT_OK && status != LT_E_CANCELLED && status != LT_E_DIVERGED && status != LT_E_NOMEM;
}

static lt_status check_run_real(lt_replay_check *c, lt_runner *real, const lt_run_request *request,
                                lt_run_result *result, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  lt_status status = real->run(real, request, result, &why);
  const lt_replay_check_program *program = lt_replay_check_find_program(c, request->caller->run);
  if (check_could_not_run(status) && program != NULL && !program->is_answered) {
    if (!lt_replay_check_give(c, request->caller->run, lt_str_of(lt_err_msg(&why)))) {
      return check_no_memory(err);
    }
    lt_run_result_release(result);
    lt_run_result_init(result);
    return real->run(real, request, result, err);
  }
  if (status == LT_OK && result->status != LT_E_CANCELLED && result->status != LT_E_DIVERGED) {
    lt_replay_check_ended(c, request->caller->run);
  }
  if (status != LT_OK) {
    return lt_err_copy(err, &why);
  }
  return LT_OK;
}

static lt_status check_run_recorded(lt_replay_check *c, const lt_run_request *request, lt_run_result *result,
                                    lt_err *err) LT_YIELDS {
  lt_record record;
  lt_journal *records = c->options.records;
  LT_TRY(records->recall(records, request->caller->run, &record, err));
  char text[RUNNER_ID_BYTES];
  const char *id = check_runner_id(lt_notes_find(&record, LT_NOTE_BEGIN), request->lang, text);
  const char *reason = check_reason_to_answer(&record, id);
  bool known = reason == NULL || lt_replay_check_give(c, request->caller->run, lt_str_of(reason));
  lt_record_release(&record);
  if (!known) {
    return check_no_memory(err);
  }
  lt_runner *real = c->options.runner(c->options.arg, id, request->lang, err);
  return real != NULL ? check_run_real(c, real, request, result, err) : err->status;
}

/* Programs that hooks run have no record. */
static lt_status check_run(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                           lt_err *err) LT_YIELDS {
  lt_replay_check *c = check_of_runner(self);
  const lt_caller *caller = request->caller;
  if (caller != NULL && caller->noted && caller->recalled) {
    return check_run_recorded(c, request, result, err);
  }
  lt_runner *real = c->options.runner(c->options.arg, check_runner_id(NULL, request->lang, NULL), request->lang, err);
  return real != NULL ? real->run(real, request, result, err) : err->status;
}

void lt_replay_check_runner_init(lt_runner *runner) {
  *runner = (lt_runner){.id = "check", .speaks = check_speaks, .run = check_run};
}
