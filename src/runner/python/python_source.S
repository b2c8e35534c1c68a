/* What the interpreter runs, as bytes of the program: one text of several files. */
        .section .rodata
        .globl  lt_python_source_data
lt_python_source_data:
        .incbin "bridge.py"
        .incbin "api.py"
        .incbin "walls.py"
        .incbin "value.py"
        .incbin "program.py"
        .incbin "zygote.py"
        .globl  lt_python_source_end
lt_python_source_end:
        .section .note.GNU-stack,"",%progbits
