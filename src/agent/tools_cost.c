#include "agent/agent_state.h"
#include "agent/modes/mode_table.h"
#include "text/tokens.h"

static lt_status tools_cost_put(const lt_agent *agent, const lt_mode *mode, lt_catalog *all, lt_buf *out, lt_err *err) {
  lt_catalog *catalog = NULL;
  if (mode->for_programs) {
    LT_TRY(lt_catalog_for_programs(all, &catalog, err));
  }
  lt_status status = mode->put_tools(agent, catalog != NULL ? catalog : all, out, err);
  lt_catalog_unref(catalog);
  return status;
}

lt_status lt_agent_tools_tokens(const lt_agent *agent, lt_str id, size_t *ret_tokens, lt_err *err) {
  lt_mode mode;
  lt_catalog *all = NULL;
  LT_AUTO_BUF(text, LT_PROMPT_MESSAGES_BYTES);
  *ret_tokens = 0;
  if (!lt_mode_find(agent->options.host, id, &mode) || mode.put_tools == NULL) {
    return LT_OK;
  }
  LT_TRY(lt_door_catalog(agent->options.door, &all, err));
  lt_status status = tools_cost_put(agent, &mode, all, &text, err);
  *ret_tokens = lt_tokens_estimate(lt_buf_view(&text));
  lt_catalog_unref(all);
  return status;
}
