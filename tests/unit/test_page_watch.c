/* A watch over pages says the same as a look at them, whoever wrote to them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "sandbox/image.h"
#include "sandbox/page_map.h"

enum { PAGES = 8 };

typedef struct pages {
  int map;
  char *at; /* copies of nothing so far */
  lt_page_watch watch;
} pages;

static void open_pages(pages *p) {
  *p = (pages){.map = lt_page_map_open()};
  p->at = mmap(NULL, PAGES * LT_IMAGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  LT_CHECK(p->at != MAP_FAILED);
  (void)madvise(p->at, PAGES * LT_IMAGE_PAGE, MADV_NOHUGEPAGE);
}

static void close_pages(pages *p) {
  munmap(p->at, PAGES * LT_IMAGE_PAGE);
  if (p->map >= 0) {
    close(p->map);
  }
}

static void write_to(pages *p, unsigned page) {
  *(volatile char *)(p->at + page * LT_IMAGE_PAGE) = 1;
}

/* The pages as bits. Without a map every page counts. */
static unsigned look(pages *p) {
  uint16_t owned[LT_PAGE_MAP_PAGES];
  unsigned found = 0;
  size_t n = lt_page_watch_look(&p->watch, p->map, p->at, PAGES, owned);
  for (size_t i = 0; i < n; i++) {
    found |= 1u << owned[i];
  }
  return found;
}

static void expect(pages *p, unsigned bits) {
  assert_int_equal(look(p), p->map >= 0 ? bits : (1u << PAGES) - 1);
}

static void pages_of_this_thread_are_found(void **state) {
  pages p;
  (void)state;
  open_pages(&p);
  lt_page_watch_enter(&p.watch);
  expect(&p, 0);
  write_to(&p, 3);
  expect(&p, 1u << 3);
  expect(&p, 1u << 3);
  write_to(&p, 3); /* which no fault tells, nor has to */
  write_to(&p, 5);
  expect(&p, 1u << 3 | 1u << 5);
  close_pages(&p);
}

static void it_is_left_and_entered_again(void **state) {
  pages p;
  (void)state;
  open_pages(&p);
  lt_page_watch_enter(&p.watch);
  write_to(&p, 1);
  expect(&p, 1u << 1);
  lt_page_watch_leave(&p.watch);
  lt_page_watch_enter(&p.watch);
  expect(&p, 1u << 1);
  write_to(&p, 2);
  expect(&p, 1u << 1 | 1u << 2);
  close_pages(&p);
}

typedef struct other {
  pages *p;
  unsigned page;
  bool enters;
} other;

static void *on_other_thread(void *arg) {
  other *o = arg;
  if (o->enters) {
    lt_page_watch_enter(&o->p->watch);
  }
  write_to(o->p, o->page);
  return NULL;
}

static void write_elsewhere(pages *p, unsigned page, bool enters) {
  other o = {.p = p, .page = page, .enters = enters};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, on_other_thread, &o), 0);
  pthread_join(thread, NULL);
}

/* They take turns in one program. */
static void pages_of_other_threads_are_found(void **state) {
  pages p;
  (void)state;
  open_pages(&p);
  lt_page_watch_enter(&p.watch);
  expect(&p, 0);
  write_elsewhere(&p, 4, true);
  expect(&p, 1u << 4); /* this thread did not enter again */
  lt_page_watch_enter(&p.watch);
  expect(&p, 1u << 4);
  close_pages(&p);
}

static void nothing_is_believed_of_pages_that_nobody_entered(void **state) {
  pages p;
  (void)state;
  open_pages(&p);
  lt_page_watch_enter(&p.watch);
  expect(&p, 0);
  lt_page_watch_leave(&p.watch);
  write_elsewhere(&p, 6, false);
  expect(&p, 1u << 6);
  write_elsewhere(&p, 7, false);
  expect(&p, 1u << 6 | 1u << 7);
  close_pages(&p);
}

/* Pages that are not watched, each with a fault. */
static void touch_new_pages(void) {
  pages others;
  open_pages(&others);
  for (unsigned i = 0; i < PAGES; i++) {
    write_to(&others, i);
  }
  close_pages(&others);
}

static uint64_t faults_of_this_thread(void) {
  struct rusage usage;
  LT_CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
  return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static void faults_in_a_pause_do_not_count(void **state) {
  pages p;
  (void)state;
  open_pages(&p);
  lt_page_watch_enter(&p.watch);
  write_to(&p, 3);
  lt_page_watch_pause(&p.watch);
  touch_new_pages();
  lt_page_watch_go_on(&p.watch);
  expect(&p, 1u << 3); /* a fault from before it does */
  (void)look(&p);
  lt_page_watch_pause(&p.watch);
  touch_new_pages();
  lt_page_watch_go_on(&p.watch);
  assert_int_equal(p.watch.faults, faults_of_this_thread()); /* so what was found is still believed */
  expect(&p, 1u << 3);
  close_pages(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages_of_this_thread_are_found),
      cmocka_unit_test(it_is_left_and_entered_again),
      cmocka_unit_test(pages_of_other_threads_are_found),
      cmocka_unit_test(nothing_is_believed_of_pages_that_nobody_entered),
      cmocka_unit_test(faults_in_a_pause_do_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
