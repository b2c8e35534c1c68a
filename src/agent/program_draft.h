/* A program while the model writes it: the reply's text in code mode, the `code` of a call that runs a program in the
 * modes whose models call tools. Its pieces are sent as prompt.stream events with `program` (agent.h says what a reader
 * may rely on). They are for people who watch; nothing else depends on them. Secrets are masked, also where a piece
 * ends within one. Internal to agent/.
 */
#ifndef LT_AGENT_PROGRAM_DRAFT_H
#define LT_AGENT_PROGRAM_DRAFT_H

#include "json/member_text.h"
#include "model/model.h"

typedef struct lt_turn lt_turn;

/* Where the replies of a mode's model have programs. */
typedef enum lt_programs_in { LT_PROGRAMS_NOWHERE, LT_PROGRAMS_IN_TEXT, LT_PROGRAMS_IN_CALLS } lt_programs_in;

typedef struct lt_program_draft {
  size_t call;     /* lt_draft_piece.call; 0 where the text is the program */
  lt_str function; /* that of the output to come; lives as long as the turn */
  lt_member_text code;
  lt_buf held; /* the end of what has arrived: it may be the beginning of a secret */
} lt_program_draft;

typedef struct lt_program_drafts {
  lt_turn *turn;
  size_t count;     /* in `list` */
  size_t next_call; /* the calls before this one are known: they are in the list, or run no program */
  bool is_open;     /* readers have got something that no output has replaced */
  lt_program_draft list[LT_PROGRAM_DRAFTS_MAX]; /* last, as it is not cleared */
} lt_program_drafts;

void lt_program_drafts_init(lt_program_drafts *drafts, lt_turn *turn);
void lt_program_drafts_release(lt_program_drafts *drafts);

/* Takes a piece of a reply (lt_completion_request.on_draft); `arg` is the drafts. Does not yield. */
void lt_program_drafts_take(void *arg, const lt_draft_piece *piece);
/* The reply has ended: sends what was held back. Does not yield. */
void lt_program_drafts_end(lt_program_drafts *drafts);
/* An output has replaced what was sent. */
void lt_program_drafts_settle(lt_program_drafts *drafts);
/* Tells readers that what was sent is no program; nothing where nothing was sent. Does not yield. */
void lt_program_drafts_drop(lt_program_drafts *drafts);

#endif
