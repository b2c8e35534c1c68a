/* Runs the program of a regular expression: at every position of the text it keeps the set of all possible
 * instructions. */
#include "base/limits.h"
#include "base/mem.h"
#include "json/json_text.h"
#include "json/regex_program.h"

/* A set of places in the program. Briggs' and Torczon's sparse set needs no clearing. */
typedef struct regex_places {
  uint32_t *dense;
  uint32_t *sparse;
  uint32_t n;
  bool matched; /* the set has the end of the program */
} regex_places;

typedef struct regex_match {
  const lt_regex *regex;
  const char *text;
  size_t n;
  uint32_t *stack;
  uint32_t *looks; /* a bit for each position and look-around: whether it holds there */
  size_t look_words;
  uint64_t steps;
} regex_match;

/* --- Positions ---------------------------------------------------------------------------------------------------- */

static bool regex_run_is_word(const regex_match *r, size_t at) {
  char c = at < r->n ? r->text[at] : '\0';
  return c == '_' || lt_json_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* ECMA-262, LineTerminator: also U+2028 and U+2029, which begin with E2 80. */
static bool regex_run_is_line_end(const regex_match *r, size_t at) {
  const unsigned char *p = (const unsigned char *)r->text + at;
  return p[0] == '\n' || p[0] == '\r' || (r->n - at >= 3 && p[0] == 0xE2 && p[1] == 0x80 && (p[2] | 1) == 0xA9);
}

static bool regex_run_is_line_start(const regex_match *r, size_t at) {
  return at == 0 || regex_run_is_line_end(r, at - 1) || (at >= 3 && regex_run_is_line_end(r, at - 3));
}

static bool regex_run_holds(const regex_match *r, uint32_t assertion, size_t at) {
  switch ((lt_regex_assertion)assertion) {
    case LT_RE_TEXT_START:
      return at == 0;
    case LT_RE_TEXT_END:
      return at == r->n;
    case LT_RE_LINE_START:
      return regex_run_is_line_start(r, at);
    case LT_RE_LINE_END:
      return at == r->n || regex_run_is_line_end(r, at);
    case LT_RE_WORD_EDGE:
      return (at > 0 && regex_run_is_word(r, at - 1)) != regex_run_is_word(r, at);
    case LT_RE_NO_WORD_EDGE:
      return (at > 0 && regex_run_is_word(r, at - 1)) == regex_run_is_word(r, at);
  }
  return false;
}

static bool regex_run_look_holds(const regex_match *r, uint32_t look, size_t at) {
  return r->looks[look * r->look_words + at / 32] >> (at % 32) & 1;
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static bool regex_run_add_one(regex_places *set, uint32_t at) {
  uint32_t i = set->sparse[at];
  if (i < set->n && set->dense[i] == at) {
    return false;
  }
  set->sparse[at] = set->n;
  set->dense[set->n++] = at;
  return true;
}

/* Finds the instructions that follow `at` without reading a character. Returns their number. */
static unsigned regex_run_follow(const regex_match *r, uint32_t at, size_t position, uint32_t *ret) {
  const lt_regex_instr *instr = &r->regex->code[at];
  switch ((lt_regex_op)instr->op) {
    case LT_RE_OP_SPLIT:
      ret[0] = instr->b;
      ret[1] = instr->a;
      return 2;
    case LT_RE_OP_JUMP:
      ret[0] = instr->a;
      return 1;
    case LT_RE_OP_ASSERT:
      ret[0] = at + 1;
      return regex_run_holds(r, instr->a, position);
    case LT_RE_OP_LOOK:
      ret[0] = at + 1;
      return regex_run_look_holds(r, instr->a, position) != instr->b;
    case LT_RE_OP_CHAR:
    case LT_RE_OP_CLASS:
    case LT_RE_OP_MATCH:
      break;
  }
  return 0;
}

/* Adds an instruction and all that follow it without reading a character. Each is on the stack at most once, because
 * the set already contains it afterwards. */
static void regex_run_add(regex_match *r, regex_places *set, uint32_t start, size_t position) {
  uint32_t depth = 0;
  if (regex_run_add_one(set, start)) {
    r->stack[depth++] = start;
  }
  while (depth > 0) {
    uint32_t at = r->stack[--depth];
    uint32_t next[2];
    unsigned count = regex_run_follow(r, at, position, next);
    set->matched |= r->regex->code[at].op == LT_RE_OP_MATCH;
    r->steps++;
    for (unsigned i = 0; i < count; i++) {
      if (regex_run_add_one(set, next[i])) {
        r->stack[depth++] = next[i];
      }
    }
  }
}

static bool regex_run_takes(const lt_regex *regex, uint32_t at, uint32_t c) {
  const lt_regex_instr *instr = &regex->code[at];
  if (instr->op == LT_RE_OP_CHAR) {
    return instr->a == c;
  }
  return instr->op == LT_RE_OP_CLASS && lt_regex_class_has(regex->classes[instr->a], c);
}

/* Finds the places after the character `c`, at the position behind it. */
static void regex_run_step(regex_match *r, const regex_places *now, regex_places *next, uint32_t c, size_t position) {
  next->n = 0;
  next->matched = false;
  for (uint32_t i = 0; i < now->n; i++) {
    if (regex_run_takes(r->regex, now->dense[i], c)) {
      regex_run_add(r, next, now->dense[i] + 1, position);
    }
  }
  r->steps += now->n;
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

/* Reads the character before or after `position` and moves there. Text that is not WTF-8 is read byte by byte. */
static uint32_t regex_run_next_char(const regex_match *r, bool backward, size_t *position) {
  const char *end = r->text + r->n;
  size_t from = *position;
  uint32_t c = 0;
  if (backward) {
    from--;
    while (from > 0 && *position - from < 4 && lt_utf8_continues(r->text[from])) {
      from--;
    }
    if (lt_json_read_char(r->text + from, end, &c) != *position - from) {
      from = *position - 1;
      c = (unsigned char)r->text[from];
    }
    *position = from;
    return c;
  }
  unsigned n = lt_json_read_char(r->text + from, end, &c);
  *position += n > 0 ? n : 1;
  return n > 0 ? c : (unsigned char)r->text[from];
}

/* Runs one machine over the whole text and starts it anew at each position. `bits`: receives the positions where it
 * matched. NULL: the run stops at the first match. */
static bool regex_run_machine(regex_match *r, const lt_regex_machine *m, regex_places *sets, uint32_t *bits,
                              uint64_t max_steps) {
  regex_places *now = &sets[0];
  regex_places *next = &sets[1];
  size_t position = m->backward ? r->n : 0;
  size_t last = r->n - position;
  now->n = 0;
  now->matched = false;
  while (r->steps < max_steps) {
    if (!m->anchored || position == 0) {
      regex_run_add(r, now, m->start, position);
    }
    if (now->matched && bits == NULL) {
      return true;
    }
    if (now->matched) {
      bits[position / 32] |= 1u << (position % 32);
    }
    if (position == last || (m->anchored && now->n == 0)) {
      break;
    }
    uint32_t c = regex_run_next_char(r, m->backward, &position);
    regex_run_step(r, now, next, c, position);
    regex_places *other = now;
    now = next;
    next = other;
  }
  return false;
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */

void lt_regex_work_release(lt_regex_work *work) {
  lt_mem_free(work->p);
  *work = LT_REGEX_WORK_INIT;
}

static uint32_t *regex_run_get_words(lt_regex_work *work, size_t words) {
  size_t bytes = words * sizeof(uint32_t);
  if (bytes > work->size_bytes) {
    void *p = lt_mem_realloc(work->p, bytes);
    if (p == NULL) {
      return NULL;
    }
    work->p = p;
    work->size_bytes = bytes;
    memset(p, 0, bytes); /* a sparse set may be read before it is written: any value is right then */
  }
  return work->p;
}

static bool regex_run_machines(regex_match *r, regex_places *sets, uint64_t max_steps) {
  const lt_regex *regex = r->regex;
  uint32_t looks = regex->machine_count - 1;
  if (looks > 0) {
    memset(r->looks, 0, looks * r->look_words * sizeof(uint32_t));
    r->steps += looks * r->look_words / 8;
  }
  for (uint32_t i = 0; i < looks; i++) {
    regex_run_machine(r, &regex->machines[i], sets, r->looks + i * r->look_words, max_steps);
  }
  return regex_run_machine(r, &regex->machines[looks], sets, NULL, max_steps);
}

lt_status lt_regex_test(const lt_regex *regex, lt_str text, lt_regex_work *work, uint64_t *steps, bool *ret_matches) {
  size_t look_words = text.n / 32 + 1;
  size_t code = regex->code_count;
  size_t looks = regex->machine_count - 1;
  if (looks * look_words / 8 >= *steps) {
    *steps = 0;
    return LT_E_LIMIT;
  }
  uint32_t *words = regex_run_get_words(work, 5 * code + looks * look_words);
  if (words == NULL) {
    return LT_E_NOMEM;
  }
  regex_places sets[2] = {{.dense = words, .sparse = words + code},
                          {.dense = words + 2 * code, .sparse = words + 3 * code}};
  regex_match r = {.regex = regex,
                   .text = text.p != NULL ? text.p : "",
                   .n = text.n,
                   .stack = words + 4 * code,
                   .looks = words + 5 * code,
                   .look_words = look_words};
  bool matches = regex_run_machines(&r, sets, *steps);
  if (r.steps >= *steps && !matches) {
    *steps = 0;
    return LT_E_LIMIT;
  }
  *steps = r.steps < *steps ? *steps - r.steps : 0;
  *ret_matches = matches;
  return LT_OK;
}
