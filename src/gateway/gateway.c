#include "gateway/gateway.h"

#include "app/agent_options.h"
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/gateway_asking.h"
#include "gateway/gateway_notices.h"
#include "gateway/gateway_progress.h"
#include "gateway/gateway_request.h"
#include "gateway/gateway_state.h"

/* --- Opening ------------------------------------------------------------------------------------------------------ */
void lt_gateway_take_event(lt_gateway *gateway, lt_str user, const char *event, lt_str data) {
  lt_gateway_asking_take_event(gateway->asking, user, event, data); /* answers are read from the store */
}

static void gateway_on_event(void *arg, lt_str user, const char *event, lt_str data) {
  lt_gateway_take_event(arg, user, event, data);
}

static void gateway_on_usage(void *arg, lt_str run, const lt_usage *usage) {
  const lt_gateway *gateway = arg;
  lt_agent_count_usage(gateway->agent, run, usage);
}

void lt_gateway_take_call(lt_gateway *gateway, lt_str run, const lt_call_event *event) {
  lt_gateway_progress_take_call(gateway, run, event);
}

static void gateway_on_call(void *arg, lt_str run, const lt_call_event *event) {
  lt_gateway_take_call(arg, run, event);
}

static lt_status gateway_open_agent(lt_gateway *gateway, lt_err *err) {
  lt_session *session = gateway->session;
  lt_agent_options options = lt_agent_options_of(session, &gateway->models, &gateway->modules);
  options.http = gateway->http;
  options.journal = lt_masked_records_journal(&gateway->masked_journal, gateway->journal, session->secrets);
  options.policy = lt_toolbox_policy(session->toolbox);
  options.leave_open = true;
  options.on_event = gateway_on_event;
  options.on_call = gateway_on_call;
  options.arg = gateway;
  LT_TRY(lt_agent_new(&options, &gateway->agent, err));
  gateway->has_own_agent = true;
  return LT_OK;
}

static lt_status gateway_open_parts(lt_gateway *gateway, lt_err *err) {
  lt_session *session = gateway->session;
  LT_TRY(lt_models_fill(&session->config, &gateway->models, err));
  LT_TRY(lt_modules_load(session, &gateway->modules, err));
  LT_TRY(lt_http_new(session->loop, &gateway->http, err));
  gateway->journal = lt_store_journal_new(lt_toolbox_db(session->toolbox));
  if (gateway->journal == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  gateway->asking = lt_gateway_asking_new(gateway);
  if (gateway->asking == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  session->answers.on_usage = gateway_on_usage;
  session->answers.arg = gateway;
  return gateway->agent != NULL ? LT_OK : gateway_open_agent(gateway, err);
}

lt_status lt_gateway_open(lt_session *session, lt_agent *agent, lt_gateway **ret_gateway, lt_err *err) {
  lt_gateway *gateway = lt_mem_zalloc(1, sizeof *gateway);
  if (gateway == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  gateway->session = session;
  gateway->agent = agent;
  lt_cancel_init(&gateway->closing);
  lt_wait_init(&gateway->answered, session->loop);
  lt_status status = gateway_open_parts(gateway, err);
  if (status != LT_OK) {
    lt_gateway_close(gateway);
    return status;
  }
  lt_gateway_notices_open(gateway);
  *ret_gateway = gateway;
  return LT_OK;
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
void lt_gateway_drain(lt_gateway *gateway) {
  uint64_t begin = lt_clock_monotonic_ms(), wait_ms = (uint64_t)gateway->session->config.mcp_wait_ms, gone_ms = 0;
  lt_cancel_node node;
  lt_cancel_add(&gateway->session->cancel, &node, &gateway->answered);
  while (gateway->requests > 0 && gone_ms < wait_ms && gateway->session->cancel.why == LT_OK) {
    lt_wait_on(&gateway->answered, wait_ms - gone_ms);
    gone_ms = lt_clock_monotonic_ms() - begin;
  }
  lt_cancel_remove(&gateway->session->cancel, &node);
}

void lt_gateway_finish(lt_gateway *gateway) {
  lt_cancel_fire(&gateway->closing, LT_E_CANCELLED);
  while (gateway->requests > 0) {
    lt_wait_on(&gateway->answered, UINT64_MAX);
  }
}

void lt_gateway_close(lt_gateway *gateway) {
  if (gateway == NULL) {
    return;
  }
  lt_gateway_finish(gateway);
  lt_gateway_notices_close(gateway);
  gateway->session->answers.on_usage = NULL;
  if (gateway->has_own_agent) {
    lt_agent_free(gateway->agent);
  }
  lt_gateway_asking_close(gateway->asking);
  lt_store_journal_free(gateway->journal);
  lt_http_free(gateway->http);
  lt_modules_release(&gateway->modules);
  lt_mem_free(gateway);
}
