#include "agent/modes/cell.h"

#include <stdio.h>

#include "agent/prompt_data.h"
#include "agent/turn_state.h"
#include "base/clock.h"
#include "base/mem.h"

/* --- Items -------------------------------------------------------------------------------------------------------- */
static void cell_add_item(lt_cell *cell, lt_said said, lt_str text) {
  lt_cell_item *item = lt_arena_zalloc(&cell->arena, 1, sizeof *item);
  if (item == NULL) { /* the result has it: it is told at the end */
    return;
  }
  *item = (lt_cell_item){.said = said, .text = text};
  *cell->last = item;
  cell->last = &item->next;
  cell->count++;
}

static void on_cell_text(void *arg, lt_said said, lt_str text) {
  lt_cell *cell = arg;
  cell_add_item(cell, said, text);
  lt_wait_wake(&cell->cells->wait, LT_OK);
}

/* A program whose end is on record says nothing again: its result has all texts. */
static void cell_add_rest(lt_cell *cell) {
  size_t at = 0;
  for (const lt_run_text *text = cell->result.texts; text != NULL; text = text->next, at++) {
    if (at >= cell->count) {
      cell_add_item(cell, text->said, text->text);
    }
  }
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
static uint64_t cell_timeout_ms(const lt_turn *turn) {
  uint64_t configured = turn->internal->defaults.timeout_ms;
  bool is_standard =
      configured == 0 || configured == LT_RUN_TIMEOUT_MS; /* too short for what goes on in the background */
  return is_standard ? LT_RUN_TIMEOUT_MAX_MS : configured;
}

static void on_cell_fiber(void *arg) LT_YIELDS {
  lt_cell *cell = arg;
  lt_cells *cells = cell->cells;
  const lt_turn_cell as = {.cancel = &cell->cancel, .values = cell->values, .on_text = on_cell_text, .arg = cell};
  const lt_turn_program program = {.output = cell->output,
                                   .code = cell->code,
                                   .lang = LT_LANG_JAVASCRIPT,
                                   .timeout_ms = cell_timeout_ms(cells->turn),
                                   .takes_images = true,
                                   .cell = &as};
  cell->status = lt_turn_run(cells->turn, &program, &cell->result, &cell->err);
  cell_add_rest(cell);
  cell->has_ended = true;
  cells->running--;
  lt_wait_wake(&cells->wait, LT_OK);
}

static void cell_free(lt_cell *cell) {
  lt_cancel_remove(&cell->cells->turn->cancel, &cell->from_turn);
  lt_run_result_release(&cell->result);
  lt_stored_values_free(cell->values);
  lt_stored_values_free(cell->found);
  lt_arena_release(&cell->arena);
  lt_mem_free(cell);
}

/* NULL: no memory. */
static lt_stored_values *cell_copy_values(const lt_stored_values *values) {
  LT_AUTO_BUF(json, 2 * LT_RUN_STORE_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_stored_values *copy = lt_stored_values_new();
  lt_stored_values_write(values, &w);
  if (copy != NULL && (json.status != LT_OK || lt_stored_values_read(copy, lt_buf_view(&json), NULL) != LT_OK)) {
    lt_stored_values_free(copy);
    return NULL;
  }
  return copy;
}

void lt_cell_list_init(lt_cells *cells, lt_turn *turn) {
  *cells = (lt_cells){.turn = turn};
  lt_wait_init(&cells->wait, turn->agent->options.loop);
}

lt_status lt_cell_begin(lt_cells *cells, uint32_t output, lt_str code, lt_cell **ret_cell, lt_err *err) {
  if (cells->running >= LT_CELLS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "%u programs are running: wait for one, or terminate it", cells->running);
  }
  lt_cell *cell = lt_mem_zalloc(1, sizeof *cell);
  if (cell == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  *cell = (lt_cell){.cells = cells, .number = cells->count + 1, .output = output, .code = code, .err = LT_ERR_INIT};
  cell->last = cell->to_tell = &cell->first;
  lt_cancel_init(&cell->cancel);
  lt_cancel_follow(&cells->turn->cancel, &cell->from_turn, &cell->cancel);
  lt_arena_init(&cell->arena, LT_CELL_OUTPUT_BYTES);
  lt_run_result_init(&cell->result);
  cell->values = cell_copy_values(cells->turn->values);
  cell->found = cell_copy_values(cells->turn->values);
  if (cell->values == NULL || cell->found == NULL ||
      lt_loop_spawn(cells->turn->agent->options.loop, on_cell_fiber, cell, NULL) != LT_OK) {
    cell_free(cell);
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  cell->next = cells->first;
  cells->first = cell;
  cells->count++;
  cells->running++;
  *ret_cell = cell;
  return LT_OK;
}

lt_cell *lt_cell_find(const lt_cells *cells, lt_str id) {
  lt_cell *found = NULL;
  for (lt_cell *cell = cells->first; cell != NULL; cell = cell->next) {
    char number[12];
    int n = snprintf(number, sizeof number, "%u", cell->number);
    found = !cell->is_end_told && lt_str_eq(id, lt_str_from(number, (size_t)n)) ? cell : found;
  }
  return found;
}

void lt_cell_terminate(lt_cell *cell) {
  lt_cancel_fire(&cell->cancel, LT_E_CLOSED);
}

void lt_cell_list_release(lt_cells *cells) {
  for (lt_cell *cell = cells->first; cell != NULL; cell = cell->next) {
    lt_cell_terminate(cell);
  }
  while (cells->running > 0) {
    (void)lt_wait_on(&cells->wait, UINT64_MAX);
  }
  while (cells->first != NULL) {
    lt_cell *cell = cells->first;
    cells->first = cell->next;
    cell_free(cell);
  }
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static bool cell_has_said(const lt_cell *cell, lt_said said) {
  for (const lt_cell_item *item = *cell->to_tell; item != NULL; item = item->next) {
    if (item->said == said) {
      return true;
    }
  }
  return false;
}

typedef struct cell_waiting {
  lt_cell *cell;
  const lt_cell_patience *patience;
  uint64_t began_us;
  uint64_t until_us; /* patience is over */
  bool is_settling;  /* it is, and there is something to tell: it goes on a little for the end */
  bool is_noted;     /* the answer is on record */
  lt_turn_cell_note noted;
} cell_waiting;

static bool cell_is_to_be_told(cell_waiting *w) {
  const lt_cell *cell = w->cell;
  if (cell->has_ended || w->is_noted) {
    return cell->has_ended || (!w->noted.has_ended && cell->count - cell->told >= w->noted.items);
  }
  if (cell_has_said(cell, LT_SAID_YIELD) || (w->patience->is_wait && cell_has_said(cell, LT_SAID_NOTICE))) {
    return true;
  }
  uint64_t now = lt_clock_monotonic_us();
  if (now < w->until_us) {
    return false;
  }
  if (cell->cells->turn->state == LT_PROMPT_WAITING) {
    w->until_us = now + LT_CELL_DECISION_MS * 1000;
    return false;
  }
  if (w->patience->is_wait && cell->count > cell->told && !w->is_settling) {
    w->is_settling = true;
    w->until_us = now + LT_CELL_SETTLE_MS * 1000;
    return false;
  }
  return !w->patience->is_wait || w->is_settling;
}

static uint64_t cell_left_ms(const cell_waiting *w) {
  uint64_t now = lt_clock_monotonic_us();
  return w->is_noted || now >= w->until_us ? UINT64_MAX : (w->until_us - now + 999) / 1000;
}

static void cell_take_news(cell_waiting *w, lt_cell_news *news) {
  lt_cell *cell = w->cell;
  size_t count = w->is_noted ? w->noted.items : cell->count - cell->told;
  *news = (lt_cell_news){.cell = cell, .first = *cell->to_tell};
  for (; news->count < count && *cell->to_tell != NULL; news->count++) {
    cell->to_tell = &(*cell->to_tell)->next;
  }
  cell->told += news->count;
  news->has_ended = w->is_noted ? w->noted.has_ended : cell->has_ended;
  news->took_ms = w->is_noted ? w->noted.took_ms : (lt_clock_monotonic_us() - w->began_us) / 1000;
  cell->is_end_told = news->has_ended;
}

lt_status lt_cell_await(lt_cell *cell, const lt_cell_patience *patience, lt_cell_news *ret_news, lt_err *err) {
  lt_cells *cells = cell->cells;
  lt_turn *turn = cells->turn;
  lt_cancel_node node;
  cell_waiting w = {.cell = cell, .patience = patience, .began_us = lt_clock_monotonic_us()};
  w.until_us = w.began_us + patience->yield_ms * 1000;
  w.is_noted = lt_turn_record_cell(turn, cells->answers, &w.noted);
  lt_cancel_add(&turn->cancel, &node, &cells->wait);
  while (turn->cancel.why == LT_OK && !cell_is_to_be_told(&w)) {
    (void)lt_wait_on(&cells->wait, cell_left_ms(&w));
  }
  lt_cancel_remove(&turn->cancel, &node);
  if (turn->cancel.why != LT_OK) {
    return lt_fail(err, turn->cancel.why, "the prompt was cancelled");
  }
  LT_TRY(cell->has_ended ? lt_err_copy(err, &cell->err) : LT_OK);
  cell_take_news(&w, ret_news);
  if (!w.is_noted) {
    w.noted =
        (lt_turn_cell_note){.items = ret_news->count, .has_ended = ret_news->has_ended, .took_ms = ret_news->took_ms};
    lt_turn_record_put_cell(turn, cells->answers, &w.noted);
  }
  cells->answers++;
  return LT_OK;
}
