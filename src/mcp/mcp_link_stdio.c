/* A link to a process: lines on its pipes. One fiber reads, one writes. The link owns the process. */
#include "base/limits.h"
#include "base/mem.h"
#include "io/process.h"
#include "mcp/mcp_link_impl.h"

typedef struct mcp_outgoing_line {
  struct mcp_outgoing_line *next;
  int64_t id;
  lt_buf bytes;
} mcp_outgoing_line;

typedef struct mcp_link_stdio {
  lt_mcp_link base; /* first */
  lt_process *process;
  mcp_outgoing_line *first, *last;
  size_t queued_bytes;
  lt_wait more;     /* the writer waits here for the next message */
  lt_wait finished; /* lt_mcp_link_close waits here for the fibers */
  unsigned fibers;
  bool gone; /* the link is being closed: do not touch the process */
} mcp_link_stdio;

static mcp_link_stdio *mcp_link_stdio_of(lt_mcp_link *base) {
  return (mcp_link_stdio *)(void *)base;
}

/* --- Queue -------------------------------------------------------------------------------------------------------- */

static void mcp_link_stdio_free_outgoing(mcp_outgoing_line *item) {
  if (item) {
    lt_buf_release(&item->bytes);
    lt_mem_free(item);
  }
}

static mcp_outgoing_line *mcp_link_stdio_pop(mcp_link_stdio *link) {
  mcp_outgoing_line *item = link->first;
  if (item) {
    link->first = item->next;
    link->last = link->first ? link->last : NULL;
    link->queued_bytes -= item->bytes.n;
  }
  return item;
}

static lt_status mcp_link_stdio_send(lt_mcp_link *base, lt_buf *message, const lt_mcp_outgoing *about, lt_err *err) {
  mcp_link_stdio *link = mcp_link_stdio_of(base);
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
  *item = (mcp_outgoing_line){.id = about->id, .bytes = *message};
  lt_buf_init(message, message->max);
  link->queued_bytes += item->bytes.n;
  *(link->last ? &link->last->next : &link->first) = item;
  link->last = item;
  lt_wait_wake(&link->more, LT_OK);
  return LT_OK;
}

static bool mcp_link_stdio_drop(lt_mcp_link *base, int64_t id) {
  mcp_link_stdio *link = mcp_link_stdio_of(base);
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
  mcp_link_stdio_free_outgoing(item);
  return true;
}

/* --- Fibers ------------------------------------------------------------------------------------------------------- */

static void mcp_link_stdio_leave(mcp_link_stdio *link) {
  link->fibers--;
  lt_wait_wake(&link->finished, LT_OK);
}

/* The server has closed its input. Its output may still have answers and its end, so the reader reports first. */
static void mcp_link_stdio_end_after_input(mcp_link_stdio *link) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(link->base.loop) + LT_MCP_EXIT_WAIT_MS;
  while (!link->base.is_over && lt_loop_now_ms(link->base.loop) < until_ms) {
    lt_wait_on(&link->more, until_ms - lt_loop_now_ms(link->base.loop));
  }
  lt_mcp_link_end(&link->base, LT_E_CLOSED);
}

static void mcp_link_stdio_write_lines(void *arg) {
  mcp_link_stdio *link = arg;
  while (!link->gone) {
    mcp_outgoing_line *item = mcp_link_stdio_pop(link);
    if (!item) {
      lt_wait_on(&link->more, UINT64_MAX);
      continue;
    }
    lt_status status = lt_process_write(link->process, lt_buf_view(&item->bytes), NULL);
    mcp_link_stdio_free_outgoing(item);
    if (status != LT_OK) {
      mcp_link_stdio_end_after_input(link);
      break;
    }
  }
  mcp_link_stdio_leave(link);
}

static void mcp_link_stdio_read_lines(void *arg) {
  mcp_link_stdio *link = arg;
  lt_status status = LT_OK;
  while (!link->base.is_over && (status == LT_OK || status == LT_E_LIMIT)) {
    lt_str text;
    status = lt_process_read_line(link->process, &text, NULL);
    if (link->base.is_over) {
      break; /* the process may be gone */
    }
    if (status == LT_OK) {
      lt_mcp_link_take(&link->base, text);
    } else if (status == LT_E_LIMIT) {
      lt_mcp_link_take_overlong(&link->base);
    }
  }
  lt_mcp_link_end(&link->base, status);
  mcp_link_stdio_leave(link);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static lt_status mcp_link_stdio_spawn(mcp_link_stdio *link, lt_fiber_fn fn, lt_err *err) {
  LT_TRY(lt_loop_spawn(link->base.loop, fn, link, err));
  link->fibers++;
  return LT_OK;
}

static void mcp_link_stdio_close(lt_mcp_link *base) LT_YIELDS {
  mcp_link_stdio *link = mcp_link_stdio_of(base);
  link->gone = true;
  lt_wait_wake(&link->more, LT_OK);
  lt_process_close(link->process);
  while (link->fibers > 0) {
    lt_wait_on(&link->finished, UINT64_MAX);
  }
  while (link->first) {
    mcp_link_stdio_free_outgoing(mcp_link_stdio_pop(link));
  }
  lt_mem_free(link);
}

static const char *mcp_link_stdio_exit_text(const lt_mcp_link *base) {
  const lt_process *process = ((const mcp_link_stdio *)(const void *)base)->process;
  return lt_process_exited(process) ? lt_process_exit_text(process) : NULL;
}

static lt_str mcp_link_stdio_stderr(const lt_mcp_link *base) {
  return lt_process_stderr(((const mcp_link_stdio *)(const void *)base)->process);
}

static int mcp_link_stdio_pid(const lt_mcp_link *base) {
  const lt_process *process = ((const mcp_link_stdio *)(const void *)base)->process;
  return lt_process_exited(process) ? 0 : lt_process_pid(process);
}

static const lt_mcp_link_type stdio_link = {
    .send = mcp_link_stdio_send,
    .drop = mcp_link_stdio_drop,
    .close = mcp_link_stdio_close,
    .exit_text = mcp_link_stdio_exit_text,
    .stderr_end = mcp_link_stdio_stderr,
    .pid = mcp_link_stdio_pid,
};

static lt_status mcp_link_stdio_start(mcp_link_stdio *link, const char *const *argv, lt_err *err) {
  const lt_mcp_options *server = link->base.server;
  const lt_process_options process = {
      .file = server->command,
      .argv = argv,
      .env = server->env,
      .cwd = server->cwd,
      .line_max = LT_MCP_LINE_MAX_BYTES,
      .helper = server->helper,
      .echo_stderr = server->verbose,
  };
  LT_TRY(lt_process_open(link->base.loop, &process, &link->process, err));
  LT_TRY(mcp_link_stdio_spawn(link, mcp_link_stdio_read_lines, err));
  return mcp_link_stdio_spawn(link, mcp_link_stdio_write_lines, err);
}

lt_status lt_mcp_link_stdio_open(lt_loop *loop, const lt_mcp_options *server, const char *const *argv,
                                 const lt_mcp_link_events *events, lt_mcp_link **ret_link, lt_err *err) {
  mcp_link_stdio *link = lt_mem_zalloc(1, sizeof *link);
  if (!link) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start a server");
  }
  link->base = (lt_mcp_link){.type = &stdio_link, .loop = loop, .server = server, .events = *events};
  lt_wait_init(&link->more, loop);
  lt_wait_init(&link->finished, loop);
  lt_status status = mcp_link_stdio_start(link, argv, err);
  if (status != LT_OK) {
    lt_mcp_link_close(&link->base);
    return status;
  }
  *ret_link = &link->base;
  return LT_OK;
}
