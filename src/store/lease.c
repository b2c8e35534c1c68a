/* Whose a running prompt is. */
#include "store/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/parts.h"
#include "store/prompts.h"
#include "store/sql.h"

/* --- Processes ---------------------------------------------------------------------------------------------------- */

/* The file's beginning, with a NUL; false: it cannot be read. */
static bool read_start(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  ssize_t n;
  do {
    n = read(fd, text, room - 1);
  } while (n < 0 && errno == EINTR);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

typedef struct process {
  bool known; /* /proc shows it */
  bool ended; /* nobody has waited for it yet */
  unsigned long long start_ticks;
} process;

/* proc(5), /proc/pid/stat: the second field is a name in parentheses with any bytes in it, the third the state, the
 * 22nd the start. */
static process look_at(long pid) {
  char path[64], text[1024];
  process p = {0};
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const char *at = read_start(path, text, sizeof text) ? strrchr(text, ')') : NULL;
  if (at == NULL || at[1] != ' ') {
    return p;
  }
  at += 2;
  p.ended = *at == 'Z' || *at == 'X';
  for (int field = 3; field < 22 && at != NULL; field++) {
    at = strchr(at, ' ');
    at = at != NULL ? at + 1 : NULL;
  }
  p.known = at != NULL;
  p.start_ticks = at != NULL ? strtoull(at, NULL, 10) : 0;
  return p;
}

static bool read_boot(char *boot, size_t room) {
  if (!read_start("/proc/sys/kernel/random/boot_id", boot, room)) {
    return false;
  }
  boot[strcspn(boot, "\n")] = '\0';
  return true;
}

static lt_status read_own(long pid, char ret_owner[LT_LEASE_BYTES], lt_err *err) {
  char boot[64];
  process self = look_at(pid);
  if (!self.known || !read_boot(boot, sizeof boot)) {
    return lt_fail(err, LT_E_IO, "what this process is cannot be read from /proc: it must be mounted");
  }
  snprintf(ret_owner, LT_LEASE_BYTES, "%ld %llu %s", pid, self.start_ticks, boot);
  return LT_OK;
}

/* It does not change, but in a child. */
lt_status lt_lease_own(char ret_owner[LT_LEASE_BYTES], lt_err *err) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char own[LT_LEASE_BYTES];
  static long own_pid = 0;
  long pid = (long)getpid();
  pthread_mutex_lock(&lock);
  lt_status status = own_pid == pid ? LT_OK : read_own(pid, own, err);
  own_pid = status == LT_OK ? pid : 0;
  memcpy(ret_owner, own, status == LT_OK ? sizeof own : 0);
  pthread_mutex_unlock(&lock);
  return status;
}

/* The parts of an owner's text; false: it is none. */
static bool parse(lt_str owner, long *ret_pid, unsigned long long *ret_ticks, char boot[64]) {
  char text[LT_LEASE_BYTES];
  if (owner.n >= sizeof text) {
    return false;
  }
  memcpy(text, owner.n > 0 ? owner.p : "", owner.n);
  text[owner.n] = '\0';
  return sscanf(text, "%ld %llu %63s", ret_pid, ret_ticks, boot) == 3 && *ret_pid > 0;
}

bool lt_lease_lives(lt_str owner) {
  long pid = 0;
  unsigned long long ticks = 0;
  char boot[64], now[64];
  if (!parse(owner, &pid, &ticks, boot) || !read_boot(now, sizeof now) || strcmp(boot, now) != 0) {
    return false;
  }
  process p = look_at(pid);
  if (p.known) {
    return !p.ended && p.start_ticks == ticks;
  }
  return kill((pid_t)pid, 0) == 0 || errno == EPERM; /* /proc may hide the processes of other users */
}

long lt_lease_pid(lt_str owner) {
  long pid = 0;
  unsigned long long ticks = 0;
  char boot[64];
  return parse(owner, &pid, &ticks, boot) ? pid : 0;
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */

typedef struct lease_job {
  lt_str id;
  lt_buf *out; /* orphans only */
  size_t start;
} lease_job;

static lt_status no_prompt(lt_str id, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "there is no prompt \"%.*s\"",
                 LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

/* Whether it can be taken: not when it has ended or lives elsewhere. */
static lt_status check_owner(struct sqlite3 *sql, lt_str id, lt_str own, lt_err *err) {
  lt_query query = lt_query_on(sql, "SELECT completed_at IS NOT NULL, owner, state FROM prompts WHERE id = ?");
  lt_query_text(&query, id);
  lt_status status = LT_OK;
  if (!lt_query_row(&query)) {
    LT_TRY(lt_query_end(&query, err));
    return no_prompt(id, err);
  }
  lt_str owner = lt_query_get(&query, 1);
  if (lt_query_get_int(&query, 0) != 0) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s has ended (%.*s)", LT_STR_ARG(id),
                     LT_STR_ARG(lt_query_get(&query, 2)));
  } else if (owner.n > 0 && !lt_str_eq(owner, own) && lt_lease_lives(owner)) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s runs in another process, %ld: wait for it, or end it",
                     LT_STR_ARG(id), lt_lease_pid(owner));
  }
  lt_status read = lt_query_end(&query, err);
  return read == LT_OK ? status : read;
}

static lt_status claim(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lease_job *job = arg;
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  LT_TRY(check_owner(sql, job->id, lt_str_of(own), err));
  lt_query query = lt_query_on(sql, "UPDATE prompts SET owner = ? WHERE id = ?");
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, job->id);
  return lt_query_run(&query, err);
}

static lt_status release(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lease_job *job = arg;
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  lt_query query = lt_query_on(sql, "UPDATE prompts SET owner = nullif(owner, ?) WHERE id = ?");
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, job->id);
  LT_TRY(lt_query_run(&query, err));
  return sqlite3_changes(sql) > 0 ? LT_OK : no_prompt(job->id, err);
}

static lt_status run_lease(lt_db *db, lt_db_work work, lt_str id, lt_err *err) LT_YIELDS {
  lease_job job = {.id = id};
  lt_str *texts[] = {&job.id};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, 1, &copy, err));
  lt_status status = lt_db_run(db, LT_DB_LAZY, work, &job, err);
  lt_mem_free(copy);
  return status;
}

lt_status lt_store_prompt_claim(lt_db *db, lt_str id, lt_err *err) {
  return run_lease(db, claim, id, err);
}

lt_status lt_store_prompt_release(lt_db *db, lt_str id, lt_err *err) {
  return run_lease(db, release, id, err);
}

/* What was last found out about an owner: most open prompts have the same. */
typedef struct verdict {
  char owner[LT_LEASE_BYTES];
  bool lives;
} verdict;

static bool lives(verdict *last, lt_str owner) {
  if (owner.n == 0 || owner.n >= sizeof last->owner) {
    return false;
  }
  if (!lt_str_eqc(owner, last->owner)) {
    memcpy(last->owner, owner.p, owner.n);
    last->owner[owner.n] = '\0';
    last->lives = lt_lease_lives(owner);
  }
  return last->lives;
}

static lt_status select_orphans(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lease_job *job = arg;
  verdict last = {.lives = false};
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql, "SELECT id, owner FROM prompts WHERE completed_at IS NULL ORDER BY number");
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!lives(&last, lt_query_get(&query, 1))) {
      lt_json_put_str(&w, lt_query_get(&query, 0));
    }
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_parts_check_out(job->out, err);
}

lt_status lt_store_prompt_orphans(lt_db *db, lt_buf *out, lt_err *err) {
  LT_TRY(lt_parts_check_out(out, err));
  lease_job job = {.out = out, .start = out->n};
  lt_status status = lt_db_run(db, LT_DB_READ, select_orphans, &job, err);
  if (status != LT_OK) {
    lt_parts_rewind(out, job.start);
  }
  return status;
}

static void put_orphan(lt_json_writer *w, const lt_query *query) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, lt_query_get(query, 1));
  lt_json_key(w, "conversationId");
  lt_json_put_str(w, lt_query_get(query, 2));
  lt_json_key(w, "state");
  lt_json_put_str(w, lt_query_get(query, 3));
  lt_json_end_object(w);
}

static lt_status select_orphans_of(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_read *job = arg;
  verdict last = {.lives = false};
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql,
                               "SELECT p.owner, p.id, c.id, p.state FROM prompts p JOIN conversations c"
                               " ON c.number = p.conversation WHERE p.completed_at IS NULL AND c.user = ?"
                               " AND ? IN ('', c.id) ORDER BY p.number");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!lives(&last, lt_query_get(&query, 0))) {
      put_orphan(&w, &query);
    }
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_parts_check_out(job->out, err);
}

lt_status lt_store_prompt_orphans_of(lt_db *db, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) {
  lt_read job = {.user = user, .id = conversation, .out = out};
  return lt_parts_read(db, select_orphans_of, &job, err);
}
