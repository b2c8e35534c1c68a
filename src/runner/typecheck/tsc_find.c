#include "runner/typecheck/tsc_find.h"

#include "runner/npm_program.h"

/* The script is node_modules/typescript/bin/tsc. */
static const lt_npm_place tsc_places[] = {{3, "@typescript/typescript-linux-" LT_NPM_CPU "/lib/tsc"},
                                          {2, "node_modules/@typescript/typescript-linux-" LT_NPM_CPU "/lib/tsc"}};

char *lt_tsc_find(const char *configured) {
  return lt_npm_program_find(configured, "tsc", tsc_places, sizeof tsc_places / sizeof tsc_places[0]);
}
