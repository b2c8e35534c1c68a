/* Stores the outbox's items, and reports them. */
#include "agent/outbox_impl.h"
#include "agent/turn_state.h"
#include "base/mem.h"
#include "tool/answer_spill.h"

/* --- As JSON ------------------------------------------------------------------------------------------------------ */
static void outbox_write_put_raw(lt_json_writer *w, const char *key, lt_str json) {
  lt_json_key(w, key);
  lt_json_put_raw(w, json);
}

static void outbox_write_put_result(lt_json_writer *w, const lt_output *output, const lt_outbox_item *item,
                                    lt_str answer) {
  lt_json_key(w, "result");
  lt_json_begin_object(w);
  if (item->what == ITEM_BEGIN) {
    lt_json_put_pair(w, "type", LT_STR("pending"));
    lt_json_put_pair(w, "reason", output->reason);
    if (output->question.n > 0) {
      lt_json_put_pair(w, "question", output->question);
    }
  } else if (item->status == LT_OK) {
    lt_json_put_pair(w, "type", LT_STR("success"));
    if (answer.n > 0) {
      outbox_write_put_raw(w, "output", answer);
    }
  } else {
    lt_json_put_pair(w, "type", LT_STR("error"));
    lt_json_put_pair(w, "error", answer);
  }
  if (item->what == ITEM_END && output->logs.n > 0) {
    lt_json_put_pair(w, "logs", output->logs);
  }
  lt_json_end_object(w);
}

static void outbox_write_put_tool(lt_json_writer *w, const lt_output *output, const lt_outbox_item *item,
                                  lt_str answer) {
  lt_json_put_pair(w, "type", LT_STR("tool"));
  lt_json_put_pair(w, "id", output->id);
  if (output->parent.n > 0) {
    lt_json_put_pair(w, "parent", output->parent);
  }
  lt_json_put_pair(w, "function", output->text);
  outbox_write_put_raw(w, "input", output->input);
  if (output->edited.n > 0) {
    outbox_write_put_raw(w, "editedInput", output->edited);
  }
  outbox_write_put_result(w, output, item, answer);
  if (item->what == ITEM_END && output->data.n > 0) {
    outbox_write_put_raw(w, "data", output->data);
  }
  lt_json_put_pair(w, "start", lt_str_of(output->start));
  if (output->decided[0] != '\0') {
    lt_json_put_pair(w, "decided", lt_str_of(output->decided));
  }
  if (item->what == ITEM_END) {
    lt_json_put_pair(w, "end", lt_str_of(item->stamp));
  }
}

static void outbox_write_put_file(lt_json_writer *w, lt_arena *arena, const lt_output *output) {
  lt_json_put_pair(w, "type", LT_STR("file"));
  lt_json_put_pair(w, "id", output->id);
  lt_json_put_pair(w, "path", lt_arena_printf(arena, "/artifacts/%.*s", LT_STR_ARG(output->text)));
  lt_json_put_pair(w, "mimeType", output->input);
  if (output->reason.n > 0) {
    lt_json_put_pair(w, "description", output->reason);
  }
  lt_json_put_pair(w, "artifact", output->text);
  lt_json_put_pair(w, "start", lt_str_of(output->start));
}

static void outbox_write_output_json(lt_output *output, lt_outbox_item *item, lt_str answer) {
  lt_json_writer w = lt_json_writer_on(&item->json);
  lt_json_begin_object(&w);
  if (output->kind == LT_OUTPUT_TOOL) {
    outbox_write_put_tool(&w, output, item, answer);
  } else if (output->kind == LT_OUTPUT_FILE) {
    outbox_write_put_file(&w, &output->parts, output);
  } else {
    lt_json_put_pair(&w, "type", LT_STR("text"));
    lt_json_put_pair(&w, "id", output->id);
    lt_json_put_pair(&w, "content", output->text);
    lt_incomplete_put(&w, output->incomplete);
    lt_json_put_pair(&w, "start", lt_str_of(output->start));
  }
  lt_json_end_object(&w);
}

/* --- Storing ------------------------------------------------------------------------------------------------------ */
/* A long value is kept beside the prompt, so that the prompt itself stays small. */
static lt_status outbox_write_end_json(lt_outbox *o, lt_output *output, lt_outbox_item *item, lt_err *err) LT_YIELDS {
  lt_str answer = lt_str_from(item->bytes, item->n);
  LT_AUTO_BUF(cut, LT_JSON_MAX_BYTES);
  if (item->status != LT_OK) {
    answer = lt_str_sub(answer, 0, LT_RUN_ERROR_BYTES);
  } else if (answer.n > LT_ANSWER_MAX_BYTES || o->kept_bytes + answer.n > LT_PROMPT_RECORD_BYTES) {
    lt_buf_add(&cut, answer);
    (void)lt_answer_spill(&o->turn->caller, output->text, &cut,
                          NULL); /* on failure the preview says that the rest is lost */
    answer = lt_buf_view(&cut);
  }
  o->kept_bytes += answer.n;
  outbox_write_output_json(output, item, answer);
  return lt_buf_check(&cut, err, "out of memory");
}

static lt_status outbox_write_item_json(lt_outbox *o, lt_outbox_item *item, lt_err *err) LT_YIELDS {
  lt_output *output = o->outputs[item->number];
  if (item->what == ITEM_BEGIN) {
    outbox_write_output_json(output, item, LT_STR_NULL);
  } else {
    LT_TRY(outbox_write_end_json(o, output, item, err));
  }
  return lt_buf_check(&item->json, err, "no memory for an output of the prompt");
}

typedef struct outbox_batch {
  lt_prompt_output outputs[LT_OUTBOX_BATCH];
  size_t count;
  lt_prompt_change change;
  bool changes;
} outbox_batch;

/* When an output changes twice in one batch, only the last form is stored. */
static void outbox_write_put_output(lt_outbox *o, outbox_batch *b, lt_outbox_item *item) {
  size_t i = 0;
  item->change = ++o->changes;
  while (i < b->count && b->outputs[i].number != item->number) {
    i++;
  }
  b->outputs[i] = (lt_prompt_output){.number = item->number, .json = lt_buf_view(&item->json), .change = item->change};
  b->count += i == b->count;
}

static lt_status outbox_write_fill_batch(lt_outbox *o, lt_outbox_item *items, outbox_batch *b, lt_err *err) LT_YIELDS {
  for (lt_outbox_item *item = items; item != NULL; item = item->next) {
    if (item->what == ITEM_BEGIN || item->what == ITEM_END) {
      LT_TRY(outbox_write_item_json(o, item, err));
      outbox_write_put_output(o, b, item);
    } else if (item->what == ITEM_STATE) {
      b->change = (lt_prompt_change){.state = item->state};
      b->changes = true;
    }
  }
  return LT_OK;
}

static lt_status outbox_write_store(lt_outbox *o, const outbox_batch *b, lt_err *err) LT_YIELDS {
  if ((b->count == 0 && !b->changes) || lt_deferred_start_is_open(o->turn->internal)) {
    return LT_OK;
  }
  return lt_store_prompt_update(o->turn->agent->options.db, lt_str_of(o->turn->ids.prompt), b->outputs, b->count,
                                b->changes ? &b->change : NULL, err);
}

lt_status lt_outbox_store_all(lt_outbox *o, lt_err *err) {
  lt_prompt_output *outputs = lt_mem_zalloc(o->count + 1, sizeof *outputs);
  size_t count = 0;
  if (outputs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for what the prompt has put out");
  }
  for (size_t i = 0; i < o->count; i++) {
    const lt_output *output = o->outputs[i];
    outputs[count] =
        (lt_prompt_output){.number = output->number, .json = lt_buf_view(&output->json), .change = output->change};
    count += output->json.n > 0;
  }
  lt_status status = count == 0 ? LT_OK
                                : lt_store_prompt_update(o->turn->agent->options.db, lt_str_of(o->turn->ids.prompt),
                                                         outputs, count, NULL, err);
  lt_mem_free(outputs);
  return status;
}

size_t lt_outbox_mode_bytes(const lt_outbox *o) {
  size_t bytes = 0;
  for (size_t i = 0; i < o->count; i++) {
    bytes += o->outputs[i]->of_mode ? o->outputs[i]->json.n : 0;
  }
  return bytes;
}

/* --- Reporting ---------------------------------------------------------------------------------------------------- */
/* `incomplete`: as lt_incomplete_reason_in, for a text that is no answer. */
static void outbox_report_text(const lt_outbox *o, lt_str delta, lt_str incomplete) {
  LT_AUTO_BUF(data, 2 * LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "promptId", lt_str_of(o->turn->ids.prompt));
  lt_json_put_pair(&w, "delta", delta);
  if (incomplete.n > 0) {
    lt_json_key(&w, "incomplete");
    lt_json_begin_object(&w);
    lt_json_put_pair(&w, "reason", incomplete);
    lt_json_end_object(&w);
  }
  lt_json_end_object(&w);
  lt_turn_send_event(o->turn, "prompt.stream", &data);
}

static void outbox_report_draft(const lt_outbox *o, const lt_outbox_item *item) {
  LT_AUTO_BUF(data, 2 * LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "promptId", lt_str_of(o->turn->ids.prompt));
  lt_json_put_pair(&w, "delta", lt_str_from(item->bytes, item->n));
  lt_json_key(&w, "program");
  lt_json_put_bool(&w, true);
  if (item->function.n > 0) {
    lt_json_put_pair(&w, "function", item->function);
  }
  if (item->index > 0) {
    lt_json_key(&w, "index");
    lt_json_put_int(&w, (int64_t)item->index);
  }
  if (item->restarts) {
    lt_json_key(&w, "restart");
    lt_json_put_bool(&w, true);
  }
  lt_json_end_object(&w);
  lt_turn_send_event(o->turn, "prompt.stream", &data);
}

static void outbox_report_json(const lt_outbox *o, const lt_output *output) {
  LT_AUTO_BUF(data, 2 * LT_PROMPT_MEMORY_BYTES);
  lt_buf_expect(&data, output->json.n + LT_KIB / 4);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "promptId", lt_str_of(o->turn->ids.prompt));
  lt_json_key(&w, "change");
  lt_json_put_int(&w, (int64_t)output->change);
  outbox_write_put_raw(&w, "output", lt_buf_view(&output->json));
  lt_json_end_object(&w);
  lt_turn_send_event(o->turn, "prompt.output", &data);
}

/* Frees the parts of an output that has ended. */
static void outbox_report_output(lt_outbox *o, lt_outbox_item *item) {
  lt_output *output = o->outputs[item->number];
  lt_str text = output->kind == LT_OUTPUT_TEXT ? output->text : LT_STR_NULL;
  lt_buf_release(&output->json);
  output->json = item->json;
  output->change = item->change;
  lt_buf_init(&item->json, 0);
  if (text.n > item->streamed) {
    outbox_report_text(o, lt_str_sub(text, item->streamed, text.n), lt_str_of(lt_incomplete_name(output->incomplete)));
  }
  outbox_report_json(o, output);
  if (output->kind != LT_OUTPUT_TOOL || item->what == ITEM_END) {
    lt_arena_release(&output->parts);
  }
}

/* The text of an output that was loaded is in its JSON only. */
static void outbox_report_again(const lt_outbox *o, const lt_output *output) {
  lt_json_doc doc;
  lt_str text;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  if (output->kind == LT_OUTPUT_TEXT && lt_json_parse(&arena, lt_buf_view(&output->json), &doc, NULL) == LT_OK &&
      lt_json_str(lt_json_get(lt_json_root(&doc), "content"), &arena, &text) && text.n > 0) {
    outbox_report_text(o, text, lt_incomplete_reason_in(lt_json_root(&doc)));
  }
  outbox_report_json(o, output);
}

static void outbox_report_event(const lt_outbox *o, const lt_outbox_item *item) {
  LT_AUTO_BUF(data, LT_PROMPT_MEMORY_BYTES);
  lt_buf_add(&data, lt_str_from(item->bytes, item->n));
  lt_turn_send_event(o->turn, item->event, &data);
}

static void outbox_report_item(lt_outbox *o, lt_outbox_item *item) {
  switch (item->what) {
    case ITEM_BEGIN:
    case ITEM_END:
      outbox_report_output(o, item);
      break;
    case ITEM_AGAIN:
      outbox_report_again(o, o->outputs[item->number]);
      break;
    case ITEM_STREAM:
      outbox_report_text(o, lt_str_from(item->bytes, item->n), LT_STR(""));
      break;
    case ITEM_DRAFT:
      outbox_report_draft(o, item);
      break;
    case ITEM_EVENT:
      outbox_report_event(o, item);
      break;
    case ITEM_STATE:
      break;
  }
}

/* --- What readers have got ---------------------------------------------------------------------------------------- */
static void outbox_note_shown(lt_outbox *o) {
  if (o->shown > o->noted && !lt_deferred_start_is_open(o->turn->internal) &&
      lt_store_prompt_set_shown(o->turn->agent->options.db, lt_str_of(o->turn->ids.prompt), o->shown, NULL) == LT_OK) {
    o->noted = o->shown;
  }
}

static bool outbox_item_is_text(const lt_outbox *o, const lt_outbox_item *item) {
  bool is_output = item->what == ITEM_BEGIN || item->what == ITEM_AGAIN;
  return is_output && o->outputs[item->number]->kind == LT_OUTPUT_TEXT;
}

/* A kill must not show a second text twice: a text waits until the one before it is acknowledged. A transaction with
 * one text, which is the usual one, waits for nothing. */
static void outbox_keep_shown(lt_outbox *o) LT_YIELDS {
  if (o->shown > o->noted && !lt_deferred_start_is_open(o->turn->internal) &&
      lt_store_prompt_keep_shown(o->turn->agent->options.db, lt_str_of(o->turn->ids.prompt), o->shown, NULL) == LT_OK) {
    o->noted = o->shown;
  }
}

void lt_outbox_shown(lt_outbox *o, uint64_t change) {
  o->shown = change > o->shown ? change : o->shown;
  if (!o->reporting) {
    outbox_note_shown(o);
  }
}

lt_status lt_outbox_write(lt_outbox *o, lt_outbox_item *items,
                          void (*on_sending)(lt_outbox *outbox, const lt_outbox_item *items), lt_err *err) {
  outbox_batch b; /* most of which is never looked at: it has room for many outputs */
  b.count = 0;
  b.changes = false;
  LT_TRY(outbox_write_fill_batch(o, items, &b, err));
  on_sending(o, items);
  LT_TRY(outbox_write_store(o, &b, err));
  o->reporting = true;
  bool has_text = false;
  for (lt_outbox_item *item = items; item != NULL; item = item->next) {
    if (outbox_item_is_text(o, item)) {
      if (has_text) {
        outbox_keep_shown(o);
      }
      has_text = true;
    }
    outbox_report_item(o, item);
  }
  o->reporting = false;
  outbox_note_shown(o);
  return LT_OK;
}
