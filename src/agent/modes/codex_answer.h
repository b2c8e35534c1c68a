/* What the model of mode codex reads of a cell. Internal to agent/. */
#ifndef LT_AGENT_MODES_CODEX_ANSWER_H
#define LT_AGENT_MODES_CODEX_ANSWER_H

#include "agent/modes/cell.h"

/* Appends the answer: how the cell is, how long the model has waited, what the cell has said, and its error. At most
 * about `max_tokens` of it. Its images become files of the prompt, and `parts` of the answer (media_parts.h).
 * LT_YIELDS. Errors: LT_E_NOMEM. */
lt_status lt_codex_answer_put(lt_turn *turn, const lt_cell_news *news, size_t max_tokens, lt_buf *out, lt_buf *parts,
                              lt_err *err) LT_YIELDS;

#endif
