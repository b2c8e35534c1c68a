#include "agent/outbox_impl.h"

#include <stdio.h>

#include "agent/turn_observer.h"
#include "agent/turn_state.h"
#include "base/mem.h"

struct lt_outbox_waiter {
  lt_outbox_waiter *next;
  uint64_t until;
  bool sent; /* waits only until the items are sent to the store */
  lt_wait wait;
};

void lt_outbox_init(lt_outbox *o, lt_turn *turn) {
  _Static_assert(offsetof(lt_outbox, err) + sizeof(lt_err) == sizeof(lt_outbox), "err is the last member");
  memset(o, 0, offsetof(lt_outbox, err));
  lt_err_clear(&o->err);
  o->turn = turn;
  lt_wait_init(&o->rest, turn->agent->options.loop);
  o->last = &o->first;
}

static void outbox_free_output(lt_output *output) {
  lt_arena_release(&output->parts);
  lt_buf_release(&output->json);
  lt_mem_free(output);
}

static void outbox_drop_items(lt_outbox *o) {
  while (o->first != NULL) {
    lt_outbox_item *item = o->first;
    o->first = item->next;
    lt_mem_free(item);
    o->written++;
  }
  o->last = &o->first;
  o->queued_bytes = 0;
}

void lt_outbox_release(lt_outbox *o) {
  outbox_drop_items(o);
  for (size_t i = 0; i < o->count; i++) {
    outbox_free_output(o->outputs[i]);
  }
  lt_mem_free(o->outputs);
  lt_outbox_init(o, o->turn);
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
static void outbox_on_fiber(void *arg);

/* Whether the fiber of the outbox may not wait for more items. */
static bool outbox_is_urgent(const lt_outbox *o) {
  return o->waiters != NULL || o->urgent_until > o->written;
}

/* All items that are queued now. Later ones may gather again. */
static void outbox_hurry(lt_outbox *o) {
  if (o->urgent_until < o->queued) {
    o->urgent_until = o->queued;
    lt_wait_wake(&o->rest, LT_OK);
  }
}

static lt_status outbox_add_item(lt_outbox *o, const lt_outbox_item *like, lt_str bytes, lt_err *err) {
  if (o->err.status != LT_OK) {
    return lt_err_copy(err, &o->err);
  }
  if (o->turn->agent->leaving) {
    return lt_fail(err, LT_E_CLOSED, "Lathe is ending: the prompt is left as it is");
  }
  lt_outbox_item *item = lt_mem_alloc(sizeof *item + bytes.n);
  if (item == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for what the prompt puts out");
  }
  *item = *like;
  item->next = NULL;
  item->n = bytes.n;
  lt_buf_init(&item->json, LT_PROMPT_MEMORY_BYTES);
  lt_clock_stamp(item->stamp);
  if (bytes.n > 0) {
    memcpy(item->bytes, bytes.p, bytes.n);
  }
  *o->last = item;
  o->last = &item->next;
  o->queued++;
  o->queued_bytes += bytes.n;
  if ((item->what != ITEM_BEGIN && item->what != ITEM_END) || o->queued_bytes > LT_OUTBOX_BATCH_BYTES) {
    outbox_hurry(o);
  }
  if (!o->pumping) { /* no memory for a fiber: lt_outbox_flush writes */
    o->pumping = lt_loop_spawn(o->turn->agent->options.loop, outbox_on_fiber, o, NULL) == LT_OK;
  }
  return LT_OK;
}

lt_status lt_outbox_event(lt_outbox *o, const char *event, lt_str data, lt_err *err) {
  return outbox_add_item(o, &(lt_outbox_item){.what = ITEM_EVENT, .event = event}, data, err);
}

lt_status lt_outbox_stream(lt_outbox *o, lt_str delta, lt_err *err) {
  return delta.n == 0 ? LT_OK : outbox_add_item(o, &(lt_outbox_item){.what = ITEM_STREAM}, delta, err);
}

lt_status lt_outbox_draft(lt_outbox *o, const lt_outbox_draft_piece *piece, lt_err *err) {
  const lt_outbox_item item = {
      .what = ITEM_DRAFT, .index = piece->index, .restarts = piece->restarts, .function = piece->function};
  return outbox_add_item(o, &item, piece->text, err);
}

lt_status lt_outbox_state(lt_outbox *o, lt_prompt_state state, lt_err *err) {
  return outbox_add_item(o, &(lt_outbox_item){.what = ITEM_STATE, .state = state}, LT_STR_NULL, err);
}

/* --- Secrets ------------------------------------------------------------------------------------------------------ */
/* Nothing is stored or reported with a secret in it. A value stays JSON, or the store would refuse it. Borrows:
 * `masked`, which is empty where the text holds no secret. */
static lt_status outbox_mask(const lt_outbox *o, lt_str *text, bool is_json, lt_buf *masked, lt_err *err) {
  const lt_secrets *secrets = o->turn->agent->options.secrets;
  if (!lt_secrets_in(secrets, *text)) {
    return LT_OK;
  }
  (is_json ? lt_secrets_mask_json : lt_secrets_mask)(secrets, *text, masked);
  *text = lt_buf_view(masked);
  return lt_buf_check(masked, err, "no memory to mask secrets");
}

/* --- Outputs ------------------------------------------------------------------------------------------------------ */
/* Makes an output that is not in the list yet. */
static lt_output *outbox_output_new(lt_outbox *o, lt_output_kind kind, lt_str id) {
  lt_output *output = id.p != NULL && lt_outbox_make_room(o) ? lt_mem_zalloc(1, sizeof *output) : NULL;
  if (output == NULL) {
    return NULL;
  }
  output->kind = kind;
  output->is_claimed = true;
  output->number = (uint32_t)o->count;
  output->id = id;
  lt_arena_init(&output->parts, LT_PROMPT_MEMORY_BYTES);
  lt_buf_init(&output->json, LT_PROMPT_MEMORY_BYTES);
  lt_clock_stamp(output->start);
  return output;
}

static bool outbox_keep_text(lt_output *output, lt_str *to, lt_str text) {
  *to = lt_arena_dup(&output->parts, text);
  return to->p != NULL;
}

/* Adds the output to the list, or frees it. */
static lt_status outbox_add_output(lt_outbox *o, lt_output *output, bool complete, size_t streamed, lt_err *err) {
  lt_status status = complete ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for another output of the prompt");
  if (status == LT_OK) {
    const lt_outbox_item item = {.what = ITEM_BEGIN, .number = output->number, .streamed = streamed};
    status = outbox_add_item(o, &item, LT_STR_NULL, err);
  }
  if (status == LT_OK) {
    o->outputs[o->count++] = output;
  } else if (output != NULL) {
    outbox_free_output(output);
  }
  return status;
}

bool lt_outbox_is_full(const lt_outbox *o) {
  return o->count >= LT_PROMPT_OUTPUTS_MAX;
}

static lt_status outbox_tell_again(lt_outbox *o, lt_json unshown, lt_err *err) {
  int64_t number = 0, change = 0;
  (void)lt_json_int(lt_json_get(unshown, "number"), &number);
  (void)lt_json_int(lt_json_get(unshown, "change"), &change);
  lt_output *output = (uint64_t)number < o->count ? o->outputs[number] : NULL;
  if (output == NULL) {
    return LT_OK;
  }
  output->change = (uint64_t)change;
  const lt_outbox_item item = {.what = ITEM_AGAIN, .number = output->number};
  return output->pending ? LT_OK : outbox_add_item(o, &item, LT_STR_NULL, err);
}

lt_status lt_outbox_tell_unshown(lt_outbox *o, lt_err *err) {
  lt_json_doc doc;
  int64_t last = 0;
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (o->count == 0) {
    return LT_OK;
  }
  LT_TRY(lt_store_prompt_unshown(o->turn->agent->options.db, lt_str_of(o->turn->ids.prompt), &text, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&text), &doc, err));
  lt_json root = lt_json_root(&doc);
  (void)lt_json_int(lt_json_get(root, "last"), &last);
  o->changes = (uint64_t)last;
  lt_json_iter it = lt_json_each(lt_json_get(root, "outputs"));
  while (lt_json_next(&it)) {
    LT_TRY(outbox_tell_again(o, it.value, err));
  }
  return LT_OK;
}

typedef struct outbox_text {
  lt_str id, text;
  bool of_mode;
  size_t streamed; /* bytes of the masked text that were reported already */
  lt_incomplete incomplete;
} outbox_text;

static lt_status outbox_put_text(lt_outbox *o, const outbox_text *put, lt_err *err) {
  lt_str text = put->text;
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  lt_output *output;
  LT_TRY(outbox_mask(o, &text, false, &masked, err));
  LT_TRY(lt_outbox_claim(o, LT_OUTPUT_TEXT, put->id, &output, err));
  if (output == NULL) {
    output = outbox_output_new(o, LT_OUTPUT_TEXT, put->id);
    bool complete = output != NULL && outbox_keep_text(output, &output->text, text);
    if (output != NULL) {
      output->incomplete = put->incomplete;
    }
    LT_TRY(outbox_add_output(o, output, complete, put->streamed, err));
  } else {
    lt_turn_observer_text(o->turn, output, text);
  }
  output->of_mode = put->of_mode;
  return LT_OK;
}

lt_status lt_outbox_text(lt_outbox *o, lt_str text, size_t streamed, lt_err *err) {
  const outbox_text put = {
      .id = lt_outbox_make_id(o, LT_OUTPUT_TEXT, LT_STR_NULL), .text = text, .of_mode = true, .streamed = streamed};
  return outbox_put_text(o, &put, err);
}

lt_status lt_outbox_incomplete(lt_outbox *o, lt_incomplete reason, lt_str text, lt_err *err) {
  const outbox_text put = {
      .id = lt_outbox_make_id(o, LT_OUTPUT_TEXT, LT_STR_NULL), .text = text, .of_mode = true, .incomplete = reason};
  return outbox_put_text(o, &put, err);
}

void lt_outbox_say(lt_outbox *o, lt_str id, lt_str text) {
  outbox_text put = {.id = lt_arena_dup(&o->turn->arena, id), .text = text};
  if (!lt_outbox_is_full(o) || o->unclaimed > 0) {
    (void)outbox_put_text(o, &put, NULL);
  } else if (!o->overflowed) {
    put.text = LT_STR("(More was put out than one prompt may: the rest is dropped)");
    o->overflowed = outbox_put_text(o, &put, NULL) == LT_OK;
  }
}

/* A repeated call stores the same file again: its output exists already. */
lt_status lt_outbox_file(lt_outbox *o, lt_str artifact, lt_str mime_type, lt_str description, lt_err *err) {
  lt_str id = lt_arena_printf(&o->turn->arena, "file-%.*s", LT_STR_ARG(artifact));
  lt_output *output;
  LT_TRY(lt_outbox_claim(o, LT_OUTPUT_FILE, id, &output, err));
  if (output != NULL) {
    return LT_OK;
  }
  output = outbox_output_new(o, LT_OUTPUT_FILE, id);
  bool complete = output != NULL && outbox_keep_text(output, &output->text, artifact) &&
                  outbox_keep_text(output, &output->input, mime_type) &&
                  outbox_keep_text(output, &output->reason, description);
  return outbox_add_output(o, output, complete, 0, err);
}

/* The beginning of a text that is too long, and its length. */
static void outbox_put_preview(lt_buf *out, lt_str text) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "preview");
  lt_json_put_str(&w, lt_str_sub(text, 0, LT_ANSWER_PREVIEW_BYTES));
  lt_json_key(&w, "bytes");
  lt_json_put_int(&w, (int64_t)text.n);
  lt_json_key(&w, "artifact");
  lt_json_put_null(&w);
  lt_json_end_object(&w);
}

/* An input is written and sent with each form of its output: a long one is cut to a preview. */
static bool outbox_keep_input(lt_outbox *o, lt_output *output, lt_str input, lt_str *to) {
  bool whole = input.n <= LT_RUN_RECORD_BYTES && o->kept_bytes + input.n <= LT_PROMPT_RECORD_BYTES;
  if (whole && lt_json_check(input, NULL) == LT_OK) {
    o->kept_bytes += input.n;
    return outbox_keep_text(output, to, input);
  }
  LT_AUTO_BUF(text, 8 * LT_RUN_RECORD_BYTES);
  if (whole) {
    lt_json_writer w = lt_json_writer_on(&text);
    lt_json_put_str(&w, input);
  } else {
    outbox_put_preview(&text, input);
  }
  o->kept_bytes += text.n;
  return text.status == LT_OK && outbox_keep_text(output, to, lt_buf_view(&text));
}

/* Whoever decides about the call must see the input that it has now, not what an earlier process asked about. */
static lt_status outbox_renew_input(lt_outbox *o, lt_output *output, lt_str input, bool *ret_changed, lt_err *err) {
  lt_str before = output->input;
  size_t kept_bytes = o->kept_bytes;
  if (!outbox_keep_input(o, output, input, &output->input)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the input of a call");
  }
  *ret_changed = !lt_str_eq(before, output->input);
  o->kept_bytes = *ret_changed ? o->kept_bytes : kept_bytes;
  return LT_OK;
}

/* An output that was pending is pending again. */
static lt_status outbox_reopen_output(lt_outbox *o, lt_output *output, const lt_outbox_tool *tool, lt_err *err) {
  if (!output->pending) {
    return LT_OK;
  }
  if (!lt_str_eq(output->text, tool->function)) {
    return lt_fail(err, LT_E_DIVERGED, "diverged: on record \"%.*s\" is a call of \"%.*s\", not of \"%.*s\"",
                   LT_STR_ARG(output->id), LT_STR_ARG(output->text), LT_STR_ARG(lt_str_sub(tool->function, 0, 100)));
  }
  bool has_changed = false;
  LT_TRY(outbox_renew_input(o, output, tool->input, &has_changed, err));
  const lt_outbox_item item = {.what = has_changed ? ITEM_BEGIN : ITEM_AGAIN, .number = output->number};
  LT_TRY(outbox_add_item(o, &item, LT_STR_NULL, err));
  output->next_open = o->open;
  o->open = output;
  return LT_OK;
}

static lt_status outbox_begin_output(lt_outbox *o, const lt_outbox_tool *tool, lt_str id, lt_output **ret,
                                     lt_err *err) {
  lt_output *output = outbox_output_new(o, LT_OUTPUT_TOOL, id);
  bool complete = output != NULL && outbox_keep_text(output, &output->text, tool->function) &&
                  outbox_keep_input(o, output, tool->input, &output->input) &&
                  outbox_keep_text(output, &output->reason, tool->reason) &&
                  outbox_keep_text(output, &output->question, tool->question);
  if (output != NULL) {
    output->parent = tool->inner ? lt_outbox_parent_of(o, id) : LT_STR_NULL;
  }
  LT_TRY(outbox_add_output(o, output, complete, 0, err));
  output->next_open = o->open;
  o->open = output;
  *ret = output;
  return LT_OK;
}

lt_status lt_outbox_tool_begin(lt_outbox *o, const lt_outbox_tool *wanted, uint32_t *ret_number, lt_err *err) {
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  lt_outbox_tool shown = *wanted;
  const lt_outbox_tool *tool = &shown;
  lt_output *output;
  LT_TRY(outbox_mask(o, &shown.input, false, &masked, err));
  lt_str id = tool->inner ? lt_outbox_inner_id(o, tool->id) : lt_outbox_make_id(o, LT_OUTPUT_TOOL, tool->id);
  LT_TRY(lt_outbox_claim(o, LT_OUTPUT_TOOL, id, &output, err));
  if (output != NULL) {
    lt_turn_observer_call(o->turn, output, tool);
  }
  LT_TRY(output != NULL ? outbox_reopen_output(o, output, tool, err) : outbox_begin_output(o, tool, id, &output, err));
  output->of_mode = !tool->inner;
  output->call = tool->call;
  *ret_number = output->number;
  return LT_OK;
}

static lt_output **outbox_find_open_place(lt_outbox *o, uint32_t number) {
  lt_output **place = &o->open;
  while (*place != NULL && (*place)->number != number) {
    place = &(*place)->next_open;
  }
  return place;
}

lt_status lt_outbox_tool_reason(lt_outbox *o, uint32_t number, lt_str reason, lt_str question, lt_err *err) {
  lt_output *output = *outbox_find_open_place(o, number);
  if (output == NULL) {
    return LT_OK;
  }
  if (!outbox_keep_text(output, &output->reason, reason) || !outbox_keep_text(output, &output->question, question)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the reason of a call");
  }
  if (question.n > 0) {
    output->decided[0] = '\0';
  }
  return outbox_add_item(o, &(lt_outbox_item){.what = ITEM_BEGIN, .number = number}, LT_STR_NULL, err);
}

void lt_outbox_tool_decided(lt_outbox *o, uint32_t number, lt_str stamp) {
  lt_output *output = *outbox_find_open_place(o, number);
  if (output != NULL) {
    snprintf(output->decided, sizeof output->decided, "%.*s", LT_STR_ARG(stamp));
  }
}

bool lt_outbox_has_question(const lt_outbox *o, uint32_t number) {
  return number < o->count && o->outputs[number]->question.n > 0;
}

lt_status lt_outbox_tool_edited(lt_outbox *o, uint32_t number, lt_str input, lt_err *err) {
  lt_output *output = *outbox_find_open_place(o, number);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_TRY(outbox_mask(o, &input, true, &masked, err));
  if (output != NULL) {
    lt_turn_edits_add(o->turn, output->id, output->parent, output->text, input);
  }
  return output == NULL || output->edited.n > 0 || outbox_keep_input(o, output, input, &output->edited)
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for an edited input");
}

lt_status lt_outbox_tool_logs(lt_outbox *o, uint32_t number, lt_str logs, lt_err *err) {
  lt_output *output = *outbox_find_open_place(o, number);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_TRY(outbox_mask(o, &logs, false, &masked, err));
  return output == NULL || outbox_keep_text(output, &output->logs, logs)
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for the logs");
}

lt_status lt_outbox_tool_data(lt_outbox *o, uint32_t number, lt_str json, lt_err *err) {
  lt_output *output = *outbox_find_open_place(o, number);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_TRY(outbox_mask(o, &json, true, &masked, err));
  return output == NULL || outbox_keep_text(output, &output->data, json)
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for the data");
}

lt_status lt_outbox_tool_end(lt_outbox *o, uint32_t number, lt_status status, lt_str answer, lt_err *err) {
  lt_output **place = outbox_find_open_place(o, number);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(cut, LT_MIB);
  LT_TRY(outbox_mask(o, &answer, status == LT_OK && answer.n > 0, &masked, err));
  if (*place == NULL && number < o->count && o->outputs[number]->is_recalled) {
    lt_turn_observer_result(o->turn, o->outputs[number], status, answer);
  }
  if (*place == NULL) {
    return LT_OK;
  }
  if (answer.n > LT_ANSWER_MAX_BYTES && o->queued_bytes + answer.n > LT_PROMPT_QUEUE_BYTES) {
    outbox_put_preview(&cut, answer);
    LT_TRY(lt_buf_check(&cut, err, "no memory for what the prompt puts out"));
    answer = lt_buf_view(&cut);
  }
  const lt_outbox_item item = {.what = ITEM_END, .number = number, .status = status};
  LT_TRY(outbox_add_item(o, &item, answer, err));
  *place = (*place)->next_open;
  return LT_OK;
}

void lt_outbox_end_all(lt_outbox *o, lt_str why) {
  lt_outbox_open_rest(o);
  while (o->open != NULL && lt_outbox_tool_end(o, o->open->number, LT_E_CANCELLED, why, NULL) == LT_OK) {
  }
}

static bool outbox_has_open_child(const lt_outbox *o, const lt_output *parent) {
  for (const lt_output *output = o->open; output != NULL; output = output->next_open) {
    if (lt_str_eq(output->parent, parent->id)) {
      return true;
    }
  }
  return false;
}

bool lt_outbox_has_calls(const lt_outbox *o) {
  for (const lt_output *output = o->open; output != NULL; output = output->next_open) {
    if (output->call != 0 && output->question.n == 0 && !outbox_has_open_child(o, output)) {
      return true;
    }
  }
  return false;
}

uint32_t lt_outbox_find_call(const lt_outbox *o, uint64_t call) {
  for (const lt_output *output = o->open; output != NULL; output = output->next_open) {
    if (output->call == call) {
      return output->number;
    }
  }
  return UINT32_MAX;
}

uint32_t lt_outbox_find_open(const lt_outbox *o, lt_str id) {
  for (const lt_output *output = o->open; output != NULL; output = output->next_open) {
    if (lt_str_eq(output->id, id)) {
      return output->number;
    }
  }
  return UINT32_MAX;
}

bool lt_outbox_is_old(const lt_outbox *o, uint32_t number) {
  return number < o->count && o->outputs[number]->is_recalled;
}

void lt_outbox_set_call(lt_outbox *o, uint32_t number, uint64_t call) {
  if (number < o->count) {
    o->outputs[number]->call = call;
  }
}

lt_str lt_outbox_id(const lt_outbox *o, uint32_t number) {
  return number < o->count ? o->outputs[number]->id : LT_STR_NULL;
}

void lt_outbox_put_all(const lt_outbox *o, lt_json_writer *w) {
  size_t bytes = LT_KIB; /* for what the caller writes after them, too */
  for (size_t i = 0; i < o->count; i++) {
    bytes += o->outputs[i]->json.n + 1;
  }
  lt_buf_expect(w->buf, bytes);
  lt_json_begin_array(w);
  for (size_t i = 0; i < o->count; i++) {
    lt_json_put_raw(w, lt_buf_view(&o->outputs[i]->json));
  }
  lt_json_end_array(w);
}

/* --- The pump ----------------------------------------------------------------------------------------------------- */
static void outbox_wake_waiters(lt_outbox *o) {
  for (lt_outbox_waiter *waiter = o->waiters; waiter != NULL; waiter = waiter->next) {
    if (waiter->until <= (waiter->sent ? o->sent : o->written) || !o->pumping) {
      lt_wait_wake(&waiter->wait, LT_OK);
    }
  }
}

static void outbox_on_sending(lt_outbox *o, const lt_outbox_item *items) {
  o->sent = o->written;
  for (; items != NULL; items = items->next) {
    o->sent++;
  }
  outbox_wake_waiters(o);
}

static void outbox_give_up(lt_outbox *o) {
  outbox_drop_items(o);
  o->sent = o->written;
  lt_cancel_fire(&o->turn->cancel, LT_E_CANCELLED);
}

/* How many items the next transaction may have. The pieces of a program that is being written are reported at once, and
 * the beginning of that program, which follows them, still waits for its first call. */
static size_t outbox_batch_max(const lt_outbox *o) {
  uint64_t urgent = o->urgent_until > o->written ? o->urgent_until - o->written : 0;
  bool takes_all = o->waiters != NULL || urgent == 0 || urgent > LT_OUTBOX_BATCH;
  return takes_all ? LT_OUTBOX_BATCH : (size_t)urgent;
}

/* Takes the next items, at most as many as fit into one transaction. */
static lt_outbox_item *outbox_take_batch(lt_outbox *o) {
  lt_outbox_item *first = o->first, **last = &first;
  size_t count = 0, bytes = 0, max = outbox_batch_max(o);
  while (*last != NULL && count < max && (count == 0 || bytes + (*last)->n <= LT_OUTBOX_BATCH_BYTES)) {
    bytes += (*last)->n;
    count++;
    last = &(*last)->next;
  }
  o->first = *last;
  o->last = o->first == NULL ? &o->first : o->last;
  *last = NULL;
  return first;
}

static void outbox_free_batch(lt_outbox *o, lt_outbox_item *first) {
  while (first != NULL) {
    lt_outbox_item *item = first;
    first = item->next;
    o->queued_bytes -= item->n;
    o->written++;
    lt_buf_release(&item->json);
    lt_mem_free(item);
  }
}

/* After the last wake nothing of the outbox is touched: the fiber that is woken may free it. */
static void outbox_pump(lt_outbox *o) LT_YIELDS {
  while (o->first != NULL) {
    if (!outbox_is_urgent(o)) {
      lt_wait_init(&o->rest, o->turn->agent->options.loop); /* discards an earlier wake */
      (void)lt_wait_on(&o->rest, LT_OUTBOX_REST_MS);
    }
    LT_ERR_VAR(err); /* the store's thread writes it, while o->err is looked at here */
    lt_outbox_item *batch = outbox_take_batch(o);
    lt_status status = lt_outbox_write(o, batch, outbox_on_sending, &err);
    outbox_free_batch(o, batch);
    if (status != LT_OK) {
      o->err = err;
      o->err.status = status;
      outbox_give_up(o);
    }
    outbox_wake_waiters(o);
  }
  o->pumping = false;
  outbox_wake_waiters(o);
}

static void outbox_on_fiber(void *arg) {
  outbox_pump(arg);
}

lt_status lt_outbox_check(const lt_outbox *o, lt_err *err) {
  return lt_err_copy(err, &o->err);
}

static lt_status outbox_wait_until(lt_outbox *o, bool sent, lt_err *err) LT_YIELDS {
  lt_outbox_waiter waiter = {.next = o->waiters, .until = o->queued, .sent = sent};
  lt_wait_init(&waiter.wait, o->turn->agent->options.loop);
  o->waiters = &waiter;
  while ((sent ? o->sent : o->written) < waiter.until) {
    outbox_hurry(o);
    if (!o->pumping) {
      o->pumping = true;
      outbox_pump(o);
    } else {
      lt_wait_on(&waiter.wait, UINT64_MAX);
    }
  }
  lt_outbox_waiter **place = &o->waiters;
  while (*place != &waiter) {
    place = &(*place)->next;
  }
  *place = waiter.next;
  return lt_outbox_check(o, err);
}

lt_status lt_outbox_send(lt_outbox *o, lt_err *err) {
  return outbox_wait_until(o, true, err);
}

lt_status lt_outbox_flush(lt_outbox *o, lt_err *err) {
  return outbox_wait_until(o, false, err);
}
