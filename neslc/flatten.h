/* flatten.h - from checked NESL to the let-form of flat vector operations (ir/).
 *
 * The compiler proper: specialises functions to the ground types they are called at, decides
 * how values are represented in each context, lifts bodies over all instances at once.
 * README.md tells how; flatten-private.h holds the structures.
 */
#ifndef RAVEL_NESLC_FLATTEN_H
#define RAVEL_NESLC_FLATTEN_H

#include "ir/ir.h"
#include "neslc/session.h"

struct flatten_options {
  struct arena *arena; /* of the program and all that is needed on the way, which lives until
                          the program is not needed any more; NULL: the session's */
  struct widths widths;
  bool unchecked; /* leave the argument checks of section 7 out */
  /* Variables whose values are no constants of the program. */
  struct global *const *parameters;
  uint32_t parameter_count;
};

/* The text of the ASSERT that ends a program after error(s) has printed. */
extern const char flatten_error_text[];

/* A program whose entry function takes the columns of the parameters' values, in order, and
 * leaves those of the expression's value (value.h). Never fails for a checked expression but by
 * memory (the arena jumps): what is not supported would be an internal error, reported in
 * complaints. Every run-time check is an ASSERT whose text begins with the sentence of section
 * 7, and has an origin. */
struct ir_program *flatten_expression(struct session *, struct core *expression,
                                      const struct flatten_options *, struct complaints *);
/* Likewise for a function: the entry takes the columns of an argument of this ground type. */
struct ir_program *flatten_function(struct session *, struct global *, struct type *argument,
                                    const struct flatten_options *, struct complaints *);

/* Replaces what the interpreters of the 1990s do not know: a failed check prints its sentence
 * and leaves the program, descriptors are made of vectors. In place; new memory is the arena's.
 * False with an error for each function of `file` whose conditionals are nested deeper than
 * they take. */
bool flatten_portable(struct arena *, struct ir_program *, const char *file,
                      struct diag_list *);

/* Writes a flattened program for people: each operation with the line and column it comes from,
 * each line of the source where it begins to matter. `sources`: those whose lines are shown. */
void flatten_show(const struct ir_program *, const struct source *const *sources, size_t count,
                  FILE *);

#endif
