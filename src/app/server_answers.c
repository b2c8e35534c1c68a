#include "app/server_answers.h"

static lt_mcp_offers server_answers_offers(lt_responder *base, lt_str server) {
  const lt_server_answers *self = (const lt_server_answers *)(const void *)base;
  bool is_all = self->way_in == NULL && self->is_way_in_late;
  lt_mcp_offers offers = {.has_forms = is_all, .has_urls = is_all, .has_sampling = is_all, .has_roots = is_all};
  if (self->way_in != NULL) {
    offers = self->way_in->offers(self->way_in, server);
  }
  offers.has_sampling = offers.has_sampling || lt_sampling_allows(self->sampling, server);
  return offers;
}

/* The run may have ended when the answer is there. */
static lt_status server_answers_ask_model(lt_server_answers *self, const lt_server_question *question,
                                          lt_buf *ret_result, lt_err *err) LT_YIELDS {
  lt_usage usage;
  LT_AUTO_BUF(run, LT_JSON_MAX_BYTES);
  size_t slash = lt_str_find(question->run, LT_STR("/"), 0);
  lt_buf_add(&run, lt_str_sub(question->run, 0, slash < question->run.n ? slash : question->run.n));
  lt_status status = lt_sampling_answer(self->sampling, question, ret_result, &usage, err);
  if (self->on_usage != NULL) {
    self->on_usage(self->arg, lt_buf_view(&run), &usage);
  }
  return status;
}

static lt_status server_answers_answer(lt_responder *base, const lt_server_question *question, lt_buf *ret_result,
                                       lt_err *err) LT_YIELDS {
  lt_server_answers *self = (lt_server_answers *)(void *)base;
  if (question->kind == LT_MCP_ASK_SAMPLING && lt_sampling_allows(self->sampling, question->server)) {
    return server_answers_ask_model(self, question, ret_result, err);
  }
  if (self->way_in == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Method not found");
  }
  return self->way_in->answer(self->way_in, question, ret_result, err);
}

lt_status lt_server_answers_init(lt_server_answers *self, lt_loop *loop, lt_config *config, const lt_secrets *secrets,
                                 lt_responder *way_in, bool is_way_in_late, lt_err *err) {
  *self = (lt_server_answers){.base = {.offers = server_answers_offers, .answer = server_answers_answer},
                              .way_in = way_in,
                              .is_way_in_late = is_way_in_late,
                              .sampling = lt_sampling_new(loop, config, secrets)};
  return self->sampling != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

void lt_server_answers_release(lt_server_answers *self) {
  lt_sampling_free(self->sampling);
  self->sampling = NULL;
}
