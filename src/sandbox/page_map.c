#include "sandbox/page_map.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "sandbox/image.h"

/* Linux, Documentation/admin-guide/mm/pagemap.rst: 64 bits for each page. */
#define MAP_PRESENT (UINT64_C(1) << 63)
#define MAP_SWAPPED (UINT64_C(1) << 62)
#define MAP_OF_FILE (UINT64_C(1) << 61) /* a page of a file, or shared: not copied so far */

int lt_page_map_open(void) {
  return sysconf(_SC_PAGESIZE) == LT_IMAGE_PAGE ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
}

static bool page_map_is_owned(uint64_t entry) {
  return (entry & (MAP_PRESENT | MAP_SWAPPED)) != 0 && (entry & MAP_OF_FILE) == 0;
}

size_t lt_page_map_look(int map, const void *at, size_t count, uint16_t *ret_owned) {
  uint64_t entries[LT_PAGE_MAP_PAGES];
  size_t bytes = count * sizeof entries[0], found = 0;
  LT_CHECK(count <= LT_PAGE_MAP_PAGES);
  off_t from = (off_t)((uintptr_t)at / LT_IMAGE_PAGE * sizeof entries[0]);
  bool is_known = map >= 0 && pread(map, entries, bytes, from) == (ssize_t)bytes;
  for (size_t i = 0; i < count; i++) {
    if (!is_known || page_map_is_owned(entries[i])) {
      ret_owned[found++] = (uint16_t)i;
    }
  }
  return found;
}

/* --- Watching ----------------------------------------------------------------------------------------------------- */
/* As this thread has counted last. */
static _Thread_local uint64_t page_watch_counted;

static uint64_t page_watch_faults(void) {
  struct rusage usage = {.ru_minflt = 0};
  (void)getrusage(RUSAGE_THREAD, &usage);
  page_watch_counted = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
  return page_watch_counted;
}

/* Not the thread's address or number, which another thread may have later. */
static uint64_t page_watch_thread(void) {
  static _Atomic uint64_t last;
  static _Thread_local uint64_t number;
  if (number == 0) {
    number = atomic_fetch_add(&last, 1) + 1;
  }
  return number;
}

static bool page_watch_counts;

/* Whether faults are counted: not every system that calls itself Linux does. */
static void page_watch_try(void) {
  uint64_t before = page_watch_faults();
  char *page = mmap(NULL, LT_IMAGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    *(volatile char *)page = 1;
    page_watch_counts = page_watch_faults() > before;
    munmap(page, LT_IMAGE_PAGE);
  }
}

void lt_page_watch_enter(lt_page_watch *watch) {
  uint64_t thread = page_watch_thread();
  if (watch->thread == thread) {
    return;
  }
  watch->is_known = watch->is_known && watch->thread == 0;
  watch->thread = thread;
  /* There may be more by now, never fewer. So when the count is the same at the look, there was no fault in between. */
  watch->faults = page_watch_counted;
}

void lt_page_watch_leave(lt_page_watch *watch) {
  watch->thread = 0;
}

void lt_page_watch_forget(lt_page_watch *watch) {
  watch->is_known = false;
}

void lt_page_watch_pause(lt_page_watch *watch) {
  watch->faults -= page_watch_faults();
}

void lt_page_watch_go_on(lt_page_watch *watch) {
  watch->faults += page_watch_faults();
}

size_t lt_page_watch_look(lt_page_watch *watch, int map, const void *at, size_t count, uint16_t *ret_owned) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, page_watch_try);
  uint64_t faults = page_watch_faults();
  bool is_still = watch->is_known && watch->thread == page_watch_thread() && watch->faults == faults;
  if (!is_still) {
    watch->count = (uint16_t)lt_page_map_look(map, at, count, watch->owned);
    watch->faults = faults;
    watch->is_known = page_watch_counts && watch->thread == page_watch_thread();
  }
  memcpy(ret_owned, watch->owned, watch->count * sizeof *ret_owned);
  return watch->count;
}
