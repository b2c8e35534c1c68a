/* Sessions of programs: what one program leaves for the next (docs/internals/sessions.md).
 *
 * A session belongs to a user and has a name. One run has it at a time, from its beginning to the end of its prompt, in
 * whichever process. Until the run has ended by itself, the session also has what the run found: a run that is carried
 * out again finds the same, and one that was stopped leaves nothing.
 */
#ifndef LT_STORE_STORE_SESSIONS_H
#define LT_STORE_STORE_SESSIONS_H

#include "store/store.h"

typedef enum lt_session_found {
  LT_SESSION_NEW,  /* nobody has used it, or it was forgotten */
  LT_SESSION_OLD,  /* `out` has what it keeps */
  LT_SESSION_BUSY, /* another run has it */
  LT_SESSION_GONE, /* the run had it before, and another one has had it since */
} lt_session_found;

typedef struct lt_session_key {
  lt_str user, name;
  lt_str run; /* the id of a prompt */
} lt_session_key;

/* Gives the session to a run, and appends what the run finds. BUSY: `ret_run` is the run that has it. `is_again`: the
 * run is carried out again, and must have had it before. Forgets sessions that are too old or too many
 * (LT_SESSION_KEPT_DAYS, LT_SESSIONS_MAX). LT_YIELDS. */
lt_status lt_store_session_take(lt_store *store, const lt_session_key *key, bool is_again, lt_session_found *ret_found,
                                char ret_run[LT_STORE_ID_BYTES + 1], lt_buf *out, lt_err *err) LT_YIELDS;
/* Keeps what the run leaves; does nothing when the run does not have the session. LT_YIELDS. */
lt_status lt_store_session_keep(lt_store *store, const lt_session_key *key, lt_str data, lt_err *err) LT_YIELDS;
/* Forgets the session that this run has. LT_YIELDS. */
lt_status lt_store_session_drop(lt_store *store, const lt_session_key *key, lt_err *err) LT_YIELDS;

/* What a session keeps: of its last program, or what the program that has it found. Nothing is appended when there is
 * no such session. LT_YIELDS. */
lt_status lt_store_session_view(lt_store *store, lt_str user, lt_str name, lt_buf *out, lt_err *err) LT_YIELDS;
/* A session as it was used last. */
typedef struct lt_session_used {
  char name[LT_SESSION_NAME_BYTES + 1];
  char run[LT_STORE_ID_BYTES + 1];
  char conversation[LT_STORE_ID_BYTES + 1]; /* of the run; empty: it was removed */
} lt_session_used;
/* The session of that name, or of the names that begin with it the one that was used last. LT_E_NOTFOUND. LT_YIELDS. */
lt_status lt_store_session_find(lt_store *store, lt_str user, lt_str name, bool is_beginning, lt_session_used *ret,
                                lt_err *err) LT_YIELDS;

#endif
