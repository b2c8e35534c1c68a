/* How many files this process may have open at once, and how many its children may.
 *
 * The system's usual soft limit, 1024, is there for programs that use select(), which cannot handle more; Lathe does
 * not, and a thousand conversations or servers need more. So it takes what the hard limit allows, and gives its
 * children the soft limit it was started with: they may well use select().
 */
#ifndef LT_IO_OPEN_FILES_H
#define LT_IO_OPEN_FILES_H

/* For main, before there are threads: raises the soft limit to the hard one, at most LT_OPEN_FILES_MAX. Where that is
 * refused, it stays as it is. */
void lt_open_files_raise(void);

/* The soft limit before that, in decimal: what a child is told (exec.h). "" when it was not raised. */
const char *lt_open_files_before(void);

/* For a child: sets the soft limit to that number; anything else changes nothing. */
void lt_open_files_restore(const char *before);

#endif
