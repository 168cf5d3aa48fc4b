/* cvl-cpu.h - the multicore back end: all there is to see of it from outside. */
#ifndef RAVEL_CVL_CPU_H
#define RAVEL_CVL_CPU_H

#include "cvl/call.h"

/* Runs on every core of the machine; answers every question at once (nothing is ever
 * pending). Its contexts are independent of each other. */
extern const struct cvl_backend cvl_cpu_backend;

#endif
