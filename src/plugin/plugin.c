/* Creates and frees plugins. The host and the plugin's thread hold references; the last release frees the plugin. */
#include "plugin/plugin.h"

#include "base/limits.h"
#include "base/mem.h"
#include "plugin/host_state.h"
#include "plugin/shared_object.h"

lt_plugin *lt_plugin_new(lt_host *host, const lathe_host *functions) {
  lt_plugin *plugin = lt_mem_zalloc(1, sizeof *plugin);
  if (plugin == NULL) {
    return NULL;
  }
  atomic_init(&plugin->refs, 1);
  plugin->functions = functions;
  plugin->host = host;
  lt_arena_init(&plugin->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&plugin->disabled_reason, 2 * LT_ERR_MSG_MAX);
  pthread_mutex_init(&plugin->thread.lock, NULL);
  pthread_cond_init(&plugin->thread.changed, NULL);
  plugin->thread.last = &plugin->thread.queue;
  lt_wait_init(&plugin->thread.end_wait, host->options.loop);
  lt_cancel_init(&plugin->end_cancel);
  return plugin;
}

static void plugin_free(lt_plugin *plugin) {
  lt_plugin_thread *t = &plugin->thread;
  lt_registry_free(plugin->tools.registered);
  lt_schema_free(plugin->config_schema);
  lt_schema_free(plugin->state_schema);
  lt_buf_release(&plugin->disabled_reason);
  lt_arena_release(&plugin->arena);
  pthread_mutex_destroy(&t->lock);
  pthread_cond_destroy(&t->changed);
  if (!t->has_started || t->has_ended) { /* otherwise the thread may have been in its code until a moment ago */
    lt_shared_object_close(plugin->library);
  }
  lt_mem_free(plugin);
}

void lt_plugin_unref(lt_plugin *plugin) {
  if (atomic_fetch_sub(&plugin->refs, 1) == 1) {
    plugin_free(plugin);
  }
}
