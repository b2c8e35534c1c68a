/* What libuv's error codes mean here. */
#include "io/loop_impl.h"

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
