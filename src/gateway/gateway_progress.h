/* Progress of runs for the clients that wait for them: it keeps clients' timers alive. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_PROGRESS_H
#define LT_GATEWAY_GATEWAY_PROGRESS_H

#include "gateway/gateway_request.h"

/* A request that waits for a run; in the frame of its fiber. */
typedef struct lt_gateway_await {
  struct lt_gateway_await *next;
  lt_gateway_request *request;
  lt_str run;
  uint32_t sent; /* notifications of ours */
} lt_gateway_await;

/* From now on the request hears of the run. Borrows: the await and its run, until lt_gateway_progress_leave. */
void lt_gateway_progress_enter(lt_gateway_await *await);
void lt_gateway_progress_leave(lt_gateway_await *await);
/* Whether the request waits for a run. */
bool lt_gateway_progress_is_awaited(const lt_gateway *gateway, const lt_gateway_request *request);
/* Takes an event of a call (lt_agent_options.on_call). */
void lt_gateway_progress_take_call(const lt_gateway *gateway, lt_str run, const lt_call_event *event);

#endif
