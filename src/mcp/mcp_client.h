/* An MCP client for one server, a process or an address: start, handshake, tool list, calls by name, restart.
 *
 * Speaks 2026-07-28 and all versions back to 2024-11-05 (docs/internals/mcp.md). Many calls
 * may be in flight; each waits on its own fiber. A server that cannot be started is not an error of lt_mcp_open: its
 * state says so, and calls fail with the reason.
 *
 * It does not know the tools' names in programs, result values or policy: these are in tool/. Loop thread only.
 */
#ifndef LT_MCP_MCP_CLIENT_H
#define LT_MCP_MCP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/json.h"
#include "io/loop.h"
#include "mcp/mcp_auth.h"
#include "text/secrets.h"
#include "trace/trace_context.h"

typedef struct lt_mcp lt_mcp;

typedef enum lt_mcp_transport {
  LT_MCP_ANY_HTTP, /* Streamable HTTP; where the server has none, that of 2024-11-05 */
  LT_MCP_OLD_SSE,  /* HTTP with server-sent events, as in 2024-11-05 */
} lt_mcp_transport;

typedef struct lt_mcp_call_options lt_mcp_call_options;

/* What on_ask answers: capabilities that the server is told. */
typedef struct lt_mcp_offers {
  bool has_forms, has_urls; /* elicitation in these modes */
  bool has_sampling;        /* requests for a model's words */
  bool has_roots;           /* beside `roots` of the options, which come first */
} lt_mcp_offers;

typedef enum lt_mcp_ask_kind { LT_MCP_ASK_ELICITATION, LT_MCP_ASK_SAMPLING, LT_MCP_ASK_ROOTS } lt_mcp_ask_kind;

/* A question of a server: to a person, to a model, or about its roots. */
typedef struct lt_mcp_ask {
  lt_mcp_ask_kind kind;
  lt_json params;    /* of elicitation/create, sampling/createMessage or roots/list; borrowed; may be NONE */
  lt_json key;       /* what the server calls it, among those of one answer (2026-07-28); NONE: it has no name */
  lt_cancel *cancel; /* may be NULL */
  const lt_mcp_call_options *call; /* the call that it is asked for; NULL: an older protocol does not tell */
} lt_mcp_ask;

typedef struct lt_mcp_options {
  lt_str name;                /* the server's name in the configuration, for messages */
  const char *url;            /* NULL: a process */
  lt_mcp_transport transport; /* of the url */
  const char *const *headers; /* of every request to the url: "Name: value"; NULL last; may be NULL */
  lt_mcp_auth *auth;          /* tokens for the url; borrowed; NULL: none are sent */
  const char *command;        /* looked up in PATH */
  const char *const *args;    /* without argv[0]; NULL last; may be NULL */
  const char *const *env;     /* the child's whole environment, NAME=value; NULL last; NULL: ours */
  const char *cwd;            /* may be NULL */
  const char *helper;         /* see io/process.h */
  uint64_t start_timeout_ms;  /* 0: LT_MCP_START_TIMEOUT_MS */
  uint64_t call_timeout_ms;   /* 0: LT_MCP_CALL_TIMEOUT_MS */
  uint64_t idle_timeout_ms;   /* after this time without a call the server is stopped, until it is called; 0: never */
  const char *list_file;      /* where its list of tools is kept (mcp_list_cache.h); NULL: nowhere */
  bool starts_at_once;        /* also when the tools are known from the last time */
  bool waits_for_call;        /* it is not started without a call, also when its tools are not known */
  const char *const *roots;   /* absolute paths that the server may ask for; NULL last; NULL: it may not ask */
  const char *log_level;      /* from which on it is asked to log: a literal; NULL: LT_MCP_LOG_LEVEL */
  bool verbose;               /* pass the server's stderr on */
  const lt_secrets *secrets;  /* masked in all server text in messages; may be NULL. Borrows */
  /* Called on the loop whenever the list of tools has changed (first list, list_changed, restart), not when a new
   * listing is the same as the old one; must not yield. */
  void (*on_tools)(void *arg, lt_mcp *mcp);
  /* A warning a person should see (noise before the handshake, a crash, a restart); must not yield. */
  void (*on_warning)(void *arg, lt_mcp *mcp, lt_str message);
  /* What on_ask can answer now; must not yield. NULL: nothing. Asked when a session begins; where each request carries
   * it (2026-07-28), at each call. */
  lt_mcp_offers (*offers)(void *arg);
  /* Answers a question: appends the result of its method as JSON. A failure becomes a JSON-RPC error with its message
   * (LT_E_UNSUPPORTED: -32601, LT_E_INVALID: -32602, LT_E_DENIED: -1). While it waits, no call of the server times out.
   * LT_YIELDS. May be NULL where nothing is offered. */
  lt_status (*on_ask)(void *arg, const lt_mcp_ask *ask, lt_buf *ret_result, lt_err *err) LT_YIELDS;
  void *arg;
} lt_mcp_options;

typedef enum lt_mcp_state {
  LT_MCP_IDLE,     /* it does not run; its tools are known, and a call starts it */
  LT_MCP_STARTING, /* process, handshake or first list under way */
  LT_MCP_READY,
  LT_MCP_DOWN, /* could not be started, or crashed too often; lt_mcp_reason says why. Calls fail with that reason; one
                  that comes after a while starts it again (LT_MCP_DOWN_RETRY_MS) */
  LT_MCP_CLOSED,
} lt_mcp_state;

/* One tool as the server listed it. All strings live until the next on_tools. */
typedef struct lt_mcp_tool {
  lt_str name;          /* on the wire */
  lt_str title;         /* may be empty */
  lt_str description;   /* may be empty */
  lt_str input_schema;  /* JSON text; "{}" where the server sent none */
  lt_str output_schema; /* JSON text; empty where there is none */
  lt_str annotations;   /* JSON text; empty where there are none */
} lt_mcp_tool;

/* Copies the options. A server whose tools are known from its list file is IDLE, and on_tools is called before this
 * returns; reading the file blocks. Any other server is started in the background (its own fiber). Does not yield.
 * Errors: LT_E_NOMEM only. Owns: the caller, lt_mcp_close. */
lt_status lt_mcp_open(lt_loop *loop, const lt_mcp_options *options, lt_mcp **ret_mcp, lt_err *err);

/* LT_YIELDS until the server's tools are known or the server is DOWN. LT_OK when they are known; otherwise the reason,
 * with the end of the server's stderr. */
lt_status lt_mcp_wait_ready(lt_mcp *mcp, lt_err *err) LT_YIELDS;

/* Starts a server that is IDLE; LT_YIELDS until it is READY or DOWN, or `timeout_ms` is over (0: the client's for
 * calls), or `cancel` (may be NULL) fires. A call of a tool says what has happened. */
void lt_mcp_wake(lt_mcp *mcp, uint64_t timeout_ms, lt_cancel *cancel) LT_YIELDS;

/* Whether a call would start a server that is DOWN. */
bool lt_mcp_may_retry(const lt_mcp *mcp);
/* Starts a server that is DOWN in the background, if it may be tried again. Does not yield. */
void lt_mcp_retry(lt_mcp *mcp);

lt_mcp_state lt_mcp_state_of(const lt_mcp *mcp);
/* Why the server is DOWN, with advice; empty in other states. Borrows. */
lt_str lt_mcp_reason(const lt_mcp *mcp);
lt_str lt_mcp_name(const lt_mcp *mcp);
/* The negotiated protocol version and the server's instructions, also of the last time; empty before they are known.
 * Borrows. */
lt_str lt_mcp_protocol_version(const lt_mcp *mcp);
lt_str lt_mcp_instructions(const lt_mcp *mcp);

/* The current tools in the server's order; a server that is down keeps its last ones. Borrows: until the next
 * on_tools. */
const lt_mcp_tool *lt_mcp_tools(const lt_mcp *mcp, size_t *ret_count);

/* The answer to a call: the `result` object of the response, as it arrived. It must not be copied or moved: `result`
 * points into it. */
typedef struct lt_mcp_result {
  lt_arena arena;  /* owns text and index */
  lt_json_doc doc; /* the whole message */
  lt_json result;  /* its "result" member */
} lt_mcp_result;

struct lt_mcp_call_options {
  uint64_t timeout_ms; /* 0: the client's */
  lt_cancel *cancel;   /* may be NULL; when it fires, notifications/cancelled is sent and the call returns the reason */
  /* May be NULL; must not yield. `total` is 0 when the server does not send one. */
  void (*on_progress)(void *arg, double progress, double total, lt_str message);
  void *arg;
  int64_t *ret_code;             /* of the server's JSON-RPC error, where there was one; may be NULL */
  bool leaves_input;             /* a result that wants input (2026-07-28) is returned as it is: the caller asks */
  const lt_trace_context *trace; /* the span that calls, sent as traceparent; NULL or without one: it is not traced */
};

/* Calls a tool with a JSON object as arguments; LT_YIELDS until the answer. A call during a restart waits for it.
 * Errors: LT_E_TIMEOUT, LT_E_CANCELLED, LT_E_CLOSED (the server is down, or died while it ran; the message says how,
 * with the end of its stderr), LT_E_INVALID (not a JSON object; or JSON-RPC error -32602, as for an unknown tool),
 * LT_E_PROTOCOL (another JSON-RPC error, or an answer that is not one), LT_E_LIMIT (over LT_MCP_LINE_MAX_BYTES, either
 * way), LT_E_NOMEM. A result with isError is LT_OK here: tool/ reads it. On success the caller releases `ret_result`.
 */
lt_status lt_mcp_call(lt_mcp *mcp, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) LT_YIELDS;
/* Passes any other request on: `params` is the JSON text of an object, whose `_meta` is replaced by ours. `name`: what
 * it is about, an address or a prompt's name; may be empty. LT_YIELDS. Errors and result: as of lt_mcp_call. */
lt_status lt_mcp_pass(lt_mcp *mcp, const char *method, lt_str name, lt_str params, const lt_mcp_call_options *options,
                      lt_mcp_result *ret_result, lt_err *err) LT_YIELDS;
void lt_mcp_result_release(lt_mcp_result *result);

/* --- Beside tools ------------------------------------------------------------------------------------------------- */
/* What the server offers beside tools, as JSON text with the members it has: {"resources": [...], "templates":
 * {"resourceTemplates": [...]}, "prompts": [...], "subscribe": truth, "completions": truth}. Empty: not known. Borrows:
 * until the caller yields. */
lt_str lt_mcp_extras(const lt_mcp *mcp);
/* From now on they are asked for in each session. `is_now`: a server for which they are not known is started. */
void lt_mcp_want_extras(lt_mcp *mcp, bool is_now);
/* Waits until they are known, or the server is DOWN or CLOSED, or `cancel` (may be NULL) fires. LT_YIELDS. */
void lt_mcp_wait_extras(lt_mcp *mcp, lt_cancel *cancel) LT_YIELDS;

/* What a server says that no call waits for. */
typedef struct lt_mcp_notice {
  lt_mcp *mcp; /* NULL: lists of another configuration (app/sources.h) */
  enum {
    LT_MCP_NOTICE_TOOLS,    /* its list of tools is another one */
    LT_MCP_NOTICE_EXTRAS,   /* what it offers beside them has changed */
    LT_MCP_NOTICE_RESOURCE, /* a resource that was subscribed to has changed */
    LT_MCP_NOTICE_LOG
  } kind;
  lt_json params; /* RESOURCE, LOG: the notification's; secrets are not masked. Borrows */
} lt_mcp_notice;

typedef struct lt_mcp_listener {
  void (*on_notice)(void *arg, const lt_mcp_notice *notice); /* must not yield; NULL: nobody listens */
  void *arg;
} lt_mcp_listener;

/* Replaces the client's one listener. */
void lt_mcp_listen(lt_mcp *mcp, const lt_mcp_listener *listener);
/* From which level on the server is asked to log: a literal of MCP's levels. */
void lt_mcp_set_log_level(lt_mcp *mcp, const char *level);

/* --- The end ------------------------------------------------------------------------------------------------------ */
/* Waits until no call and no passed request is in flight, or `hurry` fires. LT_YIELDS. */
void lt_mcp_drain(lt_mcp *mcp, lt_cancel *hurry) LT_YIELDS;
/* Shuts the server down (end of input, SIGTERM, SIGKILL); calls in flight return LT_E_CLOSED first. Then everything
 * that the client holds is released. The client itself stays until lt_mcp_free, because others may point to it: its
 * state is CLOSED, it has no name and no tools, and calls return LT_E_CLOSED. LT_YIELDS. Several may be shut down at
 * once, each from a fiber of its own. */
void lt_mcp_shut_down(lt_mcp *mcp) LT_YIELDS;
/* Frees a client that has ended. NULL is allowed. */
void lt_mcp_free(lt_mcp *mcp);
/* lt_mcp_shut_down and lt_mcp_free. LT_YIELDS. NULL is allowed. */
void lt_mcp_close(lt_mcp *mcp) LT_YIELDS;

#endif
