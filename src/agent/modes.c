/* The modes there are: one file and one entry here each. */
#include "agent/turn.h"

const lt_mode *const lt_modes[] = {&lt_mode_classic, &lt_mode_code, &lt_mode_typescript};
const size_t lt_mode_count = sizeof lt_modes / sizeof lt_modes[0];

const lt_mode *lt_mode_find(lt_str id) {
  for (size_t i = 0; i < lt_mode_count; i++) {
    if (lt_str_eqc(id, lt_modes[i]->id)) {
      return lt_modes[i];
    }
  }
  return NULL;
}

void lt_agent_modes(const lt_agent *agent, lt_buf *out) {
  (void)agent;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < lt_mode_count; i++) {
    lt_json_begin_object(&w);
    lt_json_key(&w, "id");
    lt_json_put_cstr(&w, lt_modes[i]->id);
    lt_json_key(&w, "name");
    lt_json_put_cstr(&w, lt_modes[i]->name);
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
}
