#include "agent/program_draft.h"

#include "agent/tool_definitions.h"
#include "agent/turn_state.h"

#define DRAFT_BYTES LT_MODEL_TEXT_MAX_BYTES /* of one piece: an answer has no more */

void lt_program_drafts_init(lt_program_drafts *drafts, lt_turn *turn) {
  _Static_assert(offsetof(lt_program_drafts, list) + sizeof drafts->list == sizeof *drafts, "list is the last member");
  memset(drafts, 0, offsetof(lt_program_drafts, list));
  drafts->turn = turn;
}

void lt_program_drafts_release(lt_program_drafts *drafts) {
  for (size_t i = 0; i < drafts->count; i++) {
    lt_buf_release(&drafts->list[i].held);
  }
  drafts->count = 0;
  drafts->next_call = 0;
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */
/* The first piece of a reply begins the drafts anew. Pieces of text are as dispensable as memory for them is short. */
static void drafts_send(lt_program_drafts *drafts, size_t index, lt_str text) {
  const lt_outbox_draft_piece piece = {
      .text = text, .function = drafts->list[index].function, .index = index, .restarts = !drafts->is_open};
  if (text.n > 0 && lt_outbox_draft(&drafts->turn->internal->outbox, &piece, NULL) == LT_OK) {
    drafts->is_open = true;
  }
}

static void drafts_add(lt_program_drafts *drafts, size_t index, lt_str text) {
  lt_buf *held = &drafts->list[index].held;
  LT_AUTO_BUF(masked, DRAFT_BYTES);
  lt_buf_add(held, text);
  lt_buf_consume(held, lt_secrets_mask_piece(drafts->turn->agent->options.secrets, lt_buf_view(held), &masked));
  drafts_send(drafts, index, masked.status == LT_OK ? lt_buf_view(&masked) : LT_STR_NULL);
}

void lt_program_drafts_end(lt_program_drafts *drafts) {
  for (size_t i = 0; i < drafts->count; i++) {
    LT_AUTO_BUF(masked, DRAFT_BYTES);
    lt_secrets_mask(drafts->turn->agent->options.secrets, lt_buf_view(&drafts->list[i].held), &masked);
    drafts_send(drafts, i, masked.status == LT_OK ? lt_buf_view(&masked) : LT_STR_NULL);
  }
  lt_program_drafts_release(drafts);
}

void lt_program_drafts_settle(lt_program_drafts *drafts) {
  drafts->is_open = false;
}

void lt_program_drafts_drop(lt_program_drafts *drafts) {
  lt_program_drafts_release(drafts);
  if (drafts->is_open) {
    drafts->is_open = false;
    (void)lt_outbox_draft(&drafts->turn->internal->outbox, &(lt_outbox_draft_piece){.restarts = true}, NULL);
  }
}

/* --- Which of a reply's parts are programs ------------------------------------------------------------------------ */
/* The id of the tool that a call names where it runs programs; empty: it is another tool. In classic mode a tool that
 * only makes calls takes a program as its `code` (interpreter.run-code, execute_code). */
static lt_str drafts_runner_of(const lt_turn *turn, lt_str name) {
  const lt_catalog *catalog = turn->prepared.catalog;
  if (turn->mode->program != NULL) {
    return lt_str_eqc(name, turn->mode->program) ? lt_str_of(turn->mode->program) : LT_STR_NULL;
  }
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    char plain[LT_TOOL_NAME_CHARS + 1];
    const lt_tool *tool = lt_catalog_at(catalog, i);
    if (tool->only_calls) {
      lt_tool_definitions_plain_name(tool->id, plain);
      if (lt_str_eqc(name, plain) || lt_str_eq(name, tool->id)) {
        return tool->id;
      }
    }
  }
  return LT_STR_NULL;
}

static lt_program_draft *drafts_begin(lt_program_drafts *drafts, size_t call, lt_str function) {
  if (drafts->count == LT_PROGRAM_DRAFTS_MAX) {
    return NULL;
  }
  lt_program_draft *draft = &drafts->list[drafts->count++];
  *draft = (lt_program_draft){.call = call, .function = lt_arena_dup(&drafts->turn->arena, function)};
  lt_member_text_init(&draft->code, "code");
  lt_buf_init(&draft->held, DRAFT_BYTES);
  return draft;
}

static lt_program_draft *drafts_find(lt_program_drafts *drafts, size_t call) {
  for (size_t i = 0; i < drafts->count; i++) {
    if (drafts->list[i].call == call) {
      return &drafts->list[i];
    }
  }
  return NULL;
}

/* NULL: the call runs no program. */
static lt_program_draft *drafts_of_call(lt_program_drafts *drafts, const lt_draft_piece *piece) {
  if (piece->call < drafts->next_call) {
    return drafts_find(drafts, piece->call);
  }
  drafts->next_call = piece->call + 1;
  lt_str function = drafts_runner_of(drafts->turn, piece->name);
  return function.n > 0 ? drafts_begin(drafts, piece->call, function) : NULL;
}

static void drafts_take_arguments(lt_program_drafts *drafts, const lt_draft_piece *piece) {
  lt_program_draft *draft = drafts_of_call(drafts, piece);
  if (draft != NULL) {
    LT_AUTO_BUF(code, DRAFT_BYTES);
    lt_member_text_add(&draft->code, piece->text, &code);
    drafts_add(drafts, (size_t)(draft - drafts->list), lt_buf_view(&code));
  }
}

void lt_program_drafts_take(void *arg, const lt_draft_piece *piece) {
  lt_program_drafts *drafts = arg;
  const lt_mode *mode = drafts->turn->mode;
  lt_programs_in where = mode->programs_in;
  if (piece->kind == LT_DRAFT_AGAIN) {
    lt_program_drafts_drop(drafts);
  } else if (piece->kind == LT_DRAFT_ARGUMENTS && where == LT_PROGRAMS_IN_CALLS) {
    drafts_take_arguments(drafts, piece);
  } else if (piece->kind == LT_DRAFT_TEXT && where == LT_PROGRAMS_IN_TEXT &&
             (drafts->count > 0 || drafts_begin(drafts, 0, lt_str_of(mode->program)) != NULL)) {
    drafts_add(drafts, 0, piece->text);
  }
}
