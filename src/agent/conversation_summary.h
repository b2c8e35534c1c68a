/* Long conversations: when the earlier prompts take too much of a model's context, the model summarises the earliest of
 * them, and from then on the summary stands in their place.
 *
 * A summary is kept with the conversation; the prompts stay in the store. It is made rarely, and covers most of the
 * history at once: in between, requests begin with the same bytes. One that fails, or is killed, changes nothing: the
 * history is shortened (history/history.h), and the next prompt tries again.
 */
#ifndef LT_AGENT_CONVERSATION_SUMMARY_H
#define LT_AGENT_CONVERSATION_SUMMARY_H

#include "agent/agent.h"
#include "model/model.h"

typedef struct lt_turn lt_turn;

/* What stands in the place of a conversation's earliest prompts; empty: nothing does. */
typedef struct lt_conversation_summary {
  lt_str text;
  lt_str up_to; /* the id of the last prompt that it covers */
} lt_conversation_summary;

/* What a new summary is to cover. */
typedef struct lt_summary_plan {
  lt_str until;   /* the id of the last prompt; empty: none is to be made */
  uint32_t count; /* of prompts */
} lt_summary_plan;

/* Reads the summary of a turn's conversation, and plans a new one where the history is too long; turn->history has been
 * read. Failures are ignored. LT_YIELDS. Internal to agent/. */
void lt_conversation_summary_plan(lt_turn *turn) LT_YIELDS;
/* Makes the summary that is planned. Reports that as prompt.summarized {promptId, conversationId, prompts}. A prompt
 * that is carried out again makes none while its replies are on record. Failures are ignored. LT_YIELDS. Internal to
 * agent/. */
void lt_conversation_summary_prepare(lt_turn *turn) LT_YIELDS;

typedef struct lt_compact_request {
  lt_str user, conversation;
  lt_str model;      /* a ref; empty: the default */
  lt_cancel *cancel; /* may be NULL; the agent's end ends it, too */
  /* Called before each wait for another try of the model; may be NULL. Must not yield. */
  void (*on_retry)(void *arg, const lt_retry_notice *notice);
  void *arg;
} lt_compact_request;

/* Summarises all of a conversation at once. Appends the summary as lt_store_summary_get does; where nothing was said
 * since the last one, that. LT_YIELDS. Errors: LT_E_NOTFOUND (the conversation, the model, nothing was said),
 * LT_E_INVALID (a prompt of it runs), the model's, the store's. */
lt_status lt_conversation_compact(lt_agent *agent, const lt_compact_request *request, lt_buf *ret_summary,
                                  lt_err *err) LT_YIELDS;

#endif
