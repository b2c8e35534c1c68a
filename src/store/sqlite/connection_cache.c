#include "store/sqlite/connection_cache.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_open.h"
#include "store/store.h"

typedef struct connection_cache {
  struct {
    const char *text;
    sqlite3_stmt *stmt;
  } statements[LT_DB_STATEMENTS_KEPT]; /* by the address of the text */
  int64_t version;                     /* of the data, when the last transaction that may write began */
  uint64_t age;                        /* what was noted in an earlier one is forgotten */
  struct {
    uint64_t age;
    char id[LT_STORE_ID_BYTES];
  } owned[LT_DB_OWNED_KEPT]; /* by the id */
} connection_cache;

/* What this process has undone may have been noted. */
static void connection_cache_on_rollback(void *arg) {
  connection_cache *cache = arg;
  if (cache != NULL) {
    cache->age++;
  }
}

/* sqlite.org/c3ref/commit_hook.html: setting a hook returns the argument of the one before. */
static connection_cache *connection_cache_of(sqlite3 *sql) {
  connection_cache *cache = lt_sqlite.rollback_hook(sql, connection_cache_on_rollback, NULL);
  (void)lt_sqlite.rollback_hook(sql, connection_cache_on_rollback, cache);
  return cache;
}

void lt_connection_cache_open(sqlite3 *sql) {
  connection_cache *cache = lt_mem_zalloc(1, sizeof *cache);
  if (cache != NULL) {
    cache->age = 1; /* the places are empty */
  }
  (void)lt_sqlite.rollback_hook(sql, connection_cache_on_rollback, cache);
}

void lt_connection_cache_close(sqlite3 *sql) {
  lt_mem_free(lt_sqlite.rollback_hook(sql, NULL, NULL));
}

/* --- Statements --------------------------------------------------------------------------------------------------- */
static size_t connection_cache_place(const char *text) {
  return (size_t)((uintptr_t)text * 0x9e3779b97f4a7c15U >> 32) % LT_DB_STATEMENTS_KEPT;
}

sqlite3_stmt *lt_connection_cache_find(sqlite3 *sql, const char *text) {
  const connection_cache *cache = connection_cache_of(sql);
  size_t place = connection_cache_place(text);
  if (cache == NULL || cache->statements[place].text != text) {
    return NULL;
  }
  sqlite3_stmt *stmt = cache->statements[place].stmt;
  return lt_sqlite.stmt_busy(stmt) || strcmp(lt_sqlite.sql(stmt), text) != 0 ? NULL : stmt;
}

void lt_connection_cache_put(sqlite3 *sql, const char *text, sqlite3_stmt *stmt) {
  connection_cache *cache = connection_cache_of(sql);
  if (cache != NULL) {
    size_t place = connection_cache_place(text);
    cache->statements[place].text = text;
    cache->statements[place].stmt = stmt;
  }
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
void lt_connection_cache_see_version(sqlite3 *sql, int64_t version) {
  connection_cache *cache = connection_cache_of(sql);
  if (cache != NULL && cache->version != version) {
    cache->version = version;
    cache->age++;
  }
}

static size_t connection_cache_owned_place(lt_str prompt) {
  return lt_str_hash(prompt) % LT_DB_OWNED_KEPT;
}

bool lt_connection_cache_owns(sqlite3 *sql, lt_str prompt) {
  const connection_cache *cache = connection_cache_of(sql);
  if (cache == NULL || prompt.n != LT_STORE_ID_BYTES) {
    return false;
  }
  size_t place = connection_cache_owned_place(prompt);
  return cache->owned[place].age == cache->age && memcmp(cache->owned[place].id, prompt.p, prompt.n) == 0;
}

void lt_connection_cache_note_own(sqlite3 *sql, lt_str prompt) {
  connection_cache *cache = connection_cache_of(sql);
  if (cache != NULL && prompt.n == LT_STORE_ID_BYTES) {
    size_t place = connection_cache_owned_place(prompt);
    cache->owned[place].age = cache->age;
    memcpy(cache->owned[place].id, prompt.p, prompt.n);
  }
}
