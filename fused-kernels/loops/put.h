/* put.h - text of C in which names have numbers: x3 and n3 are variable 3 and its length.
 *
 *     put(out, "x$0 = native_take(r, n$1, sizeof *x$0);\n", v, from);
 *
 * writes a template in which $0, $1 ... stand for the numbers that follow. In put_with $w
 * stands for a word: most often a type.
 */
#ifndef RAVEL_FUSED_PUT_H
#define RAVEL_FUSED_PUT_H

#include "cvl/superop.h"

#include <stdio.h>

#define PUT_COUNT(...) (sizeof(const uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))
#define put_with(out, word, template, ...)                                                     \
  put_template(out, word, template, (const uint32_t[]){__VA_ARGS__}, PUT_COUNT(__VA_ARGS__))
#define put(out, template, ...) put_with(out, "", template, __VA_ARGS__)

void put_template(FILE *, const char *word, const char *template, const uint32_t *numbers,
                  size_t count);

/* A short text by value: a name, or an expression. */
struct snippet {
  char text[80];
};
struct snippet snippet(const char *text);
/* A name with its number, as "x3". */
struct snippet numbered(const char *name, uint32_t number);

/* "INT", "FLOAT", "uint8_t": the type of elements. */
const char *element_type(enum superop_kind);

/* Writes a text of C so that each line is indented by two blanks for each brace that is open. A
 * brace opens at the end of a line, and closes at the beginning of one. */
void put_indented(FILE *, const char *text, size_t length);

#endif
