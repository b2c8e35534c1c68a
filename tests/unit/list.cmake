# name of tests/unit/test_NAME.c, and the layers it links
