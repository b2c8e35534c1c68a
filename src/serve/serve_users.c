#include "serve/serve_users.h"

#include "base/sha256.h"
#include "io/http_guard.h"
#include "serve/serve_routes.h"
#include "store/store_events.h"

typedef struct lt_serve_token {
  lt_str hash, user;
} lt_serve_token;

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

lt_status lt_serve_users_refresh(lt_serve *serve, lt_err *err) {
  uint64_t now = lt_loop_now_ms(serve->session->loop);
  if (serve->users.read_ms > 0 && now - serve->users.read_ms < LT_SERVE_TOKENS_MS) {
    return LT_OK;
  }
  lt_serve_users users = {.read_ms = now};
  LT_AUTO_BUF(list, LT_SERVE_TOKENS_BYTES / 4);
  LT_TRY(lt_store_token_list(lt_serve_store(serve), &list, err));
  lt_status status = users_read(lt_buf_view(&list), &users, err);
  if (status != LT_OK) {
    lt_arena_release(&users.arena);
    return status;
  }
  users.is_guarded = serve->users.is_guarded || users.count > 0;
  lt_serve_users_release(&serve->users);
  serve->users = users;
  return LT_OK;
}

void lt_serve_users_release(lt_serve_users *users) {
  lt_arena_release(&users->arena);
  *users = (lt_serve_users){.count = 0};
}

bool lt_serve_users_at(const lt_serve_users *users, size_t i, lt_str *ret_user) {
  if (i >= users->count) {
    return false;
  }
  *ret_user = users->tokens[i].user;
  return true;
}

/* --- Identifying -------------------------------------------------------------------------------------------------- */
/* All tokens are compared, so that the time tells nothing about which one it was. */
static const lt_serve_token *users_find(const lt_serve_users *users, lt_str given) {
  const lt_serve_token *found = NULL;
  lt_sha256_hex hash = lt_sha256(given);
  for (size_t i = 0; i < users->count; i++) {
    if (lt_http_guard_is_same_secret(users->tokens[i].hash, lt_str_of(hash.text))) {
      found = &users->tokens[i];
    }
  }
  return found;
}

static bool users_refuse(lt_serve_request *r, const char *message) {
  lt_http_answer_header(r->answer, "WWW-Authenticate", LT_STR("Bearer realm=\"lathe\""));
  lt_serve_request_refuse(r, 401, "unauthorized", "%s", message);
  return false;
}

bool lt_serve_users_identify(lt_serve_request *r, bool is_final) {
  const lt_serve_users *users = &r->serve->users;
  lt_str given = lt_http_guard_bearer(lt_http_call_header(r->call, "Authorization"));
  r->user = LT_SERVE_LOCAL_USER;
  if ((r->route->flags & LT_SERVE_IS_PUBLIC) != 0 ||
      (!users->is_guarded && given.n == 0 && r->serve->address.is_loopback)) {
    return true;
  }
  if (given.n == 0) {
    return users_refuse(r, "send Authorization: Bearer TOKEN; `lathe serve token add USER` makes one");
  }
  const lt_serve_token *token = users_find(users, given);
  if (token == NULL && is_final) {
    return users_refuse(r, "the token is not known here");
  }
  r->user = token != NULL ? lt_arena_dup(r->arena, token->user) : r->user;
  return r->user.p != NULL || users_refuse(r, "out of memory");
}
