/* frame.h - one call that has not returned. */
#ifndef RAVEL_FRAME_H
#define RAVEL_FRAME_H

#include <stdint.h>

/* Frame 0 is the entry function's. */
struct frame {
  uint32_t caller; /* location of the CALL; frame 0: none */
  uint32_t tail;   /* location of the latest tail call, which replaced the function; or
                      NO_LOCATION */
  uint64_t tails;  /* number of tail calls that replaced the function. In a search of chunks,
                      in a function of a loop: the number of earlier rounds
                      (instances/chunk-path.c) */
  uint32_t function;
  uint64_t base; /* typed code: slot 0; stack code: number of items on the stack at the call,
                    unused */
};

#define NO_LOCATION UINT32_MAX

#endif
