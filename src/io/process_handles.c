/* A child's handles and its memory: it is freed when the last handle is closed. */
#include "base/mem.h"
#include "io/process_impl.h"

void lt_process_wake_closer(lt_process *process) {
  if (process->closer != NULL) {
    lt_wait_wake(process->closer, LT_OK);
  }
}

void lt_process_free(lt_process *p) {
  lt_loop_remove_object(p->loop);
  lt_lines_release(&p->lines);
  lt_mem_free(p);
}

void lt_process_handle_closed(uv_handle_t *handle) {
  lt_process *p = handle->data;
  p->handles--;
  if (p->orphan && p->handles == 0) {
    lt_process_free(p);
  } else {
    lt_process_wake_closer(p);
  }
}
