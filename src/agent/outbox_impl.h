/* The outbox's inside, for outbox.c (putting out), outbox_ids.c (which output is which) and outbox_write.c
 * (storing and telling). Internal to agent/. */
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
  bool of_mode; /* put out by the mode itself */
  bool old;     /* of an earlier process ... */
  bool pending; /* ... where it had not ended */
  bool claimed; /* put out by this process */
  uint64_t call;
  lt_str id;      /* the prompt's arena */
  lt_str parent;  /* likewise */
  lt_arena parts; /* what is below, until its last form has been written */
  lt_str text;    /* content, function or artifact */
  lt_str input;   /* JSON text; mime type */
  lt_str reason;  /* or description */
  lt_str logs;
  lt_str data; /* JSON text */
  char start[LT_CLOCK_STAMP_BYTES];
  lt_buf json; /* as it was last stored */
};

typedef enum lt_item_kind { ITEM_BEGIN, ITEM_AGAIN, ITEM_END, ITEM_STREAM, ITEM_EVENT, ITEM_STATE } lt_item_kind;

struct lt_outbox_item {
  lt_outbox_item *next;
  lt_item_kind what;
  uint32_t number; /* BEGIN, AGAIN, END */
  size_t streamed; /* BEGIN of a text */
  lt_status status;
  char stamp[LT_CLOCK_STAMP_BYTES];
  lt_prompt_state state;
  const char *event;
  lt_buf json; /* BEGIN, END: the output as it is stored and reported */
  size_t n;
  char bytes[]; /* answer, delta or data */
};

/* outbox_write.c: stores what the items say, all in one transaction, then reports it, in order. `on_sending` is called
 * before the store is asked. LT_OK: all of it; anything else: nothing. LT_YIELDS. */
lt_status lt_outbox_write(lt_outbox *outbox, lt_outbox_item *items,
                          void (*on_sending)(lt_outbox *outbox, const lt_outbox_item *items), lt_err *err) LT_YIELDS;

/* outbox_ids.c. Ids are in the turn's arena; without memory they are NULL. */
/* Room in the list for one more. */
bool lt_outbox_make_room(lt_outbox *outbox);
/* For an output of the mode's own: what is wanted, if it can be had. */
lt_str lt_outbox_make_id(lt_outbox *outbox, lt_output_kind kind, lt_str wanted);
/* For any other; empty: one is made up. */
lt_str lt_outbox_inner_id(lt_outbox *outbox, lt_str id);
/* The id of the mode's output below which this one is, or empty. */
lt_str lt_outbox_parent_of(const lt_outbox *outbox, lt_str id);
/* The output of an earlier process that has this id, or NULL. LT_E_DIVERGED: it is of another kind. */
lt_status lt_outbox_claim(lt_outbox *outbox, lt_output_kind kind, lt_str id, lt_output **ret, lt_err *err);
/* Those that were pending and have not been claimed are open again: they are to be ended. */
void lt_outbox_open_rest(lt_outbox *outbox);

#endif
