/* The store: what is kept beyond a process. This header has its life, and what programs, tools and plugins keep: calls
 * and notes of runs, artifacts, blobs, plugins' state and tables. Conversations and prompts are in store_prompts.h.
 *
 * What is behind it is no caller's business: today SQLite (sqlite/), later also PostgreSQL. Every function that
 * LT_YIELDS may be called from any fiber of the loop and copies what it is given before it suspends. Each may fail with
 * LT_E_IO (what is wrong with the database and what to do), LT_E_UNSUPPORTED (a newer Lathe made the database),
 * LT_E_NOMEM and LT_E_CLOSED.
 */
#ifndef LT_STORE_STORE_H
#define LT_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "tool/journal.h"

typedef struct lt_store lt_store;

/* `path`: a file, ":memory:", or NULL for lt_store_default_path, whose folders are made when they are missing. Nothing
 * is opened or created yet: the first use does. Errors: LT_E_NOMEM; LT_E_CONFIG: `path` is empty, or there is no
 * default. Owns: the caller, lt_store_close. */
lt_status lt_store_new(lt_loop *loop, const char *path, lt_store **ret_store, lt_err *err);
/* Waits for all work that has been asked for, and closes the database. LT_YIELDS. NULL is allowed. */
void lt_store_close(lt_store *store) LT_YIELDS;
/* The path, for messages. Borrows. */
const char *lt_store_path(const lt_store *store);
/* Appends $XDG_STATE_HOME/lathe/lathe.db, or else ~/.local/state/lathe/lathe.db. LT_E_CONFIG: neither variable is set.
 */
lt_status lt_store_default_path(lt_buf *out, lt_err *err);

#define LT_STORE_ID_BYTES 32
/* 32 random hexadecimal digits. Errors: LT_E_IO. */
lt_status lt_store_new_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err);

/* --- The journal of calls ----------------------------------------------------------------------------------------- */
/* The door's journal, kept in this store. Borrows: the store. Owns: the caller, lt_store_journal_free. NULL: no memory.
 */
lt_journal *lt_store_journal_new(lt_store *store);
/* Notes that are still queued are written nevertheless. */
void lt_store_journal_free(lt_journal *journal);
/* Beyond what the interface says:
 * - note() calls `on_failure` itself when it cannot queue a note (LT_E_LIMIT: LT_NOTES_QUEUE_BYTES wait already).
 * - Once a run has lost a note, its later notes are lost, too, and its calls with a seq are not begun any more
 *   (LT_E_IO): a record never has a gap.
 * - begin() fails with LT_E_INTERNAL when a call of that run and seq is on record and has ended, or is another call by
 *   its `hash`: who runs a run again must ask for its record first.
 * - recall() fails with LT_E_LIMIT when a run has more than LT_RECORD_MAX_BYTES. */

/* Appends a JSON array of the names of all recorded runs that begin with `prefix`, sorted. */
lt_status lt_store_runs_below(lt_store *store, lt_str prefix, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
/* The door's artifacts, kept in this store. Borrows: the store. Owns: the caller, lt_store_artifacts_free. NULL: no
 * memory. */
lt_artifacts *lt_store_artifacts_new(lt_store *store);
void lt_store_artifacts_free(lt_artifacts *artifacts);
/* Appends {"id","type","description","mimeType","bytes","createdAt"[,"data"]} as JSON: `data` is the JSON itself, for
 * "text/..." a string, else base64. LT_E_NOTFOUND: this user has no artifact with that id. */
lt_status lt_store_artifact_get(lt_store *store, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends a JSON array of the user's artifacts, newest first, without data; at most LT_ARTIFACTS_LISTED_MAX. */
lt_status lt_store_artifact_list(lt_store *store, lt_str user, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Blobs: what is large and the same for many prompts ----------------------------------------------------------- */
#define LT_BLOB_HASH_BYTES 32 /* hexadecimal digits of a blob's name */
/* Keeps bytes under their lt_store_blob_name; bytes that are kept already are not written again. Errors: LT_E_LIMIT
 * (LT_BLOB_MAX_BYTES); LT_E_INVALID: other bytes have the same name. */
lt_status lt_store_blob_put(lt_store *store, lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1], lt_err *err) LT_YIELDS;
/* The name of bytes: a hash. Does not yield. */
void lt_store_blob_name(lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1]);
/* Appends the bytes. LT_E_NOTFOUND. */
lt_status lt_store_blob_get(lt_store *store, lt_str hash, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
/* A plugin's state for a user and a conversation (empty: no particular one), as JSON text. Get appends nothing when
 * there is no state. Put with empty text removes the state. */
lt_status lt_store_state_get(lt_store *store, lt_str plugin, lt_str user, lt_str conversation, lt_buf *out,
                             lt_err *err) LT_YIELDS;
lt_status lt_store_state_put(lt_store *store, lt_str plugin, lt_str user, lt_str conversation, lt_str json,
                             lt_err *err) LT_YIELDS;

/* The names of a plugin's tables, indexes, views and triggers begin with its id, "-" written as "_", and two "_": those
 * of "my-todo" with "my_todo__". No plugin's prefix is the beginning of another's: an id with tables is made of
 * [a-z0-9] with single "-" between them; with any other id the functions below fail with LT_E_INVALID.
 *
 * Runs one SQL statement of a plugin with a JSON array of parameters (or nothing) and appends its rows as a JSON array
 * of objects: numbers, strings, null; blobs as base64. Parameters: null, numbers, strings; booleans as 0 and 1; arrays
 * and objects as their JSON text. A plugin sees only its own tables; other tables, pragmas, transactions and attached
 * files are refused with LT_E_DENIED. LT_E_INVALID: the SQL or the parameters are wrong, in the database's words.
 * LT_E_TIMEOUT: longer than LT_SQL_RUNTIME_MS. LT_E_LIMIT: more rows than LT_SQL_ROWS_MAX_BYTES. */
lt_status lt_store_sql(lt_store *store, lt_str plugin, lt_str sql, lt_str params, lt_buf *out, lt_err *err) LT_YIELDS;
/* Brings a plugin's tables up to date: in one transaction, in order, runs the scripts (any number of statements each)
 * that have not run yet. The store remembers how many scripts of a plugin have run. LT_E_UNSUPPORTED: more have run
 * than there are. */
lt_status lt_store_migrate(lt_store *store, lt_str plugin, const char *const *scripts, size_t count,
                           lt_err *err) LT_YIELDS;

#endif
