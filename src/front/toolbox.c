#include "front/toolbox.h"

#include <sys/random.h>

#include "base/mem.h"
#include "front/approver.h"

struct lt_toolbox {
  lt_toolbox_options o;
  lt_policy *policy; /* NULL: no rules */
};

static lt_status compile_policy(lt_toolbox *t, lt_err *err) {
  const lt_config *c = t->o.config;
  if (c->rule_count + c->budget_count == 0) {
    return LT_OK;
  }
  lt_status status = lt_policy_new(c->rules, c->rule_count, c->budgets, c->budget_count, &t->policy, err);
  if (status == LT_OK || status == LT_E_NOMEM) {
    return status;
  }
  lt_err_prefix(err, "%s", c->path);
  return LT_E_CONFIG;
}

lt_status lt_toolbox_open(const lt_toolbox_options *options, lt_toolbox **ret_toolbox, lt_err *err) {
  lt_toolbox *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  t->o = *options;
  lt_status status = compile_policy(t, err);
  if (status != LT_OK) {
    lt_toolbox_close(t);
    return status;
  }
  *ret_toolbox = t;
  return LT_OK;
}

void lt_toolbox_close(lt_toolbox *t) {
  if (t != NULL) {
    lt_policy_free(t->policy);
    lt_mem_free(t);
  }
}

/* --- A run ------------------------------------------------------------------------------------ */
static void make_id(char id[33]) {
  unsigned char bytes[16] = {0};
  (void)!getrandom(bytes, sizeof bytes, 0); /* 16 bytes come whole, whatever signals come */
  for (size_t i = 0; i < sizeof bytes; i++) {
    id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  id[32] = '\0';
}

lt_status lt_toolbox_begin(lt_toolbox *t, bool yes, lt_toolbox_run *ret_run, lt_err *err) {
  lt_toolbox_run *r = ret_run;
  make_id(r->id);
  r->caller = (lt_caller){
      .user = LT_STR("local"),
      .run = lt_str_of(r->id),
      .policy = t->policy,
      .budget = lt_budget_new(t->policy),
      .approver = lt_approver_new(t->o.loop, t->o.say, yes),
  };
  if (r->caller.budget == NULL || r->caller.approver == NULL) {
    lt_toolbox_end(t, r);
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  return LT_OK;
}

void lt_toolbox_end(lt_toolbox *t, lt_toolbox_run *run) {
  (void)t;
  lt_approver_free(run->caller.approver);
  lt_budget_free(run->caller.budget);
  run->caller = (lt_caller){0};
}
