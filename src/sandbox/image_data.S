/* The images, as bytes of the program (image.h). */
        .section .rodata
        .balign 64
        .globl  lt_image_base_data
lt_image_base_data:
        .incbin LT_IMAGE_BASE
        .globl  lt_image_base_end
lt_image_base_end:
        .balign 64
        .globl  lt_image_strip_data
lt_image_strip_data:
        .incbin LT_IMAGE_STRIP
        .globl  lt_image_strip_end
lt_image_strip_end:
        .section .note.GNU-stack,"",%progbits
