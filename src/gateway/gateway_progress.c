#include "gateway/gateway_progress.h"

#include "base/limits.h"

void lt_gateway_progress_enter(lt_gateway_await *await) {
  lt_gateway *gateway = await->request->gateway;
  await->next = gateway->awaits;
  gateway->awaits = await;
}

void lt_gateway_progress_leave(lt_gateway_await *await) {
  lt_gateway_await **at = &await->request->gateway->awaits;
  while (*at != await) {
    at = &(*at)->next;
  }
  *at = await->next;
}

bool lt_gateway_progress_is_awaited(const lt_gateway *gateway, const lt_gateway_request *request) {
  const lt_gateway_await *await = gateway->awaits;
  while (await != NULL && await->request != request) {
    await = await->next;
  }
  return await != NULL;
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
/* "The progress value MUST increase with each notification" (2025-11-25, Progress): of a program its events count. */
static void gateway_progress_send(lt_gateway_await *await, double progress, double total, lt_str message) {
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&params);
  lt_json_begin_object(&w);
  lt_json_key(&w, "progressToken");
  lt_json_put_raw(&w, lt_json_text(await->request->progress_token));
  lt_json_key(&w, "progress");
  lt_json_put_double(&w, progress);
  if (total > 0) {
    lt_json_key(&w, "total");
    lt_json_put_double(&w, total);
  }
  if (message.n > 0) {
    lt_json_key(&w, "message");
    lt_json_put_str(&w, message);
  }
  lt_json_end_object(&w);
  if (params.status == LT_OK) {
    lt_gateway_request_notify(await->request, "notifications/progress", lt_buf_view(&params));
  }
}

static void gateway_progress_put_words(const lt_call_event *event, lt_buf *out) {
  lt_buf_add(out, event->tool);
  switch (event->stage) {
    case LT_CALL_STARTED:
      break;
    case LT_CALL_ASKED:
      lt_buf_addc(out, " waits for approval");
      break;
    case LT_CALL_PROGRESS:
      lt_buf_printf(out, ": %g", event->progress);
      if (event->progress_total > 0) {
        lt_buf_printf(out, " of %g", event->progress_total);
      }
      lt_buf_addc(out, event->answer.n > 0 ? " " : "");
      lt_buf_add(out, event->answer);
      break;
    case LT_CALL_FINISHED:
      lt_buf_addc(out, event->status == LT_OK ? ": done" : ": failed");
      break;
  }
}

static void gateway_progress_tell(lt_gateway_await *await, const lt_call_event *event) {
  LT_AUTO_BUF(words, LT_MIB);
  if (await->request->is_direct && event->stage == LT_CALL_PROGRESS) {
    gateway_progress_send(await, event->progress, event->progress_total, event->answer);
  } else if (!await->request->is_direct) {
    gateway_progress_put_words(event, &words);
    gateway_progress_send(await, ++await->sent, 0, lt_buf_view(&words));
  }
}

void lt_gateway_progress_take_call(const lt_gateway *gateway, lt_str run, const lt_call_event *event) {
  for (lt_gateway_await *await = gateway->awaits; await != NULL; await = await->next) {
    if (lt_json_exists(await->request->progress_token) && lt_str_eq(await->run, run)) {
      gateway_progress_tell(await, event);
    }
  }
}
