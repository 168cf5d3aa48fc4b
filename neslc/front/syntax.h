/* syntax.h - NESL as written: the tree the parser makes. (NESL specification, sections 2, 3.)
 *
 * Operators are applications: `a + b` is APPLY(NAME "+", PAIR(a, b)), `#e` APPLY(NAME "length",
 * e), `a[i]` APPLY(NAME "elt", PAIR(a, i)), `-e` of "negate", `@e` of "string", `[s:e:d]` of
 * "iseq" to (s, d, e), d = 1 if it was left out. Such names say `builtin`: they mean the
 * library's function whatever variables are in scope, and `written` how they were spelled.
 * Names are folded to lower case. A tuple is right-nested PAIRs. Patterns are expressions until
 * the checker looks at them.
 */
#ifndef RAVEL_NESLC_SYNTAX_H
#define RAVEL_NESLC_SYNTAX_H

#include "base/intern.h"
#include "neslc/front/source.h"
#include "vcode/vcode.h"

enum syntax_kind {
  SYNTAX_INT,
  SYNTAX_FLOAT,
  SYNTAX_CHAR,
  SYNTAX_STRING,
  SYNTAX_NAME,   /* t and f too: the checker knows them */
  SYNTAX_PAIR,   /* left, right */
  SYNTAX_APPLY,  /* left(right) */
  SYNTAX_LAMBDA, /* left => right; left a pattern */
  SYNTAX_OPTION, /* left := right, left a NAME: in parameters, arguments and patterns only */
  SYNTAX_IF,     /* condition, left, right */
  SYNTAX_LET,    /* left = right in body; several bindings are nested LETs */
  SYNTAX_LOOP,   /* loop left = right while condition do step */
  SYNTAX_LIST,   /* [items...], at least one */
  SYNTAX_EMPTY,  /* [] type */
  SYNTAX_TYPED,  /* (inner : type), an expression or a pattern */
  SYNTAX_FIELD,  /* record.name */
  SYNTAX_EACH    /* { body : generators | sieve } */
};

struct syntax_type;

struct syntax_generator {
  struct syntax *pattern, *source; /* of a lone `v` both are that NAME */
};

struct syntax {
  uint8_t kind;       /* enum syntax_kind */
  bool builtin;       /* NAME: the library's, from an operator */
  bool parenthesised; /* stood in ( ) of its own: for show code, and tuples on the left */
  bool serial;        /* EACH: {* ... } */
  bool escaped;       /* STRING: e"..." */
  bool qualified;     /* NAME: of a module, as it stands in the session; the checker's */
  uint16_t height;    /* of the tree: at most NESL_MOST_NESTING */
  struct span at;     /* the whole expression, without parentheses around it */
  struct span around; /* with them, if it is parenthesised */
  struct span mark;   /* what a message marks: the operator, the name; else = at */
  union {
    int64_t integer;   /* INT: non-negative, or the least of the width */
    double real;       /* FLOAT */
    uint8_t character; /* CHAR */
    struct {
      const char *text; /* escapes resolved; may contain NUL */
      size_t length;
      struct span wrong; /* of e"...": the first escape that means nothing, or empty */
    } string;
    struct {
      const struct name *name;
      const char *written; /* builtin: "+", "[]", "#" ...; else as name */
    } name;
    struct {
      struct syntax *left, *right, *third; /* third: IF and LOOP condition, LET body */
      struct syntax *fourth;               /* LOOP: step */
    } part;
    struct {
      struct syntax **items;
      size_t count;
    } list;
    struct syntax_type *type; /* EMPTY: the element type */
    struct {
      struct syntax *inner;
      struct syntax_type *type;
    } typed;
    struct {
      struct syntax *record;
      const struct name *name; /* `mark` is where it stands */
    } field;
    struct {
      struct syntax *body; /* of the short form: the first generator's pattern */
      struct syntax_generator *generators;
      size_t count;
      struct syntax *sieve; /* or NULL */
    } each;
  } as;
};

static inline struct span syntax_whole(const struct syntax *e) {
  return e->parenthesised ? e->around : e->at;
}

enum syntax_type_kind {
  SYNTAX_TYPE_NAME,
  SYNTAX_TYPE_SEQUENCE,
  SYNTAX_TYPE_PAIR,
  SYNTAX_TYPE_FUNCTION
};

struct syntax_type {
  uint8_t kind;
  struct span at;
  const struct name *name;          /* NAME: int, a, point ... */
  const struct name *module;        /* NAME: m of m.point; or NULL */
  struct syntax_type *left, *right; /* PAIR; FUNCTION: argument, result; SEQUENCE: left;
                                       NAME: left = its parameters as a tuple, or NULL */
};

struct syntax_constraint { /* a in number */
  const struct name *variable, *class_name;
  struct span at;
};

struct syntax_annotation {
  struct syntax_type *type;
  struct syntax_constraint *constraints;
  size_t count;
};

/* A name of a field of a datatype. */
struct syntax_field {
  const struct name *name;
  struct span at;
};

enum form_kind {
  FORM_EXPRESSION, /* value */
  FORM_ASSIGN,     /* pattern = value */
  FORM_FUNCTION,
  FORM_DATATYPE, /* name annotation */
  FORM_COMMAND
};

struct form {
  uint8_t kind; /* enum form_kind */
  const struct source *source;
  struct span at;                 /* without the terminator */
  struct syntax *pattern, *value; /* ASSIGN; EXPRESSION: value; FUNCTION: parameters, body
                                     (NULL: declared only) */
  const struct name *name;        /* FUNCTION, DATATYPE; COMMAND: its word. A FUNCTION's may be
                                     an operator, `function +(x, y)` or `function nand(x, y)`:
                                     the library defines those, for others they are builtin */
  struct span name_at;
  struct syntax_annotation *annotation; /* FUNCTION: NULL without; DATATYPE: the contents */
  const struct syntax_field
      *fields;                    /* DATATYPE: of all components, or none. The type is their */
  size_t field_count;             /* tuple, in which the last one may be a tuple itself */
  const char *documentation;      /* FUNCTION; NULL */
  const struct nesl_token *words; /* COMMAND: the tokens after the word, up to the terminator */
  size_t word_count;
  struct syntax *argument; /* COMMAND: the words as an expression where they are one (load EXP,
                              dump vcode "F" EXP: the last expression); else NULL */
};

/* ---- tokens ---- */

enum nesl_token_kind {
  TOKEN_END,
  TOKEN_INT,
  TOKEN_FLOAT,
  TOKEN_CHAR,
  TOKEN_STRING,
  TOKEN_WORD,   /* identifier or keyword, folded */
  TOKEN_SYMBOL, /* an operator or punctuation */
  TOKEN_INVALID /* reported already */
};

struct nesl_token {
  uint8_t kind;   /* enum nesl_token_kind */
  uint8_t lexeme; /* which keyword or symbol: private to the parser */
  struct span at;
  const struct name *name; /* WORD, SYMBOL: its spelling */
  int64_t integer;
  bool least; /* INT: one more than the greatest, which only `-` may precede; the least int */
  double real;
  const char *text; /* STRING, CHAR: bytes */
  size_t length;
  bool escaped;      /* STRING: e"..." */
  struct span wrong; /* of that the first escape that means nothing, or empty */
};

/* ---- reading ---- */

/* Reads one form after another from a source. Memory is the arena's (which jumps when there is
 * none left: base/arena.h). */
struct reader {
  struct arena *arena;
  struct intern *names;
  const struct source *source;
  uint32_t at;          /* of the next form */
  struct widths widths; /* of numbers; 64 bits from reader_init */
  /* Whether the user has a definition of this name, which then is no command of the prompt:
   * quit, cost E, profile E, time E, trace E. NULL: these commands do not exist. */
  bool (*defines)(void *context, const struct name *);
  /* Whether a definition of this name is the user's own: then a form that may be an expression
   * is one, although it begins with the word of a command, as set(3). NULL: never. */
  bool (*redefines)(void *context, const struct name *);
  void *context;
  /* private to the parser: */
  const struct name **spellings;                       /* of the keywords and symbols */
  const struct name *loop_word, *while_word, *do_word; /* words within a loop, else names */
  const struct name *not_word;                         /* a prefix operator, and a name */
  const struct name *stop;         /* the word that ends the expression being read, or NULL */
  struct nesl_token token, before; /* the current token, and the one before it */
  struct complaints *complaints;
  uint32_t line_start; /* where the line begins that the form begins in, */
  uint32_t line;       /* and its number: positions are counted from there */
  uint32_t counted;    /* lines have been counted up to here */
  unsigned depth;      /* nesting now: an error beyond NESL_MOST_NESTING */
  bool failed, more;   /* complained; because the text ended */
  uint8_t options;     /* whether name := value may stand here: enum options of parse.h */
  struct span suspect; /* after which a `;` may be missing; empty: none */
};

enum { NESL_MOST_NESTING = 2000 };

/* A message about loops of other languages names these instead. */
#define NESL_LOOPS                                                                             \
  "{... : x in v} does something for each element, loop x = 0 while x < 9 do x + 1 repeats"

void reader_init(struct reader *, struct arena *, struct intern *, const struct source *);

enum reading {
  READ_FORM,   /* *form is set */
  READ_END,    /* nothing but white space and comments is left */
  READ_BROKEN, /* after an error; the reader is after the form's terminator */
  READ_MORE    /* the text ends within a form: a prompt asks for another line. Reported
                  too: in a file it is an error */
};
/* The next form. A form that ends with the text and no terminator is READ_MORE. After
 * READ_BROKEN and READ_MORE the reader is after the probable terminator of the form, or at the
 * end of the text: reading on finds the next form. A form has at most one error (with remarks).
 */
enum reading read_form(struct reader *, struct complaints *, struct form *);

/* The text of a string from what stands between its quotes, which it replaces; its length. */
size_t string_plain(char *text, size_t length);
/* Replaces the contents of e"..." by their text, and returns its length. `wrong` is the first
 * escape that means nothing, or empty. */
size_t string_escaped(char *text, size_t length, struct span *wrong);

/* Writes a form in canonical layout (show code; round trips: reading what was written gives an
 * equal tree). Without memory: memory_failed. */
void show_form(const struct form *, FILE *);

#endif
