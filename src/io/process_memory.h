/* What the processes that a child has started take of memory, all together. Reads /proc, and blocks the thread: call it
 * by lt_loop_offload. */
#ifndef LT_IO_PROCESS_MEMORY_H
#define LT_IO_PROCESS_MEMORY_H

#include <stdint.h>

/* Bytes of the process and of all its descendants: the sum of Pss (proc(5), smaps_rollup), so that pages that several
 * of them share count once. 0: it has ended, or may not be looked at. At most LT_PROC_TREE_MAX processes are looked
 * at. */
uint64_t lt_process_memory_of_tree(int pid);

#endif
