#include "replay/replay_observer.h"

static lt_status none_on_reply(lt_replay_observer *self, uint64_t number, bool is_same, lt_err *err) {
  (void)self, (void)number, (void)is_same, (void)err;
  return LT_OK;
}

static lt_status none_on_words(lt_replay_observer *self, const char *words, lt_err *err) {
  (void)self, (void)words, (void)err;
  return LT_OK;
}

static lt_status none_on_text(lt_replay_observer *self, const lt_replay_output *stored, lt_str text, lt_err *err) {
  (void)self, (void)stored, (void)text, (void)err;
  return LT_OK;
}

static lt_status none_on_call(lt_replay_observer *self, const lt_replay_output *stored, lt_str function, lt_str input,
                              lt_err *err) {
  (void)self, (void)stored, (void)function, (void)input, (void)err;
  return LT_OK;
}

static lt_status none_on_result(lt_replay_observer *self, const lt_replay_output *stored, lt_status status,
                                lt_str answer, lt_err *err) {
  (void)self, (void)stored, (void)status, (void)answer, (void)err;
  return LT_OK;
}

static void none_on_divergence(lt_replay_observer *self, uint64_t replies, lt_buf *reason) {
  (void)self, (void)replies, (void)reason;
}

lt_replay_observer lt_replay_observer_none = {.on_reply = none_on_reply,
                                              .on_record_end = none_on_words,
                                              .on_text = none_on_text,
                                              .on_call = none_on_call,
                                              .on_result = none_on_result,
                                              .on_end = none_on_words,
                                              .on_divergence = none_on_divergence};
