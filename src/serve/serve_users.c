#include "serve/serve_users.h"

#include <string.h>

#include "base/sha256.h"
#include "io/http_guard.h"
#include "serve/serve_proxy.h"
#include "serve/serve_routes.h"
#include "store/store_events.h"

typedef struct lt_serve_token {
  lt_str hash, user;
} lt_serve_token;

bool lt_serve_is_user_name(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain && (c == '\0' || strchr("._@+-", c) == NULL)) {
      return false;
    }
  }
  return name.n > 0 && name.n <= LT_SERVE_USER_BYTES;
}

/* --- Reading them ------------------------------------------------------------------------------------------------- */
static lt_status users_read(lt_str list, lt_serve_users *users, lt_err *err) {
  lt_json_doc doc;
  lt_arena *arena = &users->arena;
  lt_arena_init(arena, LT_SERVE_TOKENS_BYTES);
  lt_str text = lt_arena_dup(arena, list);
  LT_TRY(lt_json_parse(arena, text, &doc, err));
  users->tokens = lt_arena_zalloc(arena, lt_json_count(lt_json_root(&doc)) + 1, sizeof *users->tokens);
  if (users->tokens == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tokens");
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_serve_token *token = &users->tokens[users->count];
    if (lt_json_str(lt_json_get(it.value, "hash"), arena, &token->hash) &&
        lt_json_str(lt_json_get(it.value, "user"), arena, &token->user)) {
      users->count++;
    } else {
      return lt_fail(err, LT_E_NOMEM, "no memory for the tokens");
    }
  }
  return LT_OK;
}

/* Replaces the list. */
static lt_status users_reload(lt_serve *serve, lt_err *err) LT_YIELDS {
  lt_serve_users *users = &serve->users;
  lt_serve_users read = {.count = 0};
  LT_AUTO_BUF(list, LT_SERVE_TOKENS_BYTES / 4);
  LT_TRY(lt_store_token_list(lt_serve_store(serve), &list, err));
  lt_status status = users_read(lt_buf_view(&list), &read, err);
  if (status != LT_OK) {
    lt_arena_release(&read.arena);
    return status;
  }
  lt_arena_release(&users->arena);
  users->arena = read.arena;
  users->tokens = read.tokens;
  users->count = read.count;
  users->is_guarded = users->is_guarded || users->count > 0;
  users->read_ms = lt_loop_now_ms(serve->session->loop);
  users->is_read_failed = false;
  return LT_OK;
}

/* All tokens are compared, so that the time tells nothing about which one it was. */
static const lt_serve_token *users_find(const lt_serve_users *users, lt_str hash) {
  const lt_serve_token *found = NULL;
  for (size_t i = 0; i < users->count; i++) {
    if (lt_http_guard_is_same_secret(users->tokens[i].hash, hash)) {
      found = &users->tokens[i];
    }
  }
  return found;
}

/* --- Watching them ------------------------------------------------------------------------------------------------ */
static void users_end_requests(const lt_serve *serve) {
  for (lt_serve_request *r = serve->requests; r != NULL; r = r->next) {
    if (r->token.n > 0 && users_find(&serve->users, r->token) == NULL) {
      lt_cancel_fire(r->call->cancel, LT_E_CANCELLED);
    }
  }
}

static void users_look(lt_serve *serve) LT_YIELDS {
  LT_ERR_VAR(err);
  if (users_reload(serve, &err) == LT_OK) {
    users_end_requests(serve);
  } else if (!serve->users.is_read_failed) {
    serve->users.is_read_failed = true;
    lt_report_warning(&serve->session->report, "the list of tokens cannot be read: %s", lt_err_msg(&err));
  }
}

static void users_watch_on_fiber(void *arg) {
  lt_serve *serve = arg;
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, serve->session->loop);
  lt_cancel_add(&serve->closing, &node, &wait);
  while (lt_wait_on(&wait, LT_SERVE_TOKENS_MS) == LT_E_TIMEOUT) {
    users_look(serve);
  }
  lt_cancel_remove(&serve->closing, &node);
  serve->users.is_watched = false;
  lt_wait_wake(&serve->idle, LT_OK);
}

lt_status lt_serve_users_open(lt_serve *serve, lt_err *err) {
  serve->users.is_guarded = serve->proxy.user_header != NULL;
  LT_TRY(users_reload(serve, err));
  LT_TRY(lt_loop_spawn(serve->session->loop, users_watch_on_fiber, serve, err));
  serve->users.is_watched = true;
  return LT_OK;
}

void lt_serve_users_close(lt_serve *serve) {
  while (serve->users.is_watched) {
    (void)lt_wait_on(&serve->idle, UINT64_MAX);
  }
  lt_arena_release(&serve->users.arena);
  serve->users = (lt_serve_users){.count = 0};
}

/* --- Identifying -------------------------------------------------------------------------------------------------- */
static bool users_refuse(lt_serve_request *r, const char *message) {
  lt_http_answer_header(r->answer, "WWW-Authenticate", LT_STR("Bearer realm=\"lathe\""));
  lt_serve_request_refuse(r, 401, "unauthorized", "%s", message);
  return false;
}

/* A list that cannot be read any more counts for a while: a busy disk turns nobody away. */
static bool users_are_stale(const lt_serve *serve) {
  return lt_loop_now_ms(serve->session->loop) - serve->users.read_ms > LT_SERVE_TOKENS_STALE_MS;
}

static bool users_identify_by_token(lt_serve_request *r, lt_str given) {
  const lt_serve_users *users = &r->serve->users;
  if (users_are_stale(r->serve)) {
    lt_serve_request_refuse(r, 503, "starting", "the list of tokens cannot be read: try again");
    return false;
  }
  lt_sha256_hex hash = lt_sha256(given);
  const lt_serve_token *token = users_find(users, lt_str_of(hash.text));
  if (token == NULL) {
    return users_refuse(r, "the token is not known here");
  }
  r->user = lt_arena_dup(r->arena, token->user);
  r->token = lt_arena_dup(r->arena, token->hash);
  r->is_known = r->user.p != NULL && r->token.p != NULL;
  return r->is_known || users_refuse(r, "out of memory");
}

static bool users_identify_by_proxy(lt_serve_request *r, lt_str named) {
  if (r->is_known && !lt_str_eq(r->user, named)) {
    r->is_known = false;
    return users_refuse(r, "the token is another user's than the one that the proxy names");
  }
  r->user = named;
  r->is_known = true;
  return true;
}

bool lt_serve_users_identify(lt_serve_request *r) {
  lt_str named, given = lt_http_guard_bearer(lt_http_call_header(r->call, "Authorization"));
  r->user = LT_SERVE_LOCAL_USER;
  if (!lt_serve_proxy_read_user(r, &named)) {
    return false;
  }
  if ((r->route->flags & LT_SERVE_IS_PUBLIC) != 0) {
    return true;
  }
  if (given.n > 0 && !users_identify_by_token(r, given)) {
    return false;
  }
  if (named.n > 0) {
    return users_identify_by_proxy(r, named);
  }
  if (!r->is_known && !r->serve->users.is_guarded && r->serve->address.is_loopback) {
    r->is_known = r->is_own = true;
  }
  return r->is_known || users_refuse(r, "send Authorization: Bearer TOKEN; `lathe serve token add USER` makes one");
}

void lt_serve_users_enter(lt_serve_request *r) {
  r->prev = NULL;
  r->next = r->serve->requests;
  if (r->next != NULL) {
    r->next->prev = r;
  }
  r->serve->requests = r;
}

void lt_serve_users_leave(lt_serve_request *r) {
  *(r->prev != NULL ? &r->prev->next : &r->serve->requests) = r->next;
  if (r->next != NULL) {
    r->next->prev = r->prev;
  }
}
