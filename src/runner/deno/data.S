/* What Deno runs before a program, as bytes of ours. */
        .section .rodata
        .globl  lt_deno_inspect_data
lt_deno_inspect_data:
        .incbin LT_DENO_INSPECT
        .globl  lt_deno_inspect_end
lt_deno_inspect_end:
        .globl  lt_deno_boot_data
lt_deno_boot_data:
        .incbin LT_DENO_BOOT
        .globl  lt_deno_boot_end
lt_deno_boot_end:
        .section .note.GNU-stack,"",%progbits
