#include "mcp/mcp_token_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "io/seal.h"
#include "json/json.h"
#include "text/base64.h"

#define TOKEN_KEY_ADVICE "LATHE_TOKEN_KEY has to be 64 hexadecimal digits: make them with `openssl rand -hex 32`"

/* --- Records ------------------------------------------------------------------------------------------------------ */

typedef struct token_member {
  const char *name;
  size_t at;
} token_member;

static const token_member members[] = {
    {"issuer", offsetof(lt_mcp_tokens, issuer)},
    {"resource", offsetof(lt_mcp_tokens, resource)},
    {"tokenEndpoint", offsetof(lt_mcp_tokens, token_endpoint)},
    {"revocationEndpoint", offsetof(lt_mcp_tokens, revocation_endpoint)},
    {"clientId", offsetof(lt_mcp_tokens, client_id)},
    {"clientSecret", offsetof(lt_mcp_tokens, client_secret)},
    {"clientMethod", offsetof(lt_mcp_tokens, client_method)},
    {"redirectUri", offsetof(lt_mcp_tokens, redirect_uri)},
    {"accessToken", offsetof(lt_mcp_tokens, access_token)},
    {"refreshToken", offsetof(lt_mcp_tokens, refresh_token)},
    {"scope", offsetof(lt_mcp_tokens, scope)},
    {"wanted", offsetof(lt_mcp_tokens, wanted)},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static lt_str *token_store_member(const lt_mcp_tokens *tokens, size_t i) {
  return (lt_str *)(void *)((char *)(uintptr_t)tokens + members[i].at);
}

void lt_mcp_tokens_init(lt_mcp_tokens *tokens) {
  *tokens = (lt_mcp_tokens){.expires_at = 0};
  lt_arena_init(&tokens->arena, LT_MCP_AUTH_MEMORY_BYTES);
}

void lt_mcp_tokens_release(lt_mcp_tokens *tokens) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    lt_str text = *token_store_member(tokens, i);
    if (text.n > 0) {
      explicit_bzero((char *)(uintptr_t)text.p, text.n);
    }
  }
  lt_arena_release(&tokens->arena);
  lt_mcp_tokens_init(tokens);
}

static void token_store_put(const lt_mcp_tokens *tokens, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    lt_str text = *token_store_member(tokens, i);
    if (text.n > 0) {
      lt_json_key(&w, members[i].name);
      lt_json_put_str(&w, text);
    }
  }
  lt_json_key(&w, "expiresAt");
  lt_json_put_int(&w, tokens->expires_at);
  lt_json_end_object(&w);
}

/* Every text is copied: releasing overwrites it. */
static bool token_store_take(lt_json object, lt_arena *parsed, lt_mcp_tokens *tokens) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    lt_str text = LT_STR_NULL;
    if (lt_json_str(lt_json_get(object, members[i].name), parsed, &text)) {
      lt_str copy = lt_arena_dup(&tokens->arena, text);
      if (copy.p == NULL) {
        return false;
      }
      *token_store_member(tokens, i) = copy;
    }
  }
  (void)lt_json_int(lt_json_get(object, "expiresAt"), &tokens->expires_at);
  return true;
}

/* --- Encryption --------------------------------------------------------------------------------------------------- */

static int token_store_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static lt_status token_store_read_key(const char *text, char *ret_key, lt_err *err) {
  for (size_t i = 0; i < LT_SEAL_KEY_BYTES; i++) {
    int high = token_store_digit(*text), low = high >= 0 ? token_store_digit(text[1]) : -1;
    if (low < 0) {
      return lt_fail(err, LT_E_CONFIG, TOKEN_KEY_ADVICE);
    }
    ret_key[i] = (char)(high * 16 + low);
    text += 2;
  }
  return *text == '\0' ? LT_OK : lt_fail(err, LT_E_CONFIG, TOKEN_KEY_ADVICE);
}

/* What the encrypted text is bound to: it cannot be moved to another server's file. */
static void token_store_put_owner(const lt_mcp_token_place *place, lt_buf *out) {
  lt_buf_add(out, place->server);
  lt_buf_byte(out, '\n');
  lt_buf_add(out, place->url);
}

static lt_status token_store_seal(const lt_mcp_token_place *place, lt_str text, lt_buf *out, lt_err *err) {
  char key[LT_SEAL_KEY_BYTES];
  LT_AUTO_BUF(owner, 2 * LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(sealed, LT_MCP_AUTH_FILE_MAX_BYTES);
  token_store_put_owner(place, &owner);
  LT_TRY(token_store_read_key(place->key, key, err));
  lt_status status = lt_seal_close(key, lt_buf_view(&owner), text, &sealed, err);
  explicit_bzero(key, sizeof key);
  LT_TRY(status);
  lt_base64_encode(lt_buf_view(&sealed), out);
  return lt_buf_check(out, err, "no memory for tokens");
}

static lt_status token_store_unseal(const lt_mcp_token_place *place, lt_str text, lt_buf *out, lt_err *err) {
  char key[LT_SEAL_KEY_BYTES];
  LT_AUTO_BUF(owner, 2 * LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(sealed, LT_MCP_AUTH_FILE_MAX_BYTES);
  if (place->key == NULL) {
    return lt_fail(err, LT_E_DENIED, "its tokens are encrypted: set LATHE_TOKEN_KEY to the key that it had at login");
  }
  token_store_put_owner(place, &owner);
  lt_base64_decode(text, &sealed);
  LT_TRY(token_store_read_key(place->key, key, err));
  lt_status status = lt_seal_open(key, lt_buf_view(&owner), lt_buf_view(&sealed), out, err);
  explicit_bzero(key, sizeof key);
  return status == LT_E_DENIED ? lt_fail(err, status,
                                         "its tokens were encrypted with another LATHE_TOKEN_KEY, or have been "
                                         "changed: set the key that it had at login, or log in again")
                               : status;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

typedef struct token_job {
  const lt_mcp_token_place *place;
  const lt_mcp_tokens *from; /* writing */
  lt_mcp_tokens *to;         /* reading */
  lt_status status;
  lt_err err;
} token_job;

static void token_store_wipe(lt_buf *buf) {
  if (buf->p != NULL) {
    explicit_bzero(buf->p, buf->n);
  }
}

static lt_status token_store_run(const lt_mcp_token_place *place, void (*fn)(void *arg), token_job *job,
                                 lt_err *err) LT_YIELDS {
  if (place->file == NULL) {
    return LT_OK;
  }
  job->place = place;
  LT_TRY(lt_loop_offload(place->loop, fn, job, err));
  return lt_err_copy(err, &job->err);
}

/* Only who the file belongs to may have read or written it. */
static lt_status token_store_load(const char *file, lt_buf *out, lt_err *err) {
  struct stat st;
  int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return errno == ENOENT ? LT_E_NOTFOUND : lt_fail(err, LT_E_IO, "%s cannot be read", file);
  }
  lt_status status =
      fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0
          ? lt_file_read_fd(fd, file, out, err)
          : lt_fail(err, LT_E_DENIED,
                    "others may read or write %s: delete it, and log in again (its mode has to be 0600)", file);
  close(fd);
  return status;
}

static bool token_store_is_owner(const lt_mcp_token_place *place, lt_json root) {
  int64_t version = 0;
  return lt_json_int(lt_json_get(root, "version"), &version) && version == 1 &&
         lt_json_str_eq(lt_json_get(root, "server"), place->server) &&
         lt_json_str_eq(lt_json_get(root, "url"), place->url);
}

static lt_status token_store_parse(const lt_mcp_token_place *place, lt_str text, lt_mcp_tokens *to, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  LT_AUTO_BUF(plain, LT_MCP_AUTH_FILE_MAX_BYTES);
  lt_json_doc doc, inner;
  lt_str sealed;
  if (lt_json_parse(&arena, text, &doc, NULL) != LT_OK || !token_store_is_owner(place, lt_json_root(&doc))) {
    return LT_OK;
  }
  lt_json tokens = lt_json_get(lt_json_root(&doc), "tokens");
  if (lt_json_str(lt_json_get(lt_json_root(&doc), "sealed"), &arena, &sealed)) {
    lt_status status = token_store_unseal(place, sealed, &plain, err);
    if (status == LT_OK && lt_json_parse(&arena, lt_buf_view(&plain), &inner, NULL) == LT_OK) {
      tokens = lt_json_root(&inner);
    }
    LT_TRY(status);
  }
  bool is_taken = token_store_take(tokens, &arena, to);
  token_store_wipe(&plain);
  return is_taken ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for tokens");
}

static void token_store_on_read(void *arg) {
  token_job *job = arg;
  LT_AUTO_BUF(text, LT_MCP_AUTH_FILE_MAX_BYTES);
  job->status = token_store_load(job->place->file, &text, &job->err);
  if (job->status == LT_OK) {
    job->status = token_store_parse(job->place, lt_buf_view(&text), job->to, &job->err);
  }
  token_store_wipe(&text);
}

lt_status lt_mcp_token_store_read(const lt_mcp_token_place *place, lt_mcp_tokens *tokens, lt_err *err) {
  token_job job = {.to = tokens};
  lt_mcp_tokens_release(tokens);
  return token_store_run(place, token_store_on_read, &job, err);
}

static lt_status token_store_print(const lt_mcp_token_place *place, const lt_mcp_tokens *from, lt_buf *out,
                                   lt_err *err) {
  LT_AUTO_BUF(tokens, LT_MCP_AUTH_FILE_MAX_BYTES);
  LT_AUTO_BUF(sealed, LT_MCP_AUTH_FILE_MAX_BYTES);
  token_store_put(from, &tokens);
  lt_status status = lt_buf_check(&tokens, err, "the tokens are too long to be kept");
  if (status == LT_OK && place->key != NULL) {
    status = token_store_seal(place, lt_buf_view(&tokens), &sealed, err);
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "version");
  lt_json_put_int(&w, 1);
  lt_json_key(&w, "server");
  lt_json_put_str(&w, place->server);
  lt_json_key(&w, "url");
  lt_json_put_str(&w, place->url);
  lt_json_key(&w, place->key != NULL ? "sealed" : "tokens");
  if (place->key != NULL) {
    lt_json_put_str(&w, lt_buf_view(&sealed));
  } else {
    lt_json_put_raw(&w, lt_buf_view(&tokens));
  }
  lt_json_end_object(&w);
  lt_buf_byte(out, '\n');
  token_store_wipe(&tokens);
  return status == LT_OK ? lt_buf_check(out, err, "the tokens are too long to be kept") : status;
}

static void token_store_on_write(void *arg) {
  token_job *job = arg;
  LT_AUTO_BUF(text, 2 * LT_MCP_AUTH_FILE_MAX_BYTES);
  static const lt_file_replace_options options = {.mode = 0600, .is_synced = true};
  lt_file_make_folders(job->place->file);
  job->status = token_store_print(job->place, job->from, &text, &job->err);
  if (job->status == LT_OK) {
    job->status = lt_file_replace(job->place->file, lt_buf_view(&text), &options, &job->err);
  }
  token_store_wipe(&text);
}

lt_status lt_mcp_token_store_write(const lt_mcp_token_place *place, const lt_mcp_tokens *tokens, lt_err *err) {
  token_job job = {.from = tokens};
  return token_store_run(place, token_store_on_write, &job, err);
}

static void token_store_on_delete(void *arg) {
  token_job *job = arg;
  if (unlink(job->place->file) != 0 && errno != ENOENT) {
    job->status = lt_fail(&job->err, LT_E_IO, "%s cannot be deleted", job->place->file);
  }
}

lt_status lt_mcp_token_store_delete(const lt_mcp_token_place *place, lt_err *err) {
  token_job job = {.status = LT_OK};
  return token_store_run(place, token_store_on_delete, &job, err);
}

/* --- The lock ----------------------------------------------------------------------------------------------------- */

lt_status lt_mcp_token_store_lock(const lt_mcp_token_place *place, int *ret_lock, lt_err *err) {
  *ret_lock = -1;
  if (place->file == NULL) {
    return LT_OK;
  }
  LT_AUTO_BUF(path, LT_HTTP_URL_MAX_BYTES);
  lt_buf_addc(&path, place->file);
  lt_buf_addc(&path, ".lock");
  LT_TRY(lt_buf_check(&path, err, "the path of the tokens is too long"));
  lt_file_make_folders(path.p);
  int fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return lt_fail(err, LT_E_IO, "%s cannot be opened", path.p);
  }
  uint64_t until_ms = lt_loop_now_ms(place->loop) + LT_MCP_AUTH_LOCK_MS;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (lt_loop_now_ms(place->loop) >= until_ms) {
      close(fd);
      return lt_fail(err, LT_E_TIMEOUT, "another process holds the lock of the tokens (%s)", path.p);
    }
    lt_loop_sleep(place->loop, LT_MCP_AUTH_LOCK_TRY_MS);
  }
  *ret_lock = fd;
  return LT_OK;
}

void lt_mcp_token_store_unlock(int lock) {
  if (lock >= 0) {
    close(lock);
  }
}
