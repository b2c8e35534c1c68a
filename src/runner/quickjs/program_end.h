/* Describes how a run ended: the place in the written program, and what to do about it. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_END_H
#define LT_RUNNER_QUICKJS_PROGRAM_END_H

typedef struct lt_run lt_run;

/* Fills the result from the engine's result. */
void lt_program_end_judge(lt_run *run);
/* The same for TypeScript whose types could not be removed. */
void lt_program_end_judge_syntax(lt_run *run);

#endif
