/* What is stored: calls and notes of runs, artifacts, blobs, plugins' state and tables. All of it through store/db.h.
 *
 * Every function LT_YIELDS, may be called from any fiber of the loop, copies what it is given before it suspends, and
 * fails with lt_db_run's errors.
 */
#ifndef LT_STORE_STORE_H
#define LT_STORE_STORE_H

#include "base/buf.h"
#include "store/db.h"
#include "tool/journal.h"

/* --- The journal of calls ----------------------------------------------------------------------------------------- */
/* The door's journal on this database. Borrows: the database. Owns: the caller, lt_store_journal_free. NULL: no memory.
 */
lt_journal *lt_store_journal_new(lt_db *db);
/* What was noted is still written. */
void lt_store_journal_free(lt_journal *journal);
/* More than the interface says:
 * - A note that cannot be queued (LT_E_LIMIT: LT_NOTES_QUEUE_BYTES wait already) is told to `on_failure` inside note().
 * - When one is lost, so are all later ones of its run, and its calls with a seq are not begun any more (LT_E_IO):
 * there is never a record with a gap in it.
 * - begin fails with LT_E_INTERNAL when a call of that run and seq is on record and has ended, or is another one
 *   (`hash`): whoever runs a run again asks its record first.
 * - recall fails with LT_E_LIMIT when a run has more than LT_RECORD_MAX_BYTES. */

/* Appends the names of the runs of which something is on record and whose names begin with `prefix`, in their order, as
 * a JSON array. */
lt_status lt_store_runs_below(lt_db *db, lt_str prefix, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
/* The door's artifacts on this database. As above. */
lt_artifacts *lt_store_artifacts_new(lt_db *db);
void lt_store_artifacts_free(lt_artifacts *artifacts);
/* Appends {"id","type","description","mimeType","bytes","createdAt"[,"data"]} as JSON: `data` is the JSON itself, for
 * "text/..." a string, else base64. LT_E_NOTFOUND: there is none by that id that belongs to this user. */
lt_status lt_store_artifact_get(lt_db *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends a JSON array of the user's artifacts, newest first, without data; at most LT_ARTIFACTS_LISTED_MAX. */
lt_status lt_store_artifact_list(lt_db *db, lt_str user, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Blobs: what is large and the same for many prompts ----------------------------------------------------------- */
#define LT_BLOB_HASH_BYTES 32 /* hexadecimal digits of a blob's name */
/* Keeps bytes under a name made of them; those that are there are not written again. Errors: LT_E_LIMIT
 * (LT_BLOB_MAX_BYTES); LT_E_INVALID: other bytes have the same name. */
lt_status lt_store_blob_put(lt_db *db, lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1], lt_err *err) LT_YIELDS;
/* The name that they have there. Does not yield. */
void lt_store_blob_name(lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1]);
/* Appends the bytes. LT_E_NOTFOUND. */
lt_status lt_store_blob_get(lt_db *db, lt_str hash, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
/* A plugin's state for a user and a conversation (empty: none in particular), JSON text; nothing is appended when there
 * is none. Putting nothing removes it. */
lt_status lt_store_state_get(lt_db *db, lt_str plugin, lt_str user, lt_str conversation, lt_buf *out,
                             lt_err *err) LT_YIELDS;
lt_status lt_store_state_put(lt_db *db, lt_str plugin, lt_str user, lt_str conversation, lt_str json,
                             lt_err *err) LT_YIELDS;

/* A plugin's tables, indexes, views and triggers have names that begin with its id, "-" written as "_", and two "_":
 * those of "my-todo" with "my_todo__". No plugin's prefix is the beginning of another's: for that an id is made of
 * [a-z0-9] with single "-" between them; with any other id the functions below fail with LT_E_INVALID.
 *
 * Runs one SQL statement of a plugin with a JSON array of parameters (or nothing) and appends its rows as a JSON array
 * of objects: numbers, strings, null; blobs as base64. Parameters: null, numbers, strings; booleans as 0 and 1; arrays
 * and objects as their JSON text. The plugin sees only what is its own; other tables, pragmas, transactions and
 * attached files are refused: LT_E_DENIED. LT_E_INVALID: SQL or parameters that are wrong, with SQLite's words.
 * LT_E_TIMEOUT: longer than LT_SQL_RUNTIME_MS. LT_E_LIMIT: more rows than LT_SQL_ROWS_MAX_BYTES. */
lt_status lt_store_sql(lt_db *db, lt_str plugin, lt_str sql, lt_str params, lt_buf *out, lt_err *err) LT_YIELDS;
/* Brings a plugin's tables up to date: runs those of the scripts (any number of statements each) that have not run yet,
 * in order, in one transaction. How many have run is remembered by plugin. LT_E_UNSUPPORTED: more have run than there
 * are. */
lt_status lt_store_migrate(lt_db *db, lt_str plugin, const char *const *scripts, size_t count, lt_err *err) LT_YIELDS;

#endif
