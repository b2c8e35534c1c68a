#include "agent/prompt_data.h"

#include "agent/turn_state.h"

#define PROMPT_DATA_KEY LT_STR("_lastData")

/* Null replaces data that is too long: no data is better than the data of an earlier prompt. */
static lt_status prompt_data_put(lt_turn *turn, uint32_t number, lt_str json, lt_err *err) {
  return lt_outbox_tool_data(&turn->internal->outbox, number, json.n <= LT_PROMPT_DATA_BYTES ? json : LT_STR("null"),
                             err);
}

lt_status lt_prompt_data_find(lt_turn *turn, lt_err *err) {
  lt_str json = turn->internal->last_data;
  bool is_null = json.n == 0 || lt_str_eqc(json, "null"); /* nothing was left, or too much */
  return !is_null ? lt_stored_values_put(turn->values, PROMPT_DATA_KEY, json, err) : LT_OK;
}

lt_status lt_prompt_data_keep(lt_turn *turn, uint32_t number, lt_err *err) {
  lt_str json = lt_stored_values_find(turn->values, PROMPT_DATA_KEY);
  if (json.n == 0 || lt_str_eq(json, turn->internal->last_data)) {
    return LT_OK;
  }
  return prompt_data_put(turn, number, json, err);
}

lt_status lt_prompt_values_find(lt_turn *turn, lt_err *err) {
  lt_str json = turn->internal->last_data;
  return lt_str_starts(json, LT_STR("{")) ? lt_stored_values_read(turn->values, json, err) : LT_OK;
}

lt_status lt_prompt_values_keep(lt_turn *turn, uint32_t number, lt_err *err) {
  LT_AUTO_BUF(json, 2 * LT_RUN_STORE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_stored_values_write(turn->values, &w);
  LT_TRY(lt_buf_check(&json, err, "no memory for stored values"));
  return prompt_data_put(turn, number, lt_buf_view(&json), err);
}
