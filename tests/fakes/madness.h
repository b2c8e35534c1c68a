/* A guest gone mad in the one way that taking its memory away does not end: it loops in registers. Found by fuzzing the
 * imports: where QuickJS looks up how many digits a double has in radix 10, it finds none; its number is then nothing,
 * and taking the trailing zeros off nothing never comes to an end (`while (m % radix == 0) m /= radix`). */
#ifndef FAKES_MADNESS_H
#define FAKES_MADNESS_H

#include <string.h>

#include "sandbox/box.h"

/* Turns any number that is not whole into text. */
#define MAD_CODE "String(0.1)"

/* Damages the guest's memory so that MAD_CODE never ends. False: the engine has no such table any more. */
static inline bool madden(lt_box *box) {
  static const uint8_t digits[] = {54, 35, 28, 24, 22, 20, 19, 18, 17}; /* of radix 2 to 10 */
  uint8_t *table = memmem(box->memory, lt_box_size(box), digits, sizeof digits);
  if (table == NULL) {
    return false;
  }
  table[sizeof digits - 1] = 0;
  return true;
}

#endif
