/* library.h - NESL functions as a library of C functions (neslc --library): their types, and
 * the text of the files.
 *
 *   library-entry.c    a function: names, types, its program (library-make.h)
 *   library-types.c    a C type for each NESL type
 *   library-header.c   NAME.h
 *   library-source.c   NAME.c
 *   library-kernels.c  --kernels: NAME-cpu.c, NAME-cpu-F.c, NAME-cpu.so, NAME.cu
 *   neslc-library.c    from the command line to these files
 */
#ifndef RAVEL_COMMANDS_LIBRARY_H
#define RAVEL_COMMANDS_LIBRARY_H

#include "base/sha256.h"
#include "fused-kernels/emit.h"
#include "neslc/types/types.h"
#include "vcode/vcode.h"

#include <stdio.h>

/* ---- types ---- */

enum c_kind {
  C_SCALAR,
  C_VECTOR, /* of scalars */
  C_ROWS,   /* a sequence of sequences: lengths, and a part, the elements */
  C_STRUCT  /* a tuple or a datatype, with a part for each component; or a sequence of them,
               whose  parts are the sequences of the components */
};

struct c_type {
  uint8_t kind;     /* enum c_kind */
  uint8_t tag;      /* SCALAR, VECTOR: enum type_tag of the elements */
  bool memory;      /* it has pointers */
  bool given;       /* a result is of it */
  const char *name; /* without the library's: f64, vec_f64, pair_i64_vec_f64 ... */
  struct type *type;
  uint32_t part_count;
  struct c_type **parts;
  const char **members; /* of a record: their names, else NULL */
};

/* All types of a library; the parts of a type come before it. */
struct c_types {
  struct arena *arena;
  const char *library; /* its name, with which those of types begin */
  struct widths widths;
  ARRAY(struct c_type *) list;
};

/* Returns the C type of values of a ground type of data, in the arena, as all types here. May
 * end in memory_failed. */
struct c_type *c_type_of(struct c_types *, struct type *);
/* Returns the type as NESL writes it, with datatypes replaced by their contents: a context
 * need not know them. A tuple has no parentheses. */
const char *c_type_contents(struct arena *, struct type *);
/* Returns the name of a struct's member: c0, c1 ..., or that of a record's field. */
const char *c_member(struct arena *, const struct c_type *, uint32_t i);
/* Writes `double`, `struct NAME_vec_f64` ... */
void c_type_print(const struct c_types *, const struct c_type *, FILE *);
/* The C type of elements, and what ravel.h calls them; TYPE_SEQUENCE: of lengths. */
const char *c_scalar(const struct c_types *, enum type_tag);
const char *c_element(const struct c_types *, enum type_tag);

/* Calls visit for each column of a variable of a type, in the order of ravel.h: `data` and
 * `length` are expressions of C, like `x.c0.data`; of a scalar `data` is the variable, and
 * length NULL. tag: TYPE_SEQUENCE for lengths of rows. */
typedef void c_column(void *context, enum type_tag tag, const char *data, const char *length);
void c_columns(struct arena *, const struct c_type *, const char *variable, c_column *visit,
               void *context);

/* ---- a library ---- */

struct library_entry {
  const char *c_name, *name; /* C's without the library's; NESL's */
  const char *type;          /* NESL's, for the comment */
  const char *file;          /* where it is defined */
  uint32_t line;
  const char *takes, *gives; /* for ravel_program */
  uint32_t parameter_count;
  struct library_parameter {
    const char *name;
    const struct c_type *type;
  } * parameters;
  struct c_type *result;
  struct vcode_program *program;
  const char *text; /* of the program */
  size_t length;
  char digest[SHA256_DIGITS + 1];
  const uint32_t *layout; /* ir_program.entry_layout */
  const char *procedures; /* their text (procedures/procedures.h); library_procedures */
  size_t procedures_length;
  char procedures_prefix[FUSED_NAME_MAX];
};

struct library {
  struct arena *arena;       /* of all that it has */
  const char *name, *source; /* its NESL file, as it was named */
  struct c_types types;
  struct library_entry *entries;
  uint32_t entry_count;
  const struct superop **superops; /* of all programs; library_superops */
  uint32_t superop_count;
};

/* Writes NAME.h and NAME.c. Without memory: memory_failed. */
/* Returns whether the name means something in C, or in the functions that are written. */
bool library_name_is_taken(const char *name);
void library_header(const struct library *, FILE *);
void library_source(const struct library *, FILE *);
/* Writes the declarations of an entry's functions, without a semicolon: the call, and
 * NAME_function.
 */
void library_declare(const struct library *, const struct library_entry *, FILE *);
void library_declare_function(const struct library *, const struct library_entry *, FILE *);

#endif
