#include "tool/remembered_decisions.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"

struct lt_remembered_decision {
  lt_remembered_decision *next; /* the one before it in time */
  lt_arena arena;
  lt_str tool;
  lt_str asked; /* the input that was asked about; empty: any */
  lt_decision decision;
};

#define EQUAL_DEPTH_MAX 64 /* deeper inputs are equal only when their texts are */

/* --- Equal inputs ------------------------------------------------------------------------------------------------- */
static bool remembered_is_equal(lt_json a, lt_json b, lt_arena *arena, unsigned depth);

/* Both directions: an object may repeat a key. */
static bool remembered_has_members_of(lt_json a, lt_json b, lt_arena *arena, unsigned depth) {
  lt_json_iter it = lt_json_each(b);
  while (lt_json_next(&it)) {
    lt_str key;
    if (!lt_json_str(it.key, arena, &key) ||
        !remembered_is_equal(lt_json_get_str(a, key), it.value, arena, depth + 1)) {
      return false;
    }
  }
  return true;
}

static bool remembered_has_items_of(lt_json a, lt_json b, lt_arena *arena, unsigned depth) {
  lt_json_iter left = lt_json_each(a), right = lt_json_each(b);
  while (lt_json_next(&left) && lt_json_next(&right)) {
    if (!remembered_is_equal(left.value, right.value, arena, depth + 1)) {
      return false;
    }
  }
  return true;
}

/* A number equals a number of the same spelling only: the difference costs a question, never an unasked call. */
static bool remembered_is_equal(lt_json a, lt_json b, lt_arena *arena, unsigned depth) {
  lt_json_type type = lt_json_typeof(a);
  lt_str left, right;
  if (type != lt_json_typeof(b) || lt_json_count(a) != lt_json_count(b) || depth > EQUAL_DEPTH_MAX) {
    return false;
  }
  if (type == LT_JSON_OBJECT) {
    return remembered_has_members_of(a, b, arena, depth) && remembered_has_members_of(b, a, arena, depth);
  }
  if (type == LT_JSON_ARRAY) {
    return remembered_has_items_of(a, b, arena, depth);
  }
  if (type == LT_JSON_STRING) {
    return lt_json_str(a, arena, &left) && lt_json_str(b, arena, &right) && lt_str_eq(left, right);
  }
  return lt_str_eq(lt_json_text(a), lt_json_text(b));
}

static bool remembered_is_same_input(lt_str a, lt_str b) {
  if (lt_str_eq(a, b)) {
    return true;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc left, right;
  return lt_json_parse(&arena, a, &left, NULL) == LT_OK && lt_json_parse(&arena, b, &right, NULL) == LT_OK &&
         remembered_is_equal(lt_json_root(&left), lt_json_root(&right), &arena, 0);
}

/* --- The memory --------------------------------------------------------------------------------------------------- */
static void remembered_free(lt_remembered_decision *kept) {
  lt_arena_release(&kept->arena);
  lt_mem_free(kept);
}

void lt_remembered_decisions_release(lt_remembered_decisions *memory) {
  while (memory->newest != NULL) {
    lt_remembered_decision *next = memory->newest->next;
    remembered_free(memory->newest);
    memory->newest = next;
  }
  *memory = (lt_remembered_decisions){0};
}

static lt_status remembered_fill(lt_remembered_decision *kept, lt_str tool, lt_str input, const lt_decision *decision) {
  bool any = decision->remember != LT_REMEMBER_CALL;
  lt_decision what = *decision;
  what.input = any ? LT_STR("") : decision->input;
  kept->tool = lt_arena_dup(&kept->arena, tool);
  kept->asked = lt_arena_dup(&kept->arena, any ? LT_STR("") : input);
  LT_TRY(lt_decision_copy(&kept->arena, &what, &kept->decision));
  return kept->tool.p != NULL && kept->asked.p != NULL ? LT_OK : LT_E_NOMEM;
}

void lt_remembered_decisions_add(lt_remembered_decisions *memory, lt_str tool, lt_str input,
                                 const lt_decision *decision) {
  size_t bytes = tool.n + input.n + decision->reason.n + decision->input.n;
  if (decision->remember == LT_REMEMBER_NOTHING || memory->count >= LT_REMEMBERED_MAX ||
      bytes > LT_REMEMBERED_BYTES - memory->bytes) {
    return;
  }
  lt_remembered_decision *kept = lt_mem_zalloc(1, sizeof *kept);
  if (kept == NULL) {
    return;
  }
  lt_arena_init(&kept->arena, LT_REMEMBERED_BYTES + LT_KIB);
  if (remembered_fill(kept, tool, input, decision) != LT_OK) {
    remembered_free(kept);
    return;
  }
  kept->next = memory->newest;
  memory->newest = kept;
  memory->count++;
  memory->bytes += bytes;
}

bool lt_remembered_decisions_find(const lt_remembered_decisions *memory, lt_str tool, lt_str input,
                                  lt_decision *ret_decision) {
  for (const lt_remembered_decision *kept = memory->newest; kept != NULL; kept = kept->next) {
    bool fits = lt_str_eq(kept->tool, tool) &&
                (kept->decision.remember != LT_REMEMBER_CALL || remembered_is_same_input(kept->asked, input));
    if (fits) {
      *ret_decision = kept->decision;
      return true;
    }
  }
  return false;
}
