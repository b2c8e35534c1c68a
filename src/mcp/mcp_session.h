/* One process of a server, from its start to its end: handshake, lists, calls.
 *
 * A client has one session at a time, and a new one after each crash. A session ends once, with a reason. All requests
 * in flight and all later requests fail with that reason. Loop thread only.
 */
#ifndef LT_MCP_MCP_SESSION_H
#define LT_MCP_MCP_SESSION_H

#include "mcp/mcp_client.h"
#include "mcp/mcp_list.h"

typedef struct lt_mcp_session lt_mcp_session;

/* What an earlier session has learned about the server. */
typedef struct lt_mcp_hint {
  bool is_legacy;        /* it wants a handshake */
  bool is_old_transport; /* over HTTP: it speaks that of 2024-11-05 */
} lt_mcp_hint;

typedef struct lt_mcp_session_options {
  lt_loop *loop;
  const lt_mcp_options *server; /* borrowed as long as the session lives */
  const char *const *argv;      /* likewise */
  lt_mcp_hint hint;
  void (*on_warning)(void *arg, lt_str message); /* must not yield */
  void (*on_change)(void *arg);                  /* it has ended, or the tools or extras have changed; must not yield */
  void (*on_notice)(void *arg, lt_mcp_notice *notice); /* its `mcp` is not set; must not yield */
  void *arg;
} lt_mcp_session_options;

/* Starts the process. LT_YIELDS only when it fails. Owns: the caller, lt_mcp_session_close. */
lt_status lt_mcp_session_open(const lt_mcp_session_options *options, lt_mcp_session **ret_session,
                              lt_err *err) LT_YIELDS;

/* The handshake. LT_YIELDS until it is done or `deadline_ms` (lt_loop_now_ms) has come. */
lt_status lt_mcp_session_start(lt_mcp_session *session, uint64_t deadline_ms, lt_err *err) LT_YIELDS;

/* Reads the whole list of tools into `list` (initialized, empty); empty for a server without tools. LT_YIELDS. */
lt_status lt_mcp_session_list(lt_mcp_session *session, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) LT_YIELDS;

typedef struct lt_mcp_session_request {
  const char *method;     /* a literal; NULL: tools/call */
  lt_str tool, arguments; /* of another method: what it is about, and its params */
  lt_str input_schema;    /* of the tool, as listed; may be empty */
  const lt_mcp_call_options *options;
  uint64_t timeout_ms; /* replaces the options' */
  bool is_unheard;     /* set when the call failed and was not carried out: the server did not know the session */
} lt_mcp_session_request;

/* Like lt_mcp_call, in this session. */
lt_status lt_mcp_session_call(lt_mcp_session *session, lt_mcp_session_request *request, lt_mcp_result *ret_result,
                              lt_err *err) LT_YIELDS;

/* After a failed lt_mcp_session_start: whether another session may succeed, with the hint that is set then. After a
 * successful one the hint holds for later sessions. */
bool lt_mcp_session_has_hint(const lt_mcp_session *session, lt_mcp_hint *ret_hint);

/* Why it has ended, or NULL while it goes on. Borrows: the session. */
const lt_err *lt_mcp_session_ended(const lt_mcp_session *session);
/* Whether the server has said that its tools have changed since the last lt_mcp_session_list began. */
bool lt_mcp_session_changed(const lt_mcp_session *session);
/* What the server has declared beside tools. */
typedef struct lt_mcp_features {
  bool resources, subscribe, prompts, completions;
} lt_mcp_features;

/* Whether the server has said since the last lt_mcp_session_take_features that its resources or prompts have changed.
 */
bool lt_mcp_session_has_new_extras(const lt_mcp_session *session);
lt_mcp_features lt_mcp_session_take_features(lt_mcp_session *session);
/* Asks for the log level that the client's options have. */
void lt_mcp_session_set_log_level(lt_mcp_session *session);
/* Borrow: the session; empty before the handshake. */
lt_str lt_mcp_session_version(const lt_mcp_session *session);
lt_str lt_mcp_session_instructions(const lt_mcp_session *session);
/* "name version", as the server calls itself. */
lt_str lt_mcp_session_server_version(const lt_mcp_session *session);

/* The server's process; 0: it is none of ours. */
int lt_mcp_session_pid(const lt_mcp_session *session);
/* Asks for the first page of the list of tools, and drops it: how long the server takes to answer, in microseconds. 0:
 * it has no tools, so it is not asked. LT_YIELDS. */
lt_status lt_mcp_session_measure(lt_mcp_session *session, uint64_t deadline_ms, uint64_t *ret_us,
                                 lt_err *err) LT_YIELDS;

/* Ends the session with the reason `why`, unless it has ended already. Does not yield. */
void lt_mcp_session_end(lt_mcp_session *session, const lt_err *why);
/* Ends the process and frees the session. The session must have ended. NULL is allowed. LT_YIELDS. */
void lt_mcp_session_close(lt_mcp_session *session) LT_YIELDS;

#endif
