/* Which system calls a profile has left: the table that filter.c turns into a program for the kernel. */
#ifndef LT_JAIL_JAIL_SYSCALLS_H
#define LT_JAIL_JAIL_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

#define LT_JAIL_CONDS_MAX 3
#define LT_JAIL_ASK                                              \
  0xffff /* as a rule's `error`: as lt_jail_exec.connects has it \
          */

typedef enum lt_jail_test {
  LT_JAIL_ALWAYS, /* no condition; ends a list of conditions */
  LT_JAIL_BITS,   /* the argument's lower 32 bits, masked, are `value`: for what the kernel takes as 32 bits */
  LT_JAIL_NULL    /* all 64 bits are zero: for pointers */
} lt_jail_test;

typedef struct lt_jail_cond {
  uint8_t test; /* lt_jail_test */
  uint8_t arg;  /* 0..5 */
  uint32_t mask;
  uint32_t value;
} lt_jail_cond;

/* Rules of one call stand together. The first whose conditions all hold decides; when none does, it is EPERM. */
typedef struct lt_jail_rule {
  int number;
  uint16_t who;   /* bits, 1 << lt_jail_profile */
  uint16_t error; /* 0: allowed; otherwise what the call fails with */
  lt_jail_cond conds[LT_JAIL_CONDS_MAX];
} lt_jail_rule;

/* Borrows: static. */
const lt_jail_rule *lt_jail_rules(size_t *ret_count);

#endif
