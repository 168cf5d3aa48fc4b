/* vcode.h - the VCODE and FCODE languages: the program model, its parser and its printer.
 *
 * vcode_parse turns text into a `struct vcode_program`, exactly as written (stack code, every
 * instruction with its position), or reports its errors. vcode_print writes a program that
 * parses to an equal one. Nothing here knows how programs run.
 *
 * Definition: the VCODE language document, sections 2, 3, 11, 16 and 21.
 */
#ifndef RAVEL_VCODE_H
#define RAVEL_VCODE_H

#include "base/diag.h"
#include "base/intern.h"
#include "base/origin.h"
#include "tables/tables.h"

/* The widths of a run or of a file (section 21.1). */
struct widths {
  enum cvl_elem int_elem;   /* CVL_I32 or CVL_I64 */
  enum cvl_elem float_elem; /* CVL_F32 or CVL_F64 */
};

struct vcode_constant {
  enum type_word type; /* CHAR stays CHAR for printing; its value is an INT vector */
  bool vector;         /* written in parentheses (always for length != 1 but CHAR) */
  bool stream_name;    /* INT STDIN ... NULL_STREAM */
  uint64_t length;     /* elements; of SEGDES: segments; of CHAR: bytes */
  union {
    const int64_t *ints;  /* INT, SEGDES, stream names */
    const double *floats; /* FLOAT, as doubles */
    const uint8_t *bools; /* BOOL, 0 or 1 */
    const char *chars;    /* CHAR, bytes, may contain NUL */
  } as;
};

/* One instruction. IF, ELSE and ENDIF are instructions of the flat list, with links. */
struct vcode_instruction {
  uint16_t op;           /* enum opcode */
  uint8_t type;          /* enum type_word, TW_NONE without one */
  struct source_pos pos; /* of the opcode word */
  uint32_t origin;       /* number in program->origins, 0: none */
  union {
    struct {
      int64_t count, depth;
    } stack; /* COPY POP CPOP; >= 0, sum fits */
    struct {
      const struct name *name;
      uint32_t function;
    } call; /* function: its index */
    struct {
      uint32_t otherwise, end;
    } branch;                              /* IF: indices of its ELSE (or ENDIF) and
                                              of its ENDIF; ELSE: end only */
    const struct vcode_constant *constant; /* CONST */
    uint32_t fused;                        /* FUSED */
    struct {
      const char *text;
      uint32_t length;
    } text; /* ASSERT */
  } as;
};

/* The definition of a superoperator, from the word `fused` up to the next definition or
 * function: its text only, which fused-kernels/ parses. */
struct vcode_fused {
  const char *file;      /* that contains it: the program's, or that of the definitions */
  struct source_pos pos; /* of the word `fused` */
  const char *text;      /* begins with it; the arena's */
  size_t length;
};

/* In a mark: VCODE_EACH means as many elements or segments as there are instances, VCODE_SHARED
 * one value for all. */
#define VCODE_EACH   (UINT32_MAX - 1)
#define VCODE_SHARED UINT32_MAX

/* The number of no function: a lifted function has no procedure. */
#define VCODE_NO_PROCEDURE UINT32_MAX

/* The mark of a lifted function (docs/internals/memory.md), and its procedure (ir/ir.h). Each
 * parameter and each result is VCODE_EACH, or the number of the parameter (or result) whose
 * segments hold its elements. A parameter may also be VCODE_SHARED. Numbers are below the
 * counts; nothing else is checked. */
struct vcode_instances {
  struct source_pos pos; /* of the comment */
  uint32_t param_count, result_count;
  const uint32_t *params, *results; /* deepest first */
  const struct name *procedure;     /* the function that {% procedure NAME } names; or NULL */
  uint32_t procedure_function;      /* its index, or VCODE_NO_PROCEDURE */
};

/* The part that a function has in the rounds of a loop for many instances, by the comment
 * behind its name. ir/ir.h explains rounds. */
enum vcode_rounds {
  VCODE_NO_ROUNDS,
  VCODE_ROUNDS, /* {% rounds }: it calls rounds */
  VCODE_ROUND   /* {% round }: a call of it is one */
};

struct vcode_function {
  const struct name *name;
  struct source_pos pos;                   /* of the name */
  const struct vcode_instances *instances; /* NULL without a mark */
  uint8_t rounds;                          /* enum vcode_rounds */
  bool is_procedure;                       /* of some lifted function */
  bool has_signature;
  uint32_t in_count, out_count;
  const uint8_t *in, *out;        /* enum type_word each, deepest first */
  struct vcode_instruction *code; /* the last one is RET */
  uint32_t length;
};

struct vcode_program {
  const char *file; /* for messages */
  struct vcode_function *functions;
  uint32_t function_count;
  uint32_t entry; /* index of MAIN or 0 */
  struct origin_table origins;
  struct vcode_fused *fused; /* definitions in the order of the file */
  uint32_t fused_count;
  bool has_widths;      /* the file declares the widths it was optimised for */
  struct widths widths; /* those of the parse */
  bool exact_floats;    /* the file declares that FWRITE FLOAT writes all digits */
};

/* ---- the text of origins: {@ FILE:LINE:COLUMN FUNCTION|FILE:LINE:COLUMN|... } (section 21.7)
 *
 * First the source location, then the function if it is known, then behind a bar each the
 * locations of the calls it was inlined at, innermost first. In names, blanks and what would
 * end them are written as `_`. */

/* Parses the text after the @ of a comment. It adds the origin to the table, and the texts to
 * its arena. Returns 0 if the text has another form: then it is an ordinary comment. */
uint32_t vcode_read_origin(struct origin_table *, const char *text, size_t length);
/* Writes an origin, from `{` to `}`; returns the number of characters. */
unsigned vcode_print_origin(const struct origin_table *, uint32_t number, FILE *);

/* Reads the widths a file was optimised for. A comment {% widths INT 64 FLOAT 64 } before its
 * first definition and function declares them; without one the result is false. They are given
 * to vcode_parse, which reports an error if it has others. */
bool vcode_recorded_widths(const char *text, size_t length, struct widths *);

/* Parses text[0..length) (any bytes). All memory is the arena's, which must outlive the
 * program; `file` is borrowed. Integer literals must fit widths.int_elem. On any error NULL,
 * with at least the first one in diags (undefined functions with a suggestion, duplicate
 * names, unbalanced IF, every lexical and syntactic fault, each with line and column; parsing
 * continues after an error where that is safe, at most 20 are kept). Nesting and sizes are
 * limited by memory only. Without memory: NULL and a diagnostic. */
struct vcode_program *vcode_parse(struct arena *, const char *file, const char *text,
                                  size_t length, struct widths, struct diag_list *diags);

/* Adds the superoperator definitions of a file that holds nothing else (the `.sop` beside a
 * 2012-style `.fcode`) to a parsed program, after those it has. Returns false with an error in
 * diags, and leaves the program unchanged, if the file holds anything else, a comment is not
 * closed, or memory fails. `file` is borrowed, the text is copied. */
bool vcode_parse_definitions(struct arena *, struct vcode_program *, const char *file,
                             const char *text, size_t length, struct diag_list *diags);

/* Writes the program in canonical layout: its widths if it has any, the definitions, then one
 * instruction a line, indented by IF depth. An instruction without an origin that follows one
 * with an origin in its function inherits that one when the text is parsed. */
void vcode_print(const struct vcode_program *, FILE *);
/* Writes a FLOAT as a literal that parses to the same number: infinities as literals that
 * overflow, every NaN as `nan`. dst has NUMBER_TEXT_MAX bytes; returns the length. */
size_t vcode_format_real(char *dst, double x);
/* Reads the word text[0..n) as a literal of a FLOAT; returns false if it is none. */
bool vcode_read_real(const char *text, size_t n, double *out);

#endif
