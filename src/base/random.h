/* Random bytes from the kernel, and ids made of them. A child of fork gets others than its parent. Nothing here
 * suspends. */
#ifndef LT_BASE_RANDOM_H
#define LT_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Fills `size_bytes` bytes. False: the kernel has no random bytes, and the bytes are not to be used. */
bool lt_random_fill(void *bytes, size_t size_bytes);

/* Writes `digits` (even) hexadecimal digits and a NUL. False: the kernel has no random bytes. */
bool lt_random_hex(char *text, size_t digits);

#endif
