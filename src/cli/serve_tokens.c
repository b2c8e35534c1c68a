#include "cli/serve_tokens.h"

#include <string.h>

#include "base/random.h"
#include "base/sha256.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "store/store_events.h"

#define TOKEN_DIGITS 64
#define TOKEN_PREFIX "lathe_"

typedef struct serve_tokens_job {
  const char *action;
  const char *user;
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
static lt_status serve_tokens_remove(lt_store_session *s, lt_str user, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(list, LT_SERVE_TOKENS_BYTES);
  LT_TRY(lt_store_token_remove(s->db, user, err));
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
    lt_str user = LT_STR_NULL, made = LT_STR_NULL;
    (void)lt_json_str(lt_json_get(it.value, "user"), &arena, &user);
    (void)lt_json_str(lt_json_get(it.value, "createdAt"), &arena, &made);
    lt_buf_printf(&lines, "%.*s  %.*s\n", LT_STR_ARG(lt_str_sub(made, 0, 10)), LT_STR_ARG(user));
  }
  return lt_console_report(&s->console, &lines);
}

static lt_status serve_tokens_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const serve_tokens_job *job = arg;
  if (strcmp(job->action, "list") == 0) {
    return serve_tokens_list(s, err);
  }
  return strcmp(job->action, "add") == 0 ? serve_tokens_add(s, lt_str_of(job->user), err)
                                         : serve_tokens_remove(s, lt_str_of(job->user), err);
}

/* A name that stands in lines, headers and messages as it is. */
static bool serve_tokens_is_name(const char *user) {
  size_t n = strlen(user);
  for (size_t i = 0; i < n; i++) {
    char c = user[i];
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain && strchr("._@+-", c) == NULL) {
      return false;
    }
  }
  return n > 0 && n <= LT_SERVE_USER_BYTES;
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
  if (user != NULL && !serve_tokens_is_name(user)) {
    return lt_store_session_refuse("serve", "a user's name has letters, digits and . _ @ + -, at most %d",
                                   LT_SERVE_USER_BYTES);
  }
  serve_tokens_job job = {.action = action, .user = user};
  return strcmp(action, "add") == 0 ? lt_store_session_run_new("serve", sources, serve_tokens_work, &job)
                                    : lt_store_session_run("serve", sources, serve_tokens_work, &job);
}
