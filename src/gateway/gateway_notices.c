#include "gateway/gateway_notices.h"

#include <string.h>

#include "base/limits.h"
#include "gateway/gateway_changes.h"
#include "gateway/gateway_progress.h"
#include "gateway/gateway_resources.h"

/* 2025-11-25, Logging, Log Levels: from the least to the most serious. */
static const char *const gateway_log_levels[] = {"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};
#define LEVEL_COUNT (sizeof gateway_log_levels / sizeof gateway_log_levels[0])

/* LEVEL_COUNT: it is none. */
static size_t gateway_notices_level(lt_str name) {
  size_t i = 0;
  while (i < LEVEL_COUNT && !lt_str_eqc(name, gateway_log_levels[i])) {
    i++;
  }
  return i;
}

/* --- Levels ------------------------------------------------------------------------------------------------------- */
/* One client's wish lowers the level for all servers: what others get is decided here. Warnings are asked for anyway.
 */
static void gateway_notices_lower(lt_gateway *gateway, size_t level) {
  if (level >= gateway_notices_level(LT_STR(LT_MCP_LOG_LEVEL)) ||
      (gateway->log_level != NULL && level >= gateway_notices_level(lt_str_of(gateway->log_level)))) {
    return;
  }
  gateway->log_level = gateway_log_levels[level];
  lt_sources_set_log_level(gateway->session->sources, gateway->log_level);
}

lt_status lt_gateway_notices_set_level(lt_gateway_request *r) {
  lt_str name = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(r->params, "level"), r->arena, &name);
  size_t level = gateway_notices_level(name);
  if (level == LEVEL_COUNT) {
    return lt_fail(r->err, LT_E_INVALID,
                   "level: expected debug, info, notice, warning, error, critical, alert or "
                   "emergency");
  }
  memcpy(r->peer->log_level, gateway_log_levels[level], strlen(gateway_log_levels[level]) + 1);
  gateway_notices_lower(r->gateway, level);
  return LT_OK;
}

void lt_gateway_notices_follow_level(lt_gateway_request *r) {
  size_t level = r->is_modern ? gateway_notices_level(lt_gateway_request_log_level(r)) : LEVEL_COUNT;
  if (level < LEVEL_COUNT) {
    gateway_notices_lower(r->gateway, level);
  }
}

/* --- Log messages ------------------------------------------------------------------------------------------------- */
static void gateway_notices_put_log(const lt_gateway *gateway, const lt_mcp_notice *notice, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  LT_AUTO_BUF(logger, LT_MCP_LINE_MAX_BYTES);
  lt_str theirs = LT_STR_NULL;
  lt_json_writer w = lt_json_writer_on(out);
  (void)lt_json_str(lt_json_get(notice->params, "logger"), &arena, &theirs);
  lt_buf_add(&logger, lt_mcp_name(notice->mcp));
  lt_buf_addc(&logger, theirs.n > 0 ? "/" : "");
  lt_buf_add(&logger, theirs);
  lt_json_begin_object(&w);
  lt_json_key(&w, "level");
  lt_json_put_raw(&w, lt_json_text(lt_json_get(notice->params, "level")));
  lt_json_key(&w, "logger");
  lt_json_put_str(&w, lt_buf_view(&logger));
  lt_json_key(&w, "data");
  LT_AUTO_BUF(data, LT_MCP_LINE_MAX_BYTES);
  lt_json_compact(lt_json_get(notice->params, "data"), &data);
  lt_json_put_raw(&w, lt_buf_view_or(&data, LT_STR("null")));
  lt_json_end_object(&w);
  lt_secrets_mask_json_buf(gateway->session->secrets, out);
}

static bool gateway_notices_wants(lt_str wanted, size_t level) {
  size_t from = gateway_notices_level(wanted);
  return from < LEVEL_COUNT && level >= from;
}

/* A client of 2026-07-28 gets what is said while a request of it that asked for it runs. An older one gets it with the
 * newest of its requests that run, or by itself. */
static void gateway_notices_send_log(lt_gateway *gateway, lt_gateway_peer *peer, size_t level, lt_str params) {
  for (lt_gateway_request *r = peer->requests; r != NULL; r = r->next) {
    if (!lt_gateway_progress_is_awaited(gateway, r) || !gateway_notices_wants(lt_gateway_request_log_level(r), level)) {
      continue;
    }
    lt_gateway_request_notify(r, "notifications/message", params);
    if (!r->is_modern) {
      return;
    }
  }
  if (peer->version.n > 0 && gateway_notices_wants(lt_str_of(peer->log_level), level)) {
    lt_gateway_peer_notify(peer, "notifications/message", params);
  }
}

/* A message does not say whose call it is about: only clients of the user whose configuration it is get it. */
static void gateway_notices_take_log(lt_gateway *gateway, const lt_mcp_notice *notice) {
  LT_AUTO_ARENA(arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  lt_str name = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(notice->params, "level"), &arena, &name);
  size_t level = gateway_notices_level(name);
  if (level == LEVEL_COUNT || gateway->peers == NULL) {
    return;
  }
  gateway_notices_put_log(gateway, notice, &params);
  for (lt_gateway_peer *peer = gateway->peers; peer != NULL && params.status == LT_OK; peer = peer->next) {
    if (lt_str_eq(peer->user, LT_GATEWAY_USER)) {
      gateway_notices_send_log(gateway, peer, level, lt_buf_view(&params));
    }
  }
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */
static void gateway_notices_tell_all(lt_gateway *gateway, const char *method) {
  lt_gateway_changes_tell(gateway, method);
  for (lt_gateway_peer *peer = gateway->peers; peer != NULL; peer = peer->next) {
    if (peer->version.n > 0) {
      lt_gateway_peer_notify(peer, method, LT_STR_NULL);
    }
  }
}

static void gateway_notices_on_notice(void *arg, const lt_mcp_notice *notice) {
  lt_gateway *gateway = arg;
  switch (notice->kind) {
    case LT_MCP_NOTICE_TOOLS:
      gateway_notices_tell_all(gateway, "notifications/tools/list_changed");
      break;
    case LT_MCP_NOTICE_EXTRAS:
      gateway_notices_tell_all(gateway, "notifications/resources/list_changed");
      gateway_notices_tell_all(gateway, "notifications/prompts/list_changed");
      break;
    case LT_MCP_NOTICE_RESOURCE:
      lt_gateway_resources_tell(gateway, notice->mcp, notice->params);
      break;
    case LT_MCP_NOTICE_LOG:
      gateway_notices_take_log(gateway, notice);
      break;
  }
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */
static void gateway_notices_listen(const lt_gateway *gateway, const lt_mcp_listener *listener) {
  if (gateway->session->sources != NULL) {
    lt_sources_listen(gateway->session->sources, listener);
  }
}

void lt_gateway_notices_open(lt_gateway *gateway) {
  const lt_mcp_listener listener = {.on_notice = gateway_notices_on_notice, .arg = gateway};
  gateway_notices_listen(gateway, &listener);
}

void lt_gateway_notices_close(lt_gateway *gateway) {
  const lt_mcp_listener nobody = {.on_notice = NULL};
  gateway_notices_listen(gateway, &nobody);
  lt_gateway_resources_forget(gateway, NULL);
}
