#include "agent/turn_edits.h"

#include "agent/turn_state.h"
#include "base/utf8.h"

struct lt_turn_edit {
  lt_turn_edit *next;
  lt_str output, parent, tool, input;
};

void lt_turn_edits_add(lt_turn *turn, lt_str output, lt_str parent, lt_str tool, lt_str input) {
  lt_turn_edit **place = &turn->internal->edits;
  while (*place != NULL && !lt_str_eq((*place)->output, output)) {
    place = &(*place)->next;
  }
  lt_turn_edit *edit = *place == NULL ? lt_arena_zalloc(&turn->arena, 1, sizeof *edit) : NULL;
  if (edit == NULL) {
    return;
  }
  edit->output = lt_arena_dup(&turn->arena, output);
  edit->parent = lt_arena_dup(&turn->arena, parent);
  edit->tool = lt_arena_dup(&turn->arena, tool);
  edit->input = lt_arena_dup(&turn->arena, lt_utf8_cut(input, LT_EDIT_SHOWN_BYTES));
  if (edit->output.p != NULL && edit->parent.p != NULL && edit->tool.p != NULL && edit->input.p != NULL) {
    *place = edit;
  }
}

void lt_turn_edits_put(const lt_turn *turn, lt_str output, lt_buf *out) {
  for (const lt_turn_edit *edit = turn->internal->edits; edit != NULL; edit = edit->next) {
    if (lt_str_eq(edit->output, output) || lt_str_eq(edit->parent, output)) {
      lt_buf_printf(out, "%sThe user changed the input of \"%.*s\" before approving the call. It was made with: ",
                    out->n > 0 ? "\n" : "", LT_STR_ARG(edit->tool));
      lt_buf_add(out, edit->input);
    }
  }
}
