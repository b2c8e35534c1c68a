#include "store/sqlite/connection_cache.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_open.h"

/* What is known of a run. A prompt is the run that has its id. */
typedef struct known_run {
  uint64_t age; /* another than the cache's: the place is free */
  bool is_own;  /* a prompt, and this process's own */
  lt_prompt_rows rows;
  int64_t last_note; /* NOT_KNOWN */
  size_t n;
  char name[LT_DB_KNOWN_NAME_BYTES];
} known_run;

/* With one place for each hash, the prompts of a crowd displaced each other. */
enum { KNOWN_SIDE_BY_SIDE = 4, KNOWN_SETS = LT_DB_KNOWN_KEPT / KNOWN_SIDE_BY_SIDE, NOT_KNOWN = -1 };

typedef struct connection_cache {
  struct {
    const char *text;
    sqlite3_stmt *stmt;
  } statements[LT_DB_STATEMENTS_KEPT];             /* by the address of the text */
  int64_t version;                                 /* of the data, when the last transaction that may write began */
  uint64_t age;                                    /* what was noted in an earlier one is forgotten */
  known_run known[KNOWN_SETS][KNOWN_SIDE_BY_SIDE]; /* by the name */
  unsigned turn;                                   /* whose place is taken next, where none is free */
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

/* --- Prompts and runs --------------------------------------------------------------------------------------------- */
void lt_connection_cache_see_version(sqlite3 *sql, int64_t version) {
  connection_cache *cache = connection_cache_of(sql);
  if (cache != NULL && cache->version != version) {
    cache->version = version;
    cache->age++;
  }
}

void lt_connection_cache_forget(sqlite3 *sql) {
  connection_cache_on_rollback(connection_cache_of(sql));
}

static known_run *connection_cache_find_in(const connection_cache *cache, known_run *set, lt_str name) {
  for (known_run *known = set; known < set + KNOWN_SIDE_BY_SIDE; known++) {
    if (known->age == cache->age && lt_str_eq(lt_str_from(known->name, known->n), name)) {
      return known;
    }
  }
  return NULL;
}

static known_run *connection_cache_find_run(sqlite3 *sql, lt_str name) {
  connection_cache *cache = connection_cache_of(sql);
  return cache != NULL ? connection_cache_find_in(cache, cache->known[lt_str_hash(name) % KNOWN_SETS], name) : NULL;
}

static known_run *connection_cache_free_place(connection_cache *cache, known_run *set) {
  for (known_run *known = set; known < set + KNOWN_SIDE_BY_SIDE; known++) {
    if (known->age != cache->age) {
      return known;
    }
  }
  return &set[cache->turn++ % KNOWN_SIDE_BY_SIDE];
}

/* The run's place; NULL: there is no cache, or the name is too long. */
static known_run *connection_cache_keep_run(sqlite3 *sql, lt_str name) {
  connection_cache *cache = connection_cache_of(sql);
  if (cache == NULL || name.n > LT_DB_KNOWN_NAME_BYTES) {
    return NULL;
  }
  known_run *set = cache->known[lt_str_hash(name) % KNOWN_SETS];
  known_run *known = connection_cache_find_in(cache, set, name);
  if (known == NULL) {
    known = connection_cache_free_place(cache, set);
    *known = (known_run){.age = cache->age, .last_note = NOT_KNOWN, .n = name.n};
    memcpy(known->name, name.p, name.n);
  }
  return known;
}

bool lt_connection_cache_owns(sqlite3 *sql, lt_str prompt, lt_prompt_rows *ret_rows) {
  const known_run *known = connection_cache_find_run(sql, prompt);
  if (known == NULL || !known->is_own) {
    return false;
  }
  *ret_rows = known->rows;
  return true;
}

void lt_connection_cache_note_own(sqlite3 *sql, lt_str prompt, const lt_prompt_rows *rows) {
  known_run *known = connection_cache_keep_run(sql, prompt);
  if (known != NULL) {
    known->is_own = true;
    known->rows = *rows;
  }
}

bool lt_connection_cache_knows_last_note(sqlite3 *sql, lt_str run, int64_t *ret_number) {
  const known_run *known = connection_cache_find_run(sql, run);
  if (known == NULL || known->last_note == NOT_KNOWN) {
    return false;
  }
  *ret_number = known->last_note;
  return true;
}

void lt_connection_cache_note_last_note(sqlite3 *sql, lt_str run, int64_t number) {
  known_run *known = connection_cache_keep_run(sql, run);
  if (known != NULL) {
    known->last_note = number;
  }
}
