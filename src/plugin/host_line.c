/* Lines about a plugin for a person. */
#include "plugin/host_line.h"

#include "base/limits.h"
#include "text/plain.h"

lt_status lt_host_line_show(const lt_plugin *plugin, bool is_warning, lt_str text) {
  const lt_host_options *options = &plugin->host->options;
  LT_AUTO_BUF(masked, 4 * LT_PLUGIN_LINE_BYTES);
  LT_AUTO_BUF(line, 4 * LT_PLUGIN_LINE_BYTES);
  if (options->on_line == NULL) {
    return LT_OK;
  }
  lt_secrets_mask(options->secrets, text, &masked); /* first, because a secret may contain line breaks */
  LT_TRY(masked.status);
  lt_buf_printf(&line, "plugin %s: ", plugin->definition.id);
  lt_plain_add_line(&line, lt_buf_view(&masked));
  /* And again, because an escape may have been in the middle of a secret. */
  lt_secrets_mask_buf(options->secrets, &line);
  LT_TRY(line.status);
  options->on_line(options->arg, is_warning, lt_buf_view(&line));
  return LT_OK;
}
