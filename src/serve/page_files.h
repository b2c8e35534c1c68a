/* The files of the page (src/serve/page/), as bytes of the program, or of a folder. Internal to serve/.
 *
 * scripts/pack-page.mjs makes the table at build time. Embedded files are kept compressed, and only so: every browser
 * takes gzip, and a second copy of everything would be for nobody.
 */
#ifndef LT_SERVE_PAGE_FILES_H
#define LT_SERVE_PAGE_FILES_H

#include "base/buf.h"
#include "base/err.h"

typedef struct lt_page_file {
  const char *type; /* the content type */
  const char *hash; /* changes with the bytes */
  lt_str gzip;
} lt_page_file;

/* Finds the embedded file of this name. Borrows: for ever. */
bool lt_page_files_find(lt_str name, lt_page_file *ret_file);
/* What the content policy of the embedded start page says of scripts and styles: "script-src …; style-src …". Borrows:
 * for ever. */
lt_str lt_page_files_sources(void);
/* The content type that the name's end stands for, or NULL. */
const char *lt_page_files_type(lt_str name);
/* Appends the file `name` of a folder, as it is. Blocks. LT_E_NOTFOUND: there is none, or the name is no plain one, so
 * that nothing outside the folder is reached. Errors: lt_file_read's. */
lt_status lt_page_files_read(const char *folder, lt_str name, lt_buf *out, lt_err *err);

#endif
