/* Which pages of private mappings are the process's own: the kernel says so in /proc/self/pagemap. The others are as
 * they were mapped, so that nobody needs to read them. */
#ifndef LT_SANDBOX_PAGE_MAP_H
#define LT_SANDBOX_PAGE_MAP_H

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

#endif
