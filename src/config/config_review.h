/* What an untrusted file wants, for the person who decides whether to trust it.
 *
 * A file is looked at as it is written: no ${NAME} is replaced, and nothing of it takes effect. By the table of keys
 * everything needs trust, except values that a row calls harmless: rules that ask or deny, budgets, and lower bounds.
 * Internal to config/. */
#ifndef LT_CONFIG_CONFIG_REVIEW_H
#define LT_CONFIG_CONFIG_REVIEW_H

#include "base/buf.h"
#include "config/config_keys.h"

/* Appends lines that list everything in the file that needs trust, with the environment variables that it would get.
 * Nothing is appended for a harmless file. Control and invisible characters are shown as \u{...}. `below` has what the
 * layers below say. */
void lt_config_review(const lt_yaml_node *root, const lt_config *below, lt_buf *out);
/* Appends the names of the top keys that need trust, with commas. */
void lt_config_review_keys(const lt_yaml_node *root, const lt_config *below, lt_buf *out);
/* Appends a text with control and invisible characters as \u{...}, in quotes where its end would be unclear. */
void lt_config_review_text(lt_str text, lt_buf *out);

#endif
