#include "base/nearest.h"

void lt_nearest_offer(lt_nearest *nearest, lt_str name) {
  if (nearest->limit == 0) {
    return; /* the very name was offered before */
  }
  unsigned distance = lt_str_distance(nearest->wanted, name, nearest->limit - 1);
  if (distance < nearest->limit) {
    nearest->limit = distance;
    nearest->name = name;
  }
}
