/* What it costs to have the library in a process of Python. How long its programs take, beside other sandboxes, is
 * measured by side-by-side.mjs. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/measure.h"
#include "bench/peer.h"

enum { IMPORTS = 12, ANSWER_BYTES = 256 };

/* host.py prints nanoseconds and two numbers of bytes. */
void lt_bench_library(void) {
  const char *python = lt_peer_find("LATHE_BENCH_PYTHON", "python3");
  const char *const argv[] = {python, LT_BENCH_DIR "/peers/host.py", "import", NULL};
  lt_measure figures[3];
  for (int k = 0; k < 3; k++) {
    lt_measure_init(&figures[k]);
  }
  for (int i = 0; i < IMPORTS && python != NULL; i++) {
    char answer[ANSWER_BYTES];
    lt_peer peer;
    if (lt_peer_start(&peer, argv) && fgets(answer, sizeof answer, peer.from) != NULL) {
      char *at = answer;
      for (int k = 0; k < 3; k++) {
        lt_measure_add(&figures[k], strtod(at, &at));
      }
    }
    lt_peer_close(&peer);
  }
  if (figures[0].count == 0) {
    lt_measure_skip("Python, import lathe", "it did not start");
    return;
  }
  lt_measure_print_ns("Python, import lathe", &figures[0], 0);
  lt_measure_print(&(lt_measure_line){
      .what = "  memory of the process's own that it takes", .samples = &figures[1], .unit = LT_MEASURE_BYTES});
  lt_measure_print(&(lt_measure_line){
      .what = "  … and the first sandbox, with its first program", .samples = &figures[2], .unit = LT_MEASURE_BYTES});
  lt_measure_release(&figures[1]);
  lt_measure_release(&figures[2]);
}
