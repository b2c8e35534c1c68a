#include "jail/jail_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "jail/jail_syscalls.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the walls know x86-64 and aarch64"
#endif

/* Newer calls fail with ENOSYS: the C library then does without them; with EPERM it would not. x86-64's calls of the
 * x32 kind have higher numbers still. */
#define LAST_KNOWN 450 /* set_mempolicy_home_node, Linux 5.17 */

#define FIELD(name)  (uint32_t) offsetof(struct seccomp_data, name)
#define LOW(arg)     (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (arg))
#define HIGH(arg)    (LOW(arg) + 4)
#define FAILS(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))

/* The purpose of a filter. */
typedef struct filter_purpose {
  uint16_t profile;     /* one bit, as in a rule */
  uint16_t first_stage; /* the profile of the stage before, as a bit: only what differs is decided here; 0: none */
  uint32_t self;
  lt_jail_connects connects;
} filter_purpose;

static void jail_filter_add(lt_buf *filter, struct sock_filter instruction) {
  lt_buf_add(filter, (lt_str){(const char *)&instruction, sizeof instruction});
}

static void jail_filter_load(lt_buf *filter, uint32_t offset) {
  jail_filter_add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void jail_filter_return(lt_buf *filter, uint32_t action) {
  jail_filter_add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Goes on when the accumulator is `value`; otherwise skips `skip` instructions. */
static void jail_filter_expect(lt_buf *filter, uint32_t value, unsigned skip) {
  LT_CHECK(skip <= 255);
  jail_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)skip));
}

static unsigned jail_filter_cond_size(const lt_jail_cond *cond) {
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

static unsigned jail_filter_rule_size(const lt_jail_rule *rule) {
  unsigned size = 1;
  for (unsigned i = 0; i < LT_JAIL_CONDS_MAX; i++) {
    size += jail_filter_cond_size(&rule->conds[i]);
  }
  return size;
}

/* `left`: the number of the rule's instructions from this condition on. */
static void jail_filter_add_cond(lt_buf *filter, const lt_jail_cond *cond, unsigned left, uint32_t self) {
  jail_filter_load(filter, LOW(cond->arg));
  if (cond->test == LT_JAIL_NULL) {
    jail_filter_expect(filter, 0, left - 2);
    jail_filter_load(filter, HIGH(cond->arg));
    jail_filter_expect(filter, 0, left - 4);
    return;
  }
  if (cond->mask != UINT32_MAX) {
    jail_filter_add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, cond->mask));
  }
  jail_filter_expect(filter, cond->value == LT_JAIL_SELF_PID ? self : cond->value, left - jail_filter_cond_size(cond));
}

static uint32_t jail_filter_action_of(const lt_jail_rule *rule, const filter_purpose *m) {
  static const uint32_t of_connects[] = {[LT_JAIL_CONNECT_REFUSE] = FAILS(EPERM),
                                         [LT_JAIL_CONNECT_ASK] = SECCOMP_RET_USER_NOTIF,
                                         [LT_JAIL_CONNECT_ALLOW] = SECCOMP_RET_ALLOW};
  if (rule->error == LT_JAIL_ASK) {
    return of_connects[m->connects];
  }
  return rule->error == 0 ? SECCOMP_RET_ALLOW : FAILS(rule->error);
}

static void jail_filter_add_rule(lt_buf *filter, const lt_jail_rule *rule, const filter_purpose *m) {
  unsigned left = jail_filter_rule_size(rule);
  for (unsigned i = 0; i < LT_JAIL_CONDS_MAX && rule->conds[i].test != LT_JAIL_ALWAYS; i++) {
    jail_filter_add_cond(filter, &rule->conds[i], left, m->self);
    left -= jail_filter_cond_size(&rule->conds[i]);
  }
  jail_filter_return(filter, jail_filter_action_of(rule, m));
}

/* Adds the rules of one call, from `rules` to before `end`. The accumulator is the call's number before them, and after
 * them for other calls. */
static void jail_filter_add_call(lt_buf *filter, const lt_jail_rule *rules, const lt_jail_rule *end,
                                 const filter_purpose *m) {
  unsigned size = 0, last = 0;
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    last = (rule->profiles & m->profile) != 0 ? jail_filter_rule_size(rule) : last;
    size += (rule->profiles & m->profile) != 0 ? last : 0;
  }
  bool has_default = last == 1; /* the last rule has no conditions */
  if (size == 0 && m->first_stage == 0) {
    return; /* the call is refused like those that are not in the table */
  }
  jail_filter_expect(filter, (uint32_t)rules->number, size + !has_default);
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    if ((rule->profiles & m->profile) != 0) {
      jail_filter_add_rule(filter, rule, m);
    }
  }
  if (!has_default) {
    jail_filter_return(filter, FAILS(EPERM));
  }
}

/* Whether the first stage decides about this call as this stage would. */
static bool jail_filter_is_decided_before(const lt_jail_rule *rules, const lt_jail_rule *end, const filter_purpose *m) {
  bool is_same = m->first_stage != 0;
  for (const lt_jail_rule *rule = rules; rule < end; rule++) {
    is_same = is_same && ((rule->profiles & m->profile) != 0) == ((rule->profiles & m->first_stage) != 0);
  }
  return is_same;
}

static void jail_filter_add_calls(lt_buf *filter, const filter_purpose *m) {
  size_t count;
  const lt_jail_rule *rules = lt_jail_rules(&count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && rules[end].number == rules[i].number; end++) {
    }
    if (!jail_filter_is_decided_before(&rules[i], &rules[end], m)) {
      jail_filter_add_call(filter, &rules[i], &rules[end], m);
    }
  }
}

/* The pointers are random addresses, which a program cannot know: nothing refers to them after the exec, and a filter
 * cannot be read back. */
static void jail_filter_add_exec(lt_buf *filter, const lt_jail_exec *exec) {
  const unsigned size = 3 * 4 + 1;
  jail_filter_expect(filter, SYS_execve, size + 1);
  for (unsigned i = 0; i < 3; i++) {
    jail_filter_load(filter, LOW(i));
    jail_filter_expect(filter, (uint32_t)exec->pointers[i], size - i * 4 - 2);
    jail_filter_load(filter, HIGH(i));
    jail_filter_expect(filter, (uint32_t)(exec->pointers[i] >> 32), size - i * 4 - 4);
  }
  jail_filter_return(filter, SECCOMP_RET_ALLOW);
  jail_filter_return(filter, FAILS(EPERM));
}

static void jail_filter_begin(lt_buf *filter) {
  jail_filter_load(filter, FIELD(arch));
  jail_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
  jail_filter_return(filter, SECCOMP_RET_KILL_PROCESS);
  jail_filter_load(filter, FIELD(nr));
}

static lt_status jail_filter_check(const lt_buf *filter, lt_err *err) {
  return lt_buf_check(filter, err, "no memory for a filter of system calls");
}

lt_status lt_jail_filter_make(lt_jail_profile profile, const lt_jail_exec *exec, uint32_t self, lt_buf *filter,
                              lt_err *err) {
  const filter_purpose m = {.profile = (uint16_t)(1U << profile), .self = self, .connects = exec->connects};
  jail_filter_begin(filter);
  jail_filter_add_calls(filter, &m);
  jail_filter_add_exec(filter, exec);
  jail_filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 1, 0));
  jail_filter_return(filter, FAILS(EPERM));
  jail_filter_return(filter, FAILS(ENOSYS));
  return jail_filter_check(filter, err);
}

lt_status lt_jail_filter(lt_jail_profile profile, lt_buf *filter, lt_err *err) {
  const filter_purpose m = {.profile = (uint16_t)(1U << profile),
                            .first_stage = 1U << LT_JAIL_PYTHON_ZYGOTE,
                            .self = LT_JAIL_SELF_PID,
                            .connects = LT_JAIL_CONNECT_REFUSE};
  jail_filter_begin(filter);
  jail_filter_add_calls(filter, &m);
  jail_filter_return(filter, SECCOMP_RET_ALLOW);
  return jail_filter_check(filter, err);
}

static lt_status jail_filter_install(lt_str filter, unsigned flags, int *ret_fd, lt_err *err) {
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
  return jail_filter_install(filter, 0, &none, err);
}

lt_status lt_jail_filter_install_asking(lt_str filter, int *ret_listener, lt_err *err) {
  return jail_filter_install(filter, SECCOMP_FILTER_FLAG_NEW_LISTENER, ret_listener, err);
}

static bool jail_filter_has_action(uint32_t action) {
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool lt_jail_filter_works(void) {
  return jail_filter_has_action(SECCOMP_RET_ERRNO);
}

bool lt_jail_filter_asks(void) {
  return jail_filter_has_action(SECCOMP_RET_USER_NOTIF);
}
