/* complete({data}): what one prompt leaves to the next ones of its conversation, as recall("_lastData"). It is kept
 * beside the result of the program that was done with it, and read from there: the same again when the prompt that
 * finds it is carried out again. */
#include "agent/turn_state.h"

#define KEY LT_STR("_lastData")

/* --- Keeping ------------------------------------------------------------------------------------------------------ */
/* Null stands for what is too long: better nothing than what was there before. */
static lt_status prompt_data_keep(lt_turn *turn, uint32_t number, lt_str json, lt_err *err) {
  const lt_secrets *secrets = turn->agent->options.secrets;
  lt_buf masked;
  lt_buf_init(&masked, LT_JSON_MAX_BYTES);
  json = json.n <= LT_PROMPT_DATA_BYTES ? json : LT_STR("null");
  if (lt_secrets_in(secrets, json)) {
    lt_secrets_mask_json(secrets, json, &masked);
    json = lt_buf_view(&masked);
  }
  lt_status status = masked.status == LT_OK ? lt_outbox_tool_data(&turn->own->outbox, number, json, err)
                                            : lt_fail(err, masked.status, "no memory to mask secrets");
  lt_buf_release(&masked);
  return status;
}

lt_status lt_prompt_data_keep(lt_turn *turn, uint32_t number, lt_err *err) {
  lt_str json = lt_stored_values_find(turn->values, KEY);
  bool is_new = json.n > 0 && !lt_str_eq(json, turn->own->last_data);
  return is_new ? prompt_data_keep(turn, number, json, err) : LT_OK;
}

/* --- Finding ------------------------------------------------------------------------------------------------------ */
static void prompt_data_find_in_prompt(lt_json prompt, lt_str *ret) {
  lt_json_iter it = lt_json_each(lt_json_get(prompt, "output"));
  while (lt_json_next(&it)) {
    lt_json data = lt_json_get(it.value, "data");
    if (lt_json_exists(data)) {
      *ret = lt_json_text(data);
    }
  }
}

/* The last one counts. */
static lt_status prompt_data_find(lt_turn *turn, lt_arena *arena, lt_err *err) {
  lt_json_doc doc;
  lt_str json = LT_STR("");
  LT_TRY(lt_json_parse(arena, lt_buf_view(&turn->history), &doc, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    if (lt_json_str_eq(lt_json_get(it.value, "mode"), LT_STR("code"))) {
      prompt_data_find_in_prompt(it.value, &json);
    }
  }
  if (json.n == 0 || lt_str_eqc(json, "null")) {
    return LT_OK;
  }
  turn->own->last_data = lt_arena_dup(&turn->arena, json);
  return turn->own->last_data.p != NULL ? lt_stored_values_put(turn->values, KEY, json, err)
                                        : lt_fail(err, LT_E_NOMEM, "no memory for what the last request has left");
}

/* Most conversations have none: their history is not read for it. */
lt_status lt_prompt_data_find(lt_turn *turn, lt_err *err) {
  if (lt_str_find(lt_buf_view(&turn->history), LT_STR("\"data\":"), 0) == SIZE_MAX) {
    return LT_OK;
  }
  lt_arena arena;
  lt_arena_init(&arena, LT_HISTORY_MEMORY_BYTES);
  lt_status status = prompt_data_find(turn, &arena, err);
  lt_arena_release(&arena);
  return status;
}
