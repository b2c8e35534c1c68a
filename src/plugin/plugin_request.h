/* What a host function has the loop do for a plugin's call.
 *
 * From a plugin's thread the request is posted to the loop, which carries it out, on a fiber where it may yield; the
 * thread sleeps until then. From a plugin on the loop it is carried out right there, or on a fiber of its own where it
 * calls others.
 */
#ifndef LT_PLUGIN_PLUGIN_REQUEST_H
#define LT_PLUGIN_PLUGIN_REQUEST_H

#include "plugin/plugin_call.h"

typedef struct lt_plugin_request {
  lt_status (*fn)(lathe_call *call, void *arg, lt_err *err) LT_YIELDS;
  void *arg;
  bool at_once; /* `fn` does not yield: no fiber is needed */
  bool borrows; /* it uses the call's caller and options: a fiber must still wait for the call */
  /* plugin_request.c's */
  lathe_call *call;
  lt_post post;
  lt_wait *waiter; /* a fiber's; NULL: the plugin's thread waits */
  bool is_done;    /* under the thread's lock when the thread waits */
  lt_status status;
  lt_err err;
} lt_plugin_request;

/* Has the loop carry out the request and waits until it has. 0, or -1 with the call's error set. LT_YIELDS. */
int lt_plugin_request_run(lathe_call *call, lt_plugin_request *request) LT_YIELDS;

#endif
