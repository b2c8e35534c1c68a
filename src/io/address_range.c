#include "io/address_range.h"

#include <arpa/inet.h>
#include <string.h>

enum { ALL_BITS = 128, V4_BITS = 32 };

/* Returns how many bits the text's own notation has; 0: it is no address. */
static unsigned address_read(lt_str text, unsigned char bytes[16]) {
  char copy[INET6_ADDRSTRLEN];
  if (text.n == 0 || text.n >= sizeof copy || memchr(text.p, '\0', text.n) != NULL) {
    return 0;
  }
  memcpy(copy, text.p, text.n);
  copy[text.n] = '\0';
  memset(bytes, 0, 10);
  memset(bytes + 10, 0xff, 2);
  if (inet_pton(AF_INET, copy, bytes + 12) == 1) {
    return V4_BITS;
  }
  return inet_pton(AF_INET6, copy, bytes) == 1 ? ALL_BITS : 0;
}

static bool address_read_bits(lt_str text, unsigned most, unsigned *ret_bits) {
  unsigned bits = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9' || i == 3) {
      return false;
    }
    bits = bits * 10 + (unsigned)(text.p[i] - '0');
  }
  *ret_bits = bits;
  return text.n > 0 && bits <= most;
}

static bool address_bit(const unsigned char bytes[16], unsigned i) {
  return (bytes[i / 8] >> (7 - i % 8) & 1) != 0;
}

bool lt_address_range_read(lt_str text, lt_address_range *ret) {
  *ret = (lt_address_range){.is_unix = lt_str_eqc(text, "unix")};
  size_t slash = lt_str_find(text, LT_STR("/"), 0);
  unsigned most = address_read(lt_str_sub(text, 0, slash), ret->bytes), bits = most;
  if (ret->is_unix) {
    return true;
  }
  if (most == 0 || (slash != SIZE_MAX && !address_read_bits(lt_str_sub(text, slash + 1, text.n), most, &bits))) {
    return false;
  }
  ret->bits = ALL_BITS - most + bits;
  for (unsigned i = ret->bits; i < ALL_BITS; i++) {
    if (address_bit(ret->bytes, i)) {
      return false;
    }
  }
  return true;
}

bool lt_address_range_has(const lt_address_range *range, lt_str address) {
  unsigned char bytes[16];
  if (range->is_unix || lt_str_eqc(address, "unix")) {
    return range->is_unix && lt_str_eqc(address, "unix");
  }
  if (address_read(address, bytes) == 0) {
    return false;
  }
  for (unsigned i = 0; i < range->bits; i++) {
    if (address_bit(bytes, i) != address_bit(range->bytes, i)) {
      return false;
    }
  }
  return true;
}

bool lt_address_is_local(lt_str address) {
  static const char *const ranges[] = {"unix", "127.0.0.0/8", "::1"};
  bool is_local = false;
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    lt_address_range range;
    is_local =
        is_local || (lt_address_range_read(lt_str_of(ranges[i]), &range) && lt_address_range_has(&range, address));
  }
  return is_local;
}

static bool address_is_v4(const unsigned char bytes[16]) {
  static const unsigned char before[12] = {[10] = 0xff, [11] = 0xff};
  return memcmp(bytes, before, sizeof before) == 0;
}

lt_str lt_address_network(lt_str address, char room[LT_ADDRESS_BYTES]) {
  unsigned char bytes[16];
  if (address_read(address, bytes) != ALL_BITS) {
    return address;
  }
  if (address_is_v4(bytes)) { /* each is somebody else; they are one network of 64 bits */
    return inet_ntop(AF_INET, bytes + 12, room, LT_ADDRESS_BYTES) != NULL ? lt_str_of(room) : address;
  }
  memset(bytes + 8, 0, 8);
  return inet_ntop(AF_INET6, bytes, room, LT_ADDRESS_BYTES) != NULL ? lt_str_of(room) : address;
}

lt_str lt_address_without_port(lt_str text) {
  unsigned char bytes[16];
  text = lt_str_trim(text);
  if (lt_str_starts(text, LT_STR("["))) {
    text = lt_str_sub(text, 1, lt_str_find(text, LT_STR("]"), 0));
  } else if (address_read(text, bytes) != ALL_BITS) {
    text = lt_str_sub(text, 0, lt_str_find(text, LT_STR(":"), 0));
  }
  return address_read(text, bytes) != 0 ? text : LT_STR_NULL;
}
