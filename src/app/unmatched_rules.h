/* Warns of rules and budgets that fit no tool: a typing error in `match` would let every call through. */
#ifndef LT_APP_UNMATCHED_RULES_H
#define LT_APP_UNMATCHED_RULES_H

#include "app/report.h"
#include "config/config.h"
#include "plugin/host.h"
#include "tool/door.h"

typedef struct lt_unmatched_rules_options {
  lt_door *door;
  const lt_host *host;
  const lt_config *config;
  const lt_policy *policy; /* may be NULL */
  const lt_report *report;
} lt_unmatched_rules_options;

/* For the time when all tools are known. A rule that may fit a tool of a server whose list is not known, or of a plugin
 * that adds tools for each prompt, gives no warning. */
void lt_unmatched_rules_warn(const lt_unmatched_rules_options *options);

#endif
