/* The store: data that outlives a process. This header opens and closes it, and has the data of programs, tools and
 * plugins: calls and notes of runs, artifacts, blobs, plugins' state and tables. Conversations and prompts are in
 * store_prompts.h.
 *
 * Callers do not see the database: today SQLite (sqlite/), later also PostgreSQL. A function that LT_YIELDS may be
 * called from any fiber of the loop; it copies its arguments before it suspends. Each may fail with LT_E_IO (what is
 * wrong with the database and what to do), LT_E_UNSUPPORTED (a newer Lathe made the database), LT_E_NOMEM and
 * LT_E_CLOSED.
 */
#ifndef LT_STORE_STORE_H
#define LT_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "tool/journal.h"

typedef struct lt_store lt_store;

/* Says that the process is ours, before its first database is opened: then SQLite need not count the memory that it
 * has, which takes a lock of the process at each allocation. A library does not decide that for its host. */
void lt_store_set_process_own(void);

/* `path`: a file, ":memory:", or NULL for lt_store_default_path, whose missing folders are created. The first use opens
 * or creates the file, not this function. Errors: LT_E_NOMEM; LT_E_CONFIG: `path` is empty, or there is no default.
 * Owns: the caller, lt_store_close. */
lt_status lt_store_new(lt_loop *loop, const char *path, lt_store **ret_store, lt_err *err);
/* Waits for all work in the queue, and closes the database. LT_YIELDS. NULL is allowed. */
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
/* Frees the journal. Queued notes are still written. */
void lt_store_journal_free(lt_journal *journal);
/* Beyond what the interface says:
 * - note() calls `on_failure` itself when it cannot queue a note (LT_E_LIMIT: LT_NOTES_QUEUE_BYTES wait already).
 * - After a run has lost a note, its later notes are lost, too, and its calls with a seq are refused (LT_E_IO): a
 * record never has a gap.
 * - begin() fails with LT_E_INTERNAL when the record already has an ended call of that run and seq, or one with another
 * `hash`: before running a run again, the caller must read its record.
 * - recall() fails with LT_E_LIMIT when a run has more than LT_RECORD_MAX_BYTES. */

/* Appends a JSON array of the names of all recorded runs that begin with `prefix`, sorted. */
lt_status lt_store_runs_below(lt_store *store, lt_str prefix, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
/* The door's artifacts, kept in this store. Borrows: the store. Owns: the caller, lt_store_artifacts_free. NULL: no
 * memory. */
lt_artifacts *lt_store_artifacts_new(lt_store *store);
void lt_store_artifacts_free(lt_artifacts *artifacts);
/* How much is stored before put fails with LT_E_LIMIT. The default is LT_ARTIFACTS_RUN_MB and LT_ARTIFACTS_STORE_MB. */
void lt_store_artifacts_set_limits(lt_artifacts *artifacts, uint64_t run_bytes, uint64_t store_bytes);
/* Appends {"id","type","description","mimeType","bytes","createdAt"[,"data"]} as JSON: `data` is the JSON itself, for
 * "text/..." a string, else base64. LT_E_NOTFOUND: this user has no artifact with that id. */
lt_status lt_store_artifact_get(lt_store *store, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends a JSON array of the user's artifacts, newest first, without data; at most LT_ARTIFACTS_LISTED_MAX. */
lt_status lt_store_artifact_list(lt_store *store, lt_str user, lt_buf *out, lt_err *err) LT_YIELDS;
/* The same, in pages of at most `max`: those older than the artifact `id` that the page before ended with; empty: the
 * first page. */
lt_status lt_store_artifact_page(lt_store *store, lt_str user, lt_str id, size_t max, lt_buf *out,
                                 lt_err *err) LT_YIELDS;

/* --- Blobs: large data that many prompts share ----------------------------------------------------------- */
#define LT_BLOB_HASH_BYTES 32 /* hexadecimal digits of a blob's name */
/* Stores bytes under their lt_store_blob_name; bytes that are stored already are not written again. Errors: LT_E_LIMIT
 * (LT_BLOB_MAX_BYTES); LT_E_INVALID: other bytes have the same name. */
lt_status lt_store_blob_put(lt_store *store, lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1], lt_err *err) LT_YIELDS;
/* The name of the bytes, a hash. Does not yield. */
void lt_store_blob_name(lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1]);
/* Appends the bytes. LT_E_NOTFOUND. */
lt_status lt_store_blob_get(lt_store *store, lt_str hash, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
/* A plugin's state for a user and a conversation (empty: no conversation), as JSON text. Get appends nothing for a
 * missing state. Put with empty text removes the state. */
lt_status lt_store_state_get(lt_store *store, lt_str plugin, lt_str user, lt_str conversation, lt_buf *out,
                             lt_err *err) LT_YIELDS;
lt_status lt_store_state_put(lt_store *store, lt_str plugin, lt_str user, lt_str conversation, lt_str json,
                             lt_err *err) LT_YIELDS;

/* The names of a plugin's tables, indexes, views and triggers begin with its id, "-" written as "_", and two "_": names
 * of "my-todo" begin with "my_todo__". No plugin's prefix begins with another plugin's prefix, because an id with
 * tables has only [a-z0-9] with single "-" between them. With any other id the functions below fail with LT_E_INVALID.
 *
 * Runs one SQL statement of a plugin with a JSON array of parameters (or nothing) and appends its rows as a JSON array
 * of objects: numbers, strings, null; blobs as base64. Parameters: null, numbers, strings; booleans as 0 and 1; arrays
 * and objects as their JSON text. A plugin sees only its own tables; other tables, pragmas, transactions and attached
 * files are refused with LT_E_DENIED. LT_E_INVALID: the SQL or the parameters are wrong, in the database's words.
 * LT_E_TIMEOUT: longer than LT_SQL_RUNTIME_MS. LT_E_LIMIT: more rows than LT_SQL_ROWS_MAX_BYTES. */
lt_status lt_store_sql(lt_store *store, lt_str plugin, lt_str sql, lt_str params, lt_buf *out, lt_err *err) LT_YIELDS;
/* Migrates a plugin's tables: runs the new scripts in order, in one transaction. A script has any number of statements.
 * The store remembers how many scripts of a plugin have run. LT_E_UNSUPPORTED: more scripts have run than the plugin
 * has. */
lt_status lt_store_migrate(lt_store *store, lt_str plugin, const char *const *scripts, size_t count,
                           lt_err *err) LT_YIELDS;

#endif
