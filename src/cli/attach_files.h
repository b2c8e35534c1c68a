/* Files that a person sends with a message: --attach FILE, and @FILE in a message of the dialogue. */
#ifndef LT_CLI_ATTACH_FILES_H
#define LT_CLI_ATTACH_FILES_H

#include "agent/agent.h"
#include "base/limits.h"
#include "cli/console.h"

typedef struct lt_attach_files {
  lt_arena arena; /* names and contents */
  lt_attachment list[LT_ATTACHMENTS_MAX];
  size_t count;
} lt_attach_files;

void lt_attach_files_init(lt_attach_files *files);
void lt_attach_files_release(lt_attach_files *files);

/* Reads a file. A link is followed, because the person named it. Does not wait for a pipe. Errors: LT_E_NOTFOUND,
 * LT_E_INVALID (a folder, a pipe, a device; what lt_agent_check_attachments says), LT_E_LIMIT, LT_E_IO. */
lt_status lt_attach_files_add(lt_attach_files *files, const char *path, lt_err *err);
/* Reads each file that a message names: @PATH or @"PATH" at the beginning of a word. Says which ones, and which path
 * with a slash is no file; any other word with an @ is text. The message stays as it is. Errors: as above. */
lt_status lt_attach_files_add_named(lt_attach_files *files, lt_str message, const lt_console *console, lt_err *err);

#endif
