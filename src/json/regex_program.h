/* The program of a regular expression: regex.c makes it, regex_run.c runs it. Private to regex*.c.
 */
#ifndef LT_JSON_REGEX_PROGRAM_H
#define LT_JSON_REGEX_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "json/regex.h"
#include "json/regex_class.h"

typedef enum lt_regex_assertion {
  LT_RE_TEXT_START,
  LT_RE_TEXT_END,
  LT_RE_LINE_START,
  LT_RE_LINE_END,
  LT_RE_WORD_EDGE,
  LT_RE_NO_WORD_EDGE,
} lt_regex_assertion;

typedef enum lt_regex_op {
  LT_RE_OP_CHAR,   /* a: the character */
  LT_RE_OP_CLASS,  /* a: index of the class */
  LT_RE_OP_SPLIT,  /* goes on at a and at b */
  LT_RE_OP_JUMP,   /* a */
  LT_RE_OP_ASSERT, /* a: lt_regex_assertion */
  LT_RE_OP_LOOK,   /* a: number of the look-around; b: 1 if it is negated */
  LT_RE_OP_MATCH,
} lt_regex_op;

typedef struct lt_regex_instr {
  uint32_t op;
  uint32_t a;
  uint32_t b;
} lt_regex_instr;

/* One automaton: the pattern's own, or a look-around's. A look-ahead is run from the text's end to its start, so that
 * one run finds all positions where it holds. */
typedef struct lt_regex_machine {
  uint32_t start;
  bool backward;
  bool anchored; /* can only match from the text's start */
} lt_regex_machine;

struct lt_regex {
  const lt_regex_instr *code;
  const lt_regex_class **classes;
  const lt_regex_machine *machines; /* in execution order: the pattern's own last */
  uint32_t code_count;
  uint32_t machine_count;
};

#endif
