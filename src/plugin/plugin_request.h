/* A request: work that the loop does for a plugin's call.
 *
 * A plugin's thread posts the request to the loop and sleeps until it is done; a request that may yield runs on a
 * fiber. A plugin on the loop runs the request directly, or on a new fiber when the request calls other plugins.
 */
#ifndef LT_PLUGIN_PLUGIN_REQUEST_H
#define LT_PLUGIN_PLUGIN_REQUEST_H

#include "plugin/plugin_call.h"

typedef struct lt_plugin_request {
  lt_status (*fn)(lathe_call *call, void *arg, lt_err *err) LT_YIELDS;
  void *arg;
  bool at_once; /* `fn` does not yield: no fiber is needed */
  bool borrows; /* it uses the call's caller and options, so a fiber must still wait for the call */
  /* Used by plugin_request.c only. */
  lathe_call *call;
  lt_post post;
  lt_wait *waiter; /* the waiting fiber's; NULL: the plugin's thread waits */
  bool is_done;    /* under the thread's lock when the thread waits */
  lt_status status;
  lt_err err;
} lt_plugin_request;

/* Runs the request on the loop and waits for its end. 0, or -1 with the call's error set. LT_YIELDS. */
int lt_plugin_request_run(lathe_call *call, lt_plugin_request *request) LT_YIELDS;

#endif
