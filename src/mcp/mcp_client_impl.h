/* The struct of a client. Private to mcp_client.c (calls, opening, closing), mcp_state.c (states, and who waits for
 * them), mcp_tools.c (the list of tools) and mcp_lifecycle.c (start, end and restart of sessions). */
#ifndef LT_MCP_MCP_CLIENT_IMPL_H
#define LT_MCP_MCP_CLIENT_IMPL_H

#include "base/limits.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_list_cache.h"
#include "mcp/mcp_session.h"

typedef struct lt_mcp_extras_waiter lt_mcp_extras_waiter; /* a fiber that waits for the extras */
typedef struct lt_mcp_waiter lt_mcp_waiter;               /* a fiber that waits for the server to have started */

struct lt_mcp {
  lt_loop *loop;
  lt_arena arena; /* copies of the options */
  lt_mcp_options o;
  const char **argv;
  lt_mcp_hint hint; /* what earlier sessions have learned */
  lt_mcp_state state;
  lt_err why;              /* DOWN, CLOSED: the reason */
  lt_mcp_session *session; /* the current process, or NULL; only lt_mcp_lifecycle_run() opens and closes it */
  lt_mcp_list list;
  lt_buf version;
  lt_buf server_version;
  lt_buf instructions;
  uint64_t list_listed_ms; /* wall clock; 0: the list is not known */
  uint64_t list_start_ms;  /* how long the server took to give it */
  bool is_list_of_file;    /* the list is of the last time */
  bool is_wanted;          /* IDLE: it is to be started */
  bool was_ready;
  unsigned down_count;  /* how often in a row it has gone DOWN */
  uint64_t retry_at_ms; /* DOWN: a call from then on starts it again */
  bool closing;
  bool living;  /* lt_mcp_lifecycle_run() runs */
  size_t users; /* number of fibers inside lt_mcp_call, lt_mcp_wake and lt_mcp_wait_ready */
  size_t calls; /* ... of those inside lt_mcp_call and lt_mcp_pass */
  lt_mcp_waiter *waiters;
  lt_mcp_listener listener;
  lt_buf extras; /* as lt_mcp_extras has them; empty: not known */
  bool wants_extras;
  uint64_t extras_ms; /* when they were read */
  lt_mcp_extras_waiter *extras_waiters;
  lt_wait event; /* lt_mcp_lifecycle_run() waits here */
  lt_wait left;  /* lt_mcp_drain and lt_mcp_shut_down wait here */
  uint64_t listed_ms;
  uint64_t used_ms;                       /* when the last call ended */
  uint64_t restarts[LT_MCP_RESTARTS_MAX]; /* times of the last restarts */
  size_t restart_count;
};

/* --- mcp_client.c ------------------------------------------------------------------------------------------------- */
/* Passes a warning on, with the server's name before it; `arg` is the client. */
void lt_mcp_client_warn(void *arg, lt_str message);
/* Puts the server's name before an error, which may be NULL. Returns the error's status. */
lt_status lt_mcp_client_add_name(const lt_mcp *mcp, lt_err *err);

/* --- mcp_state.c -------------------------------------------------------------------------------------------------- */
/* Wakes who waits, unless the server is still to start. CLOSED is the last state. */
void lt_mcp_state_set(lt_mcp *mcp, lt_mcp_state state);
/* Starts a server that is IDLE, or DOWN for long enough; LT_YIELDS until it has started. LT_OK also when it is DOWN or
 * CLOSED. Errors: LT_E_TIMEOUT; the reason of `cancel`, which may be NULL. */
lt_status lt_mcp_state_wait_started(lt_mcp *mcp, uint64_t deadline_ms, lt_cancel *cancel) LT_YIELDS;
/* The time of the loop when a call has to be done, and how long that is from now; UINT64_MAX: never. A timeout of 0 is
 * the client's. */
uint64_t lt_mcp_state_deadline_of(const lt_mcp *mcp, uint64_t timeout_ms);
uint64_t lt_mcp_state_left_of(const lt_mcp *mcp, uint64_t deadline_ms);
/* The client is not freed, and its server not idle, while a fiber is inside. */
void lt_mcp_state_add_user(lt_mcp *mcp);
void lt_mcp_state_remove_user(lt_mcp *mcp);

/* --- mcp_tools.c -------------------------------------------------------------------------------------------------- */
/* Keeps version, name and instructions. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_mcp_tools_keep_facts(lt_mcp *mcp, const lt_mcp_list_facts *facts, lt_err *err);
/* Takes a list, and calls on_tools unless it is the same as before. */
void lt_mcp_tools_publish(lt_mcp *mcp, lt_mcp_list *list);
/* Takes the list of the last time, where there is one: the server is IDLE then. Blocks. */
void lt_mcp_tools_load(lt_mcp *mcp);
/* Writes the list for the next process. LT_YIELDS. */
void lt_mcp_tools_save(lt_mcp *mcp) LT_YIELDS;
/* Asks a new session for its list. LT_YIELDS. Owns: the caller, on LT_OK. */
lt_status lt_mcp_tools_read_first(lt_mcp *mcp, uint64_t deadline_ms, lt_mcp_list *ret_list, lt_err *err) LT_YIELDS;
/* Asks for the list that has changed, publishes and saves it; a failure is a warning. LT_YIELDS. */
void lt_mcp_tools_read_again(lt_mcp *mcp) LT_YIELDS;

/* --- mcp_lifecycle.c ---------------------------------------------------------------------------------------------- */
/* The client's own fiber: starts, restarts and stops the server until the client is closing; while it is DOWN, only a
 * call goes on. */
void lt_mcp_lifecycle_run(void *arg);

#endif
