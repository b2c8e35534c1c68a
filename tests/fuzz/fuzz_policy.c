/* Any bytes as a condition, a newline, and an input: no crash, an end, errors a person can read, and one truth, whose
 * opposite is that of the condition turned around. The condition is a glob on the input's text, too. */
#include <stdlib.h>

#include "base/limits.h"
#include "tool/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printable UTF-8 in one line, as the text of errors is to be. */
static void check_text(const char *msg) {
  lt_buf json;
  lt_buf_init(&json, LT_MIB);
  lt_buf_byte(&json, '"');
  for (; *msg != '\0'; msg++) {
    if ((unsigned char)*msg < 0x20 || *msg == 0x7F) {
      abort();
    }
    if (*msg == '"' || *msg == '\\') {
      lt_buf_byte(&json, '\\');
    }
    lt_buf_byte(&json, *msg);
  }
  lt_buf_byte(&json, '"');
  if (lt_json_check(lt_buf_view(&json), NULL) != LT_OK) {
    abort();
  }
  lt_buf_release(&json);
}

static lt_policy *compile(lt_str when, lt_str glob) {
  lt_policy_rule rule = {.match = glob, .when = when, .action = LT_ACTION_DENY};
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  if (lt_policy_new(&rule, 1, NULL, 0, &policy, &err) != LT_OK) {
    check_text(lt_err_msg(&err));
  }
  return policy;
}

/* 1: yes, 0: unknown, -1: no. */
static int judge(const lt_policy *policy, const lt_policy_call *call) {
  lt_policy_decision decision = lt_policy_decide(policy, call);
  return decision.action != LT_ACTION_DENY ? -1 : decision.unsure ? 0 : 1;
}

static void check_opposite(lt_str when, const lt_policy_call *call, int truth) {
  lt_buf turned;
  lt_buf_init(&turned, LT_MIB);
  lt_buf_addc(&turned, "!(");
  lt_buf_add(&turned, when);
  lt_buf_addc(&turned, ")");
  lt_policy *policy = compile(lt_buf_view(&turned), LT_STR("*")); /* may be one level too deep or too long */
  if (policy != NULL && judge(policy, call) != -truth) {
    abort();
  }
  lt_policy_free(policy);
  lt_buf_release(&turned);
}

static void judge_input(const lt_policy *policy, lt_str when, lt_str input) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, 64 * LT_MIB);
  if (lt_json_parse(&arena, input, &doc, NULL) == LT_OK) {
    lt_json value = lt_json_root(&doc);
    lt_policy_call call = {.tool = input, .input = value, .annotations = value, .needs_approval = input.n % 2 > 0};
    int truth = judge(policy, &call);
    if (lt_str_trim(when).n > 0) {
      check_opposite(when, &call, truth);
    }
  }
  lt_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *newline = size > 0 && size < 64 * LT_KIB ? memchr(data, '\n', size) : NULL;
  if (newline == NULL) {
    return 0;
  }
  lt_str when = lt_str_from(data, (size_t)(newline - data));
  lt_str input = lt_str_from(newline + 1, size - when.n - 1);
  lt_policy *policy = compile(when, LT_STR("*"));
  if (policy != NULL) {
    judge_input(policy, when, input);
  }
  lt_policy_free(policy);
  lt_policy *glob = when.n > 0 && when.n < LT_POLICY_MATCH_MAX_BYTES ? compile(LT_STR_NULL, when) : NULL;
  if (glob != NULL) {
    judge(glob, &(lt_policy_call){.tool = input});
  }
  lt_policy_free(glob);
  return 0;
}
