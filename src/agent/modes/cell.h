/* Cells: the programs of mode codex, which run on when their model is asked (docs/internals/codex.md). Internal to
 * agent/. Loop thread only.
 *
 * A cell runs on a fiber of its own and adds what it says to a list of items. An answer to the model contains the items
 * that no earlier answer has contained. How many these are and whether the cell has ended depends on the time, so each
 * answer is on record: when the prompt is carried out again, the same answers are given. */
#ifndef LT_AGENT_MODES_CODEX_CELL_H
#define LT_AGENT_MODES_CODEX_CELL_H

#include "agent/turn.h"
#include "runner/run_result.h"

typedef struct lt_cells lt_cells;

typedef struct lt_cell_item {
  struct lt_cell_item *next;
  lt_said said;
  lt_str text;
} lt_cell_item;

typedef struct lt_cell {
  struct lt_cell *next;
  lt_cells *cells;
  uint32_t number; /* its id for the model; from 1 */
  uint32_t output; /* the output of the call that began it, which names its run */
  lt_str code;
  lt_cancel cancel; /* follows the turn's */
  lt_cancel_node from_turn;
  lt_stored_values *values; /* its own: what it found when it began, and its changes */
  lt_stored_values *found;
  lt_arena arena; /* of the items */
  lt_cell_item *first, **last;
  size_t count;           /* of items */
  lt_cell_item **to_tell; /* the place of the first item that was not told */
  size_t told;            /* number of items that were */
  lt_run_result result;
  lt_status status; /* not LT_OK: the turn is over, and `err` says why */
  lt_err err;
  bool has_ended;
  bool is_end_told;
} lt_cell;

struct lt_cells {
  lt_turn *turn;
  lt_cell *first;
  uint32_t count, running;
  uint64_t answers; /* so far; the number of the next one on record */
  lt_wait wait;     /* the turn's fiber waits here */
};

void lt_cell_list_init(lt_cells *cells, lt_turn *turn);
/* Ends those that run, waits for them, and frees all. LT_YIELDS. */
void lt_cell_list_release(lt_cells *cells) LT_YIELDS;

/* Begins a program. Borrows: `code`, as long as the cells. Errors: LT_E_LIMIT: LT_CELLS_MAX run; LT_E_NOMEM. */
lt_status lt_cell_begin(lt_cells *cells, uint32_t output, lt_str code, lt_cell **ret_cell, lt_err *err);
/* The cell with this id whose end was not told; NULL: none. */
lt_cell *lt_cell_find(const lt_cells *cells, lt_str id);
/* Ends the cell for good: it is not run again, whatever happens to the process. */
void lt_cell_terminate(lt_cell *cell);

typedef struct lt_cell_patience {
  uint64_t yield_ms;
  bool is_wait; /* it waits until there is something to tell: yield_ms alone is no reason to return, notify() is one */
} lt_cell_patience;

/* What an answer tells. */
typedef struct lt_cell_news {
  const lt_cell *cell;
  const lt_cell_item *first;
  size_t count;
  bool has_ended;
  uint64_t took_ms; /* how long the model has waited for it */
} lt_cell_news;

/* Waits until the model is to be answered: the cell has ended or said yield_control(), or its patience is over. While a
 * person is asked about a call of the prompt, it is not. Then takes what is to be told. LT_YIELDS. Errors: the turn is
 * over. */
lt_status lt_cell_await(lt_cell *cell, const lt_cell_patience *patience, lt_cell_news *ret_news, lt_err *err) LT_YIELDS;

#endif
