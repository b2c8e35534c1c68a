/* Tests whose bodies run on a fiber, with a `world` that the file's own on_fiber(body) makes and takes down. */
#ifndef LT_TESTS_FIBER_CASE_H
#define LT_TESTS_FIBER_CASE_H

#define TEST(name)                   \
  static void name##_body(world *w); \
  static void name(void **state) {   \
    (void)state;                     \
    on_fiber(name##_body);           \
  }                                  \
  static void name##_body(world *w)

#endif
