/* Upkeep of the database: what it has, and removing what is old.
 *
 * Nothing is removed that belongs to a prompt that has not ended: neither its conversation nor its record nor an
 * artifact of its conversation. Every function LT_YIELDS and may fail with the errors that store.h lists.
 */
#ifndef LT_STORE_STORE_UPKEEP_H
#define LT_STORE_STORE_UPKEEP_H

#include "store/store.h"

/* Calls: with the other data that a run can be repeated from. Conversations: with their prompts, and the calls of
 * those. */
typedef enum lt_store_kind { LT_STORE_CONVERSATIONS, LT_STORE_CALLS, LT_STORE_ARTIFACTS, LT_STORE_KINDS } lt_store_kind;
/* "conversations", "calls", "artifacts". */
const char *lt_store_kind_name(lt_store_kind kind);

/* For each kind how many days it is kept; -1: for ever. Conversations count from their last use. */
typedef struct lt_store_ages {
  int64_t days[LT_STORE_KINDS];
} lt_store_ages;

typedef struct lt_store_trimmed {
  uint64_t removed[LT_STORE_KINDS]; /* conversations, calls, artifacts; those of removed conversations included */
  uint64_t artifact_bytes;
  uint64_t rows; /* all of them, also the ones that are not counted above; 0: nothing is left to remove */
} lt_store_trimmed;

/* Appends {"path", "bytes", "freeBytes", "readOnly", "kinds": [{"kind", "count", "oldest"?, "bytes"?}]}.
 * Bytes per kind are missing when the database library cannot tell them. */
lt_status lt_store_report(lt_store *store, lt_buf *out, lt_err *err) LT_YIELDS;
/* Bytes of the database's file, and of the file of changes that are not in it yet; 0: it is in memory. Blocks: call it
 * by lt_loop_offload. */
void lt_store_measure(const lt_store *store, uint64_t *ret_bytes, uint64_t *ret_journal_bytes);
/* Whether the file may be written, and there is room for more. True for one that does not exist yet. Blocks, too. */
bool lt_store_is_writable(const lt_store *store);
/* Removes about `max_rows` rows that are older than that, oldest first, in one transaction. To remove all, call it
 * until `rows` is 0. `is_patient` false: fails at once while another process writes, instead of waiting for it. */
lt_status lt_store_trim(lt_store *store, const lt_store_ages *ages, size_t max_rows, bool is_patient,
                        lt_store_trimmed *ret_trimmed, lt_err *err) LT_YIELDS;
/* Counts what lt_store_trim would remove. */
lt_status lt_store_trim_count(lt_store *store, const lt_store_ages *ages, lt_store_trimmed *ret_trimmed,
                              lt_err *err) LT_YIELDS;
/* Removes about `max_rows` rows of a conversation, its last prompt last, in one transaction; `*ret_done`: it is gone.
 * LT_E_NOTFOUND: the user has no such conversation. LT_E_INVALID: a prompt of it has not ended. */
lt_status lt_store_conversation_remove(lt_store *store, lt_str user, lt_str id, size_t max_rows, bool *ret_done,
                                       lt_err *err) LT_YIELDS;
/* Whether a job has opened the file already. Does not yield. */
bool lt_store_is_open(const lt_store *store);
/* Rewrites the file without its free pages. Needs as much room again for a moment. Other processes wait meanwhile. */
lt_status lt_store_compact(lt_store *store, lt_err *err) LT_YIELDS;

#endif
