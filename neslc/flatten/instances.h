/* instances.h - bodies of apply-to-each that become lifted functions, and their marks. */
#ifndef RAVEL_NESLC_FLATTEN_INSTANCES_H
#define RAVEL_NESLC_FLATTEN_INSTANCES_H

#include "neslc/flatten/private.h"

/* The value of the body of an apply-to-each: of code here, or of a batch call. */
const struct rep *flatten_body(struct flattener *, struct context *, const struct core *each);
/* Notes the elements of a sequence for each instance, while a body is tried. */
void trial_holds(struct flattener *, const struct rep *elements);
/* Marks the function of a specialisation that is lifted: from the form of its argument, with
 * what it captured, and its physical result. */
void mark_specialisation(struct flattener *, const struct specialisation *,
                         const struct rep *argument, const struct rep *result);
/* Removes the marks of functions whose effects do not permit them, and links to procedures that
 * have any. */
void check_marks(struct flattener *, const struct ir_program *);

/* `callee` says what a function does. */
enum code_effect block_effect(const struct ir_block *,
                              enum code_effect (*callee)(const void *, uint32_t function),
                              const void *context);

/* The application of a callee that unfold_identity found. */
const struct rep *apply_callee(struct flattener *, struct context *, struct call *);

#endif
