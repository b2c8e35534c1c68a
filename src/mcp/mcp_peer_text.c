#include "mcp/mcp_peer_text.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "text/plain.h"

static void mcp_peer_text_add_head(lt_buf *out, lt_str s, size_t max) {
  lt_str head = lt_utf8_cut(s, max);
  lt_buf_add(out, head);
  if (head.n < s.n) {
    lt_buf_addc(out, "...");
  }
}

static void mcp_peer_text_add_tail(lt_buf *out, lt_str s, size_t max) {
  size_t from = s.n > max ? lt_utf8_ceil(s, s.n - max) : 0;
  size_t line = from > 0 ? lt_str_find(s, LT_STR("\n"), from) : SIZE_MAX;
  if (line != SIZE_MAX && line + 1 < s.n) {
    from = line + 1;
  }
  if (from > 0) {
    lt_buf_addc(out, "...");
  }
  lt_buf_add(out, lt_str_sub(s, from, s.n));
}

void lt_mcp_peer_text_add(lt_buf *out, lt_str text, lt_mcp_end end, size_t max, const lt_secrets *secrets) {
  /* Mask first and cut afterwards: a cut through a secret would prevent the masking. */
  if (text.n > LT_MCP_WORDS_READ_BYTES) {
    text = end == LT_MCP_HEAD ? lt_str_sub(text, 0, LT_MCP_WORDS_READ_BYTES)
                              : lt_str_sub(text, text.n - LT_MCP_WORDS_READ_BYTES, text.n);
  }
  LT_AUTO_BUF(masked, 2 * LT_MCP_WORDS_READ_BYTES);
  LT_AUTO_BUF(plain, 6 * LT_MCP_WORDS_READ_BYTES); /* a broken character takes three bytes */
  lt_secrets_mask(secrets, text, &masked); /* before: a secret may contain white space that is shown in another form */
  lt_plain_add(&plain, lt_buf_view(&masked));
  lt_secrets_mask_buf(secrets, &plain); /* and after: an escape may have been in the middle of a secret */
  lt_str words = lt_str_trim(lt_buf_view(&plain));
  if (end == LT_MCP_HEAD) {
    mcp_peer_text_add_head(out, words, max);
  } else {
    mcp_peer_text_add_tail(out, words, max);
  }
}
