# name of tests/unit/test_NAME.c, and the layers it links
lt_unit_test(err LIBS lt_base)
lt_unit_test(str LIBS lt_base)
lt_unit_test(mem LIBS lt_base Threads::Threads)
lt_unit_test(buf LIBS lt_base)
lt_unit_test(arena LIBS lt_base)
lt_unit_test(jsscan LIBS lt_codec lt_base)
lt_unit_test(fiber LIBS lt_base Threads::Threads)
