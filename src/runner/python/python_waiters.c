/* Lists of fibers that wait in turn. */
#include "runner/python/python_waiters.h"

static void python_waiters_append(lt_python_waiter **list, lt_python_waiter *waiter) {
  while (*list != NULL) {
    list = &(*list)->next;
  }
  *list = waiter;
}

static void python_waiters_unlink(lt_python_waiter **list, const lt_python_waiter *waiter) {
  while (*list != NULL && *list != waiter) {
    list = &(*list)->next;
  }
  if (*list != NULL) {
    *list = waiter->next;
  }
}

lt_status lt_python_waiters_wait(lt_python_waiter **list, lt_loop *loop, lt_cancel *cancel) {
  lt_python_waiter waiter = {.next = NULL};
  lt_cancel_node node;
  lt_wait_init(&waiter.wait, loop);
  python_waiters_append(list, &waiter);
  lt_cancel_add(cancel, &node, &waiter.wait);
  lt_status status = lt_wait_on(&waiter.wait, UINT64_MAX);
  lt_cancel_remove(cancel, &node);
  if (waiter.is_woken) {
    return LT_OK;
  }
  python_waiters_unlink(list, &waiter);
  return status;
}

void lt_python_waiters_wake_first(lt_python_waiter **list) {
  lt_python_waiter *waiter = *list;
  if (waiter != NULL) {
    *list = waiter->next;
    waiter->is_woken = true;
    lt_wait_wake(&waiter->wait, LT_OK);
  }
}

void lt_python_waiters_wake_all(lt_python_waiter **list) {
  while (*list != NULL) {
    lt_python_waiters_wake_first(list);
  }
}
