/* Which pages of private mappings are the process's own: the kernel says so in /proc/self/pagemap. The others are as
 * they were mapped, so that nobody needs to read them. */
#ifndef LT_SANDBOX_PAGE_MAP_H
#define LT_SANDBOX_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#define LT_PAGE_MAP_PAGES 256 /* looked at with one call */

/* A descriptor of this process's map; -1: the kernel does not tell, or not in pages of 4 KiB. A child of fork must not
 * use it. Owns: the caller, close. */
int lt_page_map_open(void);

/* Says of each of `count` pages, LT_PAGE_MAP_PAGES at most, whether it may differ from what was mapped there. Without a
 * map every page may. */
void lt_page_map_look(int map, const void *at, size_t count, bool *ret_owned);

#endif
