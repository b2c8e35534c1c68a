#include "mcp/mcp_link.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json_text.h"
#include "mcp/mcp_link_impl.h"

/* --- From text to events ------------------------------------------------------------------------------------------ */

typedef struct parse_job {
  lt_mcp_result *line;
  lt_status status;
  bool is_garbled; /* a message that is not UTF-8; `line` has what can be read of it */
} parse_job;

/* Appends the text with U+FFFD for each byte that is not UTF-8. Returns how many there were. */
static size_t mcp_link_repair(lt_str text, lt_buf *out) {
  size_t wrong = 0;
  for (size_t i = 0, n; i < text.n; i += n) {
    uint32_t cp;
    n = lt_json_read_char(text.p + i, text.p + text.n, &cp);
    lt_buf_add(out, n > 0 ? lt_str_sub(text, i, i + n) : LT_STR("\xEF\xBF\xBD"));
    wrong += n == 0;
    n += n == 0;
  }
  return wrong;
}

/* A line that is no JSON. A message in another encoding is an answer that does not come again, so its id is worth
 * reading. */
static bool mcp_link_parse_garbled(lt_mcp_result *line) {
  lt_str text = line->doc.text;
  LT_AUTO_BUF(repaired, 3 * LT_MCP_LINE_MAX_BYTES);
  if (mcp_link_repair(text, &repaired) == 0 || repaired.status != LT_OK) {
    return false;
  }
  lt_str copy = lt_arena_dup(&line->arena, lt_buf_view(&repaired));
  if (copy.p != NULL && lt_json_parse(&line->arena, copy, &line->doc, NULL) == LT_OK) {
    return true;
  }
  line->doc = (lt_json_doc){.text = text};
  return text.p[0] == '{' && lt_str_find(text, LT_STR("\"jsonrpc\""), 0) != SIZE_MAX;
}

static void mcp_link_parse(void *arg) {
  parse_job *job = arg;
  job->status = lt_json_parse(&job->line->arena, job->line->doc.text, &job->line->doc, NULL);
  job->is_garbled = job->status == LT_E_SYNTAX && mcp_link_parse_garbled(job->line);
}

static void mcp_link_parse_line(lt_mcp_link *link, parse_job *job) LT_YIELDS {
  if (job->line->doc.text.n < LT_MCP_OFFLOAD_BYTES || lt_loop_offload(link->loop, mcp_link_parse, job, NULL) != LT_OK) {
    mcp_link_parse(job);
  }
}

static bool mcp_link_looks_like_message(lt_str trimmed) {
  return trimmed.n >= 2 && (trimmed.p[0] == '{' || trimmed.p[0] == '[');
}

/* A byte order mark of UTF-16, or its zero bytes between ASCII letters. Windows' shells write it. */
static bool mcp_link_looks_like_utf16(lt_str line) {
  lt_str head = lt_str_sub(line, 0, 5);
  return lt_str_starts(line, LT_STR("\xFF\xFE")) || lt_str_starts(line, LT_STR("\xFE\xFF")) ||
         lt_str_find(head, LT_STR("{\0"), 0) != SIZE_MAX || lt_str_find(head, LT_STR("\0{"), 0) != SIZE_MAX;
}

_Static_assert(LT_MCP_LINE_MAX_BYTES == 64 * LT_MIB && LT_JSON_MAX_DEPTH == 512, "the texts below say so");
static const char too_long[] = "over 64 MiB";
static const char too_deep[] = "nested deeper than 512 levels";
static const char too_large[] = "too large to be read with the memory there is";

static void mcp_link_report_line(lt_mcp_link *link, const parse_job *job) {
  lt_mcp_result *line = job->line;
  lt_status status = job->status;
  line->result = lt_json_root(&line->doc);
  if (status == LT_OK) {
    link->events.on_line(link->events.arg, line);
  } else if (job->is_garbled) {
    link->events.on_garbled(link->events.arg, line);
  } else if (status == LT_E_SYNTAX) {
    link->events.on_noise(link->events.arg, line->doc.text);
  } else {
    link->events.on_lost(link->events.arg, status == LT_E_LIMIT ? too_deep : too_large);
  }
}

static void mcp_link_take_trimmed(lt_mcp_link *link, lt_str trimmed) LT_YIELDS {
  if (mcp_link_looks_like_utf16(trimmed)) {
    link->events.on_garbled(link->events.arg, &(lt_mcp_result){.doc.text = trimmed});
    return;
  } else if (!mcp_link_looks_like_message(trimmed)) {
    if (trimmed.n > 0) {
      link->events.on_noise(link->events.arg, trimmed);
    }
    return;
  }
  lt_mcp_result line = {0};
  lt_arena_init(&line.arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  line.doc.text = lt_arena_dup(&line.arena, trimmed);
  parse_job job = {&line, LT_E_NOMEM, false};
  if (line.doc.text.p) {
    mcp_link_parse_line(link, &job);
  }
  if (!link->is_over) {
    mcp_link_report_line(link, &job);
  }
  lt_arena_release(&line.arena);
}

void lt_mcp_link_mask(const lt_mcp_link *link, lt_buf *text) {
  const lt_secrets *tokens = link->server->auth != NULL ? lt_mcp_auth_secrets(link->server->auth) : NULL;
  if (tokens != NULL) {
    lt_secrets_mask_buf(tokens, text);
  }
}

/* A server that repeats the token it was sent does not bring it into a program. */
static void mcp_link_take_masked(lt_mcp_link *link, lt_str text, const lt_secrets *tokens) LT_YIELDS {
  LT_AUTO_BUF(masked, LT_MCP_LINE_MAX_BYTES);
  lt_secrets_mask_json(tokens, text, &masked);
  if (masked.status == LT_OK) {
    mcp_link_take_trimmed(link, lt_buf_view(&masked));
  } else {
    link->events.on_lost(link->events.arg, too_large);
  }
}

void lt_mcp_link_take(lt_mcp_link *link, lt_str text) {
  lt_str trimmed = lt_str_trim(text);
  const lt_secrets *tokens = link->server->auth != NULL ? lt_mcp_auth_secrets(link->server->auth) : NULL;
  if (lt_secrets_in(tokens, trimmed)) {
    mcp_link_take_masked(link, trimmed, tokens);
  } else {
    mcp_link_take_trimmed(link, trimmed);
  }
}

void lt_mcp_link_take_overlong(lt_mcp_link *link) {
  if (!link->is_over) {
    link->events.on_lost(link->events.arg, too_long);
  }
}

void lt_mcp_link_end(lt_mcp_link *link, lt_status why) {
  if (!link->is_over) {
    link->is_over = true;
    link->events.on_end(link->events.arg, why);
  }
}

/* --- The kinds ---------------------------------------------------------------------------------------------------- */

lt_status lt_mcp_link_open(lt_loop *loop, const lt_mcp_options *server, const char *const *argv,
                           lt_mcp_transport transport, const lt_mcp_link_events *events, lt_mcp_link **ret_link,
                           lt_err *err) {
  return server->url != NULL ? lt_mcp_link_http_open(loop, server, transport, events, ret_link, err)
                             : lt_mcp_link_stdio_open(loop, server, argv, events, ret_link, err);
}

void lt_mcp_link_close(lt_mcp_link *link) {
  if (link != NULL) {
    link->is_over = true;
    link->type->close(link);
  }
}

lt_status lt_mcp_link_send(lt_mcp_link *link, lt_buf *message, const lt_mcp_outgoing *about, lt_err *err) {
  return link->type->send(link, message, about, err);
}

bool lt_mcp_link_drop(lt_mcp_link *link, int64_t id) {
  return link->type->drop(link, id);
}

void lt_mcp_link_speak(lt_mcp_link *link, const char *version, bool is_modern) {
  if (link->type->speak != NULL) {
    link->type->speak(link, version, is_modern);
  }
}

void lt_mcp_link_listen(lt_mcp_link *link) {
  if (link->type->listen != NULL) {
    link->type->listen(link);
  }
}

const char *lt_mcp_link_exit_text(const lt_mcp_link *link) {
  return link->type->exit_text(link);
}

lt_str lt_mcp_link_stderr(const lt_mcp_link *link) {
  return link->type->stderr_end != NULL ? link->type->stderr_end(link) : LT_STR_NULL;
}

bool lt_mcp_link_is_process(const lt_mcp_link *link) {
  return link->type->stderr_end != NULL;
}

int lt_mcp_link_pid(const lt_mcp_link *link) {
  return link->type->pid != NULL ? link->type->pid(link) : 0;
}
