# name of tests/fuzz/fuzz_NAME.c, and the layers it links
