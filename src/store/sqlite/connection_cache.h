/* What is remembered with a connection: which statement was prepared for which text, which prompts are known to be this
 * process's own, with the numbers of their rows, and the numbers of runs' last notes.
 *
 * All of it only spares work: without a cache, and after anything was forgotten, SQLite is asked. SQLite keeps the
 * pointer to the cache, as the argument of the connection's rollback hook. For sqlite/ only, on the thread that has the
 * connection.
 */
#ifndef LT_STORE_SQLITE_CONNECTION_CACHE_H
#define LT_STORE_SQLITE_CONNECTION_CACHE_H

#include <stdbool.h>

#include "base/str.h"

struct sqlite3;
struct sqlite3_stmt;

/* Zeros: there is no such prompt. */
typedef struct lt_prompt_rows {
  int64_t number, conversation;
} lt_prompt_rows;

/* Gives the connection a cache, unless there is no memory. Owns: the connection, until lt_connection_cache_close. */
void lt_connection_cache_open(struct sqlite3 *sql);
void lt_connection_cache_close(struct sqlite3 *sql);

/* The statement that was prepared for `text` and is not busy, or NULL. */
struct sqlite3_stmt *lt_connection_cache_find(struct sqlite3 *sql, const char *text);
/* `text` is a literal, or at least lies where it lies as long as it is used. */
void lt_connection_cache_put(struct sqlite3 *sql, const char *text, struct sqlite3_stmt *stmt);

/* Says which version of the data a transaction sees that may write (PRAGMA data_version). When another connection has
 * changed something since the last one, no prompt and no run is known any more. */
void lt_connection_cache_see_version(struct sqlite3 *sql, int64_t version);
/* Forgets prompts and runs. Who removes rows, or inserts prompts otherwise than lt_store_prompt_create does, calls it;
 * and so does db.c when a job has failed. */
void lt_connection_cache_forget(struct sqlite3 *sql);
/* Whether the prompt is known to be this process's own. */
bool lt_connection_cache_owns(struct sqlite3 *sql, lt_str prompt, lt_prompt_rows *ret_rows);
/* Notes that no other process has the prompt, in a transaction that may write. */
void lt_connection_cache_note_own(struct sqlite3 *sql, lt_str prompt, const lt_prompt_rows *rows);

/* Whether the number of the run's last note is known. */
bool lt_connection_cache_knows_last_note(struct sqlite3 *sql, lt_str run, int64_t *ret_number);
/* Notes it, in a transaction that may write. */
void lt_connection_cache_note_last_note(struct sqlite3 *sql, lt_str run, int64_t number);

#endif
