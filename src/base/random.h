/* Random bytes of the kernel, and ids made of them. */
#ifndef LT_BASE_RANDOM_H
#define LT_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Fills `n` bytes. False: the kernel gives none, and the bytes are not to be used. */
bool lt_random_fill(void *bytes, size_t n);
/* Writes `digits` (even) hexadecimal digits and a NUL. False: as lt_random_fill. */
bool lt_random_hex(char *text, size_t digits);

#endif
