#include "agent/modes/codex_answer.h"

#include "agent/agent_state.h"
#include "agent/media_parts.h"
#include "agent/program_feedback.h"
#include "agent/program_images.h"

/* --- Items -------------------------------------------------------------------------------------------------------- */
/* An image that cannot be kept is told as such: the program went on without knowing. */
static void codex_answer_put_image(lt_turn *turn, lt_str url, lt_buf *out, lt_buf *parts) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(about, LT_JSON_MAX_BYTES);
  LT_ERR_VAR(why);
  if (lt_program_image_keep(turn, url, &about, &why) == LT_OK) {
    lt_buf_add(out, lt_buf_view(&about));
    if (lt_json_parse(&arena, lt_buf_view(&about), &doc, NULL) == LT_OK) {
      lt_media_parts_put_answer(parts, lt_json_root(&doc));
    }
  } else {
    lt_buf_printf(out, "[an image that could not be kept: %s]", lt_err_msg(&why));
  }
}

static void codex_answer_put_items(lt_turn *turn, const lt_cell_news *news, lt_buf *out, lt_buf *parts) LT_YIELDS {
  const lt_cell_item *item = news->first;
  for (size_t i = 0; i < news->count && item != NULL; i++, item = item->next) {
    if (item->said == LT_SAID_YIELD) {
      continue;
    }
    if (item->said == LT_SAID_IMAGE) {
      codex_answer_put_image(turn, item->text, out, parts);
    } else {
      lt_buf_add(out, item->text);
    }
    lt_buf_addc(out, lt_str_ends(lt_buf_view(out), LT_STR("\n")) ? "" : "\n");
  }
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
static void codex_answer_put_head(const lt_cell_news *news, lt_buf *out) {
  lt_status status = news->cell->result.status;
  if (!news->has_ended) {
    lt_buf_printf(out, "Script running with cell ID %u\n", news->cell->number);
  } else {
    lt_buf_addc(out, status == LT_OK            ? "Script completed\n"
                     : status == LT_E_CANCELLED ? "Script terminated\n"
                                                : "Script failed\n");
  }
  lt_buf_printf(out, "Wall time %.1f seconds\nOutput:\n", (double)news->took_ms / 1000);
}

static void codex_answer_put_error(lt_turn *turn, const lt_run_result *result, lt_buf *out) {
  LT_AUTO_BUF(text, LT_RUN_RESULT_MAX_BYTES);
  lt_program_feedback_put_error(&text, result);
  lt_program_feedback_put_stack(&text, result);
  lt_program_feedback_put_calls(&text, result);
  lt_secrets_mask_buf(turn->agent->options.secrets, &text);
  lt_buf_addc(out, "Script error:\n");
  lt_buf_add(out, lt_buf_view(&text));
  lt_buf_byte(out, '\n');
}

lt_status lt_codex_answer_put(lt_turn *turn, const lt_cell_news *news, size_t max_tokens, lt_buf *out, lt_buf *parts,
                              lt_err *err) {
  LT_AUTO_BUF(text, LT_RUN_RESULT_MAX_BYTES);
  const lt_run_result *result = &news->cell->result;
  codex_answer_put_head(news, out);
  codex_answer_put_items(turn, news, &text, parts);
  if (news->has_ended && result->output_cut) {
    lt_buf_printf(&text, "[more was output than the %lu MiB that are kept]\n", LT_CELL_OUTPUT_BYTES / LT_MIB);
  }
  lt_program_feedback_cut(out, lt_buf_view(&text), max_tokens);
  if (news->has_ended && result->status != LT_OK && result->status != LT_E_CANCELLED) {
    codex_answer_put_error(turn, result, out);
  }
  return lt_fail_if(err, lt_status_first(text.status, out->status), "no memory for a program's output");
}
