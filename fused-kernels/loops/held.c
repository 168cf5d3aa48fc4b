/* held.c - the text that reads, measures and declares a variable, by how it is held. */
#include "fused-kernels/loops/loops.h"

void declare_held(FILE *out, const struct held *h, const char *type) {
  static const char *const declarations[] = {
      [FORM_SCALAR] = "$w x$0;\n",
      [FORM_VECTOR] = "$w *x$0; uint64_t n$0;\n",
      [FORM_ONE] = "uint64_t n$0;\n",
      [FORM_SEGMENTS] = "uint64_t *o$0, c$0;\n",
      [FORM_SAME] = "$w x$0; uint64_t n$0;\n",
      [FORM_LENGTHS] = "",
      [FORM_STARTS] = "",
  };
  put_with(out, type, declarations[h->form], h->v);
}

struct snippet held_count(const struct held *h) {
  return h->form == FORM_SEGMENTS ? numbered("c", h->v) : snippet("UINT64_C(1)");
}

struct snippet held_length(const struct held *h) {
  struct snippet s;
  switch ((enum form)h->form) {
  case FORM_SCALAR: return snippet("UINT64_C(1)");
  case FORM_LENGTHS:
  case FORM_STARTS: return numbered("c", h->base);
  case FORM_VECTOR:
  case FORM_SAME:
  case FORM_ONE: return numbered("n", h->v);
  case FORM_SEGMENTS: break;
  }
  snprintf(s.text, sizeof s.text, "(o%u[c%u] - o%u[0])", h->v, h->v, h->v);
  return s;
}

void put_data(FILE *out, const struct held *h) {
  put(out, h->form == FORM_SCALAR ? "(&x$0)" : "x$0", h->v);
}

void put_element(FILE *out, const struct held *h, const char *position) {
  static const char *const elements[] = {
      [FORM_SCALAR] = "x$0",
      [FORM_SAME] = "x$0",
      [FORM_VECTOR] = "x$0[$w]",
      [FORM_LENGTHS] = "(INT)(o$1[($w) + 1] - o$1[$w])",
      [FORM_STARTS] = "(INT)(o$1[$w] - o$1[0])",
  };
  put_with(out, position, elements[h->form], h->v, h->base);
}

void require_equal(FILE *out, const struct held *a, const struct held *b) {
  fprintf(out, "if (%s != %s) return 0;\n", held_length(a).text, held_length(b).text);
}

void print_room(FILE *out, const struct held *h) {
  if (h->append)
    put(out,
        "y$1->n = base$1;\n"
        "x$0 = native_room(r, y$1, n$0, sizeof *x$0);\n",
        h->v, h->append - 1);
  else
    put(out, "x$0 = native_take(r, n$0, sizeof *x$0);\n", h->v);
  put(out, "if (!x$0) return 0;\n", h->v);
}
