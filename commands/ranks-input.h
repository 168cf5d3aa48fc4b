/* ranks-input.h - standard input of a job: rank 0 has it, and the others get what it has read.
 *
 * Starters of MPI jobs give standard input to the first rank, an empty one to the others. So a
 * program that comes from there would be empty for them: they would end before MPI begins, for
 * which the first would wait for ever.
 */
#ifndef RAVEL_RANKS_INPUT_H
#define RAVEL_RANKS_INPUT_H

#include "commands/process.h"

/* For process_share_input: all ranks get what rank 0 has, by the back end of --backend. */
process_share ranks_broadcast;

#endif
