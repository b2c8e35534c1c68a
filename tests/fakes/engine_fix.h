/* What the engine's tests share: an image, a pool, a fake host, and tables of programs with how each must end. */
#ifndef FAKES_ENGINE_FIX_H
#define FAKES_ENGINE_FIX_H

#include "fakes/fake_host.h"

typedef struct engine_case {
  const char *code;
  const char *want; /* fake_text()'s line; a "*" at its end stands for anything */
} engine_case;

/* The world of every case: what was asked is forgotten before each program. */
extern fake_host engine_host;
extern lt_image engine_image;
extern lt_pool engine_pool;

/* cmocka's group set-up and tear-down. */
int engine_open(void **state);
int engine_close(void **state);

/* cmocka puts its own fault handlers in the way before each test: call this first in a test that traps. */
void engine_traps(void);

/* Runs a program in a clean box, which is cleaned and kept afterwards. Fails the test when it ends otherwise than
 * `want` says. Returns the bytes of guest memory it ended with. */
uint32_t engine_expect(const lt_program *program, const char *want);
/* The same for a whole table; `like` says how to run them, its code is not used. */
void engine_expect_all(const lt_program *like, const engine_case *cases);
#define ENGINE_EXPECT_ALL(cases, ...) \
  engine_expect_all(&(lt_program){.file = LT_STR("program.js"), __VA_ARGS__}, (cases))
#define ENGINE_EXPECT(source, want, ...) \
  engine_expect(&(lt_program){.code = lt_str_of(source), .file = LT_STR("program.js"), __VA_ARGS__}, (want))

/* What the last program left in engine_host must be these bytes. */
void engine_asked(const lt_buf *what, const char *want);
/* The last program's result, until the next one runs. */
extern lt_engine_result engine_result;

#endif
