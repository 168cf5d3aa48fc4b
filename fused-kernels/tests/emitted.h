/* emitted.h - for tests of emitted source: compiling it with every warning an error, and
 * random superoperators.
 */
#ifndef RAVEL_FUSED_TESTS_EMITTED_H
#define RAVEL_FUSED_TESTS_EMITTED_H

#include "cvl/suite/superop.h"
#include "fused-kernels/emit.h"
#include "fused-kernels/tests/fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const all[] = {&cvl_oracle_backend, NULL};
  return all;
}

enum { CASES = 16 };

/* ---- compiling ---- */

struct built {
  char directory[64];
  void *library;
};

static inline FILE *create(const struct built *b, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", b->directory, name);
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file, "%s", path);
  return file;
}

static inline void make_directory(struct built *b) {
  b->library = NULL;
  strcpy(b->directory, "/tmp/ravel-emit-XXXXXX");
  cr_assert_not_null(mkdtemp(b->directory));
}

#define COMPILE_C "cc -std=c11 -Wpedantic -O2 *.c"

/* Files of the directory into a library, which is loaded; `with`: compiler, files, options. */
static inline bool compile(struct built *b, const char *with) {
  char command[512];
  snprintf(
      command, sizeof command,
      "cd %s && %s -Wall -Wextra -Werror -ffp-contract=off -shared -fPIC -o emitted.so -lm",
      b->directory, with);
  cr_assert_eq(system(command), 0, "%s", command);
  snprintf(command, sizeof command, "%s/emitted.so", b->directory);
  b->library = dlopen(command, RTLD_NOW | RTLD_LOCAL);
  return b->library != NULL;
}

static inline void *symbol(const struct built *b, const char *format, unsigned a, unsigned c) {
  char name[64];
  snprintf(name, sizeof name, format, a, c);
  void *address = dlsym(b->library, name);
  cr_assert_not_null(address, "%s", name);
  return address;
}

static inline void clean(struct built *b) {
  char command[128];
  if (b->library != NULL) dlclose(b->library);
  snprintf(command, sizeof command, "rm -r %s", b->directory);
  cr_expect_eq(system(command), 0);
}

static inline bool has_compiler(void) {
  return system("cc --version > /dev/null 2>&1") == 0;
}

/* ---- random superoperators ---- */

static inline bool same_elements(const struct host_value *wanted, const void *found) {
  size_t bytes = elem_info((enum cvl_elem)wanted->elem)->bytes;
  const char *a = wanted->data, *b = found;
  for (uint64_t i = 0; i < wanted->n; i++) {
    if (memcmp(a + i * bytes, b + i * bytes, bytes) == 0) continue;
    if (wanted->form == HOST_SEGDES) return false;
    if (wanted->elem == CVL_F64 && isnan(((const double *)found)[i]) &&
        isnan(((const double *)wanted->data)[i]))
      continue;
    if (wanted->elem == CVL_F32 && isnan(((const float *)found)[i]) &&
        isnan(((const float *)wanted->data)[i]))
      continue;
    return false;
  }
  return true;
}

/* Superoperators made at random, numbered from 0. */
struct random {
  struct conformance_options options;
  struct suite suite;
  struct heap heap;
  struct arena arena;
  struct superop_case *cases;
  const struct superop *ops[CASES];
};

static inline void random_make(struct random *r, struct widths w, uint64_t seed,
                               const struct mixture *mixtures, uint32_t mixture_count,
                               uint32_t count) {
  static const struct item item = {.name = "emitted"};
  memset(r, 0, sizeof *r);
  r->options.int_elem = w.int_elem;
  r->options.float_elem = w.float_elem;
  r->suite.options = &r->options;
  r->suite.int_elem = w.int_elem;
  r->suite.float_elem = w.float_elem;
  r->suite.item = &item;
  r->suite.rng.state = seed;
  heap_init(&r->suite.heap, 0);
  heap_init(&r->heap, 0);
  arena_init(&r->arena, &r->heap);
  r->cases = calloc(count, sizeof *r->cases);
  for (uint32_t i = 0; i < count; i++) {
    const struct mixture *mix = &mixtures[i % mixture_count];
    cr_assert((mix->copies ? superop_copies_make : superop_case_make)(&r->suite, &r->arena, mix,
                                                                      &r->cases[i]));
    r->cases[i].op.number = i;
    r->ops[i] = &r->cases[i].op;
  }
}

static inline void random_free(struct random *r) {
  free(r->cases);
  arena_free(&r->arena);
  cr_expect_eq(r->suite.heap.live, 0);
}

#endif
