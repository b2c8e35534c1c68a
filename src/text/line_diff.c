#include "text/line_diff.h"

#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"

typedef struct diff_lines {
  lt_str *at; /* each with its line break */
  size_t n;
} diff_lines;

typedef struct line_diff {
  diff_lines before, after;
  size_t first, last; /* number of common lines at both ends */
  uint16_t *common; /* [i * (columns + 1) + j]: longest common subsequence from line i and line j on; NULL: too long */
  size_t context;
  size_t skipped; /* lines that are the same and not told yet ... */
  lt_str *kept;   /* ... the last `context` of them */
  bool has_change;
  size_t trailing; /* same lines since the last change */
  void (*fn)(void *arg, const lt_line_diff_step *step);
  void *arg;
} line_diff;

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static lt_status line_diff_split(lt_arena *arena, lt_str text, diff_lines *ret, lt_err *err) {
  size_t count = 0;
  for (size_t i = 0; i < text.n; i++) {
    count += text.p[i] == '\n' || i + 1 == text.n;
  }
  if (count > LT_DIFF_LINES) {
    return lt_fail(err, LT_E_LIMIT, "a text of more than %d lines is not compared", LT_DIFF_LINES);
  }
  ret->at = lt_arena_zalloc(arena, count + 1, sizeof *ret->at);
  if (ret->at == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to compare two texts");
  }
  for (size_t at = 0; at < text.n;) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    end = end < text.n ? end + 1 : text.n;
    ret->at[ret->n++] = lt_str_sub(text, at, end);
    at = end;
  }
  return LT_OK;
}

static void line_diff_trim(line_diff *d) {
  size_t least = d->before.n < d->after.n ? d->before.n : d->after.n;
  while (d->first < least && lt_str_eq(d->before.at[d->first], d->after.at[d->first])) {
    d->first++;
  }
  while (d->last < least - d->first &&
         lt_str_eq(d->before.at[d->before.n - 1 - d->last], d->after.at[d->after.n - 1 - d->last])) {
    d->last++;
  }
}

/* --- The longest common subsequence ------------------------------------------------------------------------------- */
/* NULL: the middle is too long, or there is no memory. */
static uint16_t *line_diff_compare(const line_diff *d, lt_arena *arena) {
  size_t rows = d->before.n - d->first - d->last, columns = d->after.n - d->first - d->last;
  if ((rows + 1) * (columns + 1) > LT_DIFF_CELLS) {
    return NULL;
  }
  uint16_t *common = lt_arena_zalloc(arena, (rows + 1) * (columns + 1), sizeof *common);
  for (size_t i = rows; common != NULL && i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      uint16_t *cell = &common[i * (columns + 1) + j];
      uint16_t below = cell[columns + 1], beside = cell[1];
      bool same = lt_str_eq(d->before.at[d->first + i], d->after.at[d->first + j]);
      *cell = same ? (uint16_t)(cell[columns + 2] + 1) : below > beside ? below : beside;
    }
  }
  return common;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */
static void line_diff_say(const line_diff *d, lt_line_diff_mark mark, lt_str line) {
  bool has_end = lt_str_ends(line, LT_STR("\n"));
  d->fn(d->arg, &(lt_line_diff_step){.mark = mark, .line = has_end ? lt_str_sub(line, 0, line.n - 1) : line});
  if (!has_end) {
    d->fn(d->arg, &(lt_line_diff_step){.mark = LT_DIFF_NO_END});
  }
}

/* Lines that are the same are said when they turn out to be near a change. */
static void line_diff_same(line_diff *d, lt_str line) {
  if (d->has_change && d->trailing < d->context) {
    d->trailing++;
    line_diff_say(d, LT_DIFF_SAME, line);
    return;
  }
  d->kept[d->skipped++ % d->context] = line;
}

static void line_diff_end_same(line_diff *d, size_t kept) {
  size_t near = d->skipped < kept ? d->skipped : kept;
  if (d->skipped > near) {
    d->fn(d->arg, &(lt_line_diff_step){.mark = LT_DIFF_SKIPPED, .count = d->skipped - near});
  }
  for (size_t i = d->skipped - near; i < d->skipped; i++) {
    line_diff_say(d, LT_DIFF_SAME, d->kept[i % d->context]);
  }
  d->skipped = 0;
}

static void line_diff_change(line_diff *d, lt_line_diff_mark mark, lt_str line) {
  line_diff_end_same(d, d->context);
  d->has_change = true;
  d->trailing = 0;
  line_diff_say(d, mark, line);
}

static void line_diff_walk(line_diff *d) {
  size_t rows = d->before.n - d->first - d->last, columns = d->after.n - d->first - d->last;
  for (size_t i = 0, j = 0; i < rows || j < columns;) {
    const uint16_t *cell = d->common != NULL ? &d->common[i * (columns + 1) + j] : NULL;
    lt_str old = i < rows ? d->before.at[d->first + i] : LT_STR_NULL;
    if (cell != NULL && i < rows && j < columns && lt_str_eq(old, d->after.at[d->first + j])) {
      line_diff_same(d, old);
      i++;
      j++;
    } else if (i < rows && (j == columns || cell == NULL || cell[columns + 1] >= cell[1])) {
      line_diff_change(d, LT_DIFF_REMOVED, old);
      i++;
    } else {
      line_diff_change(d, LT_DIFF_ADDED, d->after.at[d->first + j++]);
    }
  }
}

lt_status lt_line_diff(lt_str before, lt_str after, size_t context,
                       void (*fn)(void *arg, const lt_line_diff_step *step), void *arg, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_DIFF_MEMORY_BYTES);
  line_diff d = {.context = context > 0 ? context : 1, .fn = fn, .arg = arg};
  LT_TRY(line_diff_split(&arena, before, &d.before, err));
  LT_TRY(line_diff_split(&arena, after, &d.after, err));
  d.kept = lt_arena_zalloc(&arena, d.context, sizeof *d.kept);
  if (d.kept == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to compare two texts");
  }
  line_diff_trim(&d);
  d.common = line_diff_compare(&d, &arena);
  if (d.first == d.before.n && d.first == d.after.n) {
    return LT_OK;
  }
  for (size_t i = 0; i < d.first; i++) {
    line_diff_same(&d, d.before.at[i]);
  }
  line_diff_walk(&d);
  for (size_t i = d.before.n - d.last; i < d.before.n; i++) {
    line_diff_same(&d, d.before.at[i]);
  }
  line_diff_end_same(&d, 0);
  return LT_OK;
}
