#include "mcp/mcp_link.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json_text.h"

typedef struct mcp_outgoing_line {
  struct mcp_outgoing_line *next;
  int64_t id;
  lt_buf bytes;
} mcp_outgoing_line;

struct lt_mcp_link {
  lt_loop *loop;
  lt_process *process;
  lt_mcp_link_events events;
  mcp_outgoing_line *first, *last;
  size_t queued_bytes;
  lt_wait more;     /* the writer waits here for the next message */
  lt_wait finished; /* lt_mcp_link_close waits here for the fibers */
  unsigned fibers;
  bool over; /* the end was reported, or does not matter any more */
  bool gone; /* the link is being closed: do not touch the process */
};

/* --- Queue -------------------------------------------------------------------------------------------------------- */

static void mcp_link_free_outgoing(mcp_outgoing_line *item) {
  if (item) {
    lt_buf_release(&item->bytes);
    lt_mem_free(item);
  }
}

static mcp_outgoing_line *mcp_link_pop(lt_mcp_link *link) {
  mcp_outgoing_line *item = link->first;
  if (item) {
    link->first = item->next;
    link->last = link->first ? link->last : NULL;
    link->queued_bytes -= item->bytes.n;
  }
  return item;
}

lt_status lt_mcp_link_send(lt_mcp_link *link, lt_buf *message, int64_t id, lt_err *err) {
  lt_status status = message->status;
  if (status == LT_OK && message->n > LT_MCP_QUEUE_MAX_BYTES - link->queued_bytes) {
    status = LT_E_LIMIT;
  }
  mcp_outgoing_line *item = status == LT_OK ? lt_mem_alloc(sizeof *item) : NULL;
  if (!item) {
    lt_buf_release(message);
    if (status == LT_E_LIMIT) {
      return lt_fail(err, status, "the server does not read its input: too much is waiting for it already");
    }
    return lt_fail(err, LT_E_NOMEM, "no memory for a message");
  }
  *item = (mcp_outgoing_line){.id = id, .bytes = *message};
  lt_buf_init(message, message->max);
  link->queued_bytes += item->bytes.n;
  *(link->last ? &link->last->next : &link->first) = item;
  link->last = item;
  lt_wait_wake(&link->more, LT_OK);
  return LT_OK;
}

bool lt_mcp_link_unsend(lt_mcp_link *link, int64_t id) {
  mcp_outgoing_line *before = NULL;
  mcp_outgoing_line *item = link->first;
  while (item && item->id != id) {
    before = item;
    item = item->next;
  }
  if (!item) {
    return false;
  }
  *(before ? &before->next : &link->first) = item->next;
  link->last = item == link->last ? before : link->last;
  link->queued_bytes -= item->bytes.n;
  mcp_link_free_outgoing(item);
  return true;
}

/* --- Fibers ------------------------------------------------------------------------------------------------------- */

static void mcp_link_report_end(lt_mcp_link *link, lt_status why) {
  if (!link->over) {
    link->over = true;
    link->events.on_end(link->events.arg, why);
  }
}

static void mcp_link_leave(lt_mcp_link *link) {
  link->fibers--;
  lt_wait_wake(&link->finished, LT_OK);
}

/* The server has closed its input. Its output may still have answers and its end, so the reader reports first. */
static void mcp_link_end_after_input(lt_mcp_link *link) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(link->loop) + LT_MCP_EXIT_WAIT_MS;
  while (!link->over && lt_loop_now_ms(link->loop) < until_ms) {
    lt_wait_on(&link->more, until_ms - lt_loop_now_ms(link->loop));
  }
  mcp_link_report_end(link, LT_E_CLOSED);
}

static void mcp_link_write_lines(void *arg) {
  lt_mcp_link *link = arg;
  while (!link->gone) {
    mcp_outgoing_line *item = mcp_link_pop(link);
    if (!item) {
      lt_wait_on(&link->more, UINT64_MAX);
      continue;
    }
    lt_status status = lt_process_write(link->process, lt_buf_view(&item->bytes), NULL);
    mcp_link_free_outgoing(item);
    if (status != LT_OK) {
      mcp_link_end_after_input(link);
      break;
    }
  }
  mcp_link_leave(link);
}

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

static void mcp_link_take_line(lt_mcp_link *link, lt_str text) LT_YIELDS {
  lt_str trimmed = lt_str_trim(text);
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
  if (!link->over) {
    mcp_link_report_line(link, &job);
  }
  lt_arena_release(&line.arena);
}

static void mcp_link_read_lines(void *arg) {
  lt_mcp_link *link = arg;
  lt_status status = LT_OK;
  while (!link->over && (status == LT_OK || status == LT_E_LIMIT)) {
    lt_str text;
    status = lt_process_read_line(link->process, &text, NULL);
    if (link->over) {
      break; /* the process may be gone */
    }
    if (status == LT_OK) {
      mcp_link_take_line(link, text);
    } else if (status == LT_E_LIMIT) {
      link->events.on_lost(link->events.arg, too_long);
    }
  }
  mcp_link_report_end(link, status);
  mcp_link_leave(link);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static lt_status mcp_link_spawn(lt_mcp_link *link, lt_fiber_fn fn, lt_err *err) {
  LT_TRY(lt_loop_spawn(link->loop, fn, link, err));
  link->fibers++;
  return LT_OK;
}

lt_status lt_mcp_link_open(lt_loop *loop, const lt_process_options *options, const lt_mcp_link_events *events,
                           lt_mcp_link **ret_link, lt_err *err) {
  lt_mcp_link *link = lt_mem_zalloc(1, sizeof *link);
  if (!link) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start a server");
  }
  link->loop = loop;
  link->events = *events;
  lt_wait_init(&link->more, loop);
  lt_wait_init(&link->finished, loop);
  lt_status status = lt_process_open(loop, options, &link->process, err);
  if (status == LT_OK) {
    status = mcp_link_spawn(link, mcp_link_read_lines, err);
  }
  if (status == LT_OK) {
    status = mcp_link_spawn(link, mcp_link_write_lines, err);
  }
  if (status != LT_OK) {
    lt_mcp_link_close(link);
    return status;
  }
  *ret_link = link;
  return LT_OK;
}

void lt_mcp_link_close(lt_mcp_link *link) {
  if (!link) {
    return;
  }
  link->over = true;
  link->gone = true;
  lt_wait_wake(&link->more, LT_OK);
  lt_process *process = link->process;
  lt_process_close(process);
  while (link->fibers > 0) {
    lt_wait_on(&link->finished, UINT64_MAX);
  }
  while (link->first) {
    mcp_link_free_outgoing(mcp_link_pop(link));
  }
  lt_mem_free(link);
}

const char *lt_mcp_link_exit_text(const lt_mcp_link *link) {
  return lt_process_exited(link->process) ? lt_process_exit_text(link->process) : NULL;
}

lt_str lt_mcp_link_stderr(const lt_mcp_link *link) {
  return lt_process_stderr(link->process);
}
