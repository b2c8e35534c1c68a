/* What a terminal inserts when a person drops files on it, or pastes files that were copied: their paths. */
#ifndef LT_CLI_PASTED_PATHS_H
#define LT_CLI_PASTED_PATHS_H

#include "base/buf.h"

/* Makes the paths of images and PDFs @PATH, which attaches them (attach_files.h), with a space behind the last one.
 * They may be in quotes, with backslashes as a shell has them, or addresses (file:). A text that is anything else, or
 * names a file that is not there, stays as it is. */
void lt_pasted_paths_attach(lt_buf *text);

#endif
