/* lathe config: the keys of lathe.yaml. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "config/config_reference.h"
#include "config/config_schema.h"
#include "json/json.h"

typedef struct config_options {
  const char *document;
} config_options;

static void config_put_schema(lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_CONFIG_MEMORY_BYTES);
  LT_AUTO_BUF(json, LT_MIB);
  lt_json_doc doc;
  lt_config_schema(&json);
  if (json.status != LT_OK || lt_json_parse(&arena, lt_buf_view(&json), &doc, NULL) != LT_OK) {
    out->status = LT_E_NOMEM;
    return;
  }
  lt_json_pretty(lt_json_root(&doc), out);
  lt_buf_byte(out, '\n');
}

static const struct {
  const char *name;
  void (*put)(lt_buf *out);
} config_documents[] = {{"schema", config_put_schema}, {"reference", lt_config_reference}};

#define DOCUMENT_WANTED "say schema or reference; see lathe config --help"
#define DOCUMENTS       (sizeof config_documents / sizeof config_documents[0])

static int config_print(void (*put)(lt_buf *out)) {
  LT_AUTO_BUF(out, LT_MIB);
  LT_ERR_VAR(err);
  put(&out);
  if (lt_buf_check(&out, &err, "out of memory") != LT_OK) {
    fprintf(stderr, "lathe config: %s\n", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  fwrite(out.p, 1, out.n, stdout);
  return LT_EXIT_OK;
}

static int config_refuse(const char *name) {
  lt_nearest nearest = lt_nearest_to(lt_str_of(name), 3);
  for (size_t i = 0; i < DOCUMENTS; i++) {
    lt_nearest_offer(&nearest, lt_str_of(config_documents[i].name));
  }
  if (nearest.name.p != NULL) {
    fprintf(stderr, "lathe config: unknown word \"%s\" (did you mean \"%s\"?); see lathe config --help\n", name,
            nearest.name.p);
  } else {
    fprintf(stderr, "lathe config: " DOCUMENT_WANTED "\n");
  }
  return LT_EXIT_USAGE;
}

static int config_run(void *options) {
  const char *name = ((const config_options *)options)->document;
  for (size_t i = 0; i < DOCUMENTS; i++) {
    if (strcmp(name, config_documents[i].name) == 0) {
      return config_print(config_documents[i].put);
    }
  }
  return config_refuse(name);
}

const lt_command lt_config_command = {
    .name = "config",
    .summary = "Print what lathe.yaml may say, for editors and people",
    .about = "Print what lathe.yaml may say.\n",
    .synopsis = "schema|reference",
    .operand = {"schema|reference",
                "schema: a JSON Schema, by which editors complete and check the file;\n"
                "reference: every key with its values and default, as a table in Markdown",
                DOCUMENT_WANTED, true, LT_OPERAND_IS(config_options, document)},
    .options_size = sizeof(config_options),
    .notes =
        "For an editor: lathe config schema > lathe.schema.json, and as the first line of lathe.yaml\n"
        "# yaml-language-server: $schema=./lathe.schema.json\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage.\n",
    .run = config_run,
};
