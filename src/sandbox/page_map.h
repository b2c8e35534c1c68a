/* Which pages of private mappings are the process's own: the kernel says so in /proc/self/pagemap. The others are as
 * they were mapped, so that nobody needs to read them. */
#ifndef LT_SANDBOX_PAGE_MAP_H
#define LT_SANDBOX_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LT_PAGE_MAP_PAGES \
  512 /* looked at with one call: 4 KiB of the map; the plain image has 400 pages with its stack */

/* A descriptor of this process's map; -1: the kernel does not tell, or not in pages of 4 KiB. A child of fork must not
 * use it. Owns: the caller, close. */
int lt_page_map_open(void);

/* Finds those of `count` pages, LT_PAGE_MAP_PAGES at most, that may differ from what was mapped there: their indexes,
 * in order, in ret_owned, which has room for all. Without a map every page may. Returns how many. */
size_t lt_page_map_look(int map, const void *at, size_t count, uint16_t *ret_owned);

/* The same pages again and again, for less: a page becomes the process's own in a page fault, and the system counts the
 * faults of each thread. So what was found stays true while one thread uses the pages and has no fault. A look costs 5
 * us, the count 0.3. All zero is a watch that knows nothing. The caller sees that no two threads use it at once. */
typedef struct lt_page_watch {
  uint64_t thread; /* number of the thread that has entered; 0: none */
  uint64_t faults; /* of that thread: as it had counted last when it entered, or at the last look */
  bool is_known;   /* `owned` was true at the last look, and has been up to `faults` of `thread` */
  uint16_t count;
  uint16_t owned[LT_PAGE_MAP_PAGES];
} lt_page_watch;

/* This thread uses the pages from now on: to be called before it writes to one. */
void lt_page_watch_enter(lt_page_watch *watch);
/* Nobody uses them any more; what is written to them from now on are pages of their own. */
void lt_page_watch_leave(lt_page_watch *watch);
/* What was found does not count any more: faults may have been passed by. */
void lt_page_watch_forget(lt_page_watch *watch);
/* Between these two calls this thread's page faults do not count, so it must not touch the watched pages. */
void lt_page_watch_pause(lt_page_watch *watch);
void lt_page_watch_go_on(lt_page_watch *watch);
/* lt_page_map_look of always the same pages. */
size_t lt_page_watch_look(lt_page_watch *watch, int map, const void *at, size_t count, uint16_t *ret_owned);

#endif
