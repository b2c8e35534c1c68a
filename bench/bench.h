/* The questions that are measured, a file each; main.c asks them one after the other, each in a process of its own, so
 * that none finds the memory another one used, or ends the others. */
#ifndef LT_BENCH_BENCH_H
#define LT_BENCH_BENCH_H

void lt_bench_start(void);      /* a clean box, and 1+2 in it */
void lt_bench_calls(void);      /* from the program to the host and back */
void lt_bench_neighbours(void); /* a hundred calls on one processor, and beside others */
void lt_bench_burst(void);      /* a thousand programs at the same moment */
void lt_bench_suspended(void);  /* thousands of programs that wait */
void lt_bench_process(void);    /* whole processes, beside other languages' */
void lt_bench_python(void);     /* Python programs, warm and cold */
void lt_bench_deno(void);       /* TypeScript in Deno processes */
void lt_bench_types(void);      /* TypeScript: types taken off, declarations made */
void lt_bench_typecheck(void);  /* TypeScript: types checked */
void lt_bench_find(void);       /* a search of thousands of tools, and their listing */
void lt_bench_json(void);       /* a megabyte in and out */
void lt_bench_stop(void);       /* programs that do not want to end */
void lt_bench_compute(void);    /* the engine itself, beside other engines */
void lt_bench_intl(void);       /* programs with Intl */
void lt_bench_mcp(void);        /* an MCP server's answer */
void lt_bench_gateway(void);    /* lathe mcp, as a client sees it */
void lt_bench_library(void);    /* liblathe in a process of Python */
void lt_bench_serve(void);      /* lathe serve under load */
void lt_bench_model(void);      /* a completion, beyond the model */
void lt_bench_agent(void);      /* a round, a long conversation, a thousand of them */
void lt_bench_journal(void);    /* a call recorded */
void lt_bench_replay(void);     /* a program run again by its record */
void lt_bench_fiber(void);      /* the switch of stacks */

#endif
