/* lathe mcp import: the servers of another agent, taken over into lathe.yaml. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/consent.h"
#include "cli/console.h"
#include "cli/file_change.h"
#include "cli/mcp_install.h"
#include "clients/client_text.h"
#include "config/config.h"
#include "config/config_read.h"

typedef struct mcp_import_options {
  const char *client, *file;
  lt_mcp_install_options install;
  bool replaces, is_agreed;
} mcp_import_options;

static const lt_option mcp_import_option_rows[] = {
    {"--config", NULL, "FILE", "the file that takes them over (default: your own, ~/.config/lathe/lathe.yaml)",
     LT_OPTION_IS_TEXT(mcp_import_options, install.config_file)},
    {"--replace", NULL, NULL, "in the client, Lathe takes the place of the servers that were taken over",
     LT_OPTION_IS_FLAG(mcp_import_options, replaces)},
    {"--store", NULL, "URL", "with --replace: as for lathe mcp install",
     LT_OPTION_IS_TEXT(mcp_import_options, install.store)},
    {"--project", NULL, NULL, "the client's file in this folder, in place of your own",
     LT_OPTION_IS_FLAG(mcp_import_options, install.is_project)},
    {"--file", NULL, "FILE", "another file of the client", LT_OPTION_IS_TEXT(mcp_import_options, file)},
    {"--yes", "-y", NULL, "write without a question", LT_OPTION_IS_FLAG(mcp_import_options, is_agreed)},
};

typedef struct import_job {
  const mcp_import_options *opt;
  const lt_client *client;
  lt_arena arena;
  lt_file_change from; /* the client's file */
  lt_file_change to;   /* lathe.yaml */
  lt_client_text servers;
  lt_client_import import; /* its notes and secrets are those of all servers */
  lt_mcp_install install;
  size_t taken; /* servers that lathe.yaml did not have */
  size_t there; /* it has them, and they say the same */
} import_job;

/* lathe.yaml is edited as any client's file: as YAML, or as the JSON that it may be. */
static const lt_client lathe_yaml = {
    .name = "lathe", .title = "Lathe", .format = LT_CLIENT_YAML, .section = "mcpServers"};
static const lt_client lathe_json = {
    .name = "lathe", .title = "Lathe", .format = LT_CLIENT_JSON, .section = "mcpServers"};

static const lt_client *mcp_import_target(lt_str text) {
  return lt_str_starts(lt_str_trim(text), LT_STR("{")) ? &lathe_json : &lathe_yaml;
}

/* --- One server --------------------------------------------------------------------------------------------------- */

/* The name as lathe.yaml may have it: other characters become "-". */
static lt_str mcp_import_name(import_job *job, lt_str name) {
  static const char usable[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/@:+";
  LT_AUTO_BUF(out, LT_KIB);
  for (size_t i = 0; i < name.n; i++) {
    lt_buf_byte(&out, name.p[i] != '\0' && strchr(usable, name.p[i]) != NULL ? name.p[i] : '-');
  }
  lt_str kept = lt_arena_dup_buf(&job->arena, &out);
  if (kept.p != NULL && !lt_str_eq(kept, name)) {
    lt_client_server_note(&job->import, "%.*s is called %.*s in lathe.yaml", LT_STR_ARG(name), LT_STR_ARG(kept));
  }
  return kept;
}

/* What is there under the name already: {exists, says the same}. */
static void mcp_import_compare(const import_job *job, lt_str name, bool *ret_exists, bool *ret_is_same) {
  LT_AUTO_ARENA(arena, LT_MIB * 16);
  lt_client_text now;
  lt_json_doc doc;
  lt_str text = lt_buf_view(&job->to.text);
  lt_status status = lt_client_text_read(mcp_import_target(text), job->to.path.p, text, &now, NULL);
  lt_json old = lt_client_text_server(&now, name);
  *ret_exists = status == LT_OK && lt_json_exists(old);
  *ret_is_same = *ret_exists && lt_json_parse(&arena, lt_buf_view(&job->import.json), &doc, NULL) == LT_OK &&
                 lt_client_text_is_same(old, lt_json_root(&doc));
  lt_client_text_release(&now);
}

static lt_status mcp_import_put(import_job *job, lt_str name, lt_err *err) {
  LT_AUTO_BUF(next, LT_CLIENT_FILE_BYTES);
  lt_client_text now;
  lt_str text = lt_buf_view(&job->to.text);
  lt_status status = lt_client_text_read(mcp_import_target(text), job->to.path.p, text, &now, err);
  if (status == LT_OK) {
    status = lt_client_text_put(&now, name, lt_buf_view(&job->import.json), &next, err);
  }
  lt_client_text_release(&now);
  LT_TRY(status);
  lt_buf_clear(&job->to.text);
  lt_buf_add(&job->to.text, lt_buf_view(&next));
  return lt_buf_check(&job->to.text, err, "out of memory");
}

/* Appends the text of the client's file without the server. */
static lt_status mcp_import_take_out(import_job *job, lt_str name, lt_err *err) {
  LT_AUTO_BUF(next, LT_CLIENT_FILE_BYTES);
  lt_client_text now;
  lt_status status = lt_client_text_read(job->client, job->from.path.p, lt_buf_view(&job->from.text), &now, err);
  if (status == LT_OK) {
    status = lt_client_text_drop(&now, name, &next, err);
  }
  lt_client_text_release(&now);
  LT_TRY(status);
  lt_buf_clear(&job->from.text);
  lt_buf_add(&job->from.text, lt_buf_view(&next));
  return lt_buf_check(&job->from.text, err, "out of memory");
}

static bool mcp_import_is_lathe(const import_job *job, lt_str name, lt_json server) {
  return lt_client_server_is_lathe(job->client, server, NULL) ||
         (lt_str_eqc(name, "lathe") && lt_client_server_is_local(server));
}

/* A server that is left out, for a reason that is said, stays in the client. */
static lt_status mcp_import_server(import_job *job, lt_str name, lt_json server, lt_err *err) {
  LT_ERR_VAR(why);
  bool exists, is_same;
  if (mcp_import_is_lathe(job, name, server)) {
    return LT_OK;
  }
  lt_buf_clear(&job->import.json);
  lt_status status = lt_client_server_import(job->client, name, server, &job->arena, &job->import, &why);
  if (status == LT_E_UNSUPPORTED) {
    lt_client_server_note(&job->import, "%.*s is left out: %s", LT_STR_ARG(name), lt_err_msg(&why));
    return LT_OK;
  }
  LT_TRY(status == LT_OK ? LT_OK : lt_err_copy(err, &why));
  lt_str own = mcp_import_name(job, name);
  LT_TRY(own.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory"));
  mcp_import_compare(job, own, &exists, &is_same);
  if (exists && !is_same) {
    lt_client_server_note(&job->import, "%.*s is left: lathe.yaml has another server of this name", LT_STR_ARG(own));
    return LT_OK;
  }
  if (!exists) {
    LT_TRY(mcp_import_put(job, own, err));
  }
  job->taken += !exists;
  job->there += exists;
  return job->opt->replaces ? mcp_import_take_out(job, name, err) : LT_OK;
}

/* --- The files ---------------------------------------------------------------------------------------------------- */

static lt_status mcp_import_servers(import_job *job, lt_err *err) {
  lt_str name;
  lt_json server;
  lt_str text = lt_buf_view(&job->from.old);
  LT_TRY(lt_client_text_read(job->client, job->from.path.p, text, &job->servers, err));
  for (lt_json_iter it = lt_json_each(job->servers.section); lt_client_text_next(&job->servers, &it, &name, &server);) {
    LT_TRY(mcp_import_server(job, name, server, err));
  }
  return LT_OK;
}

/* In the client's file, Lathe comes in. */
static lt_status mcp_import_install(import_job *job, lt_err *err) {
  LT_AUTO_BUF(next, LT_CLIENT_FILE_BYTES);
  lt_client_text now;
  lt_status status = lt_client_text_read(job->client, job->from.path.p, lt_buf_view(&job->from.text), &now, err);
  lt_json old = lt_client_text_server(&now, LT_STR("lathe"));
  if (status == LT_OK && lt_json_exists(old) && !mcp_import_is_lathe(job, LT_STR("lathe"), old)) {
    status =
        lt_fail(err, LT_E_INVALID, "%s has a server \"lathe\" that is no Lathe: nothing was written", job->from.path.p);
  }
  if (status == LT_OK) {
    status = lt_client_text_put(&now, LT_STR("lathe"), lt_buf_view(&job->install.server), &next, err);
  }
  lt_client_text_release(&now);
  LT_TRY(status);
  lt_buf_clear(&job->from.text);
  lt_buf_add(&job->from.text, lt_buf_view(&next));
  return lt_buf_check(&job->from.text, err, "out of memory");
}

static lt_status mcp_import_open(import_job *job, lt_err *err) {
  LT_AUTO_BUF(path, PATH_MAX);
  LT_AUTO_BUF(user, PATH_MAX);
  const char *target = job->opt->install.config_file;
  if (job->opt->file == NULL) {
    LT_TRY(lt_client_table_path(job->client, job->opt->install.is_project, &path, err));
  }
  LT_TRY(lt_file_change_open(job->opt->file != NULL ? job->opt->file : path.p, &job->from, err));
  if (!job->from.exists) {
    return lt_fail(err, LT_E_NOTFOUND, "%s: there is no such file: %s has no servers there", job->from.path.p,
                   job->client->title);
  }
  if (target == NULL) {
    LT_TRY(lt_config_user_path(&user, err));
  }
  LT_TRY(lt_file_change_open(target != NULL ? target : user.p, &job->to, err));
  lt_buf_add(&job->to.text, lt_buf_view(&job->to.old));
  lt_buf_add(&job->from.text, lt_buf_view(&job->from.old));
  return lt_status_first(lt_buf_check(&job->to.text, err, "out of memory"),
                         lt_buf_check(&job->from.text, err, "out of memory"));
}

/* The new lathe.yaml must be one that Lathe reads. */
static lt_status mcp_import_check(const import_job *job, lt_err *err) {
  lt_config config;
  LT_ERR_VAR(why);
  lt_config_folder folder = lt_config_folder_of(job->to.path.p);
  lt_status status = lt_config_parse(lt_buf_view(&job->to.text), job->to.path.p, folder.path, &config, &why);
  lt_config_release(&config);
  return status == LT_OK ? LT_OK
                         : lt_fail(err, LT_E_CONFIG, "with these servers the configuration could not be read: %s",
                                   lt_err_msg(&why));
}

static lt_status mcp_import_prepare(import_job *job, lt_err *err) {
  LT_TRY(mcp_import_open(job, err));
  LT_TRY(mcp_import_servers(job, err));
  LT_TRY(mcp_import_check(job, err));
  LT_TRY(lt_file_change_check(&job->to, err));
  return job->opt->replaces ? lt_file_change_check(&job->from, err) : LT_OK;
}

/* --- Asking and writing ------------------------------------------------------------------------------------------- */

static lt_status mcp_import_view(const import_job *job, lt_buf *out, lt_err *err) {
  if (lt_file_change_is_any(&job->to)) {
    lt_file_change_show(&job->to, job->import.secrets, out);
  }
  if (lt_file_change_is_any(&job->from)) {
    lt_file_change_show(&job->from, job->import.secrets, out);
  }
  lt_secrets_mask(job->import.secrets, lt_buf_view(&job->import.notes), out);
  return lt_buf_check(out, err, "out of memory");
}

static void mcp_import_say_written(const lt_file_change *change) {
  printf("Written: %s%s%s\n", change->path.p, change->backup.n > 0 ? ", as it was: " : "",
         change->backup.n > 0 ? change->backup.p : "");
}

/* lathe.yaml first: a client without its servers and without Lathe would be the worst end. What is written into the
 * client names a configuration that must be there. */
static lt_status mcp_import_write(import_job *job, lt_err *err) {
  if (lt_file_change_is_any(&job->to)) {
    LT_TRY(lt_file_change_write(&job->to, err));
    mcp_import_say_written(&job->to);
  }
  if (lt_file_change_is_any(&job->from)) {
    LT_TRY(lt_file_change_write(&job->from, err));
    mcp_import_say_written(&job->from);
  }
  return LT_OK;
}

static int mcp_import_apply(import_job *job, lt_err *err) {
  LT_AUTO_BUF(view, 4UL * LT_CLIENT_FILE_BYTES);
  if (mcp_import_view(job, &view, err) != LT_OK) {
    return LT_EXIT_FAILED;
  }
  if (!lt_file_change_is_any(&job->to) && !lt_file_change_is_any(&job->from)) {
    fwrite(view.n > 0 ? view.p : "", 1, view.n, stdout);
    printf("%s: nothing to take over\n", job->from.path.p);
    return LT_EXIT_OK;
  }
  lt_consent consent = LT_CONSENT_YES;
  if (job->opt->is_agreed) {
    fwrite(view.p, 1, view.n, stdout);
  } else {
    consent = lt_consent_ask(lt_buf_view(&view), "Write it? [y]es / [n]o: ");
  }
  switch (consent) {
    case LT_CONSENT_YES:
      return mcp_import_write(job, err) == LT_OK ? LT_EXIT_OK : LT_EXIT_FAILED;
    case LT_CONSENT_NO:
      fputs("Nothing was written.\n", stderr);
      return LT_EXIT_FAILED;
    case LT_CONSENT_NOBODY:
      fwrite(view.p, 1, view.n, stdout);
      fputs("lathe mcp import: nobody can be asked here, so nothing was written: add --yes\n", stderr);
      return LT_EXIT_USAGE;
    case LT_CONSENT_INTERRUPTED:
      break;
  }
  return LT_EXIT_INTERRUPTED;
}

/* Lathe comes into the client's file with the configuration that has taken the servers over. */
static lt_status mcp_import_replace(import_job *job, lt_err *err) {
  lt_mcp_install_options options = job->opt->install;
  options.planned_config = job->to.path.p;
  LT_TRY(lt_mcp_install_prepare(job->client, &options, &job->install, err));
  return mcp_import_install(job, err);
}

static int mcp_import_work(import_job *job, lt_err *err) {
  lt_status status = mcp_import_prepare(job, err);
  if (status == LT_OK && job->opt->replaces && job->taken + job->there > 0) {
    status = mcp_import_replace(job, err);
  }
  if (status != LT_OK) {
    return status == LT_E_INVALID || status == LT_E_UNSUPPORTED || status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                                                                           : LT_EXIT_CONFIG;
  }
  return mcp_import_apply(job, err);
}

static void mcp_import_release(import_job *job) {
  lt_client_text_release(&job->servers);
  lt_file_change_release(&job->from);
  lt_file_change_release(&job->to);
  lt_buf_release(&job->import.json);
  lt_buf_release(&job->import.notes);
  lt_secrets_free(job->import.secrets);
  lt_mcp_install_release(&job->install);
  lt_arena_release(&job->arena);
}

static int mcp_import_run(void *options) {
  const mcp_import_options *opt = options;
  import_job job = {.opt = opt, .client = lt_mcp_install_client("mcp import", opt->client)};
  LT_ERR_VAR(err);
  if (job.client == NULL) {
    return LT_EXIT_USAGE;
  }
  lt_arena_init(&job.arena, LT_CLIENT_MEMORY_BYTES);
  lt_buf_init(&job.import.json, LT_CONFIG_MAX_BYTES);
  lt_buf_init(&job.import.notes, LT_CONFIG_MAX_BYTES);
  job.import.secrets = lt_secrets_new();
  int code = job.import.secrets != NULL ? mcp_import_work(&job, &err) : LT_EXIT_FAILED;
  if (err.status != LT_OK) {
    lt_console_format(&(lt_console){0}, "lathe mcp import: %s", lt_err_msg(&err));
  }
  mcp_import_release(&job);
  return code;
}

const lt_command lt_mcp_import_command = {
    .name = "mcp import",
    .summary = "Take over the servers of another agent",
    .about =
        "Take over the MCP servers that another agent has into lathe.yaml. The change is shown first and asked about;\n"
        "a server whose name is there already is left, and said.\n",
    .synopsis = "CLIENT [options]",
    .operand = {"CLIENT", "the agent, as for lathe mcp install", "name one client; lathe mcp install --help lists them",
                true, LT_OPERAND_IS(mcp_import_options, client)},
    .options = mcp_import_option_rows,
    .option_count = sizeof mcp_import_option_rows / sizeof mcp_import_option_rows[0],
    .options_size = sizeof(mcp_import_options),
    .notes =
        "References to variables become ${NAME}. Secrets that are written plainly are taken over and pointed out.\n"
        "Exit code: 0 ok, 1 not written, 2 usage, 3 a file cannot be used.\n",
    .run = mcp_import_run,
};
