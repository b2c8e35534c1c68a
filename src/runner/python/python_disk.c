/* The disk space that a program uses in its private folder, and its locks. The kernel bounds each file, but not their
 * number. */
#include <errno.h>
#include <fts.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "runner/python/python_disk.h"
#include "runner/python/python_locks.h"
#include "runner/python/python_open_files.h"
#include "runner/python/python_run.h"
#include "runner/python/python_state.h"
#include "sandbox/workers.h"

#define BLOCK_BYTES   512 /* the unit of st_blocks */
#define SHARE_OF_TIME 10  /* measuring takes at most this part of the time (1/N) */

typedef struct disk_usage {
  char *folder;
  pid_t pid;
  uint64_t bytes;
  uint64_t files;
  bool is_full;   /* or a folder cannot be read */
  bool is_locked; /* too many locks */
} disk_usage;

static void python_disk_count(disk_usage *u, const FTSENT *entry) {
  switch (entry->fts_info) {
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
      u->is_full = u->is_full || (entry->fts_errno != ENOENT && entry->fts_errno != 0);
      return;
    case FTS_DP: /* the folder was counted before its entries */
      return;
    default:
      u->files++;
      u->bytes += (uint64_t)entry->fts_statp->st_blocks * BLOCK_BYTES;
  }
}

static void python_disk_measure_folder(disk_usage *u) {
  char *const folders[] = {u->folder, NULL};
  FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
  for (FTSENT *entry = walk != NULL ? fts_read(walk) : NULL; entry != NULL && !u->is_full; entry = fts_read(walk)) {
    python_disk_count(u, entry);
    u->is_full = u->is_full || u->bytes > LT_PYTHON_DISK_BYTES || u->files > LT_PYTHON_DISK_FILES;
  }
  if (walk != NULL) {
    fts_close(walk);
  }
  u->is_full = u->is_full || u->bytes + lt_python_open_files_bytes(u->pid, u->folder) > LT_PYTHON_DISK_BYTES;
}

static void python_disk_measure(void *arg) {
  disk_usage *u = arg;
  u->is_locked = lt_python_locks_are_too_many(u->pid);
  if (u->folder != NULL) {
    python_disk_measure_folder(u);
  }
}

uint64_t lt_python_disk_due_ms(const lt_python_run *run) {
  uint64_t now = lt_workers_now();
  if (run->stop_reason != LT_OK) {
    return UINT64_MAX;
  }
  return run->next_disk_check_ns > now ? (run->next_disk_check_ns - now) / LT_NS_PER_MS + 1 : 0;
}

bool lt_python_disk_check(lt_python_run *run) {
  disk_usage u = {.folder = run->child->workspace, .pid = run->child->pid};
  uint64_t began = lt_workers_now();
  if (lt_loop_offload(run->python->loop, python_disk_measure, &u, NULL) != LT_OK) {
    python_disk_measure(&u);
  }
  uint64_t now = lt_workers_now();
  uint64_t pause = SHARE_OF_TIME * (now - began);
  run->next_disk_check_ns = now + (pause > LT_PYTHON_DISK_MS * LT_NS_PER_MS ? pause : LT_PYTHON_DISK_MS * LT_NS_PER_MS);
  run->has_too_many_locks = u.is_locked;
  return !u.is_full && !u.is_locked;
}
