/* Requests: work that the loop does for a plugin's call. */
#include "plugin/plugin_request.h"

#include "plugin/host_state.h"

/* The last step: the request's memory may be gone afterwards. */
static void plugin_request_finish(lt_plugin_request *request) {
  lt_plugin_thread *t = &request->call->plugin->thread;
  if (request->waiter != NULL) {
    request->is_done = true;
    lt_wait_wake(request->waiter, LT_OK);
    return;
  }
  pthread_mutex_lock(&t->lock);
  request->is_done = true;
  pthread_cond_signal(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

static void plugin_request_begin_borrowing(const lt_plugin_request *request) {
  if (request->borrows) {
    request->call->borrower_count++;
    if (!request->call->has_hard_timeout) {
      lt_plugin_call_pause(request->call);
    }
  }
}

static void plugin_request_end_borrowing(const lt_plugin_request *request) {
  if (request->borrows) {
    if (!request->call->has_hard_timeout) {
      lt_plugin_call_resume(request->call);
    }
    request->call->borrower_count--;
    lt_wait_wake(&request->call->wait,
                 LT_OK); /* wakes the fiber that waits for the call: it checks the clock again, or returns */
  }
}

static void plugin_request_carry_out(void *arg) LT_YIELDS {
  lt_plugin_request *request = arg;
  lt_plugin *plugin = request->call->plugin;
  request->status = request->fn(request->call, request->arg, &request->err);
  plugin_request_end_borrowing(request);
  plugin->request_count--;
  if (plugin->is_closing) {
    lt_wait_wake(&plugin->thread.end_wait, LT_OK);
  }
  plugin_request_finish(request);
}

static lt_status plugin_request_check(lt_plugin_request *request) {
  if (request->call->plugin->is_closing) {
    return lt_fail(&request->err, LT_E_CLOSED, "Lathe is ending");
  }
  if (request->borrows && request->call->has_no_caller) {
    return lt_fail(&request->err, LT_E_CANCELLED, "nobody waits for this call any more");
  }
  return LT_OK;
}

static void plugin_request_begin(void *arg) LT_YIELDS {
  lt_plugin_request *request = arg;
  request->status = plugin_request_check(request);
  if (request->status != LT_OK) {
    plugin_request_finish(request);
    return;
  }
  request->call->plugin->request_count++;
  plugin_request_begin_borrowing(request);
  if (request->at_once) {
    plugin_request_carry_out(request);
    return;
  }
  request->status =
      lt_loop_spawn(request->call->plugin->host->options.loop, plugin_request_carry_out, request, &request->err);
  if (request->status != LT_OK) {
    plugin_request_end_borrowing(request);
    request->call->plugin->request_count--;
    plugin_request_finish(request);
  }
}

static void plugin_request_from_thread(lt_plugin_request *request) {
  lt_plugin_thread *t = &request->call->plugin->thread;
  /* no LT_YIELDS: it yields only for lt_plugin_request.at_once, whose functions do not */
  request->post = (lt_post){.fn = plugin_request_begin, .arg = request};
  pthread_mutex_lock(&t->lock);
  if (t->loop != NULL) {
    lt_loop_post(t->loop, &request->post);
    while (!request->is_done) {
      pthread_cond_wait(&t->changed, &t->lock);
    }
  } else {
    request->status = lt_fail(&request->err, LT_E_CLOSED, "Lathe has ended");
  }
  pthread_mutex_unlock(&t->lock);
}

/* A request that calls others gets its own fiber: it needs a stack, and the plugins that it calls may be on the loop,
 * too. */
static void plugin_request_from_loop(lt_plugin_request *request) LT_YIELDS {
  lt_wait wait;
  lt_wait_init(&wait, request->call->plugin->host->options.loop);
  request->waiter = &wait;
  request->at_once = request->at_once || !request->borrows;
  plugin_request_begin(request);
  while (!request->is_done) {
    lt_wait_on(&wait, UINT64_MAX);
  }
}

int lt_plugin_request_run(lathe_call *call, lt_plugin_request *request) {
  request->call = call;
  if (lt_plugin_on_loop(call->plugin)) {
    plugin_request_from_loop(request);
  } else {
    plugin_request_from_thread(request);
  }
  return request->status == LT_OK ? 0 : lt_plugin_call_set_err(call, &request->err);
}
