#include "jail/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "jail/calls.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the walls know x86-64 and aarch64"
#endif

/* Of newer calls the C library finds out by ENOSYS that it has to do without; nobody would take EPERM for that.
 * (x86-64's calls of the x32 kind have higher numbers still.) */
#define LAST_KNOWN 450 /* set_mempolicy_home_node, Linux 5.17 */

#define FIELD(name)  (uint32_t) offsetof(struct seccomp_data, name)
#define LOW(arg)     (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (arg))
#define HIGH(arg)    (LOW(arg) + 4)
#define FAILS(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))

/* What a filter is made for. */
typedef struct maker {
  uint16_t who;    /* as in a rule */
  uint16_t behind; /* who stands in a first stage already: only what differs is decided here; 0: nobody */
  uint32_t self;
  lt_jail_connects connects;
} maker;

static void add(lt_buf *filter, struct sock_filter instruction) {
  lt_buf_add(filter, (lt_str){(const char *)&instruction, sizeof instruction});
}

static void load(lt_buf *filter, uint32_t offset) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void give(lt_buf *filter, uint32_t action) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Goes on when the accumulator is `value`, else `skip` instructions further. */
static void expect(lt_buf *filter, uint32_t value, unsigned skip) {
  LT_CHECK(skip <= 255);
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)skip));
}

static unsigned cond_size(const lt_jail_cond *cond) {
  switch ((lt_jail_test)cond->test) {
    case LT_JAIL_BITS:
      return cond->mask == UINT32_MAX ? 2 : 3;
    case LT_JAIL_NULL:
      return 4;
    case LT_JAIL_ALWAYS:
      break;
  }
  return 0;
}

static unsigned rule_size(const lt_jail_rule *rule) {
  unsigned size = 1;
  for (unsigned i = 0; i < LT_JAIL_CONDS_MAX; i++) {
    size += cond_size(&rule->conds[i]);
  }
  return size;
}

/* `left`: the instructions of the rule from this condition on. */
static void add_cond(lt_buf *filter, const lt_jail_cond *cond, unsigned left, uint32_t self) {
  load(filter, LOW(cond->arg));
  if (cond->test == LT_JAIL_NULL) {
    expect(filter, 0, left - 2);
    load(filter, HIGH(cond->arg));
    expect(filter, 0, left - 4);
    return;
  }
  if (cond->mask != UINT32_MAX) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, cond->mask));
  }
  expect(filter, cond->value == LT_JAIL_SELF_PID ? self : cond->value, left - cond_size(cond));
}

static uint32_t action_of(const lt_jail_rule *rule, const maker *m) {
  static const uint32_t of_connects[] = {
      [LT_JAIL_REFUSED] = FAILS(EPERM), [LT_JAIL_ASKED] = SECCOMP_RET_USER_NOTIF, [LT_JAIL_LET] = SECCOMP_RET_ALLOW};
  if (rule->error == LT_JAIL_ASK) {
    return of_connects[m->connects];
  }
  return rule->error == 0 ? SECCOMP_RET_ALLOW : FAILS(rule->error);
}

static void add_rule(lt_buf *filter, const lt_jail_rule *rule, const maker *m) {
  unsigned left = rule_size(rule);
  for (unsigned i = 0; i < LT_JAIL_CONDS_MAX && rule->conds[i].test != LT_JAIL_ALWAYS; i++) {
    add_cond(filter, &rule->conds[i], left, m->self);
    left -= cond_size(&rule->conds[i]);
  }
  give(filter, action_of(rule, m));
}

/* The rules of one call, which begin at `rules` and end before `end`. The accumulator is the call's number before, and
 * behind it for those who were not meant. */
static void add_call(lt_buf *filter, const lt_jail_rule *rules, const lt_jail_rule *end, const maker *m) {
  unsigned size = 0, last = 0;
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    last = (rule->who & m->who) != 0 ? rule_size(rule) : last;
    size += (rule->who & m->who) != 0 ? last : 0;
  }
  bool decided = last == 1; /* the last rule has no conditions */
  if (size == 0 && m->behind == 0) {
    return; /* as what is not in the table at all */
  }
  expect(filter, (uint32_t)rules->number, size + !decided);
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    if ((rule->who & m->who) != 0) {
      add_rule(filter, rule, m);
    }
  }
  if (!decided) {
    give(filter, FAILS(EPERM));
  }
}

/* Whether the first stage has decided about this call as we would. */
static bool is_done(const lt_jail_rule *rules, const lt_jail_rule *end, const maker *m) {
  bool same = m->behind != 0;
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    same = same && ((rule->who & m->who) != 0) == ((rule->who & m->behind) != 0);
  }
  return same;
}

static void add_calls(lt_buf *filter, const maker *m) {
  size_t count;
  const lt_jail_rule *rules = lt_jail_rules(&count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && rules[end].number == rules[i].number; end++) {
    }
    if (!is_done(&rules[i], &rules[end], m)) {
      add_call(filter, &rules[i], &rules[end], m);
    }
  }
}

/* A program cannot forge what it does not know: the pointers are random addresses that nothing refers to once the exec
 * has happened, and nobody can read a filter back. */
static void add_exec(lt_buf *filter, const lt_jail_exec *exec) {
  const unsigned size = 3 * 4 + 1;
  expect(filter, SYS_execve, size + 1);
  for (unsigned i = 0; i < 3; i++) {
    load(filter, LOW(i));
    expect(filter, (uint32_t)exec->pointers[i], size - i * 4 - 2);
    load(filter, HIGH(i));
    expect(filter, (uint32_t)(exec->pointers[i] >> 32), size - i * 4 - 4);
  }
  give(filter, SECCOMP_RET_ALLOW);
  give(filter, FAILS(EPERM));
}

static void begin(lt_buf *filter) {
  load(filter, FIELD(arch));
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
  give(filter, SECCOMP_RET_KILL_PROCESS);
  load(filter, FIELD(nr));
}

static lt_status made(const lt_buf *filter, lt_err *err) {
  return filter->status == LT_OK ? LT_OK : lt_fail(err, filter->status, "no memory for a filter of system calls");
}

lt_status lt_jail_filter_make(lt_jail_profile profile, const lt_jail_exec *exec, uint32_t self, lt_buf *filter,
                              lt_err *err) {
  const maker m = {.who = (uint16_t)(1U << profile), .self = self, .connects = exec->connects};
  begin(filter);
  add_calls(filter, &m);
  add_exec(filter, exec);
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 1, 0));
  give(filter, FAILS(EPERM));
  give(filter, FAILS(ENOSYS));
  return made(filter, err);
}

lt_status lt_jail_filter(lt_jail_profile profile, lt_buf *filter, lt_err *err) {
  const maker m = {.who = (uint16_t)(1U << profile),
                   .behind = 1U << LT_JAIL_PYTHON_ZYGOTE,
                   .self = LT_JAIL_SELF_PID,
                   .connects = LT_JAIL_REFUSED};
  begin(filter);
  add_calls(filter, &m);
  give(filter, SECCOMP_RET_ALLOW);
  return made(filter, err);
}

static lt_status install(lt_str filter, unsigned flags, int *ret_fd, lt_err *err) {
  struct sock_fprog program = {.len = (unsigned short)(filter.n / sizeof(struct sock_filter)),
                               .filter = (struct sock_filter *)(uintptr_t)filter.p};
  long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (fd < 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "the filter of system calls (seccomp) cannot be had: %s", strerror(errno));
  }
  *ret_fd = (int)fd;
  return LT_OK;
}

lt_status lt_jail_filter_install(lt_str filter, lt_err *err) {
  int none;
  return install(filter, 0, &none, err);
}

lt_status lt_jail_filter_install_asking(lt_str filter, int *ret_listener, lt_err *err) {
  return install(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER, ret_listener, err);
}

static bool has_action(uint32_t action) {
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool lt_jail_filter_works(void) {
  return has_action(SECCOMP_RET_ERRNO);
}

bool lt_jail_filter_asks(void) {
  return has_action(SECCOMP_RET_USER_NOTIF);
}
