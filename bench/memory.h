/* What processes use, as /proc tells it. */
#ifndef LT_BENCH_MEMORY_H
#define LT_BENCH_MEMORY_H

/* A line of the table: the sum of the fields of smaps_rollup that begin so ("Pss:", "Private"). */
void lt_memory_print(const char *what, long pid, const char *field);
/* The same sum in kibibytes; -1: it cannot be read. */
long lt_memory_kib(long pid, const char *field);
/* The first process that the process's first thread has started and that is still there; -1: none. */
long lt_memory_child(long pid);
/* Processor time that a process has used so far, all of its threads, in nanoseconds. */
double lt_memory_cpu(long pid);
/* How often its threads have given their processor up, which is how often they were woken. */
long lt_memory_switches(long pid);

#endif
