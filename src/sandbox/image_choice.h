/* Which image a program runs on: one table from word to image.
 *
 * The plain image has no globals of the web. A program that names one runs on a bigger image that has it. So a program
 * that names none pays nothing for them. Each image has all that the images before it have. Pure.
 */
#ifndef LT_SANDBOX_IMAGE_CHOICE_H
#define LT_SANDBOX_IMAGE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* In the order of what they have. */
typedef enum lt_image_kind {
  LT_IMAGE_BASE,  /* QuickJS and the prelude */
  LT_IMAGE_WEB,   /* ... and the globals of the web: src/sandbox/web */
  LT_IMAGE_INTL,  /* ... and Intl */
  LT_IMAGE_STRIP, /* QuickJS, the prelude and sucrase: not for programs */
} lt_image_kind;
#define LT_IMAGE_KINDS 4

typedef struct lt_image_word {
  lt_str word;
  lt_image_kind kind;
  bool is_global; /* the smaller images have a global of this name that says how to get the real one */
} lt_image_word;
extern const lt_image_word lt_image_words[];
extern const size_t lt_image_word_count;

/* The image that a program needs when this word is in it (as an identifier, a property or a whole string);
 * LT_IMAGE_BASE for any other word. */
lt_image_kind lt_image_choice_of(lt_str word);

#endif
