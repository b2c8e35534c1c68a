/* The images, as bytes of the program (image.h). */
        .macro  image name, file
        .balign 64
        .globl  lt_image_\name\()_data
lt_image_\name\()_data:
        .incbin "\file"
        .globl  lt_image_\name\()_end
lt_image_\name\()_end:
        .endm

        .section .rodata
        image base, LT_IMAGE_BASE
        image web, LT_IMAGE_WEB
        image intl, LT_IMAGE_INTL
        image strip, LT_IMAGE_STRIP
        .section .note.GNU-stack,"",%progbits
