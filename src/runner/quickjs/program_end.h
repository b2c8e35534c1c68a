/* How a run ended, in words: where in what was written, and what to do about it. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_END_H
#define LT_RUNNER_QUICKJS_PROGRAM_END_H

typedef struct lt_run lt_run;

/* Fills the result from how the engine ended. */
void lt_program_end_judge(lt_run *run);
/* The same for TypeScript whose types could not be taken off. */
void lt_program_end_judge_syntax(lt_run *run);

#endif
