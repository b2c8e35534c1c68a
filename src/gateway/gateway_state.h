/* What the files of the gateway share. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_STATE_H
#define LT_GATEWAY_GATEWAY_STATE_H

#include "agent/agent.h"
#include "app/models.h"
#include "app/modules.h"
#include "gateway/gateway.h"
#include "tool/masked_records.h"

/* The command line's user: whose clients over stdio are, and those of `lathe mcp --http`. */
#define LT_GATEWAY_USER LT_STR("local")

typedef struct lt_gateway_request lt_gateway_request;
typedef struct lt_gateway_asking lt_gateway_asking;

struct lt_gateway {
  lt_session *session;
  lt_models models;
  lt_modules modules;
  lt_http *http;
  lt_journal *journal;              /* the store's */
  lt_masked_journal masked_journal; /* in front of it */
  lt_agent *agent;
  bool has_own_agent;
  lt_gateway_asking *asking; /* gateway_asking.h */
  lt_gateway_peer *peers;
  struct lt_gateway_subscription *subscriptions; /* of clients to resources (gateway_resources.c) */
  struct lt_gateway_await *awaits;               /* requests that wait for runs (gateway_progress.h) */
  struct lt_gateway_listening *listening;        /* open subscriptions/listen (gateway_changes.c) */
  const char *log_level;                         /* that servers are asked for; NULL: the client's own */
  size_t requests;                               /* that are being answered */
  lt_cancel closing;
  lt_wait answered; /* woken when the last request is answered */
};

/* What a tool of ours answers to its call. */
typedef struct lt_gateway_answer {
  lt_buf text;   /* what the model reads */
  lt_buf blocks; /* more content, as JSON objects with commas between them; may be empty */
  lt_buf whole;  /* a CallToolResult as JSON text, in place of the text; may be empty */
  bool is_error;
} lt_gateway_answer;

/* A tool that clients see. Every text depends on the configuration and the servers' tools alone, byte for byte. */
typedef struct lt_gateway_tool {
  const char *name;
  const char *title;
  const char *annotations; /* JSON */
  const char *input_schema;
  /* With mcp.approveByCall, in their places; NULL: the same. */
  const char *deciding_annotations, *deciding_input_schema;
  /* Appends the description. */
  lt_status (*describe)(lt_gateway *gateway, lt_buf *out, lt_err *err);
  /* Carries out a call; `arguments` is an object or NONE. LT_OK: `ret_answer` is the answer, also a failure that a
   * model can repair. Anything else is an error of the protocol. LT_YIELDS. */
  lt_status (*call)(lt_gateway_request *request, lt_json arguments, lt_gateway_answer *ret_answer,
                    lt_err *err) LT_YIELDS;
} lt_gateway_tool;

/* One row for each tool: gateway_NAME.c defines lt_gateway_NAME. */
#define LT_GATEWAY_TOOLS(ROW) ROW(search) ROW(execute) ROW(continue) ROW(read)

#define LT_GATEWAY_DECLARE(name) extern const lt_gateway_tool lt_gateway_##name;
LT_GATEWAY_TOOLS(LT_GATEWAY_DECLARE)

#endif
