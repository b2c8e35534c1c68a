/* lathe mcp install: Lathe as a server in the configuration of another agent. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/consent.h"
#include "cli/console.h"
#include "cli/file_change.h"
#include "cli/mcp_install.h"
#include "clients/client_print.h"
#include "clients/client_text.h"

typedef struct mcp_install_options {
  const char *client, *file;
  lt_mcp_install_options install;
  bool is_removal, only_print, is_agreed;
} mcp_install_options;

static const lt_option mcp_install_option_rows[] = {
    {"--config", NULL, "FILE", "the configuration that is written there\n(default: $LATHE_CONFIG, else your own file)",
     LT_OPTION_IS_TEXT(mcp_install_options, install.config_file)},
    {"--mcp-config", NULL, "FILE", "servers in the form of other MCP clients (.mcp.json)",
     LT_OPTION_IS_TEXT(mcp_install_options, install.mcp_config_file)},
    {"--store", NULL, "URL", "the database, sqlite:PATH (default: the one that this shell uses)",
     LT_OPTION_IS_TEXT(mcp_install_options, install.store)},
    {"--env", NULL, "NAMES", "write the values of these variables, too; commas separate names",
     LT_OPTION_IS_TEXT(mcp_install_options, install.env)},
    {"--http", NULL, "URL", "connect to a Lathe that runs (lathe mcp --http), in place of starting one",
     LT_OPTION_IS_TEXT(mcp_install_options, install.url)},
    {"--token-env", NULL, "NAME", "with --http: the variable that has the token for it; its name is written",
     LT_OPTION_IS_TEXT(mcp_install_options, install.token_env)},
    {"--name", NULL, "NAME", "the server's name there (default: lathe)",
     LT_OPTION_IS_TEXT(mcp_install_options, install.name)},
    {"--project", NULL, NULL, "the client's file in this folder, in place of your own",
     LT_OPTION_IS_FLAG(mcp_install_options, install.is_project)},
    {"--file", NULL, "FILE", "another file of the client", LT_OPTION_IS_TEXT(mcp_install_options, file)},
    {"--remove", NULL, NULL, "take it out again", LT_OPTION_IS_FLAG(mcp_install_options, is_removal)},
    {"--print", NULL, NULL, "print what would be written, and nothing else",
     LT_OPTION_IS_FLAG(mcp_install_options, only_print)},
    {"--yes", "-y", NULL, "write without a question", LT_OPTION_IS_FLAG(mcp_install_options, is_agreed)},
};

typedef struct install_job {
  const mcp_install_options *opt;
  const lt_client *client;
  lt_mcp_install install;
  lt_file_change change;
} install_job;

/* --- The new text ------------------------------------------------------------------------------------------------- */

static lt_status mcp_install_make_text(install_job *job, const lt_client_text *file, lt_err *err) {
  lt_str name = lt_str_of(job->install.name);
  lt_json old = lt_client_text_server(file, name);
  bool is_ours = lt_client_server_is_lathe(job->client, old, job->opt->install.url) || lt_client_server_is_local(old);
  if (lt_json_exists(old) && !is_ours) {
    return lt_fail(err, LT_E_INVALID,
                   "%s has a server \"%s\" that is no Lathe: it stays as it is; --name gives Lathe another name",
                   file->path, job->install.name);
  }
  if (!job->opt->is_removal) {
    return lt_client_text_put(file, name, lt_buf_view(&job->install.server), &job->change.text, err);
  }
  if (!lt_json_exists(old)) {
    lt_buf_add(&job->change.text, file->text);
    return lt_buf_check(&job->change.text, err, "out of memory");
  }
  return lt_client_text_drop(file, name, &job->change.text, err);
}

/* Members that the person has added to ours stay, as long as ours say the same. */
static bool mcp_install_is_there(const install_job *job, const lt_client_text *file) {
  LT_AUTO_ARENA(arena, LT_MIB * 4);
  lt_json_doc doc;
  lt_json old = lt_client_text_server(file, lt_str_of(job->install.name));
  if (job->opt->is_removal || !lt_json_exists(old) ||
      lt_json_parse(&arena, lt_buf_view(&job->install.server), &doc, NULL) != LT_OK) {
    return false;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str key = lt_json_text(it.key);
    if (!lt_client_text_is_same(it.value, lt_json_get_str(old, lt_str_sub(key, 1, key.n - 1)))) {
      return false;
    }
  }
  return true;
}

/* What is plainly written in the file and sounds secret is not shown, should a line with it change. */
static void mcp_install_hide_secrets(install_job *job, lt_client_text *file) {
  lt_client_import import = {.secrets = job->install.secrets};
  lt_str name;
  lt_json server;
  lt_buf_init(&import.json, LT_CLIENT_FILE_BYTES);
  lt_buf_init(&import.notes, LT_CLIENT_FILE_BYTES);
  for (lt_json_iter it = lt_json_each(file->section); lt_client_text_next(file, &it, &name, &server);) {
    lt_buf_clear(&import.json);
    (void)lt_client_server_import(job->client, name, server, &file->arena, &import, NULL);
  }
  lt_buf_release(&import.json);
  lt_buf_release(&import.notes);
}

/* A client that wants more than servers in its file gets that in a new one. */
static lt_status mcp_install_edit(install_job *job, lt_err *err) {
  lt_client_text file;
  bool is_fresh = job->change.old.n == 0 && job->client->fresh != NULL && !job->opt->is_removal;
  lt_str text = is_fresh ? lt_str_of(job->client->fresh) : lt_buf_view(&job->change.old);
  lt_status status = lt_client_text_read(job->client, job->change.path.p, text, &file, err);
  if (status == LT_OK && mcp_install_is_there(job, &file)) {
    lt_buf_add(&job->change.text, text);
  } else if (status == LT_OK) {
    mcp_install_hide_secrets(job, &file);
    status = mcp_install_make_text(job, &file, err);
  }
  lt_client_text_release(&file);
  return status;
}

/* --- Printing ----------------------------------------------------------------------------------------------------- */

/* The server as the text of a new file. */
static lt_status mcp_install_print(install_job *job, lt_err *err) {
  LT_AUTO_BUF(out, LT_MIB);
  lt_client_text file;
  lt_status status = lt_client_text_read(job->client, "", LT_STR_NULL, &file, err);
  if (status == LT_OK) {
    status = lt_client_text_put(&file, lt_str_of(job->install.name), lt_buf_view(&job->install.server), &out, err);
  }
  lt_client_text_release(&file);
  if (status == LT_OK) {
    fwrite(out.p, 1, out.n, stdout);
  }
  return status;
}

/* --- Asking and writing ------------------------------------------------------------------------------------------- */

static lt_status mcp_install_write_file(install_job *job, lt_err *err) {
  LT_TRY(lt_file_change_write(&job->change, err));
  if (job->change.backup.n > 0) {
    printf("Written. The file as it was: %s\n", job->change.backup.p);
  } else {
    printf("Written.\n");
  }
  if (!job->opt->is_removal) {
    printf("Next: %s.\n", job->client->next);
  }
  return LT_OK;
}

static int mcp_install_apply(install_job *job, lt_err *err) {
  LT_AUTO_BUF(view, 4UL * LT_CLIENT_FILE_BYTES);
  if (!lt_file_change_is_any(&job->change)) {
    printf("%s: %s, nothing changes\n", job->change.path.p,
           job->opt->is_removal ? "Lathe is not there" : "Lathe is there");
    return LT_EXIT_OK;
  }
  if (lt_file_change_check(&job->change, err) != LT_OK) {
    return LT_EXIT_CONFIG;
  }
  lt_file_change_show(&job->change, job->install.secrets, &view);
  if (!job->opt->is_removal) {
    lt_mcp_install_put_notes(&job->install, job->client, &job->opt->install, &view);
  }
  if (lt_buf_check(&view, err, "out of memory") != LT_OK) {
    return LT_EXIT_FAILED;
  }
  lt_consent consent = LT_CONSENT_YES;
  if (job->opt->is_agreed) {
    fwrite(view.p, 1, view.n, stdout);
  } else {
    consent = lt_consent_ask(lt_buf_view(&view), "Write it? [y]es / [n]o: ");
  }
  switch (consent) {
    case LT_CONSENT_YES:
      return mcp_install_write_file(job, err) == LT_OK ? LT_EXIT_OK : LT_EXIT_FAILED;
    case LT_CONSENT_NO:
      fputs("Nothing was written.\n", stderr);
      return LT_EXIT_FAILED;
    case LT_CONSENT_NOBODY:
      fwrite(view.p, 1, view.n, stdout);
      fputs("lathe mcp install: nobody can be asked here, so nothing was written: add --yes\n", stderr);
      return LT_EXIT_USAGE;
    case LT_CONSENT_INTERRUPTED:
      break;
  }
  return LT_EXIT_INTERRUPTED;
}

static int mcp_install_code(lt_status status) {
  return status == LT_E_INVALID || status == LT_E_UNSUPPORTED || status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                                                                         : LT_EXIT_CONFIG;
}

static int mcp_install_work(install_job *job, lt_err *err) {
  LT_AUTO_BUF(path, PATH_MAX);
  const mcp_install_options *opt = job->opt;
  lt_status status = lt_mcp_install_prepare(job->client, &opt->install, &job->install, err);
  if (status == LT_OK && opt->only_print) {
    status = mcp_install_print(job, err);
    return status == LT_OK ? LT_EXIT_OK : mcp_install_code(status);
  }
  if (status == LT_OK && opt->file == NULL) {
    status = lt_client_table_path(job->client, opt->install.is_project, &path, err);
  }
  if (status == LT_OK) {
    status = lt_file_change_open(opt->file != NULL ? opt->file : path.p, &job->change, err);
  }
  if (status == LT_OK) {
    bool is_for_all = opt->install.is_project && opt->install.env == NULL; /* --env writes values that may be secret */
    job->change.mode = job->change.exists || !is_for_all ? job->change.mode : 0644;
    status = mcp_install_edit(job, err);
  }
  return status == LT_OK ? mcp_install_apply(job, err) : mcp_install_code(status);
}

static int mcp_install_run(void *options) {
  const mcp_install_options *opt = options;
  install_job job = {.opt = opt, .client = lt_mcp_install_client("mcp install", opt->client)};
  LT_ERR_VAR(err);
  if (job.client == NULL) {
    return LT_EXIT_USAGE;
  }
  int code = mcp_install_work(&job, &err);
  if (err.status != LT_OK) {
    lt_console_format(&(lt_console){0}, "lathe mcp install: %s", lt_err_msg(&err));
  }
  lt_file_change_release(&job.change);
  lt_mcp_install_release(&job.install);
  return code;
}

const lt_command lt_mcp_install_command = {
    .name = "mcp install",
    .summary = "Make Lathe a server of another agent",
    .about =
        "Make Lathe an MCP server of another agent: claude-code, claude-desktop, codex, cursor, vscode, opencode,\n"
        "gemini-cli, qwen-code, cline, continue, zed or goose. The change of its file is shown first and asked about;\n"
        "a backup is kept beside the file, and everything else in it stays as it is.\n",
    .synopsis = "CLIENT [options]",
    .operand = {"CLIENT", "the agent", "name one client; lathe mcp install --help lists them", true,
                LT_OPERAND_IS(mcp_install_options, client)},
    .options = mcp_install_option_rows,
    .option_count = sizeof mcp_install_option_rows / sizeof mcp_install_option_rows[0],
    .options_size = sizeof(mcp_install_options),
    .notes =
        "What is written names this program, the configuration and the database by absolute paths.\n"
        "Exit code: 0 ok, 1 not written, 2 usage, 3 a file cannot be used.\n",
    .run = mcp_install_run,
};
