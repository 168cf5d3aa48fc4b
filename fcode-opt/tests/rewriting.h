/* rewriting.h - a program from the text of its let-form, under one pass, for the tests of size
 * analysis and fusion.
 */
#ifndef RAVEL_FCODE_OPT_TESTS_REWRITING_H
#define RAVEL_FCODE_OPT_TESTS_REWRITING_H

#include "fcode-opt/passes.h"
#include <criterion/criterion.h>

/* All of it is freed by rewriting_free. */
struct rewriting {
  struct heap heap;
  struct arena arena, scratch;
  struct diag_list diags;
  struct fcode_opt_options options;
  struct fcode_opt_stats stats;
  struct opt o;
};

/* Parses `functions`, written as in programs.h, with INT and FLOAT of 64 bits and the entry
 * M; fails the test if they are not let-form. */
void rewriting_begin(struct rewriting *, const char *functions);
/* M's body after a pass, in at most size bytes; whether the pass changed anything. */
bool rewriting_pass(const char *functions, bool (*pass)(struct opt *), char *body, size_t size);
/* Fails the test unless the words stand in the body so many times. */
void rewriting_has(const char *body, const char *words, unsigned times);
/* All functions after a pass, numbered anew and verified, without positions; and a failure of
 * the test if they are not these. */
const char *rewriting_listing(struct rewriting *, const char *functions,
                              bool (*pass)(struct opt *));
void rewriting_expect(bool (*pass)(struct opt *), const char *functions, const char *expected);
void rewriting_free(struct rewriting *);
/* Liveness, and the verifier: fails the test if a rule is broken. */
void rewriting_verify(struct rewriting *);
/* The index of a function, and the binding in it whose first result is v. */
uint32_t function_called(const struct rewriting *, const char *name);
const struct ir_binding *binding_of(const struct rewriting *, const char *function, ir_var v);

#endif
