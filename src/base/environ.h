/* The environment variables of the process. */
#ifndef LT_BASE_ENVIRON_H
#define LT_BASE_ENVIRON_H

/* "NAME=value" each, NULL at the end; never NULL itself. Borrows: the process, until somebody changes a variable. */
char **lt_environ_view(void);

#endif
