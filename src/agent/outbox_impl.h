/* Private types of the outbox, for outbox.c (queue), outbox_ids.c (ids and claims) and outbox_write.c (storing and
 * reporting). Internal to agent/. */
#ifndef LT_AGENT_OUTBOX_IMPL_H
#define LT_AGENT_OUTBOX_IMPL_H

#include "agent/outbox.h"
#include "base/arena.h"
#include "base/clock.h"

typedef enum lt_output_kind { LT_OUTPUT_TEXT, LT_OUTPUT_FILE, LT_OUTPUT_TOOL } lt_output_kind;

struct lt_output {
  lt_output *next_open;
  lt_output_kind kind;
  uint32_t number;
  bool of_mode;     /* the mode put it out, not a program */
  bool is_recalled; /* stored by an earlier process */
  bool pending;     /* it had not ended in the earlier process */
  bool is_claimed;  /* this process has put it out */
  uint64_t call;
  uint64_t change; /* the last one that was stored; 0: none, or an older Lathe stored it */
  lt_str id;       /* in the prompt's arena */
  lt_str parent;   /* likewise */
  lt_arena parts;  /* memory of the members below, until the last form is written */
  lt_str text;     /* content, function or artifact */
  lt_str input;    /* JSON text; mime type */
  lt_str reason;   /* for a file its description */
  lt_str question; /* lt_outbox_tool.question */
  lt_str edited;   /* JSON text: the input that a person made of it; empty: none */
  lt_str logs;
  lt_str data;              /* JSON text */
  lt_incomplete incomplete; /* of a text that says why there is no answer */
  char start[LT_CLOCK_STAMP_BYTES];
  char decided[LT_CLOCK_STAMP_BYTES]; /* when the question about the call was decided; empty: it was not */
  lt_buf json;                        /* the JSON text that was stored last */
};

typedef enum lt_item_kind {
  ITEM_BEGIN,
  ITEM_AGAIN,
  ITEM_END,
  ITEM_STREAM,
  ITEM_DRAFT,
  ITEM_EVENT,
  ITEM_STATE
} lt_item_kind;

struct lt_outbox_item {
  lt_outbox_item *next;
  lt_item_kind what;
  uint32_t number; /* BEGIN, AGAIN, END */
  uint64_t change; /* BEGIN, END: its number among the changes of all outputs */
  size_t streamed; /* BEGIN of a text */
  size_t index;    /* DRAFT: which program of the reply */
  bool restarts;   /* DRAFT */
  lt_str function; /* DRAFT */
  lt_status status;
  char stamp[LT_CLOCK_STAMP_BYTES];
  lt_prompt_state state;
  const char *event;
  lt_buf json; /* BEGIN, END: the stored and reported JSON text */
  size_t n;
  char bytes[]; /* answer, delta or data */
};

/* outbox_write.c: stores all items in one transaction, then reports them in order. Calls `on_sending` before the
 * request to the store. On failure nothing is stored or reported. LT_YIELDS. */
lt_status lt_outbox_write(lt_outbox *outbox, lt_outbox_item *items,
                          void (*on_sending)(lt_outbox *outbox, const lt_outbox_item *items), lt_err *err) LT_YIELDS;

/* outbox_ids.c. Ids are in the turn's arena; an id is NULL when there is no memory. */
/* Makes room for one more output. */
bool lt_outbox_make_room(lt_outbox *outbox);
/* Returns the id of a mode's output: the wanted one when it is usable and free. */
lt_str lt_outbox_make_id(lt_outbox *outbox, lt_output_kind kind, lt_str wanted);
/* Returns the id of any other output; generates one when `id` is empty. */
lt_str lt_outbox_inner_id(lt_outbox *outbox, lt_str id);
/* The id of the mode's output that is the parent of this id, or empty. */
lt_str lt_outbox_parent_of(const lt_outbox *outbox, lt_str id);
/* Claims the output of an earlier process with this id; NULL: none. LT_E_DIVERGED: it has another kind. */
lt_status lt_outbox_claim(lt_outbox *outbox, lt_output_kind kind, lt_str id, lt_output **ret, lt_err *err);
/* Opens all pending outputs that were not claimed, so that they can be ended. */
void lt_outbox_open_rest(lt_outbox *outbox);

#endif
