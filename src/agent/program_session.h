/* The session of a program: variables and values that are kept from one program to the next
 * (docs/internals/sessions.md). For mode "program". */
#ifndef LT_AGENT_PROGRAM_SESSION_H
#define LT_AGENT_PROGRAM_SESSION_H

#include "agent/turn.h"
#include "runner/run_request.h"

typedef struct lt_program_session {
  lt_turn *turn;
  lt_str name;        /* empty: the program has no session, and nothing here does anything */
  lt_run_session run; /* for the runner */
  lt_buf found;       /* what the program before has left */
  bool is_new;
  bool is_kept;    /* what the program leaves is in the store */
  const char *why; /* why it could not be kept; NULL: it was, or the program was stopped */
} lt_program_session;

/* Takes the session and its values. Not to be moved until the release. Errors: LT_E_PROGRAM: another program has it, or
 * it is lost, and the message says so; those of the store. LT_YIELDS. */
lt_status lt_program_session_begin(lt_program_session *session, lt_turn *turn, lt_str name, lt_err *err) LT_YIELDS;
/* The program has ended. LT_YIELDS. */
void lt_program_session_end(lt_program_session *session, const lt_run_result *result) LT_YIELDS;
/* Appends a line for the model, where there is something to tell. */
void lt_program_session_tell(const lt_program_session *session, const lt_run_result *result, lt_buf *out);
void lt_program_session_release(lt_program_session *session);

/* The memory in what a session keeps (lt_store_session_view); empty: none. Borrows. */
lt_str lt_program_session_memory(lt_str kept);

#endif
