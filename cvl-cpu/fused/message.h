/* message.h - what the messages of failing nodes report. Private to this folder. */
#ifndef RAVEL_CPU_FUSED_MESSAGE_H
#define RAVEL_CPU_FUSED_MESSAGE_H

#include "cvl-cpu/fused/plan.h"

/* The INTs that the message of an ASSERT reports after it failed at a position. */
void fused_message(const struct cvl_kernel *, uint32_t assertion, uint64_t position,
                   struct cvl_error *);

#endif
