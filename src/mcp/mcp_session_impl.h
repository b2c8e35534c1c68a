/* The struct of a session. Private to mcp_session.c (requests, tools, end), mcp_handshake.c (which protocol is spoken)
 *  mcp_inbox.c (what the server
 * sends), mcp_questions.c (what it asks) and mcp_call.c (a call of a tool). */
#ifndef LT_MCP_MCP_SESSION_IMPL_H
#define LT_MCP_MCP_SESSION_IMPL_H

#include "mcp/mcp_link.h"
#include "mcp/mcp_requests.h"
#include "mcp/mcp_session.h"

/* Requests of the server that are being answered. */
typedef struct lt_mcp_questions {
  struct lt_mcp_open_question *first;
  size_t count;
  lt_wait ended; /* woken when one has been answered */
} lt_mcp_questions;

struct lt_mcp_session {
  lt_mcp_session_options o;
  lt_mcp_link *link;
  lt_mcp_requests calls;
  lt_arena arena; /* version, server_version, instructions */
  lt_str version;
  lt_str server_version;
  lt_str instructions;
  lt_mcp_self self;
  lt_mcp_hint hint;
  bool has_tools;       /* the server declared the capability */
  bool has_tool_events; /* ... and that it tells when they change */
  bool has_logging;
  lt_mcp_features features;
  bool has_new_extras;
  bool changed;
  bool ended;
  bool warned_answer;
  bool is_hinted; /* `hint` has something new: a session with it may succeed where this one failed */
  size_t noise;
  size_t log_messages;
  lt_mcp_questions questions;
  lt_mcp_request listening; /* subscriptions/listen */
  bool is_listening;        /* a fiber waits for its end, to ask again */
  lt_wait listening_pause;  /* before that */
  lt_wait listening_ended;  /* woken when the fiber has ended */
  lt_err why;
};

/* What a question is, for messages. */
typedef struct lt_mcp_question {
  const char *what; /* "tools/list", "tool \"x\"" */
  uint64_t timeout_ms;
  lt_cancel *cancel;  /* may be NULL */
  bool uncancellable; /* "The `initialize` request MUST NOT be cancelled by clients" (Cancellation) */
  bool is_lasting;    /* its request stays in the table after the timeout, and may be answered later */
} lt_mcp_question;

/* --- mcp_session.c ------------------------------------------------------------------------------------------------ */
/* Puts a request into the table, and gives it its id. Errors: the session has ended. */
lt_status lt_mcp_session_enter(lt_mcp_session *session, lt_mcp_request *request, lt_err *err);
/* Sends the message of a request that has been entered, and waits. Takes the message. On LT_OK the answer is in the
 * request. LT_YIELDS. */
lt_status lt_mcp_session_ask(lt_mcp_session *session, lt_mcp_request *request, lt_buf *message,
                             const lt_mcp_outgoing *about, const lt_mcp_question *question, lt_err *err) LT_YIELDS;
/* A warning with a text of the server's behind it. */
void lt_mcp_session_warn(lt_mcp_session *session, const char *before, lt_str words);
/* Appends how many lines on its stdout were no messages, and the end of its stderr; nothing where there is nothing. */
void lt_mcp_session_add_noise(const lt_mcp_session *session, lt_buf *text);
void lt_mcp_session_add_stderr(const lt_mcp_session *session, lt_buf *text);
uint64_t lt_mcp_session_left_of(lt_mcp_session *session, uint64_t deadline_ms);

/* --- mcp_inbox.c -------------------------------------------------------------------------------------------------- */
/* The functions that take what the link reports; `arg` is the session. */
lt_mcp_link_events lt_mcp_inbox_events(lt_mcp_session *session);

/* --- mcp_listening.c ---------------------------------------------------------------------------------------------- */
/* Asks for notifications about the list of tools, where the server has them, until the session ends. */
void lt_mcp_listening_begin(lt_mcp_session *session);
/* The session has ended: waits for the fiber. LT_YIELDS. */
void lt_mcp_listening_end(lt_mcp_session *session) LT_YIELDS;

/* --- mcp_questions.c ---------------------------------------------------------------------------------------------- */
void lt_mcp_questions_init(lt_mcp_session *session);
/* Takes what the client can answer now as what we say about ourselves. */
void lt_mcp_questions_offer(lt_mcp_session *session);
/* Takes a request of the server, to be answered on another fiber. `text` is the whole message. False: it is not one
 * that we answer. */
bool lt_mcp_questions_take(lt_mcp_session *session, const lt_mcp_message *message, lt_str text);
/* The server does not want the answer any more. */
void lt_mcp_questions_cancel(lt_mcp_session *session, lt_json request_id);
/* Cancels all of them, and waits for their fibers. LT_YIELDS. */
void lt_mcp_questions_end(lt_mcp_session *session) LT_YIELDS;
/* Answers the `inputRequests` of a result: appends the JSON text of `inputResponses`. LT_YIELDS. */
lt_status lt_mcp_questions_answer_all(lt_mcp_session *session, lt_json questions, const lt_mcp_call_options *call,
                                      lt_buf *out, lt_err *err) LT_YIELDS;

#endif
