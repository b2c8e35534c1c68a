/* The host functions. Each has a one-letter name. Only the prelude calls them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/sha256.h"
#include "sandbox/guest.h"
#include "sandbox/guest_input.h"

const lt_guest_function lt_guest_functions[] = {
    {"call", 'c'},    {"start", 's'}, {"invoke", 'f'}, {"timer", 't'},  {"wait", 'w'},     {"output", 'o'},
    {"log", 'l'},     {"done", 'd'},  {"store", 'S'},  {"recall", 'R'}, {"discover", 'D'}, {"schema", 'T'},
    {"resolve", 'r'}, {"peek", 'p'},  {"drop", 'x'},   {"random", 'b'}, {"weak", 'W'},     {"exit", 'e'},
};
const unsigned lt_guest_function_count = sizeof lt_guest_functions / sizeof lt_guest_functions[0];

static uint32_t guest_functions_number_of(lt_js value) {
  return LT_JS_TAG(value) == LT_TAG_INT ? (uint32_t)value : 0;
}

/* Numbers that are not small integers are NaN-boxed doubles (quickjs.h, JS_FLOAT64_TAG_ADDEND). */
static double guest_functions_double_of(lt_js value) {
  if (LT_JS_TAG(value) == LT_TAG_INT) {
    return (double)(int32_t)(uint32_t)value;
  }
  uint64_t bits = value + ((0x7ff80000ULL + 9 + 1) << 32);
  double number;
  memcpy(&number, &bits, sizeof number);
  return isfinite(number) ? number : 0;
}

/* The prelude passes numbers that fit; a corrupt guest may pass others. */
static uint64_t guest_functions_milliseconds_of(lt_js value) {
  double ms = guest_functions_double_of(value);
  return ms > 0 && ms < LT_RUN_TIMER_MAX_MS ? (uint64_t)ms : ms > 0 ? LT_RUN_TIMER_MAX_MS : 0;
}

static lt_log_level guest_functions_level_of(lt_js value) {
  uint32_t level = guest_functions_number_of(value);
  return level <= LT_LOG_YIELD ? (lt_log_level)level : LT_LOG_LOG;
}

static lt_js guest_functions_fail_with(lt_guest *guest, lt_str message) {
  lt_guest_throw_text(guest, message);
  return LT_JS_EXCEPTION;
}

/* Whether the program may continue after a suspension. A stopped box unwinds when its handler returns. */
static bool guest_functions_may_go_on(lt_guest *guest) LT_YIELDS {
  if (guest->host->poll != NULL && guest->host->poll(guest->host->arg)) {
    lt_box_stop(guest->box);
  }
  return lt_guest_alive(guest);
}

/* The JSON was checked before. If it cannot be read here, it is too large for the guest. */
static lt_js guest_functions_does_not_fit(lt_guest *guest, size_t bytes) {
  char text[160];
  lt_guest_exception(guest);
  int n = snprintf(text, sizeof text,
                   "the answer (%zu bytes) does not fit into the program's memory: ask for less, or allow more "
                   "(--memory, sandbox.memoryMb)",
                   bytes);
  return guest_functions_fail_with(guest, lt_str_from(text, (size_t)n));
}

lt_js lt_guest_answer(lt_guest *guest, const lt_outcome *outcome) {
  if (!outcome->ok) {
    return guest_functions_fail_with(guest, outcome->text);
  }
  if (outcome->text.n == 0) {
    return LT_JS_UNDEFINED;
  }
  lt_js value = lt_guest_parse(guest, outcome->text);
  return lt_js_is_exception(value) && lt_guest_alive(guest) ? guest_functions_does_not_fit(guest, outcome->text.n)
                                                            : value;
}

static bool guest_functions_begin(lt_guest *guest, lt_str tool, lt_str input, bool is_object, lt_outcome *outcome) {
  if (input.n > LT_JSON_MAX_BYTES) {
    *outcome = (lt_outcome){.text = LT_STR("too large: a tool's input may have 64 MiB of JSON")};
    return false;
  }
  return guest->host->start(guest->host->arg, tool, input, is_object, outcome);
}

static lt_js guest_functions_do_invoke(lt_guest *guest, uint32_t index, lt_str args) {
  lt_outcome outcome = {.text = LT_STR("no such host function")};
  if (guest->host->function == NULL || !guest->host->function(guest->host->arg, index, args, &outcome)) {
    return guest_functions_fail_with(guest, outcome.text);
  }
  return LT_JS_MK(LT_TAG_INT, outcome.id);
}

static lt_js guest_functions_do_wait(lt_guest *guest, uint32_t id) LT_YIELDS {
  lt_outcome outcome = {0};
  bool found = guest->host->wait(guest->host->arg, id, &outcome);
  if (!guest_functions_may_go_on(guest)) {
    return LT_JS_EXCEPTION;
  }
  return found ? lt_guest_answer(guest, &outcome) : guest_functions_fail_with(guest, LT_STR("nothing to wait for"));
}

typedef enum call_begun { CALL_BEGUN, CALL_REFUSED, CALL_THREW } call_begun;

/* Begins the call of a tool, whose number is then in `outcome`. Its input is any value, as JSON. Nothing is held where
 * the program may wait, here or afterwards: a program at rest that is stopped never returns. */
static call_begun guest_functions_open(lt_guest *guest, const lt_js *argv, lt_guest_held *held,
                                       lt_outcome *outcome) LT_YIELDS {
  LT_AUTO_BUF(flat, LT_JSON_MAX_BYTES);
  lt_js texts[] = {argv[0], LT_JS_UNDEFINED};
  bool is_flat = lt_guest_flat_input(guest, argv[1], &flat);
  if (!is_flat) {
    lt_buf_release(&flat);
    texts[1] = lt_js_is_undefined(argv[1]) ? argv[1] : lt_guest_stringify(guest, argv[1]);
  }
  bool has_text = !lt_js_is_undefined(texts[1]);
  if (lt_js_is_exception(texts[1]) || !lt_guest_texts(guest, texts, has_text ? 2 : 1, held)) {
    return CALL_THREW;
  }
  lt_str input = is_flat ? lt_buf_view(&flat) : has_text ? held->text[1] : LT_STR_NULL;
  bool is_object = is_flat && lt_str_is_ascii(input); /* which is UTF-8 for certain */
  bool is_begun = guest_functions_begin(guest, held->text[0], input, is_object, outcome);
  lt_guest_drop(guest, held);
  if (has_text) {
    lt_guest_free_value(guest, texts[1]); /* a program may make many calls */
  }
  return is_begun ? CALL_BEGUN : CALL_REFUSED;
}

/* `waits`: the value is the call's outcome, else its number. */
static lt_js guest_functions_do_call(lt_guest *guest, const lt_js *argv, bool waits, lt_guest_held *held) LT_YIELDS {
  lt_outcome outcome = {0};
  switch (guest_functions_open(guest, argv, held, &outcome)) {
    case CALL_BEGUN:
      return waits ? guest_functions_do_wait(guest, outcome.id) : LT_JS_MK(LT_TAG_INT, outcome.id);
    case CALL_REFUSED:
      return !waits || guest_functions_may_go_on(guest) ? guest_functions_fail_with(guest, outcome.text)
                                                        : LT_JS_EXCEPTION;
    case CALL_THREW:
      break;
  }
  return LT_JS_EXCEPTION;
}

static lt_js guest_functions_do_store(lt_guest *guest, lt_str key, lt_str json) {
  lt_outcome outcome = {0};
  if (!guest->host->store(guest->host->arg, key, json, &outcome)) {
    return guest_functions_fail_with(guest, outcome.text);
  }
  return LT_JS_UNDEFINED;
}

static lt_js guest_functions_do_recall(lt_guest *guest, lt_str key) {
  lt_str json = guest->host->recall(guest->host->arg, key);
  return json.n == 0 ? LT_JS_UNDEFINED : lt_guest_parse(guest, json);
}

/* done("the answer") puts the text out, as a program that says so means it: it would be lost otherwise. */
static lt_js guest_functions_do_done(lt_guest *guest, lt_js answer, lt_guest_held *held) LT_YIELDS {
  if (lt_js_is_string(answer)) {
    if (!lt_guest_texts(guest, &answer, 1, held)) {
      return LT_JS_EXCEPTION;
    }
    if (held->text[0].n > 0) {
      guest->host->output(guest->host->arg, held->text[0]);
    }
  }
  guest->host->done(guest->host->arg);
  return LT_JS_UNDEFINED;
}

static lt_js guest_functions_do_resolve(lt_guest *guest, lt_str name) {
  lt_outcome outcome = {0};
  if (!guest->host->resolve(guest->host->arg, name, &outcome)) {
    return guest_functions_fail_with(guest, outcome.text);
  }
  return lt_guest_string(guest, outcome.text);
}

static lt_js guest_functions_do_timer(lt_guest *guest, uint64_t ms) {
  uint32_t id = guest->host->timer(guest->host->arg, ms);
  return id != 0 ? LT_JS_MK(LT_TAG_INT, id) : guest_functions_fail_with(guest, LT_STR("too many timers at once"));
}

static lt_js guest_functions_do_drop(lt_guest *guest, uint32_t id) {
  if (guest->host->drop != NULL) {
    guest->host->drop(guest->host->arg, id);
  }
  return LT_JS_UNDEFINED;
}

/* Hexadecimal digits of random bytes. A recorded program gets the same bytes in a run again: they follow from its seed,
 * and bytes that it shows tell nobody the seed. */
static lt_js guest_functions_do_random(lt_guest *guest, uint32_t bytes) {
  char block[LT_SHA256_HEX_CHARS + 1];
  size_t wanted = 2 * (size_t)(bytes < LT_RANDOM_MAX_BYTES ? bytes : LT_RANDOM_MAX_BYTES);
  LT_AUTO_BUF(hex, 2 * LT_RANDOM_MAX_BYTES + sizeof block);
  while (hex.n < wanted && hex.status == LT_OK) {
    if (guest->seed != 0) {
      uint64_t place[2] = {guest->seed, ++guest->random_blocks};
      lt_sha256_hex next = lt_sha256(lt_str_from(place, sizeof place));
      memcpy(block, next.text, sizeof block);
    } else if (!lt_random_hex(block, LT_SHA256_HEX_CHARS)) {
      return guest_functions_fail_with(guest, LT_STR("the system has no random bytes"));
    }
    lt_buf_addc(&hex, block);
  }
  return lt_guest_string(guest, lt_str_sub(lt_buf_view(&hex), 0, wanted));
}

/* The [state, value] of a promise, for display. */
static lt_js guest_functions_do_peek(lt_guest *guest, lt_js promise) {
  int state = lt_guest_promise_state(guest, promise);
  if (state < 0) {
    return LT_JS_UNDEFINED;
  }
  lt_js pair = lt_guest_parse(guest, state == 0 ? LT_STR("[0]") : state == 1 ? LT_STR("[1,null]") : LT_STR("[2,null]"));
  if (state > 0 && !lt_js_is_exception(pair)) {
    lt_guest_set_item(guest, pair, 1, lt_guest_promise_result(guest, promise));
  }
  return pair;
}

/* Functions of one or two texts. `l` and `f` have a number before their text. */
static lt_js guest_functions_with_text(lt_guest *guest, char letter, const lt_js *argv, lt_guest_held *held) LT_YIELDS {
  const lt_guest_host *host = guest->host;
  unsigned skip = letter == 'l' || letter == 'f' ? 1 : 0;
  if (!lt_guest_texts(guest, argv + skip, letter == 'S' ? 2 : 1, held)) {
    return LT_JS_EXCEPTION;
  }
  lt_str first = held->text[0];
  lt_outcome outcome;
  switch (letter) {
    case 'f':
      return guest_functions_do_invoke(guest, guest_functions_number_of(argv[0]), first);
    case 'o':
      host->output(host->arg, first);
      return LT_JS_UNDEFINED;
    case 'l':
      host->log(host->arg, guest_functions_level_of(argv[0]), first);
      return LT_JS_UNDEFINED;
    case 'S':
      return guest_functions_do_store(guest, first, held->text[1]);
    case 'R':
      return guest_functions_do_recall(guest, first);
    case 'D':
      outcome = host->discover(host->arg, first);
      return lt_guest_answer(guest, &outcome);
    case 'T':
      outcome = host->schema(host->arg, first);
      return lt_guest_answer(guest, &outcome);
    case 'r':
      return guest_functions_do_resolve(guest, first);
    default:
      return guest_functions_fail_with(guest, LT_STR("no such host function"));
  }
}

/* The program ends here. What it still runs (its exception ends one function, not those that had called an asynchronous
 * one) reaches nobody. */
static lt_js guest_functions_do_exit(lt_guest *guest) {
  guest->has_exited = true;
  lt_guest_throw_uncatchable(guest);
  return LT_JS_EXCEPTION;
}

lt_js lt_guest_host_call(lt_guest *guest, char letter, const lt_js *argv, lt_guest_held *held) {
  if (guest->host == NULL) {
    return guest_functions_fail_with(guest, LT_STR("there is no host"));
  }
  if (letter == 'e' || guest->has_exited) {
    return guest_functions_do_exit(guest);
  }
  if (letter == 'd') {
    return guest_functions_do_done(guest, argv[0], held);
  }
  if (letter == 'W') {
    guest->has_weak_timers = true;
    return LT_JS_UNDEFINED;
  }
  switch (letter) {
    case 'c':
    case 's':
      return guest_functions_do_call(guest, argv, letter == 'c', held);
    case 't':
      return guest_functions_do_timer(guest, guest_functions_milliseconds_of(argv[0]));
    case 'x':
      return guest_functions_do_drop(guest, guest_functions_number_of(argv[0]));
    case 'w':
      return guest_functions_do_wait(guest, guest_functions_number_of(argv[0]));
    case 'p':
      return guest_functions_do_peek(guest, argv[0]);
    case 'b':
      return guest_functions_do_random(guest, guest_functions_number_of(argv[0]));
    default:
      return guest_functions_with_text(guest, letter, argv, held);
  }
}
