/* How much a program has written into its folder: the kernel bounds each file, nobody bounds their number. */
#include <errno.h>
#include <fts.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "runner/python/python_disk.h"
#include "runner/python/python_open_files.h"
#include "runner/python/python_run.h"
#include "runner/python/python_state.h"
#include "sandbox/workers.h"

#define BLOCK_BYTES   512 /* st_blocks' unit */
#define NS_PER_MS     1000000
#define SHARE_OF_TIME 10 /* looking may take this part of the time */

typedef struct usage {
  char *folder;
  pid_t pid;
  uint64_t bytes;
  uint64_t files;
  bool full; /* or it cannot be told */
} usage;

static void python_disk_count(usage *u, const FTSENT *entry) {
  switch (entry->fts_info) {
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
      u->full = u->full || (entry->fts_errno != ENOENT && entry->fts_errno != 0);
      return;
    case FTS_DP: /* it was counted on the way in */
      return;
    default:
      u->files++;
      u->bytes += (uint64_t)entry->fts_statp->st_blocks * BLOCK_BYTES;
  }
}

static void python_disk_measure(void *arg) {
  usage *u = arg;
  char *const folders[] = {u->folder, NULL};
  FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
  for (FTSENT *entry = walk != NULL ? fts_read(walk) : NULL; entry != NULL && !u->full; entry = fts_read(walk)) {
    python_disk_count(u, entry);
    u->full = u->full || u->bytes > LT_PYTHON_DISK_BYTES || u->files > LT_PYTHON_DISK_FILES;
  }
  if (walk != NULL) {
    fts_close(walk);
  }
  u->full = u->full || u->bytes + lt_python_held(u->pid, u->folder) > LT_PYTHON_DISK_BYTES;
}

uint64_t lt_python_run_disk_ms(const lt_python_run *run) {
  uint64_t now = lt_workers_now();
  if (run->child->workspace == NULL || run->stopped != LT_OK) {
    return UINT64_MAX;
  }
  return run->look_ns > now ? (run->look_ns - now) / NS_PER_MS + 1 : 0;
}

void lt_python_run_look_at_disk(lt_python_run *run) {
  usage u = {.folder = run->child->workspace, .pid = run->child->pid};
  uint64_t began = lt_workers_now();
  if (lt_loop_offload(run->python->loop, python_disk_measure, &u, NULL) != LT_OK) {
    python_disk_measure(&u);
  }
  uint64_t now = lt_workers_now();
  uint64_t pause = SHARE_OF_TIME * (now - began);
  run->look_ns = now + (pause > LT_PYTHON_DISK_MS * NS_PER_MS ? pause : LT_PYTHON_DISK_MS * NS_PER_MS);
  if (u.full && !run->child->exited && !run->done) {
    lt_python_run_stop(run, LT_E_LIMIT);
  }
}
