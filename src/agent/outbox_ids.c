/* The ids of outputs, and the outputs of an earlier process. */
#include <stdio.h>

#include "agent/outbox_impl.h"
#include "agent/turn_edits.h"
#include "base/mem.h"
#include "json/json.h"

bool lt_outbox_make_room(lt_outbox *o) {
  if (o->count < o->room) {
    return true;
  }
  size_t room = o->room > 0 ? 2 * o->room : 16;
  lt_output **outputs = lt_mem_realloc(o->outputs, room * sizeof(lt_output *));
  if (outputs == NULL) {
    return false;
  }
  o->outputs = outputs;
  o->room = room;
  return true;
}

/* --- Ids ---------------------------------------------------------------------------------------------------------- */
static bool outbox_ids_is_taken(const lt_outbox *o, lt_str id) {
  for (size_t i = 0; i < o->count; i++) {
    if (o->outputs[i]->of_mode && lt_str_eq(o->outputs[i]->id, id)) {
      return true;
    }
  }
  return false;
}

/* Only ids of programs' outputs contain a dot; a slash separates the names of runs. */
static bool outbox_ids_is_usable(lt_str id) {
  return id.n > 0 && memchr(id.p, '.', id.n) == NULL && memchr(id.p, '/', id.n) == NULL;
}

/* Models use ids twice. A generated id can only clash with a model's id. Its number counts the mode's outputs, not
 * those of programs, because their order may differ from run to run. */
lt_str lt_outbox_make_id(lt_outbox *o, lt_output_kind kind, lt_str wanted) {
  static const char *const names[] = {[LT_OUTPUT_TEXT] = "text", [LT_OUTPUT_FILE] = "file", [LT_OUTPUT_TOOL] = "call"};
  lt_arena *arena = &o->turn->arena;
  uint32_t number = o->of_mode++;
  if (outbox_ids_is_usable(wanted) && !outbox_ids_is_taken(o, wanted)) {
    o->has_foreign_ids = true;
    return lt_arena_dup(arena, wanted);
  }
  lt_str id = lt_arena_printf(arena, "%s-%u", names[kind], number);
  while (id.p != NULL && o->has_foreign_ids && outbox_ids_is_taken(o, id)) {
    id = lt_arena_printf(arena, "%.*s-", LT_STR_ARG(id));
  }
  return id;
}

lt_str lt_outbox_inner_id(lt_outbox *o, lt_str id) {
  return id.n > 0 ? lt_arena_dup(&o->turn->arena, id) : lt_arena_printf(&o->turn->arena, ".%u", ++o->unnumbered);
}

/* Searches from the end: the program's output is a recent one. */
lt_str lt_outbox_parent_of(const lt_outbox *o, lt_str id) {
  const char *dot = memchr(id.p, '.', id.n);
  lt_str first = lt_str_sub(id, 0, dot != NULL ? (size_t)(dot - id.p) : id.n);
  for (size_t i = o->count; i > 0; i--) {
    const lt_output *output = o->outputs[i - 1];
    if (output->of_mode && lt_str_eq(output->id, first)) {
      return output->id;
    }
  }
  return LT_STR_NULL;
}

/* --- Outputs of an earlier process -------------------------------------------------------------------------------- */
/* They are put out in nearly the same order, so the search begins after the last one found. */
static lt_output *outbox_ids_find_old(lt_outbox *o, lt_str id) {
  for (size_t i = 0; i < o->count; i++) {
    size_t at = (o->claimed_after + 1 + i) % o->count;
    if (!o->outputs[at]->is_claimed && lt_str_eq(o->outputs[at]->id, id)) {
      o->claimed_after = at;
      return o->outputs[at];
    }
  }
  return NULL;
}

lt_status lt_outbox_claim(lt_outbox *o, lt_output_kind kind, lt_str id, lt_output **ret, lt_err *err) {
  lt_output *output = o->unclaimed > 0 && id.p != NULL ? outbox_ids_find_old(o, id) : NULL;
  if (output != NULL && output->kind != kind) {
    return lt_fail(err, LT_E_DIVERGED, "diverged: on record the output \"%.*s\" is something else", LT_STR_ARG(id));
  }
  if (output != NULL) {
    output->is_claimed = true;
    o->unclaimed--;
  }
  *ret = output;
  return LT_OK;
}

const char *lt_outbox_unclaimed(const lt_outbox *o) {
  for (size_t i = 0; o->unclaimed > 0 && i < o->count; i++) {
    const lt_output *output = o->outputs[i];
    if (!output->is_claimed && output->kind != LT_OUTPUT_FILE && outbox_ids_is_usable(output->id)) {
      return output->id.p;
    }
  }
  return NULL;
}

void lt_outbox_open_rest(lt_outbox *o) {
  for (size_t i = 0; o->unclaimed > 0 && i < o->count; i++) {
    lt_output *output = o->outputs[i];
    if (!output->is_claimed && output->pending) {
      output->next_open = o->open;
      o->open = output;
    }
    o->unclaimed -= !output->is_claimed;
    output->is_claimed = true;
  }
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */
static bool outbox_ids_read_str(lt_json value, lt_arena *arena, lt_str *ret) {
  lt_str text = LT_STR("");
  if (lt_json_exists(value) && !lt_json_str(value, arena, &text)) {
    return false;
  }
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static lt_output_kind outbox_ids_kind_of(lt_json json) {
  lt_json type = lt_json_get(json, "type");
  return lt_json_str_eq(type, LT_STR("tool"))   ? LT_OUTPUT_TOOL
         : lt_json_str_eq(type, LT_STR("file")) ? LT_OUTPUT_FILE
                                                : LT_OUTPUT_TEXT;
}

/* Reads a stored output; of a pending one also the members that its end is written with. */
/* The model was told of the edit, or is told when the prompt gets there again. */
static void outbox_ids_read_edit(lt_outbox *o, lt_json json) {
  lt_json input = lt_json_get(json, "editedInput");
  lt_str id, parent = LT_STR(""), function;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  if (lt_json_exists(input) && lt_json_str(lt_json_get(json, "id"), &arena, &id) &&
      lt_json_str(lt_json_get(json, "function"), &arena, &function)) {
    (void)lt_json_str(lt_json_get(json, "parent"), &arena, &parent);
    lt_turn_edits_add(o->turn, id, parent, function, lt_json_text(input));
  }
}

static bool outbox_ids_read_output(lt_outbox *o, lt_output *output, lt_json json) {
  lt_str start = LT_STR(""), decided = LT_STR("");
  lt_arena *parts = &output->parts;
  lt_json result = lt_json_get(json, "result");
  output->kind = outbox_ids_kind_of(json);
  output->pending = lt_json_str_eq(lt_json_get(result, "type"), LT_STR("pending"));
  lt_buf_add(&output->json, lt_json_text(json));
  outbox_ids_read_edit(o, json);
  bool read =
      output->json.status == LT_OK && outbox_ids_read_str(lt_json_get(json, "id"), &o->turn->arena, &output->id);
  if (read && output->pending) {
    output->input = lt_arena_dup(parts, lt_json_text(lt_json_get(json, "input")));
    read = output->input.p != NULL &&
           outbox_ids_read_str(lt_json_get(json, "parent"), &o->turn->arena, &output->parent) &&
           outbox_ids_read_str(lt_json_get(json, "function"), parts, &output->text) &&
           outbox_ids_read_str(lt_json_get(result, "reason"), parts, &output->reason) &&
           outbox_ids_read_str(lt_json_get(result, "question"), parts, &output->question) &&
           outbox_ids_read_str(lt_json_get(json, "start"), parts, &start) &&
           outbox_ids_read_str(lt_json_get(json, "decided"), parts, &decided);
    snprintf(output->start, sizeof output->start, "%.*s", LT_STR_ARG(start));
    snprintf(output->decided, sizeof output->decided, "%.*s", LT_STR_ARG(decided));
  }
  return read;
}

lt_status lt_outbox_load(lt_outbox *o, lt_json outputs, lt_err *err) {
  lt_json_iter it = lt_json_each(outputs);
  while (lt_json_next(&it)) {
    lt_output *output = lt_outbox_make_room(o) ? lt_mem_zalloc(1, sizeof *output) : NULL;
    if (output == NULL) {
      return lt_fail(err, LT_E_NOMEM, "no memory for what the prompt has put out");
    }
    lt_arena_init(&output->parts, LT_PROMPT_MEMORY_BYTES);
    lt_buf_init(&output->json, LT_PROMPT_MEMORY_BYTES);
    output->is_recalled = true;
    output->number = (uint32_t)o->count;
    o->outputs[o->count++] = output;
    o->unclaimed++;
    o->kept_bytes += lt_json_text(it.value).n;
    if (!outbox_ids_read_output(o, output, it.value)) {
      return lt_fail(err, LT_E_NOMEM, "no memory for what the prompt has put out");
    }
  }
  o->claimed_after = o->count > 0 ? o->count - 1 : 0;
  return LT_OK;
}

lt_status lt_outbox_old_result(const lt_outbox *o, uint32_t number, bool *ret_ended, lt_buf *answer, lt_err *err) {
  const lt_output *output = number < o->count ? o->outputs[number] : NULL;
  lt_json_doc doc;
  lt_str text = LT_STR("");
  *ret_ended = output != NULL && output->is_recalled && !output->pending;
  if (!*ret_ended) {
    return LT_OK;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_json_parse(&arena, lt_buf_view(&output->json), &doc, err);
  if (status == LT_OK) {
    lt_json result = lt_json_get(lt_json_root(&doc), "result");
    bool failed = lt_json_str(lt_json_get(result, "error"), &arena, &text);
    lt_buf_add(answer, failed ? text : lt_json_text(lt_json_get(result, "output")));
    status = failed ? lt_fail(err, LT_E_TOOL, "%.*s", LT_STR_ARG(text)) : LT_OK;
  }
  return status;
}
