/* What kind of data a file has, by its content. Names are not looked at: a file that is called photo.png may be
 * anything. Pure.
 */
#ifndef LT_TEXT_MEDIA_TYPE_H
#define LT_TEXT_MEDIA_TYPE_H

#include "base/str.h"

/* "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", or "text/plain" (UTF-8 without NUL and other
 * bytes that no text has); NULL: none of these. An image or a document is known by its first bytes, and must be longer
 * than they are. */
const char *lt_media_type_of(lt_str data);
/* The type that a name promises by its ending (".png"): one of the same images, or "application/pdf"; NULL: none. */
const char *lt_media_type_promised(lt_str name);
bool lt_media_type_is_image(lt_str mime_type);

#endif
