#include "cli/chat_default.h"

/* 0: they are not known. */
static size_t chat_default_count_tools(const lt_chat *chat) {
  lt_catalog *catalog = NULL;
  size_t count = 0;
  if (lt_door_catalog(chat->session->app.door, &catalog, NULL) == LT_OK) {
    count = lt_catalog_count(catalog);
  }
  lt_catalog_unref(catalog);
  return count;
}

void lt_chat_default_choose(lt_chat *chat) {
  if (chat->models.default_mode.n == 0) {
    chat->models.default_mode =
        chat_default_count_tools(chat) > LT_CLASSIC_TOOLS_MAX ? LT_STR("code") : LT_STR("classic");
  }
}

static lt_str chat_default_mode_of(const lt_chat *chat, const lt_model *model) {
  lt_str own = model != NULL ? chat->models.modes[model - chat->models.list] : LT_STR_NULL;
  return chat->mode.n > 0 ? lt_buf_view(&chat->mode) : own.n > 0 ? own : chat->models.default_mode;
}

static void chat_default_put_cost(const lt_chat *chat, lt_str mode, lt_buf *out) {
  size_t tokens = 0, count = chat_default_count_tools(chat);
  lt_buf_printf(out, ", %zu %s", count, count == 1 ? "tool" : "tools");
  if (lt_agent_tools_tokens(chat->agent, mode, &tokens, NULL) == LT_OK && tokens > 0) {
    lt_buf_printf(out, " (about %zu tokens in each request)", tokens);
  }
}

void lt_chat_default_greet(lt_chat *chat, lt_buf *out) {
  const lt_model *model = NULL;
  lt_str ref = chat->model.n > 0 ? lt_buf_view(&chat->model) : chat->models.default_ref;
  if (lt_models_find(&chat->models, ref, &model, NULL) != LT_OK) {
    return;
  }
  lt_str mode = chat_default_mode_of(chat, model);
  lt_buf_printf(out, "Lathe with %.*s, mode %.*s", LT_STR_ARG(model->name), LT_STR_ARG(mode));
  chat_default_put_cost(chat, mode, out);
  lt_buf_addc(out, ".\n/mode, /model and /tools show and change these, /help says what else there is, Ctrl-D leaves.");
}
