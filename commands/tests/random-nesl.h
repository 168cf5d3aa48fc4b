/* random-nesl.h - random well-typed NESL programs, and smaller ones with the same property.
 *
 * A program is a list of forms whose last is an expression; every form is a tree, so that
 * subtrees can be removed. Programs end: recursion counts down or runs out of elements. They do
 * not depend on time or on random numbers.
 */
#ifndef RAVEL_RANDOM_NESL_H
#define RAVEL_RANDOM_NESL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct random_program;

/* The program of a seed and a number; the arena's. At most one expression in a program may
 * fail, so that only one error is possible. */
struct random_program *random_program(struct arena *, uint64_t seed, uint64_t number);
/* Its text, to be freed; NULL without memory. */
char *random_program_text(const struct random_program *);

/* Replaces subtrees by smaller ones as long as `wanted` holds for the text of the program;
 * calls it at most `most` times. */
typedef bool random_wanted(void *context, const char *text);
void random_program_shrink(struct random_program *, unsigned most, random_wanted *,
                           void *context);

#endif
