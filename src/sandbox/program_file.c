#include "sandbox/program_file.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { CHECKED_MAX = 256 };

typedef struct place {
  uintptr_t at;
  size_t n;
  off_t offset;
  bool found;
} place;

/* Called for the program first (dl_iterate_phdr(3)); a return that is not 0 leaves its libraries out. */
static int program_file_find(struct dl_phdr_info *object, size_t size, void *arg) {
  place *p = arg;
  (void)size;
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && p->at >= from && p->at - from + p->n <= part->p_filesz) {
      p->offset = (off_t)(part->p_offset + (p->at - from));
      p->found = true;
    }
  }
  return 1;
}

/* An emulator or a debugger may have started the program, and be what the link names. */
static bool program_file_has(int fd, lt_str data, size_t checked, off_t offset) {
  char bytes[CHECKED_MAX];
  LT_CHECK(checked <= sizeof bytes && checked <= data.n);
  return pread(fd, bytes, checked, offset) == (ssize_t)checked && memcmp(bytes, data.p, checked) == 0;
}

int lt_program_file_open(lt_str data, size_t checked, off_t *ret_offset) {
  place p = {.at = (uintptr_t)data.p, .n = data.n};
  dl_iterate_phdr(program_file_find, &p);
  int fd = p.found ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0 && !program_file_has(fd, data, checked, p.offset)) {
    close(fd);
    fd = -1;
  }
  *ret_offset = p.offset;
  return fd;
}
