/* What Deno runs before a program, and what the compiler is told of its world, as bytes of ours. */
        .section .rodata
        .globl  lt_deno_boot_data
lt_deno_boot_data:
        .incbin LT_DENO_BOOT
        .globl  lt_deno_boot_end
lt_deno_boot_end:
        .globl  lt_deno_globals_data
lt_deno_globals_data:
        .incbin LT_DENO_GLOBALS
        .globl  lt_deno_globals_end
lt_deno_globals_end:
        .section .note.GNU-stack,"",%progbits
