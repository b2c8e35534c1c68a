/* Language Server Protocol 3.17, "Base Protocol": header fields end in \r\n, names are compared without case. */
#include "runner/typecheck/lsp_frame.h"

#include <string.h>
#include <strings.h>

#define LENGTH_FIELD "Content-Length:"

void lt_lsp_frame_init(lt_lsp_frame *frame, size_t body_max) {
  *frame = (lt_lsp_frame){0};
  lt_buf_init(&frame->body, body_max);
}

void lt_lsp_frame_release(lt_lsp_frame *frame) {
  lt_buf_release(&frame->body);
}

/* Reads the number after `Content-Length:`. False: there is none, or the body is too long. */
static bool lsp_frame_read_length(lt_lsp_frame *frame, lt_str digits) {
  size_t n = 0;
  for (size_t i = 0; i < digits.n; i++) {
    if (digits.p[i] < '0' || digits.p[i] > '9') {
      return false;
    }
    n = n * 10 + (size_t)(digits.p[i] - '0');
    if (n > frame->body.max) {
      return false;
    }
  }
  frame->body_bytes = n;
  frame->has_length = digits.n > 0;
  return frame->has_length;
}

/* A whole line of the header, without its end. An empty one ends the header. */
static bool lsp_frame_take_line(lt_lsp_frame *frame) {
  lt_str line = lt_str_from(frame->line, frame->line_bytes);
  if (line.n > 0 && line.p[line.n - 1] == '\r') {
    line.n--;
  }
  frame->line_bytes = 0;
  if (line.n == 0) {
    frame->is_in_body = frame->has_length;
    lt_buf_clear(&frame->body);
    return frame->has_length;
  }
  size_t name = sizeof LENGTH_FIELD - 1;
  if (line.n > name && strncasecmp(line.p, LENGTH_FIELD, name) == 0) {
    return lsp_frame_read_length(frame, lt_str_trim(lt_str_sub(line, name, line.n)));
  }
  return lt_str_find(line, LT_STR(":"), 0) != SIZE_MAX;
}

static bool lsp_frame_take_header(lt_lsp_frame *frame, lt_str *bytes) {
  while (bytes->n > 0 && !frame->is_in_body) {
    char c = bytes->p[0];
    *bytes = lt_str_sub(*bytes, 1, bytes->n);
    if (c == '\n') {
      if (!lsp_frame_take_line(frame)) {
        return false;
      }
    } else if (frame->line_bytes == sizeof frame->line) {
      return false;
    } else {
      frame->line[frame->line_bytes++] = c;
    }
  }
  return true;
}

lt_lsp_frame_got lt_lsp_frame_next(lt_lsp_frame *frame, lt_str *bytes, lt_str *ret_body) {
  if (!lsp_frame_take_header(frame, bytes)) {
    return LT_LSP_FRAME_BAD;
  }
  if (!frame->is_in_body) {
    return LT_LSP_FRAME_MORE;
  }
  size_t missing = frame->body_bytes - frame->body.n;
  size_t n = missing < bytes->n ? missing : bytes->n;
  lt_buf_add(&frame->body, lt_str_sub(*bytes, 0, n));
  *bytes = lt_str_sub(*bytes, n, bytes->n);
  if (frame->body.status != LT_OK) {
    return LT_LSP_FRAME_BAD;
  }
  if (frame->body.n < frame->body_bytes) {
    return LT_LSP_FRAME_MORE;
  }
  frame->is_in_body = frame->has_length = false;
  *ret_body = lt_buf_view(&frame->body);
  return LT_LSP_FRAME_BODY;
}

void lt_lsp_frame_put(lt_buf *out, lt_str body) {
  lt_buf_printf(out, LENGTH_FIELD " %zu\r\n\r\n", body.n);
  lt_buf_add(out, body);
}
