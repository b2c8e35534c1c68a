/* The record of a run that can be continued in another process: a journal in memory (tool/journal.h), as JSON for the
 * way there. The loop's thread only. */
#ifndef LT_EMBED_EMBED_RECORD_H
#define LT_EMBED_EMBED_RECORD_H

#include "json/json.h"
#include "tool/caller.h"
#include "tool/masked_records.h"

#define LT_EMBED_RECORD_ID_DIGITS 32

struct embed_recorded;

typedef struct lt_embed_record {
  lt_journal base;          /* first */
  lt_masked_journal masked; /* in front of it: no secret gets into a record */
  struct embed_recorded *first, **last;
  size_t bytes, count;
  lt_status lost;   /* LT_E_LIMIT, LT_E_NOMEM: it is incomplete */
  bool is_restored; /* it comes from another process */
  /* What the other process has recorded of calls, by their names. Owned. */
  struct embed_recorded **earlier;
  size_t earlier_count;
  char id[LT_EMBED_RECORD_ID_DIGITS + 1]; /* the run's name in this process; what it runs itself has names below */
} lt_embed_record;

/* A call of a run, or of what it runs itself (lt_caller.run). Borrows. */
typedef struct lt_embed_call_name {
  lt_str run;
  uint64_t seq; /* 0: it is not on record */
} lt_embed_call_name;

/* NULL: no memory. Owns: the caller, lt_embed_record_free. */
lt_embed_record *lt_embed_record_new(void);
void lt_embed_record_free(lt_embed_record *record); /* NULL is allowed */

/* Records a run from its beginning, or has it go on by the record. Borrows: the record. */
void lt_embed_record_attach(lt_embed_record *record, const lt_secrets *secrets, lt_caller *caller);

/* The host was told of a call of a tool under a number: to carry it out, or to decide about it. Until
 * lt_embed_record_end_ask the call waits for it. NULL: it is not recorded. */
struct embed_recorded *lt_embed_record_ask(lt_embed_record *record, const lt_embed_call_name *name,
                                           bool is_for_the_answer, lt_str tool, uint64_t number);
void lt_embed_record_end_ask(struct embed_recorded *asked); /* NULL is allowed */
/* The number that a call had before; once. 0: it had none. */
uint64_t lt_embed_record_take_number(lt_embed_record *record, const lt_embed_call_name *name);
/* Whether the earlier process had begun to carry out a call: if it needed an approval, it has it, with this input
 * (empty: its own). Borrows. */
bool lt_embed_record_was_begun(const lt_embed_record *record, const lt_embed_call_name *name, lt_str *ret_edited_input);

/* Appends "entries" to an object. */
void lt_embed_record_put(const lt_embed_record *record, lt_json_writer *w);
/* Reads them into an empty record; any thread. Errors: LT_E_INVALID: that is no record; LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_embed_record_read(lt_embed_record *record, lt_json snapshot, lt_err *err);
/* The tool of the next call that waited for the host in the earlier process; empty: there are no more. Begin with
 * *at 0. Borrows. */
lt_str lt_embed_record_next_open_tool(const lt_embed_record *record, size_t *at);

#endif
