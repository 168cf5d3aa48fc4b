/* library-kernels.h - compiles the superoperators and procedures of a library ahead of time. */
#ifndef RAVEL_COMMANDS_LIBRARY_KERNELS_H
#define RAVEL_COMMANDS_LIBRARY_KERNELS_H

#include "base/diag.h"
#include "commands/library.h"

/* Finds the superoperators of all programs. Returns false with diagnostics; may end in
 * memory_failed. */
bool library_superops(struct library *, struct diag_list *);
/* Prints the procedures of all programs, as who loads the library does. Those of an entry are
 * NULL if it has none, or the same as an earlier one. As library_superops. */
bool library_procedures(struct library *, struct diag_list *);
/* Returns the name of the file with the procedures of an entry, without the library's. */
const char *library_procedures_suffix(const struct library *, const struct library_entry *);
/* Writes NAME-cpu-F.c. */
void library_procedures_text(const struct library_entry *, FILE *);
/* Write NAME-cpu.c and NAME.cu. Without memory they end in memory_failed. */
void library_cpu_text(const struct library *, FILE *);
void library_cuda_text(const struct library *, FILE *);
/* Has the C compiler make NAME-cpu.so from these files in the folder, for processors of this
 * -march (empty: the compiler's own choice). Returns false with diagnostics. */
bool library_compile(const struct library *, const char *folder, const char *arch,
                     struct diag_list *);

#endif
