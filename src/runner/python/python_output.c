/* The lines that a program prints: its log. */
#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "runner/python/python_output.h"
#include "runner/python/python_run.h"

static void python_output_add_text(lt_python_run *run, lt_said kind, lt_str content) {
  lt_run_text *text = lt_mem_alloc(sizeof *text + content.n);
  if (text == NULL) {
    run->result->log_cut = true;
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, content.p != NULL ? content.p : "", content.n);
  *text = (lt_run_text){.said = kind, .text = lt_str_from(bytes, content.n)};
  *run->output.texts_end = text;
  run->output.texts_end = &text->next;
  if (run->request->on_text != NULL) {
    run->request->on_text(run->request->arg, text->said, text->text);
  }
}

size_t lt_python_output_max_bytes(const lt_run_request *request) {
  return request->max_output_bytes != 0 ? request->max_output_bytes : lt_run_request_log_bytes(request);
}

/* Adds a line as far as the log has room. After a cut, no further line is added. */
static void python_output_add_line(lt_python_run *run, lt_str line) {
  size_t max = lt_python_output_max_bytes(run->request);
  size_t room = max > run->output.bytes ? max - run->output.bytes : 0;
  size_t costs = line.n > 0 ? line.n : 1;
  if (run->result->log_cut) {
    return;
  }
  run->result->log_cut = costs > room;
  run->output.bytes += costs;
  line = lt_utf8_cut(line, room);
  if (!run->result->log_cut || line.n > 0) {
    python_output_add_text(run, LT_SAID_LOG, line);
  }
}

void lt_python_output_warn(lt_python_run *run, lt_str text) {
  python_output_add_text(run, LT_SAID_WARNING, text);
}

static lt_str python_output_without_return(lt_str line) {
  return line.n > 0 && line.p[line.n - 1] == '\r' ? lt_str_sub(line, 0, line.n - 1) : line;
}

static void python_output_end_line(lt_python_run *run, lt_str rest) {
  if (run->output.partial_line.n == 0) {
    python_output_add_line(run, python_output_without_return(rest));
    return;
  }
  lt_buf_add(&run->output.partial_line, rest);
  python_output_add_line(run, python_output_without_return(lt_buf_view(&run->output.partial_line)));
  lt_buf_clear(&run->output.partial_line);
}

/* Keeps a part of a line whose end has not arrived: as much as the log shows, and one byte more, so that the cut is
 * visible. */
static void python_output_keep_part(lt_python_run *run, lt_str part) {
  size_t max = lt_python_output_max_bytes(run->request) + 1;
  size_t room = max > run->output.partial_line.n ? max - run->output.partial_line.n : 0;
  if (!run->result->log_cut) {
    lt_buf_add(&run->output.partial_line, lt_str_sub(part, 0, room));
  }
}

static void python_output_feed(lt_python_run *run, lt_str bytes) {
  while (bytes.n > 0 && !run->result->log_cut) {
    const char *end = memchr(bytes.p, '\n', bytes.n);
    if (end == NULL) {
      python_output_keep_part(run, bytes);
      return;
    }
    size_t n = (size_t)(end - bytes.p);
    if (run->output.partial_line.n + n > lt_python_output_max_bytes(run->request)) {
      python_output_keep_part(run, lt_str_sub(bytes, 0, n));
      python_output_end_line(run, LT_STR_NULL);
    } else {
      python_output_end_line(run, lt_str_sub(bytes, 0, n));
    }
    bytes = lt_str_sub(bytes, n + 1, bytes.n);
  }
}

bool lt_python_output_read(lt_python_run *run) {
  size_t total = 0;
  while (!run->output.is_closed) {
    ssize_t n = read(run->child->output, run->read_buffer, sizeof run->read_buffer);
    if (n <= 0) {
      run->output.is_closed = n == 0 || (errno != EAGAIN && errno != EINTR);
      return false;
    }
    python_output_feed(run, lt_str_from(run->read_buffer, (size_t)n));
    total += (size_t)n;
    if (total >= LT_PYTHON_TURN_BYTES) {
      return true;
    }
  }
  return false;
}

void lt_python_output_flush(lt_python_run *run) {
  if (run->output.partial_line.n > 0) {
    python_output_end_line(run, LT_STR_NULL);
  }
}
