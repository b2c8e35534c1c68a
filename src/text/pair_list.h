/* Lists such as "name=value,name=value", the form of W3C Baggage, which variables of OpenTelemetry have. Pure. */
#ifndef LT_TEXT_PAIR_LIST_H
#define LT_TEXT_PAIR_LIST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Takes the next pair off the list, without blanks around its parts; the value is as it is written. An entry without a
 * name or without "=" is left out. False: there is none. Borrows. */
bool lt_pair_list_next(lt_str *list, lt_str *ret_name, lt_str *ret_value);
/* Appends a value with its percent escapes decoded; a broken one stays as it is. */
void lt_pair_list_decode(lt_str value, lt_buf *out);

#endif
