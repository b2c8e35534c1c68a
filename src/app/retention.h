/* store.retention: removes what is older than the configuration keeps. */
#ifndef LT_APP_RETENTION_H
#define LT_APP_RETENTION_H

#include "config/config.h"
#include "store/store_upkeep.h"

/* The ages of the configuration, which has checked them. */
lt_store_ages lt_retention_of(const lt_config *config);
/* At the end of a command: removes at most LT_TRIM_ROWS old rows if the database is in use and no other process writes.
 * Failures are ignored: the next command tries again. LT_YIELDS. */
void lt_retention_apply(const lt_config *config, lt_store *store) LT_YIELDS;

#endif
