/* library-kernels.h - compiles the superoperators of a library ahead of time. */
#ifndef RAVEL_COMMANDS_LIBRARY_KERNELS_H
#define RAVEL_COMMANDS_LIBRARY_KERNELS_H

#include "base/diag.h"
#include "commands/library.h"

/* Finds the superoperators of all programs. Returns false with diagnostics; may end in
 * memory_failed. */
bool library_superops(struct library *, struct diag_list *);
/* Write NAME-cpu.c and NAME.cu. Without memory they end in memory_failed. */
void library_cpu_text(const struct library *, FILE *);
void library_cuda_text(const struct library *, FILE *);
/* Has `cc` make NAME-cpu.so from NAME-cpu.c in the folder, for processors of this -march
 * (empty: the compiler's own choice). Returns false with diagnostics. */
bool library_compile(const struct library *, const char *folder, const char *arch,
                     struct diag_list *);

#endif
