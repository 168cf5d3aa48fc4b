/* flatten.h - from checked NESL to the let-form of flat vector operations (ir/).
 *
 * The compiler proper: it specialises functions to the ground types of their calls, chooses the
 * representation of values in each context, and lifts bodies over all instances at once.
 * private.h explains the representations.
 */
#ifndef RAVEL_NESLC_FLATTEN_H
#define RAVEL_NESLC_FLATTEN_H

#include "ir/ir.h"
#include "neslc/session.h"

struct flatten_options {
  struct arena *arena; /* of the program and of temporary data; lives as long as the program;
                          NULL: the session's */
  struct widths widths;
  bool unchecked;  /* omit the argument checks of section 7 */
  bool combine;    /* make superoperators of reductions, scans and scatters by functions of the
                      program, where these are elementwise */
  bool procedures; /* make the procedures of lifted functions (ir/ir.h) */
  FILE *explain;   /* says for each of them whether that was done, or why not; or NULL */
  /* Variables whose values the program takes as parameters, instead of as constants. */
  struct global *const *parameters;
  uint32_t parameter_count;
};

/* Whether the text of an ASSERT is that of the one that ends a program after error(s) has
 * printed. */
bool flatten_text_of_error(const char *text, size_t length);

/* A program whose entry function takes the columns of the parameters' values, in order, and
 * returns those of the expression's value (value.h). For a checked expression it fails only for
 * want of memory (the arena jumps); an unsupported form is an internal error, reported in
 * complaints. Every run-time check is an ASSERT whose text begins with the sentence of section
 * 7, and has an origin. */
struct ir_program *flatten_expression(struct session *, struct core *expression,
                                      const struct flatten_options *, struct complaints *);
/* Flattens a function: the entry takes the columns of an argument of this ground type. */
struct ir_program *flatten_function(struct session *, struct global *, struct type *argument,
                                    const struct flatten_options *, struct complaints *);

/* Replaces the operations that interpreters of the 1990s lack: a failed check prints its
 * sentence and exits, descriptors are computed from vectors. Modifies the program; new memory
 * is the arena's. False, with an error for each function of `file`, where conditionals are
 * nested deeper than those interpreters accept. */
bool flatten_portable(struct arena *, struct ir_program *, const char *file,
                      struct diag_list *);

/* Writes a flattened program for people: each operation with its line and column, preceded by
 * the source line where that changes. `sources`: those whose lines are shown. Without memory:
 * memory_failed. */
void flatten_show(const struct ir_program *, const struct source *const *sources, size_t count,
                  FILE *);

#endif
