#include "agent/program_session.h"

#include "agent/turn_state.h"
#include "base/limits.h"
#include "store/store_sessions.h"

static lt_store *program_session_store(const lt_program_session *session) {
  return session->turn->agent->options.db;
}

static lt_session_key program_session_key(const lt_program_session *session) {
  return (lt_session_key){
      .user = session->turn->user, .name = session->name, .run = lt_str_of(session->turn->ids.prompt)};
}

/* --- What is kept: the values as JSON, a line break, the memory --------------------------------------------------- */
lt_str lt_program_session_memory(lt_str kept) {
  size_t end = lt_str_find(kept, LT_STR("\n"), 0);
  return end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(kept, end + 1, kept.n);
}

static lt_status program_session_unpack(lt_program_session *session, lt_err *err) {
  lt_str all = lt_buf_view(&session->found);
  size_t end = lt_str_find(all, LT_STR("\n"), 0);
  if (end == SIZE_MAX) {
    return LT_OK;
  }
  session->run.memory = lt_program_session_memory(all);
  return lt_stored_values_read(session->turn->values, lt_str_sub(all, 0, end), err);
}

static void program_session_keep(lt_program_session *session, lt_str memory) LT_YIELDS {
  LT_AUTO_BUF(all, LT_SESSION_BYTES_MAX + 2 * LT_RUN_STORE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&all);
  lt_stored_values_write(session->turn->values, &w);
  lt_buf_byte(&all, '\n');
  lt_buf_add(&all, memory);
  lt_session_key key = program_session_key(session);
  if (all.status != LT_OK) {
    session->why = "there was no memory to keep them";
  } else if (lt_secrets_in(session->turn->agent->options.secrets, lt_buf_view(&all))) {
    session->why = "the program had a secret of the configuration in its memory, which must not be stored";
  } else if (lt_store_session_keep(program_session_store(session), &key, lt_buf_view(&all), NULL) != LT_OK) {
    session->why = "the store could not keep them";
  } else {
    session->why = NULL;
    session->is_kept = true;
  }
}

static void program_session_on_memory(void *arg, lt_status status, lt_str memory) LT_YIELDS {
  lt_program_session *session = arg;
  if (status == LT_OK) {
    program_session_keep(session, memory);
  } else {
    session->why = "they take more than 16 MiB: keep less, or large values in artifacts";
  }
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */
static lt_status program_session_judge(const lt_program_session *session, lt_session_found found, const char *run,
                                       lt_err *err) {
  if (found == LT_SESSION_BUSY) {
    return lt_fail(err, LT_E_PROGRAM,
                   "session \"%.*s\" is busy: run %s has it, and is not done. Nothing was run. Call continue_run with "
                   "that run first, or use another session",
                   LT_STR_ARG(session->name), run);
  }
  if (found == LT_SESSION_GONE) {
    return lt_fail(err, LT_E_PROGRAM,
                   "session \"%.*s\" has gone on since, or was forgotten: this program cannot be run in it again",
                   LT_STR_ARG(session->name));
  }
  return LT_OK;
}

lt_status lt_program_session_begin(lt_program_session *session, lt_turn *turn, lt_str name, lt_err *err) {
  *session = (lt_program_session){.turn = turn, .name = name};
  session->run = (lt_run_session){.keep = program_session_on_memory, .arg = session};
  lt_buf_init(&session->found, LT_SESSION_BYTES_MAX + 2 * LT_RUN_STORE_MAX_BYTES);
  if (name.n == 0) {
    return LT_OK;
  }
  char run[LT_STORE_ID_BYTES + 1];
  lt_session_found found;
  lt_session_key key = program_session_key(session);
  LT_TRY(lt_store_session_take(program_session_store(session), &key, turn->internal->record.is_recalled, &found, run,
                               &session->found, err));
  LT_TRY(program_session_judge(session, found, run, err));
  session->is_new = found == LT_SESSION_NEW;
  return program_session_unpack(session, err);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
/* A program whose end was on record has kept what it left before that. */
void lt_program_session_end(lt_program_session *session, const lt_run_result *result) {
  if (session->name.n == 0) {
    return;
  }
  bool has_ended = result->status == LT_OK || result->status == LT_E_PROGRAM;
  bool is_recalled = session->turn->internal->record.is_recalled;
  if (session->run.is_lost) {
    lt_session_key key = program_session_key(session);
    (void)lt_store_session_drop(program_session_store(session), &key, NULL);
  } else if (has_ended && !session->is_kept && session->why == NULL && !is_recalled) {
    session->why = "it did not run, or its runner keeps nothing";
  }
}

void lt_program_session_tell(const lt_program_session *session, const lt_run_result *result, lt_buf *out) {
  if (session->name.n == 0 || session->run.is_lost) {
    return;
  }
  const char *line_break = out->n > 0 && out->p[out->n - 1] != '\n' ? "\n" : "";
  bool was_stopped = result->status != LT_OK && result->status != LT_E_PROGRAM && result->status != LT_E_DIVERGED;
  if (session->why != NULL) {
    lt_buf_printf(out, "%s[session \"%.*s\": its variables and values are as before this program: %s]", line_break,
                  LT_STR_ARG(session->name), session->why);
  } else if (was_stopped) {
    lt_buf_printf(out, "%s[session \"%.*s\": its variables and values are as before this program, which was stopped]",
                  line_break, LT_STR_ARG(session->name));
  } else if (session->is_new) {
    lt_buf_printf(out, "%s[session \"%.*s\" is new]", line_break, LT_STR_ARG(session->name));
  }
}

void lt_program_session_release(lt_program_session *session) {
  lt_buf_release(&session->found);
}
