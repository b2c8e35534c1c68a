#include "text/sse.h"

void lt_sse_init(lt_sse *sse, size_t max_bytes) {
  *sse = (lt_sse){.max_bytes = max_bytes, .retry_ms = -1};
  lt_buf_init(&sse->bytes, 0); /* its ceiling is set with each piece */
  lt_buf_init(&sse->event, max_bytes);
  lt_buf_init(&sse->data, max_bytes);
  lt_buf_init(&sse->id, max_bytes);
}

void lt_sse_release(lt_sse *sse) {
  lt_buf_release(&sse->bytes);
  lt_buf_release(&sse->event);
  lt_buf_release(&sse->data);
  lt_buf_release(&sse->id);
}

static lt_status sse_status_of(const lt_sse *sse) {
  const lt_buf *all[] = {&sse->bytes, &sse->event, &sse->data, &sse->id};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i]->status != LT_OK) {
      return all[i]->status;
    }
  }
  return LT_OK;
}

lt_status lt_sse_add(lt_sse *sse, lt_str bytes) {
  LT_TRY(sse_status_of(sse));
  lt_buf_consume(&sse->bytes, sse->at);
  sse->scanned -= sse->at;
  sse->at = 0;
  size_t unread = sse->bytes.n;
  sse->bytes.max = unread > sse->max_bytes ? unread : unread + bytes.n; /* a line over the ceiling gets no longer */
  lt_buf_add(&sse->bytes, bytes);
  return sse->bytes.status;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark (BOM), if any." False: not known yet. */
static bool sse_skip_mark(lt_sse *sse) {
  static const char mark[] = {'\xEF', '\xBB', '\xBF'};
  size_t n = sse->bytes.n < sizeof mark ? sse->bytes.n : sizeof mark;
  if (n > 0 && memcmp(sse->bytes.p, mark, n) == 0) {
    if (n < sizeof mark) {
      return false;
    }
    sse->at = sse->scanned = n;
  }
  sse->begun = n > 0;
  return sse->begun;
}

static size_t sse_line_end(const lt_sse *sse) {
  size_t i = sse->scanned;
  while (i < sse->bytes.n && sse->bytes.p[i] != '\n' && sse->bytes.p[i] != '\r') {
    i++;
  }
  return i;
}

/* A comment may be endless: what has come of it is dropped but for its colon. */
static void sse_drop_comment(lt_sse *sse) {
  if (sse->at < sse->bytes.n && sse->bytes.p[sse->at] == ':') {
    sse->read += sse->bytes.n - sse->at - 1;
    lt_buf_cut(&sse->bytes, sse->at + 1);
    sse->scanned = sse->bytes.n;
  }
}

/* "Lines must be separated by either a U+000D CARRIAGE RETURN U+000A LINE FEED (CRLF) character pair, a single U+000A
 * LINE FEED (LF) character, or a single U+000D CARRIAGE RETURN (CR) character." A line that ends in CR is whole at
 * once: the event must not wait for what comes next. */
static bool sse_next_line(lt_sse *sse, lt_str *ret_line) {
  if (sse->after_cr && sse->at < sse->bytes.n) {
    sse->after_cr = false;
    if (sse->bytes.p[sse->at] == '\n') {
      sse->at++;
      sse->scanned = sse->at;
    }
  }
  size_t end = sse_line_end(sse);
  sse->scanned = end;
  if (end >= sse->bytes.n) {
    sse_drop_comment(sse);
    return false;
  }
  *ret_line = lt_str_from(sse->bytes.p + sse->at, end - sse->at);
  sse->after_cr = sse->bytes.p[end] == '\r';
  sse->at = sse->scanned = end + 1;
  return true;
}

/* --- Fields ------------------------------------------------------------------------------------------------------- */

/* "If the field value consists of only ASCII digits, then interpret the field value as an integer in base ten". */
static void sse_take_retry(lt_sse *sse, lt_str value) {
  int64_t ms = 0;
  for (size_t i = 0; i < value.n; i++) {
    if (value.p[i] < '0' || value.p[i] > '9' || ms > INT64_MAX / 100) {
      return;
    }
    ms = ms * 10 + (value.p[i] - '0');
  }
  if (value.n > 0) {
    sse->retry_ms = ms;
  }
}

static void sse_take_data(lt_sse *sse, lt_str value) {
  if (sse->has_data) {
    lt_buf_byte(&sse->data, '\n');
  }
  lt_buf_add(&sse->data, value);
  sse->has_data = true;
}

static void sse_replace(lt_buf *buf, lt_str value) {
  lt_buf_clear(buf);
  lt_buf_add(buf, value);
}

static void sse_take_field(lt_sse *sse, lt_str line) {
  const char *colon = memchr(line.p, ':', line.n);
  size_t name_n = colon != NULL ? (size_t)(colon - line.p) : line.n;
  lt_str name = lt_str_sub(line, 0, name_n);
  lt_str value = lt_str_sub(line, name_n + 1, line.n);
  if (value.n > 0 && value.p[0] == ' ') { /* "If value starts with a U+0020 SPACE character, remove it from value." */
    value = lt_str_sub(value, 1, value.n);
  }
  if (lt_str_eqc(name, "data")) {
    sse_take_data(sse, value);
  } else if (lt_str_eqc(name, "event")) {
    sse_replace(&sse->event, value);
  } else if (lt_str_eqc(name, "id")) {
    if (memchr(line.p, '\0', line.n) == NULL) { /* "If the field value does not contain U+0000 NULL" */
      sse_replace(&sse->id, value);
    }
  } else if (lt_str_eqc(name, "retry")) {
    sse_take_retry(sse, value);
  }
}

static void sse_forget(lt_sse *sse) {
  lt_buf_clear(&sse->event);
  lt_buf_clear(&sse->data);
  sse->has_data = false;
  sse->given = false;
}

bool lt_sse_next(lt_sse *sse, lt_sse_event *ret_event) {
  if (sse_status_of(sse) != LT_OK || (!sse->begun && !sse_skip_mark(sse))) {
    return false;
  }
  if (sse->given) {
    sse_forget(sse);
  }
  lt_str line;
  while (sse_next_line(sse, &line)) {
    sse->read += line.n + 1;
    if (line.n > 0) {
      sse_take_field(sse, line);
    } else if (sse_status_of(sse) != LT_OK) {
      return false;
    } else if (sse->has_data) {
      sse->given = true;
      *ret_event = (lt_sse_event){lt_buf_view(&sse->event), lt_buf_view(&sse->data), lt_buf_view(&sse->id)};
      return true;
    } else {
      sse_forget(sse); /* "If the data buffer is an empty string, set ... the event type buffer to the empty string" */
    }
  }
  return false;
}
