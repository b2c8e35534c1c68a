/* The page's files, as bytes of the program, and a table of them (page_files.c). scripts/pack-page.mjs writes a line
 * `page_file name, hash, at, bytes` for each. */
        .macro  page_text text, size
.Lbegin\@:
        .asciz "\text"
        .skip   \size - (. - .Lbegin\@)
        .endm

        .macro  page_file name, hash, at, bytes
        page_text "\name", 48
        page_text "\hash", 24
        .4byte  \at
        .4byte  \bytes
        .endm

        .section .rodata
        .balign 8
        .globl  lt_page_rows
lt_page_rows:
        .include "page_rows.inc"
        .globl  lt_page_rows_end
lt_page_rows_end:
        .globl  lt_page_sources
lt_page_sources:
        .include "page_sources.inc"
        .globl  lt_page_data
lt_page_data:
        .incbin "page.pack"
        .section .note.GNU-stack,"",%progbits
