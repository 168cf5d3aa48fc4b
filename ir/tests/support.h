/* support.h - programs from text, for the tests of this room. */
#ifndef RAVEL_IR_TESTS_SUPPORT_H
#define RAVEL_IR_TESTS_SUPPORT_H

#include "ir/ir.h"
#include <criterion/criterion.h>

/* A program under test with everything it needs; all of it is freed by fixture_free. */
struct fixture {
  struct heap heap;
  struct arena arena, messages;
  struct diag_list diags;
  struct vcode_program *vcode;
  struct ir_program *ir; /* NULL: rejected */
};

/* Parses (which must succeed) and builds, with classic widths. A built program is verified. */
void fixture_build(struct fixture *, const char *text);
void fixture_free(struct fixture *);
/* Builds the text, then the same as: */
const struct ir_program *build_round_trip(struct fixture *, const char *text);
/* The text form of the built program read back, which is the same program; has the same text.
 */
const struct ir_program *expect_round_trip(struct fixture *);
/* The function called `name`. */
const struct ir_function *function_named(const struct fixture *, const char *name);
/* "INT BOOL -> ?0 (INT,FLOAT)", or "untyped: REASON", or "INT -> never". */
const char *signature(struct fixture *, const char *name);
/* The text form, in the fixture's arena. */
const char *printed(struct fixture *, const struct ir_program *);
/* The whole file in memory from malloc, NULL if it is not to be read. */
char *read_file(const char *path, size_t *length);

#endif
