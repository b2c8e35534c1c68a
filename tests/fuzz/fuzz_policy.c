/* Any bytes as a condition, a newline, and an input: no crash, an end, errors a person can read, and one truth, whose
 * opposite is that of the condition turned around. The condition is a glob on the input's text, too. */
#include <stdlib.h>

#include "base/limits.h"
#include "tool/policy/policy_explain.h"
#include "tool/policy/policy_text.h"

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

/* The rule that decides is among those that are explained. */
static void check_explained(const lt_policy *policy, const lt_policy_call *call) {
  lt_policy_view views[2];
  size_t count = lt_policy_explain(policy, LT_POLICY_USER, call, views, 2);
  bool decides = lt_policy_decide(policy, call).rule != SIZE_MAX;
  if (count > 1 || (decides && count == 0) || (count == 1 && !views[0].is_conditional && !decides)) {
    abort();
  }
}

/* A glob is no edit away from what it matches, and may begin as that begins. */
static void check_glob(lt_str glob, lt_str text) {
  bool matches = lt_policy_glob(glob, text);
  unsigned distance = lt_policy_distance(glob, text, 5);
  bool is_short = glob.n <= LT_POLICY_NEAR_MAX_BYTES && text.n <= LT_POLICY_NEAR_MAX_BYTES;
  bool is_ascii = true;
  for (size_t i = 0; i < text.n; i++) {
    is_ascii = is_ascii && !(text.p[i] & 0x80);
  }
  bool begins = text.n == 0 || lt_policy_may_begin(glob, lt_str_sub(text, 0, text.n - 1));
  if (is_ascii && ((matches && !begins) || (is_short && (distance == 0) != matches))) {
    abort();
  }
}

static void judge_input(const lt_policy *policy, lt_str when, lt_str input) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, 64 * LT_MIB);
  if (lt_json_parse(&arena, input, &doc, NULL) == LT_OK) {
    lt_json value = lt_json_root(&doc);
    lt_policy_call call = {.tool = input, .input = value, .annotations = value, .needs_approval = input.n % 2 > 0};
    int truth = judge(policy, &call);
    check_explained(policy, &call);
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
    check_glob(when, input);
  }
  lt_policy_free(glob);
  return 0;
}
