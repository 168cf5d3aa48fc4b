/* cvl-cpu.h - the multicore back end, as other rooms see it. */
#ifndef RAVEL_CVL_CPU_H
#define RAVEL_CVL_CPU_H

#include "cvl/call.h"

/* Runs on every core of the machine, and answers every question at once: no size is ever
 * deferred. Its contexts are independent of each other. */
extern const struct cvl_backend cvl_cpu_backend;

#endif
