/* lathe artifacts: lists stored artifacts, and writes one to standard output or to a file. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "text/base64.h"
#include "types/typegen_text.h"

typedef struct artifacts_options {
  const char *action;
  const char *id;
  const char *output; /* NULL or "-": standard output */
  bool force, json;
  lt_config_sources sources;
} artifacts_options;

static const lt_option artifacts_option_rows[] = {
    {"--output", "-o", "FILE", "get: write to this new file; \"-\" is standard output",
     LT_OPTION_IS_TEXT(artifacts_options, output)},
    {"--force", NULL, NULL, "get: replace the file where there is one", LT_OPTION_IS_FLAG(artifacts_options, force)},
    {"--json", NULL, NULL, "as JSON, with everything that is known of it", LT_OPTION_IS_FLAG(artifacts_options, json)},
    LT_OPTION_CONFIG(artifacts_options, sources),
};

static lt_str artifacts_text(lt_json json, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(json, key), arena, &text);
  return text;
}

/* --- List --------------------------------------------------------------------------------------------------------- */
static void artifacts_put_line(lt_json artifact, lt_arena *arena, lt_buf *out) {
  int64_t bytes = 0;
  (void)lt_json_int(lt_json_get(artifact, "bytes"), &bytes);
  lt_buf_add(out, artifacts_text(artifact, "id", arena));
  lt_buf_addc(out, "  ");
  lt_typegen_put_line(out, lt_str_sub(artifacts_text(artifact, "createdAt", arena), 0, 10), 10);
  lt_buf_printf(out, " %10lld  ", (long long)bytes);
  lt_typegen_put_line(out, artifacts_text(artifact, "mimeType", arena), 40);
  lt_buf_addc(out, "  ");
  lt_typegen_put_line(out, artifacts_text(artifact, "type", arena), 40);
  lt_buf_addc(out, "  ");
  lt_typegen_put_line(out, artifacts_text(artifact, "description", arena), 100);
  lt_buf_byte(out, '\n');
}

static lt_status artifacts_list(lt_store_session *s, const artifacts_options *o, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_TRY(lt_store_artifact_list(s->db, LT_CHAT_USER, &json, err));
  if (o->json) {
    return lt_console_report(&s->console, &json);
  }
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    artifacts_put_line(it.value, &arena, &text);
  }
  return lt_console_report(&s->console, &text);
}

/* --- Get ---------------------------------------------------------------------------------------------------------- */
typedef enum artifact_kind { ARTIFACT_JSON, ARTIFACT_TEXT, ARTIFACT_BINARY } artifact_kind;

/* The bytes as they were stored: JSON as it is, a text's characters, anything else from base64. */
static artifact_kind artifacts_read_data(lt_json artifact, lt_arena *arena, lt_buf *out) {
  lt_str mime_type = artifacts_text(artifact, "mimeType", arena), text = LT_STR("");
  lt_json data = lt_json_get(artifact, "data");
  if (!lt_json_str(data, arena, &text) || lt_str_starts(mime_type, LT_STR("application/json"))) {
    lt_buf_add(out, lt_json_text(data));
    return ARTIFACT_JSON;
  } else if (lt_str_starts(mime_type, LT_STR("text/"))) {
    lt_buf_add(out, text);
    return ARTIFACT_TEXT;
  }
  lt_base64_decode(text, out);
  return ARTIFACT_BINARY;
}

static lt_status artifacts_write_output(const lt_store_session *s, artifact_kind kind, lt_str bytes, lt_err *err) {
  if (kind == ARTIFACT_BINARY && isatty(STDOUT_FILENO)) {
    return lt_fail(err, LT_E_INVALID, "the artifact is no text: write it to a file, with -o FILE");
  } else if (kind == ARTIFACT_JSON || isatty(STDOUT_FILENO)) {
    lt_console_output(&s->console, bytes);
    return LT_OK;
  }
  return lt_console_write(&s->console, stdout, bytes) ? LT_OK
                                                      : lt_fail(err, LT_E_IO, "standard output could not be written");
}

static lt_status artifacts_write_file(const char *path, bool should_replace, lt_str bytes, lt_err *err) {
  lt_status status = should_replace ? lt_file_replace(path, bytes, NULL, err) : lt_file_create(path, bytes, err);
  return status == LT_E_INVALID ? lt_fail(err, LT_E_INVALID, "%s exists already: --force replaces it", path) : status;
}

static lt_status artifacts_get(lt_store_session *s, const artifacts_options *o, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_GIB);
  LT_AUTO_BUF(bytes, LT_GIB);
  LT_AUTO_ARENA(arena, 2 * LT_GIB);
  LT_TRY(lt_store_artifact_get(s->db, LT_CHAT_USER, lt_str_of(o->id), &json, err));
  artifact_kind kind = ARTIFACT_JSON;
  if (o->json) {
    lt_buf_add(&bytes, lt_buf_view(&json));
  } else {
    LT_TRY(lt_json_parse(&arena, lt_buf_view(&json), &doc, err));
    kind = artifacts_read_data(lt_json_root(&doc), &arena, &bytes);
  }
  LT_TRY(lt_buf_check(&bytes, err, "no memory for the artifact"));
  return o->output == NULL || strcmp(o->output, "-") == 0
             ? artifacts_write_output(s, kind, lt_buf_view(&bytes), err)
             : artifacts_write_file(o->output, o->force, lt_buf_view(&bytes), err);
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status artifacts_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const artifacts_options *o = arg;
  return o->id != NULL ? artifacts_get(s, o, err) : artifacts_list(s, o, err);
}

static int artifacts_run(void *options) {
  const artifacts_options *o = options;
  bool lists = o->action == NULL || strcmp(o->action, "list") == 0;
  if (!lists && strcmp(o->action, "get") != 0) {
    return lt_store_session_refuse("artifacts", "say list, or get ID");
  }
  if (lists != (o->id == NULL)) {
    return lt_store_session_refuse("artifacts", lists ? "list has no id: say get ID" : "get wants an artifact's id");
  }
  if ((lists && o->output != NULL) || (o->force && o->output == NULL)) {
    return lt_store_session_refuse("artifacts", lists ? "list writes no file: say get ID -o FILE"
                                                      : "--force replaces the file of -o FILE, and none is given");
  }
  return lt_store_session_run("artifacts", &o->sources, artifacts_work, options);
}

const lt_command lt_artifacts_command = {
    .name = "artifacts",
    .summary = "List stored artifacts, or get one",
    .about = "List stored artifacts, newest first, or write one to standard output or to a file.\n",
    .synopsis = "[list | get ID] [options]",
    .operand = {"list|get", "list: id, day, bytes, MIME type, type, description", "say list, or get ID", false,
                LT_OPERAND_IS(artifacts_options, action)},
    .second = {"ID", "of an artifact", "", false, LT_OPERAND_IS(artifacts_options, id)},
    .options = artifacts_option_rows,
    .option_count = sizeof artifacts_option_rows / sizeof artifacts_option_rows[0],
    .options_size = sizeof(artifacts_options),
    .notes =
        "get writes the bytes as they were stored. A terminal gets no binary ones.\n"
        "\n"
        "  lathe artifacts get ID -o picture.png\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = artifacts_run,
};
