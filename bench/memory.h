/* The memory of processes, as /proc tells it. */
#ifndef LT_BENCH_MEMORY_H
#define LT_BENCH_MEMORY_H

/* A line of the table: the sum of the fields of smaps_rollup that begin so ("Pss:", "Private"). */
void lt_memory_print(const char *what, long pid, const char *field);
/* The first process that the process's first thread has started and that is still there; -1: none. */
long lt_memory_child(long pid);

#endif
