/* What the files of serve/ share. Internal to serve/. */
#ifndef LT_SERVE_SERVE_STATE_H
#define LT_SERVE_SERVE_STATE_H

#include "agent/agent.h"
#include "app/models.h"
#include "app/modules.h"
#include "gateway/gateway_http.h"
#include "io/address_range.h"
#include "io/http_server.h"
#include "io/listen_address.h"
#include "serve/serve.h"
#include "tool/masked_records.h"

/* Who asks without a token, on a server without tokens; the command line's user, too. */
#define LT_SERVE_LOCAL_USER LT_STR("local")

typedef struct lt_serve_events lt_serve_events;
typedef struct lt_serve_metrics lt_serve_metrics;
typedef struct lt_serve_limits lt_serve_limits;

/* Who is in front of the server (serve_proxy.h). */
typedef struct lt_serve_proxy {
  lt_address_range from[LT_SERVE_PROXIES_MAX];
  size_t count;                     /* 0: nobody */
  const char *user_header, *secret; /* may be NULL */
} lt_serve_proxy;

/* Who may ask (serve_users.h). */
typedef struct lt_serve_users {
  lt_arena arena;
  struct lt_serve_token *tokens;
  size_t count;
  bool is_guarded;  /* there has been a token since the server started, or a proxy says who asks: nobody is "local" */
  uint64_t read_ms; /* the loop's time when they were read last */
  bool is_read_failed; /* since then it was tried in vain, and that was said */
  bool is_watched;     /* a fiber reads them again */
} lt_serve_users;

struct lt_serve {
  struct lt_serve_config *configs; /* read again while it runs, newest first (serve_reload.c) */
  size_t config_count;
  lt_session *session;
  lt_models models;
  lt_modules modules;
  lt_http *http;
  lt_journal *journal; /* the store's */
  lt_masked_journal masked_journal;
  lt_agent *agent;
  lt_gateway *gateway;
  lt_gateway_http *mcp; /* at /mcp */
  lt_serve_events *events;
  lt_serve_metrics *metrics;
  lt_serve_proxy proxy;
  lt_serve_limits *limits;
  lt_serve_users users;
  struct lt_serve_request *requests; /* those that are carried out (serve_users.h) */
  struct lt_serve_place *queue;      /* requests that wait for their conversation (serve_queue.h) */
  struct lt_schema **bodies;         /* by the index of the route; NULL: it reads none (serve_routes.h) */
  lt_listen_address address;
  lt_http_server *server;
  const char *page_folder; /* NULL: the embedded page */
  lt_cancel closing;
  size_t background; /* fibers that belong to no request: titles */
  bool is_open;      /* it listens */
  bool is_finishing; /* no further prompts are taken */
  bool is_resuming;  /* the fiber of serve_resume.h */
  bool has_resumed;  /* the prompts that an earlier process left (serve_resume.h) */
  lt_wait idle;      /* woken when the last one ends */
  char url[128];
};

static inline lt_store *lt_serve_store(const lt_serve *serve) {
  return lt_toolbox_db(serve->session->toolbox);
}

#endif
