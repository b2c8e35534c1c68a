/* Private to src/jail: the table of allowed system calls, which jail_filter.c turns into a program for the kernel. */
#ifndef LT_JAIL_JAIL_SYSCALLS_H
#define LT_JAIL_JAIL_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

#define LT_JAIL_CONDS_MAX 3
#define LT_JAIL_ASK       0xffff /* in a rule's `error`: lt_jail_exec.connects decides */

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

/* The rules of one call are adjacent. The first rule whose conditions all hold decides; without one, the call fails
 * with EPERM. */
typedef struct lt_jail_rule {
  int number;
  uint16_t profiles; /* bits, 1 << lt_jail_profile */
  uint16_t error;    /* 0: the call is allowed; otherwise it fails with this */
  lt_jail_cond conds[LT_JAIL_CONDS_MAX];
} lt_jail_rule;

/* Borrows: static. */
const lt_jail_rule *lt_jail_rules(size_t *ret_count);

#endif
