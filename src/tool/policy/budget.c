/* The use of a run's budgets. A rate is a sliding window: a ring has the times of the calls of the last 60
 * seconds; it grows up to the rate itself. */
#include "base/limits.h"
#include "base/mem.h"
#include "tool/policy/policy_set.h"
#include "tool/policy/policy_text.h"

#define WINDOW_MS  60000
#define RING_FIRST 16

typedef struct budget_usage {
  int64_t calls;
  uint64_t *times; /* a ring, the oldest at `first` */
  size_t cap;
  size_t first;
  size_t count;
} budget_usage;

struct lt_budget {
  const lt_policy_budget *limits;
  size_t count;
  budget_usage used[];
};

lt_budget *lt_budget_new(const lt_policy *policy) {
  size_t count = policy != NULL ? policy->budget_count : 0;
  lt_budget *budget = lt_mem_zalloc(1, sizeof(*budget) + count * sizeof(budget->used[0]));
  if (budget != NULL) {
    budget->limits = policy != NULL ? policy->budgets : NULL;
    budget->count = count;
  }
  return budget;
}

void lt_budget_free(lt_budget *budget) {
  for (size_t i = 0; budget != NULL && i < budget->count; i++) {
    lt_mem_free(budget->used[i].times);
  }
  lt_mem_free(budget);
}

bool lt_budget_has_limits(const lt_budget *budget) {
  return budget != NULL && budget->count > 0;
}

static bool budget_is_over(uint64_t time, uint64_t now_ms) {
  return now_ms > time && now_ms - time >= WINDOW_MS;
}

static void budget_forget_old(budget_usage *used, uint64_t now_ms) {
  while (used->count > 0 && budget_is_over(used->times[used->first], now_ms)) {
    used->first = (used->first + 1) % used->cap;
    used->count--;
  }
}

/* Room for one more time. */
static bool budget_make_room(budget_usage *used, int64_t per_minute) {
  if (used->count < used->cap) {
    return true;
  }
  size_t cap = used->cap > 0 ? used->cap * 2 : RING_FIRST;
  cap = cap < (size_t)per_minute ? cap : (size_t)per_minute;
  uint64_t *times = lt_mem_alloc(cap * sizeof(*times));
  if (times == NULL) {
    return false;
  }
  for (size_t i = 0; i < used->count; i++) {
    times[i] = used->times[(used->first + i) % used->cap];
  }
  lt_mem_free(used->times);
  used->times = times;
  used->cap = cap;
  used->first = 0;
  return true;
}

static lt_status budget_check_calls(const lt_policy_budget *limit, const budget_usage *used, lt_err *err) {
  if (limit->calls == 0 || used->calls < limit->calls) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_LIMIT, "the budget for \"%.*s\" is used up: %lld call%s per run (tools.budgets)",
                 LT_STR_ARG(limit->match), (long long)limit->calls, limit->calls == 1 ? "" : "s");
}

/* The time until there is room; 0: there is room now. */
static uint64_t budget_wait_ms(const lt_policy_budget *limit, budget_usage *used, uint64_t now_ms) {
  budget_forget_old(used, now_ms);
  if (limit->per_minute == 0 || used->count < (size_t)limit->per_minute) {
    return 0;
  }
  uint64_t oldest = used->times[used->first];
  return now_ms > oldest ? oldest + WINDOW_MS - now_ms : WINDOW_MS;
}

static lt_status budget_fail_rate(const lt_policy_budget *limit, uint64_t wait_ms, lt_err *err) {
  return lt_fail(err, LT_E_LIMIT,
                 "the budget for \"%.*s\" is used up: %lld call%s per minute: try again in %llu s (tools.budgets)",
                 LT_STR_ARG(limit->match), (long long)limit->per_minute, limit->per_minute == 1 ? "" : "s",
                 (unsigned long long)(wait_ms + 999) / 1000);
}

static bool budget_is_for(const lt_budget *budget, size_t i, lt_str tool) {
  return lt_policy_glob(budget->limits[i].match, tool);
}

/* Whether every budget has room. The message names a budget that is used up for the rest of the run first, else the
 * one with the longest wait: after that wait the call gets through. */
static lt_status budget_check_all(lt_budget *budget, lt_str tool, uint64_t now_ms, lt_err *err) {
  const lt_policy_budget *slowest = NULL;
  uint64_t longest = 0;
  for (size_t i = 0; i < budget->count; i++) {
    if (!budget_is_for(budget, i, tool)) {
      continue;
    }
    LT_TRY(budget_check_calls(&budget->limits[i], &budget->used[i], err));
    uint64_t wait = budget_wait_ms(&budget->limits[i], &budget->used[i], now_ms);
    if (wait > longest) {
      longest = wait;
      slowest = &budget->limits[i];
    }
  }
  return slowest != NULL ? budget_fail_rate(slowest, longest, err) : LT_OK;
}

static lt_status budget_make_all_room(lt_budget *budget, lt_str tool, lt_err *err) {
  for (size_t i = 0; i < budget->count; i++) {
    int64_t per_minute = budget->limits[i].per_minute;
    if (per_minute > 0 && budget_is_for(budget, i, tool) && !budget_make_room(&budget->used[i], per_minute)) {
      return lt_fail(err, LT_E_NOMEM, "out of memory");
    }
  }
  return LT_OK;
}

static void budget_count_call(budget_usage *used, bool rated, uint64_t now_ms) {
  used->calls++;
  if (rated) {
    used->times[(used->first + used->count) % used->cap] = now_ms;
    used->count++;
  }
}

lt_status lt_budget_take(lt_budget *budget, lt_str tool, uint64_t now_ms, lt_err *err) {
  if (budget == NULL) {
    return LT_OK;
  }
  LT_TRY(budget_check_all(budget, tool, now_ms, err));
  LT_TRY(budget_make_all_room(budget, tool, err));
  for (size_t i = 0; i < budget->count; i++) {
    if (budget_is_for(budget, i, tool)) {
      budget_count_call(&budget->used[i], budget->limits[i].per_minute > 0, now_ms);
    }
  }
  return LT_OK;
}
