/* Any requests to `lathe serve`, of several users, one after the other and at the same time.
 *
 * The input is text: requests with a line "---" between them. A request is a line "WHO METHOD TARGET", where WHO is a
 * (a user), b (another one), o (the owner of a token) or - (nobody); then lines of headers, an empty line and the body.
 * $p, $c and $i stand for the last prompt, conversation and other id that an answer had, whoever got it; $s stands for
 * a text that is the user's own.
 *
 * What must hold: an answer has a status, its headers are lines, JSON is JSON, and an error is {"error": {"code",
 * "message"}}; no one gets another user's text, and nobody a secret; when the clients are gone, no request, prompt or
 * fiber is left.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"
#include "fakes/serve_world.h"
#include "io/loop_handles.h"
#include "json/json.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  INPUT_BYTES = 1 << 16,
  REQUESTS_MAX = 8,
  SILENT_MS = 30, /* without a byte of the answer: then the next request is sent, and this one stays open */
  CALM_TURNS = 3,
  LEFT_MS = 20000, /* then something is left that should have ended: also on a slow machine */
  INPUTS_A_WORLD = 1000,
  ID_BYTES = 64,
};

typedef struct exchange {
  int fd; /* -1: closed */
  uv_poll_t poll;
  bool is_open; /* the poll */
  char who;
  lt_str path;
  lt_buf answer;
} exchange;

static serve_world world;
static uv_timer_t quiet;
static bool is_quiet;
static unsigned fibers_at_rest, input_number, left_in_world;
static char last_prompt[ID_BYTES + 1], last_conversation[ID_BYTES + 1], last_id[ID_BYTES + 1];
static exchange exchanges[REQUESTS_MAX];
static size_t exchange_count;
static lt_str input;

static void check(bool is, const char *what, const exchange *e) {
  if (!is) {
    fprintf(stderr, "fuzz_serve: %s\n", what);
    if (e != NULL) {
      fprintf(stderr, "%c %.*s\n%.*s\n", e->who, LT_STR_ARG(e->path),
              LT_STR_ARG(lt_str_sub(lt_buf_view(&e->answer), 0, 4096)));
    }
    abort();
  }
}

/* --- The world ---------------------------------------------------------------------------------------------------- */
static void on_quiet(uv_timer_t *timer) {
  (void)timer;
  is_quiet = true;
}

static void expect_quiet(uint64_t ms) {
  is_quiet = false;
  uv_update_time(quiet.loop);
  uv_timer_start(&quiet, on_quiet, ms, 0);
}

static void wait_quiet(uint64_t ms) {
  for (expect_quiet(ms); !is_quiet;) {
    serve_world_turn(&world);
  }
}

static void open_world(void) {
  serve_world_open(&world);
  uv_timer_init(lt_loop_uv(world.session.loop), &quiet);
  wait_quiet(100);
  fibers_at_rest = serve_world_fibers(&world);
  left_in_world = INPUTS_A_WORLD;
}

static void close_world(void) {
  if (world.is_open) {
    uv_close((uv_handle_t *)&quiet, NULL);
    serve_world_close(&world);
  }
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */
static void put_own_text(lt_buf *out, char who) {
  lt_buf_printf(out, "only-of-%c-in-%u.", who, input_number);
}

static void put_expanded(lt_buf *out, lt_str text, char who) {
  for (size_t i = 0; i < text.n; i++) {
    char what = text.p[i] == '$' && i + 1 < text.n ? text.p[i + 1] : '\0';
    i += what == 'p' || what == 'c' || what == 'i' || what == 's';
    switch (what) {
      case 'p':
        lt_buf_addc(out, last_prompt);
        break;
      case 'c':
        lt_buf_addc(out, last_conversation);
        break;
      case 'i':
        lt_buf_addc(out, last_id);
        break;
      case 's':
        put_own_text(out, who);
        break;
      default:
        lt_buf_byte(out, text.p[i]);
        break;
    }
  }
}

static lt_str take_line(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\n"), 0);
  lt_str line = lt_str_sub(*rest, 0, end);
  *rest = end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(*rest, end + 1, rest->n);
  return line;
}

static lt_str take_request(lt_str *rest) {
  const lt_str between = LT_STR("\n---\n");
  size_t end = lt_str_find(*rest, between, 0);
  lt_str request = lt_str_sub(*rest, 0, end);
  *rest = end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(*rest, end + between.n, rest->n);
  return request;
}

static bool starts_fold(lt_str line, lt_str name) {
  return lt_str_eq_fold(lt_str_sub(line, 0, name.n), name);
}

/* What the request says about itself is taken; the rest is what an ordinary client would say. */
static void put_headers(lt_buf *out, lt_str *rest, char who) {
  bool has_host = false, has_type = false;
  for (lt_str line; (line = take_line(rest)).n > 0;) {
    has_host |= starts_fold(line, LT_STR("host:"));
    has_type |= starts_fold(line, LT_STR("content-type:"));
    put_expanded(out, line, who);
    lt_buf_addc(out, "\r\n");
  }
  lt_buf_addc(out, has_host ? "" : "Host: localhost\r\n");
  lt_buf_addc(out, has_type ? "" : "Content-Type: application/json\r\n");
  if (who == 'a' || who == 'b') {
    lt_buf_printf(out, "X-User: %c%u\r\nLathe-Proxy-Secret: " SERVE_WORLD_PROXY_SECRET "\r\n", who, input_number);
  } else if (who == 'o') {
    lt_buf_addc(out, "Authorization: Bearer " SERVE_WORLD_TOKEN "\r\n");
  }
}

static void put_request(lt_buf *out, lt_str request, exchange *e) {
  LT_AUTO_BUF(body, 64 * INPUT_BYTES);
  lt_str line = take_line(&request);
  size_t space = lt_str_find(line, LT_STR(" "), 2);
  e->who = line.n > 0 && lt_str_find(LT_STR("abo"), lt_str_sub(line, 0, 1), 0) != SIZE_MAX ? line.p[0] : '-';
  e->path = lt_str_sub(line, space == SIZE_MAX ? line.n : space + 1, line.n);
  put_expanded(out, lt_str_sub(line, 2, line.n), e->who);
  lt_buf_addc(out, " HTTP/1.1\r\nConnection: close\r\n");
  put_headers(out, &request, e->who);
  put_expanded(&body, request, e->who);
  if (body.n > 0) {
    lt_buf_printf(out, "Content-Length: %zu\r\n", body.n);
  }
  lt_buf_addc(out, "\r\n");
  lt_buf_add(out, lt_buf_view(&body));
}

/* --- Connections -------------------------------------------------------------------------------------------------- */
static void on_closed(uv_handle_t *handle) {
  ((exchange *)handle->data)->is_open = false;
}

static void exchange_end(exchange *e) {
  if (e->fd >= 0) {
    close(e->fd);
    e->fd = -1;
    uv_close((uv_handle_t *)&e->poll, on_closed);
  }
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status, (void)events;
  exchange *e = poll->data;
  char bytes[16384];
  ssize_t n = recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n > 0) {
    lt_buf_add(&e->answer, lt_str_from(bytes, (size_t)n));
  } else if (n == 0 || errno != EAGAIN) {
    uv_poll_stop(poll);
    exchange_end(e);
  }
}

static void exchange_begin(exchange *e, lt_str request) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  LT_AUTO_BUF(bytes, 128 * INPUT_BYTES);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", world.socket);
  put_request(&bytes, request, e);
  lt_buf_init(&e->answer, LT_GIB);
  e->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(e->fd >= 0 && connect(e->fd, (struct sockaddr *)&address, sizeof address) == 0, "it does not listen", NULL);
  (void)!send(e->fd, bytes.p, bytes.n, MSG_NOSIGNAL); /* what the kernel does not take is a request that breaks off */
  check(uv_poll_init(quiet.loop, &e->poll, e->fd) == 0, "no poll", NULL);
  e->poll.data = e;
  e->is_open = true;
  uv_poll_start(&e->poll, UV_READABLE, on_readable);
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
/* The value of a header, or empty. */
static lt_str find_header(lt_str head, const char *name) {
  while (head.n > 0) {
    lt_str line = take_line(&head);
    size_t colon = lt_str_find(line, LT_STR(":"), 0);
    if (lt_str_eq_fold(lt_str_sub(line, 0, colon), lt_str_of(name))) {
      return lt_str_trim(lt_str_sub(line, colon + 1, line.n));
    }
  }
  return LT_STR_NULL;
}

/* False: it is not complete. */
static bool join_chunks(lt_str text, lt_buf *out) {
  while (text.n > 0) {
    lt_str line = take_line(&text);
    size_t n = strtoul(line.n > 0 ? line.p : "", NULL, 16); /* a line break follows */
    if (n == 0 || n + 2 > text.n) {
      lt_buf_add(out, n == 0 ? LT_STR("") : text);
      return n == 0 && line.n > 0;
    }
    lt_buf_add(out, lt_str_sub(text, 0, n));
    text = lt_str_sub(text, n + 2, text.n);
  }
  return false;
}

/* The last one: in a prompt it is that of the last call. */
static void note_id(lt_str body, lt_str key, char *ret_id) {
  size_t from = body.n;
  for (size_t at = 0; (at = lt_str_find(body, key, at)) != SIZE_MAX;) {
    from = at += key.n;
  }
  lt_str id = lt_str_sub(body, from, lt_str_find(body, LT_STR("\""), from));
  if (id.n > 0 && id.n <= ID_BYTES && id.p[id.n] == '"') {
    snprintf(ret_id, ID_BYTES + 1, "%.*s", LT_STR_ARG(id));
  }
}

static void check_error(const exchange *e, lt_json root, int status) {
  lt_json error = lt_json_get(root, "error");
  bool has_both = lt_json_typeof(lt_json_get(error, "code")) == LT_JSON_STRING &&
                  lt_json_typeof(lt_json_get(error, "message")) == LT_JSON_STRING;
  bool is_mcp = lt_str_starts(e->path, LT_STR("/mcp")); /* of another protocol */
  check(status < 400 || has_both || is_mcp, "an error without code and message", e);
}

static void check_stream(const exchange *e, lt_str body) {
  while (body.n > 0) {
    lt_json_doc doc;
    size_t end = lt_str_find(body, LT_STR("\n"), 0);
    lt_str line = lt_str_sub(body, 0, end);
    LT_AUTO_ARENA(arena, LT_GIB);
    bool is_data = end != SIZE_MAX && lt_str_starts(line, LT_STR("data:"));
    lt_str data = is_data ? lt_str_trim(lt_str_sub(line, 5, line.n)) : LT_STR("");
    check(data.n == 0 || lt_json_parse(&arena, data, &doc, NULL) == LT_OK, "an event that is no JSON", e);
    body = end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(body, end + 1, body.n);
  }
}

/* Errors that are no JSON come from below: of requests that are no HTTP, too long, or of another version. */
static bool is_of_http(int status) {
  return status == 400 || status == 408 || status == 411 || status == 413 || status == 414 || status == 417 ||
         status == 431 || status == 501 || status == 505;
}

static void check_body(const exchange *e, lt_str head, lt_str body, int status, bool is_whole) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_GIB);
  lt_str type = find_header(head, "content-type");
  bool is_empty = body.n == 0; /* HEAD, 204, 304 */
  if (lt_str_starts(type, LT_STR("text/event-stream"))) {
    check_stream(e, body);
  } else if (lt_str_eqc(type, "application/json")) {
    if (!is_whole || is_empty) {
      return;
    }
    check(lt_json_parse(&arena, body, &doc, NULL) == LT_OK, "JSON that is none", e);
    check_error(e, lt_json_root(&doc), status);
    note_id(body, LT_STR("\"promptId\":\""), last_prompt);
    note_id(body, LT_STR("\"conversationId\":\""), last_conversation);
    note_id(body, LT_STR("\"id\":\""), last_id);
  } else if (status >= 400) {
    check(is_empty || is_of_http(status), "an error that is no JSON", e);
  }
}

static void check_head(const exchange *e, lt_str head, int status) {
  check(status >= 100 && status <= 599 && status != 500, "a status that is none", e);
  for (take_line(&head); head.n > 0;) {
    lt_str line = lt_str_trim(take_line(&head));
    check(line.n == 0 || lt_str_find(line, LT_STR(":"), 0) != SIZE_MAX, "a header that is none", e);
    for (size_t i = 0; i < line.n; i++) {
      check((unsigned char)line.p[i] >= ' ' && line.p[i] != 0x7f, "a header with a control character", e);
    }
  }
}

/* What the input has itself may come back. */
static void check_absent(const exchange *e, lt_str text) {
  bool is_there = lt_str_find(lt_buf_view(&e->answer), text, 0) != SIZE_MAX;
  check(!is_there || lt_str_find(input, text, 0) != SIZE_MAX, "what this user must not get", e);
}

static void check_secrets(const exchange *e) {
  static const char users[] = "abo";
  check_absent(e, LT_STR(SERVE_WORLD_PROXY_SECRET));
  check_absent(e, LT_STR(SERVE_WORLD_MODEL_KEY));
  check_absent(e, LT_STR(SERVE_WORLD_TOKEN));
  for (size_t i = 0; users[i] != '\0'; i++) {
    if (users[i] != e->who) {
      LT_AUTO_BUF(text, LT_KIB);
      put_own_text(&text, users[i]);
      check_absent(e, lt_buf_view(&text));
    }
  }
}

static void check_answer(const exchange *e) {
  lt_str answer = lt_buf_view(&e->answer);
  while (lt_str_starts(answer, LT_STR("HTTP/1.1 100"))) {
    size_t end = lt_str_find(answer, LT_STR("\r\n\r\n"), 0);
    answer = lt_str_sub(answer, end == SIZE_MAX ? answer.n : end + 4, answer.n);
  }
  size_t end = lt_str_find(answer, LT_STR("\r\n\r\n"), 0);
  if (end == SIZE_MAX) {
    return;
  }
  LT_AUTO_BUF(joined, LT_GIB);
  lt_str head = lt_str_sub(answer, 0, end), body = lt_str_sub(answer, end + 4, answer.n);
  check(lt_str_starts(head, LT_STR("HTTP/1.")) && head.n > 12, "no status line", e);
  int status = atoi(head.p + 9);
  lt_str length = find_header(head, "content-length");
  bool is_whole = e->fd < 0 && (length.n == 0 || strtoul(length.p, NULL, 10) == body.n);
  if (lt_str_eq_fold(find_header(head, "transfer-encoding"), LT_STR("chunked"))) {
    is_whole = join_chunks(body, &joined);
    body = lt_buf_view(&joined);
  }
  check_head(e, head, status);
  check_body(e, head, body, status, is_whole);
  check_secrets(e);
}

/* --- One input ---------------------------------------------------------------------------------------------------- */
/* The request is answered, is answered in a stream, or waits for a prompt that waits for somebody, and nothing goes on
 * any more. */
static bool is_settled(const exchange *e) {
  for (unsigned calm = 0; calm < CALM_TURNS; calm++) {
    bool is_answered = e->fd < 0 || e->answer.n > 0 || serve_world_is_waiting(&world);
    if (!is_answered || !serve_world_is_calm(&world)) {
      return false;
    }
    serve_world_look(&world);
  }
  return true;
}

static void ask(lt_str request) {
  exchange *e = &exchanges[exchange_count++];
  exchange_begin(e, request);
  for (expect_quiet(SILENT_MS); !is_quiet && !is_settled(e);) {
    serve_world_turn(&world);
  }
  check_answer(e); /* the next request may want its ids */
}

static bool is_anything_open(void) {
  for (size_t i = 0; i < exchange_count; i++) {
    if (exchanges[i].is_open) {
      return true;
    }
  }
  return !serve_world_is_idle(&world) || serve_world_fibers(&world) > fibers_at_rest;
}

static void end_all(void) {
  for (size_t i = 0; i < exchange_count; i++) {
    exchange_end(&exchanges[i]);
  }
  for (expect_quiet(LEFT_MS); is_anything_open();) {
    check(!is_quiet, "something is left of the requests", NULL);
    serve_world_cancel(&world);
    serve_world_turn(&world);
  }
  uv_timer_stop(&quiet);
}

/* The look for leaks behind each input does not see the stacks of fibers, which hold what they wait with. The one at
 * the process' end comes behind the world's end, and sees all leaks. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static char *with_flag[64], flag[] = "-detect_leaks=0";
  for (int i = 0; i < *argc && i < 62; i++) {
    with_flag[i] = (*argv)[i];
  }
  if (*argc < 62) {
    with_flag[(*argc)++] = flag;
    *argv = with_flag;
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > INPUT_BYTES) {
    return 0;
  }
  if (left_in_world == 0) {
    if (input_number == 0) {
      atexit(close_world);
    }
    close_world();
    open_world();
  }
  left_in_world--;
  input_number++;
  input = lt_str_from(data, size);
  exchange_count = 0;
  snprintf(last_prompt, sizeof last_prompt, "none");
  snprintf(last_conversation, sizeof last_conversation, "none");
  snprintf(last_id, sizeof last_id, "none");
  for (lt_str rest = input; rest.n > 0 && exchange_count < REQUESTS_MAX;) {
    ask(take_request(&rest));
  }
  end_all();
  for (size_t i = 0; i < exchange_count; i++) {
    check_answer(&exchanges[i]);
    lt_buf_release(&exchanges[i].answer);
  }
  return 0;
}
