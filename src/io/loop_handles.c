#include "io/loop_handles.h"

#include "io/loop_impl.h"

uv_loop_t *lt_loop_uv(lt_loop *loop) {
  return &loop->uv;
}

void lt_loop_add_object(lt_loop *loop) {
  loop->objects++;
}

void lt_loop_remove_object(lt_loop *loop) {
  LT_CHECK(loop->objects > 0);
  loop->objects--;
}

lt_status lt_loop_status(int uv_code) {
  switch (uv_code) {
    case 0:
      return LT_OK;
    case UV_ENOMEM:
      return LT_E_NOMEM;
    case UV_ENOENT:
      return LT_E_NOTFOUND;
    case UV_EACCES:
    case UV_EPERM:
      return LT_E_DENIED;
    case UV_EPIPE:
    case UV_ECONNRESET:
    case UV_ECANCELED:
    case UV_EOF:
      return LT_E_CLOSED;
    default:
      return LT_E_IO;
  }
}
