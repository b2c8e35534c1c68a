/* Cancels: lists of waits and of other cancels. */
#include "io/loop.h"

void lt_cancel_init(lt_cancel *cancel) {
  *cancel = (lt_cancel){.why = LT_OK};
}

static void cancel_notify(const lt_cancel_node *node, lt_status why) {
  if (node->wait != NULL) {
    lt_wait_wake(node->wait, why);
  } else if (node->child != NULL) {
    lt_cancel_fire(node->child, why);
  } else {
    node->fn(node->arg);
  }
}

/* `what` says what is registered. */
static void cancel_add_node(lt_cancel *cancel, lt_cancel_node *node, const lt_cancel_node *what) {
  *node = (lt_cancel_node){0};
  if (cancel == NULL) {
    return;
  }
  if (cancel->why != LT_OK) {
    cancel_notify(what, cancel->why);
    return;
  }
  *node = *what;
  node->next = cancel->head;
  if (cancel->head != NULL) {
    cancel->head->prev = node;
  }
  cancel->head = node;
}

void lt_cancel_add(lt_cancel *cancel, lt_cancel_node *node, lt_wait *wait) {
  cancel_add_node(cancel, node, &(lt_cancel_node){.wait = wait});
}

void lt_cancel_follow(lt_cancel *cancel, lt_cancel_node *node, lt_cancel *child) {
  cancel_add_node(cancel, node, &(lt_cancel_node){.child = child});
}

void lt_cancel_call(lt_cancel *cancel, lt_cancel_node *node, void (*fn)(void *arg), void *arg) {
  cancel_add_node(cancel, node, &(lt_cancel_node){.fn = fn, .arg = arg});
}

void lt_cancel_remove(lt_cancel *cancel, lt_cancel_node *node) {
  if (node->wait == NULL && node->child == NULL &&
      node->fn == NULL) { /* it is in no list: there is no cancel, or it has fired */
    return;
  }
  if (node->prev != NULL) {
    node->prev->next = node->next;
  } else {
    cancel->head = node->next;
  }
  if (node->next != NULL) {
    node->next->prev = node->prev;
  }
  *node = (lt_cancel_node){0};
}

void lt_cancel_fire(lt_cancel *cancel, lt_status why) {
  LT_CHECK(why != LT_OK);
  if (cancel->why != LT_OK) {
    return;
  }
  cancel->why = why;
  while (cancel->head != NULL) {
    lt_cancel_node *node = cancel->head;
    lt_cancel_node copy = *node;
    lt_cancel_remove(cancel, node);
    cancel_notify(&copy, why);
  }
}
