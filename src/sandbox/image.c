#include "sandbox/image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/image_packing.h"
#include "sandbox/page_map.h"
#include "sandbox/program_file.h"
#include "sandbox/wasm_rt.h"

static lt_status image_write_all(int fd, const uint8_t *bytes, size_t n, lt_err *err) {
  while (n > 0) {
    ssize_t wrote = write(fd, bytes, n);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return lt_fail(err, LT_E_IO, "cannot write the engine's image to memory: %s", strerror(errno));
    }
    bytes += wrote;
    n -= (size_t)wrote;
  }
  return LT_OK;
}

static size_t image_stored_bytes(const lt_image_header *head) {
  return head->size - head->start;
}

/* Unpacks straight into the file. */
static lt_status image_fill_file(lt_image *image, lt_str packed, lt_str plain, lt_err *err) {
  size_t n = image_stored_bytes(&image->head);
  if (ftruncate(image->fd, (off_t)n) != 0) {
    return lt_fail(err, LT_E_IO, "cannot make the engine's image: %s", strerror(errno));
  }
  void *mapping = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, image->fd, 0);
  if (mapping == MAP_FAILED) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the engine's image");
  }
  image->mapping = mapping;
  image->bytes = mapping;
  LT_TRY(lt_image_unpack(packed, plain, mapping, n, err));
  mprotect(mapping, n, PROT_READ); /* a mistake of ours shall fault and not change what programs begin with */
  return LT_OK;
}

/* Maps an image from the program's file. False: it is packed, the program is a library, or pages are larger here. */
static bool image_use_program_file(lt_image *image, lt_str data) {
  const size_t header = sizeof image->head;
  if (image->head.packed != 0 || (uintptr_t)(data.p + header) % (size_t)sysconf(_SC_PAGESIZE) != 0) {
    return false;
  }
  image->fd = lt_program_file_open(data, header, &image->offset);
  image->offset += (off_t)header;
  image->bytes = (const uint8_t *)data.p + header;
  return image->fd >= 0;
}

static lt_status image_make_file(lt_image *image, lt_str stored, lt_str plain, lt_err *err) {
  image->offset = 0;
  image->fd = memfd_create("lathe-image", MFD_CLOEXEC);
  if (image->fd < 0) {
    return lt_fail(err, LT_E_IO, "memfd_create: %s", strerror(errno));
  }
  if (image->head.packed != 0) {
    return image_fill_file(image, stored, plain, err);
  }
  image->bytes = (const uint8_t *)stored.p;
  return image_write_all(image->fd, image->bytes, stored.n, err);
}

lt_status lt_image_open(lt_image *image, const lt_module *module, lt_str data, lt_str plain, lt_err *err) {
  *image = (lt_image){.module = module, .fd = -1, .page_map = -1};
  if (data.n < sizeof image->head) {
    return lt_fail(err, LT_E_INTERNAL, "the engine's image is too short");
  }
  memcpy(&image->head, data.p, sizeof image->head);
  size_t n = image_stored_bytes(&image->head);
  lt_str stored = lt_str_from(data.p + sizeof image->head, image->head.packed != 0 ? image->head.packed : n);
  if (image->head.magic != LT_IMAGE_MAGIC || data.n != sizeof image->head + stored.n) {
    return lt_fail(err, LT_E_INTERNAL, "the engine's image is not one");
  }
  size_t pages = n / LT_IMAGE_PAGE;
  image->hot = lt_mem_zalloc(1, sizeof *image->hot + pages);
  if (image->hot == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the engine's image");
  }
  image->instance = lt_wasm_rt_template(module);
  lt_status status = image_use_program_file(image, data) ? LT_OK : image_make_file(image, stored, plain, err);
  if (status != LT_OK) {
    lt_image_close(image);
    return status;
  }
  image->page_map = lt_page_map_open();
  return LT_OK;
}

void lt_image_close(lt_image *image) {
  if (image->mapping != NULL) {
    munmap(image->mapping, image_stored_bytes(&image->head));
  }
  if (image->fd >= 0) {
    close(image->fd);
  }
  if (image->page_map >= 0) {
    close(image->page_map);
  }
  lt_mem_free(image->hot);
  *image = (lt_image){.fd = -1, .page_map = -1};
}
