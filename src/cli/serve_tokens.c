#include "cli/serve_tokens.h"

#include <string.h>

#include "base/random.h"
#include "base/sha256.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "serve/serve.h"
#include "store/store_events.h"

#define TOKEN_DIGITS      64
#define TOKEN_PREFIX      "lathe_"
#define TOKEN_NAME_DIGITS 8 /* of its hash, in `token list`: a user may have several tokens */

typedef struct serve_tokens_job {
  const char *action;
  lt_str user;
  lt_str token; /* the beginning of a hash; empty: all of the user's */
} serve_tokens_job;

/* The token is shown once: only its hash is kept. */
static lt_status serve_tokens_add(lt_store_session *s, lt_str user, lt_err *err) LT_YIELDS {
  char token[sizeof TOKEN_PREFIX + TOKEN_DIGITS] = TOKEN_PREFIX;
  if (!lt_random_hex(token + sizeof TOKEN_PREFIX - 1, TOKEN_DIGITS)) {
    return lt_fail(err, LT_E_IO, "the kernel has no random bytes");
  }
  lt_sha256_hex hash = lt_sha256(lt_str_of(token));
  LT_TRY(lt_store_token_add(s->db, lt_str_of(hash.text), user, err));
  lt_console_output(&s->console, lt_str_of(token));
  return LT_OK;
}

/* Nobody can use the server that runs, and everybody the one that starts next. */
static lt_status serve_tokens_remove(lt_store_session *s, const serve_tokens_job *job, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(list, LT_SERVE_TOKENS_BYTES);
  LT_TRY(lt_store_token_remove(s->db, job->user, job->token, err));
  LT_TRY(lt_store_token_list(s->db, &list, err));
  if (lt_str_eqc(lt_buf_view(&list), "[]")) {
    lt_console_line(&s->console, "lathe serve: ",
                    LT_STR("no token is left: a server that starts from now on answers everybody who reaches it"));
  }
  return LT_OK;
}

static lt_status serve_tokens_list(lt_store_session *s, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_SERVE_TOKENS_BYTES);
  LT_AUTO_BUF(list, LT_SERVE_TOKENS_BYTES);
  LT_AUTO_BUF(lines, LT_SERVE_TOKENS_BYTES);
  LT_TRY(lt_store_token_list(s->db, &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str user = LT_STR_NULL, made = LT_STR_NULL, hash = LT_STR_NULL;
    (void)lt_json_str(lt_json_get(it.value, "hash"), &arena, &hash);
    (void)lt_json_str(lt_json_get(it.value, "user"), &arena, &user);
    (void)lt_json_str(lt_json_get(it.value, "createdAt"), &arena, &made);
    lt_buf_printf(&lines, "%.*s  %.*s/%.*s\n", LT_STR_ARG(lt_str_sub(made, 0, 10)), LT_STR_ARG(user),
                  LT_STR_ARG(lt_str_sub(hash, 0, TOKEN_NAME_DIGITS)));
  }
  return lt_console_report(&s->console, &lines);
}

static lt_status serve_tokens_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const serve_tokens_job *job = arg;
  if (strcmp(job->action, "list") == 0) {
    return serve_tokens_list(s, err);
  }
  return strcmp(job->action, "add") == 0 ? serve_tokens_add(s, job->user, err) : serve_tokens_remove(s, job, err);
}

/* "ann", or "ann/1a2b3c4d" for one token of several, as `token list` prints it. */
static bool serve_tokens_read_name(serve_tokens_job *job, lt_str name) {
  size_t slash = strcmp(job->action, "remove") == 0 ? lt_str_find(name, LT_STR("/"), 0) : SIZE_MAX;
  job->user = lt_str_sub(name, 0, slash);
  job->token = slash == SIZE_MAX ? LT_STR_NULL : lt_str_sub(name, slash + 1, name.n);
  return lt_serve_is_user_name(job->user) && (slash == SIZE_MAX || job->token.n == TOKEN_NAME_DIGITS);
}

int lt_serve_tokens_run(const lt_config_sources *sources, const char *action, const char *user) {
  static const char *const actions[] = {"add", "list", "remove"};
  bool is_known = false;
  for (size_t i = 0; action != NULL && i < sizeof actions / sizeof actions[0]; i++) {
    is_known = is_known || strcmp(action, actions[i]) == 0;
  }
  if (!is_known) {
    return lt_store_session_refuse("serve", "say token add USER, token list, or token remove USER");
  }
  if ((strcmp(action, "list") == 0) != (user == NULL)) {
    return lt_store_session_refuse("serve", user == NULL ? "token %s wants a USER" : "token %s has no USER", action);
  }
  serve_tokens_job job = {.action = action};
  if (user != NULL && !serve_tokens_read_name(&job, lt_str_of(user))) {
    return lt_store_session_refuse("serve", "a user's name has letters, digits and . _ @ + -, at most %d",
                                   LT_SERVE_USER_BYTES);
  }
  return strcmp(action, "add") == 0 ? lt_store_session_run_new("serve", sources, serve_tokens_work, &job)
                                    : lt_store_session_run("serve", sources, serve_tokens_work, &job);
}
