/* Hands on an answer as it stands while it is written (lt_completion_request.on_draft).
 *
 * Where the text is not shown, all of it may still be thoughts without a begin tag (assembly_think.c). A draft has it
 * already: a reader would else see nothing of a program before its end. When it turns out otherwise, the draft begins
 * again. */
#include "model/assembly.h"

static void assembly_draft_send(lt_assembly *a, lt_draft_piece piece) {
  a->has_draft = piece.kind != LT_DRAFT_AGAIN;
  a->request->on_draft(a->request->arg, &piece);
}

void lt_assembly_draft_again(lt_assembly *a) {
  if (a->has_draft) {
    assembly_draft_send(a, (lt_draft_piece){.kind = LT_DRAFT_AGAIN});
  }
}

static void assembly_draft_restart(lt_assembly *a) {
  lt_assembly_draft_again(a);
  a->drafted = 0;
  for (size_t i = 0; i < a->call_count; i++) {
    a->calls[i].drafted = 0;
  }
}

static void assembly_draft_text(lt_assembly *a) {
  bool is_held = a->think == LT_THINK_UNOPENED && !a->expects_unopened;
  if (a->is_draft_held && !is_held && a->drafted > 0) {
    assembly_draft_restart(a);
  }
  a->is_draft_held = is_held;
  lt_str text = lt_buf_view(is_held ? &a->held_text : &a->completion->text);
  lt_str rest = lt_str_sub(text, a->drafted, text.n);
  rest.n -= lt_assembly_half_bytes(rest);
  a->drafted += rest.n;
  if (rest.n > 0) {
    assembly_draft_send(a, (lt_draft_piece){.kind = LT_DRAFT_TEXT, .text = rest});
  }
}

/* A server that sends arguments as an object sends them whole. */
static void assembly_draft_call(lt_assembly *a, size_t number) {
  lt_call_parts *call = &a->calls[number];
  lt_str arguments = lt_buf_view(&call->arguments);
  if (call->is_text || call->is_object || call->name.n == 0 || arguments.n <= call->drafted) {
    return;
  }
  lt_draft_piece piece = {.kind = LT_DRAFT_ARGUMENTS,
                          .call = number,
                          .name = lt_buf_view(&call->name),
                          .text = lt_str_sub(arguments, call->drafted, arguments.n)};
  call->drafted = arguments.n;
  assembly_draft_send(a, piece);
}

void lt_assembly_draft(lt_assembly *a) {
  if (a->request->on_draft == NULL || a->failed) {
    return;
  }
  assembly_draft_text(a);
  for (size_t i = 0; i < a->call_count; i++) {
    assembly_draft_call(a, i);
  }
}
