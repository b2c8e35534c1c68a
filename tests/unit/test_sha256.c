/* SHA-256: the vectors of FIPS 180-4, and every length at which the padding changes its form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sha256.h"

static void the_published_vectors_hold(void **state) {
  (void)state;
  lt_sha256_hex abc = lt_sha256(LT_STR("abc"));
  lt_sha256_hex two_blocks = lt_sha256(LT_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));
  assert_string_equal(abc.text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(two_blocks.text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void every_length_is_padded_right(void **state) {
  (void)state;
  static const struct {
    size_t length;
    const char *hex;
  } cases[] = {
      {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
      {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
      {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *text = lt_mem_zalloc(cases[i].length + 1, 1);
    assert_non_null(text);
    memset(text, 'a', cases[i].length);
    lt_sha256_hex hex = lt_sha256(lt_str_from(text, cases[i].length));
    assert_string_equal(hex.text, cases[i].hex);
    lt_mem_free(text);
  }
}

static void no_text_is_the_empty_text(void **state) {
  (void)state;
  lt_sha256_hex none = lt_sha256(LT_STR_NULL), empty = lt_sha256(LT_STR(""));
  assert_string_equal(none.text, empty.text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_vectors_hold),
      cmocka_unit_test(every_length_is_padded_right),
      cmocka_unit_test(no_text_is_the_empty_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
