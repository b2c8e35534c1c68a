/* Queued notes and calls, and the runs that have lost some. */
#include "store/sqlite/note_queue.h"

#include <pthread.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/query.h"

enum { NOTE_TEXTS_MAX = 4 };

typedef enum note_kind { NOTE_OF_RUN, NOTE_CALL_BEGIN, NOTE_CALL_END } note_kind;

/* All texts are behind the item, in the same memory. */
typedef struct note_item {
  struct note_item *next;
  lt_str run; /* or its text is behind the item before: a batch's items are freed together */
  note_kind what;
  union {
    lt_note note;        /* NOTE_OF_RUN */
    lt_call_begin begin; /* NOTE_CALL_BEGIN */
    lt_call_end end;     /* NOTE_CALL_END */
  };
  bool is_left_out; /* something of its run was lost before; told at the end */
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
  uint32_t effects[LT_NOTES_EFFECTS]; /* queued ends of calls that had an effect, by the hash of the prompt */
  bool freed;                         /* the last batch frees it */

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

/* --- Effects ------------------------------------------------------------------------------------------------------ */
static size_t note_queue_effects_place(lt_str run) {
  return lt_str_hash(lt_str_sub(run, 0, LT_STORE_ID_BYTES)) % LT_NOTES_EFFECTS;
}

static bool note_item_has_effect(const note_item *i) {
  return i->what == NOTE_CALL_END && i->end.has_effect;
}

bool lt_note_queue_has_effect(const lt_note_queue *notes, lt_str run) {
  return notes->effects[note_queue_effects_place(run)] > 0;
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

static lt_status note_fail_lost(lt_err *err) {
  return lt_fail(err, LT_E_IO, "what came to this run before could not be recorded: begin it anew");
}

lt_status lt_note_queue_check(lt_note_queue *notes, lt_str run, lt_err *err) {
  pthread_mutex_lock(&notes->lock);
  bool lost = notes->lost_count > 0 && note_queue_is_lost(notes, lt_str_hash(run));
  pthread_mutex_unlock(&notes->lock);
  return lost ? note_fail_lost(err) : LT_OK;
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
  if (lt_connection_cache_knows_last_note(sql, run, ret_number)) {
    return LT_OK;
  }
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
static lt_status note_check_run(struct sqlite3 *sql, lt_note_queue *notes, lt_str run, bool *ret_is_ours,
                                bool *ret_is_whole, lt_err *err) {
  LT_ERR_VAR(why);
  lt_status status = lt_prompt_owner_check_own(sql, run, &why);
  *ret_is_ours = status == LT_OK;
  if (status == LT_E_CLOSED) {
    note_queue_lose(notes, run);
  } else if (status != LT_OK) {
    return lt_err_copy(err, &why);
  }
  *ret_is_whole = lt_note_queue_check(notes, run, NULL) == LT_OK;
  return LT_OK;
}

/* A call that is on record already, or an end without a beginning, is a fault of its run and not of the others. */
static lt_status note_write_call(struct sqlite3 *sql, lt_note_queue *notes, const note_item *i, bool *ret_is_whole,
                                 lt_err *err) {
  LT_ERR_VAR(why);
  int64_t id = 0;
  lt_status status = i->what == NOTE_CALL_BEGIN ? lt_call_rows_insert(sql, &i->begin, &id, &why)
                                                : lt_call_rows_end(sql, &i->end, &why);
  *ret_is_whole = status == LT_OK;
  if (status == LT_E_INTERNAL || status == LT_E_NOTFOUND) {
    note_queue_lose(notes, i->run);
    return LT_OK;
  }
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

static lt_status note_batch_insert(struct sqlite3 *sql, const note_batch *b, lt_err *err) {
  const char *run = NULL;
  int64_t number = 0;
  bool is_ours = true, is_whole = true; /* the run; its record, so far */
  for (note_item *i = b->first; i != NULL; i = i->next) {
    if (i->run.p != run) {
      LT_TRY(note_check_run(sql, b->notes, i->run, &is_ours, &is_whole, err));
      LT_TRY(note_find_number(sql, i->run, &number, err));
    }
    run = i->run.p;
    i->is_left_out = is_ours && !is_whole;
    if (is_whole && i->what == NOTE_OF_RUN) {
      LT_TRY(note_insert(sql, i, ++number, err));
      lt_connection_cache_note_last_note(sql, i->run, number);
    } else if (is_whole) {
      LT_TRY(note_write_call(sql, b->notes, i, &is_whole, err));
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

static void note_batch_count_out(const note_batch *b) {
  b->notes->queued_bytes -= b->bytes;
  for (const note_item *i = b->first; i != NULL; i = i->next) {
    if (note_item_has_effect(i)) {
      b->notes->effects[note_queue_effects_place(i->run)]--;
    }
  }
}

/* Tells of each note that was not written. The callbacks may add more. */
static void note_batch_tell(const note_batch *b, const lt_err *failed) {
  LT_ERR_VAR(lost);
  for (const note_item *i = b->first; i != NULL; i = i->next) {
    if (i->on_failure != NULL && failed != NULL) {
      i->on_failure(i->arg, failed);
    } else if (i->on_failure != NULL && i->is_left_out) {
      (void)note_fail_lost(&lost);
      i->on_failure(i->arg, &lost);
    }
  }
}

static void note_batch_end(void *arg, lt_status status, const lt_err *err) {
  note_batch *b = arg;
  lt_note_queue *notes = b->notes;
  if (notes->newest == b) {
    notes->newest = NULL;
  }
  if (status != LT_OK) {
    note_batch_lose(b);
  }
  note_batch_count_out(b);
  note_batch_tell(b, status != LT_OK ? err : NULL);
  note_batch_free(b);
  notes->batches--;
  note_queue_free_if_done(notes);
}

/* --- Adding a note ------------------------------------------------------------------------------------------------ */

/* The texts of an item without its run. */
static size_t note_item_find_texts(note_item *i, lt_str *ret_texts[NOTE_TEXTS_MAX]) {
  switch (i->what) {
    case NOTE_OF_RUN:
      ret_texts[0] = &i->note.text;
      return 1;
    case NOTE_CALL_BEGIN:
      ret_texts[0] = &i->begin.call.user;
      ret_texts[1] = &i->begin.call.tool;
      ret_texts[2] = &i->begin.call.input;
      ret_texts[3] = &i->begin.call.edited_input;
      return 4;
    case NOTE_CALL_END:
      ret_texts[0] = &i->end.answer;
      return 1;
  }
  return 0;
}

static size_t note_item_bytes(const note_item *like) {
  note_item i = *like;
  lt_str *texts[NOTE_TEXTS_MAX];
  size_t bytes = sizeof i + i.run.n;
  for (size_t n = note_item_find_texts(&i, texts); n > 0; n--) {
    bytes += texts[n - 1]->n;
  }
  return bytes;
}

/* Copies the item, and the texts behind it. The run's is copied unless it is kept already. */
static note_item *note_item_new(const note_item *like, bool run_is_kept) {
  note_item *i = lt_mem_alloc(note_item_bytes(like));
  if (i == NULL) {
    return NULL;
  }
  lt_str *texts[NOTE_TEXTS_MAX + 1];
  char *to = i->bytes;
  *i = *like;
  size_t count = note_item_find_texts(i, texts);
  if (!run_is_kept) {
    texts[count++] = &i->run;
  }
  for (size_t n = 0; n < count; n++) {
    if (texts[n]->n > 0) {
      memcpy(to, texts[n]->p, texts[n]->n);
    }
    texts[n]->p = to;
    to += texts[n]->n;
  }
  if (i->what == NOTE_CALL_BEGIN) {
    i->begin.call.run = i->run;
  } else if (i->what == NOTE_CALL_END) {
    i->end.run = i->run;
  }
  return i;
}

static lt_status note_batch_add(note_batch *b, const note_item *like, lt_err *err) {
  note_item item = *like;
  bool run_is_kept = b->last != NULL && lt_str_eq(b->last->run, item.run);
  item.run = run_is_kept ? b->last->run : item.run;
  size_t bytes = note_item_bytes(&item);
  note_item *i = note_item_new(&item, run_is_kept);
  if (i == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a note of %zu bytes", bytes);
  }
  *(b->last != NULL ? &b->last->next : &b->first) = i;
  b->last = i;
  b->bytes += bytes;
  b->notes->queued_bytes += bytes;
  b->notes->effects[note_queue_effects_place(i->run)] += note_item_has_effect(i);
  return LT_OK;
}

/* Its first item is in it before it is posted: it may be written at once. */
static lt_status note_batch_begin(lt_note_queue *notes, const note_item *first, lt_err *err) {
  note_batch *b = lt_mem_zalloc(1, sizeof *b);
  if (b == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a note");
  }
  b->notes = notes;
  lt_status status = note_batch_add(b, first, err);
  if (status == LT_OK) {
    status = lt_db_post_job(notes->db, &b->post, LT_DB_LAZY, note_batch_write, b, note_batch_end, err);
  }
  if (status != LT_OK) {
    note_batch_count_out(b);
    note_batch_free(b);
    return status;
  }
  notes->batches++;
  notes->newest = b;
  return LT_OK;
}

static lt_status note_queue_add_item(lt_note_queue *notes, const note_item *item, lt_err *err) {
  if (notes->newest == NULL || !lt_db_post_hold(notes->db, &notes->newest->post)) {
    return note_batch_begin(notes, item, err);
  }
  lt_status status = note_batch_add(notes->newest, item, err);
  lt_db_post_let_go(notes->db);
  return status;
}

bool lt_note_queue_has_room(const lt_note_queue *notes, size_t bytes) {
  return bytes <= LT_NOTES_QUEUE_BYTES - notes->queued_bytes;
}

/* After an error the run is lost. */
static lt_status note_queue_add(lt_note_queue *notes, const note_item *like, lt_err *err) {
  lt_status status = lt_note_queue_check(notes, like->run, err);
  if (status == LT_OK && !lt_note_queue_has_room(notes, note_item_bytes(like))) {
    status = lt_fail(err, LT_E_LIMIT, "more than %lu MiB wait to be recorded: the disk is too slow for what runs",
                     LT_NOTES_QUEUE_BYTES / LT_MIB);
  }
  if (status == LT_OK) {
    status = note_queue_add_item(notes, like, err);
  }
  if (status != LT_OK) {
    note_queue_lose(notes, like->run);
  }
  return status;
}

void lt_note_queue_add(lt_note_queue *notes, lt_str run, const lt_note *note,
                       void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  LT_ERR_VAR(err);
  const note_item item = {.run = run, .what = NOTE_OF_RUN, .note = *note, .on_failure = on_failure, .arg = arg};
  if (note_queue_add(notes, &item, &err) != LT_OK && on_failure != NULL) {
    on_failure(arg, &err);
  }
}

lt_status lt_note_queue_add_begin(lt_note_queue *notes, const lt_call_begin *begin, lt_err *err) {
  return note_queue_add(notes, &(note_item){.run = begin->call.run, .what = NOTE_CALL_BEGIN, .begin = *begin}, err);
}

lt_status lt_note_queue_add_end(lt_note_queue *notes, const lt_call_end *end, lt_err *err) {
  return note_queue_add(notes, &(note_item){.run = end->run, .what = NOTE_CALL_END, .end = *end}, err);
}
