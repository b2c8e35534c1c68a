#include "runner/typecheck/named_tools.h"

#include "base/mem.h"
#include "js/jsscan.h"

typedef struct named_search {
  const lt_tool *(*find)(void *arg, lt_str word);
  void *arg;
  lt_named_tools *named;
  size_t room;
  bool has_failed; /* no memory */
} named_search;

static bool named_has_word(const lt_named_tools *named, lt_str word) {
  for (size_t i = 0; i < named->count; i++) {
    if (lt_str_eq(named->list[i].word, word)) {
      return true;
    }
  }
  return false;
}

static bool named_make_room(named_search *s) {
  if (s->named->count < s->room) {
    return true;
  }
  size_t room = s->room == 0 ? 16 : s->room * 2;
  lt_named_tool *list = lt_mem_realloc(s->named->list, room * sizeof *list);
  s->has_failed = list == NULL;
  s->named->list = list != NULL ? list : s->named->list;
  s->room = list != NULL ? room : s->room;
  return list != NULL;
}

static void named_on_word(void *arg, lt_str word) {
  named_search *s = arg;
  const lt_tool *tool = s->has_failed ? NULL : s->find(s->arg, word);
  if (tool != NULL && !named_has_word(s->named, word) && named_make_room(s)) {
    s->named->list[s->named->count++] = (lt_named_tool){tool, word};
  }
}

lt_status lt_named_tools_gather(lt_str source, const lt_tool *(*find)(void *arg, lt_str word), void *arg,
                                lt_named_tools *ret_named, lt_err *err) {
  *ret_named = (lt_named_tools){0};
  named_search search = {.find = find, .arg = arg, .named = ret_named};
  lt_jsscan_words(source, named_on_word, &search);
  if (search.has_failed) {
    lt_named_tools_release(ret_named);
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  return LT_OK;
}

void lt_named_tools_release(lt_named_tools *named) {
  lt_mem_free(named->list);
  *named = (lt_named_tools){0};
}
