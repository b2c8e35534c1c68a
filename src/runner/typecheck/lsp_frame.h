/* Cuts a stream of the language server protocol into messages: a header with `Content-Length`, an empty line, a body.
 * Pure, and incremental: pieces may end anywhere. */
#ifndef LT_RUNNER_TYPECHECK_LSP_FRAME_H
#define LT_RUNNER_TYPECHECK_LSP_FRAME_H

#include <stdbool.h>

#include "base/buf.h"

#define LT_LSP_FRAME_HEADER_BYTES 256 /* of a header's longest line */

typedef struct lt_lsp_frame {
  lt_buf body; /* so far */
  size_t body_bytes;
  bool is_in_body;
  bool has_length;
  size_t line_bytes;
  char line[LT_LSP_FRAME_HEADER_BYTES];
} lt_lsp_frame;

typedef enum lt_lsp_frame_got {
  LT_LSP_FRAME_MORE, /* all bytes are taken: feed more */
  LT_LSP_FRAME_BODY,
  LT_LSP_FRAME_BAD /* no such protocol, a body over the limit, or no memory: the stream is of no use any more */
} lt_lsp_frame_got;

/* `body_max`: bytes of the longest body. */
void lt_lsp_frame_init(lt_lsp_frame *frame, size_t body_max);
void lt_lsp_frame_release(lt_lsp_frame *frame);
/* Takes bytes from the front of `*bytes`, up to the end of one message. Borrows: `*ret_body` is valid until the next
 * call. */
lt_lsp_frame_got lt_lsp_frame_next(lt_lsp_frame *frame, lt_str *bytes, lt_str *ret_body);
/* Appends a message. */
void lt_lsp_frame_put(lt_buf *out, lt_str body);

#endif
