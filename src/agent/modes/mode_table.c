#include "agent/modes/mode_table.h"

#include "agent/agent_state.h"
#include "agent/modes/plugin_mode.h"
#include "base/limits.h"

#define MODE_TABLE_ROW(id, help, kind) &lt_##id##_mode,
const lt_mode *const lt_mode_table[] = {LT_MODES(MODE_TABLE_ROW)};
const size_t lt_mode_count = sizeof lt_mode_table / sizeof lt_mode_table[0];

static lt_mode mode_of_plugin(const lt_host_mode *mode) {
  return (lt_mode){.id = mode->id.p,
                   .name = mode->name.p,
                   .rounds = mode->rounds > 0 ? mode->rounds : LT_ROUNDS_CLASSIC,
                   .history = LT_HISTORY_CLASSIC,
                   .run = lt_plugin_mode_run};
}

/* Merges two sorted lists. */
bool lt_mode_at(const lt_host *host, size_t at, lt_mode *ret_mode) {
  size_t plugin_count = 0, built_in = 0, of_plugins = 0;
  const lt_host_mode *plugin_modes = host != NULL ? lt_host_modes(host, &plugin_count) : NULL;
  for (size_t i = 0; built_in < lt_mode_count || of_plugins < plugin_count; i++) {
    bool is_built_in = of_plugins == plugin_count ||
                       (built_in < lt_mode_count &&
                        lt_str_cmp(lt_str_of(lt_mode_table[built_in]->id), plugin_modes[of_plugins].id) < 0);
    if (i == at) {
      *ret_mode = is_built_in ? *lt_mode_table[built_in] : mode_of_plugin(&plugin_modes[of_plugins]);
      return true;
    }
    built_in += is_built_in;
    of_plugins += !is_built_in;
  }
  return false;
}

bool lt_mode_find(const lt_host *host, lt_str id, lt_mode *ret_mode) {
  lt_mode mode;
  for (size_t i = 0; lt_mode_at(host, i, &mode); i++) {
    if (lt_str_eqc(id, mode.id)) {
      *ret_mode = mode;
      return true;
    }
  }
  return false;
}

bool lt_agent_is_built_in_mode(lt_str id) {
  lt_mode mode;
  return lt_mode_find(NULL, id, &mode);
}

void lt_agent_modes(const lt_agent *agent, lt_buf *out) {
  lt_mode mode;
  lt_str usual = lt_agent_default_mode(agent);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; lt_mode_at(agent->options.host, i, &mode); i++) {
    lt_json_begin_object(&w);
    lt_json_key(&w, "id");
    lt_json_put_cstr(&w, mode.id);
    lt_json_key(&w, "name");
    lt_json_put_cstr(&w, mode.name);
    lt_json_key(&w, "isDefault");
    lt_json_put_bool(&w, lt_str_eqc(usual, mode.id));
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
}
