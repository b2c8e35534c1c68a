/* The images, as bytes of the program (image.h). The plain one is mapped from the program's file, so its bytes after the
 * header begin with a page. Before it are the fingerprints of all, in the order of lt_image_kind: every run reads them,
 * and few need a page of the other images. */
#include "sandbox/image_layout.h"

        .macro  image name, file
        .globl  lt_image_\name\()_data
lt_image_\name\()_data:
        .incbin "\file"
        .globl  lt_image_\name\()_end
lt_image_\name\()_end:
        .endm

        .section .rodata
        .balign LT_IMAGE_PAGE
        .globl  lt_image_fingerprints
lt_image_fingerprints:
        .incbin LT_IMAGE_BASE, LT_IMAGE_FINGERPRINT_AT, 8
        .incbin LT_IMAGE_WEB, LT_IMAGE_FINGERPRINT_AT, 8
        .incbin LT_IMAGE_INTL, LT_IMAGE_FINGERPRINT_AT, 8
        .incbin LT_IMAGE_STRIP, LT_IMAGE_FINGERPRINT_AT, 8
        .skip   LT_IMAGE_PAGE - LT_IMAGE_HEADER_BYTES - (. - lt_image_fingerprints)
        image base, LT_IMAGE_BASE
        .balign 64
        image web, LT_IMAGE_WEB
        .balign 64
        image intl, LT_IMAGE_INTL
        .balign 64
        image strip, LT_IMAGE_STRIP
        .section .note.GNU-stack,"",%progbits
