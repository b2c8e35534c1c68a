/* Configuration files: any bytes as lathe.yaml, and the same bytes as another client's file on top. */
#include <stdlib.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_config config;
  lt_err err;
  lt_str text = lt_str_from(data, size);
  err = LT_ERR_INIT;
  lt_status status = lt_config_parse(text, "fuzz.yaml", "/nowhere", &config, &err);
  if (status != LT_OK && (strncmp(lt_err_msg(&err), "fuzz.yaml:", 10) != 0 || strchr(lt_err_msg(&err), '\n'))) {
    abort(); /* every message names the file and is one line */
  }
  lt_config_parse_mcp(text, "fuzz.json", "/nowhere", &config, &err);
  lt_config_release(&config);
  return 0;
}
