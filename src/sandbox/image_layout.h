/* How an image lies in the program, for C and the assembler. */
#ifndef LT_SANDBOX_IMAGE_LAYOUT_H
#define LT_SANDBOX_IMAGE_LAYOUT_H

#define LT_IMAGE_PAGE         4096 /* the unit in which a box is cleaned */
#define LT_IMAGE_HEADER_BYTES 184  /* sizeof(lt_image_header) */

#define LT_IMAGE_FINGERPRINT_AT 48 /* offsetof(lt_image_header, fingerprint) */

#endif
