/* Generates the program from the tree. */
#include "json/regex.h"

#include "base/limits.h"
#include "json/regex_program.h"
#include "json/regex_tree.h"

/* --- How long it will be ------------------------------------------------------------------------------------------
 * Counted first: repetitions in repetitions multiply. */

static uint64_t regex_size_of(const lt_regex_node *n);

static uint64_t regex_size_of_repeat(const lt_regex_node *n) {
  uint64_t inner = regex_size_of(n->first);
  if (n->max == LT_REGEX_FOREVER) {
    return n->min == 0 ? inner + 2 : inner * n->min + 1;
  }
  return inner * n->min + (inner + 1) * (n->max - n->min);
}

/* A sum above the limit becomes the limit, so that sums stay small. */
static uint64_t regex_size_of(const lt_regex_node *n) {
  uint64_t size = 0;
  switch (n->kind) {
    case LT_RE_EMPTY:
      return 0;
    case LT_RE_CHAR:
    case LT_RE_CLASS:
    case LT_RE_ASSERT:
    case LT_RE_LOOK:
      return 1;
    case LT_RE_REPEAT:
      size = regex_size_of_repeat(n);
      break;
    case LT_RE_SEQUENCE:
    case LT_RE_CHOICE:
      for (const lt_regex_node *child = n->first; child != NULL; child = child->next) {
        size += regex_size_of(child) + (n->kind == LT_RE_CHOICE && child->next != NULL ? 2 : 0);
      }
      break;
  }
  return size < 2 * LT_REGEX_PROGRAM_MAX ? size : 2 * LT_REGEX_PROGRAM_MAX;
}

/* --- Writing it --------------------------------------------------------------------------------------------------- */

typedef struct regex_emitter {
  lt_regex_instr *code;
  const lt_regex_class **classes;
  uint32_t n;
  uint32_t class_count;
  bool backward;
} regex_emitter;

static void regex_emit(regex_emitter *e, const lt_regex_node *n);

static uint32_t regex_put(regex_emitter *e, lt_regex_op op, uint32_t a, uint32_t b) {
  e->code[e->n] = (lt_regex_instr){op, a, b};
  return e->n++;
}

static void regex_emit_sequence(regex_emitter *e, const lt_regex_node *n) {
  for (const lt_regex_node *child = e->backward ? n->last : n->first; child != NULL;
       child = e->backward ? child->prev : child->next) {
    regex_emit(e, child);
  }
}

/* split, first, jump to the end, split, second, jump to the end, last. The jumps are chained through `a` until the end
 * is known. */
static void regex_emit_choice(regex_emitter *e, const lt_regex_node *n) {
  uint32_t chain = UINT32_MAX;
  for (const lt_regex_node *child = n->first; child != NULL; child = child->next) {
    if (child->next == NULL) {
      regex_emit(e, child);
      break;
    }
    uint32_t split = regex_put(e, LT_RE_OP_SPLIT, e->n + 1, 0);
    regex_emit(e, child);
    chain = regex_put(e, LT_RE_OP_JUMP, chain, 0);
    e->code[split].b = e->n;
  }
  while (chain != UINT32_MAX) {
    uint32_t next = e->code[chain].a;
    e->code[chain].a = e->n;
    chain = next;
  }
}

static void regex_emit_repeat(regex_emitter *e, const lt_regex_node *n) {
  uint32_t last = e->n;
  uint64_t size = regex_size_of(n->first);
  for (uint32_t i = 0; i < n->min && size > 0; i++) {
    last = e->n;
    regex_emit(e, n->first);
  }
  if (n->max == LT_REGEX_FOREVER && n->min > 0) {
    regex_put(e, LT_RE_OP_SPLIT, last, e->n + 1);
  } else if (n->max == LT_REGEX_FOREVER) {
    uint32_t split = regex_put(e, LT_RE_OP_SPLIT, e->n + 1, 0);
    regex_emit(e, n->first);
    regex_put(e, LT_RE_OP_JUMP, split, 0);
    e->code[split].b = e->n;
  } else {
    uint32_t end = e->n + (uint32_t)(size + 1) * (n->max - n->min);
    for (uint32_t i = n->min; i < n->max; i++) {
      regex_put(e, LT_RE_OP_SPLIT, e->n + 1, end);
      regex_emit(e, n->first);
    }
  }
}

static void regex_emit(regex_emitter *e, const lt_regex_node *n) {
  switch (n->kind) {
    case LT_RE_EMPTY:
      break;
    case LT_RE_CHAR:
      regex_put(e, LT_RE_OP_CHAR, n->c, 0);
      break;
    case LT_RE_CLASS:
      e->classes[e->class_count] = n->class;
      regex_put(e, LT_RE_OP_CLASS, e->class_count++, 0);
      break;
    case LT_RE_ASSERT:
      regex_put(e, LT_RE_OP_ASSERT, n->c, 0);
      break;
    case LT_RE_LOOK:
      regex_put(e, LT_RE_OP_LOOK, n->c, n->negated);
      break;
    case LT_RE_SEQUENCE:
      regex_emit_sequence(e, n);
      break;
    case LT_RE_CHOICE:
      regex_emit_choice(e, n);
      break;
    case LT_RE_REPEAT:
      regex_emit_repeat(e, n);
      break;
  }
}

/* Whether every path through the node begins at the start of the text. */
static bool regex_is_anchored(const lt_regex_node *n) {
  if (n == NULL) {
    return false;
  }
  switch (n->kind) {
    case LT_RE_ASSERT:
      return n->c == LT_RE_TEXT_START;
    case LT_RE_SEQUENCE: {
      const lt_regex_node *first = n->first;
      while (first != NULL && (first->kind == LT_RE_EMPTY || first->kind == LT_RE_LOOK)) {
        first = first->next;
      }
      return regex_is_anchored(first);
    }
    case LT_RE_CHOICE:
      for (const lt_regex_node *child = n->first; child != NULL; child = child->next) {
        if (!regex_is_anchored(child)) {
          return false;
        }
      }
      return true;
    case LT_RE_EMPTY:
    case LT_RE_CHAR:
    case LT_RE_CLASS:
    case LT_RE_LOOK:
    case LT_RE_REPEAT:
      break;
  }
  return false;
}

static void regex_emit_machine(regex_emitter *e, const lt_regex_node *n, lt_regex_machine *machine) {
  e->backward = machine->backward;
  machine->start = e->n;
  regex_emit(e, n);
  regex_put(e, LT_RE_OP_MATCH, 0, 0);
}

static uint64_t regex_size_of_tree(const lt_regex_tree *tree) {
  uint64_t size = regex_size_of(tree->root) + 1;
  for (uint32_t i = 0; i < tree->look_count; i++) {
    size += regex_size_of(tree->looks[i]->first) + 1;
  }
  return size;
}

static lt_status regex_build(lt_arena *arena, const lt_regex_tree *tree, const lt_regex **ret, lt_err *err) {
  uint64_t size = regex_size_of_tree(tree);
  if (size > LT_REGEX_PROGRAM_MAX) {
    return lt_fail(err, LT_E_LIMIT, "the pattern repeats too much");
  }
  uint32_t machine_count = tree->look_count + 1;
  lt_regex *regex = lt_arena_zalloc(arena, 1, sizeof(*regex));
  regex_emitter e = {.code = lt_arena_alloc(arena, size * sizeof(lt_regex_instr)),
                     .classes = lt_arena_alloc(arena, size * sizeof(lt_regex_class *))};
  lt_regex_machine *machines = lt_arena_zalloc(arena, machine_count, sizeof(*machines));
  if (regex == NULL || e.code == NULL || e.classes == NULL || machines == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  for (uint32_t i = 0; i < tree->look_count; i++) {
    machines[i].backward = !tree->looks[i]->behind;
    regex_emit_machine(&e, tree->looks[i]->first, &machines[i]);
  }
  machines[tree->look_count].anchored = regex_is_anchored(tree->root);
  regex_emit_machine(&e, tree->root, &machines[tree->look_count]);
  LT_CHECK(e.n == size);
  *regex = (lt_regex){e.code, e.classes, machines, e.n, machine_count};
  *ret = regex;
  return LT_OK;
}

lt_status lt_regex_new(lt_arena *arena, lt_str pattern, const lt_regex **ret, lt_err *err) {
  lt_regex_tree tree;
  LT_AUTO_ARENA(scratch, LT_REGEX_MEMORY_BYTES);
  lt_status status = lt_regex_parse(&scratch, arena, pattern, &tree, err);
  if (status == LT_OK) {
    status = regex_build(arena, &tree, ret, err);
  }
  if (status == LT_E_NOMEM && scratch.used > scratch.max / 2) {
    status = lt_fail(err, LT_E_LIMIT, "the pattern takes too much memory");
  }
  return status;
}

size_t lt_regex_size(const lt_regex *regex) {
  return regex->code_count;
}
