/* Queued notes, and the runs that have lost some. */
#include "store/sqlite/note_queue.h"

#include <pthread.h>
#include <sqlite3.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/query.h"

typedef struct note_item {
  struct note_item *next;
  lt_str run; /* its text is here, or in the item before: a batch's items are freed together */
  lt_note note;
  void (*on_failure)(void *arg, const lt_err *err);
  void *arg;
  char bytes[];
} note_item;

/* The notes of a job. */
typedef struct note_batch {
  lt_db_post post;
  lt_note_queue *notes;
  note_item *first, *last;
  size_t bytes;
} note_batch;

struct lt_note_queue {
  lt_store *db;
  note_batch *newest;  /* takes more notes while no other job waits behind it; NULL: there is none */
  size_t queued_bytes; /* of all batches */
  size_t batches;
  bool freed; /* the last batch frees it */

  /* A group's thread writes here, too. Hashes of the runs' names, so that a failure needs no memory. */
  pthread_mutex_t lock;
  uint64_t lost[LT_NOTES_LOST_MAX]; /* a ring */
  size_t lost_count;
};

lt_note_queue *lt_note_queue_new(lt_store *db) {
  lt_note_queue *notes = lt_mem_zalloc(1, sizeof *notes);
  if (notes != NULL) {
    notes->db = db;
    pthread_mutex_init(&notes->lock, NULL);
  }
  return notes;
}

static void note_queue_free_if_done(lt_note_queue *notes) {
  if (notes->freed && notes->batches == 0) {
    pthread_mutex_destroy(&notes->lock);
    lt_mem_free(notes);
  }
}

void lt_note_queue_free(lt_note_queue *notes) {
  if (notes != NULL) {
    notes->freed = true;
    note_queue_free_if_done(notes);
  }
}

/* --- Lost notes --------------------------------------------------------------------------------------------------- */

/* With the lock. */
static bool note_queue_is_lost(const lt_note_queue *notes, uint64_t hash) {
  size_t n = notes->lost_count < LT_NOTES_LOST_MAX ? notes->lost_count : LT_NOTES_LOST_MAX;
  while (n > 0 && notes->lost[n - 1] != hash) {
    n--;
  }
  return n > 0;
}

static void note_queue_lose(lt_note_queue *notes, lt_str run) {
  uint64_t hash = lt_str_hash(run);
  pthread_mutex_lock(&notes->lock);
  if (!note_queue_is_lost(notes, hash)) {
    notes->lost[notes->lost_count++ % LT_NOTES_LOST_MAX] = hash;
  }
  pthread_mutex_unlock(&notes->lock);
}

lt_status lt_note_queue_check(lt_note_queue *notes, lt_str run, lt_err *err) {
  pthread_mutex_lock(&notes->lock);
  bool lost = notes->lost_count > 0 && note_queue_is_lost(notes, lt_str_hash(run));
  pthread_mutex_unlock(&notes->lock);
  return lost ? lt_fail(err, LT_E_IO, "what came to this run before could not be recorded: begin it anew") : LT_OK;
}

static void note_batch_lose(const note_batch *b) {
  const char *run = NULL;
  for (const note_item *i = b->first; i != NULL; i = i->next) {
    if (i->run.p != run) {
      note_queue_lose(b->notes, i->run);
    }
    run = i->run.p;
  }
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static lt_status note_find_number(struct sqlite3 *sql, lt_str run, int64_t *ret_number, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT max(number) FROM notes WHERE run = ?");
  lt_query_text(&query, run);
  int64_t number = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  LT_TRY(lt_query_end(&query, err));
  *ret_number = number;
  return LT_OK;
}

static lt_status note_insert(struct sqlite3 *sql, const note_item *i, int64_t number, lt_err *err) {
  lt_query query =
      lt_query_prepare(sql, "INSERT INTO notes(run, number, kind, what, time_us, text) VALUES(?, ?, ?, ?, ?, ?)");
  lt_query_text(&query, i->run);
  lt_query_int(&query, number);
  lt_query_int(&query, i->note.kind);
  lt_query_int(&query, (int64_t)i->note.number);
  lt_query_int(&query, (int64_t)i->note.time_us);
  lt_query_text(&query, i->note.text);
  return lt_query_run(&query, err);
}

/* The notes of a prompt that another process has taken over are lost, and those of others are not. */
static lt_status note_check_owner(struct sqlite3 *sql, lt_note_queue *notes, lt_str run, bool *ret_is_ours,
                                  lt_err *err) {
  lt_err why = LT_ERR_INIT;
  lt_status status = lt_prompt_owner_check_own(sql, run, &why);
  *ret_is_ours = status == LT_OK;
  if (status == LT_E_CLOSED) {
    note_queue_lose(notes, run);
    return LT_OK;
  }
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

static lt_status note_batch_insert(struct sqlite3 *sql, const note_batch *b, lt_err *err) {
  const char *run = NULL;
  int64_t number = 0;
  bool is_ours = true;
  for (const note_item *i = b->first; i != NULL; i = i->next) {
    if (i->run.p != run) {
      LT_TRY(note_check_owner(sql, b->notes, i->run, &is_ours, err));
      LT_TRY(note_find_number(sql, i->run, &number, err));
    }
    run = i->run.p;
    if (is_ours) {
      LT_TRY(note_insert(sql, i, ++number, err));
    }
  }
  return LT_OK;
}

/* Jobs behind this one in the same group must see the loss at once. */
static lt_status note_batch_write(struct sqlite3 *sql, void *arg, lt_err *err) {
  const note_batch *b = arg;
  lt_status status = note_batch_insert(sql, b, err);
  if (status != LT_OK) {
    note_batch_lose(b);
  }
  return status;
}

static void note_batch_free(note_batch *b) {
  for (note_item *i = b->first, *next; i != NULL; i = next) {
    next = i->next;
    lt_mem_free(i);
  }
  lt_mem_free(b);
}

/* The callbacks may add more notes. */
static void note_batch_end(void *arg, lt_status status, const lt_err *err) {
  note_batch *b = arg;
  lt_note_queue *notes = b->notes;
  if (notes->newest == b) {
    notes->newest = NULL;
  }
  notes->queued_bytes -= b->bytes;
  if (status != LT_OK) {
    note_batch_lose(b);
    for (const note_item *i = b->first; i != NULL; i = i->next) {
      if (i->on_failure != NULL) {
        i->on_failure(i->arg, err);
      }
    }
  }
  note_batch_free(b);
  notes->batches--;
  note_queue_free_if_done(notes);
}

/* --- Adding a note ------------------------------------------------------------------------------------------------ */

static lt_status note_batch_begin(lt_note_queue *notes, lt_err *err) {
  note_batch *b = lt_mem_zalloc(1, sizeof *b);
  if (b == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a note");
  }
  b->notes = notes;
  lt_status status = lt_db_post_job(notes->db, &b->post, LT_DB_LAZY, note_batch_write, b, note_batch_end, err);
  if (status != LT_OK) {
    note_batch_free(b);
    return status;
  }
  notes->batches++;
  notes->newest = b;
  return LT_OK;
}

/* `run` is copied behind the text, unless it is kept already. */
static note_item *note_item_new(lt_str run, bool run_is_kept, const lt_note *note) {
  note_item *i = lt_mem_alloc(sizeof *i + note->text.n + (run_is_kept ? 0 : run.n));
  if (i == NULL) {
    return NULL;
  }
  *i = (note_item){.run = run, .note = *note};
  i->note.text.p = i->bytes;
  if (note->text.n > 0) {
    memcpy(i->bytes, note->text.p, note->text.n);
  }
  if (!run_is_kept && run.n > 0) {
    memcpy(i->bytes + note->text.n, run.p, run.n);
  }
  if (!run_is_kept) {
    i->run.p = i->bytes + note->text.n;
  }
  return i;
}

static lt_status note_queue_add_item(lt_note_queue *notes, lt_str run, const lt_note *note, note_item **ret_item,
                                     lt_err *err) {
  if (notes->newest == NULL || !lt_db_post_is_last(notes->db, &notes->newest->post)) {
    LT_TRY(note_batch_begin(notes, err));
  }
  note_batch *b = notes->newest;
  bool kept = b->last != NULL && lt_str_eq(b->last->run, run);
  note_item *i = note_item_new(kept ? b->last->run : run, kept, note);
  if (i == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a note of %zu bytes", note->text.n);
  }
  *(b->last != NULL ? &b->last->next : &b->first) = i;
  b->last = i;
  size_t size = sizeof *i + note->text.n + run.n;
  b->bytes += size;
  notes->queued_bytes += size;
  *ret_item = i;
  return LT_OK;
}

static lt_status note_queue_check_room(const lt_note_queue *notes, size_t size, lt_err *err) {
  size_t room = LT_NOTES_QUEUE_BYTES - notes->queued_bytes;
  if (size > LT_NOTES_QUEUE_BYTES || size + sizeof(note_item) > room) {
    return lt_fail(err, LT_E_LIMIT, "more than %lu MiB wait to be recorded: the disk is too slow for what runs",
                   LT_NOTES_QUEUE_BYTES / LT_MIB);
  }
  return LT_OK;
}

void lt_note_queue_add(lt_note_queue *notes, lt_str run, const lt_note *note,
                       void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_err err = LT_ERR_INIT;
  note_item *added = NULL;
  lt_status status = lt_note_queue_check(notes, run, &err);
  if (status == LT_OK) {
    status = note_queue_check_room(notes, note->text.n + run.n, &err);
  }
  if (status == LT_OK) {
    status = note_queue_add_item(notes, run, note, &added, &err);
  }
  if (status == LT_OK) {
    added->on_failure = on_failure;
    added->arg = arg;
    return;
  }
  note_queue_lose(notes, run);
  if (on_failure != NULL) {
    on_failure(arg, &err);
  }
}
