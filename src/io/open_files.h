/* How many files this process may have open at once, and how many its children may.
 *
 * The usual soft limit, 1024, protects programs that use select(), which cannot handle more files. Lathe does not use
 * select(), and many conversations or servers need more files. So Lathe raises its soft limit to the hard limit. Its
 * children get the soft limit that Lathe was started with, because they may use select().
 */
#ifndef LT_IO_OPEN_FILES_H
#define LT_IO_OPEN_FILES_H

/* For main, before any thread is started: raises the soft limit to the hard limit, at most LT_OPEN_FILES_MAX. When the
 * system refuses, the limit does not change. */
void lt_open_files_raise(void);

/* How many files this process may have open now. */
unsigned long long lt_open_files_now(void);
/* The soft limit before that, in decimal, for a child's exec.h. "" when the limit was not raised. */
const char *lt_open_files_before(void);

/* For a child: sets the soft limit to the number in `before`. Any other text changes nothing. */
void lt_open_files_restore(const char *before);

#endif
