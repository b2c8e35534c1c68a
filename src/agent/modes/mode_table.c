/* The modes there are: one file and one entry here each, and those of plugins. */
#include "agent/turn_state.h"
#include "base/limits.h"

const lt_mode *const lt_modes[] = {&lt_mode_classic, &lt_mode_code, &lt_mode_typescript};
const size_t lt_mode_count = sizeof lt_modes / sizeof lt_modes[0];

static lt_mode mode_table_plugin_row(const lt_host_mode *mode) {
  return (lt_mode){.id = mode->id.p,
                   .name = mode->name.p,
                   .rounds = mode->rounds > 0 ? mode->rounds : LT_ROUNDS_CLASSIC,
                   .run = lt_plugin_mode_run};
}

/* Two sorted lists as one. */
bool lt_mode_at(const lt_host *host, size_t at, lt_mode *ret) {
  size_t count = 0, ours = 0, theirs = 0;
  const lt_host_mode *modes = host != NULL ? lt_host_modes(host, &count) : NULL;
  for (size_t i = 0; ours < lt_mode_count || theirs < count; i++) {
    bool is_ours =
        theirs == count || (ours < lt_mode_count && lt_str_cmp(lt_str_of(lt_modes[ours]->id), modes[theirs].id) < 0);
    if (i == at) {
      *ret = is_ours ? *lt_modes[ours] : mode_table_plugin_row(&modes[theirs]);
      return true;
    }
    ours += is_ours;
    theirs += !is_ours;
  }
  return false;
}

bool lt_mode_find(const lt_host *host, lt_str id, lt_mode *ret) {
  lt_mode mode;
  for (size_t i = 0; lt_mode_at(host, i, &mode); i++) {
    if (lt_str_eqc(id, mode.id)) {
      *ret = mode;
      return true;
    }
  }
  return false;
}

void lt_agent_modes(const lt_agent *agent, lt_buf *out) {
  lt_mode mode;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; lt_mode_at(agent->options.host, i, &mode); i++) {
    lt_json_begin_object(&w);
    lt_json_key(&w, "id");
    lt_json_put_cstr(&w, mode.id);
    lt_json_key(&w, "name");
    lt_json_put_cstr(&w, mode.name);
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
}
