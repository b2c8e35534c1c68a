#include "sandbox/page_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
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
