/* Plain mode: the model has no tools, and its one reply is the answer. */
#include "agent/modes/mode_table.h"
#include "agent/request_messages.h"

static lt_status plain_answer(lt_request_messages *messages, lt_completion *reply, lt_err *err) LT_YIELDS {
  LT_TRY(lt_request_messages_begin(messages, LT_STR_NULL, err));
  LT_TRY(lt_request_messages_ask(messages, LT_STR_NULL, true, reply, err));
  return lt_turn_text(messages->turn, lt_buf_view(&reply->text), err);
}

static lt_status plain_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  lt_request_messages messages;
  lt_completion reply;
  lt_request_messages_init(&messages, turn);
  lt_completion_init(&reply);
  lt_status status = plain_answer(&messages, &reply, err);
  lt_completion_release(&reply);
  lt_request_messages_release(&messages);
  return status;
}

const lt_mode lt_plain_mode = {
    .id = "plain",
    .name = "Plain (no tools)",
    .rounds = 1,
    .history = LT_HISTORY_CLASSIC,
    .run = plain_run,
};
