/* Cuts a stream of bytes into lines, for any size of the pieces. Pure: no loop, no files.
 *
 * The caller reserves room, fills it, commits it, and takes lines out. Every byte is examined once, even for long lines
 * in small pieces. NUL bytes are data.
 */
#ifndef LT_IO_LINES_H
#define LT_IO_LINES_H

#include <stdbool.h>

#include "base/str.h"

typedef struct lt_lines {
  char *p;
  size_t cap;
  size_t start;    /* of the line that is next */
  size_t end;      /* of what has been committed */
  size_t searched; /* no "\n" in [start, searched), but for `newline` */
  size_t newline;  /* where the next line ends; valid when `found` */
  size_t line_max;
  bool is_raw; /* set after lt_lines_init: there are no lines, all that was committed is next */
  bool found;
  bool over;     /* a line was longer than line_max: not reported yet */
  bool skipping; /* ... and its rest is dropped up to the next "\n" */
  bool ended;
} lt_lines;

typedef enum lt_lines_got {
  LT_LINES_MORE, /* no complete line yet: commit more */
  LT_LINES_LINE,
  LT_LINES_OVER, /* a line over line_max: reported once, as soon as it is known; its bytes are dropped */
  LT_LINES_END
} lt_lines_got;

/* Nothing is allocated before the first lt_lines_reserve. */
void lt_lines_init(lt_lines *lines, size_t line_max);
void lt_lines_release(lt_lines *lines);

/* Room for at least LT_PROC_READ_BYTES / 2 more bytes, or NULL without memory. It may move the bytes: the last line
 * taken becomes invalid. */
char *lt_lines_reserve(lt_lines *lines, size_t *ret_n);
void lt_lines_commit(lt_lines *lines, size_t n);
/* Marks the end of the stream. A last line without "\n" counts. */
void lt_lines_end(lt_lines *lines);
/* Forgets everything that was committed. */
void lt_lines_clear(lt_lines *lines);

/* Whether lt_lines_next would return anything other than LT_LINES_MORE. */
bool lt_lines_ready(lt_lines *lines);
/* The next line, without its "\n" or "\r\n". Borrows: until the next lt_lines_reserve, lt_lines_clear or release. */
lt_lines_got lt_lines_next(lt_lines *lines, lt_str *ret_line);

#endif
