/* Requests in flight: their ids, their waiting callers, and late, repeated or lost answers.
 *
 * A request is in its caller's frame; the table only links it. An answer, or the end of the server, takes the request
 * out of the table and wakes the caller. Nothing here writes to the server, and nothing here suspends.
 */
#ifndef LT_MCP_MCP_REQUESTS_H
#define LT_MCP_MCP_REQUESTS_H

#include "base/limits.h"
#include "text/secrets.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_protocol.h"

typedef struct lt_mcp_request {
  struct lt_mcp_request *prev, *next;
  int64_t id;
  lt_wait wait;
  bool is_entered;          /* in the table */
  bool done;                /* out of the table: answered or failed */
  bool is_unheard;          /* over HTTP: the server did not know the session, so nothing was done */
  int http_status;          /* when done by a refusal over HTTP; else 0 */
  int64_t code;             /* of the JSON-RPC error; 0: none */
  bool is_modern_elsewhere; /* with code LT_MCP_UNSUPPORTED_VERSION: the server lists a version that we speak */
  bool suspect;             /* its answer may have been a line that was dropped */
  lt_status status;
  lt_err err;           /* when done and status is not LT_OK */
  lt_mcp_result answer; /* when done and status is LT_OK: the caller's */
  void (*on_progress)(void *arg, double progress, double total, lt_str message);
  void *arg;
} lt_mcp_request;

typedef struct lt_mcp_requests {
  lt_loop *loop;
  lt_mcp_request *first, *last;
  int64_t last_id;
  size_t lost;          /* lines dropped whose request is not known yet */
  const char *lost_how; /* what was wrong with the last one: a literal */
  int64_t late[LT_MCP_LATE_IDS];
  size_t late_next;
} lt_mcp_requests;

typedef enum lt_mcp_answered {
  LT_MCP_ANSWERED,
  LT_MCP_ANSWERED_LATE, /* its caller has given up; expected */
  LT_MCP_ANSWERED_NONE, /* no request of ours has that id, or it has been answered before */
} lt_mcp_answered;

void lt_mcp_requests_init(lt_mcp_requests *calls, lt_loop *loop);

/* Gives the request an id and puts it into the table. Borrows: the request, until it is done or lt_mcp_requests_leave.
 */
void lt_mcp_requests_enter(lt_mcp_requests *calls, lt_mcp_request *request);

/* Takes out a request that is not done; nothing when it is not in the table. An answer that arrives afterwards is late.
 */
void lt_mcp_requests_leave(lt_mcp_requests *calls, lt_mcp_request *request);

/* Hands a response over. On LT_MCP_ANSWERED, `line` has been taken when it carried a result. `secrets` are masked in an
 * error's text; may be NULL. */
lt_mcp_answered lt_mcp_requests_answer(lt_mcp_requests *calls, const lt_mcp_message *message, lt_mcp_result *line,
                                       const lt_secrets *secrets);

/* Passes notifications/progress to its request, if that is in the table. */
void lt_mcp_requests_progress(lt_mcp_requests *calls, lt_json params, lt_arena *arena);

/* Reports a dropped line. `how` is the reason, a literal such as "over 64 MiB". If the line can only be the answer to
 * one request, that request fails with LT_E_LIMIT, and the function returns true. */
bool lt_mcp_requests_lost_line(lt_mcp_requests *calls, const char *how);

/* Fails the request with this id. False: no request has it. */
bool lt_mcp_requests_fail(lt_mcp_requests *calls, int64_t id, const lt_err *err);

/* Fails the request with this id by a JSON-RPC error that came without it. */
void lt_mcp_requests_refuse(lt_mcp_requests *calls, int64_t id, int http_status, lt_json error,
                            const lt_secrets *secrets);
/* The request with this id, or NULL. */
lt_mcp_request *lt_mcp_requests_find(const lt_mcp_requests *calls, int64_t id);

/* Fails every request with `err`. */
void lt_mcp_requests_fail_all(lt_mcp_requests *calls, const lt_err *err);

#endif
