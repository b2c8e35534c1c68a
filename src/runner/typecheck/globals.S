/* Declarations of the globals of every program, as bytes of ours. */
        .section .rodata
        .globl  lt_typecheck_globals_data
lt_typecheck_globals_data:
        .incbin LT_TYPECHECK_GLOBALS
        .globl  lt_typecheck_globals_end
lt_typecheck_globals_end:
        .section .note.GNU-stack,"",%progbits
