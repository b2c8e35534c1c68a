/* What a program prints: lines of its log. */
#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "runner/python/python_output.h"
#include "runner/python/python_run.h"

static void python_output_say(lt_python_run *run, lt_said how, lt_str what) {
  lt_run_text *text = lt_mem_alloc(sizeof *text + what.n);
  if (text == NULL) {
    run->result->log_cut = true;
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, what.p != NULL ? what.p : "", what.n);
  *text = (lt_run_text){.said = how, .text = lt_str_from(bytes, what.n)};
  *run->last_text = text;
  run->last_text = &text->next;
  if (run->request->on_text != NULL) {
    run->request->on_text(run->request->arg, text->said, text->text);
  }
}

size_t lt_python_run_log_max(const lt_run_request *request) {
  return request->max_output_bytes != 0 ? request->max_output_bytes : LT_RUN_LOG_MAX_BYTES;
}

/* As much of a line as still fits; once something was cut, nothing more. */
static void python_output_say_fitting(lt_python_run *run, lt_str line) {
  size_t max = lt_python_run_log_max(run->request);
  size_t room = max > run->log_bytes ? max - run->log_bytes : 0;
  size_t costs = line.n > 0 ? line.n : 1;
  if (run->result->log_cut) {
    return;
  }
  run->result->log_cut = costs > room;
  run->log_bytes += costs;
  line = lt_utf8_cut(line, room);
  if (!run->result->log_cut || line.n > 0) {
    python_output_say(run, LT_SAID_LOG, line);
  }
}

void lt_python_run_warn(lt_python_run *run, lt_str text) {
  python_output_say(run, LT_SAID_WARNING, text);
}

static lt_str python_output_without_return(lt_str line) {
  return line.n > 0 && line.p[line.n - 1] == '\r' ? lt_str_sub(line, 0, line.n - 1) : line;
}

static void python_output_end_line(lt_python_run *run, lt_str rest) {
  if (run->line.n == 0) {
    python_output_say_fitting(run, python_output_without_return(rest));
    return;
  }
  lt_buf_add(&run->line, rest);
  python_output_say_fitting(run, python_output_without_return(lt_buf_view(&run->line)));
  lt_buf_clear(&run->line);
}

/* Of a line without an end as much is kept as may be shown, and a little more, so that the cut is seen. */
static void python_output_keep_part(lt_python_run *run, lt_str part) {
  size_t most = lt_python_run_log_max(run->request) + 1;
  size_t room = most > run->line.n ? most - run->line.n : 0;
  if (!run->result->log_cut) {
    lt_buf_add(&run->line, lt_str_sub(part, 0, room));
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
    if (run->line.n + n > lt_python_run_log_max(run->request)) {
      python_output_keep_part(run, lt_str_sub(bytes, 0, n));
      python_output_end_line(run, LT_STR_NULL);
    } else {
      python_output_end_line(run, lt_str_sub(bytes, 0, n));
    }
    bytes = lt_str_sub(bytes, n + 1, bytes.n);
  }
}

bool lt_python_run_read_output(lt_python_run *run) {
  size_t total = 0;
  while (!run->output_closed) {
    ssize_t n = read(run->child->output, run->piece, sizeof run->piece);
    if (n <= 0) {
      run->output_closed = n == 0 || (errno != EAGAIN && errno != EINTR);
      return false;
    }
    python_output_feed(run, lt_str_from(run->piece, (size_t)n));
    total += (size_t)n;
    if (total >= LT_PYTHON_TURN_BYTES) {
      return true;
    }
  }
  return false;
}

void lt_python_run_end_text(lt_python_run *run) {
  if (run->line.n > 0) {
    python_output_end_line(run, LT_STR_NULL);
  }
}
