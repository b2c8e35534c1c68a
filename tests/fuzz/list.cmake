# name of tests/fuzz/fuzz_NAME.c, and the layers it links
lt_fuzz_target(jsscan LIBS lt_codec lt_base)
lt_fuzz_target(json LIBS lt_codec lt_base)
lt_fuzz_target(config LIBS lt_front lt_base)
lt_fuzz_target(typegen LIBS lt_codec lt_base)
lt_fuzz_target(prepare LIBS lt_runner lt_base)
lt_fuzz_target(schema LIBS lt_codec lt_base)
lt_fuzz_target(program LIBS fake_host)
lt_fuzz_target(hostcall LIBS fake_host)
