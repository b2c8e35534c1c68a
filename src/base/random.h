/* Ids made of random bytes of the kernel. */
#ifndef LT_BASE_RANDOM_H
#define LT_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `digits` (even) hexadecimal digits and a NUL. False: the kernel gives no random bytes. */
bool lt_random_hex(char *text, size_t digits);

#endif
