/* The time zones, as bytes of the program (time_zone.c). */
        .section .rodata
        .globl  lt_time_zone_data
lt_time_zone_data:
        .incbin LT_TIME_ZONES
        .globl  lt_time_zone_end
lt_time_zone_end:
        .section .note.GNU-stack,"",%progbits
