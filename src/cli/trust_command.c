/* lathe trust: which files count although nobody named them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/instructions.h"
#include "app/trust.h"
#include "base/limits.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/trust_question.h"
#include "config/config_read.h"
#include "config/config_review.h"

typedef struct trust_options {
  const char *file;
  bool list, revoke;
} trust_options;

static const lt_option trust_option_rows[] = {
    {"--list", NULL, NULL, "the files that are trusted", LT_OPTION_IS_FLAG(trust_options, list)},
    {"--revoke", NULL, NULL, "FILE is not trusted any more", LT_OPTION_IS_FLAG(trust_options, revoke)},
};

static int trust_fail(const lt_err *err) {
  lt_console_format(&(lt_console){0}, "lathe trust: %s", lt_err_msg(err));
  return err->status == LT_E_NOTFOUND ? LT_EXIT_USAGE : LT_EXIT_CONFIG;
}

/* FILE, or lathe.yaml in the folder FILE. */
static const char *trust_file(const trust_options *opt, char *room) {
  struct stat st;
  const char *file = opt->file != NULL ? opt->file : "./lathe.yaml";
  if (stat(file, &st) != 0 || !S_ISDIR(st.st_mode)) {
    return file;
  }
  snprintf(room, PATH_MAX, "%s/lathe.yaml", file);
  return room;
}

/* --- Trusting ----------------------------------------------------------------------------------------------------- */

static lt_status trust_add_file(const char *name, lt_config *config, lt_buf *out, lt_err *err) {
  LT_TRY(lt_config_inspect(name, config, err));
  const lt_config_file *file = &config->files[0];
  LT_TRY(lt_trust_add(file, err));
  lt_config_review_text(lt_str_of(file->path), out);
  lt_buf_addc(out, file->wants[0] != '\0' ? " is trusted until it changes. With it, Lathe may\n"
                                          : " is trusted until it changes. It says nothing that needs it.\n");
  lt_trust_question_put_wants(file, out);
  return lt_buf_check(out, err, "out of memory");
}

/* Characters that a person would not see are shown: they are for the model alone. */
static void trust_put_lines(lt_buf *out, lt_str text) {
  for (size_t at = 0, end; at < text.n; at = end + 1) {
    size_t found = lt_str_find(text, LT_STR("\n"), at);
    end = found != SIZE_MAX ? found : text.n;
    lt_buf_addc(out, "  ");
    lt_config_review_text(lt_str_sub(text, at, end), out);
    lt_buf_byte(out, '\n');
  }
}

/* There is nothing to judge in it but its words. */
static lt_status trust_add_instructions(const char *name, lt_buf *out, lt_err *err) {
  lt_config_file file;
  lt_str text;
  LT_AUTO_ARENA(arena, LT_CONFIG_MEMORY_BYTES);
  LT_TRY(lt_instructions_inspect(name, &arena, &file, &text, err));
  LT_TRY(lt_trust_add(&file, err));
  lt_config_review_text(lt_str_of(file.path), out);
  lt_buf_addc(out,
              " is trusted until it changes. In this folder and those below it, models are told what it says:\n\n");
  trust_put_lines(out, text);
  return lt_buf_check(out, err, "out of memory");
}

static int trust_add(const char *name) {
  lt_config config;
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, 2 * LT_CONFIG_REVIEW_BYTES);
  lt_config_init(&config);
  lt_status status = lt_instructions_is_file(name) ? trust_add_instructions(name, &out, &err)
                                                   : trust_add_file(name, &config, &out, &err);
  lt_config_release(&config);
  if (status != LT_OK) {
    return trust_fail(&err);
  }
  fwrite(out.p, 1, out.n, stdout);
  return LT_EXIT_OK;
}

/* --- Revoking ----------------------------------------------------------------------------------------------------- */

static lt_status trust_revoke_file(const char *name, lt_buf *out, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CONFIG_MEMORY_BYTES);
  const char *path = lt_config_absolute_path(&arena, name);
  LT_TRY(path != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory"));
  LT_TRY(lt_trust_revoke(path, err));
  lt_config_review_text(lt_str_of(path), out);
  lt_buf_addc(out, " is not trusted any more\n");
  return lt_buf_check(out, err, "out of memory");
}

static int trust_revoke(const char *name) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, 16 * PATH_MAX);
  if (trust_revoke_file(name, &out, &err) != LT_OK) {
    return trust_fail(&err);
  }
  fwrite(out.p, 1, out.n, stdout);
  return LT_EXIT_OK;
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static const char *trust_state_of_hash(lt_status status, const char *hash, const lt_trust_entry *entry) {
  bool is_same = hash != NULL && strcmp(hash, entry->hash.text) == 0;
  return is_same ? "" : status == LT_E_NOTFOUND ? " (is not there)" : " (has changed: not trusted)";
}

static const char *trust_state_of_instructions(const lt_trust_entry *entry) {
  lt_config_file file = {.hash = NULL};
  lt_str text;
  LT_AUTO_ARENA(arena, LT_CONFIG_MEMORY_BYTES);
  lt_status status = lt_instructions_inspect(entry->path, &arena, &file, &text, NULL);
  return trust_state_of_hash(status, file.hash, entry);
}

static const char *trust_state_of(const lt_trust_entry *entry) {
  if (lt_instructions_is_file(entry->path)) {
    return trust_state_of_instructions(entry);
  }
  lt_config config;
  lt_config_init(&config);
  lt_status status = lt_config_inspect(entry->path, &config, NULL);
  const char *state = trust_state_of_hash(status, config.file_count > 0 ? config.files[0].hash : NULL, entry);
  lt_config_release(&config);
  return state;
}

static int trust_list(void) {
  lt_trust trust;
  LT_ERR_VAR(err);
  LT_AUTO_BUF(out, 16 * LT_TRUST_BYTES);
  lt_status status = lt_trust_read(&trust, &err);
  for (size_t i = 0; i < trust.count; i++) {
    lt_config_review_text(lt_str_of(trust.entries[i].path), &out);
    lt_buf_printf(&out, "%s\n", trust_state_of(&trust.entries[i]));
  }
  lt_trust_release(&trust);
  status = status == LT_OK ? lt_buf_check(&out, &err, "out of memory") : status;
  if (status != LT_OK) {
    return trust_fail(&err);
  }
  fwrite(out.n > 0 ? out.p : "", 1, out.n, stdout);
  return LT_EXIT_OK;
}

static int trust_run(void *options) {
  const trust_options *opt = options;
  char room[PATH_MAX];
  if (opt->list && (opt->revoke || opt->file != NULL)) {
    fprintf(stderr, "lathe trust: --list stands alone\n");
    return LT_EXIT_USAGE;
  }
  if (opt->list) {
    return trust_list();
  }
  const char *file = trust_file(opt, room);
  return opt->revoke ? trust_revoke(file) : trust_add(file);
}

const lt_command lt_trust_command = {
    .name = "trust",
    .summary = "Let a configuration count that is found in a folder",
    .about =
        "Trust a configuration that is found in a folder. ./lathe.yaml may start programs, load plugins and send keys\n"
        "only when it is trusted, by its path and its content: read it first. So may AGENTS.md or CLAUDE.md tell "
        "models\n"
        "what to do.\n",
    .synopsis = "[FILE] | --list | --revoke [FILE]",
    .operand = {"FILE", "the file, or its folder (default: ./lathe.yaml)", "one FILE at most", false,
                LT_OPERAND_IS(trust_options, file)},
    .options = trust_option_rows,
    .option_count = sizeof trust_option_rows / sizeof trust_option_rows[0],
    .options_size = sizeof(trust_options),
    .notes =
        "Prints what the file may do from now on. A file that changes is not trusted any more.\n"
        "Files named by --config, --mcp-config or $LATHE_CONFIG need no trust.\n"
        "\n"
        "Exit code: 0 ok, 2 usage, or there is no such file; 3 the file or the list cannot be used.\n",
    .run = trust_run,
};
