/* Ids made of random bytes from the kernel. Nothing here suspends. */
#ifndef LT_BASE_RANDOM_H
#define LT_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `digits` (even) hexadecimal digits and a NUL. False: the kernel has no random bytes. */
bool lt_random_hex(char *text, size_t digits);

#endif
